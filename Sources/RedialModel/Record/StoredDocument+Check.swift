public import RedialJSON

extension StoredDocument {
  /// Reads the content as whoever works with it does.
  ///
  /// - Throws: Why it cannot be read. A reason that begins with a JSON Pointer goes on from the value at the error's offset.
  public func check() throws(JSONError) {
    // A closure that throws a typed error needs a result.
    try content.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONError) in try check(bytes) }
    }.get()
  }

  private func check(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
    switch kind {
    case .policy: try StoredPolicy(bytes).check()
    case .operation: _ = try BulkOperation(bytes)
    case .issue: try IssueMark.check(bytes)
    case .alert: try Alert.check(bytes)
    case .notice: try AlertNotice.check(bytes)
    case .credential: try Credential.check(bytes)
    case .audit: try AuditRecord.check(bytes)
    case .targetPrivacy:
      do throws(Problem) {
        _ = try TargetOverrides.read(stored: bytes)
      } catch {
        throw JSONError(stored: error)
      }
    // The service knows the form of the first three, and a vault that of the last.
    case .apiKey, .webhookEndpoint, .accessToken, .dataKey: break
    }
  }
}

extension StoredPolicy {
  /// Reads the text of the policy, if it has one.
  fileprivate func check() throws(JSONError) {
    guard !isRemoval else { return }
    do throws(Problem) {
      try NamedPolicies().add(self, keeping: 1)
    } catch {
      throw JSONError(stored: error, at: "/policy")
    }
  }
}

extension JSONError {
  /// What a problem of a client's text says about a stored one: its first fault.
  init(stored problem: Problem, at pointer: String = "", offset: Int = 0) {
    let reason = problem.errors.first.map { "\(pointer)\($0.pointer ?? "") \($0.detail)" }
    self.init(offset: offset, reason: reason ?? problem.detail)
  }
}

internal import RedialCore
internal import RedialJSON
package import RedialModel

/// An attempt in the form in which every store keeps it, as a row or packed with others (``PackedAttempts``).
package struct StoredAttempt: Sendable, Hashable {
  /// The captured part of a response.
  package struct Response: Sendable, Hashable {
    /// Whether the response had more than the store has.
    package var isTruncated: Bool
    /// The header lines.
    package var head: [UInt8]
    /// The body as it is stored, unchanged or compressed.
    package var body: [UInt8]
    /// The size of a compressed body when it is inflated, in bytes; nil for an unchanged one.
    package var inflatedSize: Int64?
    /// Whether the header lines and the body are sealed, as far as there are any.
    package var isSealed: Bool

    /// Creates a response.
    package init(isTruncated: Bool, head: [UInt8], body: [UInt8], inflatedSize: Int64? = nil, isSealed: Bool = false) {
      self.isSealed = isSealed
      self.isTruncated = isTruncated
      self.head = head
      self.body = body
      self.inflatedSize = inflatedSize
    }
  }

  /// Its number, from 1.
  package var number: Int64
  /// When it began, in microseconds since 1970.
  package var startedAt: Int64
  /// How long it took, in microseconds.
  package var duration: Int64
  /// The number of its outcome.
  package var outcome: Int64
  /// The status of the response, even if it is not whole.
  package var status: Int64?
  /// What went wrong. If answered, what is wrong with the response besides its status.
  package var failure: AttemptFailure?
  /// The decision, in JSON; empty if there is none.
  package var decision: [UInt8]
  /// The figures of the exchange; empty if there are none.
  package var figures: [UInt8]
  /// The response, as far as it has arrived.
  package var response: Response?

  /// An attempt as it is to be stored.
  ///
  /// - Parameters:
  ///   - id: Its call.
  ///   - compressMinBytes: The smallest body that is compressed, in bytes.
  ///   - vault: Seals the answer, and what went wrong. There must be a data key.
  package init(_ attempt: AttemptRecord, of id: CallID, compressMinBytes: Int, _ vault: Vault) {
    number = Int64(attempt.number)
    startedAt = attempt.startedAt.microseconds
    duration = attempt.duration.wholeMicroseconds
    outcome = Int64(attempt.outcome.rawValue)
    status = attempt.status.map { Int64($0) }
    let (number, namespace) = (number, attempt.namespace.name)
    func sealed(_ bytes: [UInt8], _ part: SealedName.Part) -> [UInt8] {
      guard vault.sealsAll, !bytes.isEmpty else { return bytes }
      return vault.seal(bytes, .attempt(id, number: number, part), in: namespace)
    }
    failure = attempt.failure.map { failure in
      guard vault.sealsAll else { return failure }
      let message = vault.seal(failure.message, .attempt(id, number: number, .failure), in: namespace)
      return AttemptFailure(code: failure.code, message: message)
    }
    decision = attempt.decision?.json ?? []
    figures = attempt.figures?.encoded ?? []
    response = attempt.response.map { response in
      let compressed = PayloadCoding.deflated(response.body, threshold: compressMinBytes)
      return Response(
        isTruncated: response.truncated, head: sealed(response.head.bytes, .head),
        body: sealed(compressed ?? response.body, .answer),
        inflatedSize: compressed.map { _ in Int64(response.body.count) }, isSealed: vault.sealsAll)
    }
  }

  /// Creates an attempt from its parts.
  package init(
    number: Int64, startedAt: Int64, duration: Int64, outcome: Int64, status: Int64?, failure: AttemptFailure?,
    decision: [UInt8], figures: [UInt8], response: Response?
  ) {
    self.number = number
    self.startedAt = startedAt
    self.duration = duration
    self.outcome = outcome
    self.status = status
    self.failure = failure
    self.decision = decision
    self.figures = figures
    self.response = response
  }

  /// The attempt; throws if something of it is damaged.
  ///
  /// - Parameters:
  ///   - id: Its call.
  ///   - vault: Opens what is sealed.
  package func record(of id: CallID, _ vault: Vault) throws(AttemptDamage) -> AttemptRecord {
    guard let known = UInt8(exactly: outcome).flatMap({ OutcomeClass(rawValue: $0) }) else {
      throw AttemptDamage(reason: "the outcome of attempt \(number) is \(outcome)")
    }
    let decided: AttemptDecision?
    do throws(JSONError) {
      decided = decision.isEmpty ? nil : try AttemptDecision(json: decision)
    } catch {
      throw AttemptDamage(reason: "the decision of attempt \(number) cannot be read: \(error.reason)")
    }
    func opened<Value>(_ what: String, _ open: () throws(SealDamage) -> Value) throws(AttemptDamage) -> Value {
      do throws(SealDamage) {
        return try open()
      } catch {
        throw AttemptDamage(error, "\(what) of attempt \(number)")
      }
    }
    var failure = failure
    if let message = failure?.message {
      failure?.message = try opened("the failure") { () throws(SealDamage) in
        try vault.opened(message, .attempt(id, number: number, .failure))
      }
    }
    var record = AttemptRecord(
      number: Int(number), startedAt: Timestamp(microseconds: startedAt), duration: .microseconds(duration),
      outcome: known, status: status.map { Int($0) }, failure: failure, decision: decided,
      figures: ExchangeFigures(encoded: figures))
    if let stored = response {
      let response = try opened("the answer") { () throws(SealDamage) in
        try stored.opened(of: id, number: number, vault)
      }
      let body = response.body.withUnsafeBufferPointer { PayloadCoding.payload($0, size: response.inflatedSize) }
      guard let body else {
        throw AttemptDamage(reason: "the response body of attempt \(number) cannot be decompressed", isBroken: true)
      }
      record.response = CapturedResponse(
        head: HeaderBlock(bytes: response.head), body: body, truncated: response.isTruncated)
    }
    return record
  }

  /// Removes the body of the response. The response counts as truncated then, unless the body was empty.
  package mutating func forgetBody() {
    guard let body = response?.body, !body.isEmpty else { return }
    response?.body = []
    response?.inflatedSize = nil
    response?.isTruncated = true
  }
}

extension StoredAttempt.Response {
  /// The value of the column that says whether there is a response: bits for a truncated and for a sealed one.
  package var flags: Int64 { (isTruncated ? 1 : 0) | (isSealed ? 2 : 0) }

  /// A response from its columns.
  package init(flags: Int64, head: [UInt8], body: [UInt8], inflatedSize: Int64?) {
    self.init(
      isTruncated: flags & 1 != 0, head: head, body: body, inflatedSize: inflatedSize, isSealed: flags & 2 != 0)
  }

  func opened(of id: CallID, number: Int64, _ vault: Vault) throws(SealDamage) -> Self {
    guard isSealed else {
      guard !vault.knows(head), !vault.knows(body) else { throw .changed }
      return self
    }
    var plain = self
    func open(_ bytes: [UInt8], _ part: SealedName.Part) throws(SealDamage) -> [UInt8] {
      if bytes.isEmpty { return [] }
      return try bytes.withUnsafeBufferPointer { bytes throws(SealDamage) in
        try vault.open(bytes, .attempt(id, number: number, part))
      }
    }
    (plain.head, plain.body) = (try open(head, .head), try open(body, .answer))
    plain.isSealed = false
    return plain
  }
}

/// Why an attempt, or packed attempts, cannot be read.
package struct AttemptDamage: Error, Hashable {
  /// A clause, such as "the outcome of attempt 3 is 99".
  package let reason: String

  /// The store's error, if it is not known whether it is damaged.
  package let cause: StoreError?
  /// Whether other versions cannot read it either.
  private let isBroken: Bool

  /// Creates a report.
  package init(reason: String, isBroken: Bool = false) {
    (self.reason, cause, self.isBroken) = (reason, nil, isBroken)
  }

  init(_ damage: SealDamage, _ what: String) {
    reason = damage.reason(what)
    if case .unreadable(let error) = damage { cause = error } else { cause = nil }
    isBroken = cause == nil
  }

  /// The same of a call.
  package func of(_ id: CallID) -> DamagedCall { DamagedCall(id: id, reason: reason, cause: cause, isBroken: isBroken) }
}

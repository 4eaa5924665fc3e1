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

    /// Creates a response.
    package init(isTruncated: Bool, head: [UInt8], body: [UInt8], inflatedSize: Int64? = nil) {
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
  /// The status, if answered.
  package var status: Int64?
  /// What went wrong, unless answered.
  package var failure: AttemptFailure?
  /// The decision, in JSON; empty if there is none.
  package var decision: [UInt8]
  /// The figures of the exchange; empty if there are none.
  package var figures: [UInt8]
  /// The response, if answered.
  package var response: Response?

  /// An attempt as it is to be stored.
  ///
  /// - Parameter compressMinBytes: The smallest body that is compressed, in bytes.
  package init(_ attempt: AttemptRecord, compressMinBytes: Int) {
    number = Int64(attempt.number)
    startedAt = attempt.startedAt.microseconds
    duration = attempt.duration.wholeMicroseconds
    outcome = Int64(attempt.outcome.rawValue)
    status = attempt.status.map { Int64($0) }
    failure = attempt.failure
    decision = attempt.decision?.json ?? []
    figures = attempt.figures?.encoded ?? []
    response = attempt.response.map { response in
      let compressed = PayloadCoding.deflated(response.body, threshold: compressMinBytes)
      return Response(
        isTruncated: response.truncated, head: response.head.bytes, body: compressed ?? response.body,
        inflatedSize: compressed.map { _ in Int64(response.body.count) })
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
  package func record() throws(AttemptDamage) -> AttemptRecord {
    guard let known = UInt8(exactly: outcome).flatMap({ OutcomeClass(rawValue: $0) }) else {
      throw AttemptDamage(reason: "the outcome of attempt \(number) is \(outcome)")
    }
    let decided: AttemptDecision?
    do throws(JSONError) {
      decided = decision.isEmpty ? nil : try AttemptDecision(json: decision)
    } catch {
      throw AttemptDamage(reason: "the decision of attempt \(number) cannot be read: \(error.reason)")
    }
    var record = AttemptRecord(
      number: Int(number), startedAt: Timestamp(microseconds: startedAt), duration: .microseconds(duration),
      outcome: known, status: status.map { Int($0) }, failure: failure, decision: decided,
      figures: ExchangeFigures(encoded: figures))
    if let response {
      let body = response.body.withUnsafeBufferPointer { PayloadCoding.payload($0, size: response.inflatedSize) }
      guard let body else {
        throw AttemptDamage(reason: "the response body of attempt \(number) cannot be decompressed")
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

/// Why an attempt, or packed attempts, cannot be read.
package struct AttemptDamage: Error, Hashable {
  /// A clause, such as "the outcome of attempt 3 is 99".
  package let reason: String

  /// Creates a report.
  package init(reason: String) {
    self.reason = reason
  }
}

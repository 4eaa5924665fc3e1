package import RedialModel

/// The checksums of an attempt that is a row. Packed attempts have their own.
///
/// A part of a response is not read if nobody asks for it, and is removed after a time, so each has its own.
package struct AttemptSums: Sendable, Hashable {
  /// That of all but the response; nil if it is not stored.
  private let facts: Int64?
  /// That of the head of the response; nil if it is not read, or there is no response.
  private let head: Int64?
  /// That of the body of the response, likewise.
  private let body: Int64?

  /// Those of an attempt as it is to be stored.
  package init(_ attempt: StoredAttempt, of id: CallID) {
    facts = attempt.checksum(of: id).column
    head = attempt.response?.headChecksum.column
    body = attempt.response?.bodyChecksum.column
  }

  /// Those that were read: the column of the facts, and the upper and the lower half of that of the response.
  package init(facts: Int64?, head: Int64?, body: Int64?) {
    func signed(_ half: Int64?) -> Int64? { half.map { Int64(Int32(truncatingIfNeeded: $0)) } }
    (self.facts, self.head, self.body) = (facts, signed(head), signed(body))
  }

  /// The column of the facts.
  package var sum: Int64? { facts }

  /// The column of the response.
  package var response: Int64? {
    guard let head, let body else { return nil }
    return head << 32 | Int64(UInt32(truncatingIfNeeded: body))
  }

  /// The value that the column of the response has once its body is forgotten.
  ///
  /// - Parameter column: Its name.
  package static func withoutBody(_ column: String) -> String {
    let forgotten = StoredAttempt.Response(isTruncated: true, head: [], body: []).bodyChecksum.value
    return "((\(column) >> 32) << 32) | \(forgotten)"
  }

  /// The expressions with the halves of the column of the response.
  ///
  /// - Parameter column: Its name.
  package static func halves(of column: String) -> (head: String, body: String) {
    ("(\(column) >> 32)", "(\(column) & 4294967295)")
  }

  /// Compares an attempt with them, as far as it was read.
  package func check(_ attempt: StoredAttempt, of id: CallID) throws(AttemptDamage) {
    func check(_ what: String, _ fits: Bool) throws(AttemptDamage) {
      guard !fits else { return }
      throw AttemptDamage(reason: "\(what) \(attempt.number) has another checksum", isBroken: true)
    }
    try check("attempt", attempt.checksum(of: id).fits(facts))
    if let head { try check("the answer of attempt", attempt.response?.headChecksum.column == head) }
    if let body { try check("the answer of attempt", attempt.response?.bodyChecksum.column == body) }
  }
}

extension StoredAttempt {
  fileprivate func checksum(of id: CallID) -> Checksum {
    var sum = Checksum()
    for value in [id.rawValue, number, startedAt, duration, outcome, status] { sum.add(value) }
    sum.add(failure?.code)
    sum.add(failure?.message)
    sum.add(decision)
    sum.add(figures)
    return sum
  }
}

extension StoredAttempt.Response {
  fileprivate var headChecksum: Checksum {
    var sum = Checksum()
    sum.add(isSealed ? 1 : 0)
    sum.add(head)
    return sum
  }

  /// Whether it is truncated belongs to it, since that changes with the body.
  fileprivate var bodyChecksum: Checksum {
    var sum = Checksum()
    sum.add(isTruncated ? 1 : 0)
    sum.add(inflatedSize)
    sum.add(body)
    return sum
  }
}

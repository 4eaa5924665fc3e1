internal import RedialModel

/// A page of the attempts of a store that packs some of them: those that are rows, and the packed ones between them, as
/// rows like the others, because stores need not pack alike.
package struct PackedPage {
  /// The first call whose packed attempts may belong into the page.
  package let first: Int64
  package let last: Int64
  /// How many calls with packed attempts to read, from the first on.
  package let most: Int

  private let rows: [ContentRow]
  private let key: ContentRow?
  private let limit: PageLimit

  /// A page to be made.
  ///
  /// - Parameters:
  ///   - rows: The page of those that are rows. Unless it is empty, there may be more.
  ///   - key: The key after which it begins; nil for the beginning.
  package init(of rows: [ContentRow], after key: ContentRow?, _ limit: PageLimit) {
    (self.rows, self.key, self.limit) = (rows, key, limit)
    first = key?.first?.integer ?? .min
    // Without rows to be put between others, all calls are looked at, once.
    last = rows.last?.first?.integer ?? .max
    // One more, because the first may be that of the key.
    most = limit.rows + 1
  }

  /// The page.
  ///
  /// - Parameter calls: The first calls with packed attempts, from ``first`` to ``last``, by id.
  package func merged(with calls: [(id: Int64, attempts: [StoredAttempt])]) -> [ContentRow] {
    var packed = calls.flatMap { call in call.attempts.map { Self.row($0, of: call.id) } }
    if let key { packed.removeAll { !Self.isBefore(key, $0) } }
    var all = (rows + packed).sorted(by: Self.isBefore)
    // Behind the last of the calls that were read there may be other packed attempts.
    if calls.count >= most, let last = calls.last?.id {
      let end = all.firstIndex { ($0.first?.integer ?? .max) > last } ?? all.endIndex
      all.removeSubrange(end...)
    }
    // And behind the last of the rows, other rows.
    if let last = rows.last {
      let end = all.firstIndex { Self.isBefore(last, $0) } ?? all.endIndex
      all.removeSubrange(end...)
    }
    return Array(all.prefix(limit.rows))
  }

  /// The packed attempts of some calls that have one of the keys.
  package static func rows(
    with keys: [ContentRow], of calls: [(id: Int64, attempts: [StoredAttempt])]
  ) -> [ContentRow] {
    let wanted = Set(keys)
    return calls.flatMap { call in call.attempts.map { row($0, of: call.id) } }.filter { wanted.contains(key(of: $0)) }
  }

  /// Whether the key of an attempt is before the key of another one.
  private static func isBefore(_ row: ContentRow, _ other: ContentRow) -> Bool {
    func key(_ row: ContentRow) -> (Int64, Int64) { (row[0].integer ?? .min, row[1].integer ?? .min) }
    return key(row) < key(other)
  }

  private static func key(of row: ContentRow) -> ContentRow { Array(row.prefix(ContentSection.attempts.keyCount)) }

  /// An attempt as it would be in a row of its own.
  private static func row(_ attempt: StoredAttempt, of call: Int64) -> ContentRow {
    func integer(_ value: Int64?) -> ContentValue { value.map { .integer($0) } ?? .null }
    func text(_ value: String?) -> ContentValue { value.map { .text(Array($0.utf8)) } ?? .null }
    let response = attempt.response
    return ContentSection.attempts.columns.map { column in
      switch column.name {
      case "call_id": .integer(call)
      case "number": .integer(attempt.number)
      case "started_at": .integer(attempt.startedAt)
      case "duration": .integer(attempt.duration)
      case "outcome": .integer(attempt.outcome)
      case "status": integer(attempt.status)
      case "failure_code": text(attempt.failure?.code)
      case "failure_message": text(attempt.failure?.message)
      case "decision": .bytes(attempt.decision)
      case "truncated": integer(response.map { $0.isTruncated ? 1 : 0 })
      case "response_head": .bytes(response?.head ?? [])
      case "response_body": .bytes(response?.body ?? [])
      case "figures": .bytes(attempt.figures)
      case "response_body_size": integer(response?.inflatedSize)
      default: preconditionFailure("an attempt has no column \(column.name)")
      }
    }
  }
}

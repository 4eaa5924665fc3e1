internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The column `past`: the packed attempts of a call.
///
/// The attempt with which a call ends is packed if it is the first one and is short: then it needs no row of its own, nor an
/// entry of an index, when it is stored or when it is removed.
enum PackedColumn {
  /// The maximum size of packed attempts, in bytes. The row is then still stored in one piece.
  static let largest = 1600

  /// The packed attempt with which a stored call ends; nil if it has to be a row.
  static func packed(_ change: FoldedWrites.Change, _ payloads: PayloadRule, _ vault: Vault) -> [UInt8]? {
    guard change.inserted == nil, change.progress?.state.isFinal == true, change.attempts.count == 1,
      let attempt = change.attempts.first, attempt.number == 1, payloads.keptResponses > 0
    else { return nil }
    let response = attempt.response
    // A larger one may become small, but then it is rare, and not worth being compressed twice.
    guard (response?.body.count ?? 0) + (response?.head.bytes.count ?? 0) <= largest else { return nil }
    let stored = StoredAttempt(attempt, of: change.id, compressMinBytes: payloads.compressMinBytes, vault)
    guard let packed = PackedAttempts.packed([stored]), packed.count <= largest else { return nil }
    return packed
  }

  // MARK: Reading

  /// The packed attempts in a row, as far as they are to be read; none for NULL.
  ///
  /// - Parameters:
  ///   - row: A row of a call.
  ///   - column: The place of `past`.
  static func stored(_ rows: PostgresRows, _ row: Int, _ column: Int) throws(DamagedCall) -> [StoredAttempt] {
    guard !rows.isNull(row, column) else { return [] }
    do throws(AttemptDamage) {
      return try PackedAttempts.attempts(in: rows.bytes(row, column))
    } catch {
      throw error.of(CallID(rawValue: rows.integer(row, 0)))
    }
  }

  /// The same as records.
  ///
  /// - Parameter withResponses: Whether their responses are read.
  static func records(
    _ rows: PostgresRows, _ row: Int, _ column: Int, withResponses: Bool
  ) throws(DamagedCall) -> [AttemptRecord] {
    var records: [AttemptRecord] = []
    let id = CallID(rawValue: rows.integer(row, 0))
    for var attempt in try stored(rows, row, column) {
      if !withResponses { attempt.response = nil }
      do throws(AttemptDamage) {
        records.append(try attempt.record(of: id, rows.vault))
      } catch {
        throw error.of(id)
      }
    }
    return records
  }

  // MARK: In statements

  /// The number of attempts in `past`, its second byte.
  static let count = "CASE WHEN length(past) > 1 THEN get_byte(past, 1) ELSE 0 END"

  /// `past` without the responses, as ``PackedAttempts`` allows it: its first part. What is damaged stays as it is.
  static let withoutResponses =
    "CASE WHEN \(hasSize(at: prefix)) THEN substr(past, 1, \(end(ofPartAt: prefix))) ELSE past END"

  /// `past` without the bodies: its first two parts.
  static let withoutBodies = """
    CASE WHEN \(hasSize(at: prefix)) THEN CASE WHEN \(hasSize(at: heads)) \
    THEN substr(past, 1, \(end(ofPartAt: heads))) ELSE past END ELSE past END
    """

  private static let prefix = "\(PackedAttempts.prefix)"
  private static let heads = end(ofPartAt: prefix)

  private static func hasSize(at place: String) -> String {
    "length(past) >= \(place) + \(PackedAttempts.sizeBytes)"
  }

  /// The place behind a part, from its size, of three bytes.
  private static func end(ofPartAt place: String) -> String {
    let size = (0..<PackedAttempts.sizeBytes).map { index in
      "(get_byte(past, \(place) + \(index)) << \(8 * (PackedAttempts.sizeBytes - 1 - index)))"
    }
    return "(\(place) + \(PackedAttempts.frame) + \(size.joined(separator: " + ")))"
  }
}

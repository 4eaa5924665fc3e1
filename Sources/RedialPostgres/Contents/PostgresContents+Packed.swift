internal import RedialModel
internal import RedialStore

/// The packed attempts of calls, as rows like the others.
extension PostgresContents {
  /// The number of packed attempts.
  func packedCount() throws(StoreError) -> Int {
    Int(try run([PostgresStatement(PackedQueries.count)])[0].integer(0, 0))
  }

  /// The packed attempts with some keys.
  func packed(with keys: [ContentRow]) throws(StoreError) -> [ContentRow] {
    var find = PostgresStatement(PackedQueries.find)
    find.add(keys.compactMap { $0.first?.integer })
    return PackedPage.rows(with: keys, of: try Self.attempts(in: run([find])[0]))
  }

  /// A page of attempts: those that are rows, and the packed ones between them.
  ///
  /// - Parameter rows: The page of those that are rows. Unless it is empty, there may be more.
  func merged(_ rows: [ContentRow], after key: ContentRow?, _ limit: PageLimit) throws(StoreError) -> [ContentRow] {
    let page = PackedPage(of: rows, after: key, limit)
    var calls = PostgresStatement(PackedQueries.page)
    calls.add(Int64(page.most))
    calls.add(page.first)
    calls.add(page.last)
    return page.merged(with: try Self.attempts(in: run([calls])[0]))
  }

  /// The packed attempts in rows of calls.
  private static func attempts(
    in calls: PostgresRows
  ) throws(StoreError) -> [(id: Int64, attempts: [StoredAttempt])] {
    var all: [(id: Int64, attempts: [StoredAttempt])] = []
    for row in 0..<calls.count {
      do throws(DamagedCall) {
        all.append((calls.integer(row, 0), try PackedColumn.stored(calls, row, 1)))
      } catch {
        throw error.error
      }
    }
    return all
  }
}

/// The statements that read packed attempts.
private enum PackedQueries {
  static let count = PostgresQuery(
    "packed_count", "count the attempts",
    "SELECT coalesce(sum(\(PackedColumn.count)), 0)::int8 FROM calls WHERE past IS NOT NULL")

  static let find = PostgresQuery(
    "packed_find", "read the attempts",
    "SELECT id, past FROM calls WHERE id = ANY($1::int8[]) AND past IS NOT NULL")

  /// Those of the calls from $2 to $3, of $1 of them at most.
  static let page = PostgresQuery(
    "packed_page", "read the attempts",
    """
    SELECT id, past FROM (\(part("live")) UNION ALL \(part("done"))) p ORDER BY id LIMIT $1::int8
    """)

  private static func part(_ table: String) -> String {
    """
    (SELECT id, past FROM \(table) WHERE past IS NOT NULL AND id >= $2::int8 AND id <= $3::int8 ORDER BY id LIMIT $1::int8)
    """
  }
}

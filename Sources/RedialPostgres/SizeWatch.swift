internal import RedialModel
internal import RedialStore

/// When the size of a database is looked at, and how many ended calls have to go because of it.
///
/// The size of the files says only whether to look closer: rows that were removed leave room in them. What calls take is
/// estimated (``KeptBytes``), so the database takes more than the limit until vacuum has cleaned up.
struct SizeWatch: Sendable {
  /// How long a look is believed.
  static let interval = Duration.seconds(10)
  /// How many pages of the table of ended calls a sample has, about. Calls of one page ended together, and are alike.
  static let sample = 24

  private var nextLook: ContinuousClock.Instant?
  private var kept = KeptBytes()
  /// How many calls have still to go.
  private(set) var excess = 0

  init() {}

  /// Whether it is time to look again.
  func isDue(at now: ContinuousClock.Instant) -> Bool { nextLook.map { now >= $0 } ?? true }

  /// The files are within the limit.
  mutating func fits(at now: ContinuousClock.Instant) {
    (nextLook, excess) = (now + Self.interval, 0)
  }

  /// Whether more samples are needed.
  var needsSamples: Bool { !kept.isKnown }

  /// A sample was taken.
  ///
  /// - Parameters:
  ///   - bytes: What its calls take.
  ///   - calls: How many it has.
  mutating func add(bytes: Int, calls: Int) { kept.add(bytes: bytes, calls: calls) }

  /// The files are larger than the limit.
  ///
  /// - Parameters:
  ///   - calls: How many calls the database has.
  ///   - bytes: What its files take.
  mutating func isOver(_ limit: Int, of calls: Int, in bytes: Int, at now: ContinuousClock.Instant) {
    (nextLook, excess) = (now + Self.interval, kept.excess(over: limit, of: calls, in: bytes))
  }

  /// Some have gone.
  mutating func didRemove(_ count: Int) { excess = max(0, excess - count) }
}

/// The statements that look at the size.
enum SizeQueries {
  /// How many calls have not ended.
  static let unfinished = PostgresQuery(
    "size_unfinished", "count the calls that have not ended",
    "SELECT coalesce(sum(n), 0)::int8 FROM unfinished u CROSS JOIN LATERAL unnest(u.counts) AS c (n)")

  /// What rows of a call take besides their values, in bytes: headers, and entries of eight indexes (counted with bodies of 200
  /// bytes).
  private static let overhead = 420
  /// The same of an attempt that is a row.
  private static let attemptOverhead = 90

  /// A sample of the calls that have ended: $1 is how many pages of their table it has. The size of a large value is known without reading
  /// it.
  static let sample = PostgresQuery(
    "size_sample", "see how large calls are",
    """
    SELECT count(*), coalesce(sum(\(overhead) + coalesce(pg_column_size(d.past), 0) + pg_column_size(r.spec)
      + coalesce(pg_column_size(r.body), 0) + coalesce(a.bytes, 0)), 0)::int8
    FROM (SELECT id, past FROM done TABLESAMPLE SYSTEM
        (least(100, 100.0 * $1::int8 * current_setting('block_size')::int8 / greatest(1, pg_relation_size('done'))))) d
      JOIN requests r ON \(Lookup.row("r.id", "d.id"))
      LEFT JOIN LATERAL (SELECT sum(\(attemptOverhead) + coalesce(pg_column_size(decision), 0)
          + coalesce(pg_column_size(response_head), 0) + coalesce(pg_column_size(response_body), 0)
          + coalesce(pg_column_size(figures), 0)) AS bytes FROM attempts WHERE attempts.call_id = d.id) a ON true
    """)
}

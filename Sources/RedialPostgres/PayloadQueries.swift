internal import RedialStore

/// The statements that erase the payloads of ended calls.
enum PayloadQueries {
  /// Whether a command has loaded the call just now, and is about to change it.
  private static let spared = "coalesce(spared_until, 0) > \(LeaseQueries.now("NULL"))"

  /// From then on the ends of calls that are stored late are noticed.
  static let begin = PostgresQuery(
    "payloads_begin", "begin to erase payloads",
    """
    INSERT INTO settings (name, value) VALUES ('\(PayloadPlace.settingName)', $1::text) ON CONFLICT (name) DO NOTHING
    """)

  static let next = PostgresQuery(
    "payloads_next", "find the calls that ended next",
    """
    SELECT id, finished_at, (\(spared))::int::int8 FROM done WHERE finished_at >= $1::int8
      AND (finished_at > $1::int8 OR id > $2::int8) AND finished_at <= $3::int8 ORDER BY finished_at, id LIMIT $4::int8
    """)

  /// Erases, and goes on to the place $4, unless a command has loaded one of the calls meanwhile, or somebody has moved the
  /// place: then the next step looks again.
  static let erase = PostgresQuery(
    "payloads_erase", "erase payloads",
    """
    WITH u AS (SELECT * FROM unnest($1::int8[], $2::bytea[], $5::int8[]) AS u (id, spec, sums)),
      d AS (SELECT id FROM done WHERE id = ANY($1::int8[]) AND NOT (\(spared)) FOR UPDATE),
      r AS (UPDATE requests r SET spec = u.spec, body = NULL, body_size = NULL, sums = u.sums
        FROM u WHERE \(Lookup.row("r.id", "u.id")) AND u.id IN (SELECT id FROM d)),
      a AS (UPDATE attempts SET truncated = NULL, response_head = NULL, response_body = NULL, response_body_size = NULL,
          response_sum = NULL
        WHERE call_id IN (SELECT id FROM d)),
      p AS (UPDATE done SET past = \(PackedColumn.withoutResponses)
        WHERE id IN (SELECT id FROM d) AND past IS NOT NULL)
    UPDATE settings SET value = $4::text WHERE name = '\(PayloadPlace.settingName)' AND value = $3::text
      AND (SELECT count(*) FROM d) = cardinality($1::int8[])
    """)

  /// Goes back to before an end that is stored late.
  static let goBack = PostgresQuery(
    "payloads_back", "go back for payloads",
    """
    UPDATE settings SET value = $2::text WHERE name = '\(PayloadPlace.settingName)'
      AND split_part(value, ' ', 1)::int8 >= $1::int8
    """)
}

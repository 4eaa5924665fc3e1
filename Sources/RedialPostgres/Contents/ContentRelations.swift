internal import RedialModel
internal import RedialStore

/// How PostgreSQL's tables have the sections.
extension ContentSection {
  /// The rows, with the names of this section's columns.
  var relation: String {
    switch self {
    case .calls: "(\(Self.calls("live")) UNION ALL \(Self.calls("done")))"
    case .settings:
      "(SELECT name, value FROM settings WHERE name NOT IN ("
        + Self.settingsOfPlace.map { "'\($0)'" }.joined(separator: ", ") + "))"
    case .statistics:
      // Each session has rows of its own.
      """
      (SELECT namespace, step, start, '[' || string_agg(n::text, ',' ORDER BY place) || ']' AS counts FROM (
        SELECT s.namespace, s.step, s.start, u.place, sum(u.n)::int8 AS n FROM statistics s
          CROSS JOIN LATERAL unnest(s.counts) WITH ORDINALITY AS u (n, place)
        GROUP BY s.namespace, s.step, s.start, u.place) g GROUP BY namespace, step, start)
      """
    case .finished: "(SELECT kind, state, sum(n)::int8 AS n FROM finished GROUP BY kind, state HAVING sum(n) <> 0)"
    default: rawValue
    }
  }

  /// The calls of a table. A call that waits for its turn has the state of one in its target's queue, as it has elsewhere.
  private static func calls(_ table: String) -> String {
    let columns = Self.calls.columns.map { column in
      switch column.name {
      case "state":
        "CASE WHEN state = \(StoredPlace.awaitingTurn) THEN \(StoredState.queued.rawValue) ELSE state END AS state"
      case "waiting":
        "CASE WHEN state = \(StoredPlace.awaitingTurn) THEN \(WaitReason.ordering.rawValue) ELSE waiting END AS waiting"
      default: column.name
      }
    }
    return "SELECT \(columns.joined(separator: ", ")) FROM \(table)"
  }

  /// The columns, as in a list.
  var list: String { columns.map(\.name).joined(separator: ", ") }

  /// The type of a parameter with values of a column.
  static func type(_ column: Column) -> String {
    switch column.kind {
    case .integer: "int8"
    case .text: "text"
    case .bytes: "bytea"
    }
  }

  /// A condition: whether a column of 0 and 1 is a boolean in the table.
  func isBoolean(_ column: Column) -> Bool {
    self == .turns && column.name == "has_turn"
  }
}

/// The statements that read and write sections.
enum ContentQueries {
  /// The rows after a key: $1 is their maximum number, $2 the number of bytes after which no further row is read, and then
  /// the key follows, unless the page is the first.
  static func page(_ section: ContentSection, isFirst: Bool) -> PostgresQuery {
    let key = section.key.map(\.name).joined(separator: ", ")
    let places = section.key.enumerated().map { "$\($0 + 3)::\(ContentSection.type($1))" }.joined(separator: ", ")
    // Of a value that is stored outside of its row, this does not read the value.
    let size =
      (["64"]
      + section.columns.filter { $0.kind != .integer }.map { "coalesce(octet_length(\($0.name)), 0)" })
      .joined(separator: " + ")
    return PostgresQuery(
      "\(section.rawValue)_\(isFirst ? "first" : "next")", "read the \(section.title)",
      """
      SELECT \(section.list) FROM (
        SELECT \(section.list), sum(bytes) OVER (ORDER BY \(key) ROWS UNBOUNDED PRECEDING) - bytes AS earlier FROM (
          SELECT \(section.list), (\(size))::int8 AS bytes FROM \(section.relation) AS r
          \(isFirst ? "" : "WHERE (\(key)) > (\(places))") ORDER BY \(key) LIMIT $1::int8) p) q
      WHERE earlier < $2::int8 ORDER BY \(key)
      """)
  }

  /// The rows with some keys, of which each column is an array.
  static func lookup(_ section: ContentSection) -> PostgresQuery {
    let arrays = section.key.enumerated().map { "$\($0 + 1)::\(ContentSection.type($1))[]" }.joined(separator: ", ")
    let names = section.key.indices.map { "k\($0)" }.joined(separator: ", ")
    let condition = section.key.enumerated().map { Lookup.row("r.\($1.name)", "k.k\($0)") }.joined(separator: " AND ")
    let columns = section.columns.map { "r.\($0.name)" }.joined(separator: ", ")
    return PostgresQuery(
      "\(section.rawValue)_find", "read the \(section.title)",
      """
      SELECT \(columns) FROM unnest(\(arrays)) AS k (\(names)) JOIN \(section.relation) AS r ON \(condition)
      """)
  }

  /// The number of rows.
  static func count(_ section: ContentSection) -> PostgresQuery {
    PostgresQuery(
      "\(section.rawValue)_count", "count the \(section.title)", "SELECT count(*) FROM \(section.relation) AS r")
  }

  /// Adds rows, of which each column is an array.
  static func insertion(_ section: ContentSection) -> PostgresQuery {
    PostgresQuery("\(section.rawValue)_copy", "store the \(section.title)", sql(ofInsertion: section))
  }

  private static func sql(ofInsertion section: ContentSection) -> String {
    let arrays = section.columns.enumerated().map { "$\($0 + 1)::\(ContentSection.type($1))[]" }
    let next = "$\(arrays.count + 1)::int8[]"
    let values = section.columns.map { section.isBoolean($0) ? "u.\($0.name) <> 0" : "u.\($0.name)" }
      .joined(separator: ", ")
    let rows = "unnest(\(arrays.joined(separator: ", "))) AS u (\(section.list))"
    switch section {
    case .calls: return calls(arrays: arrays, next)
    case .namespaces:
      // Only the default namespace is there already.
      return "INSERT INTO namespaces (\(section.list)) SELECT \(values) FROM \(rows) ON CONFLICT (id) DO NOTHING"
    case .targets:
      return """
        INSERT INTO targets (\(section.list), shard) OVERRIDING SYSTEM VALUE SELECT \(values), u.shard
        FROM unnest(\(arrays.joined(separator: ", ")), \(next)) AS u (\(section.list), shard)
        """
    case .turns:
      return """
        INSERT INTO turns (\(section.list), shard, offered) SELECT \(values), t.shard, false
        FROM \(rows) JOIN targets t ON \(Lookup.row("t.id", "u.target_id"))
        """
    case .statistics:
      return """
        INSERT INTO statistics (namespace, step, start, session, counts)
        SELECT u.namespace, u.step, u.start, 0, ('{' || substr(u.counts, 2, length(u.counts) - 2) || '}')::int8[]
        FROM \(rows)
        """
    default: return "INSERT INTO \(section.rawValue) (\(section.list)) SELECT \(values) FROM \(rows)"
    }
  }

  /// Calls go where their state belongs, with what the store derives from their requests and attempts, which are there
  /// already. The last parameter says of each call whether webhooks need its attempts.
  private static func calls(arrays: [String], _ callback: String) -> String {
    let section = ContentSection.calls
    // `due` follows from `at`, and the state from the state and the reason to wait.
    let own = section.columns.map(\.name).filter { $0 != "state" }
    let columns = (own + ["state", "shard", "callback", "last_outcome", "last_status"]).joined(separator: ", ")
    let values = own.map { "u.\($0)" }.joined(separator: ", ")
    return """
      WITH u AS (SELECT \(values), CASE WHEN u.state = \(StoredState.queued.rawValue)
            AND u.waiting = \(WaitReason.ordering.rawValue) THEN \(StoredPlace.awaitingTurn) ELSE u.state END AS state,
          coalesce(t.shard, 0) AS shard, u.callback <> 0 AS callback, a.outcome AS last_outcome, a.status AS last_status
        FROM unnest(\(arrays.joined(separator: ", ")), \(callback)) AS u (\(section.list), callback)
          LEFT JOIN targets t ON \(Lookup.row("t.id", "u.target_id")) LEFT JOIN LATERAL (SELECT outcome, status FROM attempts
            WHERE attempts.call_id = u.id ORDER BY number DESC LIMIT 1) a ON true),
        l AS (INSERT INTO live (\(columns), due) SELECT \(columns), at FROM u WHERE state < \(StoredPlace.firstEnded)),
        d AS (INSERT INTO done (\(columns)) SELECT \(columns) FROM u WHERE state >= \(StoredPlace.firstEnded))
      \(UnfinishedCounts.add("u WHERE state < \(StoredPlace.firstEnded)"))
      """
  }

  /// The requests of some calls that may have a callback.
  static let callbacks = PostgresQuery(
    "migration_callbacks", "read the requests",
    """
    SELECT id, spec FROM requests WHERE id = ANY($1::int8[]) AND position('"callback"'::bytea IN spec) > 0
    """)

  // MARK: The mark

  static let firstMark = PostgresQuery(
    "migration_begin", "begin the migration", "INSERT INTO settings (name, value) VALUES ($1::text, $2::text)")

  /// Replaces the mark, or divides by zero.
  static let mark = PostgresQuery(
    "migration_mark", "note how far the migration is",
    """
    WITH u AS (UPDATE settings SET value = $3::text WHERE name = $1::text AND value = $2::text RETURNING 1)
    SELECT 1 / count(*) FROM u
    """)

  static let removeMark = PostgresQuery(
    "migration_end", "end the migration",
    """
    WITH u AS (DELETE FROM settings WHERE name = $1::text AND value = $2::text RETURNING 1) SELECT 1 / count(*) FROM u
    """)

  /// Lets new targets and namespaces get numbers behind those that were copied.
  static let numbers = PostgresQuery(
    "migration_numbers", "set the next numbers",
    """
    SELECT setval(pg_get_serial_sequence('targets', 'id'), greatest((SELECT max(id) FROM targets), 1)),
      setval(pg_get_serial_sequence('namespaces', 'id'), greatest((SELECT max(id) FROM namespaces), 1))
    """)

  static let mayNumber = PostgresQuery(
    "migration_may_number", "see what the role may do",
    """
    SELECT has_sequence_privilege(pg_get_serial_sequence('targets', 'id'), 'UPDATE')
      AND has_sequence_privilege(pg_get_serial_sequence('namespaces', 'id'), 'UPDATE')
    """)

  // MARK: Use

  /// How long the session that ends last has to live, in microseconds, or NULL for one without an end; and when it ends.
  /// No row if there is none.
  static let lastSession = PostgresQuery(
    "migration_sessions", "look for instances",
    """
    SELECT b.expires_at - \(LeaseQueries.now("NULL")), b.expires_at FROM sessions s LEFT JOIN beats b ON b.session = s.id
    ORDER BY b.expires_at DESC NULLS FIRST LIMIT 1
    """)

  /// How often shards and documents changed.
  static let state = PostgresQuery(
    "migration_state", "read the leases",
    "SELECT (SELECT sum(epoch)::int8 FROM leases), (SELECT coalesce(sum(n), 0)::int8 FROM versions)")

  /// Whether the store is only partly filled, and whether it is being copied.
  static let obstacles = PostgresQuery(
    "migration_obstacles", "look for a migration",
    """
    SELECT (SELECT count(*) FROM settings WHERE name = '\(MigrationMark.settingName)'), (SELECT count(*) FROM pg_locks
      WHERE locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND relation = 'sessions'::regclass AND mode = 'ExclusiveLock' AND granted)
    """)
}

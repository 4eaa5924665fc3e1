internal import RedialStore

/// What a server answers on each new connection, and whether the store can trust it.
///
/// A server that takes over from another may have other settings. So all of this is looked at again each time.
struct Greeting: Sendable, Equatable {
  /// The server process, as it says itself.
  var process: Int64 = 0
  /// The version, as PostgreSQL numbers it: 150004 is 15.4.
  var version: Int64 = 0
  /// The encoding of the database.
  var encoding = ""
  /// The schema in which tables are looked for.
  var searchPath = ""
  /// The settings that are off and must not be, separated by commas.
  var off = ""
  /// When the server was started, in microseconds since 1970: by this one server is known from another.
  var server: Int64 = 0
  /// The numbers of the types of rows (``PostgresRowType/numbers``).
  var types: [Int64] = []

  /// The oldest version: the tests pass with 15, and nothing is used that 13 lacks. Older ones get no repairs any more.
  static let oldest: Int64 = 130_000

  /// Reads them, and takes away all limits of time that the role or the database has: a commit that is cancelled would be
  /// in doubt for no reason.
  static let query = PostgresQuery(
    "greeting", "check the server",
    """
    SELECT pg_backend_pid(), current_setting('server_version_num')::int4, current_setting('server_encoding'),
      current_setting('search_path'),
      concat_ws(', ', CASE WHEN current_setting('fsync') = 'off' THEN 'fsync' END,
        CASE WHEN current_setting('full_page_writes') = 'off' THEN 'full_page_writes' END,
        CASE WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit' END),
      (SELECT count(set_config(name, '0', false)) FROM unnest(ARRAY['statement_timeout', 'lock_timeout',
        'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout']) AS u (name)
        WHERE current_setting(name, true) <> '0'), \(LeaseQueries.serverStart), \(PostgresRowType.numbers)
    """)

  /// Why the store does not use this server; nil if it does.
  ///
  /// - Parameters:
  ///   - process: The server process according to the handshake of the connection.
  ///   - schema: The schema that was asked for.
  func objection(process told: Int64, schema: String) -> String? {
    if process != told || searchPath != schema {
      return "there is a connection pool between Redial and PostgreSQL. \(Self.poolAdvice)"
    }
    if version < Self.oldest {
      return "it is PostgreSQL \(version / 10_000), and Redial needs \(Self.oldest / 10_000) or newer."
    }
    if encoding != "UTF8" {
      return "its encoding is \(encoding), and texts of calls need UTF8. Make the database with ENCODING 'UTF8'."
    }
    if !off.isEmpty {
      return "\(off) is off, so that a crash would lose calls that were accepted. Switch it on."
    }
    return nil
  }

  /// What to do about a pool.
  static let poolAdvice = """
    Sessions with prepared statements cannot be shared by a pool such as PgBouncer in transaction mode. Name PostgreSQL's own \
    address: Redial keeps a few connections for each instance, and needs no pool.
    """
}

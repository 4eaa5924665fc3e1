internal import RedialModel

/// How to reach a database, and how long to wait for it.
public struct PostgresSettings: Sendable {
  /// The database, as libpq takes it: `postgresql://user@host/database?sslmode=verify-full`, or `host=… dbname=…`.
  public var location: String
  /// How long a connection may take to be made.
  public var connectTimeout = Duration.seconds(5)
  /// How long an answer may take before the connection is taken for lost. A commit is never cancelled: the store asks
  /// the database what was made of it, on the next connection.
  public var answerTimeout = Duration.seconds(30)
  /// How long work waits for the database to be reached before it is refused.
  public var patience = Duration.seconds(1)
  /// The schema with the tables.
  public var schema = "redial"

  /// Creates settings with the default bounds.
  public init(_ location: String) {
    self.location = location
  }

  /// The database without user and password, for messages.
  public var place: String {
    guard location.hasPrefix("postgres:") || location.hasPrefix("postgresql:") else {
      // Of a list of words, only those that name the place.
      let words = location.split(separator: " ").filter { word in
        ["host=", "port=", "dbname="].contains { word.hasPrefix($0) }
      }
      return words.isEmpty ? "PostgreSQL" : words.joined(separator: " ")
    }
    return Redaction.place(location)
  }

  /// The parameters of a connection. The plans of the store's few statements are made once for each connection, and
  /// they find rows by an index however small a table was then.
  var parameters: (names: [String], values: [String]) {
    let options =
      "-c search_path=\(schema) -c default_transaction_isolation=read\\ committed -c plan_cache_mode=force_generic_plan"
      + " -c enable_seqscan=off -c enable_mergejoin=off -c jit=off -c statement_timeout=0"
    return (
      ["dbname", "application_name", "options", "target_session_attrs", "client_encoding"],
      [location, "redial", options, "read-write", "UTF8"]
    )
  }
}

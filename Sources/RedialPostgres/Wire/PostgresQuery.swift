/// A statement of the store that is prepared once on each connection.
///
/// Its parameters and results are in PostgreSQL's binary format, so every parameter needs a cast in the text, which
/// tells the server its type.
struct PostgresQuery: Sendable {
  /// What fails if the statement fails in the way that it is written to fail: by a division by zero.
  enum Check: Sendable {
    /// Nothing: it has no such condition.
    case none
    /// The session has ended, or the commit before was not made.
    case fence
    /// Other instances were first with some of the keys.
    case keys
    /// Some of the calls are not among those that have not ended.
    case standing
    /// Data keys have been replaced or erased since something was sealed by them.
    case dataKeys
  }

  /// What is there already if the statement fails because a key must be unique.
  enum Duplicate: Sendable {
    /// Something that only a fault explains.
    case none
    /// A call that another instance has stored.
    case call
    /// The number of an instance that another one has taken.
    case instance
  }

  /// Its name on a connection.
  let name: String
  /// What it does, as a verb phrase for error messages.
  let purpose: String
  /// What its division by zero means.
  let check: Check
  /// What a key means that is there twice.
  let duplicate: Duplicate
  /// Its text.
  let sql: String

  /// Creates a statement.
  init(_ name: String, _ purpose: String, check: Check = .none, duplicate: Duplicate = .none, _ sql: String) {
    self.name = name
    self.purpose = purpose
    self.check = check
    self.duplicate = duplicate
    self.sql = sql
  }
}

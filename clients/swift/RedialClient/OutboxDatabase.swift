/// What executes a statement of an ``Outbox``: a few lines around the connection of your driver.
///
/// ```swift
/// final class ShopDatabase: OutboxDatabase {
///   func query(_ statement: String, _ values: [OutboxValue]) async throws -> [[OutboxValue]] {
///     []  // Give the statement and its values to your driver, and return the rows.
///   }
/// }
/// ```
public protocol OutboxDatabase: Sendable {
  /// Executes a statement.
  ///
  /// - Parameters:
  ///   - statement: The statement, with the placeholders of the dialect.
  ///   - values: A value for each placeholder.
  /// - Returns: The rows, each with its columns in their order; none for a statement that is no `SELECT`.
  func query(_ statement: String, _ values: [OutboxValue]) async throws -> [[OutboxValue]]
}

/// A value in a statement of an ``Outbox``, or in a row. No column that is read is ever `NULL`.
public enum OutboxValue: Sendable, Hashable {
  /// A whole number.
  case integer(Int64)
  /// A text.
  case text(String)

  /// The text, also that of a number.
  var text: String {
    switch self {
    case .integer(let number): "\(number)"
    case .text(let text): text
    }
  }
}

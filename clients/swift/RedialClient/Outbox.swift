public import Foundation

/// Submits calls within a transaction of your own database.
///
/// ``submit(_:to:idempotencyKey:)`` writes a call as a row, in your transaction. An ``OutboxRelay`` submits the rows to Redial
/// and deletes them. So the call is made if the transaction commits, and only then. docs/outbox.md has the rules of the table.
///
/// ```swift
/// let outbox = Outbox(.postgresql)
/// show(outbox.dialect.tables.joined(separator: ";\n"))
/// let row = try outbox.insertion(of: OutgoingCall(chargesURL, method: "POST"), idempotencyKey: "charge-7")
/// show(row.statement)
/// ```
public struct Outbox: Sendable {
  /// The database.
  public let dialect: OutboxDialect

  /// An outbox in a database of that kind.
  public init(_ dialect: OutboxDialect) { self.dialect = dialect }

  /// What writes a call into the outbox: execute it in your transaction.
  public struct Insertion: Sendable, Hashable {
    /// The statement.
    public var statement: String
    /// A value for each of its placeholders.
    public var values: [OutboxValue]
    /// The key of the call, by which `CallFilter` finds it once it is relayed.
    public var idempotencyKey: String
  }

  /// The statement that writes a call into the outbox, for a driver that does not fit ``OutboxDatabase``.
  ///
  /// - Parameters:
  ///   - call: The call. Only the service checks it, unless its policy cannot be written at all.
  ///   - idempotencyKey: A key of your own, of 1 to 255 visible ASCII characters; nil for a new one.
  /// - Throws: ``InvalidIdempotencyKey``; `UnsupportedByService` for a policy that the service does not support;
  ///   `EncodingError` for a JSON body that cannot be encoded.
  public func insertion(of call: OutgoingCall, idempotencyKey: String? = nil) throws -> Insertion {
    let key = idempotencyKey ?? UUID().uuidString.lowercased()
    // The service takes spaces too, but a database may cut them off at the end.
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw InvalidIdempotencyKey(key: key)
    }
    var call = call
    // A row may be submitted twice. That must not run a call again that has failed or was cancelled meanwhile.
    call.onRepeat = call.onRepeat ?? .answer
    let text = Self.escaped(String(decoding: try call.descriptor(), as: UTF8.self))
    return Insertion(statement: dialect.insert, values: [.text(key), .text(text)], idempotencyKey: key)
  }

  /// Writes a call into the outbox, in the transaction of this connection.
  ///
  /// The call is made if you commit, and only then.
  ///
  /// - Parameters:
  ///   - call: The call, as for ``insertion(of:idempotencyKey:)``.
  ///   - database: The connection that has the transaction, not a pool.
  ///   - idempotencyKey: A key of your own, of 1 to 255 visible ASCII characters; nil for a new one.
  /// - Returns: The key of the call.
  /// - Throws: The errors of ``insertion(of:idempotencyKey:)``, and those of the database.
  @discardableResult
  public func submit(
    _ call: OutgoingCall, to database: some OutboxDatabase, idempotencyKey: String? = nil
  ) async throws -> String {
    let row = try insertion(of: call, idempotencyKey: idempotencyKey)
    _ = try await database.query(row.statement, row.values)
    return row.idempotencyKey
  }

  /// JSON in ASCII, so that no connection with another character set changes the text.
  private static func escaped(_ json: String) -> String {
    var text = ""
    for unit in json.utf16 {
      if unit < 0x7F, let scalar = Unicode.Scalar(unit) {
        text.unicodeScalars.append(scalar)
      } else {
        let digits = String(unit, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return text
  }
}

/// An idempotency key that an ``Outbox`` cannot store.
public struct InvalidIdempotencyKey: LocalizedError, Sendable, CustomStringConvertible {
  /// The key.
  public var key: String

  /// For people.
  public var description: String {
    "an idempotency key in an outbox has 1 to 255 visible ASCII characters, unlike \(key.debugDescription)"
  }
  /// The same.
  public var errorDescription: String? { description }
}

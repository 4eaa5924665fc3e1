internal import CPostgres
internal import RedialModel
internal import RedialStore

/// The rows that a statement has returned, in binary format.
///
/// Sendable without the compiler's proof: a `PGresult` does not change once it is complete, and libpq allows it to be read
/// from any thread (PostgreSQL's manual, 34.20).
final class PostgresRows: @unchecked Sendable {
  private let result: OpaquePointer
  /// The number of rows.
  let count: Int
  /// What opens the values.
  let vault: Vault

  /// - Parameter result: A `PGresult`, which this object frees.
  init(_ result: OpaquePointer, _ vault: Vault) {
    self.result = result
    self.vault = vault
    count = Int(PQntuples(result))
  }

  deinit { PQclear(result) }

  /// Whether a value is NULL.
  func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) == 1
  }

  /// An integer of 2, 4 or 8 bytes, or a boolean; 0 for NULL.
  func integer(_ row: Int, _ column: Int) -> Int64 {
    withBytes(row, column) { bytes in
      guard let first = bytes.first else { return 0 }
      // A boolean has one byte; the sign of the others is in their first bit.
      var value: Int64 = bytes.count > 1 && first > 0x7F ? -1 : 0
      for byte in bytes { value = value << 8 | Int64(byte) }
      return value
    }
  }

  /// An integer, or nil for NULL.
  func integerIfPresent(_ row: Int, _ column: Int) -> Int64? {
    isNull(row, column) ? nil : integer(row, column)
  }

  /// A text; empty for NULL.
  func text(_ row: Int, _ column: Int) -> String {
    withBytes(row, column, StoredText.decoded)
  }

  /// A key with a namespace.
  func key<Kind>(_ row: Int, _ column: Int, as: Qualified<Kind>.Type = Qualified<Kind>.self) -> Qualified<Kind> {
    Qualified(qualified: text(row, column))
  }

  /// A copy of bytes; none for NULL.
  func bytes(_ row: Int, _ column: Int) -> [UInt8] {
    withBytes(row, column) { Array($0) }
  }

  /// A value of an enumeration that is stored by its number; nil for NULL or an unknown number.
  func code<Code: RawRepresentable>(_ row: Int, _ column: Int, as type: Code.Type) -> Code?
  where Code.RawValue == UInt8 {
    integerIfPresent(row, column).flatMap { UInt8(exactly: $0) }.flatMap { Code(rawValue: $0) }
  }

  /// Calls `body` with the bytes of a value, which are valid only during the call.
  func withBytes<Result>(_ row: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    let length = Int(PQgetlength(result, Int32(row), Int32(column)))
    guard length > 0, let start = PQgetvalue(result, Int32(row), Int32(column)) else {
      return body(UnsafeBufferPointer(start: nil, count: 0))
    }
    return start.withMemoryRebound(to: UInt8.self, capacity: length) {
      body(UnsafeBufferPointer(start: $0, count: length))
    }
  }

  /// Calls `body` with the index of each row.
  func map<Element, Failure: Error>(_ body: (Int) throws(Failure) -> Element) throws(Failure) -> [Element] {
    var all: [Element] = []
    all.reserveCapacity(count)
    for row in 0..<count { all.append(try body(row)) }
    return all
  }
}

internal import RedialStore
internal import RedialLanes
internal import CSQLite
internal import RedialModel

/// A prepared statement, valid while its connection is open.
///
/// Bind every parameter, then ``run()`` it or read its rows. Both leave it reset, also after an error, so that no
/// statement stays open in a transaction.
final class SQLiteStatement {
  /// Its purpose, as in "could not …".
  let purpose: StaticString
  private let path: String
  private let confinement: Confinement
  private var handle: OpaquePointer?
  /// The first binding that failed; thrown when the statement runs, so that callers bind without a `try` for each.
  private var bindResult = SQLITE_OK
  private var holdsBytes = false
  /// Added to the number of every bound parameter: in a statement for several rows, the start of a row.
  var firstParameter: Int32 = 0

  /// Takes ownership of a prepared handle.
  init(handle: OpaquePointer, purpose: StaticString, path: String, _ confinement: Confinement) {
    self.handle = handle
    self.purpose = purpose
    self.path = path
    self.confinement = confinement
  }

  deinit {
    finalize()
  }

  /// The text from which it was prepared.
  var sql: String {
    sqlite3_sql(handle).map { String(cString: $0) } ?? ""
  }

  /// Releases the handle. Later use fails, because SQLite refuses a null handle.
  func finalize() {
    sqlite3_finalize(handle)
    handle = nil
  }

  // MARK: Parameters

  /// Binds an integer; nil is NULL.
  func bind(_ index: Int32, _ value: Int64?) {
    if let value {
      recordBinding(sqlite3_bind_int64(handle, firstParameter + index, value))
    } else {
      recordBinding(sqlite3_bind_null(handle, firstParameter + index))
    }
  }

  /// Binds a copy of a text; nil is NULL.
  func bind(_ index: Int32, text: String?) {
    let index = firstParameter + index
    guard var text else { return recordBinding(sqlite3_bind_null(handle, index)) }
    recordBinding(
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          // An empty string may have no address, which SQLite would take for NULL.
          guard let start = $0.baseAddress else { return redial_bind_text_copy(handle, index, "", 0) }
          return redial_bind_text_copy(handle, index, start, sqlite3_uint64($0.count))
        }
      })
  }

  /// Binds bytes without a copy: they must stay valid until the statement has run. Empty bytes are NULL if they have no
  /// address, or else an empty value; readers of a column treat both alike.
  func bind(_ index: Int32, bytes: UnsafeBufferPointer<UInt8>) {
    holdsBytes = true
    recordBinding(
      redial_bind_blob_static(handle, firstParameter + index, bytes.baseAddress, sqlite3_uint64(bytes.count)))
  }

  /// Binds a copy of bytes; nil is NULL.
  func bind(_ index: Int32, copying bytes: [UInt8]) {
    recordBinding(
      bytes.withUnsafeBufferPointer {
        redial_bind_blob_copy(
          handle, firstParameter + index, $0.isEmpty ? nil : $0.baseAddress, sqlite3_uint64($0.count))
      })
  }

  /// Keeps the first failure of a binding, which a step then reports.
  private func recordBinding(_ result: Int32) {
    if result != SQLITE_OK, bindResult == SQLITE_OK { bindResult = result }
  }

  // MARK: Running

  /// Runs a statement that returns no rows.
  func run() throws(StoreError) {
    confinement.owner.check()
    defer { reset() }
    while try step() {}
  }

  /// Runs a query and reads each of its rows.
  func rows<Row>(_ read: (SQLiteStatement) throws(StoreError) -> Row) throws(StoreError) -> [Row] {
    confinement.owner.check()
    defer { reset() }
    var rows: [Row] = []
    while try step() { rows.append(try read(self)) }
    return rows
  }

  /// Runs a query and calls a closure with each of its rows, until it returns false.
  func each(_ body: (SQLiteStatement) throws(StoreError) -> Bool) throws(StoreError) {
    confinement.owner.check()
    defer { reset() }
    while try step() {
      guard try body(self) else { return }
    }
  }

  /// Runs a query and reads its first row, if there is one.
  func first<Row>(_ read: (SQLiteStatement) throws(StoreError) -> Row) throws(StoreError) -> Row? {
    confinement.owner.check()
    defer { reset() }
    return try step() ? try read(self) : nil
  }

  private func step() throws(StoreError) -> Bool {
    let result = bindResult == SQLITE_OK ? sqlite3_step(handle) : bindResult
    if result == SQLITE_ROW { return true }
    if result == SQLITE_DONE { return false }
    throw StoreError.sqlite(
      handle.flatMap { sqlite3_db_handle($0) }, code: result, purpose: purpose.description, path: path)
  }

  private func reset() {
    sqlite3_reset(handle)
    bindResult = SQLITE_OK
    firstParameter = 0
    // The bytes become invalid; no pointer to them may remain.
    if holdsBytes { sqlite3_clear_bindings(handle) }
    holdsBytes = false
  }

  // MARK: Columns of the current row

  /// Whether a column is NULL.
  func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// A column's integer; 0 for NULL.
  func integer(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  /// A column's integer, or nil for NULL.
  func integerIfPresent(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }

  /// A column's integer as an enumeration's value; nil for NULL and for an unknown number.
  func code<Code: RawRepresentable>(_ column: Int32, as type: Code.Type) -> Code? where Code.RawValue == UInt8 {
    integerIfPresent(column).flatMap { UInt8(exactly: $0) }.flatMap { Code(rawValue: $0) }
  }

  /// Calls `body` with a column's bytes, which are valid only during the call.
  func withBytes<Result>(_ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    // The address must be read before the count, because it may convert the value.
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return body(UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count))
  }

  /// A copy of a column's bytes; none for NULL.
  func bytes(_ column: Int32) -> [UInt8] {
    withBytes(column) { Array($0) }
  }

  /// A column's text; empty for NULL.
  func text(_ column: Int32) -> String {
    withBytes(column) { String(decoding: $0, as: UTF8.self) }
  }
}

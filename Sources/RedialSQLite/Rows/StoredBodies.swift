internal import CSQLite
package import RedialModel
package import RedialStore

/// Reads request bodies in pieces, on its own connections to the file of a ``SQLiteStore``: the memory for a body does
/// not depend on its size.
///
/// A read transaction lasts no longer than the reading of one piece. If it lasted until a slow target has received the
/// body, the write-ahead log could not be truncated meanwhile.
package final class StoredBodies: BodyReader {
  /// The default number of connections, which is the number of threads that read at a time.
  package static let defaultConnections = 2

  package let vault: Vault
  private let pool: ConnectionPool<BodyConnection>

  /// Opens connections to an open store.
  ///
  /// - Parameter connections: How many threads are served at a time, 1 or more; others wait.
  package init(
    path: String, connections: Int = StoredBodies.defaultConnections, vault: Vault = .none
  ) throws(StoreError) {
    self.vault = vault
    pool = try ConnectionPool(connections) { () throws(StoreError) in try BodyConnection(path: path) }
  }

  /// How a body is stored.
  package func form(of id: CallID) throws(StoredBodyError) -> StoredBodyForm {
    try pool.withConnection { connection throws(StoredBodyError) in try connection.form(of: id) }
  }

  /// Some bytes of a body in its stored form.
  package func bytes(of id: CallID, _ range: Range<Int>) throws(StoredBodyError) -> [UInt8] {
    try pool.withConnection { connection throws(StoredBodyError) in try connection.bytes(of: id, range) }
  }
}

/// One connection, only for bodies.
///
/// Sendable without the compiler's proof: the pool of `StoredBodies` creates an instance and lends it to one thread at
/// a time, which owns it.
final class BodyConnection: LentConnection, @unchecked Sendable {
  private let connection: SQLiteConnection
  private let form: SQLiteStatement

  /// The size of the page cache, in KiB: a body's pages are read once.
  private static let cacheKibibytes = 1024

  init(path: String) throws(StoreError) {
    connection = try SQLiteConnection(path: path, role: .reader)
    try Schema.openForReading(connection)
    try connection.execute("set up the connection", "PRAGMA cache_size = -\(Self.cacheKibibytes)")
    form = try connection.prepare(
      "find a call's body",
      "SELECT body_size, length(body), substr(spec, 1, 1), sums FROM requests WHERE id = ?1 AND body IS NOT NULL")
  }

  func lend() { connection.lend() }

  func form(of id: CallID) throws(StoredBodyError) -> StoredBodyForm {
    var found: StoredBodyForm?
    do throws(StoreError) {
      form.bind(1, id.rawValue)
      found = try form.first { row throws(StoreError) in
        StoredBodyForm(
          storedSize: Int(row.integer(1)), inflatedSize: row.integerIfPresent(0).map { Int($0) },
          isSealed: row.withBytes(2, SealedForm.isSealed),
          sums: row.integerIfPresent(3).map { StoredRequest.Sums(column: $0) })
      }
    } catch {
      throw .unreadable(error)
    }
    guard let found else { throw .gone }
    return found
  }

  /// Some bytes of a body in its stored form.
  func bytes(of id: CallID, _ range: Range<Int>) throws(StoredBodyError) -> [UInt8] {
    var opened: OpaquePointer?
    let found = sqlite3_blob_open(connection.handle, "main", "requests", "body", id.rawValue, 0, &opened)
    defer { sqlite3_blob_close(opened) }
    // This error means a missing row or body. It could also mean a damaged schema, but then the store would not have
    // opened.
    if found == SQLITE_ERROR { throw .gone }
    var result = found
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      if result == SQLITE_OK {
        result = sqlite3_blob_read(opened, buffer.baseAddress, Int32(range.count), Int32(range.lowerBound))
      }
      count = result == SQLITE_OK ? range.count : 0
    }
    guard result == SQLITE_OK else {
      throw .unreadable(
        StoreError.sqlite(connection.handle, code: result, purpose: "read the body of \(id)", path: connection.path))
    }
    return bytes
  }
}

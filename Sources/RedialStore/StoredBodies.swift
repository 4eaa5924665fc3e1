internal import CSQLite
public import RedialModel

/// Reads request bodies in pieces, on connections of its own to the file of a ``SQLiteStore``: what is in memory of a body
/// does not depend on how large it is.
///
/// A look at the file lasts no longer than the reading of one piece. One that lasted as long as a slow target takes to
/// receive a body would keep the write-ahead log from being cut back as long.
public final class StoredBodies: Sendable {
  /// Connections, and so threads that read at a time, when nobody says how many.
  public static let defaultConnections = 2

  private let pool: ConnectionPool<BodyConnection>

  /// Opens connections to a store that is open.
  ///
  /// - Parameter connections: How many threads are served at a time, 1 or more; others wait their turn.
  public init(path: String, connections: Int = StoredBodies.defaultConnections) throws(StoreError) {
    pool = try ConnectionPool(connections) { () throws(StoreError) in try BodyConnection(path: path) }
  }

  /// The body of a call, to be read from its beginning. Nothing is read yet.
  ///
  /// - Parameter size: How long it is, in bytes, as the call's record says.
  public func body(of id: CallID, size: Int) -> StoredBody {
    StoredBody(id: id, size: size, in: self)
  }

  func withConnection<Result>(
    _ body: (BodyConnection) throws(StoredBodyError) -> Result
  ) throws(StoredBodyError) -> Result {
    try pool.withConnection(body)
  }
}

/// Why a body cannot be read, or not to its end.
public enum StoredBodyError: Error, Sendable, Hashable {
  /// It is gone: its call was erased or removed.
  case gone
  /// It is there, and not what it is said to be; a clause says what is wrong.
  case damaged(String)
  /// The store cannot be read.
  case unreadable(StoreError)
}

/// One connection, for bodies alone.
///
/// Sendable without the compiler's proof: an instance is made for the pool of `StoredBodies`, which hands it to one thread
/// at a time.
final class BodyConnection: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let form: SQLiteStatement

  /// What the page cache may take, in KiB: a body's pages are read once.
  private static let cacheKibibytes = 1024

  init(path: String) throws(StoreError) {
    connection = try SQLiteConnection(path: path, role: .reader)
    try Schema.openForReading(connection)
    try connection.execute("set up the connection", "PRAGMA cache_size = -\(Self.cacheKibibytes)")
    form = try connection.prepare(
      "find a call's body", "SELECT body_size, length(body) FROM requests WHERE id = ?1 AND body IS NOT NULL")
  }

  /// How a body is stored: how long it is as it lies there, and what it inflates to if it is compressed.
  func form(of id: CallID) throws(StoredBodyError) -> (storedSize: Int, inflatedSize: Int?) {
    var found: (Int64?, Int64)?
    do throws(StoreError) {
      form.bind(1, id.rawValue)
      found = try form.first { row throws(StoreError) in (row.integerIfPresent(0), row.integer(1)) }
    } catch {
      throw .unreadable(error)
    }
    guard let found else { throw .gone }
    return (Int(found.1), found.0.map { Int($0) })
  }

  /// Some bytes of a body as it lies there.
  func bytes(of id: CallID, _ range: Range<Int>) throws(StoredBodyError) -> [UInt8] {
    var opened: OpaquePointer?
    let found = sqlite3_blob_open(connection.handle, "main", "requests", "body", id.rawValue, 0, &opened)
    defer { sqlite3_blob_close(opened) }
    // This is how a missing row or body is reported; and a damaged schema, but with that the store would not have
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

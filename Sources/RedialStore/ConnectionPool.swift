internal import Dispatch
internal import Synchronization

/// Connections that threads take out, use and give back; who comes when all are taken waits.
///
/// A connection is either in `idle` or in the hands of the one thread that took it out. Taking and giving back are ordered
/// by that mutex, so no two threads ever use one at a time and each sees what the one before it did.
final class ConnectionPool<Connection: Sendable>: Sendable {
  private let idle: Mutex<[Connection]>
  /// Counts the connections in `idle`, so that who comes when all are busy waits.
  private let available: DispatchSemaphore

  /// Opens connections.
  ///
  /// - Parameter count: How many threads are served at a time, 1 or more; others wait their turn.
  init(_ count: Int, opening open: () throws(StoreError) -> Connection) throws(StoreError) {
    var opened: [Connection] = []
    for _ in 0..<max(1, count) { opened.append(try open()) }
    // A semaphore must not end below the value that it began with, so it begins with none.
    available = DispatchSemaphore(value: 0)
    for _ in opened { available.signal() }
    idle = Mutex(opened)
  }

  /// Does something with a connection that nobody else uses meanwhile.
  func withConnection<Result, Failure: Error>(
    _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    available.wait()
    defer { available.signal() }
    guard let connection = idle.withLock({ $0.popLast() }) else {
      preconditionFailure("the semaphore counts the idle connections")
    }
    defer { idle.withLock { $0.append(connection) } }
    return try body(connection)
  }
}

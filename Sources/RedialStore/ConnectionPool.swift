internal import Dispatch
internal import Synchronization
package import RedialModel

/// A connection that a pool lends.
package protocol LentConnection: AnyObject, Sendable {
  /// From now on it belongs to this thread.
  func lend()
}

/// Connections that threads borrow and return; if all are borrowed, a thread waits.
///
/// A connection is either in `idle` or borrowed by one thread. The mutex orders borrowing and returning, so no two
/// threads ever use one at a time, and each sees the effects of the one before.
package final class ConnectionPool<Connection: LentConnection>: Sendable {
  private let idle: Mutex<[Connection]>
  /// Counts the connections in `idle`, so that a thread waits if all are borrowed.
  private let available: DispatchSemaphore

  /// Opens connections.
  ///
  /// - Parameter count: How many threads are served at a time, 1 or more; others wait.
  package init(_ count: Int, opening open: () throws(StoreError) -> Connection) throws(StoreError) {
    var opened: [Connection] = []
    for _ in 0..<max(1, count) { opened.append(try open()) }
    // A semaphore must not end below its initial value, so it begins with 0.
    available = DispatchSemaphore(value: 0)
    for _ in opened { available.signal() }
    idle = Mutex(opened)
  }

  /// Calls a closure with a connection that no other thread uses meanwhile.
  package func withConnection<Result, Failure: Error>(
    _ body: (Connection) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    available.wait()
    defer { available.signal() }
    guard let connection = idle.withLock({ $0.popLast() }) else {
      preconditionFailure("the semaphore counts the idle connections")
    }
    defer { idle.withLock { $0.append(connection) } }
    connection.lend()
    return try body(connection)
  }
}

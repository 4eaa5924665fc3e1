internal import RedialStore
internal import Synchronization

/// The connection for all that is no work of the chain, used by one thread at a time. It is made when it is needed, and
/// again after it was lost.
final class SideConnection: Sendable {
  /// How to reach the database.
  let settings: PostgresSettings
  private let held = Mutex(Held())
  private let connected: @Sendable (_ server: Int64) -> Void

  private struct Held {
    var connection: PostgresConnection?
    var isClosed = false
    /// The last failure to connect, and until when it is believed.
    var failure: (error: StoreError, until: ContinuousClock.Instant)?
  }

  /// After a failure to connect nobody waits for another one so soon.
  private static let pause = Duration.milliseconds(250)

  private static let ping = PostgresQuery("ping", "reach the database", "SELECT 1")

  /// No connection yet.
  ///
  /// - Parameter connected: Is called with each new connection's server (``Greeting/server``).
  init(_ settings: PostgresSettings, connected: @escaping @Sendable (_ server: Int64) -> Void = { _ in }) {
    self.settings = settings
    self.connected = connected
  }

  /// Calls a closure with a connection that works.
  func use(_ body: (PostgresConnection) throws(StoreError) -> Void) throws(StoreError) {
    try held.withLock { held throws(StoreError) in
      guard !held.isClosed else { throw StoreError(kind: .unavailable, message: "The store is closed.") }
      try body(try connection(&held))
    }
  }

  /// Makes statements in one transaction, and returns the rows of each.
  func run(_ statements: [PostgresStatement]) throws(StoreError) -> [PostgresRows] {
    try held.withLock { held throws(StoreError) in
      guard !held.isClosed else { throw StoreError(kind: .unavailable, message: "The store is closed.") }
      let connection = try connection(&held)
      do throws(PostgresFailure) {
        return try connection.run(statements, within: settings.answerTimeout)
      } catch {
        if error.isLost { held.connection = nil }
        throw error.error(at: settings.place)
      }
    }
  }

  /// Ends the connection.
  func close() {
    held.withLock { held in held = Held(isClosed: true) }
  }

  /// A connection that has just answered, so that one that was lost while nobody used it makes nothing fail.
  private func connection(_ held: inout Held) throws(StoreError) -> PostgresConnection {
    if let connection = held.connection {
      if (try? connection.run([PostgresStatement(Self.ping)], within: settings.answerTimeout)) != nil {
        return connection
      }
      held.connection = nil
    }
    if let failure = held.failure, ContinuousClock.now < failure.until { throw failure.error }
    do throws(PostgresFailure) {
      let connection = try PostgresConnection(settings)
      held.connection = connection
      held.failure = nil
      connected(connection.server)
      return connection
    } catch {
      let failure = error.error(at: settings.place)
      held.failure = (failure, .now + Self.pause)
      throw failure
    }
  }
}

internal import RedialStore
internal import Synchronization
internal import RedialModel

/// The connection for all that is no work of the chain, used by one thread at a time. It is made when it is needed, and
/// again after it was lost.
final class SideConnection: LentConnection {
  /// How to reach the database.
  let settings: PostgresSettings
  private let held = Mutex(Held())
  private let connected: @Sendable (_ server: Int64) -> Void
  private let made: @Sendable (_ number: Int64, _ ledger: Int64) -> Void
  /// Under which the changes of this connection are in the ledger. No session has it.
  private let ledger = LeaseQueries.randomID()

  private struct Held {
    var connection: PostgresConnection?
    /// The number of the last change in the ledger.
    var last: Int64 = 0
    /// A change that may have been made. Nothing else is done until nobody can make it any more.
    var doubt: DoubtedChange?
    var isClosed = false
    /// The last failure to connect, and until when it is believed.
    var failure: (error: StoreError, until: ContinuousClock.Instant)?
  }

  /// How long the database may take to answer a change, and to say whether it was made.
  private static let patience = Duration.seconds(5)
  /// After a failure to connect nobody waits for another one so soon.
  private static let pause = Duration.milliseconds(250)

  private static let ping = PostgresQuery("ping", "reach the database", "SELECT 1")

  /// No connection yet.
  ///
  /// - Parameters:
  ///   - connected: Is called with each new connection's server (``Greeting/server``).
  ///   - made: Is called with the number of each change that was made, and the ledger.
  init(
    _ settings: PostgresSettings, connected: @escaping @Sendable (_ server: Int64) -> Void = { _ in },
    made: @escaping @Sendable (_ number: Int64, _ ledger: Int64) -> Void = { _, _ in }
  ) {
    (self.settings, self.made, self.connected) = (settings, made, connected)
  }

  /// Each use takes the connection out of its mutex.
  func lend() {}

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

  /// Makes changes in one transaction. If the connection is lost meanwhile, the database is asked on another one whether
  /// they were made.
  ///
  /// - Parameter remedy: Changes that are made as soon as the database answers, if the outcome stays unknown.
  /// - Returns: The rows of each; nil if they were lost, and the changes were made.
  /// - Throws: `outcomeUnknown` if the database cannot be asked. With another kind nothing was made.
  func change(
    _ statements: [PostgresStatement], inDoubt remedy: [PostgresStatement] = []
  ) throws(StoreError) -> [PostgresRows]? {
    try held.withLock { held throws(StoreError) in
      guard !held.isClosed else { throw StoreError(kind: .unavailable, message: "The store is closed.") }
      let connection = try connection(&held)
      let doubt = DoubtedChange(
        ledger: ledger, number: held.last + 1, server: connection.server, process: connection.process, remedy: remedy)
      do throws(PostgresFailure) {
        let rows = try connection.run(statements + [doubt.record], within: Self.patience).dropLast()
        held.last = doubt.number
        made(doubt.number, ledger)
        return Array(rows)
      } catch {
        var failure = error.error(at: settings.place)
        guard error.isLost else { throw failure }
        held.connection = nil
        held.last = doubt.number
        guard let isMade = isMade(doubt, &held) else {
          failure.kind = .outcomeUnknown
          throw failure
        }
        if isMade {
          made(doubt.number, ledger)
          return nil
        }
        failure.message += " The change was not made."
        throw failure
      }
    }
  }

  /// Whether a change was made; nil if the database does not say.
  private func isMade(_ doubt: DoubtedChange, _ held: inout Held) -> Bool? {
    held.failure = nil
    guard let connection = try? connection(&held) else {
      held.doubt = doubt
      return nil
    }
    do throws(PostgresFailure) {
      return try doubt.isMade(on: connection, within: Self.patience)
    } catch {
      // It may be decided now. Which way, only that answer would have said.
      held.connection = nil
      held.doubt = doubt
      return nil
    }
  }

  /// Ends the connection.
  func close() {
    held.withLock { held in held = Held(isClosed: true) }
  }

  /// A connection that has just answered, so that one that was lost while nobody used it makes nothing fail.
  private func connection(_ held: inout Held) throws(StoreError) -> PostgresConnection {
    if let connection = held.connection {
      connection.lend()
      if (try? connection.run([PostgresStatement(Self.ping)], within: Self.patience)) != nil {
        return connection
      }
      held.connection = nil
    }
    if let failure = held.failure, ContinuousClock.now < failure.until { throw failure.error }
    do throws(PostgresFailure) {
      let connection = try PostgresConnection(settings)
      if let doubt = held.doubt {
        try doubt.end(on: connection, within: Self.patience)
        held.doubt = nil
      }
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

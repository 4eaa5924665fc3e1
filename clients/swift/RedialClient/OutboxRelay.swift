internal import Foundation

/// Submits the rows of an ``Outbox`` to Redial, and deletes those that it has accepted.
///
/// There may be several relays for one outbox: one works and the others stand by. Nothing depends on that but the load: a row
/// that is submitted twice is one call. A row that the service refuses for good stays, with `problem_code` and
/// `problem_detail`. After all other errors of the service and of the database, the relay goes on, with backoff.
public actor OutboxRelay {
  // Other relays know these numbers: docs/outbox.md.
  private static let hold = Int64(10)
  private static let longestHold = Int64(60)
  private static let failuresOfAHolder = 3
  /// A `Retry-After` may be longer, such as one of a proxy.
  private static let longestWait = Duration.seconds(60)
  /// SQLite takes up to 999 values in a statement, if it is old.
  private static let largestBatch = 500

  private let dialect: OutboxDialect
  private let client: RedialClient
  private let database: any OutboxDatabase
  private let batch: Int
  private let workers: Int
  private let poll: Duration
  private let log: (@Sendable (String) -> Void)?

  private let holder = "swift-" + UUID().uuidString.prefix(8).lowercased()
  /// When it has taken or kept the hold; nil if it has none.
  private var heldAt: Timestamp?
  private var failures = 0
  private var trouble = ""
  private var waking: AsyncStream<Void>.Continuation?
  private var isWoken = false

  /// Creates a relay. It does nothing before its ``run()``.
  ///
  /// - Parameters:
  ///   - outbox: The outbox.
  ///   - client: Submits the rows, one attempt each time.
  ///   - database: A pool, or a connection that nothing else uses and that connects again by itself. It commits each
  ///     statement.
  ///   - batch: How many rows are read at once, and are in memory then; at most 500.
  ///   - workers: How many submissions are in flight at once.
  ///   - poll: The time from one look into an empty outbox to the next.
  ///   - log: Receives what is to be known: rows that are refused, troubles and their ends; nil for the client's.
  public init(
    _ outbox: Outbox, client: RedialClient, database: any OutboxDatabase, batch: Int = 100, workers: Int = 8,
    poll: Duration = .seconds(1), log: (@Sendable (String) -> Void)? = nil
  ) {
    dialect = outbox.dialect
    self.client = client
    self.database = database
    self.batch = min(max(1, batch), Self.largestBatch)
    self.workers = max(1, workers)
    self.poll = poll
    self.log = log ?? client.log
  }

  /// Relays until its task is cancelled. The requests in flight are ended first. Let it run once at a time.
  public func run() async {
    while !Task.isCancelled {
      let wait = await turn()
      if failures > 0 {
        // After a failure, a commit is no reason to be faster.
        try? await client.clock.sleep(for: wait)
      } else {
        await idle(wait)
      }
    }
    await release()
  }

  /// Looks into the outbox at once. Call it after a commit of the same process; others are noticed soon, too.
  public func wake() {
    isWoken = true
    waking?.finish()
  }

  /// Submits the rows that wait.
  ///
  /// - Returns: How many were accepted.
  /// - Throws: The error because of which some are left, of the service or of the database; `CancellationError`.
  @discardableResult
  public func runOnce() async throws -> Int {
    var accepted = 0
    while true {
      try Task.checkCancellation()
      let (count, done) = try await round()
      accepted += await done.accepted.count
      if let error = await done.error { throw error }
      if count < batch { return accepted }
    }
  }

  /// One look into the outbox. Returns the time until the next one.
  private func turn() async -> Duration {
    let (count, done): (Int, OutboxSubmissions)
    do {
      guard try await holds() else {
        failures = 0
        return poll
      }
      (count, done) = try await round()
    } catch {
      heldAt = nil
      failures += 1
      say("the outbox is not relayed: \(error)")
      return Self.backoff(failures - 1)
    }
    guard let error = await done.error else {
      failures = 0
      say("")
      return count == batch ? .zero : poll
    }
    // Some may have been accepted all the same; then there is no reason to be slow.
    let isMoving = await !done.accepted.isEmpty
    failures = isMoving ? 1 : failures + 1
    say("rows of the outbox wait: \(error)")
    // Another relay may reach the service, or have a key that is valid.
    if failures >= Self.failuresOfAHolder { await release() }
    return min(Self.longestWait, max(isMoving ? .zero : Self.backoff(failures - 1), await done.retryAfter))
  }

  /// Submits some rows and writes the results. Returns how many rows were read.
  private func round() async throws -> (Int, OutboxSubmissions) {
    let rows = try await query(dialect.waiting(batch)).map(OutboxRow.init)
    let done = OutboxSubmissions(rows, by: client, workers: workers)
    await done.run()
    let accepted = await done.accepted
    if !accepted.isEmpty { _ = try await query(dialect.delete(accepted.count), accepted.map(\.id)) }
    for (row, code, detail) in await done.refused {
      _ = try await query(dialect.refuse, [.text(code), .text(detail), row.id, .text(row.text)])
      log?(
        "row \(row.id.text) of redial_outbox was refused: \(code): \(detail) Correct its descriptor and set problem_code to "
          + "NULL, or delete it.")
    }
    return (rows.count, done)
  }

  /// Whether this relay is the one that works.
  private func holds() async throws -> Bool {
    let start = client.clock.now
    if let heldAt, start < heldAt + .seconds(Self.hold) / 3 { return true }
    heldAt = nil
    let held = try await held()
    let moment = client.clock.wallTime.microseconds / 1_000_000
    let next: [OutboxValue] = [.text(holder), .integer(moment + Self.hold)]
    if let held {
      // A hold far in the future is one of a wrong clock.
      if held.holder != holder, (moment...moment + Self.longestHold).contains(held.until) { return false }
      _ = try await query(dialect.hold, next + [.text(held.holder), .integer(held.until)])
      // Not the count of changed rows: MySQL does not count a row that stays as it was.
      guard try await self.held()?.holder == holder else { return false }
    } else {
      _ = try await query(dialect.firstHold, next)
    }
    heldAt = start
    return true
  }

  /// Gives the hold away: another relay need not wait for its end.
  private func release() async {
    guard heldAt != nil else { return }
    heldAt = nil
    do {
      guard let held = try await held(), held.holder == holder else { return }
      _ = try await query(dialect.hold, [.text(holder), .integer(0), .text(holder), .integer(held.until)])
    } catch {
      log?("the hold on the outbox ends by itself, in at most \(Self.hold) s: \(error)")
    }
  }

  private func held() async throws -> (holder: String, until: Int64)? {
    guard let row = try await query(dialect.held).first else { return nil }
    guard row.count == 2 else { throw UnexpectedOutboxRow(count: row.count, expected: 2) }
    return (row[0].text, Int64(row[1].text) ?? 0)
  }

  /// Executes a statement, also when the relay's task is cancelled: what is known is written.
  private func query(_ statement: String, _ values: [OutboxValue] = []) async throws -> [[OutboxValue]] {
    let database = database
    return try await Task { try await database.query(statement, values) }.value
  }

  /// Waits, unless somebody calls ``wake()`` or has called it.
  private func idle(_ wait: Duration) async {
    defer { isWoken = false }
    if isWoken { return }
    let (wakings, waking) = AsyncStream.makeStream(of: Void.self)
    self.waking = waking
    let clock = client.clock
    let sleeping = Task {
      try? await clock.sleep(for: wait)
      waking.finish()
    }
    // It ends when its task is cancelled, too.
    var iterator = wakings.makeAsyncIterator()
    _ = await iterator.next()
    sleeping.cancel()
    self.waking = nil
  }

  /// Logs a trouble once, and its end.
  private func say(_ trouble: String) {
    if !trouble.isEmpty, trouble != self.trouble {
      log?(trouble)
    } else if trouble.isEmpty, !self.trouble.isEmpty {
      log?("the outbox is relayed again")
    }
    self.trouble = trouble
  }

  /// The wait before a retry: a quarter of a second, doubled each time up to 8 s, of which up to a half is left out by chance.
  private static func backoff(_ retry: Int) -> Duration {
    let longest = 0.25 * Double(1 << min(retry, 5))
    return .milliseconds(Int(longest * Double.random(in: 500...1000)))
  }
}

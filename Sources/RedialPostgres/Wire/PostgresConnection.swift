internal import CPostgres
internal import Glibc
internal import RedialLanes
internal import RedialStore
internal import RedialModel

/// A connection to PostgreSQL, in pipeline mode: statements are sent without waiting for the results of those before
/// (PostgreSQL's manual, 34.5). All statements up to a ``sync()`` are one transaction.
///
/// No wait is without an end.
///
/// Sendable without the compiler's proof: one thread at a time owns it. That is the one that has made it, such as the
/// lane's, until another one takes it out of a mutex.
final class PostgresConnection: @unchecked Sendable {
  /// What arrives from the server.
  enum Arrival {
    /// A statement has returned rows, maybe none.
    case rows(PostgresRows)
    /// A statement has failed, and nothing of its transaction was or will be made.
    case failed(PostgresFailure)
    /// A statement was skipped, because one before it has failed.
    case skipped
    /// The transaction has ended.
    case synced
  }

  /// What the server answers next.
  private enum Expected {
    case preparation(PostgresQuery)
    case result(PostgresQuery)
    case sync
  }

  /// The database, for messages.
  let place: String
  let vault: Vault
  /// When its server was started (``Greeting/server``).
  private(set) var server: Int64 = 0
  /// The numbers of the types of rows; those of tables that were made since are 0.
  private var types: [Int64] = []
  private let handle: OpaquePointer
  private var owner = Owner.thisThread
  private var prepared: Set<String> = []
  private var expected: [Expected] = []
  private var answered = 0

  /// Connects.
  ///
  /// - Parameter settings: The database, and how long to wait for it.
  init(_ settings: PostgresSettings) throws(PostgresFailure) {
    place = settings.place
    vault = settings.vault
    let parameters: [String: String]
    do throws(StoreError) { parameters = try settings.parameters() } catch { throw Self.unconnected(error.message) }
    let (names, values) = (Array(parameters.keys), Array(parameters.values))
    let started = Self.withCStrings(names) { names in
      Self.withCStrings(values) { values in PQconnectStartParams(names, values, 0) }
    }
    guard let started else { throw Self.unconnected("libpq has no memory for a connection") }
    handle = started
    // Notices would go to the standard error, between the lines of the log.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    let deadline = ContinuousClock.now + settings.connectTimeout
    do throws(PostgresFailure) {
      try connect(until: deadline, settings)
    } catch {
      // All stored properties are set, so that `deinit` ends what was begun.
      throw Self.unconnected(error.message)
    }
  }

  private func connect(until deadline: ContinuousClock.Instant, _ settings: PostgresSettings) throws(PostgresFailure) {
    var state = PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
    while state != PGRES_POLLING_OK {
      let events = state == PGRES_POLLING_READING ? Int16(POLLIN) : Int16(POLLOUT)
      guard state != PGRES_POLLING_FAILED else { throw lost(purpose: nil) }
      guard Self.poll(PQsocket(handle), events, nil, until: deadline) else {
        throw Self.lost("no answer within \(settings.connectTimeout)")
      }
      state = PQconnectPoll(handle)
    }
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw lost(purpose: nil) }
    let rows = try run([PostgresStatement(Greeting.query)], within: max(.zero, deadline - .now))[0]
    let greeting = Greeting(
      process: rows.integer(0, 0), version: rows.integer(0, 1), encoding: rows.text(0, 2), searchPath: rows.text(0, 3),
      off: rows.text(0, 4), server: rows.integer(0, 6),
      types: PostgresRowType.allCases.map { rows.integer(0, 7 + $0.rawValue) })
    if let objection = greeting.objection(process: Int64(PQbackendPID(handle)), schema: settings.schema) {
      throw Self.lost(objection)
    }
    (server, types) = (greeting.server, greeting.types)
  }

  deinit { PQfinish(handle) }

  /// From now on it belongs to this thread. Whoever calls this knows that no other thread has it.
  func lend() { owner = .thisThread }

  /// Whether it can be used.
  var isGood: Bool { PQstatus(handle) == CONNECTION_OK }

  /// The server process.
  var process: Int64 { Int64(PQbackendPID(handle)) }

  /// Whether results are still to come.
  var isBusy: Bool { answered < expected.count }

  // MARK: Sending

  /// Sends a statement; it is prepared first if it was not yet.
  func send(_ statement: PostgresStatement) throws(PostgresFailure) {
    owner.check()
    let query = statement.query
    if prepared.insert(query.name).inserted {
      guard PQsendPrepare(handle, query.name, query.sql, 0, nil) == 1 else { throw lost(purpose: query) }
      expected.append(.preparation(query))
    }
    guard Self.send(typed(statement), on: handle) else { throw lost(purpose: query) }
    expected.append(.result(query))
  }

  private func typed(_ statement: PostgresStatement) -> PostgresStatement {
    guard statement.hasTypes else { return statement }
    var typed = statement
    typed.fill(types: types)
    return typed
  }

  /// Ends the transaction.
  func sync() throws(PostgresFailure) {
    owner.check()
    guard PQpipelineSync(handle) == 1, PQflush(handle) >= 0 else { throw lost(purpose: nil) }
    expected.append(.sync)
  }

  /// Makes statements in one transaction, and returns the rows of each.
  func run(_ statements: [PostgresStatement], within limit: Duration) throws(PostgresFailure) -> [PostgresRows] {
    for statement in statements { try send(statement) }
    try sync()
    let deadline = ContinuousClock.now + limit
    var (rows, failure): ([PostgresRows], PostgresFailure?) = ([], nil)
    while true {
      switch try arrival() {
      case .rows(let more): rows.append(more)
      case .failed(let error): if failure == nil { failure = error }
      case .skipped: break
      case .synced:
        if let failure { throw failure }
        return rows
      case nil:
        guard try wait(until: deadline) else { throw Self.lost("no answer within \(limit)") }
      }
    }
  }

  /// Makes statements without arguments in one transaction. They are not prepared.
  func execute(_ statements: [String], purpose: String, within limit: Duration) throws(PostgresFailure) {
    owner.check()
    for statement in statements {
      let query = PostgresQuery("", purpose, statement)
      guard PQsendQueryParams(handle, statement, 0, nil, nil, nil, nil, 1) == 1 else { throw lost(purpose: query) }
      expected.append(.result(query))
    }
    _ = try run([], within: limit)
  }

  // MARK: Receiving

  /// Waits until something can be received, or another descriptor can be read. Returns false at the deadline.
  func wait(until deadline: ContinuousClock.Instant, or other: Int32? = nil) throws(PostgresFailure) -> Bool {
    owner.check()
    let unsent = PQflush(handle)
    guard unsent >= 0, isGood else { throw lost(purpose: nil) }
    let events = Int16(POLLIN) | (unsent > 0 ? Int16(POLLOUT) : 0)
    guard Self.poll(PQsocket(handle), events, other, until: deadline) else { return false }
    guard PQconsumeInput(handle) == 1, PQflush(handle) >= 0 else { throw lost(purpose: nil) }
    return true
  }

  /// The next thing that has arrived; nil if it has to be waited for.
  func arrival() throws(PostgresFailure) -> Arrival? {
    owner.check()
    var ends = 0
    while isBusy {
      if PQisBusy(handle) != 0 {
        // libpq has closed the socket, and still counts on more: nobody would ever end that wait.
        guard isGood else { throw lost(purpose: nil) }
        return nil
      }
      guard let result = PQgetResult(handle) else {
        // One statement's results have ended. Without a connection there is nothing else.
        ends += 1
        if ends > 2 || !isGood { throw lost(purpose: nil) }
        continue
      }
      ends = 0
      let next = expected[answered]
      answered += 1
      if !isBusy {
        expected.removeAll(keepingCapacity: true)
        answered = 0
      }
      if let arrival = try received(result, for: next) { return arrival }
    }
    return nil
  }

  /// The different payloads of the notifications that have arrived.
  func takeNotifications() throws(PostgresFailure) -> Set<String> {
    owner.check()
    guard PQconsumeInput(handle) == 1 else { throw lost(purpose: nil) }
    var heard: Set<String> = []
    while let notification = PQnotifies(handle) {
      heard.insert(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return heard
  }

  private func received(_ result: OpaquePointer, for next: Expected) throws(PostgresFailure) -> Arrival? {
    let status = PQresultStatus(result)
    switch next {
    case .sync:
      defer { PQclear(result) }
      guard status == PGRES_PIPELINE_SYNC else { throw failure(of: result, nil) }
      return .synced
    case .preparation(let query):
      defer { PQclear(result) }
      if status == PGRES_COMMAND_OK { return nil }
      prepared.remove(query.name)
      if status == PGRES_PIPELINE_ABORTED { return nil }
      return .failed(try lasting(failure(of: result, query)))
    case .result(let query):
      if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return .rows(PostgresRows(result, vault)) }
      defer { PQclear(result) }
      if status == PGRES_PIPELINE_ABORTED { return .skipped }
      return .failed(try lasting(failure(of: result, query)))
    }
  }

  /// A failure of a statement, unless the connection has ended with it.
  private func lasting(_ failure: PostgresFailure) throws(PostgresFailure) -> PostgresFailure {
    if failure.isLost { throw failure }
    return failure
  }

  private func failure(of result: OpaquePointer, _ query: PostgresQuery?) -> PostgresFailure {
    let state = redial_sql_state(result).map { String(cString: $0) } ?? ""
    let isLost = state.isEmpty || PostgresFailure.ends(state) || !isGood
    return PostgresFailure(
      isLost: isLost, state: state, message: Self.line(PQresultErrorMessage(result)), query: query)
  }

  private func lost(purpose query: PostgresQuery?) -> PostgresFailure {
    PostgresFailure(isLost: true, state: "", message: Self.line(PQerrorMessage(handle)), query: query)
  }

  private static func unconnected(_ message: String) -> PostgresFailure {
    PostgresFailure(isLost: true, state: "", message: message, query: nil, isConnecting: true)
  }

  private static func lost(_ message: String) -> PostgresFailure {
    PostgresFailure(isLost: true, state: "", message: message, query: nil)
  }

  /// libpq's messages end with a line break, and may have several lines.
  private static func line(_ message: UnsafePointer<CChar>?) -> String {
    guard let message else { return "" }
    return String(cString: message).split(separator: "\n").joined(separator: "; ")
  }

  // MARK: C

  /// The parts of a location that have a value, by name; nil if it cannot be read.
  static func parse(_ location: String) -> [String: String]? {
    var problem: UnsafeMutablePointer<CChar>?
    defer { PQfreemem(problem) }
    guard let options = PQconninfoParse(location, &problem) else { return nil }
    defer { PQconninfoFree(options) }
    var parsed: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val, value.pointee != 0 {
        parsed[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return parsed
  }

  private static func send(_ statement: PostgresStatement, on handle: OpaquePointer) -> Bool {
    statement.bytes.withUnsafeBufferPointer { bytes in
      // An argument of no bytes needs an address, because none means NULL.
      withUnsafePointer(to: CChar(0)) { nothing in
        let start = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
        let values = statement.places.map { place -> UnsafePointer<CChar>? in
          guard let place else { return nil }
          return place.isEmpty ? nothing : start.map { $0 + place.lowerBound }
        }
        let lengths = statement.places.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: values.count)
        return PQsendQueryPrepared(handle, statement.query.name, Int32(values.count), values, lengths, formats, 1) == 1
      }
    }
  }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
  }

  /// Waits for a socket, and for another descriptor. Returns false at the deadline.
  private static func poll(
    _ socket: Int32, _ events: Int16, _ other: Int32?, until deadline: ContinuousClock.Instant
  ) -> Bool {
    var watched = [pollfd(fd: socket, events: events, revents: 0)]
    if let other { watched.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0)) }
    while true {
      let left = deadline - ContinuousClock.now
      guard left > .zero else { return false }
      let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
      let ready = Glibc.poll(&watched, nfds_t(watched.count), Int32(clamping: milliseconds))
      if ready > 0 { return true }
      if ready < 0, errno != EINTR { return true }
    }
  }
}

internal import Foundation

/// A row of an outbox.
struct OutboxRow: Sendable {
  var id: OutboxValue
  var key: String
  var text: String

  /// A row of the statement `OutboxDialect.waiting`.
  init(_ columns: [OutboxValue]) throws {
    guard columns.count == 3 else { throw UnexpectedOutboxRow(count: columns.count, expected: 3) }
    id = columns[0]
    key = columns[1].text
    text = columns[2].text
  }

  /// The ordering key of its call; nil for none. If something is wrong with it, the service says so.
  var orderingKey: String? {
    struct Call: Decodable { var orderingKey: String? }
    return (try? JSONDecoder().decode(Call.self, from: Data(text.utf8)))?.orderingKey
  }

  /// The rows of each ordering key in their order, and each other row by itself.
  static func chains(_ rows: [OutboxRow]) -> [[OutboxRow]] {
    var chains: [[OutboxRow]] = []
    var places: [String: Int] = [:]
    for row in rows {
      let key = row.orderingKey
      if let key, let place = places[key] {
        chains[place].append(row)
        continue
      }
      if let key { places[key] = chains.count }
      chains.append([row])
    }
    return chains
  }
}

/// Submits some rows, and has their results. Rows that are neither accepted nor refused are still to be submitted.
actor OutboxSubmissions {
  /// Statuses of a submission that is refused for good. All others are no fault of the row: the service is away, or is not
  /// set up as it should be, such as with 401.
  private static let final = [400, 409, 413, 422, 508]
  /// These have such a status, and concern every row. An answer without a code is not Redial's.
  private static let notOfTheRow: Set<RedialProblem.Code> = [
    "invalidNamespace", "hostEmpty", "", RedialProblem.unknownCode,
  ]

  private let client: RedialClient
  private let workers: Int
  private var waiting: ArraySlice<[OutboxRow]>
  private(set) var accepted: [OutboxRow] = []
  private(set) var refused: [(row: OutboxRow, code: String, detail: String)] = []
  /// The last error because of which rows are left.
  private(set) var error: (any Error)?
  /// The time after which to go on, if the service says so.
  private(set) var retryAfter = Duration.zero
  /// Errors since the last answer that was none.
  private var failures = 0

  init(_ rows: [OutboxRow], by client: RedialClient, workers: Int) {
    self.client = client
    self.workers = workers
    waiting = OutboxRow.chains(rows)[...]
  }

  /// Submits the rows. If the task is cancelled, no other request begins, and those in flight are ended in order.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<min(workers, waiting.count) { group.addTask { await self.work() } }
    }
  }

  private func work() async {
    while let chain = waiting.popFirst() {
      for row in chain {
        // One row with which the service has trouble must not hold up all others.
        if failures >= workers || Task.isCancelled { return }
        if await !submit(row) { break }
      }
    }
  }

  /// Submits a row once, and returns whether those after it may follow.
  private func submit(_ row: OutboxRow) async -> Bool {
    guard (1...255).contains(row.key.utf8.count), row.key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      refused.append(
        (row, "invalidIdempotencyKey", Self.plain("\(InvalidIdempotencyKey(key: row.key))", longest: 10_000)))
      return true
    }
    let client = client
    // A task of its own is not cancelled: what is accepted is known then.
    switch await Task(operation: { try await client.submitWritten(row.text, idempotencyKey: row.key) }).result {
    case .success: accepted.append(row)
    case .failure(let problem as RedialProblem)
    where Self.final.contains(problem.status) && !Self.notOfTheRow.contains(problem.code):
      refused.append(
        (
          row, Self.plain(problem.code.rawValue, longest: 255),
          Self.plain(problem.detail.isEmpty ? problem.title : problem.detail, longest: 10_000)
        ))
    case .failure(let other):
      failures += 1
      error = other
      retryAfter = max(retryAfter, (other as? RedialProblem)?.retryAfter ?? .zero)
      return false
    }
    failures = 0
    return true
  }

  /// The beginning of a text, as every database can store it, whatever its character set.
  private static func plain(_ text: String, longest: Int) -> String {
    let plain = text.unicodeScalars.map { (" "..."~").contains($0) || $0 == "\n" ? Character($0) : "?" }
    return String(plain.prefix(longest))
  }
}

/// A row of a database that has not the columns that a statement names.
struct UnexpectedOutboxRow: LocalizedError, CustomStringConvertible {
  var count: Int
  var expected: Int

  var description: String { "the connection of the outbox returned a row of \(count) columns in place of \(expected)" }
  var errorDescription: String? { description }
}

extension RedialClient {
  /// Submits a call once, as it was written: another text under the same key would be another call.
  func submitWritten(_ text: String, idempotencyKey: String) async throws {
    struct Call: Decodable { var id: String }
    var once = self
    once.policy.maxAttempts = 1
    var request = ServiceRequest("POST", ["v1", "calls"], body: Data(text.utf8))
    request.idempotencyKey = idempotencyKey
    request.isRepeatable = true
    let answer = try await once.exchange(request)
    // A proxy, or a service of another kind, may answer with a success too.
    guard try answer.decoded(Call.self).id.hasPrefix("call_") else {
      let fault = DecodingError.Context(codingPath: [], debugDescription: "its id does not begin with call_")
      throw UnexpectedAnswer(
        request: request.name, status: answer.status, underlying: DecodingError.dataCorrupted(fault))
    }
  }
}

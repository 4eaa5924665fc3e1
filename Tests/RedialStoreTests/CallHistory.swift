import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

/// The rows of a store, to compare it with another one.
enum StoreRows {
  /// The whole content of a store, except the numbers of its rows.
  static func all(of store: SQLiteStore) throws -> [String: [String]] {
    let queries = [
      "calls": "SELECT t.key, c.id, c.kind, c.state, c.due, c.waiting, c.attempts, c.finished_at, c.failure, c.priority"
        + " FROM calls c JOIN targets t ON t.id = c.target_id",
      "requests": "SELECT id, spec, body, body_size FROM requests",
      "keys": "SELECT key, call_id, fingerprint FROM idempotency_keys",
      "labels": "SELECT name, value, call_id FROM labels",
      "turns": "SELECT t.key, u.call_id, u.key, u.has_turn FROM turns u JOIN targets t ON t.id = u.target_id",
      "retries": "SELECT call_id, at, after_attempt FROM retries",
      "targets": "SELECT key, record FROM targets",
      "finished_counts": "SELECT kind, state, count FROM finished_counts WHERE count <> 0",
    ]
    var rows = try queries.mapValues { query in
      let names = query.dropFirst("SELECT ".count).split(separator: " FROM ")[0].split(separator: ", ")
      // No bytes are NULL or an empty value, which readers treat alike.
      let columns = names.map { "quote(ifnull(\($0), x''))" }.joined(separator: " || ' ' || ")
      let statement = try store.file.connection.prepare(
        "check", "SELECT \(columns) FROM \(query.split(separator: " FROM ")[1])")
      defer { statement.finalize() }
      return try statement.rows { row throws(StoreError) in row.text(0) }.sorted()
    }
    rows["attempts"] = try attempts(on: store.file.connection)
    return rows
  }

  /// All attempts as rows, whether they are packed or not. NULL and no bytes are the same to every reader.
  static func attempts(on connection: SQLiteConnection) throws -> [String] {
    func number(_ number: Int64?) -> String { number.map(String.init) ?? "-" }
    let rows = try connection.prepare(
      "check",
      """
      SELECT call_id, number, started_at, duration, outcome, status, truncated, response_body_size, failure_code,
        failure_message, decision, response_head, response_body, figures FROM attempts
      """
    ).rows { row throws(StoreError) in
      (0..<8 as Range<Int32>).map { number(row.integerIfPresent($0)) }
        + (8..<14 as Range<Int32>).map { "\(row.bytes($0))" }
    }
    let packed = try connection.prepare("check", "SELECT id, past FROM requests WHERE past IS NOT NULL").rows {
      row throws(StoreError) in (id: row.integer(0), past: row.bytes(1))
    }
    let unpacked = try packed.flatMap { call in
      try PackedAttempts.attempts(in: call.past).map { attempt in
        let response = attempt.response
        let numbers: [Int64?] = [
          call.id, attempt.number, attempt.startedAt, attempt.duration, attempt.outcome, attempt.status,
          response.map { $0.isTruncated ? 1 : 0 }, response?.inflatedSize,
        ]
        let parts = [
          Array((attempt.failure?.code ?? "").utf8), Array((attempt.failure?.message ?? "").utf8), attempt.decision,
          response?.head ?? [], response?.body ?? [], attempt.figures,
        ]
        return numbers.map(number) + parts.map { "\($0)" }
      }
    }
    return (rows + unpacked).map { $0.joined(separator: " ") }.sorted()
  }
}

/// Commits like an engine's, with calls that are accepted, attempted, ended, retried, erased and removed.
struct CallHistory {
  private struct Call {
    var record: CallRecord
    /// Recorded attempts.
    var recorded = 0
  }

  private var random: RandomSource
  private var calls: [Call] = []
  private var lastNumber = 0

  init(seed: UInt64) {
    random = RandomSource(seed: seed)
  }

  /// The changes of one commit, in the engine's order; about every other one removes nothing.
  mutating func next() -> [StoreWrite] {
    let mayRemove = Bool.random(using: &random)
    var writes: [StoreWrite] = []
    for _ in 0..<Int.random(in: 1...30, using: &random) { step(&writes, mayRemove: mayRemove) }
    return writes
  }

  private mutating func step(_ writes: inout [StoreWrite], mayRemove: Bool) {
    // Often one of the latest, so that several changes of it are in one commit.
    let place = calls.indices.suffix(Bool.random(using: &random) ? 3 : .max).randomElement(using: &random)
    guard let place, Int.random(in: 0..<3, using: &random) > 0 else { return accept(&writes) }
    let id = calls[place].record.id
    if calls[place].record.progress.state.isFinal {
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where mayRemove:
        writes.append(.erase(id, calls[place].record.spec.erased(at: Sample.start)))
      case 1 where mayRemove:
        writes.append(.discard(id))
        calls.remove(at: place)
      case 2: retry(place, &writes)
      case 3:
        writes.append(.target("t2", TargetRecord(breaker: OpenBreaker(until: Sample.time(calls.count), trips: 1))))
      case 4: writes.append(.target("t3", TargetRecord(controls: TargetControls(isPaused: .random(using: &random)))))
      default: break
      }
    } else if calls[place].record.progress.state == .running {
      end(place, &writes)
    } else {
      start(place, &writes)
    }
  }

  private mutating func accept(_ writes: inout [StoreWrite]) {
    let key = Int.random(in: 0..<3, using: &random) == 0 ? "k\(Int.random(in: 0...1, using: &random))" : nil
    let record = insert(.call, key: key, &writes)
    if Bool.random(using: &random) {
      let key = IdempotencyKey("key\(lastNumber)", fingerprint: [1])
      writes.append(.key(KeyRecord(key: key, call: record.id, createdAt: Sample.start, expiresAt: Sample.time(60))))
    }
  }

  @discardableResult
  private mutating func insert(_ kind: CallKind, key: String? = nil, _ writes: inout [StoreWrite]) -> CallRecord {
    lastNumber += 1
    let labels = (0..<Int.random(in: 0...2, using: &random)).map { CallSpec.Label(name: "l\($0)", value: "v") }
    var record = Sample.call(
      lastNumber, key == nil ? .running : .queued, target: "t\(lastNumber % 4)", kind: kind, body: body(),
      orderingKey: key, labels: labels)
    record.progress.attempts = key == nil ? 1 : 0
    record.progress.waiting = key == nil ? nil : .ordering
    calls.append(Call(record: record))
    writes.append(.insert(record))
    if let key { writes.append(.awaitTurn(record.id, target: record.spec.target, orderingKey: key)) }
    return record
  }

  private mutating func start(_ place: Int, _ writes: inout [StoreWrite]) {
    calls[place].record.progress.state = .running
    calls[place].record.progress.waiting = nil
    calls[place].record.progress.attempts += 1
    writes.append(.update(calls[place].record.id, calls[place].record.progress, nil))
  }

  private mutating func end(_ place: Int, _ writes: inout [StoreWrite]) {
    let isOver = Bool.random(using: &random)
    calls[place].recorded += 1
    calls[place].record.progress.attempts = calls[place].recorded
    calls[place].record.progress.state = isOver ? .succeeded : .held
    calls[place].record.progress.waiting = isOver ? nil : .backoff
    calls[place].record.progress.finishedAt = isOver ? Sample.time(calls[place].recorded) : nil
    let record = calls[place].record
    writes.append(.update(record.id, record.progress, Sample.attempt(calls[place].recorded, body: body())))
    guard isOver else { return }
    // Its webhook follows it, and the next call of its key.
    if record.kind == .call, Bool.random(using: &random) { insert(.webhook, &writes) }
    if record.spec.orderingKey != nil { writes.append(.passTurn(record.id)) }
  }

  private mutating func retry(_ place: Int, _ writes: inout [StoreWrite]) {
    var record = calls[place].record
    record.progress.finishedAt = nil
    record.progress.state = record.spec.orderingKey == nil ? .held : .queued
    record.progress.waiting = record.spec.orderingKey == nil ? nil : .ordering
    calls[place].record = record
    writes.append(.update(record.id, record.progress, nil))
    if let key = record.spec.orderingKey {
      writes.append(.awaitTurn(record.id, target: record.spec.target, orderingKey: key))
    }
    let retry = ManualRetry(
      at: Sample.time(lastNumber), afterAttempt: record.progress.attempts, attribution: Attribution())
    writes.append(.retried(record.id, retry))
  }

  /// As large as SQLite copies, or smaller, or larger.
  private mutating func body() -> [UInt8] {
    let size = [0, 5, 300, 16 * 1024, 16 * 1024 + 1].randomElement(using: &random) ?? 0
    return Array(repeating: UInt8.random(in: 0...255, using: &random), count: size)
  }
}

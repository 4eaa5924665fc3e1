import Dispatch
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialEngine
@testable import RedialPostgres

/// Commits calls as an instance does, through the pipeline of its requests, and keeps account of all results.
final class Pipeline {
  private final class Inbox: Sendable {
    let list = Mutex<[StoreOutcome]>([])
    let arrived = DispatchSemaphore(value: 0)
  }

  let store: PostgresStore
  private let inbox = Inbox()
  private var pipeline = StorePipeline()
  private var epoch: UInt64 = 0
  private var isLeaseLost = false

  /// The calls that were reported as stored, and as not stored.
  private(set) var made: Set<Int> = []
  private(set) var refused: Set<Int> = []
  /// How often outcomes were reported as unknown, and requests failed by kind.
  private(set) var unknown = 0
  private(set) var failures: [StoreError.Kind: Int] = [:]
  private(set) var session: LeaseSession?
  private(set) var grant: LeaseGrant?
  /// The other events that were reported, in order.
  private(set) var events: [EngineEvent] = []

  /// - Parameter duration: How long its leases last.
  let duration: Duration

  /// Whether it begins another session after it has lost one.
  var rejoins = true

  init(_ store: PostgresStore, duration: Duration = .seconds(600)) {
    self.store = store
    self.duration = duration
    let inbox = inbox
    store.report { outcome in
      inbox.list.withLock { $0.append(outcome) }
      inbox.arrived.signal()
    }
  }

  /// The requests without a result.
  private var open: Int { pipeline.posted - pipeline.concluded }

  /// How much the store has reported that was not heard yet.
  var unheard: Int { inbox.list.withLock { $0.count } }

  /// Begins a session, as often as it takes.
  func join() throws {
    for _ in 0..<200 {
      grant = nil
      post(.lease(LeaseAsk(request: LeaseRequest(duration: duration), session: nil, at: .epoch, round: 0)))
      waitForResults()
      if grant != nil { return }
    }
    Issue.record("no session could be begun")
  }

  /// Submits a commit that inserts calls.
  func commit(_ calls: [Int]) throws {
    while open > 1 { try absorb() }
    if isLeaseLost {
      guard rejoins else { return }
      waitForResults()
      try join()
    }
    post(.commit(calls.map { .insert(Sample.call($0, target: "t")) }, then: []))
  }

  /// Requests something behind all else.
  func post(_ body: StoreRequest.Body) {
    pipeline.post([StoreRequest(body, epoch: epoch)])
    proceed()
  }

  /// Waits until all requests have a result.
  func waitForResults() {
    while open > 0 {
      guard (try? absorb()) != nil else { return }
    }
  }

  /// Waits until the outcomes of all open requests are unknown.
  func waitForDoubt() throws {
    let before = unknown
    while unknown == before, open > 0 { try absorb() }
  }

  private func absorb() throws {
    guard inbox.arrived.wait(timeout: .now() + .seconds(120)) == .success else { throw NoOutcome() }
    pipeline.heard(inbox.list.withLock { $0.removeFirst() })
    proceed()
  }

  private func proceed() {
    while true {
      switch pipeline.next() {
      case .wait: return
      case .submit(let job, let work, let trial):
        if let outcome = store.submit(work, as: job.sequence, trial) { Issue.record("\(outcome) was returned at once") }
      case .report(.committed(let writes, _)): made.formUnion(Self.calls(writes))
      case .report(.events(let events)): for event in events { record(event) }
      }
    }
  }

  private func record(_ event: EngineEvent) {
    switch event {
    case .storeInDoubt(let message): unknown += message == nil ? 0 : 1
    case .leased(let grant, _):
      (self.grant, session, isLeaseLost) = (grant, grant.session, false)
    case .storeFailed(let request, let error):
      if request.epoch == epoch { epoch += 1 }
      failures[error.kind, default: 0] += 1
      if error.kind == .leaseLost { isLeaseLost = true }
      if case .commit(let writes, _) = request.body { refused.formUnion(Self.calls(writes)) }
    default: events.append(event)
    }
  }

  private static func calls(_ writes: [StoreWrite]) -> [Int] {
    writes.compactMap { write in
      guard case .insert(let record) = write else { return nil }
      return Int(record.id.rawValue - Sample.id(0).rawValue)
    }
  }

  struct NoOutcome: Error {}

  /// Compares what was reported with the tables.
  func check(_ database: TestDatabase) throws {
    waitForResults()
    #expect(open == 0, "each request has a result")
    #expect(inbox.list.withLock { $0.count } == 0, "no outcome comes twice")
    let rows = try database.rows("SELECT id FROM live")
    let stored = Set(rows.map { Int(rows.integer($0, 0) - Sample.id(0).rawValue) })
    #expect(
      stored == made,
      "lost \(made.subtracting(stored).count), beyond the record \(stored.subtracting(made).count)")
    #expect(made.isDisjoint(with: refused))
    #expect(try database.number("SELECT count(*) FROM requests") == Int64(made.count))
    #expect(
      try database.number(
        "SELECT coalesce(sum(n), 0)::int8 FROM (SELECT unnest(counts) AS n FROM unfinished) u")
        == Int64(made.count))
  }
}

import Dispatch
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

/// Commits calls as an engine does, two works in flight, and keeps account of all outcomes.
final class Pipeline {
  private final class Inbox: Sendable {
    let list = Mutex<[StoreOutcome]>([])
    let arrived = DispatchSemaphore(value: 0)
  }

  let store: PostgresStore
  private let inbox = Inbox()
  /// Works without an outcome: the numbers of the calls that they insert, and their place in the chain.
  private var open: [(calls: [Int], sequence: Int64)] = []
  private var last: Int64 = 0
  private var isBroken = false
  private var isLeaseLost = false

  /// The calls that were reported as stored, and as not stored.
  private(set) var made: Set<Int> = []
  private(set) var refused: Set<Int> = []
  /// How often an outcome was reported as unknown, and works failed by kind.
  private(set) var unknown = 0
  private(set) var failures: [StoreError.Kind: Int] = [:]
  /// The place of the last work that was made.
  private(set) var madeSequence: Int64 = 0
  private(set) var session: LeaseSession?
  private(set) var grant: LeaseGrant?

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

  /// Begins a session, as often as it takes.
  func join() throws {
    for _ in 0..<200 {
      settle()
      store.submitted(.lease(LeaseRequest(duration: duration), renewing: nil), as: madeSequence + 1)
      switch try outcome() {
      case .made(.leased(let grant)):
        madeSequence += 1
        last = madeSequence
        session = grant.session
        self.grant = grant
        (isLeaseLost, isBroken) = (false, false)
        return
      case .notMade: continue
      case let other: Issue.record("a lease has the outcome \(other)")
      }
    }
    Issue.record("no session could be begun")
  }

  /// Submits a commit that inserts calls.
  func commit(_ calls: [Int]) throws {
    while open.count > 1 || isBroken && !open.isEmpty { try absorb() }
    if isLeaseLost, !rejoins { return }
    if isBroken {
      (isBroken, last) = (false, madeSequence)
      if isLeaseLost { try join() }
    }
    last += 1
    open.append((calls, last))
    store.submitted(.commit(calls.map { .insert(Sample.call($0, target: "t")) }), as: last)
  }

  /// Waits until all works have an outcome.
  func settle() {
    while !open.isEmpty {
      guard (try? absorb()) != nil else { return }
    }
  }

  /// Waits until the outcome of all open works is unknown.
  func waitForDoubt() throws {
    let goal = unknown + open.count
    while unknown < goal, !open.isEmpty { try absorb() }
  }

  private func absorb() throws {
    switch try next() {
    case .unknown: unknown += 1
    case .made(let answer):
      if case .done = answer {} else { Issue.record("a commit is answered by \(answer)") }
      let work = open.removeFirst()
      #expect(work.sequence == madeSequence + 1, "works are made in order")
      madeSequence = work.sequence
      made.formUnion(work.calls)
    case .notMade(let error):
      refused.formUnion(open.removeFirst().calls)
      failures[error.kind, default: 0] += 1
      isBroken = true
      if error.kind == .leaseLost { isLeaseLost = true }
    }
  }

  /// The next outcome that is certain.
  private func outcome() throws -> StoreOutcome {
    while true {
      let next = try next()
      if case .unknown = next { unknown += 1 } else { return next }
    }
  }

  private func next() throws -> StoreOutcome {
    guard inbox.arrived.wait(timeout: .now() + .seconds(120)) == .success else { throw NoOutcome() }
    return inbox.list.withLock { $0.removeFirst() }
  }

  struct NoOutcome: Error {}

  /// Compares what was reported with the tables.
  func check(_ database: TestDatabase) throws {
    settle()
    #expect(open.isEmpty, "each work has an outcome")
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

extension PostgresStore {
  /// Submits a work whose outcome comes later, as all do.
  fileprivate func submitted(_ work: StoreWork, as sequence: Int64) {
    if let outcome = submit(work, as: sequence) { Issue.record("\(outcome) was returned at once") }
  }
}

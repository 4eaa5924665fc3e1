import Polling
import Dispatch
import Foundation
import Glibc
import RedialCore
import RedialEngine
import RedialModel
import RedialStore
import Synchronization
import Testing

@testable import RedialService

/// A store that records its requests, and fails on demand.
final class RecordingStore: ServiceStore, @unchecked Sendable {
  // Sound: all mutable state is behind the lock.
  private let state = Mutex((commits: [Int](), failing: false, untidy: 0))
  /// A call that cannot be read.
  static let damaged = CallID(rawValue: 13)
  /// Each commit waits for it, if it is set.
  let gate: DispatchSemaphore?

  /// The call that it finds under each key.
  let known: KeyRecord?

  private let recovering: @Sendable () -> Void

  init(
    gate: DispatchSemaphore? = nil, known: KeyRecord? = nil, recovering: @escaping @Sendable () -> Void = {}
  ) {
    (self.gate, self.known, self.recovering) = (gate, known, recovering)
  }

  var commits: [Int] { state.withLock { $0.commits } }
  func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] { [] }
  func document(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> [UInt8]? { nil }
  func replaceDocument(
    _ kind: StoredDocument.Kind, id: String, _ old: [UInt8], with new: [UInt8]
  ) throws(StoreError) -> Bool { false }
  func removeDocuments(_ kind: StoredDocument.Kind, below id: String, keeping most: Int) throws(StoreError) -> Int { 0 }
  func setUntidy(_ steps: Int) { state.withLock { $0.untidy = steps } }
  func setFailing(_ failing: Bool) { state.withLock { $0.failing = failing } }

  func recover(at now: Timestamp) -> RecoveredState {
    recovering()
    return RecoveredState()
  }
  func resign(at now: Timestamp) {}
  func commit(_ writes: [StoreWrite]) throws(StoreError) {
    gate?.wait()
    let fails = state.withLock { state in
      if !state.failing { state.commits.append(writes.count) }
      return state.failing
    }
    if fails { throw StoreError(kind: .full, message: "no space") }
  }
  func report(to listener: @escaping @Sendable (StoreOutcome) -> Void) {}
  func submit(_ work: StoreWork, as sequence: Int64, _ trial: StoreTrial) -> StoreOutcome? {
    do throws(StoreError) {
      switch work {
      case .commit(let writes): try commit(writes)
      case .prove: try setSetting("", to: "")
      case .claimDue: return .made(.due(Claim(calls: [], nextDue: nil)))
      case .claimQueued: return .made(.calls([]))
      case .fetch(let calls):
        let damage = StoreError(kind: .corrupt, message: "damaged", damaged: .init(id: Self.damaged, hasEnded: true))
        return .made(.fetched(calls.map { $0.id == Self.damaged ? .failure(damage) : .success(nil) }))
      case .find(let keys, _): return .made(.keys(keys.map { _ in known }))
      case .lease: throw StoreError(kind: .unavailable, message: "not shared")
      }
      return .made(.done)
    } catch {
      return .notMade(error)
    }
  }
  func tidy(_ retention: Retention, at now: Timestamp, within budget: Duration) throws(StoreError) -> TidyStep {
    let left = state.withLock { state in
      state.untidy = max(0, state.untidy - 1)
      return state.untidy
    }
    if left > 0 { Thread.sleep(forTimeInterval: 0.001) }
    return TidyStep(removed: 1, isDone: left == 0)
  }
  func setting(_ name: String) -> String? { nil }
  func keepSetting(_ name: String, orElse value: String) throws(StoreError) -> String { value }
  func setSetting(_ name: String, to value: String) throws(StoreError) {
    if state.withLock({ $0.failing }) { throw StoreError(kind: .full, message: "no space") }
  }
  func close() {}
}

/// A store whose outcomes come when a test says so.
final class LateStore: ServiceStore, @unchecked Sendable {
  // Sound: all mutable state is behind the lock.
  private let state = Mutex((submitted: [String](), listener: { @Sendable (_: StoreOutcome) in }))

  /// The sizes and numbers of the commits that were submitted.
  var submitted: [String] { state.withLock { $0.submitted } }

  func answer(_ outcome: StoreOutcome) {
    state.withLock { $0.listener }(outcome)
  }

  func report(to listener: @escaping @Sendable (StoreOutcome) -> Void) {
    state.withLock { $0.listener = listener }
  }
  func submit(_ work: StoreWork, as sequence: Int64, _ trial: StoreTrial) -> StoreOutcome? {
    guard case .commit(let writes) = work else { return nil }
    state.withLock {
      $0.submitted.append("\(writes.count) #\(sequence)\(trial.kind == .first ? "" : " \(trial.kind) \(trial.losses)")")
    }
    return nil
  }

  func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] { [] }
  func document(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> [UInt8]? { nil }
  func replaceDocument(
    _ kind: StoredDocument.Kind, id: String, _ old: [UInt8], with new: [UInt8]
  ) throws(StoreError) -> Bool { false }
  func removeDocuments(_ kind: StoredDocument.Kind, below id: String, keeping most: Int) throws(StoreError) -> Int { 0 }
  func commit(_ writes: [StoreWrite]) throws(StoreError) {}
  func recover(at now: Timestamp) -> RecoveredState { RecoveredState() }
  func resign(at now: Timestamp) {}
  func tidy(_ retention: Retention, at now: Timestamp, within budget: Duration) throws(StoreError) -> TidyStep {
    TidyStep()
  }
  func setting(_ name: String) -> String? { nil }
  func setSetting(_ name: String, to value: String) throws(StoreError) {}
  func keepSetting(_ name: String, orElse value: String) throws(StoreError) -> String { value }
  func close() {}
}

@Suite("The store's lane")
struct StoreLaneTests {
  private static func write(_ number: Int) -> StoreWrite { .target("\(number)", TargetRecord()) }

  private static func commit(_ number: Int, epoch: UInt64 = 0) -> StoreRequest {
    StoreRequest(
      .commit(
        [write(number)], then: [.reply(.command(ReplyToken(rawValue: UInt64(number)), .done(nil)))]),
      epoch: epoch)
  }

  /// Runs requests through a lane; returns their results, in words, in order.
  private func outcomes(
    _ store: RecordingStore, spacing: Duration = StoreLane.commitSpacing,
    wait: @escaping @Sendable (Duration) -> Void = { usleep(UInt32($0.wholeMicroseconds)) },
    _ body: (StoreLane) -> Void
  ) -> [String] {
    let seen = Mutex<[String]>([])
    let lane = StoreLane(store: store, spacing: spacing, wait: wait)
    lane.begin { outcome in seen.withLock { $0 += Self.words(outcome) } }
    body(lane)
    let done = DispatchSemaphore(value: 0)
    lane.afterwards { _ in done.signal() }
    done.wait()
    return seen.withLock { $0 }
  }

  private static func words(_ outcome: StorePipeline.Report) -> [String] {
    switch outcome {
    case .committed(let writes, let then): ["\(writes.count) committed, \(then.count) told"]
    case .events(let events): events.map(Self.words)
    }
  }

  private static func words(_ event: EngineEvent) -> String {
    switch event {
    case .claimedDue: "claimed"
    case .fetched: "fetched"
    case .fetchedDamaged(_, let hasEnded, let problem): "\(problem.detail) \(hasEnded)"
    case .storeFailed(let request, let failure): "failed \(request.epoch) \(failure.kind == .full ? "full" : "")"
    case .storeWritten(let epoch): "written \(epoch)"
    case .storeInDoubt(let message): message.map { "in doubt: \($0)" } ?? "known"
    default: "?"
    }
  }

  @Test("requests that arrive during a commit become one transaction")
  func group() {
    let gate = DispatchSemaphore(value: 0)
    let store = RecordingStore(gate: gate)
    let outcomes = outcomes(store) { lane in
      lane.post([Self.commit(0)])
      // The first may or may not have begun; all later ones wait for it at most once.
      for number in 1...50 { lane.post([Self.commit(number)]) }
      for _ in 0..<51 { gate.signal() }
    }
    #expect(store.commits.reduce(0, +) == 51)
    #expect(store.commits.count <= 3)
    #expect(outcomes.count == store.commits.count)
  }

  @Test("a single commit does not wait, and those right after it share the next")
  func spacing() {
    let store = RecordingStore()
    let waits = Mutex<[Duration]>([])
    let waiting = DispatchSemaphore(value: 0)
    let mayProceed = DispatchSemaphore(value: 0)
    let outcomes = outcomes(
      store, spacing: .seconds(3600),
      wait: { left in
        waits.withLock { $0.append(left) }
        waiting.signal()
        mayProceed.wait()
      }
    ) { lane in
      lane.post([Self.commit(0)])
      poll("\(store.commits), \(waits.withLock { $0 })") { store.commits == [1] }
      #expect(waits.withLock { $0.isEmpty })
      lane.post([Self.commit(1)])
      #expect(waiting.wait(timeout: .now() + 60) == .success)
      for number in 2...20 { lane.post([Self.commit(number)]) }
      for _ in 0..<20 { mayProceed.signal() }
    }
    #expect(store.commits == [1, 20])
    #expect(outcomes == ["1 committed, 1 told", "20 committed, 20 told"])
    #expect(waits.withLock { $0.allSatisfy { $0 > .zero && $0 < .seconds(3600) } })
  }

  @Test("a claim between two commits runs between them")
  func order() {
    let outcomes = outcomes(RecordingStore()) { lane in
      lane.post([
        Self.commit(1), Self.commit(2), StoreRequest(.claimDue(before: Timestamp(microseconds: 0), limit: 1), epoch: 0),
        Self.commit(3),
      ])
    }
    #expect(outcomes == ["2 committed, 2 told", "claimed", "1 committed, 1 told"])
  }

  @Test("a batch larger than a transaction is split")
  func bound() {
    let store = RecordingStore()
    let outcomes = outcomes(store) { $0.post((0..<5000).map { Self.commit($0) }) }
    #expect(store.commits == [2048, 2048, 904])
    #expect(outcomes.count == 3)
  }

  @Test("tidying continues by itself until all is done, leaves most of the lane's time to others, and can be stopped")
  func tidying() {
    let store = RecordingStore()
    store.setUntidy(20)
    let lane = StoreLane(store: store, tidyInterval: .milliseconds(1))
    lane.begin { _ in }
    let all = DispatchSemaphore(value: 0)
    weak var left: Watcher?
    let began = ContinuousClock.now
    do {
      let watcher = Watcher(all)
      left = watcher
      lane.tidy(Retention(), now: { Timestamp(microseconds: 0) }) { watcher.look($0) }
    }
    #expect(all.wait(timeout: .now() + 60) == .success)
    // Nineteen steps of a millisecond and more, each followed by a pause of four times as long.
    #expect(ContinuousClock.now - began > .milliseconds(19 * 5))
    lane.stopTidying()
    let stopped = DispatchSemaphore(value: 0)
    lane.afterwards { _ in stopped.signal() }
    stopped.wait()
    while all.wait(timeout: .now()) == .success {}
    store.setUntidy(20)
    poll("it still tidies") { left == nil }
    #expect(all.wait(timeout: .now()) == .timedOut)
  }

  /// What a tidying lane reports to; it is released with the last look.
  private final class Watcher: Sendable {
    private let all: DispatchSemaphore
    init(_ all: DispatchSemaphore) { self.all = all }

    func look(_ result: Result<TidyStep, StoreError>) {
      if case .success(let step) = result, step.isDone { all.signal() }
    }
  }

  @Test("nothing is removed between a change that could not be written and the next that is")
  func tidyingInTrouble() {
    let store = RecordingStore()
    let lane = StoreLane(store: store, tidyInterval: .milliseconds(1))
    lane.begin { _ in }
    func awaiting(_ body: () -> Void) {
      body()
      let done = DispatchSemaphore(value: 0)
      lane.afterwards { _ in done.signal() }
      done.wait()
    }
    awaiting {
      store.setFailing(true)
      lane.post([Self.commit(1)])
    }
    store.setFailing(false)
    // A claim that succeeds says nothing about the change; nor does a change that depends on the failed one.
    awaiting {
      lane.post([
        Self.commit(2), StoreRequest(.claimDue(before: Timestamp(microseconds: 0), limit: 1), epoch: 1),
        StoreRequest(.commit([], then: []), epoch: 1),
      ])
    }
    let tidied = DispatchSemaphore(value: 0)
    awaiting {
      lane.tidy(Retention(), now: { Timestamp(microseconds: 0) }) { _ in tidied.signal() }
    }
    #expect(tidied.wait(timeout: .now()) == .timedOut)
    awaiting { lane.post([Self.commit(1, epoch: 1)]) }
    #expect(tidied.wait(timeout: .now() + 60) == .success)
    lane.stopTidying()
  }

  @Test("a call that cannot be read is reported as such, and nothing else fails with it")
  func damaged() {
    let operation = CallCommand(.retry, RecordingStore.damaged, reply: ReplyToken(rawValue: 1))
    let outcomes = outcomes(RecordingStore()) { lane in
      lane.post([StoreRequest(.fetch(operation), epoch: 0), Self.commit(1)])
    }
    #expect(outcomes == ["damaged true", "1 committed, 1 told"])
  }

  @Test("a barrier is reported once something has been written for it, and fails while nothing can be")
  func barrier() {
    let store = RecordingStore()
    let outcomes = outcomes(store) { lane in
      store.setFailing(true)
      lane.post([StoreRequest(.barrier, epoch: 0)])
      let failed = DispatchSemaphore(value: 0)
      lane.afterwards { _ in failed.signal() }
      failed.wait()
      store.setFailing(false)
      lane.post([Self.commit(1, epoch: 1), StoreRequest(.barrier, epoch: 1)])
    }
    #expect(outcomes == ["failed 0 full", "1 committed, 1 told", "written 1"])
  }

  @Test("what comes before the store is recovered waits, and comes behind the recovery")
  func recovers() throws {
    let order = Mutex<[String]>([])
    let store = RecordingStore(recovering: { order.withLock { $0.append("recovered") } })
    let lane = StoreLane(store: store)
    let done = DispatchSemaphore(value: 0)
    lane.post([Self.commit(1)])
    lane.afterwards { _ in
      order.withLock { $0.append("changed") }
      done.signal()
    }
    _ = try lane.recover(at: .epoch)
    #expect(store.commits == [])
    lane.begin { _ in }
    #expect(done.wait(timeout: .now() + 60) == .success)
    #expect(order.withLock { $0 } == ["recovered", "changed"])
    #expect(store.commits == [1])
  }

  @Test(
    "a lane that is closed tells what comes later, and one that has not begun can be closed", arguments: [true, false])
  func closes(begins: Bool) {
    let lane = StoreLane(store: RecordingStore())
    if begins { lane.begin { _ in } }
    let order = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    lane.afterwards { _ in order.withLock { $0.append("before: \(lane.isClosed)") } }
    lane.close { _ in
      order.withLock { $0.append("last: \(lane.isClosed)") }
    } then: {
    }
    lane.afterwards { _ in
      order.withLock { $0.append("after: \(lane.isClosed)") }
      done.signal()
    }
    #expect(done.wait(timeout: .now() + 60) == .success)
    #expect(order.withLock { $0 } == ["before: false", "last: false", "after: true"])
  }

  @Test("a store that answers later has two commits at a time, and results are reported as they come, in order")
  func later() {
    let store = LateStore()
    let seen = Mutex<[String]>([])
    let lane = StoreLane(store: store, spacing: .zero)
    lane.begin { outcome in seen.withLock { $0 += Self.words(outcome) } }
    let (closed, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    /// Waits until the lane has done what it can.
    func awaitLane() {
      lane.whenServed { closed.signal() }
      closed.wait()
    }
    for number in 1...2 {
      lane.post([Self.commit(number)])
      awaitLane()
    }
    lane.post([Self.commit(3), Self.commit(4)])
    lane.afterwards { _ in done.signal() }
    awaitLane()
    #expect(store.submitted == ["1 #1", "1 #2"])
    store.answer(.made(.done))
    awaitLane()
    #expect(store.submitted == ["1 #1", "1 #2", "2 #3"])
    store.answer(.lost(StoreError(kind: .unavailable, message: "lost")))
    awaitLane()
    #expect(seen.withLock { $0 } == ["1 committed, 1 told", "in doubt: lost"])
    store.answer(.found(last: 2))
    awaitLane()
    #expect(store.submitted == ["1 #1", "1 #2", "2 #3", "1 #2 answer 1", "2 #3 again 1"])
    store.answer(.made(.done))
    store.answer(.notMade(StoreError(kind: .full, message: "no space")))
    done.wait()
    #expect(
      seen.withLock { $0 } == [
        "1 committed, 1 told", "in doubt: lost", "known", "1 committed, 1 told", "failed 0 full", "failed 0 full",
      ])
  }

  @Test("after a failure no request of its epoch is executed, until the engine begins another")
  func failure() {
    let store = RecordingStore()
    let outcomes = outcomes(store) { lane in
      store.setFailing(true)
      lane.post([Self.commit(1), Self.commit(2)])
      let failed = DispatchSemaphore(value: 0)
      lane.afterwards { _ in failed.signal() }
      failed.wait()
      store.setFailing(false)
      lane.post([
        Self.commit(3), StoreRequest(.claimDue(before: Timestamp(microseconds: 0), limit: 1), epoch: 0),
        StoreRequest(.barrier, epoch: 0), Self.commit(4, epoch: 1),
      ])
    }
    #expect(
      outcomes == ["failed 0 full", "failed 0 full", "failed 0 full", "failed 0 full", "failed 0 full"]
        + ["1 committed, 1 told"])
    #expect(store.commits == [1])
  }
}

import Polling
import Dispatch
import Foundation
import RedialCore
import RedialEngine
import RedialModel
import RedialStore
import Synchronization
import Testing

@testable import RedialService

@Suite("Bulk operations")
struct BulkRunnerTests {
  /// Calls of an operation, of which another instance runs some until they were checked that often.
  private final class Calls: Sendable {
    let all = (1...5).map { CallID(rawValue: Int64($0)) }
    let state: Mutex<(left: Set<CallID>, looks: Int)>
    let foreign: Set<CallID>
    let takenOverAfter: Int

    init(foreign: Set<CallID>, takenOverAfter: Int) {
      state = Mutex((Set((1...5).map { CallID(rawValue: Int64($0)) }), 0))
      self.foreign = foreign
      self.takenOverAfter = takenOverAfter
    }

    func page() -> CallPage<CallID> {
      CallPage(calls: state.withLock { $0.left.sorted(by: >) }, next: nil)
    }

    func cancel(_ id: CallID) -> CallCommand.Reply {
      state.withLock { state in
        if foreign.contains(id), state.looks <= takenOverAfter {
          return .elsewhere(TargetKey("https://example.com", in: .default))
        }
        state.left.remove(id)
        return .done(nil)
      }
    }
  }

  /// Runs an operation over some calls to its end.
  private func end(_ calls: Calls) throws -> BulkOperation {
    let over = DispatchSemaphore(value: 0)
    let runner = BulkRunner(
      BulkRunner.Surroundings(
        page: { _ in calls.page() },
        perform: { _, ids, finish in
          calls.state.withLock { $0.looks += 1 }
          let batch = BulkBatch(size: ids.count, finish: finish)
          for id in ids { batch.record(calls.cancel(id), of: id) }
        },
        store: { _, then in then(true) },
        log: { _, _ in over.signal() },
        now: { Timestamp(microseconds: 0) }),
      pause: .milliseconds(1))
    let operation = try Self.operation("cancel", .counting)
    runner.take([operation], in: runner.term)
    #expect(over.wait(timeout: .now() + 60) == .success, "it does not end")
    return try #require(runner.operation(operation.id))
  }

  @Test("an operation waits for calls that another instance runs, because it may take them over")
  func waits() throws {
    let calls = Calls(foreign: [CallID(rawValue: 2)], takenOverAfter: 5)
    let ended = try end(calls)
    #expect(ended.state == .completed && ended.done == 5 && ended.skipped == 0)
  }

  @Test("an operation ends although another instance keeps some of the calls, and says how many")
  func ends() throws {
    let calls = Calls(foreign: [CallID(rawValue: 2), CallID(rawValue: 4)], takenOverAfter: .max)
    let ended = try end(calls)
    #expect(ended.state == .completed && ended.done == 3 && ended.skipped == 2)
  }

  @Test("calls that were replayed are found again with their page, not submitted again, and counted once")
  func replays() throws {
    let over = DispatchSemaphore(value: 0)
    let looks = Mutex(0)
    let asked = Mutex<[[Int64]]>([])
    let runner = BulkRunner(
      BulkRunner.Surroundings(
        page: { _ in CallPage(calls: (1...5).map { CallID(rawValue: $0) }, next: nil) },
        perform: { _, ids, finish in
          let look = looks.withLock { looks in
            looks += 1
            return looks
          }
          asked.withLock { $0.append(ids.map(\.rawValue)) }
          let batch = BulkBatch(size: ids.count, finish: finish)
          for id in ids {
            if id.rawValue == 3, look < 3 {
              batch.record(SubmissionReply.refused(.backlogFull(1)), replaying: id)
            } else {
              batch.record(SubmissionReply.replayed(CallID(rawValue: id.rawValue + 100)), replaying: id)
            }
          }
        },
        store: { _, then in then(true) },
        log: { _, _ in over.signal() },
        now: { Timestamp(microseconds: 0) }),
      pause: .milliseconds(1))
    let operation = try Self.operation("replay", .counting)
    runner.take([operation], in: runner.term)
    #expect(over.wait(timeout: .now() + 60) == .success, "it does not end")
    let ended = try #require(runner.operation(operation.id))
    #expect(ended.state == .completed && ended.done == 5 && ended.skipped == 0 && looks.withLock { $0 } == 3)
    #expect(asked.withLock { $0 } == [[1, 2, 3, 4, 5], [3], [3]])
  }

  @Test("a replay that is cancelled while its page waits has counted what it has made")
  func cancelledReplay() throws {
    let stage = Stage()
    let operation = try Self.operation("replay")
    let runner = stage.runner()
    runner.take([operation], in: runner.term)
    let made: Set<CallID> = [CallID(rawValue: 1), CallID(rawValue: 2)]
    try stage.page()(BulkBatch.Tally(done: 2, unavailable: 1, replayed: made))
    try stage.write().then(true)
    #expect(runner.operation(operation.id)?.done == 0, "the page has not passed")
    // It is cancelled before the page is worked on again, or in the middle of that.
    var cancelled = operation
    cancelled.state = .cancelled
    #expect(runner.didCancel(cancelled).done == 2)
  }

  // MARK: Changes of the leader

  /// A runner whose pages and writes end when the test says so.
  private final class Stage: Sendable {
    private struct State {
      var finishes: [@Sendable (BulkBatch.Tally) -> Void] = []
      var writes: [(current: @Sendable () -> BulkOperation?, then: @Sendable (Bool) -> Void)] = []
      var ends = 0
    }

    private let state = Mutex(State())
    /// Signalled by each page that begins, and by each write that is wanted.
    private let (begun, wanted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    func runner(isShared: Bool = false) -> BulkRunner {
      BulkRunner(
        BulkRunner.Surroundings(
          page: { _ in CallPage(calls: [CallID(rawValue: 1)], next: nil) },
          perform: { [self] _, _, finish in
            state.withLock { $0.finishes.append(finish) }
            begun.signal()
          },
          store: { [self] current, then in
            state.withLock { $0.writes.append((current, then)) }
            wanted.signal()
          },
          log: { [self] _, _ in state.withLock { $0.ends += 1 } },
          now: { Timestamp(microseconds: 0) }),
        pause: .milliseconds(1), isShared: isShared)
    }

    var ends: Int { state.withLock { $0.ends } }
    var pages: Int { state.withLock { $0.finishes.count } }

    /// Waits for a page, and returns what ends it.
    func page() throws -> @Sendable (BulkBatch.Tally) -> Void {
      try #require(begun.wait(timeout: .now() + 60) == .success)
      return try #require(state.withLock { $0.finishes.last })
    }

    /// Waits for a write, and returns what it would write and what ends it.
    func write() throws -> (operation: BulkOperation?, then: @Sendable (Bool) -> Void) {
      try #require(wanted.wait(timeout: .now() + 60) == .success)
      let write = try #require(state.withLock { $0.writes.last })
      return (write.current(), write.then)
    }
  }

  private static let done = BulkBatch.Tally(done: 1)

  private static func operation(_ action: String = "cancel", _ state: BulkOperation.State = .running) throws
    -> BulkOperation
  {
    let request = try Array("{\"action\": \"\(action)\", \"all\": true}".utf8).withUnsafeBufferPointer { bytes in
      try BulkRequest.read(bytes, rate: BulkOperation.rates.upperBound, at: .epoch)
    }
    var operation = BulkOperation(
      id: BulkOperationID(rawValue: 1), request: request, createdAt: Timestamp(microseconds: 0))
    operation.state = state
    return operation
  }

  @Test("a page of a leader that was replaced and leads again is void, and one goes on, not two")
  func terms() throws {
    let (stage, operation) = (Stage(), try Self.operation())
    let runner = stage.runner(isShared: true)
    #expect(runner.leadsIn == nil)
    let first = runner.term
    #expect(runner.take([operation], in: first) && runner.leadsIn == first)
    let old = try stage.page()
    runner.drop()
    #expect(runner.leadsIn == nil && runner.all.isEmpty)
    #expect(!runner.take([operation], in: first), "what was read in an earlier term is not taken")
    #expect(runner.take([operation], in: runner.term))
    // Read twice in one term.
    #expect(runner.take([operation], in: runner.term))
    let new = try stage.page()
    old(Self.done)
    let void = try stage.write()
    #expect(void.operation == nil, "nothing is written")
    void.then(true)
    new(Self.done)
    let last = try stage.write()
    #expect(last.operation?.state == .completed && last.operation?.done == 1)
    last.then(true)
    #expect(stage.pages == 2 && stage.ends == 1)
  }

  @Test("a stop waits until the page is counted on disk, and begins no other")
  func stops() throws {
    let (stage, operation) = (Stage(), try Self.operation())
    let runner = stage.runner()
    runner.take([operation], in: runner.term)
    let finish = try stage.page()
    let hasStopped = DispatchSemaphore(value: 0)
    let order = Mutex<[String]>([])
    Thread.detachNewThread {
      runner.stop(within: .seconds(3600))
      order.withLock { $0.append("stopped") }
      hasStopped.signal()
    }
    poll("it does not stop") { runner.isStopping }
    order.withLock { $0.append("ended") }
    finish(BulkBatch.Tally(done: 1, unavailable: 1))
    let write = try stage.write()
    #expect(write.operation?.done == 1)
    order.withLock { $0.append("counted") }
    write.then(true)
    #expect(hasStopped.wait(timeout: .now() + 60) == .success)
    #expect(order.withLock { $0 } == ["ended", "counted", "stopped"])
    #expect(stage.pages == 1)
    // Nothing is running now.
    runner.stop(within: .seconds(3600))
  }

  @Test("an operation that was completed while its cancellation was written stays completed")
  func cancelledTooLate() throws {
    let (stage, operation) = (Stage(), try Self.operation())
    let runner = stage.runner()
    runner.take([operation], in: runner.term)
    try stage.page()(Self.done)
    let write = try stage.write()
    var cancelled = operation
    cancelled.state = .cancelled
    #expect(runner.didCancel(cancelled).state == .completed)
    write.then(true)
    #expect(runner.operation(operation.id)?.state == .completed && runner.operation(operation.id)?.done == 1)
  }
}

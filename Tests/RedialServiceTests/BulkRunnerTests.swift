import Dispatch
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
    let settlesAfter: Int

    init(foreign: Set<CallID>, settlesAfter: Int) {
      state = Mutex((Set((1...5).map { CallID(rawValue: Int64($0)) }), 0))
      self.foreign = foreign
      self.settlesAfter = settlesAfter
    }

    func page() -> CallPage<CallID> {
      CallPage(calls: state.withLock { $0.left.sorted(by: >) }, next: nil)
    }

    func cancel(_ id: CallID) -> CallCommand.Reply {
      state.withLock { state in
        if foreign.contains(id), state.looks <= settlesAfter {
          return .elsewhere(TargetKey("https://example.com", in: .default))
        }
        state.left.remove(id)
        return .done(id)
      }
    }
  }

  /// Runs an operation over some calls to its end.
  private func end(_ calls: Calls) throws -> BulkOperation {
    let over = DispatchSemaphore(value: 0)
    let runner = BulkRunner(
      BulkRunner.Surroundings(
        page: { _ in calls.page() },
        perform: { _, ids, _, _, finish in
          calls.state.withLock { $0.looks += 1 }
          let batch = BulkBatch(size: ids.count, finish: finish)
          for id in ids { batch.note(calls.cancel(id)) }
        },
        store: { _, then in then(true) },
        log: { _, _ in over.signal() },
        now: { Timestamp(microseconds: 0) }),
      pause: .milliseconds(1))
    let request = try Array("{\"action\": \"cancel\", \"all\": true}".utf8).withUnsafeBufferPointer { bytes in
      try BulkRequest.read(bytes, rate: BulkOperation.rates.upperBound)
    }
    let operation = BulkOperation(
      id: BulkOperationID(rawValue: 1), request: request, createdAt: Timestamp(microseconds: 0))
    runner.take([operation])
    #expect(over.wait(timeout: .now() + 30) == .success, "it does not end")
    return try #require(runner.operation(operation.id))
  }

  @Test("an operation waits for calls that another instance runs, because it may take them over")
  func waits() throws {
    let calls = Calls(foreign: [CallID(rawValue: 2)], settlesAfter: 5)
    let ended = try end(calls)
    #expect(ended.state == .completed && ended.done == 5 && ended.skipped == 0)
  }

  @Test("an operation ends although another instance keeps some of the calls, and says how many")
  func ends() throws {
    let calls = Calls(foreign: [CallID(rawValue: 2), CallID(rawValue: 4)], settlesAfter: .max)
    let ended = try end(calls)
    #expect(ended.state == .completed && ended.done == 3 && ended.skipped == 2)
  }
}

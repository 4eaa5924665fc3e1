import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Synchronization
import Testing

@testable import RedialService

@Suite("Batches of a bulk operation")
struct BulkBatchTests {
  private static let calls = (1...4).map { CallID(rawValue: $0) }

  @Test("calls that other instances run are passed on to them together, once all others have a reply")
  func passesOn() {
    let passed = Mutex<[[CallID]]>([])
    let ends = Mutex<[BulkBatch.Tally]>([])
    let batch = BulkBatch(
      size: 4, passOn: { calls, _ in passed.withLock { $0.append(calls.map(\.call)) } },
      finish: { tally in ends.withLock { $0.append(tally) } })
    batch.record(.elsewhere("a"), of: Self.calls[0])
    batch.record(.done(nil), of: Self.calls[1])
    batch.record(.elsewhere("b"), of: Self.calls[2])
    #expect(passed.withLock { $0.isEmpty })
    batch.record(.refused(.callNotFound(Self.calls[3])), of: Self.calls[3])
    #expect(passed.withLock { $0 } == [[Self.calls[0], Self.calls[2]]])
    batch.add(BulkBatch.Tally(done: 1))
    #expect(ends.withLock { $0.isEmpty })
    batch.add(BulkBatch.Tally(elsewhere: 1))
    #expect(ends.withLock { $0 } == [BulkBatch.Tally(done: 2, skipped: 1, elsewhere: 1)])
    #expect(passed.withLock { $0.count } == 1)
  }

  @Test("without other instances nothing is passed on to anybody")
  func alone() {
    let ends = Mutex<[BulkBatch.Tally]>([])
    let batch = BulkBatch(size: 2) { tally in ends.withLock { $0.append(tally) } }
    batch.record(.elsewhere("a"), of: Self.calls[0])
    batch.record(.refused(.leaseLost), of: Self.calls[1])
    #expect(ends.withLock { $0 } == [BulkBatch.Tally(unavailable: 1, elsewhere: 1)])
  }

  @Test(
    "commands arrive as they were sent",
    arguments: [
      nil, CallCommand.Condition.unfinished, .ended(by: Timestamp(microseconds: 5)),
      .unchanged(endedAt: Timestamp(microseconds: 5), attempts: 3),
    ])
  func commands(condition: CallCommand.Condition?) throws {
    for kind in [CallCommand.Kind.cancel, .retry, .purge] {
      let sent = BulkCommands(
        kind: kind, condition: condition, attribution: Attribution(by: "me", reason: nil), calls: Self.calls)
      let request = sent.request(in: Namespace.default)
      let read = try #require(request.body.withUnsafeBufferPointer { BulkCommands($0) })
      #expect(read.kind == kind && read.condition == condition && read.calls == Self.calls)
      #expect(read.attribution.by == "me" && read.attribution.reason == nil)
    }
  }

  @Test(
    "commands that cannot be read are none",
    arguments: [
      "", "{}", #"{"kind":"erase","calls":[]}"#, #"{"kind":"cancel","calls":["x"]}"#,
      #"{"kind":"purge","condition":"later","calls":[]}"#, #"{"kind":"retry","condition":"endedAt-5","calls":[]}"#,
      #"{"kind":"retry","condition":"endedAt-5-x","calls":[]}"#,
    ])
  func nonsense(text: String) {
    #expect(Array(text.utf8).withUnsafeBufferPointer { BulkCommands($0) } == nil)
  }

  @Test("a tally arrives as it was sent")
  func tallies() {
    let tally = BulkBatch.Tally(done: 1, skipped: 2, unavailable: 3, elsewhere: 4)
    #expect(BulkBatch.Tally(json: tally.json, of: 10) == tally && BulkBatch.Tally(json: tally.json, of: 9) == nil)
    for text in ["{", #"{"done":3,"skipped":-1}"#, #"{"done":9223372036854775807,"skipped":1}"#] {
      #expect(BulkBatch.Tally(json: Array(text.utf8), of: 2) == nil)
    }
  }
}

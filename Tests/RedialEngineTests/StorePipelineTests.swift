@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("The pipeline of requests to a store")
struct StorePipelineTests {
  private static func commit(_ number: Int, writes: Int = 1, epoch: UInt64 = 0) -> StoreRequest {
    StoreRequest(
      .commit(
        (0..<writes).map { .target(TargetKey("http://\(number).\($0)", in: .default), TargetRecord()) },
        then: [
          .reply(.command(ReplyToken(rawValue: UInt64(number)), .done(nil)))
        ]), epoch: epoch)
  }

  private static func claim(epoch: UInt64 = 0) -> StoreRequest {
    StoreRequest(.claimDue(before: .epoch, limit: 1), epoch: epoch)
  }

  private static func lookup(_ number: Int) -> StoreRequest {
    let key = IdempotencyKey("\(number)", fingerprint: [])
    let submission = KeyedSubmission(
      descriptor: EngineProbe.descriptor(), key: key, reply: ReplyToken(rawValue: UInt64(number)))
    return StoreRequest(.findKey(submission, at: .epoch), epoch: 0)
  }

  private static let failure = StoreFailure(isFull: false, message: "refused")

  /// The steps until it waits, in words: `3:+2` is job 3 with two requests.
  private func steps(_ pipeline: inout StorePipeline) -> [String] {
    var words: [String] = []
    while true {
      switch pipeline.next() {
      case .wait: return words
      case .submit(let job): words.append("\(job.number):+\(job.requests.count) #\(job.sequence)")
      case .report(.committed(let writes, let then)): words.append("\(writes.count) made, \(then.count) told")
      case .report(.events(let events)): words += events.map(Self.words)
      }
    }
  }

  private static func words(_ event: EngineEvent) -> String {
    switch event {
    case .storeFailed(let request, let failure): "failed \(request.epoch) \(failure.message)"
    case .storeInDoubt(let message): message ?? "known"
    case .storeWritten(let epoch): "written \(epoch)"
    default: "?"
    }
  }

  @Test("commits that wait together are one job, and two jobs are in flight, each behind the other")
  func twoInFlight() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1), Self.commit(2)])
    #expect(steps(&pipeline) == ["1:+2 #1"])
    pipeline.post([Self.commit(3)])
    #expect(steps(&pipeline) == ["2:+1 #2"])
    pipeline.post([Self.commit(4), Self.commit(5)])
    #expect(steps(&pipeline).isEmpty, "the store has two")
    pipeline.ended(1, .made([]))
    #expect(steps(&pipeline) == ["2 made, 2 told", "3:+2 #3"])
    #expect(pipeline.posted == 5 && pipeline.settled == 2)
  }

  @Test("results are reported in the order of the requests, whenever they are known")
  func order() {
    var pipeline = StorePipeline()
    // The second has nothing to write, which is known at once.
    pipeline.post([Self.commit(1), Self.claim(), Self.commit(2, writes: 0)])
    #expect(steps(&pipeline) == ["1:+1 #1", "2:+1 #2"])
    pipeline.ended(2, .made([.storeWritten(epoch: 9)]))
    #expect(steps(&pipeline) == ["3:+1 #2"])
    pipeline.ended(3, .made([]))
    #expect(steps(&pipeline).isEmpty)
    pipeline.ended(1, .made([]))
    #expect(steps(&pipeline) == ["1 made, 1 told", "written 9", "0 made, 1 told"])
  }

  @Test("look-ups that wait together are one job, and no larger than a bound")
  func lookups() {
    var pipeline = StorePipeline(lookups: 3)
    pipeline.post((0..<5).map(Self.lookup) + [Self.commit(1)])
    #expect(steps(&pipeline) == ["1:+3 #0", "2:+2 #0"])
  }

  @Test("a commit is no larger than a bound, unless it is a single request")
  func bound() {
    var pipeline = StorePipeline(inFlight: 9)
    pipeline.post([
      Self.commit(1, writes: 3000), Self.commit(2, writes: 2000), Self.commit(3, writes: 48), Self.commit(4),
    ])
    #expect(steps(&pipeline) == ["1:+1 #1", "2:+2 #2", "3:+1 #3"])
  }

  @Test(
    "when one fails, those behind it fail with it, nothing is sent before they are back, and its number is used again")
  func chain() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1)])
    #expect(steps(&pipeline) == ["1:+1 #1"])
    pipeline.ended(1, .made([]))
    pipeline.post([Self.commit(2), Self.claim()])
    #expect(steps(&pipeline) == ["1 made, 1 told", "2:+1 #2", "3:+1 #3"])
    pipeline.post([Self.commit(4)])
    pipeline.ended(2, .failed(Self.failure))
    // The engine has heard of it, and has begun another epoch.
    #expect(steps(&pipeline) == ["failed 0 refused"])
    #expect(pipeline.owesChanges)
    pipeline.post([Self.commit(5, epoch: 1)])
    #expect(steps(&pipeline).isEmpty)
    // The third has its own reason: it was refused because the second is missing. What counts is the first reason.
    pipeline.ended(3, .failed(StoreFailure(isFull: true, message: "the one before was not made")))
    #expect(steps(&pipeline) == ["failed 0 refused", "failed 0 refused", "4:+1 #2"])
    pipeline.ended(4, .made([]))
    #expect(steps(&pipeline) == ["1 made, 1 told"])
    #expect(!pipeline.owesChanges)
    #expect(pipeline.posted == 5 && pipeline.settled == 5)
  }

  @Test("what changes nothing fails with the commit that it follows, although the store has nothing against it")
  func dependants() {
    var pipeline = StorePipeline(inFlight: 3)
    pipeline.post([Self.commit(1), Self.lookup(2), Self.commit(3, writes: 0)])
    #expect(steps(&pipeline) == ["1:+1 #1", "2:+1 #1", "3:+1 #1"])
    pipeline.ended(2, .made([.storeWritten(epoch: 9)]))
    pipeline.ended(3, .made([]))
    pipeline.ended(1, .failed(Self.failure))
    #expect(steps(&pipeline) == ["failed 0 refused", "failed 0 refused", "failed 0 refused"])
    pipeline.post([Self.commit(4, epoch: 1)])
    #expect(steps(&pipeline) == ["4:+1 #1"])
  }

  @Test("what is in doubt is reported as such, nothing follows it, and its result is reported when it is known")
  func doubt() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1)])
    #expect(steps(&pipeline) == ["1:+1 #1"])
    pipeline.doubted("lost")
    pipeline.doubted("lost again")
    pipeline.post([Self.commit(2)])
    #expect(steps(&pipeline) == ["lost"])
    pipeline.ended(1, .made([]))
    #expect(steps(&pipeline) == ["known", "1 made, 1 told", "2:+1 #2"])
    pipeline.doubted("lost")
    pipeline.ended(2, .failed(Self.failure))
    #expect(steps(&pipeline) == ["known", "failed 0 refused"])
    pipeline.doubted("lost while it had nothing")
    pipeline.post([Self.commit(3, epoch: 1)])
    #expect(steps(&pipeline) == ["3:+1 #2"])
  }
}

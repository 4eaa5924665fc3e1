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

  private static func lookup(_ number: Int, epoch: UInt64 = 0) -> StoreRequest {
    let key = IdempotencyKey("\(number)", fingerprint: [])
    let submission = KeyedSubmission(
      descriptor: EngineProbe.descriptor(), key: key, reply: ReplyToken(rawValue: UInt64(number)))
    return StoreRequest(.findKey(submission, at: .epoch), epoch: epoch)
  }

  /// The steps until it waits, in words: `3:+2 #5` is job 3 with two requests and the place 5 in the chain.
  private func steps(_ pipeline: inout StorePipeline) -> [String] {
    var words: [String] = []
    while true {
      switch pipeline.next() {
      case .wait: return words
      case .submit(let job, _, let trial):
        words.append(
          "\(job.number):+\(job.requests.count) #\(job.sequence)\(trial.kind == .first ? "" : " \(trial.kind)")")
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
    case .claimedDue: "claimed"
    case .foundKey(let submission, _): "looked up \(submission.reply.rawValue)"
    default: "?"
    }
  }

  private static let lost = StoreOutcome.lost(StoreError(kind: .unavailable, message: "lost"))
  private static let nothing = StoreAnswer.due(Claim(calls: [], nextDue: nil))

  @Test("commits that wait together are one job, and two jobs are in flight, each behind the other")
  func twoInFlight() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1), Self.commit(2)])
    #expect(steps(&pipeline) == ["1:+2 #1"])
    pipeline.post([Self.commit(3)])
    #expect(steps(&pipeline) == ["2:+1 #2"])
    pipeline.post([Self.commit(4), Self.commit(5)])
    #expect(steps(&pipeline).isEmpty, "the store has two")
    pipeline.heard(.made(.done))
    #expect(steps(&pipeline) == ["2 made, 2 told", "3:+2 #3"])
    #expect(pipeline.posted == 5 && pipeline.concluded == 2)
  }

  @Test("results are reported in the order of the requests, also that of a commit with nothing to write")
  func order() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1), Self.claim(), Self.commit(2, writes: 0)])
    #expect(steps(&pipeline) == ["1:+1 #1", "2:+1 #2"])
    pipeline.heard(.made(.done))
    #expect(steps(&pipeline) == ["1 made, 1 told"])
    pipeline.heard(.made(Self.nothing))
    #expect(steps(&pipeline) == ["claimed", "0 made, 1 told"])
  }

  @Test("look-ups that wait together are one job, and no larger than a bound")
  func lookups() {
    var pipeline = StorePipeline(lookups: 3)
    pipeline.post((0..<5).map { Self.lookup($0) } + [Self.commit(1)])
    #expect(steps(&pipeline) == ["1:+3 #0", "2:+2 #0"])
    pipeline.heard(.made(.keys([nil, nil, nil])))
    #expect(steps(&pipeline) == ["looked up 0", "looked up 1", "looked up 2", "3:+1 #1"])
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
    pipeline.heard(.made(.done))
    pipeline.post([Self.commit(2), Self.claim()])
    #expect(steps(&pipeline) == ["1 made, 1 told", "2:+1 #2", "3:+1 #3"])
    pipeline.post([Self.commit(4)])
    pipeline.heard(.notMade(failure))
    // The engine has heard of it, and has begun another epoch.
    #expect(steps(&pipeline) == ["failed 0 refused"])
    #expect(pipeline.owesChanges)
    pipeline.post([Self.commit(5, epoch: 1)])
    #expect(steps(&pipeline).isEmpty)
    // The third has its own reason: it was refused because the second is missing. What counts is the first reason.
    pipeline.heard(.notMade(StoreError(kind: .full, message: "the one before was not made")))
    #expect(steps(&pipeline) == ["failed 0 refused", "failed 0 refused", "4:+1 #2"])
    pipeline.heard(.made(.done))
    #expect(steps(&pipeline) == ["1 made, 1 told"])
    #expect(!pipeline.owesChanges)
    #expect(pipeline.posted == 5 && pipeline.concluded == 5)
  }

  @Test("what changes nothing fails with the commit that it follows, although the store has nothing against it")
  func dependants() {
    var pipeline = StorePipeline(inFlight: 3)
    pipeline.post([Self.commit(1), Self.lookup(2), Self.commit(3, writes: 0)])
    #expect(steps(&pipeline) == ["1:+1 #1", "2:+1 #1"])
    pipeline.heard(.notMade(failure))
    pipeline.heard(.made(.keys([nil])))
    #expect(steps(&pipeline) == ["failed 0 refused", "failed 0 refused", "failed 0 refused"])
    pipeline.post([Self.commit(4, epoch: 1)])
    #expect(steps(&pipeline) == ["4:+1 #1"])
  }

  @Test(
    "what is in doubt is reported as such and nothing follows it; what was made is answered, the rest is sent again")
  func doubt() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1)])
    #expect(steps(&pipeline) == ["1:+1 #1"])
    pipeline.post([Self.claim()])
    #expect(steps(&pipeline) == ["2:+1 #2"])
    pipeline.heard(Self.lost)
    pipeline.post([Self.commit(2)])
    #expect(steps(&pipeline) == ["lost"])
    pipeline.heard(.found(last: 1))
    #expect(steps(&pipeline) == ["known", "1:+1 #1 answer", "2:+1 #2 again"])
    pipeline.heard(.made(.done))
    #expect(steps(&pipeline) == ["1 made, 1 told", "3:+1 #3"])
    // It is lost again, and nobody knows of any.
    pipeline.heard(Self.lost)
    pipeline.heard(.found(last: 1))
    #expect(steps(&pipeline) == ["known", "2:+1 #2 again", "3:+1 #3 again"])
    pipeline.heard(.notMade(failure))
    pipeline.heard(.notMade(failure))
    #expect(steps(&pipeline) == ["failed 0 refused", "failed 0 refused"])
    pipeline.post([Self.commit(3, epoch: 1)])
    #expect(steps(&pipeline) == ["4:+1 #2"])
  }

  @Test("what was made is reported so, also behind a look-up that has failed")
  func madeBehindFailure() {
    var pipeline = StorePipeline()
    pipeline.post([Self.lookup(1)])
    _ = steps(&pipeline)
    pipeline.post([Self.commit(2)])
    #expect(steps(&pipeline) == ["2:+1 #1"])
    pipeline.heard(.notMade(failure))
    pipeline.heard(Self.lost)
    pipeline.heard(.found(last: 1))
    #expect(steps(&pipeline) == ["known", "failed 0 refused", "2:+1 #1 answer"])
    pipeline.heard(.made(.done))
    pipeline.post([Self.commit(3, epoch: 1)])
    #expect(steps(&pipeline) == ["1 made, 1 told", "3:+1 #2"])
  }

  @Test("a job that was made, and then is reported as not made, leaves its number to another")
  func forgotten() {
    var pipeline = StorePipeline()
    pipeline.post([Self.claim()])
    #expect(steps(&pipeline) == ["1:+1 #1"])
    pipeline.heard(Self.lost)
    pipeline.heard(.found(last: 1))
    #expect(steps(&pipeline) == ["known", "1:+1 #1 answer"])
    pipeline.heard(.notMade(failure))
    pipeline.post([Self.commit(1, epoch: 1)])
    #expect(steps(&pipeline) == ["failed 0 refused", "2:+1 #1"])
  }

  @Test("a job that is sent again takes those behind it along, whatever they are, and fails after a few times")
  func repetition() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1), Self.lookup(2)])
    #expect(steps(&pipeline) == ["1:+1 #1", "2:+1 #1"])
    for _ in 0..<StorePipeline.mostRepetitions {
      pipeline.heard(.repeatable(failure))
      #expect(steps(&pipeline).isEmpty)
      pipeline.heard(.made(.keys([nil])))
      #expect(steps(&pipeline) == ["1:+1 #1 again", "2:+1 #1 again"])
    }
    pipeline.heard(.repeatable(failure))
    pipeline.heard(.made(.keys([nil])))
    #expect(steps(&pipeline) == ["failed 0 refused", "failed 0 refused"])
  }

  @Test("a job with which the store is lost again and again fails, with those behind it")
  func lostTooOften() {
    var pipeline = StorePipeline()
    pipeline.post([Self.commit(1), Self.claim()])
    _ = steps(&pipeline)
    for _ in 0..<StorePipeline.mostLosses {
      pipeline.heard(Self.lost)
      pipeline.heard(.found(last: 0))
      #expect(steps(&pipeline) == ["known", "1:+1 #1 again", "2:+1 #2 again"])
    }
    pipeline.heard(Self.lost)
    pipeline.heard(.found(last: 0))
    let last = steps(&pipeline)
    #expect(last.count == 3 && last.dropFirst().allSatisfy { $0.contains("lost 21 times") })
    // One that was made is never reported as failed, however often its answer is lost.
    pipeline.post([Self.commit(2, epoch: 1)])
    _ = steps(&pipeline)
    for _ in 0...StorePipeline.mostLosses + 1 {
      pipeline.heard(Self.lost)
      pipeline.heard(.found(last: 1))
      #expect(steps(&pipeline) == ["known", "3:+1 #1 answer"])
    }
  }

  /// A database that makes works of a chain in order, and may lose its connection at any moment: before it has read a
  /// work, or after it has made it and before it has answered. Look-ups depend on nothing.
  private struct Database {
    var ledger: Int64 = 0
    var made: [Int] = []
    /// Works on their way to it, and its outcomes on their way back.
    var (requests, outcomes): ([(StorePipeline.Job, StoreTrial.Kind)], [StoreOutcome]) = ([], [])
    var isLost = false

    mutating func perform(_ fault: StoreOutcome? = nil) {
      guard !requests.isEmpty else { return }
      let (job, trial) = requests.removeFirst()
      guard job.isChange else { return outcomes.append(fault ?? .made(.keys([nil]))) }
      if trial == .answer { return outcomes.append(.made(.done)) }
      guard job.sequence == ledger + 1, fault == nil else { return outcomes.append(fault ?? .notMade(failure)) }
      ledger = job.sequence
      made.append(number(of: job.requests[0]))
      outcomes.append(.made(.done))
    }

    /// Some of what was sent still arrives.
    mutating func cut(after count: Int) {
      for _ in 0..<count { perform() }
      (requests, outcomes, isLost) = ([], [], true)
    }
  }

  @Test(
    "whatever fails and whenever the store is lost, each request is made once or not at all, with results in order",
    arguments: 1...200)
  func exactlyOnce(seed: UInt64) {
    var random = RandomSource(seed: seed)
    // One commit is one job, so that the database can tell them apart.
    var (pipeline, database) = (StorePipeline(lookups: 1), Database())
    var (posted, epoch): (Int, UInt64) = (0, 0)
    var (reported, refused, lookups): ([Int], Set<Int>, Set<Int>) = ([], [], [])
    func proceed() {
      while true {
        switch pipeline.next() {
        case .wait: return
        case .submit(let job, _, let trial): database.requests.append((job, trial.kind))
        case .report(.committed(_, let then)):
          if case .reply(.command(let reply, _))? = then.first { reported.append(Int(reply.rawValue)) }
        case .report(.events(let events)):
          for event in events {
            switch event {
            case .foundKey(let submission, _): reported.append(Int(submission.reply.rawValue))
            case .storeFailed(let request, _):
              reported.append(number(of: request))
              refused.insert(number(of: request))
              if request.epoch == epoch { epoch += 1 }
            default: break
            }
          }
        }
      }
    }
    func find() {
      guard database.isLost else { return }
      database.isLost = false
      pipeline.heard(.found(last: database.ledger))
    }
    func receive() {
      if !database.outcomes.isEmpty { pipeline.heard(database.outcomes.removeFirst()) }
    }
    for step in 0..<2000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2 where step < 1800 && pipeline.posted - pipeline.concluded < 2:
        posted += 1
        let isLookup = Int.random(in: 0..<4, using: &random) == 0
        if isLookup { lookups.insert(posted) }
        pipeline.post([isLookup ? Self.lookup(posted, epoch: epoch) : Self.commit(posted, epoch: epoch)])
      case 3, 4:
        switch Int.random(in: 0..<16, using: &random) {
        case 0: database.perform(.notMade(failure))
        case 1, 2: database.perform(.repeatable(failure))
        default: database.perform()
        }
      case 5, 6: receive()
      case 7 where !pipeline.open.isEmpty && !database.isLost && Int.random(in: 0..<5, using: &random) == 0:
        database.cut(after: Int.random(in: 0...2, using: &random))
        pipeline.heard(Self.lost)
      case 8: find()
      default: break
      }
      proceed()
    }
    for _ in 0..<10_000 where pipeline.concluded < pipeline.posted {
      find()
      proceed()
      database.perform()
      receive()
      proceed()
    }
    #expect(reported == Array(1...posted), "results come in the order of the requests, one for each")
    let made = reported.filter { !refused.contains($0) && !lookups.contains($0) }
    #expect(database.made == made, "what was made is what was reported as made, in order")
    #expect(database.made.count > 20 && !refused.isEmpty)
  }
}

private let failure = StoreError(kind: .unavailable, message: "refused")

/// The number of a request, which is in its reply.
private func number(of request: StoreRequest) -> Int {
  switch request.body {
  case .commit(_, let then):
    if case .reply(.command(let reply, _))? = then.first { Int(reply.rawValue) } else { 0 }
  case .findKey(let submission, _): Int(submission.reply.rawValue)
  default: 0
  }
}

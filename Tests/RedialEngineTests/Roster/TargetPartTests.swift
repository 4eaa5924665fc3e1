@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("The parts of a target")
struct TargetPartTests {
  private static let now = Timestamp(microseconds: 1_796_083_200_000_000)

  @Test("a target earns a slot by each answer that uses all of its slots, and half are lost by silence")
  func credit() {
    var credit = SlotCredit()
    for inFlight in 1...8 { credit.learn(.answer, startedAt: .distantFuture, inFlight: inFlight, most: 6) }
    #expect(credit.proven == 6 && credit.borrowed(ofInFlight: 8) == 2 && credit.borrowed(ofInFlight: 3) == 0)
    credit.learn(.answer, startedAt: .distantFuture, inFlight: 1, most: 6)
    credit.learn(.nothing, startedAt: .distantFuture, inFlight: 1, most: 6)
    #expect(credit.proven == 6)
    credit.learn(.silence, startedAt: .distantFuture, inFlight: 6, most: 6)
    #expect(credit.proven == 3)
  }

  @Test("long silence takes all earned slots, a long pause leaves one")
  func doubt() {
    let second = Duration.seconds(1).wholeMicroseconds
    var idle = SlotCredit()
    for inFlight in 1...4 { idle.learn(.answer, startedAt: .distantFuture, inFlight: inFlight, most: 9) }
    var silent = idle
    silent.start(at: Self.now)
    silent.doubt(inFlight: 1, lastEnd: Self.now, leastSilence: second, at: Self.now + .milliseconds(900))
    #expect(silent.proven == 4)
    silent.doubt(inFlight: 1, lastEnd: Self.now, leastSilence: second, at: Self.now + .seconds(2))
    #expect(silent.proven == 0)
    idle.doubt(inFlight: 0, lastEnd: Self.now, leastSilence: second, at: Self.now + .seconds(2))
    #expect(idle.proven == 1)
  }

  @Test("an attempt that was never made awaits no answer")
  func undone() {
    var credit = SlotCredit()
    credit.start(at: Self.now)
    credit.undo(isLast: false)
    #expect(credit.silentSince == Self.now)
    credit.undo(isLast: true)
    #expect(credit.silentSince == .distantFuture)
  }

  @Test("calls that are written during a refill stay when its answer says that there are no more")
  func refill() {
    var stored = StoredCalls()
    for _ in 0..<3 { stored.append(priority: 5) }
    stored.beginRefill(10)
    #expect(stored.isRefilling && stored.expected == 10)
    stored.append(priority: 7)
    #expect(stored.count == 4 && stored.priority == 7)
    let since = stored.endRefill()
    stored.arrived(3, complete: true, since: since)
    #expect(stored.count == 1 && stored.expected == 0 && !stored.isRefilling)
  }

  @Test("the priority of calls in the store is forgotten with the last of them")
  func priority() {
    var stored = StoredCalls()
    stored.append(priority: 9)
    stored.append(priority: 2)
    #expect(stored.priority == 9)
    stored.arrived(2, complete: false, since: 0)
    stored.append(priority: 3)
    #expect(stored.priority == 3)
  }

  @Test("limits say what an attempt waits for")
  func nextStart() {
    var settings = TargetSettings(
      breaker: CircuitBreakerSettings(), maxInFlight: 2, ratePerSecond: 1, rateBurst: 1, retryShare: 0.2,
      retriesPerSecond: 0, slowStart: .seconds(10), attemptTimeout: .seconds(30))
    var limits = TargetLimits(settings, most: 100)
    #expect(limits.nextStart(inFlight: 0, at: Self.now) == .now)
    #expect(limits.nextStart(inFlight: 2, at: Self.now) == .afterAnother(.concurrency))
    #expect(limits.charge(isRetry: false, at: Self.now) == nil)
    #expect(limits.nextStart(inFlight: 0, at: Self.now) == .at(Self.now + .seconds(1), .rateLimit))
    limits.changePause(at: Self.now) { $0.recover(until: Self.now + .seconds(5), at: Self.now) }
    #expect(limits.nextStart(inFlight: 0, at: Self.now) == .at(Self.now + .seconds(5), .retryAfter))
    #expect(limits.nextStart(inFlight: 0, at: Self.now + .seconds(5)) == .now)
    settings.maxInFlight = 1
    #expect(limits.apply(settings, most: 100) == false)
    limits.pause(true, at: Self.now)
    #expect(limits.nextStart(inFlight: 0, at: Self.now) == .afterPause && limits.maxInFlight == 1)
    limits.depart(at: Self.now)
    #expect(limits.nextStart(inFlight: 0, at: Self.now) == .byNextOwner)
  }
}

import RedialModel
import Testing

@testable import RedialCore
@testable import RedialEngine

@Suite("What has held the calls of a target back")
struct HoldLogTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  private static func at(_ seconds: Double) -> Timestamp { start + .microseconds(Int64(seconds * 1e6)) }

  private static func held(_ log: HoldLog, from begin: Double, to end: Double) -> HeldTimes {
    var held = HeldTimes()
    log.add(to: &held, from: at(begin), to: at(end))
    return held
  }

  @Test("the last thing comes first, each with its time between the two")
  func order() {
    var log = HoldLog(at: Self.start)
    log.hold(.pace, at: Self.at(10))
    log.hold(.pace, at: Self.at(12))
    log.hold(.breaker, at: Self.at(20))
    log.hold(.paused, at: Self.at(50))
    let held = Self.held(log, from: 12, to: 55)
    #expect(
      held.parts == [
        WaitTimes.Part(.paused, .seconds(5)), WaitTimes.Part(.breaker, .seconds(30)),
        WaitTimes.Part(.pace, .seconds(8)),
      ])
    #expect(Self.held(log, from: 52, to: 55).parts == [WaitTimes.Part(.paused, .seconds(3))])
    #expect(Self.held(log, from: 55, to: 55).parts.isEmpty)
  }

  @Test("what was before the target was known is the service's")
  func before() {
    let log = HoldLog(at: Self.start)
    let held = Self.held(log, from: -60, to: 1)
    #expect(held.parts == [WaitTimes.Part(.concurrency, .seconds(1)), WaitTimes.Part(nil, .seconds(60))])
  }

  @Test("whatever changes how often, the sums over a time are right, and the log stays short")
  func sums() {
    var random = RandomSource(seed: 3)
    var log = HoldLog(at: Self.start)
    let reasons: [WaitReason] = [.pace, .breaker, .concurrency, .rateLimit]
    var truth: [WaitReason: Double] = [:]
    var (time, reason) = (0.0, WaitReason.concurrency)
    for _ in 0..<2000 {
      let wait = random.unitInterval() * 3
      truth[reason, default: 0] += wait
      time += wait
      reason = reasons[Int(random.unitInterval() * 4)]
      log.hold(reason, at: Self.at(time))
    }
    // More than fits into one answer, so add it up in pieces of what one can have.
    var sums: [WaitReason?: Double] = [:]
    let pieces = 4000
    for piece in 0..<pieces {
      let (from, to) = (time * Double(piece) / Double(pieces), time * Double(piece + 1) / Double(pieces))
      for part in Self.held(log, from: from, to: to).parts { sums[part.reason, default: 0] += part.time.inSeconds }
    }
    for reason in reasons { #expect(abs((sums[reason] ?? 0) - (truth[reason] ?? 0)) < 1, "\(reason)") }
    #expect(sums[nil] == nil)
  }

  @Test("once nothing waits, it begins anew")
  func clear() {
    var log = HoldLog(at: Self.start)
    log.hold(.breaker, at: Self.at(10))
    log.clear(at: Self.at(20))
    #expect(
      Self.held(log, from: 15, to: 30).parts == [
        WaitTimes.Part(.concurrency, .seconds(10)), WaitTimes.Part(nil, .seconds(5)),
      ])
  }

  @Test("what is over by then holds nothing back any longer, also if nobody looks")
  func lapses() {
    var log = HoldLog(at: Self.start)
    log.hold(.breaker, until: Self.at(20), at: Self.at(10))
    log.hold(.paused, at: Self.at(30))
    let parts: [WaitTimes.Part] = [
      .init(.paused, .seconds(5)), .init(.concurrency, .seconds(10)), .init(.breaker, .seconds(8)),
    ]
    #expect(Self.held(log, from: 12, to: 35).parts == parts)
    // The timer may be a little late.
    log.hold(.breaker, until: Self.at(50), at: Self.at(40))
    log.hold(.breaker, until: Self.at(60), at: Self.at(50.05))
    log.hold(.pace, at: Self.at(60.05))
    #expect(Self.held(log, from: 40, to: 60.05).parts == [.init(.breaker, .milliseconds(20_050))])
  }
}

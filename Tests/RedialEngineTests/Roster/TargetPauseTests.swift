@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("The pause that a target asks for")
struct TargetPauseTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  /// A time, in seconds.
  private func at(_ seconds: Double) -> Timestamp { Self.start + .milliseconds(Int64(seconds * 1000)) }

  private static let first = source("one")
  private static let second = source("two")
  private static let third = source("three")

  private static func source(_ token: String, path: String = "/") -> CallSource {
    CallSource(.test(url: "http://target.example" + path, headers: [HeaderField("Authorization", token)]))
  }

  /// An attempt from one second to another is refused, and the target asks for a pause.
  private func refuse(
    _ pause: inout TargetPause, from: Double, at end: Double, of source: CallSource = Self.first, asking: Double? = 30
  ) -> Bool {
    pause.advance(to: at(end))
    return pause.refused(until: asking.map { at(end + $0) }, from: at(from), of: source, at: at(end))
  }

  /// An attempt is taken, and nothing is left for 30 s.
  private func empty(_ pause: inout TargetPause, from: Double, at end: Double, reset: Double = 30) -> Bool {
    pause.advance(to: at(end))
    return pause.emptied(
      until: at(end + reset), pausing: at(end + reset), isSuccess: true, from: at(from), of: Self.first, at: at(end))
  }

  /// An attempt is taken.
  private func take(
    _ pause: inout TargetPause, from: Double, at end: Double, of source: CallSource = Self.first
  ) -> Bool {
    pause.advance(to: at(end))
    return pause.taken(from: at(from), of: source, at: at(end))
  }

  @Test("it ends when an attempt succeeds that began after the refused one, and not by an earlier one")
  func ends() {
    var pause = TargetPause()
    #expect(refuse(&pause, from: 1, at: 2))
    #expect(!take(&pause, from: 0.9, at: 2.1) && pause.until == at(32))
    #expect(!take(&pause, from: 1, at: 2.2) && pause.until == at(32))
    #expect(take(&pause, from: 1.1, at: 2.3) && pause.until == nil)
    #expect(!take(&pause, from: 1.2, at: 2.4), "it has ended")
  }

  @Test("it counts from the latest attempt that was refused")
  func latest() {
    var pause = TargetPause()
    #expect(refuse(&pause, from: 3, at: 4))
    #expect(!refuse(&pause, from: 5, at: 6, asking: 4), "the first asked for more")
    #expect(!take(&pause, from: 4, at: 7) && pause.until == at(34))
    #expect(take(&pause, from: 5.5, at: 8))
  }

  @Test("it does not begin if an attempt that began later has succeeded")
  func outdated() {
    var pause = TargetPause()
    _ = take(&pause, from: 2, at: 3)
    #expect(!refuse(&pause, from: 1, at: 4) && pause.until == nil)
    #expect(refuse(&pause, from: 2, at: 5) && pause.until == at(35))
  }

  @Test("an exhausted quota counts once the target has refused what came after it")
  func trust() {
    var pause = TargetPause()
    #expect(!empty(&pause, from: 0, at: 1) && pause.until == nil)
    #expect(!refuse(&pause, from: 2, at: 3, asking: nil), "the refusal asks for nothing itself")
    #expect(empty(&pause, from: 40, at: 41) && pause.until == at(71))
  }

  @Test("a refusal long after it shows nothing about it")
  func late() {
    var pause = TargetPause()
    _ = empty(&pause, from: 0, at: 1)
    _ = refuse(&pause, from: 50, at: 51, asking: nil)
    #expect(!empty(&pause, from: 60, at: 61))
  }

  @Test("an exhausted quota counts no more once the target has taken what came after it", arguments: [true, false])
  func distrust(saysMore: Bool) {
    var pause = TargetPause()
    _ = empty(&pause, from: 0, at: 1)
    _ = refuse(&pause, from: 2, at: 3, asking: nil)
    // The answer to one that was in flight shows nothing; it may have been counted before.
    _ = empty(&pause, from: 0.5, at: 3.5)
    #expect(pause.until != nil)
    if saysMore { _ = empty(&pause, from: 4, at: 5) } else { _ = take(&pause, from: 4, at: 5) }
    #expect(!empty(&pause, from: 6, at: 7))
    // One refusal among answers that all say so is chance.
    _ = refuse(&pause, from: 8, at: 9, asking: nil)
    #expect(!empty(&pause, from: 9, at: 10))
  }

  @Test("what came when the quota was about to be renewed shows nothing about it")
  func nearReset() {
    var pause = TargetPause()
    _ = empty(&pause, from: 0, at: 1)
    _ = refuse(&pause, from: 2, at: 3, asking: nil)
    _ = take(&pause, from: 29, at: 30.5)
    #expect(empty(&pause, from: 40, at: 41))
  }

  @Test("trust ends after so many pauses, until the target has refused again")
  func tested() {
    var pause = TargetPause()
    _ = empty(&pause, from: 0, at: 1)
    _ = refuse(&pause, from: 2, at: 3, asking: nil)
    let times = (1...TargetPause.mostTrust + 2).map { Double($0 * 100) }
    let pauses = times.map { empty(&pause, from: $0, at: $0 + 1) }
    #expect(pauses == times.map { $0 <= Double(TargetPause.mostTrust * 100) })
    let last = times.last ?? 0
    _ = refuse(&pause, from: last + 2, at: last + 3, asking: nil)
    #expect(empty(&pause, from: last + 100, at: last + 101))
  }

  @Test("answers in any order leave no pause that a later attempt has disproved", arguments: UInt64(0)..<200)
  func anyOrder(seed: UInt64) {
    var random = RandomSource(seed: seed)
    var pause = TargetPause()
    var asked = Timestamp.epoch
    var taken = Timestamp.epoch
    for _ in 0..<40 {
      let (from, now) = (at(random.unitInterval()), at(2))
      if random.unitInterval() < 0.5 {
        if from >= taken { asked = max(asked, from) }
        _ = pause.refused(
          until: now + .milliseconds(Int64(1000 + 59_000 * random.unitInterval())), from: from, of: Self.first, at: now)
      } else {
        taken = max(taken, from)
        _ = pause.taken(from: from, of: Self.first, at: now)
      }
      let mayHold = asked >= taken && asked > .epoch
      #expect((pause.until != nil) == mayHold, "seed \(seed)")
    }
  }

  @Test("a source is what servers count by: the path without its query and its ids, and the credentials")
  func sources() {
    #expect(Self.source("a") == Self.source("a") && Self.source("a") != Self.source("b"))
    #expect(Self.source("a", path: "/x?page=1") == Self.source("a", path: "/x?page=2"))
    #expect(Self.source("a", path: "/x/1") == Self.source("a", path: "/x/2"))
    #expect(Self.source("a", path: "/x") != Self.source("a", path: "/y"))
  }

  @Test("one call of another source than the refused one is tried, and none of the refused one")
  func trial() {
    var pause = TargetPause()
    #expect(!pause.admits(Self.second), "nothing is held")
    _ = refuse(&pause, from: 0, at: 1)
    #expect(!pause.admits(Self.first) && pause.admits(Self.second))
    pause.began(Self.second)
    #expect(!pause.admits(Self.second) && !pause.admits(Self.third) && !pause.mayTry)
    // It is refused too, so the pause is for all. The next pause has its trial again.
    _ = refuse(&pause, from: 1.1, at: 1.2, of: Self.second)
    #expect(!pause.admits(Self.third) && pause.until == at(31.2))
    _ = refuse(&pause, from: 40, at: 41)
    #expect(pause.admits(Self.third))
  }

  @Test("calls of a source that is taken go on while another is refused again and again")
  func welcome() {
    var pause = TargetPause()
    _ = refuse(&pause, from: 0, at: 1)
    pause.began(Self.second)
    #expect(take(&pause, from: 1.1, at: 1.2, of: Self.second), "that ends the pause")
    _ = refuse(&pause, from: 2, at: 3)
    pause.began(Self.third)
    #expect(!pause.admits(Self.first) && !pause.admits(Self.third) && pause.admits(Self.second))
    pause.began(Self.second)
    #expect(pause.admits(Self.second))
    _ = refuse(&pause, from: 4, at: 5, of: Self.second)
    #expect(!pause.admits(Self.second), "it is refused now, too")
  }

  @Test("what began before the refusal makes no source welcome")
  func unwelcome() {
    var pause = TargetPause()
    _ = refuse(&pause, from: 1, at: 2)
    pause.began(Self.third)
    _ = take(&pause, from: 0.5, at: 2.1, of: Self.second)
    #expect(!pause.admits(Self.second))
  }

  @Test("a bounded number of sources is remembered")
  func bounded() {
    var pause = TargetPause()
    _ = refuse(&pause, from: 0, at: 1)
    for number in 0...TargetPause.mostWelcome {
      _ = take(&pause, from: 2, at: 3, of: Self.source("\(number)"))
    }
    _ = refuse(&pause, from: 4, at: 5)
    pause.began(Self.third)
    #expect(!pause.admits(Self.source("0")) && pause.admits(Self.source("1")))
  }

  @Test("for a quota that is used up none is tried, because it would be beyond the quota")
  func quotaWithoutTrial() {
    var pause = TargetPause()
    _ = empty(&pause, from: 0, at: 1)
    _ = refuse(&pause, from: 2, at: 3, asking: nil)
    _ = empty(&pause, from: 40, at: 41)
    #expect(pause.until != nil && !pause.admits(Self.second))
  }

  @Test("what is saved: a long pause, not each extension of it, and its end")
  func saved() {
    var pause = TargetPause()
    _ = pause.refused(until: at(4), from: at(0), of: Self.first, at: at(0))
    #expect(pause.end(after: nil, at: at(0)) == nil)
    _ = pause.refused(until: at(30), from: at(0), of: Self.first, at: at(0))
    #expect(pause.end(after: nil, at: at(0)) == at(30))
    _ = pause.refused(until: at(30.5), from: at(0), of: Self.first, at: at(0.5))
    #expect(pause.end(after: at(30), at: at(0.5)) == at(30))
    _ = pause.taken(from: at(0.1), of: Self.first, at: at(1))
    #expect(pause.end(after: at(30), at: at(1)) == nil)
  }

  @Test("a pause that has ended by itself is not removed from the store")
  func over() {
    var pause = TargetPause()
    pause.recover(until: at(30), at: at(0))
    pause.advance(to: at(30))
    #expect(pause.until == nil && pause.end(after: at(30), at: at(30)) == at(30))
  }
}

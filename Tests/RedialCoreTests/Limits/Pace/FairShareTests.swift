@testable import RedialCore
import Testing

@Suite("Fair shares of new calls and the backlog")
struct FairShareTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  /// Starts calls while both kinds wait; true for a new one.
  private func starts(_ count: Int, _ share: inout FairShare, at now: Timestamp = Self.start) -> [Bool] {
    (0..<count).map { _ in
      let isNew = share.isNewNext
      share.start(isNew: isNew, at: now)
      return isNew
    }
  }

  @Test(
    "while both wait, each gets its share in any row of starts", arguments: [0.05, 0.2, 0.3, 0.5, 0.667, 0.8, 0.95])
  func shares(newShare: Double) {
    var share = FairShare(newShare: newShare)
    let all = starts(1000, &share)
    for length in [10, 100, 999] {
      for from in stride(from: 0, to: 1000 - length, by: 7) {
        let new = all[from..<(from + length)].count { $0 }
        // A credit that was saved while no new call waited is used in the first starts.
        #expect(abs(Double(new) - newShare * Double(length)) <= 2, "\(new) of \(length) from \(from)")
      }
    }
  }

  @Test("a new call that comes to a backlog starts at once, and saved credit is no more than one round")
  func arrival() {
    var share = FairShare(newShare: 0.5)
    for _ in 0..<100 { share.start(isNew: false, at: Self.start) }
    #expect(starts(6, &share) == [true, false, true, false, true, false])
    var small = FairShare(newShare: 0.1)
    for _ in 0..<100 { small.start(isNew: false, at: Self.start) }
    #expect(starts(11, &small).count { $0 } == 2)
  }

  @Test("what new calls start alone is not counted against them, nor for them")
  func alone() {
    var share = FairShare(newShare: 0.8)
    for _ in 0..<100 { share.start(isNew: true, at: Self.start) }
    let both = starts(100, &share)
    #expect(both.count { $0 } == 80)
  }

  @Test("a share of 0 makes every call backlog, and one of 1 still leaves a twentieth to the backlog")
  func limits() {
    let off = FairShare(newShare: 0)
    #expect(off.isOff && !off.isNewNext)
    #expect(off.line(beside: 0, hasBacklog: true, oldest: .zero, at: Self.start) == .backlog)
    #expect(off.line(beside: 0, hasBacklog: false, oldest: .zero, at: Self.start) == .backlog)
    var full = FairShare(newShare: 1)
    #expect(full.newShare == 0.95)
    #expect(starts(100, &full).count { !$0 } == 5)
    #expect(FairShare(newShare: -1).isOff && FairShare(newShare: .infinity).newShare == 0.95)
  }

  @Test("as many calls wait as new ones as their share lets start in two seconds, and eight in any case")
  func room() {
    var share = FairShare(newShare: 0.5)
    var now = Self.start
    #expect(share.room(at: now) == 8)
    // 100 starts per second for five seconds.
    for _ in 0..<500 {
      share.start(isNew: share.isNewNext, at: now)
      now = now + .milliseconds(10)
    }
    #expect((95...105).contains(share.room(at: now)))
    #expect(share.line(beside: 90, hasBacklog: true, oldest: .zero, at: now) == .new)
    #expect(share.line(beside: 110, hasBacklog: true, oldest: .zero, at: now) == .backlog)
    // A pause: nothing is known.
    #expect(share.room(at: now + .seconds(60)) == 8)
    // A clock that steps back does no harm.
    share.start(isNew: true, at: Self.start)
    #expect(share.room(at: Self.start) >= 8)
  }

  @Test("without a backlog any number may wait as new ones, until they have waited for long")
  func withoutBacklog() {
    let share = FairShare(newShare: 0.5)
    #expect(share.line(beside: 5000, hasBacklog: false, oldest: .seconds(9), at: Self.start) == .new)
    #expect(share.line(beside: 5000, hasBacklog: false, oldest: .seconds(11), at: Self.start) == .newAfterOthers)
    #expect(share.line(beside: 5000, hasBacklog: true, oldest: .seconds(11), at: Self.start) == .newAfterOthers)
    #expect(share.line(beside: 8, hasBacklog: false, oldest: .seconds(60), at: Self.start) == .new)
  }
}

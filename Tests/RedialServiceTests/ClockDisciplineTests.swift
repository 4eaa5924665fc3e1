import RedialCore
import Testing

@testable import RedialService

@Suite("Following the clock of a database")
struct ClockDisciplineTests {
  /// A database's clock, a local one that runs at another rate, and what follows.
  private struct Clocks {
    var random: RandomSource
    var database = 1_700_000_000_000_000 as Int64
    var local = 5_000_000 as Int64
    /// How many thousandths the local clock is fast.
    var fast = 0 as Int64
    var discipline = ClockDiscipline(asked: 0, answered: 0, time: 0)

    init(seed: UInt64) { random = RandomSource(seed: seed) }

    mutating func below(_ bound: Int64) -> Int64 { Int64(random.next() % UInt64(bound)) }

    mutating func pass(_ microseconds: Int64) {
      database += microseconds
      local += microseconds + microseconds * fast / 1000
    }

    /// A look whose question and answer take so long at most.
    mutating func look(_ longest: Int64, isFirst: Bool = false) {
      let asked = local
      pass(below(longest))
      let time = database
      pass(below(longest))
      if isFirst {
        discipline = ClockDiscipline(asked: asked, answered: local, time: time)
      } else {
        discipline.correct(asked: asked, answered: local, time: time, at: local)
      }
    }

    var wrong: Int64 { discipline.time(at: local) - database }
  }

  @Test(
    "is as right as it says, and never goes back, at any rate and latency", arguments: 1...50 as ClosedRange<UInt64>)
  func bound(seed: UInt64) {
    var clocks = Clocks(seed: seed)
    clocks.look(1_000_000, isFirst: true)
    var last = Int64.min
    for step in 0..<3000 {
      // The rate changes with the load and the temperature.
      if clocks.below(100) == 0 { clocks.fast = clocks.below(201) - 100 }
      clocks.pass(clocks.below(300_000))
      if clocks.below(10) > 0 { clocks.look(clocks.below(4) == 0 ? 400_000 : 2000) }
      let time = clocks.discipline.time(at: clocks.local)
      let error = clocks.discipline.error(at: clocks.local)
      // Thousandths of a step are cut off.
      #expect(abs(clocks.wrong) <= error + 1, "seed \(seed), step \(step)")
      #expect(time >= last, "seed \(seed), step \(step)")
      last = time
    }
  }

  @Test(
    "follows a clock that is a tenth wrong, after a start that was half a second off",
    arguments: [-100, -20, 20, 100] as [Int64])
  func drift(fast: Int64) {
    var clocks = Clocks(seed: 1)
    clocks.fast = fast
    let asked = clocks.local
    // Only the question was slow, or the answer, so that the start makes it worse.
    if fast > 0 { clocks.pass(1_000_000) }
    let time = clocks.database
    if fast < 0 { clocks.pass(1_000_000) }
    clocks.discipline = ClockDiscipline(asked: asked, answered: clocks.local, time: time)
    #expect(abs(clocks.wrong) > 400_000)
    var worst = 0 as Int64
    for second in 0..<150 {
      for _ in 0..<4 {
        clocks.pass(250_000)
        if second >= 120 { worst = max(worst, clocks.discipline.error(at: clocks.local)) }
        clocks.look(2000)
      }
    }
    #expect(worst < 60_000)
  }

  @Test("one quick answer counts for longer than the slow ones after it")
  func quick() {
    var clocks = Clocks(seed: 1)
    clocks.look(1_000_000, isFirst: true)
    clocks.look(2000)
    let (before, since) = (clocks.discipline.error(at: clocks.local), clocks.local)
    for count in 1...10 as ClosedRange<Int64> {
      clocks.look(400_000)
      #expect(clocks.discipline.error(at: clocks.local) <= before + (clocks.local - since) / 9 + 2 * count)
    }
  }

  @Test(
    "slows down or hurries when the database's clock is set, and says how far it is off", arguments: [-1, 1] as [Int64])
  func set(sign: Int64) {
    var clocks = Clocks(seed: 1)
    clocks.look(2000, isFirst: true)
    clocks.database += sign * 5_000_000
    clocks.look(2000)
    #expect(clocks.discipline.error(at: clocks.local) >= 4_990_000)
    var last = clocks.discipline.time(at: clocks.local)
    for _ in 0..<300 {
      clocks.pass(250_000)
      let time = clocks.discipline.time(at: clocks.local)
      #expect((225_000...305_000).contains(time - last))
      last = time
      clocks.look(2)
    }
    #expect(abs(clocks.wrong) < 5000)
  }
}

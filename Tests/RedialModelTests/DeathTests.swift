@testable import RedialCore
@testable import RedialModel
import Testing

@Suite("Deaths of the process during the attempts of a call")
struct DeathTests {
  private var progress: CallProgress {
    var progress = CallProgress(state: .held, due: .epoch, attempts: 9, roundStartedAt: .epoch)
    progress.interruptions = 3 + 2 * CallProgress.unprovenAttempt
    return progress
  }

  @Test("the second that counts ends it, and none changes how many attempts are charged")
  func second() {
    var call = progress
    #expect(!call.isSuspect && call.countedDeaths == 0)
    let first = call.countDeath(amongFew: true)
    #expect(!first && call.isSuspect && call.countedDeaths == 1)
    let second = call.countDeath(amongFew: false)
    #expect(second)
    #expect((call.cutOffAttempts, call.unprovenAttempts, call.chargedAttempts) == (3, 2, 4))
  }

  @Test("in a crowd the first does not count, but makes it suspect")
  func crowd() {
    var call = progress
    let ends = (1...3).map { _ in call.countDeath(amongFew: false) }
    #expect(ends == [false, false, true])
  }

  @Test("none counts during which it was excused, and that makes nothing suspect")
  func excused() {
    var call = progress
    for _ in 0..<5 {
      call.isExcused = true
      let ends = call.countDeath(amongFew: true)
      #expect(!ends && !call.isSuspect && !call.isExcused)
    }
    #expect(call.interruptions == progress.interruptions)
  }
}

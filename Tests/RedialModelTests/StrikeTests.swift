@testable import RedialCore
@testable import RedialModel
import Testing

@Suite("Deaths of the process that are held against a call")
struct StrikeTests {
  private var progress: CallProgress {
    var progress = CallProgress(state: .held, due: .epoch, attempts: 9, roundStartedAt: .epoch)
    progress.interruptions = 3 + 2 * CallProgress.unprovenAttempt
    progress.mayBeProcessing = true
    return progress
  }

  @Test("end it: two crashes, three kills, or three of both; and change nothing else")
  func enough() {
    for (deaths, expected) in [
      ([true, true], [false, true]), ([false, false, false], [false, false, true]),
      ([false, true, false], [false, false, true]), ([true, false, false], [false, false, true]),
      ([false, true, true], [false, false, true]),
    ] {
      var call = progress
      call.isAlone = true
      #expect(deaths.map { call.strike(isCrash: $0) } == expected)
      #expect(call.isAlone && call.mayBeProcessing)
      #expect((call.cutOffAttempts, call.unprovenAttempts, call.chargedAttempts) == (3, 2, 4))
    }
  }

  @Test("kills are forgotten when the process survives an attempt, and crashes are not")
  func survived() {
    var call = progress
    for _ in 0..<3 {
      _ = call.strike(isCrash: false)
      _ = call.strike(isCrash: false)
      call.survive()
    }
    #expect(call == progress)
    _ = call.strike(isCrash: true)
    call.survive()
    #expect(call.crashes == 1 && call.strike(isCrash: true))
  }
}

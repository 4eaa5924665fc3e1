@testable import RedialCore
@testable import RedialModel
import Testing

@Suite("Deaths of the process that are held against a call")
struct StrikeTests {
  private var progress: CallProgress {
    var progress = CallProgress(state: .held, due: .epoch, attempts: 9, roundStartedAt: .epoch)
    (progress.cutOffAttempts, progress.unprovenAttempts) = (3, 2)
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

  @Test(
    "leave the other numbers alone, and these leave the strikes", arguments: [0, 2047, 2048, CallProgress.mostUnproven])
  func others(unproven: Int) {
    var call = progress
    call.isAlone = true
    _ = call.strike(isCrash: true)
    _ = call.strike(isCrash: false)
    (call.unprovenAttempts, call.cutOffAttempts) = (unproven, CallProgress.mostCutOff)
    #expect(call.isAlone && call.mayBeProcessing && (call.kills, call.crashes) == (1, 1))
    #expect((call.unprovenAttempts, call.cutOffAttempts) == (unproven, CallProgress.mostCutOff))
    call.survive()
    #expect(call.unprovenAttempts == unproven && (call.kills, call.crashes) == (0, 1))
  }
}

import RedialCore
import Testing

@testable import RedialModel

@Suite("Attempts that are not counted")
struct UncountedAttemptTests {
  @Test("any number of them fits in 31 bits, and no number changes another")
  func bounds() {
    let bounds = [0, 1, 2046, 2047, 2048, 2049, 4095, 4096, 30_000, CallProgress.mostUnproven]
    for unproven in bounds {
      for cutOff in [0, 1, 10, CallProgress.mostCutOff] {
        for isProcessing in [false, true] {
          var progress = CallProgress(state: .held, due: .epoch, attempts: 600_000, roundStartedAt: .epoch)
          (progress.unprovenAttempts, progress.cutOffAttempts) = (unproven, cutOff)
          progress.mayBeProcessing = isProcessing
          #expect(progress.interruptions <= Int(Int32.max) && progress.interruptions >= 0)
          #expect(progress.unprovenAttempts == unproven && progress.cutOffAttempts == cutOff)
          #expect(progress.mayBeProcessing == isProcessing)
          #expect(progress.chargedAttempts == 600_000 - unproven - cutOff)
        }
      }
    }
  }

  @Test("a number that is counted on at its bound stays there")
  func saturation() {
    var progress = CallProgress(state: .held, due: .epoch, roundStartedAt: .epoch)
    (progress.unprovenAttempts, progress.cutOffAttempts) = (CallProgress.mostUnproven, CallProgress.mostCutOff)
    let full = progress.interruptions
    progress.unprovenAttempts += 1
    progress.cutOffAttempts += 1
    #expect(progress.interruptions == full && full <= Int(Int32.max))
  }

  @Test("what a store on SQLite has counted beyond 31 bits is read, and fits from the next attempt on")
  func beyond() {
    var progress = CallProgress(state: .held, due: .epoch, interruptions: 3000 << 20 | 3, roundStartedAt: .epoch)
    #expect(progress.unprovenAttempts == 3000 && progress.cutOffAttempts == 3)
    progress.unprovenAttempts += 1
    #expect(progress.unprovenAttempts == 3001 && progress.cutOffAttempts == 3)
    #expect(progress.interruptions <= Int(Int32.max))
  }

  @Test("no number that a store has counted is taken for a death of the process", arguments: [2048, 20_000, 32_767])
  func noStrikes(count: Int) {
    // As it was stored when all bits from 10 to 17 were the upper ones of this number.
    let stored = (count & 0x7FF) << 20 | (count >> 11) << 10
    let progress = CallProgress(state: .held, due: .epoch, interruptions: stored, roundStartedAt: .epoch)
    #expect(progress.unprovenAttempts == count && !progress.isAlone && progress.kills + progress.crashes == 0)
  }
}

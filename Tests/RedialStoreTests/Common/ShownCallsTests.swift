import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Calls that retention spares for a while")
struct ShownCallsTests {
  @Test("a call is spared for a minute after it was last loaded")
  func time() {
    let start = ContinuousClock.now
    var shown = ShownCalls()
    shown.remember(Sample.id(1), at: start)
    shown.remember(Sample.id(2), at: start)
    shown.remember(Sample.id(2), at: start + .seconds(30))
    shown.dropOld(at: start + .seconds(59))
    #expect(shown.count == 2 && shown.contains(Sample.id(1)))
    shown.dropOld(at: start + .seconds(60))
    #expect(shown.count == 1 && !shown.contains(Sample.id(1)) && shown.contains(Sample.id(2)))
    shown.dropOld(at: start + .seconds(90))
    #expect(shown.count == 0)
  }
}

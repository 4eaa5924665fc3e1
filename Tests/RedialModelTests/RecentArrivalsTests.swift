import RedialCore
import RedialModel
import Testing

@Suite("The new calls of the last minutes")
struct RecentArrivalsTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  @Test("are counted per second since the first, and forgotten after five minutes")
  func rate() {
    var arrivals = RecentArrivals()
    #expect(arrivals.perSecond(at: Self.start) == 0)
    for second in 0..<600 { for _ in 0..<3 { arrivals.count(at: Self.start + .seconds(second)) } }
    #expect(abs(arrivals.perSecond(at: Self.start + .seconds(600)) - 3) < 0.05)
    #expect(arrivals.perSecond(at: Self.start + .seconds(1200)) == 0)
  }

  @Test("many calls at once count over a minute at least")
  func burst() {
    var arrivals = RecentArrivals()
    for _ in 0..<120 { arrivals.count(at: Self.start) }
    #expect(arrivals.perSecond(at: Self.start) == 2)
    #expect(arrivals.perSecond(at: Self.start + .seconds(120)) == 1)
  }

  @Test("a clock that steps back loses some counts, and nothing else")
  func steps() {
    var arrivals = RecentArrivals()
    arrivals.count(at: Self.start + .seconds(1000))
    arrivals.count(at: Self.start)
    #expect(arrivals.perSecond(at: Self.start) >= 0)
  }
}

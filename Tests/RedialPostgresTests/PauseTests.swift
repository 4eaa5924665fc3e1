import Testing

@testable import RedialPostgres

@Suite("The pauses between attempts to reach a database")
struct PauseTests {
  @Test("grow from 10 ms to a second, however long it is away")
  func growth() {
    #expect(
      (2...10).map { LaneRun.pause(before: $0) }
        == [10, 20, 40, 80, 160, 320, 640, 1000, 1000].map { .milliseconds($0) })
    #expect(LaneRun.pause(before: 100_000) == .seconds(1))
  }
}

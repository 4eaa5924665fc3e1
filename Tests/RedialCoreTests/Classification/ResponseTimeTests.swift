import RedialCore
import Testing

@Suite("Response times")
struct ResponseTimeTests {
  @Test("a target that has not answered has no usual time, and the minimum silence counts as long")
  func unknown() {
    let times = ResponseTime()
    #expect(times.usual == nil)
    #expect(times.longSilence(atLeast: .seconds(1)) == .seconds(1))
  }

  @Test("the first answer gives the mean, and half of it as the deviation (RFC 6298, 2.2)")
  func first() {
    var times = ResponseTime()
    times.record(.milliseconds(100))
    #expect(times.usual == .milliseconds(300))
    #expect(times.longSilence(atLeast: .milliseconds(10)) == .milliseconds(900))
    #expect(times.longSilence(atLeast: .seconds(1)) == .seconds(1))
  }

  @Test("equal answers bring the usual time to their own, and it follows a change")
  func follows() throws {
    var times = ResponseTime()
    for _ in 0..<100 { times.record(.seconds(2)) }
    let usual = try #require(times.usual)
    #expect(usual >= .seconds(2) && usual < .milliseconds(2001))
    for _ in 0..<200 { times.record(.milliseconds(5)) }
    #expect(try #require(times.usual) < .milliseconds(10))
  }

  @Test("answers that vary make the usual time longer than their mean")
  func varies() throws {
    var times = ResponseTime()
    for number in 0..<100 { times.record(.milliseconds(number % 2 == 0 ? 10 : 210)) }
    #expect(try #require(times.usual) > .milliseconds(400))
  }

  @Test("extreme times do not trap")
  func extremes() {
    var times = ResponseTime()
    for time in [Duration.seconds(-5), .longest, .zero, .longest] { times.record(time) }
    #expect(times.longSilence(atLeast: .zero) > .zero)
  }
}

import RedialCore
import Testing

@testable import RedialTransport

@Suite("The course of an attempt")
struct CourseTests {
  @Test("a request is sent once; the first time says whether its connection had served before")
  func sendsOnce() {
    var course = Course()
    course.begin(after: .zero)
    course.beginRequest(within: .seconds(1))
    #expect(course.send(isReused: true) == true)
    #expect(course.send(isReused: false) == false)
    #expect(course.sends == 2)
    #expect(course.isReused)
    course.beginRequest(within: .seconds(1))
    #expect(course.sends == 0)
    #expect(!course.isReused)
  }

  @Test("a request that was not sent on a connection that had served before begins again in the rest of the time")
  func startsOver() {
    var course = Course()
    course.begin(after: .milliseconds(100))
    course.beginRequest(within: .milliseconds(900))
    course.abandonConnection()
    #expect(course.isConnectionAbandoned && course.sends == 0)
    #expect(course.startOver(after: 300_000, of: .seconds(1)) == .milliseconds(600))
    #expect(!course.hasBeenAnswered && course.duration(with: 0) == .milliseconds(400))
    course.beginRequest(within: .milliseconds(600))
    #expect(!course.isConnectionAbandoned)
    #expect(course.startOver(after: 600_000, of: .seconds(1)) == nil)
  }

  @Test("each request of a handle has a number of its own")
  func generations() {
    var course = Course()
    var seen: Set<UInt64> = []
    for _ in 1...3 {
      course.begin(after: .zero)
      for _ in 1...2 {
        course.beginRequest(within: .seconds(1))
        seen.insert(course.generation)
      }
    }
    #expect(seen.count == 6)
  }

  @Test("a redirect leaves the rest of the attempt's time, and counts as an answer")
  func follows() {
    var course = Course()
    course.begin(after: .milliseconds(100))
    course.beginRequest(within: .milliseconds(900))
    #expect(!course.hasBeenAnswered)
    #expect(course.follow(after: 300_000, of: .seconds(1)) == .milliseconds(600))
    #expect(course.hasBeenAnswered)
    #expect(course.redirects == 1)
    course.beginRequest(within: .milliseconds(600))
    #expect(course.duration(with: 50_000) == .milliseconds(450))
    course.begin(after: .zero)
    #expect(course.redirects == 0)
    #expect(course.duration(with: 7) == .microseconds(7))
  }

  @Test("a redirect that comes too late to be followed is counted once in the attempt's time")
  func tooLate() {
    var course = Course()
    course.begin(after: .zero)
    course.beginRequest(within: .seconds(1))
    #expect(course.follow(after: 1_000_000, of: .seconds(1)) == nil)
    #expect(course.redirects == 0)
    #expect(course.duration(with: 1_000_000) == .seconds(1))
  }
}

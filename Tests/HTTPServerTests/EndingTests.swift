import Testing

@testable import HTTPServer

@Suite("The end of an event loop")
struct EndingTests {
  @Test("a running loop does not end, and has no deadline")
  func running() {
    let ending = Ending()
    #expect(!ending.hasBegun)
    #expect(!ending.isOver(connections: 0, now: .max))
    #expect(ending.next == nil)
    #expect(ending.remaining(now: 0) == nil)
  }

  @Test("a drain is over when no connection is left, or when its time is")
  func drains() {
    var ending = Ending()
    ending.drain(2000, now: 100)
    #expect(ending.hasBegun)
    #expect(ending.isOver(connections: 0, now: 100))
    #expect(!ending.isOver(connections: 1, now: 2099))
    #expect(ending.isOver(connections: 1, now: 2100))
    #expect(ending.remaining(now: 600) == 1500)
    #expect(ending.remaining(now: 9000) == 0)
  }

  @Test("connections without a request are closed once in a drain, after their grace")
  func firstRequests() {
    var ending = Ending()
    let grace = Ending.firstRequestGrace
    ending.drain(2000, now: 100)
    #expect(ending.next == 100 + grace)
    #expect(ending.endsFirstRequests(now: 100 + grace - 1) == false)
    #expect(ending.endsFirstRequests(now: 100 + grace) == true)
    #expect(ending.endsFirstRequests(now: 100 + grace) == false)
    #expect(ending.next == 2100)
  }

  @Test("a drain that is shorter than the grace is the next deadline")
  func shortDrain() {
    var ending = Ending()
    ending.drain(10, now: 100)
    #expect(ending.next == 110)
  }

  @Test("a second drain does not prolong the first")
  func secondDrain() {
    var ending = Ending()
    ending.drain(1000, now: 0)
    ending.drain(9000, now: 500)
    #expect(ending.remaining(now: 500) == 500)
  }

  @Test("a stop ends at once, also during a drain, and no drain follows it")
  func stops() {
    var ending = Ending()
    ending.drain(1000, now: 0)
    ending.stop()
    ending.drain(1000, now: 0)
    #expect(ending.hasBegun)
    #expect(ending.isOver(connections: 5, now: 0))
    #expect(ending.next == nil)
    #expect(ending.endsFirstRequests(now: .max) == false)
  }
}

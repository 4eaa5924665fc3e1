import Testing

@testable import RedialTransport

@Suite("Requests that could share a connection")
struct CrowdTests {
  private let start = ContinuousClock.now
  private let longest = Duration.seconds(5)

  private func connection() -> Connection {
    Connection(socket: 3, Lifetime(TransportConfiguration(userAgent: "test"), at: start), group: 0, rounds: rounds)
  }

  /// How long a request waits.
  private func pause(
    _ crowd: inout Crowd, _ id: UInt64, after waited: Duration = .zero, at time: Duration = .zero, isIdle: Bool = false
  ) -> Duration? {
    crowd.pause(of: id, after: waited, atMost: longest, at: start + time, isIdle: { _ in isIdle })
  }

  @Test("wait for the first one to open it, for a second at most, and not over HTTP/1.1")
  func opening() {
    var crowd = Crowd()
    #expect(pause(&crowd, 1) == nil)
    // Also to the second address of its target.
    #expect(pause(&crowd, 1) == nil)
    #expect(pause(&crowd, 2) == .seconds(1))
    crowd.wait(2, since: start)
    #expect(pause(&crowd, 3, at: .milliseconds(400)) == .milliseconds(600))
    crowd.wait(3, since: start)
    #expect(pause(&crowd, 4, after: longest, at: .milliseconds(400)) == nil)
    // One at a time.
    #expect(pause(&crowd, 5, at: .seconds(1)) == .milliseconds(400))
    #expect(crowd.opened(connection(), by: 1, isHTTP1: true).now == [2, 3])
    #expect(pause(&crowd, 2) == nil)
    #expect(pause(&crowd, 3) == nil)
  }

  @Test("try a new connection with a few, and the others when it has answered, or should have")
  func fresh() {
    var crowd = Crowd()
    let (first, second) = (connection(), connection())
    _ = crowd.opened(first, by: 30, isHTTP1: false)
    #expect(crowd.left(30, from: first) == [])
    for id in 2...20 as ClosedRange<UInt64> { crowd.wait(id, since: start) }
    let (now, then) = crowd.opened(second, by: 1, isHTTP1: false)
    #expect(now == Array(2...9))
    #expect(then == Array(10...20))
    // Those that it did not take are first again.
    crowd.wait(5, since: start - .seconds(1))
    crowd.wait(6, since: start - .seconds(1))
    #expect(crowd.left(31, from: first) == [5, 6])
    #expect(crowd.left(1, from: second) == Array(10...20))
  }

  @Test("wait for a stream while others have all of them, for a moment, and then for the one that opens another")
  func streams() {
    var crowd = Crowd()
    #expect(pause(&crowd, 1) == nil)
    let shared = connection()
    _ = crowd.opened(shared, by: 1, isHTTP1: false)
    _ = crowd.left(1, from: shared)
    for id in 2...6 as ClosedRange<UInt64> {
      #expect(pause(&crowd, id) == .milliseconds(500))
      crowd.wait(id, since: start + .milliseconds(Int(id)))
    }
    // One that leaves without having had a stream frees none.
    #expect(crowd.left(4, from: nil) == [])
    #expect(crowd.left(1, from: shared) == [2, 3])
    #expect(pause(&crowd, 5, after: .milliseconds(500)) == nil)
    #expect(pause(&crowd, 6, after: .milliseconds(500)) == .seconds(1))
    #expect(pause(&crowd, 6, after: longest) == nil)
    #expect(crowd.left(5, from: nil) == [6])
  }

  @Test("open another one if nothing is in flight on it, or it takes no more")
  func ends() {
    var crowd = Crowd()
    #expect(pause(&crowd, 1) == nil)
    let shared = connection()
    _ = crowd.opened(shared, by: 1, isHTTP1: false)
    #expect(pause(&crowd, 2) == .milliseconds(500))
    #expect(pause(&crowd, 2, isIdle: true) == nil)
    _ = crowd.left(2, from: nil)
    shared.goesAway(after: 1)
    #expect(pause(&crowd, 3) == nil)
  }

  @Test("are followed by the next one if the first cannot connect")
  func fails() {
    var crowds = Crowds()
    func pause(_ id: UInt64) -> Duration? {
      crowds.pause(of: id, in: 7, after: .zero, atMost: longest, at: start, isIdle: { _ in false })
    }
    #expect(pause(1) == nil)
    #expect(pause(2) == .seconds(1))
    crowds.wait(2, in: 7, since: start)
    crowds.left(1, in: 7, from: nil)
    #expect(crowds.takeWoken() == [2])
    #expect(crowds.takeWoken() == [])
    #expect(pause(2) == nil)
  }
}

/// What the thread of no transfers has begun.
var rounds: UnsafePointer<UInt64> {
  // Sound: it is never freed.
  let rounds = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
  rounds.initialize(to: 0)
  return UnsafePointer(rounds)
}

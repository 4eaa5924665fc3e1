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
    _ crowd: inout Crowd, _ id: UInt64, after waited: Duration = .zero, isIdle: Bool = false
  ) -> Duration? {
    crowd.pause(of: id, after: waited, atMost: longest, at: start, isIdle: { _ in isIdle })
  }

  @Test("wait for the first one to open it, for a second at most, and not over HTTP/1.1")
  func opening() {
    var crowd = Crowd()
    #expect(pause(&crowd, 1) == nil)
    // Also to the second address of its target.
    #expect(pause(&crowd, 1) == nil)
    #expect(pause(&crowd, 2) == .seconds(1))
    crowd.wait(2)
    #expect(pause(&crowd, 3, after: .milliseconds(400)) == .milliseconds(600))
    crowd.wait(3)
    #expect(pause(&crowd, 4, after: .seconds(1)) == nil)
    #expect(crowd.opened(connection(), by: 1, isHTTP1: true) == [2, 3])
    #expect(crowd.waiting == [])
    #expect(pause(&crowd, 2) == nil)
    #expect(pause(&crowd, 3) == nil)
  }

  @Test("wait for a stream while others have all of them, for as long as they may")
  func streams() {
    var crowd = Crowd()
    #expect(pause(&crowd, 1) == nil)
    let shared = connection()
    #expect(crowd.opened(shared, by: 1, isHTTP1: false) == [])
    for id in 2...6 as ClosedRange<UInt64> {
      #expect(pause(&crowd, id) == longest)
      crowd.wait(id)
    }
    // One that leaves without having had a stream frees none.
    #expect(crowd.left(4, hadStream: false) == [])
    #expect(crowd.left(1, hadStream: true) == [2, 3])
    #expect(crowd.waiting == [5, 6])
    #expect(pause(&crowd, 5, after: longest) == nil)
    #expect(crowd.left(5, hadStream: false) == [6])
  }

  @Test("open another one if nothing is in flight on it, or it takes no more")
  func ends() {
    var crowd = Crowd()
    #expect(pause(&crowd, 1) == nil)
    let shared = connection()
    _ = crowd.opened(shared, by: 1, isHTTP1: false)
    #expect(pause(&crowd, 2) == longest)
    #expect(pause(&crowd, 2, isIdle: true) == nil)
    _ = crowd.left(2, hadStream: false)
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
    crowds.wait(2, in: 7)
    crowds.left(1, in: 7, hadStream: false)
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

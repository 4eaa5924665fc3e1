import Synchronization
import Testing

@testable import RedialLanes

@Suite("Threads with a bell")
struct BellThreadTests {
  private final class Seen: Sendable {
    let rounds = Atomic(0)
    let hasEnded = Atomic(false)
  }

  @Test("it works until it is closed, which waits for its end, and can be closed again")
  func closes() throws {
    let thread = try #require(BellThread("test"))
    let seen = Seen()
    thread.begin {
      while true {
        thread.bell.silence()
        if thread.isClosed { break }
        seen.rounds.add(1, ordering: .relaxed)
        thread.bell.wait(.seconds(60))
      }
      seen.hasEnded.store(true, ordering: .releasing)
    }
    thread.bell.ring()
    thread.close()
    #expect(seen.hasEnded.load(ordering: .acquiring) && seen.rounds.load(ordering: .relaxed) < 4)
    thread.close()
  }
}

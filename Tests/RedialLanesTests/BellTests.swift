import CLinux
import Dispatch
import Glibc
import Testing

@testable import RedialLanes

@Suite("Bell")
struct BellTests {
  @Test("each ring wakes a thread that sleeps in epoll, and no ring wakes it twice")
  func rings() throws {
    let bell = try #require(Bell())
    let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    defer { close(epoll) }
    var event = epoll_event()
    event.events = Bell.interest
    #expect(epoll_ctl(epoll, EPOLL_CTL_ADD, bell.descriptor, &event) == 0)
    #expect(epoll_wait(epoll, &event, 1, 0) == 0)
    for _ in 1...3 {
      DispatchQueue(label: "ringing").async { bell.ring() }
      #expect(epoll_wait(epoll, &event, 1, -1) == 1)
      #expect(epoll_wait(epoll, &event, 1, 0) == 0)
    }
    bell.ring()
    bell.ring()
    #expect(epoll_wait(epoll, &event, 1, 0) == 1)
    #expect(epoll_wait(epoll, &event, 1, 0) == 0)
  }
}

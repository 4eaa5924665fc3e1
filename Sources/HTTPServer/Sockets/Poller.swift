import CLinux
import Glibc

/// An epoll instance (epoll(7)) and the events of its last wait.
///
/// Sound: only this type, which cannot be copied, has the memory of the events, and `wait` tells the kernel its size.
struct Poller: ~Copyable {
  /// An event of a watched descriptor.
  struct Event {
    /// The number under which the descriptor is watched.
    let tag: UInt64
    /// `EPOLLIN` and others.
    let flags: UInt32
  }

  private static let capacity = 256
  private let epoll: Int32
  private let events: UnsafeMutablePointer<epoll_event>

  /// - Throws: if the kernel provides no epoll instance.
  init() throws(HTTPServerError) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard epoll >= 0 else { throw .system(call: "epoll_create1", address: "the event loop", errno: errno) }
    events = .allocate(capacity: Self.capacity)
  }

  deinit {
    close(epoll)
    events.deallocate()
  }

  /// Starts to watch a descriptor.
  ///
  /// - Returns: Whether the kernel does; if not, `errno` has the reason.
  func watch(_ descriptor: Int32, for interest: UInt32, tag: UInt64) -> Bool {
    control(EPOLL_CTL_ADD, descriptor, interest, tag)
  }

  /// Watches a descriptor for other events.
  func change(_ descriptor: Int32, to interest: UInt32, tag: UInt64) -> Bool {
    control(EPOLL_CTL_MOD, descriptor, interest, tag)
  }

  /// Watches a descriptor no more. Closing a descriptor ends its watch only if no other process has the socket open
  /// (epoll(7), question 6).
  func unwatch(_ descriptor: Int32) { _ = control(EPOLL_CTL_DEL, descriptor, 0, 0) }

  private func control(_ operation: Int32, _ descriptor: Int32, _ interest: UInt32, _ tag: UInt64) -> Bool {
    var event = epoll_event()
    event.events = interest
    event.data.u64 = tag
    return epoll_ctl(epoll, operation, descriptor, &event) == 0
  }

  /// Waits for events, at most that many milliseconds; -1 for no limit.
  ///
  /// - Returns: How many there are. Their descriptors may have been closed by the time each is handled.
  func wait(atMost milliseconds: Int32) -> Int {
    max(0, Int(epoll_wait(epoll, events, Int32(Self.capacity), milliseconds)))
  }

  /// An event of the last wait.
  subscript(index: Int) -> Event {
    precondition(index >= 0 && index < Self.capacity)
    return Event(tag: events[index].data.u64, flags: events[index].events)
  }
}

internal import CLinux
internal import Glibc

/// Wakes a thread that sleeps in epoll: an eventfd (eventfd(2)) that the thread watches.
///
/// It is closed when nobody refers to it, so that a late sender never writes to a descriptor of somebody else.
package final class Bell: Sendable {
  /// To be watched with ``interest``.
  package let descriptor: Int32

  /// The epoll events to watch for. Edge-triggered: each ring is one event, and nobody needs to read the descriptor.
  package static var interest: UInt32 { EPOLLIN.rawValue | EPOLLET.rawValue }

  /// - Returns: Nil if the kernel provides no eventfd; `errno` has the reason.
  package init?() {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    guard descriptor >= 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Wakes the thread, from any thread.
  package func ring() {
    var one: UInt64 = 1
    // It fails only if the counter overflows, after more rings than there will ever be.
    _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  /// Makes the descriptor unreadable until it is rung again, for a thread that watches whether it is readable.
  package func silence() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
  }

  /// Waits until it is rung, or for a time; returns at once if the time is zero or less.
  package func wait(_ time: Duration) {
    guard time > .zero else { return }
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000 + 1
    _ = poll(&watched, 1, Int32(clamping: milliseconds))
  }
}

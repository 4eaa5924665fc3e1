internal import Dispatch
internal import Synchronization

/// A thread for work that waits for sockets. It sleeps on a bell, and ends when it is closed.
package final class BellThread: Sendable {
  package let bell: Bell
  private let queue: DispatchQueue
  private let ended = DispatchSemaphore(value: 0)
  private let closing = Atomic(false)

  /// - Returns: Nil if the system has no file descriptor left.
  package init?(_ label: String) {
    guard let bell = Bell() else { return nil }
    self.bell = bell
    queue = DispatchQueue(label: label)
  }

  /// Begins the work. It silences the bell first and looks at ``isClosed`` then, whenever that has rung.
  package func begin(_ work: @escaping @Sendable () -> Void) {
    queue.async { [ended] in
      work()
      ended.signal()
    }
  }

  /// Whether the work is to end.
  package var isClosed: Bool { closing.load(ordering: .acquiring) }

  /// Has the work end, and waits until it has.
  package func close() {
    guard !closing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    bell.ring()
    ended.wait()
  }
}

internal import Foundation

/// A value that one thread at a time looks at and changes.
///
/// `Mutex` of the standard library does the same without an allocation, but needs macOS 15 and iOS 18.
package final class Guarded<Value>: @unchecked Sendable {
  // Only who holds the lock touches the value, and what goes in or comes out is sent: no two threads share it.
  private let lock = NSLock()
  private var value: Value

  package init(_ value: consuming sending Value) {
    self.value = value
  }

  /// Calls `body` with the value while no other thread has it. `body` must not come back for it: that waits forever.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

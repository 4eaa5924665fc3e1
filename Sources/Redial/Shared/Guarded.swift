internal import Foundation

/// A value that one thread at a time reads and changes.
///
/// `Mutex` of the standard library does the same without an allocation, but needs macOS 15 and iOS 18.
package final class Guarded<Value>: @unchecked Sendable {
  // Only the holder of the lock uses the value, and values that go in or out are sent: no two threads share it.
  private let lock = NSLock()
  private var value: Value

  package init(_ value: consuming sending Value) {
    self.value = value
  }

  /// Calls `body` with the value while no other thread has it. `body` must not use this object: that would wait
  /// forever.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

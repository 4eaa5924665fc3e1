internal import Glibc
internal import Synchronization

/// The right to use an object that threads pass to each other: one of them at a time has it.
///
/// It is no lock: whoever passes the object on orders the two. Two threads that are in it at a time end the process.
package struct Turn: ~Copyable {
  /// The thread whose turn it is; 0 for none.
  private let user = Atomic<UInt>(0)

  package init() {}

  package func begin() {
    precondition(user.load(ordering: .relaxed) == 0, "two threads use an object at a time")
    user.store(UInt(pthread_self()), ordering: .relaxed)
  }

  package func end() {
    precondition(user.load(ordering: .relaxed) == UInt(pthread_self()), "two threads use an object at a time")
    user.store(0, ordering: .relaxed)
  }
}

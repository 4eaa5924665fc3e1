package import Dispatch
package import Glibc

/// Who may use an object: the work of a serial queue, or a thread.
///
/// An object is `@unchecked Sendable` if all use it where the compiler cannot see that only its owner does. It asks its
/// owner at its doors, in release builds, too. So a second thread ends the process where it enters, before it damages
/// what the object leads to, such as a file.
package enum Owner: Sendable {
  /// It is in one place only, which the language ensures, or is on its way from one owner to the next.
  case holder
  case queue(DispatchQueue)
  case thread(pthread_t)

  /// The thread that asks.
  package static var thisThread: Owner { .thread(pthread_self()) }

  /// Ends the process if somebody else asks.
  package func check() {
    switch self {
    case .holder: break
    case .queue(let queue): dispatchPrecondition(condition: .onQueue(queue))
    case .thread(let thread):
      precondition(thread == pthread_self(), "an object was used on a thread that does not own it")
    }
  }
}

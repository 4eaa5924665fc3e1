import Glibc

/// SIGTERM and SIGINT, as a request to stop that one thread waits for.
///
/// Waited for and not left to their default: the first process of a container has no default.
struct StopSignals {
  private var signals = sigset_t()

  /// Keeps the signals from every thread that is made from now on.
  init() {
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Waits for one. A second one ends the process in the way that it would without us.
  func wait() {
    var (signals, received) = (signals, Int32(0))
    sigwait(&signals, &received)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}

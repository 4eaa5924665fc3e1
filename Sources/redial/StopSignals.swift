import Glibc

/// SIGTERM and SIGINT, as a stop request for which one thread waits.
///
/// Waited for instead of the default action: the first process of a container has no default.
struct StopSignals {
  private var signals = sigset_t()

  /// Blocks the signals for every thread that is created from now on.
  init() {
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Waits for one. A second one ends the process by the default action.
  func wait() {
    var (signals, received) = (signals, Int32(0))
    sigwait(&signals, &received)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}

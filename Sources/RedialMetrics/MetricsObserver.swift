#if SwiftMetrics
  public import Redial

  internal import Metrics

  /// Counts what happens with swift-metrics.
  ///
  /// Each metric has the name of the retrier or breaker as a dimension: give few different ones.
  public struct MetricsObserver: RetryObserver {
    private let prefix: String

    /// An observer whose metrics begin with a prefix.
    public init(prefix: String = "redial") { self.prefix = prefix }

    /// Counts an event.
    public func tell(_ event: RetryEvent) {
      switch event {
      case .attemptStarted: break
      case .succeeded(let name, _, _):
        count("attempts", name, ("result", "succeeded"))
        count("runs", name, ("result", "succeeded"))
      case .attemptFailed(let name, _, _, _): count("attempts", name, ("result", "failed"))
      case .waiting(let name, let reason, let duration):
        Timer(label: "\(prefix)_waits", dimensions: [("name", name), ("reason", "\(reason)")])
          .recordNanoseconds(min(duration.wholeMicroseconds, Int64.max / 1000) * 1000)
      case .gaveUp(let name, _): count("runs", name, ("result", "gaveUp"))
      case .cancelled(let name, _): count("runs", name, ("result", "cancelled"))
      case .hedged(let name, _): count("parts", name, ("event", "hedged"))
      case .timedOut(let name, _): count("parts", name, ("event", "timedOut"))
      case .refused(let name, _): count("parts", name, ("event", "refused"))
      case .fellBack(let name, _): count("parts", name, ("event", "fellBack"))
      case .breakerChanged(let name, _, let state): count("breaker_changes", name, ("to", state.word))
      }
    }

    private func count(_ metric: String, _ name: String, _ label: (String, String)) {
      Counter(label: "\(prefix)_\(metric)", dimensions: [("name", name), label]).increment()
    }
  }
#endif

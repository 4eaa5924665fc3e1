#if SwiftLog
  public import Logging
  public import Redial

  /// Writes what happens into a log of swift-log.
  ///
  /// Attempts, waits and hedges are for `debug`; failures that are retried, timeouts and refusals by limits for `info`; ends
  /// without success, fallbacks and changes of breakers for `warning`.
  public struct LoggingObserver: RetryObserver {
    private let logger: Logger

    /// An observer that writes into a log.
    public init(_ logger: Logger) { self.logger = logger }

    /// Writes one line.
    public func tell(_ event: RetryEvent) {
      let (level, metadata) = Self.entry(event)
      logger.log(level: level, "\(event.line)", metadata: metadata)
    }

    private static func entry(_ event: RetryEvent) -> (Logger.Level, Logger.Metadata) {
      switch event {
      case .attemptStarted(let name, let number):
        (.debug, ["retry.name": "\(name)", "retry.attempt": "\(number)"])
      case .succeeded(let name, let attempts, _):
        (attempts > 1 ? .info : .debug, ["retry.name": "\(name)", "retry.attempts": "\(attempts)"])
      case .attemptFailed(let name, let number, let error, _):
        // The error's own words are in the line; its type is what one searches for.
        (.info, ["retry.name": "\(name)", "retry.attempt": "\(number)", "retry.error": "\(type(of: error))"])
      case .waiting(let name, let reason, _):
        (.debug, ["retry.name": "\(name)", "retry.reason": "\(reason)"])
      case .gaveUp(let name, let error):
        (.warning, ["retry.name": "\(name)", "retry.reason": "\(error.reason)", "retry.attempts": "\(error.attempts)"])
      case .cancelled(let name, let attempts):
        (.debug, ["retry.name": "\(name)", "retry.attempts": "\(attempts)"])
      case .hedged(let name, let run): (.debug, ["retry.name": "\(name)", "retry.run": "\(run)"])
      case .timedOut(let name, _), .refused(let name, _): (.info, ["retry.name": "\(name)"])
      case .fellBack(let name, let error):
        (.warning, ["retry.name": "\(name)", "retry.error": "\(type(of: error))"])
      case .breakerChanged(let name, _, let state):
        (.warning, ["retry.name": "\(name)", "retry.breaker": "\(state.word)"])
      }
    }
  }
#endif

internal import RedialCore
internal import RedialModel

/// Whether an attempt's end shows that its target answers at all.
enum TargetSign: Sendable {
  /// It answered in time: with a response, or a refusal.
  case answer
  /// It was silent for long. It makes no difference who ended the attempt: its timeout, the call's deadline, or a
  /// client that cancelled the call.
  case silence
  /// The attempt shows nothing: this side ended it before the silence was long, or failed itself.
  case nothing

  /// Reads an attempt's end.
  ///
  /// - Parameters:
  ///   - result: The end.
  ///   - wasCut: Whether the call's deadline ended it before its own timeout.
  ///   - isCancelled: Whether a client cancelled the call.
  ///   - long: The silence that is long for this target.
  init(_ result: AttemptResult, wasCut: Bool, isCancelled: Bool, long: Duration) {
    switch result.outcome {
    case .answered: self = .answer
    case .notSent, .maybeSent:
      let code = result.failure?.code ?? ""
      let timedOut = code == AttemptFailure.timeout || code.hasSuffix("Timeout")
      if result.isWithoutAnswer, result.duration >= long || timedOut && !wasCut {
        self = .silence
      } else {
        self = timedOut ? .nothing : .answer
      }
    case .cancelled:
      self = isCancelled && result.isWithoutAnswer && result.duration >= long ? .silence : .nothing
    case .unusable, .localFault, .interrupted, .blocked: self = .nothing
    }
  }
}

extension AttemptResult {
  /// Whether the target had been contacted, or looked up, and not a byte of a response had arrived.
  ///
  /// If the transport has no figures, a timeout counts as silence, and a cancelled attempt as one that had not
  /// started.
  fileprivate var isWithoutAnswer: Bool {
    guard let figures else { return outcome != .cancelled }
    switch figures.phase {
    case .setup, .response: return false
    case .resolve, .connect, .tls, .request: return figures.firstByte == 0 && figures.redirects == 0
    }
  }
}

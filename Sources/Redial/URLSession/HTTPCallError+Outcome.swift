public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPCallError: RetryOutcomeProviding {
  /// The error's meaning for a retry; dates in it are compared with the system's clock.
  public var retryOutcome: AttemptOutcome { Self.outcome(of: self, at: SystemRetryClock().wallTime) }

  /// The meaning of an error for a retry.
  ///
  /// - Parameter wallTime: The time of day, with which a date in `Retry-After` is compared.
  @Sendable
  public static func outcome(of error: HTTPCallError, at wallTime: Timestamp) -> AttemptOutcome {
    switch error {
    case .endpoint(let response, _): return response.retryOutcome(at: wallTime)
    case .urlError(let error): return error.retryOutcome
    // It has answered successfully: the target's breaker may count it.
    case .noData: return .answered(status: 200)
    case .notHTTP, .cancelled: return .unusable
    // Nothing was sent, and the target is not at fault; the error decides whether it is retried.
    case .other(let error): return (error as? any RetryOutcomeProviding)?.retryOutcome ?? .unusable
    case .inaccessible(let last, let retries):
      if case .endpoint = last, let last { return outcome(of: last, at: wallTime) }
      let wasNeverSent = retries.history.allSatisfy { Retrier.outcome(of: $0.error) == .notSent }
      return wasNeverSent ? .notSent : .maybeSent
    }
  }
}

extension URLError: RetryOutcomeProviding {
  /// The meaning of the error for a retry.
  ///
  /// Unknown errors count as possibly sent: Foundation on Linux reports many errors that libcurl distinguishes as
  /// `URLError.Code.unknown`.
  public var retryOutcome: AttemptOutcome {
    switch code {
    case .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff,
      .callIsActive, .dataNotAllowed:
      .notSent
    case .badURL, .unsupportedURL, .httpTooManyRedirects, .redirectToNonExistentLocation, .cancelled,
      .userCancelledAuthentication, .userAuthenticationRequired, .secureConnectionFailed, .serverCertificateUntrusted,
      .serverCertificateHasBadDate, .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot,
      .clientCertificateRejected, .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection,
      .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .dataLengthExceedsMaximum,
      .requestBodyStreamExhausted:
      .unusable
    case .cannotCreateFile, .cannotOpenFile, .cannotWriteToFile, .cannotCloseFile, .cannotRemoveFile, .cannotMoveFile,
      .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected:
      .localFault
    default: .maybeSent
    }
  }
}

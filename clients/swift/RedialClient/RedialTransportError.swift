public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// A request to the service got no answer.
public struct RedialTransportError: Error, Sendable {
  /// The request, such as `POST /v1/calls`.
  public var request: String
  /// The service's URL.
  public var baseURL: URL
  /// Its meaning for a retry: how far the request got.
  public var retryOutcome: AttemptOutcome
  /// What went wrong: a `URLError`, or an `AttemptTimeout`.
  public var underlying: any Error

  /// Whether the service may have executed the request. False is certain; true is a possibility.
  public var mayHaveBeenAccepted: Bool { retryOutcome == .maybeSent }
}

extension RedialTransportError: CustomStringConvertible, LocalizedError, RetryOutcomeProviding {
  /// For people: the request and its server, what went wrong, and whether it may have been executed.
  public var description: String {
    let isQuestion = request.hasPrefix("GET ")
    let doubt = isQuestion ? "" : mayHaveBeenAccepted ? "; it may have been done all the same" : "; it was not done"
    return "no answer from \(baseURL.logText) to \(request): \(Self.words(underlying))\(doubt)"
  }
  /// The same.
  public var errorDescription: String? { description }

  private static func words(_ error: any Error) -> String {
    guard let error = error as? URLError else { return "\(error)" }
    return switch error.code {
    case .cannotConnectToHost: "the connection was refused"
    case .cannotFindHost, .dnsLookupFailed: "there is no such host"
    case .networkConnectionLost, .badServerResponse: "the connection was lost"
    case .timedOut: "it took too long"
    default: error.localizedDescription
    }
  }
}

/// A successful answer that is not from a Redial service, or from a version that this library does not know.
public struct UnexpectedAnswer: LocalizedError, Sendable, CustomStringConvertible {
  /// The request, such as `POST /v1/calls`.
  public var request: String
  /// The HTTP status.
  public var status: Int
  /// Why it could not be read.
  public var underlying: any Error

  /// For people.
  public var description: String { "the answer of status \(status) to \(request) cannot be read: \(underlying)" }
  /// The same.
  public var errorDescription: String? { description }
}

public import Foundation

/// The service's answer if it refuses a request: RFC 9457 `application/problem+json`.
///
/// If something between client and service answers in its place, ``code`` is ``unknownCode`` and only the status is
/// known.
public struct RedialProblem: Error, Sendable, Hashable {
  /// A URI that identifies the kind of problem.
  public var type: String
  /// The HTTP status.
  public var status: Int
  /// What kind of problem it is, such as ``Code/callNotFound``.
  public var code: Code
  /// A short summary of the kind of problem.
  public var title: String
  /// What happened this time, and what to do.
  public var detail: String
  /// The wrong places in the input.
  public var errors: [Fault]
  /// The time after which to try again, from the answer's `Retry-After`.
  public var retryAfter: Duration?

  /// One wrong place in the input.
  public struct Fault: Sendable, Hashable, Codable {
    /// A JSON Pointer (RFC 6901) into the call, if the fault is there.
    public var pointer: String?
    /// The query parameter, if the fault is there.
    public var parameter: String?
    /// The header field, if the fault is there.
    public var header: String?
    /// What is wrong there.
    public var detail: String

    /// The place, as the beginning of a clause.
    var place: String {
      if let parameter { return "the parameter \(parameter)" }
      if let header { return "the field \(header)" }
      return pointer.flatMap { $0.isEmpty ? nil : $0 } ?? "the whole"
    }
  }

  /// The code of an answer that is not the service's own.
  public static let unknownCode: Code = "unknown"

  /// The problem in an answer with an error status.
  init(_ answer: ServiceAnswer) {
    self.init(
      try? JSONDecoder().decode(Document.self, from: answer.body), status: answer.status, retryAfter: answer.retryAfter)
  }

  /// The problem in a document; nil for an answer that is not the service's.
  init(_ document: Document?, status: Int, retryAfter: Duration? = nil) {
    self.status = status
    self.retryAfter = retryAfter
    type = document?.type ?? "about:blank"
    code = document?.code ?? Self.unknownCode
    title = document?.title ?? "The answer is not the Redial service's"
    detail = document?.detail ?? "It has the status \(status); is the base URL that of the service?"
    errors = document?.errors ?? []
  }

  struct Document: Decodable, Sendable {
    var type: String?
    var code: Code
    var title: String
    var detail: String
    var errors: [Fault]?
  }
}

extension RedialProblem: CustomStringConvertible, LocalizedError, RetryOutcomeProviding {
  /// For people: status, code, what happened, and each wrong place.
  public var description: String {
    let places = errors.map { "\($0.place) \($0.detail)" }
    let list = places.count > 1 ? " (\(places.joined(separator: "; ")))" : ""
    return "\(status) \(code): \(title). \(detail)\(list)"
  }
  /// The same.
  public var errorDescription: String? { description }
  /// Its meaning for a retry: an answer.
  public var retryOutcome: AttemptOutcome { .answered(status: status, retryAfter: retryAfter) }
}

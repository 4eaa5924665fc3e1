internal import RedialJSON

/// What a call's last attempt that has ended came to, as lists of calls show it.
public struct LastAnswer: Sendable, Hashable {
  /// The status of the response, even if it is not whole; nil without one.
  public var status: Int?
  /// The code of what went wrong, such as `connectionRefused`, also beside a status; nil if nothing did.
  public var error: String?

  /// That of a call without such an attempt.
  public static let none = LastAnswer(status: nil, error: nil)

  /// Creates it from its parts.
  public init(status: Int?, error: String?) {
    (self.status, self.error) = (status, error)
  }

  /// What an attempt came to; ``none`` without one.
  public init(_ attempt: AttemptRecord?) {
    self.init(status: attempt?.status, error: attempt?.failure?.code)
  }

  /// Writes the members into an open object.
  func writeMembers(to writer: inout JSONWriter) {
    writer.key("lastStatus")
    if let status { writer.integer(Int64(status)) } else { writer.null() }
    writer.field("lastError", error)
  }
}

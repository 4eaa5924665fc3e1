internal import RedialJSON

/// An error for a client: RFC 9457 `application/problem+json`.
public struct Problem: Error, Sendable, Hashable {
  /// What kind of problem it is.
  public let code: ProblemCode
  /// The HTTP status: one of those that the code declares.
  public let status: Int
  /// What was wrong this time, on which input, and what to do.
  public var detail: String
  /// The wrong places in the input.
  public var errors: [Fault]
  /// Seconds to wait before trying again, sent as `Retry-After`.
  public var retryAfter: Int?
  /// The call that cannot be read, if that is the problem.
  public internal(set) var call: CallRemains?

  /// Creates a problem.
  ///
  /// - Parameter status: One of those that the code declares; nil for the first of them.
  public init(
    _ code: ProblemCode, status: Int? = nil, detail: String, errors: [Fault] = [], retryAfter: Int? = nil
  ) {
    let statuses = code.declaration.statuses
    self.code = code
    self.status = status ?? statuses[0]
    self.detail = detail
    self.errors = errors
    self.retryAfter = retryAfter
    assert(statuses.contains(self.status), "\(code) declares no status \(self.status)")
  }

  /// A short summary of the kind of problem.
  public var title: String { code.declaration.title }

  public var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("type", "urn:redial:problem:\(code.rawValue)")
    writer.field("title", title)
    writer.field("status", status)
    writer.field("code", code.rawValue)
    writer.field("detail", detail)
    if !errors.isEmpty {
      writer.key("errors")
      writer.beginArray()
      for fault in errors {
        writer.beginObject()
        writer.key(fault.place.kind.rawValue)
        writer.string(fault.place.name)
        writer.field("detail", fault.detail)
        writer.endObject()
      }
      writer.endArray()
    }
    if let call {
      writer.key("call")
      writer.beginObject()
      writer.field("id", call.id)
      writer.field("target", call.target)
      call.labels.write(to: &writer)
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }
}

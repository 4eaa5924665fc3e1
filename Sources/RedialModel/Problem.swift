internal import RedialJSON

/// An error for a client: RFC 9457 `application/problem+json`.
public struct Problem: Error, Sendable, Hashable {
  /// The HTTP status.
  public var status: Int
  /// A stable word in camelCase that programs can match.
  public var code: String
  /// A short summary of the kind of problem.
  public var title: String
  /// What happened this time, and what to do.
  public var detail: String
  /// The wrong places in the input.
  public var errors: [Fault]
  /// Seconds to wait before trying again, sent as `Retry-After`.
  public var retryAfter: Int?
  /// The call that cannot be read, if that is the problem.
  public internal(set) var call: CallRemains?

  /// One wrong place in the input.
  public struct Fault: Sendable, Hashable {
    /// A JSON Pointer (RFC 6901) into the request body, or the name of a query parameter.
    public var pointer: String
    /// What is wrong there.
    public var detail: String

    /// Creates a fault.
    public init(pointer: String, detail: String) {
      self.pointer = pointer
      self.detail = detail
    }
  }

  /// Creates a problem.
  public init(
    status: Int, code: String, title: String, detail: String, errors: [Fault] = [], retryAfter: Int? = nil
  ) {
    self.status = status
    self.code = code
    self.title = title
    self.detail = detail
    self.errors = errors
    self.retryAfter = retryAfter
  }

  public var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("type", "urn:redial:problem:\(code)")
    writer.field("title", title)
    writer.field("status", status)
    writer.field("code", code)
    writer.field("detail", detail)
    if !errors.isEmpty {
      writer.key("errors")
      writer.beginArray()
      for fault in errors {
        writer.beginObject()
        writer.field("pointer", fault.pointer)
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

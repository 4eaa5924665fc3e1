/// One field line of a response.
public struct HTTPHeader: Hashable, Sendable {
  /// The field's name: a token. A field with another name is not sent.
  public var name: String
  /// The field's value. Control bytes in it are sent as spaces, so that no value can begin another line.
  public var value: String

  /// A field line.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// An answer. The server adds the fields of the connection: `Date`, `Content-Length` and `Connection`. Such fields
/// among ``headers``, and `Transfer-Encoding`, are left out.
public struct HTTPResponse: Sendable {
  /// The status code, 200 to 599. Another number is answered as 500.
  public var status: Int
  /// The field lines, in the order they are sent.
  public var headers: [HTTPHeader]
  /// The content. With 204 and 304, and to HEAD, it is not sent (RFC 9110 sections 9.3.2, 15.3.5 and 15.4.5).
  public var body: [UInt8]
  /// Whether the connection is closed after this answer.
  public var closesConnection = false

  /// An answer with bytes.
  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer with text.
  ///
  /// - Parameters:
  ///   - text: The content, sent as UTF-8.
  ///   - contentType: The value of `Content-Type`, put before the other fields.
  public init(
    status: Int, headers: [HTTPHeader] = [], text: String, contentType: String = "text/plain; charset=utf-8"
  ) {
    self.init(
      status: status, headers: [HTTPHeader("Content-Type", contentType)] + headers, body: Array(text.utf8))
  }
}

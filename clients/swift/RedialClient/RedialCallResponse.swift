public import Foundation

/// The captured part of a target's response.
public struct RedialCallResponse: Sendable, Hashable {
  /// The status; nil if unknown.
  public var status: Int?
  /// The header fields, their names in lower case.
  public var headers: [String: [String]]
  /// The first bytes of the body, up to the call's capture limit.
  public var body: Data
  /// Whether the body was longer.
  public var isTruncated: Bool

  /// The body as text; bytes that are not UTF-8 are replaced.
  public var text: String { String(decoding: body, as: UTF8.self) }
}

extension RedialCallResponse: Codable {
  private enum Key: String, CodingKey {
    case status, headers, body, encoding, truncated
  }

  private enum Coding: String, Codable {
    case utf8, base64
  }

  /// Reads a response from the service's JSON.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    status = try members.decodeIfPresent(Int.self, forKey: .status)
    headers = try members.decode([String: [String]].self, forKey: .headers)
    isTruncated = try members.decode(Bool.self, forKey: .truncated)
    let text = try members.decode(String.self, forKey: .body)
    switch try members.decode(Coding.self, forKey: .encoding) {
    case .utf8: body = Data(text.utf8)
    case .base64:
      guard let bytes = Data(base64Encoded: text) else {
        throw DecodingError.dataCorruptedError(forKey: .body, in: members, debugDescription: "the body is not base 64")
      }
      body = bytes
    }
  }

  /// Writes the response as the service does.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(status, forKey: .status)
    try members.encode(headers, forKey: .headers)
    // Bytes that are not UTF-8 are replaced, so the text then differs.
    let repaired = String(decoding: body, as: UTF8.self)
    let text = repaired.utf8.elementsEqual(body) ? repaired : nil
    try members.encode(text ?? body.base64EncodedString(), forKey: .body)
    try members.encode(text == nil ? Coding.base64 : .utf8, forKey: .encoding)
    try members.encode(isTruncated, forKey: .truncated)
  }
}

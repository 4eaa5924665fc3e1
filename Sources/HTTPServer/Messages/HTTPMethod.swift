/// A request method, RFC 9110 section 9. Methods are case-sensitive, and any token is a method.
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
  /// The method as it was sent.
  public let text: String

  /// A method with that text, which should be a token.
  public init(_ text: String) { self.text = text }

  /// The same as ``text``.
  public var description: String { text }

  /// GET: transfer a representation.
  public static var get: HTTPMethod { HTTPMethod("GET") }
  /// HEAD: like GET, without the content.
  public static var head: HTTPMethod { HTTPMethod("HEAD") }
  /// POST: process the content.
  public static var post: HTTPMethod { HTTPMethod("POST") }
  /// PUT: replace the resource's state with the content.
  public static var put: HTTPMethod { HTTPMethod("PUT") }
  /// DELETE: remove the resource.
  public static var delete: HTTPMethod { HTTPMethod("DELETE") }
  /// OPTIONS: describe how to communicate.
  public static var options: HTTPMethod { HTTPMethod("OPTIONS") }
  /// PATCH: change the resource partially (RFC 5789).
  public static var patch: HTTPMethod { HTTPMethod("PATCH") }
}

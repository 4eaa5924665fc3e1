/// The source of a body that is not in memory as a whole.
///
/// A transport reads it on its own threads, one thread at a time, in pieces, and keeps at most two of them.
public protocol BodySource: AnyObject, Sendable {
  /// How long the content is, in bytes; it is what the request's `Content-Length` says.
  var size: Int { get }

  /// The next bytes, in order; fewer than are wanted are no end. Blocks while they are read.
  ///
  /// - Parameter count: The most bytes that are wanted, 1 or more.
  /// - Throws: Why there are none. The attempt then ends as a fault on this side.
  func next(atMost count: Int) throws(BodyFault) -> [UInt8]

  /// Has the next bytes be the first again, as for a redirect that takes the content along.
  func rewind()
}

/// Why content could not be read.
public struct BodyFault: Error, Sendable, Hashable {
  /// A stable word in camelCase, such as `bodyUnreadable`.
  public var code: String
  /// A sentence for people, without its full stop.
  public var message: String

  /// Creates a fault.
  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  /// The content has an end before its size is reached.
  static let short = BodyFault(code: "bodyDamaged", message: "The call's body is shorter than it is said to be")
  /// No piece came in the attempt's time.
  static let late = BodyFault(code: "bodyUnreadable", message: "The call's body was not read in the attempt's time")
}

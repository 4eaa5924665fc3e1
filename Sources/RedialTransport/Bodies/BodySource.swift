/// The source of a body that is not in memory as a whole.
///
/// A transport reads it on its own threads, one thread at a time, in pieces, and keeps at most two of them.
package protocol BodySource: AnyObject, Sendable {
  /// The length of the body, in bytes; it is the request's `Content-Length`.
  var size: Int { get }

  /// The next bytes, in order; fewer than requested do not mean the end. Blocks while they are read.
  ///
  /// - Parameter count: The maximum number of bytes, 1 or more.
  /// - Throws: Why there are none. The attempt then ends as a fault on this side.
  func next(atMost count: Int) throws(BodyFault) -> [UInt8]

  /// Starts again at the first byte, for example for a redirect that keeps the body.
  func rewind()
}

/// Why a body could not be read.
package struct BodyFault: Error, Sendable, Hashable {
  /// A stable word in camelCase, such as `bodyUnreadable`.
  package var code: String
  /// A sentence for people, without its full stop.
  package var message: String

  /// Creates a fault.
  package init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  /// The body ends before its size is reached.
  package static let short = BodyFault(code: "bodyDamaged", message: "The call's body is shorter than it is said to be")
  /// No piece arrived in the attempt's time.
  static let late = BodyFault(code: "bodyUnreadable", message: "The call's body was not read in the attempt's time")
}

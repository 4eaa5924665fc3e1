/// The coding of a request's body, from `Content-Encoding`, RFC 9110 section 8.4.
enum ContentCoding: UInt8, Equatable {
  /// There is no such field.
  case absent
  /// The field lists no coding that has to be decoded.
  case identity
  /// `gzip` or its old name `x-gzip`, RFC 9110 section 8.4.1.3.
  case gzip
  /// The zlib format, RFC 9110 section 8.4.1.2.
  case deflate
  /// Another coding, or several.
  case unsupported

  /// The codings that are supported, as a value of `Accept-Encoding`.
  static let understood = "gzip, deflate"

  /// Reads one field; several fields form one list (RFC 9110 section 5.3), whose empty elements are ignored.
  mutating func read(_ value: UnsafePointer<UInt8>, _ count: Int) {
    if self == .absent { self = .identity }
    var index = 0
    while let element = Framing.element(value, count, &index) {
      let name = value + element.lowerBound
      if element.isEmpty || ASCII.equal(name, element.count, "identity") { continue }
      guard self == .identity else {
        self = .unsupported
        continue
      }
      if ASCII.equal(name, element.count, "gzip") || ASCII.equal(name, element.count, "x-gzip") {
        self = .gzip
      } else if ASCII.equal(name, element.count, "deflate") {
        self = .deflate
      } else {
        self = .unsupported
      }
    }
  }
}

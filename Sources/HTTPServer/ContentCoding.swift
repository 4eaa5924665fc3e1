/// What `Content-Encoding` says of a request's body, RFC 9110 section 8.4.
enum ContentCoding: UInt8, Equatable {
  /// There is no such field.
  case absent
  /// It names nothing that has to be undone.
  case identity
  /// `gzip` or its old name `x-gzip`, RFC 9110 section 8.4.1.3.
  case gzip
  /// The zlib format, RFC 9110 section 8.4.1.2.
  case deflate
  /// Another coding, or more than one.
  case unsupported

  /// The codings that are understood, as `Accept-Encoding` tells them.
  static let understood = "gzip, deflate"

  /// Looks at one field; several are one list (RFC 9110 section 5.3), whose empty elements count for nothing.
  mutating func note(_ value: UnsafePointer<UInt8>, _ count: Int) {
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

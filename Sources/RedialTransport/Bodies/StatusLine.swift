/// The first line of a response's head (RFC 9112 §4): `HTTP/1.1 200 OK`; libcurl makes one for HTTP/2, too.
enum StatusLine {
  /// Its status, of 100 to 999; nil if it is none.
  ///
  /// libcurl takes any line that begins with `HTTP/`, in small letters too, and some of them for a 200.
  static func status(of line: UnsafeRawBufferPointer) -> Int? {
    guard line.starts(with: "HTTP/".utf8) else { return nil }
    var rest = line.dropFirst(5)
    guard let major = rest.popFirst(), isDigit(major) else { return nil }
    if rest.first == UInt8(ascii: ".") {
      guard let minor = rest.dropFirst().first, isDigit(minor) else { return nil }
      rest = rest.dropFirst(2)
    }
    let digits = rest.drop { $0 == 0x20 || $0 == 0x09 }
    guard digits.count < rest.count else { return nil }
    let number = digits.prefix { isDigit($0) }
    guard number.count == 3, number.first != UInt8(ascii: "0") else { return nil }
    return number.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Whether it is the first line of HTTP/1.
  static func isHTTP1(_ line: UnsafeRawBufferPointer) -> Bool { line.starts(with: "HTTP/1".utf8) }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}

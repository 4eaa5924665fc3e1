internal import CCurl
internal import RedialModel

/// The header lines of a handle's current request, in libcurl's form.
///
/// Sound: the line of the user agent outlives the list, and libcurl reads neither after the request.
struct HeaderLines: ~Copyable {
  private let list = FieldList()
  /// The `User-Agent` line of requests that have none of their own; it ends in a zero.
  private let userAgentLine: UnsafeMutablePointer<CChar>

  /// From this size on libcurl may ask for permission to send the body (RFC 9110 section 10.1.1), which costs a second
  /// if the server does not answer: 1 MiB in today's versions, 1 KiB in those before 7.62.
  private static let expectableBytes = 1024

  init(userAgent: String) {
    let bytes = "User-Agent: \(userAgent)".utf8CString
    userAgentLine = .allocate(capacity: bytes.count)
    bytes.withUnsafeBufferPointer { [userAgentLine] bytes in
      if let base = bytes.baseAddress { userAgentLine.initialize(from: base, count: bytes.count) }
    }
  }

  deinit { userAgentLine.deallocate() }

  /// The list, valid until it is set again; nil for an empty one.
  var first: UnsafeMutablePointer<curl_slist>? { list.first }

  /// Sets the header fields of a request, and removes those that libcurl would add itself.
  ///
  /// - Parameters:
  ///   - contentBytes: The length of the request's body.
  ///   - asksForCoding: Whether the response may be compressed.
  /// - Returns: Whether it was asked for a compressed response. A call that sets an accepted coding itself gets the
  ///   response unchanged.
  func set(_ headers: [HeaderField], contentBytes: Int, asksForCoding: Bool) -> Bool {
    var bytes = 0
    for header in headers { bytes += header.name.utf8.count + header.value.utf8.count + 3 }
    list.begin(lines: 5, fields: headers.count, bytes: bytes)
    var (hasAccept, hasType, hasAgent, hasCoding) = (false, false, false, false)
    for header in headers {
      let name = list.append(header)
      switch name.count {
      case 6: hasAccept = hasAccept || Self.isNamed(name, "accept")
      case 12: hasType = hasType || Self.isNamed(name, "content-type")
      case 10: hasAgent = hasAgent || Self.isNamed(name, "user-agent")
      case 15: hasCoding = hasCoding || Self.isNamed(name, "accept-encoding")
      default: break
      }
    }
    // Not for fields that libcurl never adds: long lists cost it time.
    if contentBytes >= Self.expectableBytes { list.prepend(FieldList.Line("Expect:")) }
    if !hasType { list.prepend(FieldList.Line("Content-Type:")) }
    let asks = asksForCoding && !hasCoding
    if asks { list.prepend(FieldList.Line("Accept-Encoding: gzip, deflate")) }
    if !hasAccept { list.prepend(FieldList.Line("Accept:")) }
    if !hasAgent { list.prepend(FieldList.Line(userAgentLine)) }
    return asks
  }

  /// Whether a name of equal length is the same, ignoring case.
  private static func isNamed(_ name: UnsafeBufferPointer<CChar>, _ lowercase: StaticString) -> Bool {
    let wanted = lowercase.utf8Start
    for place in 0..<name.count where UInt8(bitPattern: name[place]) | 0x20 != wanted[place] { return false }
    return true
  }
}

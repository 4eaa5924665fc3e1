import Glibc

/// Writes a response in its wire format, RFC 9112 section 4, straight into the output buffer.
struct ResponseWriter {
  private var cursor: UnsafeMutablePointer<UInt8>

  /// What happens to the connection afterwards; written as `Connection`.
  enum Persistence {
    /// The default of the HTTP version.
    case implied
    /// HTTP/1.0 asked for a persistent connection.
    case keepAlive
    case close
  }

  /// How the end of the content is marked.
  private enum Length {
    case known(Int)
    case chunked
    case endOfConnection
  }

  /// Bytes of a response beyond its own fields and body and `dateLine`: status line, Content-Encoding, Vary,
  /// Content-Length and Connection, with a margin.
  private static let overhead = 256

  /// Bytes of a field line beyond its name and value: a colon and a blank, `W/`, CRLF.
  private static let fieldOverhead = 6

  /// Appends a response to `output`.
  ///
  /// - Parameters:
  ///   - dateLine: The `Date` field line with its CRLF, and the lines that every answer has.
  ///   - isHead: The request was HEAD.
  ///   - gzipped: The content in the coding gzip, to be sent in place of the plain one.
  ///   - varies: Whether `Vary` must say that the coding was negotiated.
  static func append(
    _ response: HTTPResponse, to output: inout ByteBuffer, dateLine: [UInt8], isHead: Bool, persistence: Persistence,
    gzipped: UnsafeBufferPointer<UInt8>? = nil, varies: Bool = false
  ) {
    // Sound: `reserve` makes room for all bytes that are written below; the sum computed here is their limit.
    var total = overhead + dateLine.count + (gzipped?.count ?? response.body.count)
    for header in response.headers { total += header.name.utf8.count + header.value.utf8.count + fieldOverhead }
    let start = output.reserve(total)
    var writer = ResponseWriter(cursor: start)
    writer.writeHead(
      response, dateLine: dateLine, persistence, .known(gzipped?.count ?? response.body.count),
      isCoded: gzipped != nil, varies: varies)
    if !isHead, hasContent(response.status) {
      if let gzipped { writer.write(gzipped) } else { writer.write(response.body) }
    }
    output.commit(writer.cursor - start)
  }

  /// Appends the head of a response whose content follows in pieces.
  static func appendHead(
    _ response: HTTPResponse, to output: inout ByteBuffer, dateLine: [UInt8], isChunked: Bool, persistence: Persistence
  ) {
    // Sound: as above.
    var total = overhead + dateLine.count
    for header in response.headers { total += header.name.utf8.count + header.value.utf8.count + fieldOverhead }
    let start = output.reserve(total)
    var writer = ResponseWriter(cursor: start)
    writer.writeHead(
      response, dateLine: dateLine, persistence, isChunked ? .chunked : .endOfConnection, isCoded: false, varies: false)
    output.commit(writer.cursor - start)
  }

  /// Appends a chunk, RFC 9112 section 7.1, or only the bytes; nothing for no bytes, because an empty chunk would be
  /// the last.
  static func appendPiece(_ bytes: [UInt8], to output: inout ByteBuffer, isChunked: Bool) {
    guard !bytes.isEmpty else { return }
    // Sound: the bytes have at most 16 digits and two line ends around them.
    let start = output.reserve(bytes.count + 20)
    var writer = ResponseWriter(cursor: start)
    if isChunked { writer.writeHexadecimal(bytes.count) }
    if isChunked { writer.write("\r\n") }
    writer.write(bytes)
    if isChunked { writer.write("\r\n") }
    output.commit(writer.cursor - start)
  }

  /// The last chunk, without trailers.
  static let lastChunk: StaticString = "0\r\n\r\n"

  /// RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5.
  static func hasContent(_ status: Int) -> Bool { status != 204 && status != 205 && status != 304 }

  private mutating func writeHead(
    _ response: HTTPResponse, dateLine: [UInt8], _ persistence: Persistence, _ length: Length, isCoded: Bool,
    varies: Bool
  ) {
    let status = (200...599).contains(response.status) ? response.status : 500
    write("HTTP/1.1 ")
    writeDecimal(status)
    write(" ")
    write(StatusText.phrase(status))
    write("\r\n")
    write(dateLine)
    for header in response.headers { write(header, isCoded: isCoded) }
    if isCoded { write("Content-Encoding: gzip\r\n") }
    if varies { write("Vary: Accept-Encoding\r\n") }
    // RFC 9110 section 8.6: no Content-Length with 204, and leaving it out is safe with 304.
    if status != 204, status != 304 {
      switch length {
      case .known(let count):
        write("Content-Length: ")
        writeDecimal(Self.hasContent(status) ? count : 0)
        write("\r\n")
      case .chunked: write("Transfer-Encoding: chunked\r\n")
      case .endOfConnection:
        // A response without content ends with its head, and the connection continues. A client would wait for the
        // content of a 205.
        if status == 205 { write("Content-Length: 0\r\n") }
      }
    }
    switch persistence {
    case .implied: break
    case .keepAlive: write("Connection: keep-alive\r\n")
    case .close: write("Connection: close\r\n")
    }
    write("\r\n")
  }

  private mutating func write(_ text: StaticString) {
    memcpy(cursor, text.utf8Start, text.utf8CodeUnitCount)
    cursor += text.utf8CodeUnitCount
  }

  private mutating func write(_ bytes: [UInt8]) {
    let target = cursor
    bytes.withUnsafeBufferPointer { source in
      if let base = source.baseAddress { memcpy(target, base, source.count) }
    }
    cursor += bytes.count
  }

  private mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
    if let base = bytes.baseAddress { memcpy(cursor, base, bytes.count) }
    cursor += bytes.count
  }

  private mutating func writeDecimal(_ number: Int) {
    var length = 1
    var bound = 10
    while length < 19, number >= bound {
      length += 1
      bound &*= 10
    }
    // Sound: the last digit is written where the number ends, and there are as many digits as were counted.
    var rest = UInt(bitPattern: number)
    for place in stride(from: length - 1, through: 0, by: -1) {
      cursor[place] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
      rest /= 10
    }
    cursor += length
  }

  private mutating func writeHexadecimal(_ number: Int) {
    var shift = max(0, (Int.bitWidth - number.leadingZeroBitCount - 1) / 4 * 4)
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: number >> shift & 15)
      cursor.pointee = digit < 10 ? 0x30 + digit : 0x57 + digit
      cursor += 1
      shift -= 4
    }
  }

  /// Writes one field line, unless its name is invalid or the server writes that field itself.
  private mutating func write(_ header: HTTPHeader, isCoded: Bool) {
    let line = cursor
    let nameCount = copy(header.name)
    var isToken = nameCount > 0
    for index in 0..<nameCount where !ASCII.isToken(line[index]) { isToken = false }
    guard isToken, !Self.isReserved(line, nameCount) else {
      cursor = line
      return
    }
    write(": ")
    // A strong validator identifies one sequence of bytes, and these are no longer the handler's own (RFC 9110 section
    // 8.8.1): its entity tag is sent as a weak one.
    if isCoded, header.isNamed("etag"), header.value.utf8.first == 0x22 { write("W/") }
    let value = cursor
    let valueCount = copy(header.value)
    for index in 0..<valueCount where !ASCII.isFieldValue(value[index]) { value[index] = ASCII.space }
    write("\r\n")
  }

  private static func isReserved(_ name: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    switch count {
    case 4: ASCII.equal(name, count, "date")
    case 10: ASCII.equal(name, count, "connection")
    case 14: ASCII.equal(name, count, "content-length")
    case 17: ASCII.equal(name, count, "transfer-encoding")
    default: false
    }
  }

  private mutating func copy(_ text: String) -> Int {
    let target = cursor
    var count = 0
    let isContiguous: Void? = text.utf8.withContiguousStorageIfAvailable { source in
      if let base = source.baseAddress { memcpy(target, base, source.count) }
      count = source.count
    }
    if isContiguous == nil {
      for byte in text.utf8 {
        target[count] = byte
        count += 1
      }
    }
    cursor += count
    return count
  }
}

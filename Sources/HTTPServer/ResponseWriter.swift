import Glibc

/// Writes a response as it goes over the wire, RFC 9112 section 4, straight into the output buffer.
struct ResponseWriter {
  private var cursor: UnsafeMutablePointer<UInt8>

  /// How the connection goes on, which is told in `Connection`.
  enum Persistence {
    /// As the version has it by default.
    case implied
    /// HTTP/1.0 asked to be kept alive.
    case keepAlive
    case close
  }

  /// Bytes of a response beyond its own fields and body: status line, Date, Content-Length, Connection, with room.
  private static let overhead = 256

  /// Appends a response to `output`.
  ///
  /// - Parameters:
  ///   - dateLine: The `Date` field line with its CRLF.
  ///   - isHead: The request was HEAD.
  static func append(
    _ response: HTTPResponse, to output: inout ByteBuffer, dateLine: [UInt8], isHead: Bool, persistence: Persistence
  ) {
    // Sound: `reserve` gives room for all that is written below, which is bounded by the sum computed here.
    var total = overhead + response.body.count
    for header in response.headers { total += header.name.utf8.count + header.value.utf8.count + 4 }
    let start = output.reserve(total)
    var writer = ResponseWriter(cursor: start)
    writer.write(response, dateLine: dateLine, isHead: isHead, persistence: persistence)
    output.commit(writer.cursor - start)
  }

  private mutating func write(
    _ response: HTTPResponse, dateLine: [UInt8], isHead: Bool, persistence: Persistence
  ) {
    let status = (200...599).contains(response.status) ? response.status : 500
    write("HTTP/1.1 ")
    writeDecimal(status)
    write(" ")
    write(StatusText.phrase(status))
    write("\r\n")
    write(dateLine)
    for header in response.headers { write(header) }
    // RFC 9110 section 8.6: none with 204, and none is the safe choice with 304.
    let hasContent = status != 204 && status != 304
    if hasContent {
      write("Content-Length: ")
      writeDecimal(status == 205 ? 0 : response.body.count)
      write("\r\n")
    }
    switch persistence {
    case .implied: break
    case .keepAlive: write("Connection: keep-alive\r\n")
    case .close: write("Connection: close\r\n")
    }
    write("\r\n")
    if hasContent, !isHead, status != 205 { write(response.body) }
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

  private mutating func writeDecimal(_ number: Int) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      cursor.pointee = UInt8(truncatingIfNeeded: 0x30 + number / divisor % 10)
      cursor += 1
      divisor /= 10
    }
  }

  /// One field line; a name that is none, or that the server writes itself, leaves it out.
  private mutating func write(_ header: HTTPHeader) {
    let line = cursor
    let nameCount = copy(header.name)
    var isToken = nameCount > 0
    for index in 0..<nameCount where !ASCII.isToken(line[index]) { isToken = false }
    guard isToken, !Self.isReserved(line, nameCount) else {
      cursor = line
      return
    }
    write(": ")
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

/// The received part of the current response.
struct Received {
  /// Takes the body of a 200 in pieces, and says whether to continue; nil to collect the body.
  let sink: ((UnsafeRawBufferPointer) -> Bool)?
  /// The lines of the header.
  private(set) var head: [UInt8] = []
  /// The bytes of all headers and trailers.
  private(set) var headBytes = 0
  private(set) var isHeadWhole = false
  /// The place in ``head`` of the length of the content.
  private var length: Range<Int>?
  /// Whether the response has two lengths that differ (RFC 9112 §6.3).
  private(set) var isContradictory = false
  private var body: [UInt8] = []
  private var bodyLength = 0
  /// Whether the header exceeded its limit.
  private(set) var hasOversizedHead = false
  /// Whether the response was cut off because the body exceeded a limit.
  private(set) var wasEnough = false
  /// Whether libcurl decompresses the response if it is compressed.
  var mayInflate = false
  /// Whether the header says that it is, and libcurl decompresses it.
  private(set) var wasInflated = false

  init(sink: ((UnsafeRawBufferPointer) -> Bool)? = nil) { self.sink = sink }

  /// The ratio counts only beyond this many bytes: a page of zeros is not an attack.
  private static let uncheckedBytes = 64 * 1024

  /// The limits of a response's body.
  struct BodyLimits {
    /// Maximum bytes to keep.
    var kept: Int
    /// Maximum bytes to receive.
    var received: Int
    /// Maximum ratio of the inflated size to the received one; nil if libcurl does not decompress.
    var inflation: Int?
  }

  /// Forgets the response before.
  mutating func begin() {
    head.removeAll(keepingCapacity: true)
    body = []
    (headBytes, bodyLength) = (0, 0)
    (hasOversizedHead, wasEnough, isHeadWhole) = (false, false, false)
    (isContradictory, length, wasInflated, mayInflate) = (false, nil, false, false)
  }

  /// The announced length of the content; nil if there is none.
  var contentLength: Int? { length.flatMap { Int(String(decoding: head[$0], as: UTF8.self)) } }

  /// Receives a line of the header, or of the trailers.
  ///
  /// - Parameter limit: The maximum bytes of all lines together.
  /// - Returns: Whether to continue.
  mutating func takeHead(_ line: UnsafeRawBufferPointer, atMost limit: Int) -> Bool {
    headBytes += line.count
    guard headBytes <= limit else {
      hasOversizedHead = true
      return false
    }
    if line.count <= 2 {
      isHeadWhole = true
      return true
    }
    // A status line begins a new header, for example after 100 Continue; trailers are not part of it.
    if line.count > 5, line[0] == 0x48, line[1] == 0x54, line[2] == 0x54, line[3] == 0x50, line[4] == 0x2F {
      head.removeAll(keepingCapacity: true)
      (isHeadWhole, length, wasInflated) = (false, nil, false)
      return true
    }
    guard bodyLength == 0 else { return true }
    // For the fields that matter here, the first byte and the position of the colon exclude nearly all others.
    if line[0] | 0x20 == UInt8(ascii: "c"), line.count > 15 {
      if line[14] == UInt8(ascii: ":"), Self.starts(line, with: "content-length") {
        return takeLength(line)
      }
      if mayInflate, line.count > 16, line[16] == UInt8(ascii: ":"), Self.starts(line, with: "content-encoding") {
        wasInflated = true
      }
    }
    head.append(contentsOf: line)
    return true
  }

  /// Reads a Content-Length field, which must not differ from an earlier one.
  private mutating func takeLength(_ line: UnsafeRawBufferPointer) -> Bool {
    var (start, end) = (15, line.count)
    while start < end, line[start] <= 0x20 { start += 1 }
    while start < end, line[end - 1] <= 0x20 { end -= 1 }
    let found = head.count + start..<head.count + end
    head.append(contentsOf: line)
    isContradictory = length.map { !head[$0].elementsEqual(head[found]) } ?? false
    length = found
    return !isContradictory
  }

  /// Whether a longer line begins with a name in lower case, ignoring its own case.
  private static func starts(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
    for place in 0..<name.utf8CodeUnitCount where line[place] | 0x20 != name.utf8Start[place] { return false }
    return true
  }

  /// Receives a piece of the body.
  ///
  /// - Parameter arrived: How many bytes of the body have arrived, before they were inflated.
  /// - Returns: Whether to continue.
  mutating func takeBody(_ bytes: UnsafeRawBufferPointer, _ limits: BodyLimits, arrived: () -> Int) -> Bool {
    let room = limits.kept - body.count
    if room > 0 { body.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.prefix(room))) }
    bodyLength += bytes.count
    guard bodyLength <= max(limits.received, limits.kept), !isBomb(limits.inflation, arrived) else {
      wasEnough = true
      return false
    }
    return true
  }

  /// Whether a compressed response has inflated to far more than its size.
  private func isBomb(_ ratio: Int?, _ arrived: () -> Int) -> Bool {
    guard let ratio, bodyLength > Self.uncheckedBytes else { return false }
    return bodyLength - Self.uncheckedBytes > max(1, arrived()) * ratio
  }

  /// Moves out the kept part of the body.
  mutating func moveBody() -> (bytes: [UInt8], isTruncated: Bool) {
    var bytes: [UInt8] = []
    swap(&bytes, &body)
    return (bytes, bodyLength > bytes.count || wasEnough)
  }
}

internal import Glibc

/// Whether everybody who reads a response's head finds the same end of the response. If not, the rest of it may be read
/// as the response to the next request on the connection (RFC 9112 §6.3, §11.1).
struct ResponseFraming {
  /// Whether it is doubtful where the response ends.
  private(set) var isDoubtful = false
  /// Whether the head of the final response is complete.
  private(set) var isHeadWhole = false
  /// Whether it is HTTP/1, where only the head says where a response ends.
  private(set) var isHTTP1 = false
  private let hasNoContent: Bool
  private var status = 0
  private var isOld = false
  private var lengths = 0
  private var isLengthZero = true
  private var codings = 0

  /// - Parameter method: The request's; a response to HEAD has no content.
  init(_ method: String) { hasNoContent = method == "HEAD" }

  /// Takes a line of a head, with its end.
  mutating func take(_ line: UnsafeRawBufferPointer) {
    guard !isHeadWhole else { return }
    guard line.count > 2, let start = line.baseAddress else { return endHead() }
    if line.count > 5, line[0] == UInt8(ascii: "H"), memcmp(start, "HTTP/", 5) == 0 { return beginHead(line) }
    guard isHTTP1, !isDoubtful else { return }
    // Some read on at a lone CR, and some take a field whose name is followed by a blank.
    guard let colon = memchr(start, 0x3A, line.count).map({ UnsafeRawPointer($0) - start }), colon > 0,
      line[0] > 0x20, line[colon - 1] > 0x20,
      memchr(start, 0x0D, line.count).map({ UnsafeRawPointer($0) - start == line.count - 2 }) ?? true
    else {
      isDoubtful = true
      return
    }
    if colon == 14, Self.starts(line, with: "content-length") { return takeLength(line[15...]) }
    if colon == 17, Self.starts(line, with: "transfer-encoding") { takeCoding(line[18...]) }
  }

  private mutating func beginHead(_ line: UnsafeRawBufferPointer) {
    isHTTP1 = line[5] == UInt8(ascii: "1")
    isOld = line.count > 7 && line[7] == UInt8(ascii: "0")
    status = line.count > 11 ? line[9..<12].reduce(0) { $0 * 10 + Int($1 &- 0x30) } : 0
    (lengths, isLengthZero, codings) = (0, true, 0)
  }

  private mutating func endHead() {
    isHeadWhole = status >= 200 || status == 101
    guard isHTTP1 else { return }
    let isEmpty = hasNoContent || status < 200 || status == 204 || status == 304
    // Wrong targets send the content that they announce, although there is none to such a request, or with such a status.
    let isAnnounced = codings > 0 || !isLengthZero
    if lengths > 1 || codings > 1 || lengths > 0 && codings > 0 || codings > 0 && isOld || isEmpty && isAnnounced
      || status == 101
    {
      isDoubtful = true
    }
  }

  private mutating func takeLength(_ value: Slice<UnsafeRawBufferPointer>) {
    lengths += 1
    let digits = Self.trimmed(value)
    guard !digits.isEmpty, digits.allSatisfy({ $0 &- 0x30 < 10 }) else {
      isDoubtful = true
      return
    }
    if digits.contains(where: { $0 != 0x30 }) { isLengthZero = false }
  }

  private mutating func takeCoding(_ value: Slice<UnsafeRawBufferPointer>) {
    codings += 1
    let coding = Self.trimmed(value)
    if !coding.lazy.map({ $0 | 0x20 }).elementsEqual("chunked".utf8) { isDoubtful = true }
  }

  private static func trimmed(_ value: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var value = value.drop { $0 <= 0x20 }
    while let last = value.last, last <= 0x20 { value.removeLast() }
    return value
  }

  /// Whether a longer line begins with a name in lower case, ignoring its own case.
  private static func starts(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
    for place in 0..<name.utf8CodeUnitCount where line[place] | 0x20 != name.utf8Start[place] { return false }
    return true
  }
}

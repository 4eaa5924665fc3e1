internal import Glibc

/// Where a response ends, as its head says (RFC 9112 §6.3): this decides about its content, and about the next request on
/// the connection.
struct ResponseFraming {
  /// Whether it is HTTP/1, where only the head says where a response ends.
  private(set) var isHTTP1 = false
  /// Whether others may find another end. Then the rest of the response may be read as the response to the next request on
  /// the connection (RFC 9112 §11.1).
  private(set) var isDoubtful = false
  /// Whether nobody can tell the end: two lengths differ, one is not a number, or libcurl reads a length or a coding
  /// otherwise than it stands there.
  private(set) var isUnclear = false
  /// The length of the content; nil if there is none, or the content is chunked.
  private(set) var length: Int?
  /// Whether the response has no content, whatever its head says.
  private(set) var hasNoContent = false
  /// Whether libcurl does not find the length, and would wait for the end of the connection.
  private(set) var endsHere = false
  /// Whether the content has no other end than that of the connection.
  var endsWithConnection: Bool { isHTTP1 && length == nil && codings == 0 && !hasNoContent }
  private let isToHead: Bool
  private var isOld = false
  /// Whether the field before is one of those that are read here.
  private var isLastOurs = false
  private var lengths = 0
  private var codings = 0

  /// - Parameter method: The request's; a response to HEAD has no content.
  init(_ method: String) { isToHead = method == "HEAD" }

  /// Takes the first line of a head. What is in doubt after an interim head stays so.
  mutating func begin(_ line: UnsafeRawBufferPointer) {
    isHTTP1 = StatusLine.isHTTP1(line)
    isOld = line.count > 7 && line[7] == UInt8(ascii: "0")
    (isUnclear, length, endsHere, lengths, codings, isLastOurs) = (false, nil, false, 0, 0, false)
  }

  /// Takes a line of the head.
  ///
  /// - Parameter field: Nil for a line that is no field, or continues one.
  mutating func take(_ line: UnsafeRawBufferPointer, _ field: FieldLine?) {
    guard let field else {
      // Versions of libcurl differ in whether they join such a line to the one before it.
      if isLastOurs, FieldLine.isBlank(line[0]), line.contains(where: { $0 > 0x20 }) { isUnclear = true }
      return doubt()
    }
    // Some read on at a lone CR, and some take a field whose name is followed by a blank.
    if isHTTP1, !isDoubtful {
      isDoubtful = field.hasBlanks || line[0] < 0x20 || line[field.colon - 1] < 0x20 || Self.hasLoneReturn(line)
    }
    // The length of the name excludes nearly all others.
    isLastOurs = false
    if field.nameCount == 14, field.isNamed("content-length") { takeLength(field) }
    if field.nameCount == 17, field.isNamed("transfer-encoding") { takeCoding(field) }
  }

  /// Takes the end of a head.
  mutating func end(_ status: Int) {
    hasNoContent = isToHead || status < 200 && status != 101 || status == 204 || status == 304
    // A server must not announce content there (RFC 9110 §8.6, RFC 9112 §6.1), and those that do are known to send it.
    let isForbidden = (status < 200 || status == 204) && (codings > 0 || lengths > 0 && length != 0)
    if hasNoContent { (isUnclear, length, endsHere) = (false, nil, false) }
    if codings > 0 { (length, endsHere) = (nil, false) }
    let isAmbiguous = lengths > 1 || codings > 1 || lengths > 0 && codings > 0 || codings > 0 && isOld
    if isAmbiguous || isForbidden || isUnclear || status == 101 { doubt() }
  }

  private mutating func doubt() { if isHTTP1 { isDoubtful = true } }

  /// Takes a length, which must not differ from an earlier one. A field may have several, in a list.
  private mutating func takeLength(_ field: FieldLine) {
    isLastOurs = true
    endsHere = field.hasBlanks && (lengths == 0 || endsHere)
    var rest = Self.trimmed(field.value)
    let before = lengths
    while !rest.isEmpty {
      let value = Self.trimmed(rest.prefix { $0 != UInt8(ascii: ",") })
      rest = rest.drop { $0 != UInt8(ascii: ",") }.dropFirst()
      if value.isEmpty { continue }
      lengths += 1
      let number = Self.number(value)
      if number == nil || length ?? number != number { isUnclear = true }
      length = number
    }
    if lengths == before { doubt() }
  }

  private mutating func takeCoding(_ field: FieldLine) {
    isLastOurs = true
    codings += 1
    if !Self.trimmed(field.value).lazy.map({ $0 | 0x20 }).elementsEqual("chunked".utf8) { doubt() }
    if field.hasBlanks { isUnclear = true }
  }

  private static func number(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
    let digits = text.drop { $0 == 0x30 }
    guard digits.count <= 18, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static func hasLoneReturn(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let start = line.baseAddress, let found = memchr(start, 0x0D, line.count) else { return false }
    return UnsafeRawPointer(found) - start != line.count - 2
  }

  private static func trimmed(_ value: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var value = value.drop { $0 <= 0x20 }
    while let last = value.last, last <= 0x20 { value.removeLast() }
    return value
  }
}

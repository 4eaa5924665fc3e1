internal import CCurl
internal import Glibc
internal import RedialModel

/// Header fields in libcurl's form, a list of C strings, in memory that the next request reuses.
///
/// Constant lines come first: libcurl searches the list from its start for each field that it would add itself. Not
/// `Sendable`: it belongs to the transfer that libcurl reads it for.
final class FieldList {
  /// A line that is the same for every request, in memory that stays.
  struct Line {
    fileprivate let text: UnsafeMutablePointer<CChar>

    /// - Parameter text: Ends in a zero, as a literal does; libcurl only reads it.
    init(_ text: StaticString) {
      precondition(text.hasPointerRepresentation, "a line of one character")
      self.text = UnsafeMutableRawPointer(mutating: text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// - Parameter text: Ends in a zero, and outlives the list.
    init(_ text: UnsafeMutablePointer<CChar>) { self.text = text }
  }

  private var text = UnsafeMutablePointer<CChar>.allocate(capacity: 1024)
  private var textCapacity = 1024
  private var used = 0
  private var nodes = UnsafeMutablePointer<curl_slist>.allocate(capacity: 16)
  private var nodeCapacity = 16
  /// The list's nodes are those from `start` to `end`.
  private var start = 0
  private var end = 0

  deinit {
    text.deallocate()
    nodes.deallocate()
  }

  /// The list, valid until it is changed; nil for an empty one.
  var first: UnsafeMutablePointer<curl_slist>? { start == end ? nil : nodes + start }

  /// Empties the list and reserves memory: its contents must not move.
  ///
  /// - Parameters:
  ///   - lines: The maximum number of prepended lines.
  ///   - fields: The maximum number of appended fields.
  ///   - bytes: The bytes of the fields' names and values, plus three for each field.
  func begin(lines: Int, fields: Int, bytes: Int) {
    if bytes > textCapacity {
      text.deallocate()
      textCapacity = bytes
      text = .allocate(capacity: bytes)
    }
    if lines + fields > nodeCapacity {
      nodes.deallocate()
      nodeCapacity = lines + fields
      nodes = .allocate(capacity: nodeCapacity)
    }
    (start, end, used) = (lines, lines, 0)
  }

  /// Puts a line before all others.
  func prepend(_ line: Line) {
    precondition(start > 0, "there are more lines than was said")
    start -= 1
    (nodes + start).initialize(to: curl_slist(data: line.text, next: start + 1 == end ? nil : nodes + start + 1))
  }

  /// Appends a field.
  ///
  /// - Returns: The bytes of its name, until the list is emptied.
  @discardableResult
  func append(_ field: HeaderField) -> UnsafeBufferPointer<CChar> {
    let line = text + used
    write(field.name)
    let name = UnsafeBufferPointer(start: line, count: text + used - line)
    // In libcurl's list, a field without a value ends in a semicolon.
    precondition(used + 3 <= textCapacity && end < nodeCapacity, "there are more header fields than was said")
    if field.value.isEmpty {
      text[used] = CChar(UInt8(ascii: ";"))
      used += 1
    } else {
      text[used] = CChar(UInt8(ascii: ":"))
      text[used + 1] = CChar(UInt8(ascii: " "))
      used += 2
      if field.isLatin1 { writeLatin1(field.value) } else { write(field.value) }
    }
    text[used] = 0
    used += 1
    (nodes + end).initialize(to: curl_slist(data: line, next: nil))
    if end > start { nodes[end - 1].next = nodes + end }
    end += 1
    return name
  }

  private func write(_ string: String) {
    // Nearly always the bytes are contiguous, and the string need not be copied.
    if string.utf8.withContiguousStorageIfAvailable({ write($0) }) == nil {
      var string = string
      string.withUTF8 { write($0) }
    }
  }

  /// Its characters are bytes, and so fewer than those of the text in UTF-8.
  private func writeLatin1(_ string: String) {
    for scalar in string.unicodeScalars {
      text[used] = CChar(truncatingIfNeeded: scalar.value)
      used += 1
    }
  }

  private func write(_ bytes: UnsafeBufferPointer<UInt8>) {
    precondition(used + bytes.count < textCapacity, "a header field is longer than what it was said to be")
    guard let base = bytes.baseAddress else { return }
    memcpy(text + used, base, bytes.count)
    used += bytes.count
  }
}

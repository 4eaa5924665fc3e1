internal import CCurl
internal import Glibc
internal import RedialModel

/// Header fields as libcurl wants them, a list of C strings, in memory that is used again for the next request.
///
/// Not `Sendable`: it belongs to the transfer that libcurl reads it for.
final class FieldList {
  private var text = UnsafeMutablePointer<CChar>.allocate(capacity: 1024)
  private var textCapacity = 1024
  private var used = 0
  private var nodes = UnsafeMutablePointer<curl_slist>.allocate(capacity: 16)
  private var nodeCapacity = 16
  private var count = 0

  deinit {
    text.deallocate()
    nodes.deallocate()
  }

  /// The list, for as long as nothing is changed; nil for an empty one.
  var first: UnsafeMutablePointer<curl_slist>? { count == 0 ? nil : nodes }

  /// Empties the list, and sees to it that there is room: what is in it must not move.
  ///
  /// - Parameters:
  ///   - fields: How many will be appended, at most.
  ///   - bytes: How many bytes they have, with a zero behind each.
  func begin(fields: Int, bytes: Int) {
    (count, used) = (0, 0)
    if bytes > textCapacity {
      text.deallocate()
      textCapacity = bytes
      text = .allocate(capacity: bytes)
    }
    if fields > nodeCapacity {
      nodes.deallocate()
      nodeCapacity = fields
      nodes = .allocate(capacity: fields)
    }
  }

  /// Appends a field.
  func append(_ field: HeaderField) {
    let start = used
    write(field.name)
    // In libcurl's list, a field without a value ends in a semicolon.
    if field.value.isEmpty {
      write(";")
    } else {
      write(": ")
      write(field.value)
    }
    link(start)
  }

  /// Appends a whole line.
  func append(line: String) {
    let start = used
    write(line)
    link(start)
  }

  private func write(_ string: String) {
    // Nearly always the bytes lie there, and no copy of the string has to be counted.
    if string.utf8.withContiguousStorageIfAvailable({ write($0) }) == nil {
      var string = string
      string.withUTF8 { write($0) }
    }
  }

  private func write(_ bytes: UnsafeBufferPointer<UInt8>) {
    let end = used
    precondition(end + bytes.count < textCapacity, "a header field is longer than what it was said to be")
    guard let base = bytes.baseAddress else { return }
    memcpy(text + end, base, bytes.count)
    used = end + bytes.count
  }

  private func link(_ start: Int) {
    precondition(used < textCapacity && count < nodeCapacity, "there are more header fields than was said")
    text[used] = 0
    used += 1
    (nodes + count).initialize(to: curl_slist(data: text + start, next: nil))
    if count > 0 { nodes[count - 1].next = nodes + count }
    count += 1
  }
}

internal import Foundation

/// Parses server-sent events from the bytes of a stream (WHATWG HTML, "Server-sent events").
struct EventParser {
  struct Message: Equatable {
    var id: String
    var type: String
    var data: String
  }

  /// The maximum size of a line or an event.
  static let longest = 16 << 20

  private var line: [UInt8] = []
  private var lastByte: UInt8 = 0
  private var type = ""
  private var data = ""
  private var hasData = false
  /// The id of the latest event, even if it had no data.
  private(set) var lastID = ""

  /// Parses further bytes, and returns the events that end in them; nil if one is too long.
  mutating func feed(_ bytes: Data) -> [Message]? {
    var messages: [Message] = []
    for byte in bytes {
      switch byte {
      case 0x0D: end(&messages)
      // The second byte of an end of line.
      case 0x0A: if lastByte != 0x0D { end(&messages) }
      default: line.append(byte)
      }
      lastByte = byte
      if line.count + data.utf8.count > Self.longest { return nil }
    }
    return messages
  }

  private mutating func end(_ messages: inout [Message]) {
    defer { line.removeAll(keepingCapacity: true) }
    if line.isEmpty {
      if hasData { messages.append(Message(id: lastID, type: type, data: data)) }
      (type, data, hasData) = ("", "", false)
      return
    }
    let colon = line.firstIndex(of: 0x3A)
    // A line that begins with a colon is a comment.
    if colon == 0 { return }
    var value = colon.map { line[($0 + 1)...] } ?? []
    if value.first == 0x20 { value.removeFirst() }
    let text = String(decoding: value, as: UTF8.self)
    switch String(decoding: line[..<(colon ?? line.count)], as: UTF8.self) {
    case "id": if !text.contains("\0") { lastID = text }
    case "event": type = text
    case "data":
      data += (hasData ? "\n" : "") + text
      hasData = true
    default: break
    }
  }
}

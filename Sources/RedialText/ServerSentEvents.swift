/// Parses a stream of server-sent events (HTML Living Standard §9.2.6), as far as Redial's service uses the format:
/// lines end with a line feed, and an event's data is one line.
package struct ServerSentEvents: Sendable {
  package struct Event: Sendable, Equatable {
    /// What kind of event it is; empty if the stream does not say.
    package var name = ""
    /// What instances tell each other about it, in a field that others do not know; empty if it is missing.
    package var about: [UInt8] = []
    package var data: [UInt8] = []
  }

  private var line: [UInt8] = []
  private var event = Event()
  private var isTooLong = false
  /// The id of the latest event, from which to continue.
  package private(set) var lastID: String?
  private var id: String?

  /// The maximum length of a line; an event with a longer one is left out.
  private static let longestLine = 4 << 20

  /// Creates a parser of a stream's beginning.
  package init() {}

  /// Begins another connection: incomplete parts of the one before are dropped, and only the id of the last whole event
  /// stays.
  package mutating func begin() {
    let last = lastID
    self = ServerSentEvents()
    lastID = last
  }

  /// Parses a piece of the stream, and returns the events that it completes.
  package mutating func take(_ piece: UnsafeRawBufferPointer) -> [Event] {
    var events: [Event] = []
    for byte in piece {
      if byte != UInt8(ascii: "\n") {
        if line.count < Self.longestLine { line.append(byte) } else { isTooLong = true }
        continue
      }
      if line.isEmpty {
        if let id { lastID = id }
        if !event.data.isEmpty, !isTooLong { events.append(event) }
        event = Event()
        isTooLong = false
      } else if let value = value(of: "id: ") {
        id = String(decoding: value, as: UTF8.self)
      } else if let value = value(of: "data: ") {
        event.data = Array(value)
      } else if let value = value(of: "event: ") {
        event.name = String(decoding: value, as: UTF8.self)
      } else if let value = value(of: "about: ") {
        event.about = Array(value)
      }
      line.removeAll(keepingCapacity: true)
    }
    return events
  }

  private func value(of prefix: StaticString) -> ArraySlice<UInt8>? {
    let count = prefix.utf8CodeUnitCount
    guard line.count >= count, line[..<count].elementsEqual(UnsafeBufferPointer(start: prefix.utf8Start, count: count))
    else { return nil }
    return line[count...]
  }
}

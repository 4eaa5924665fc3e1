internal import HTTPServer
internal import RedialCore
internal import RedialModel

/// One client that listens: its position in the log, and the events that it still needs.
struct EventListener {
  /// Why a listener has not heard everything.
  enum Gap: String {
    /// The event that it named came from an earlier process.
    case restarted
    /// The event that it named is not kept any longer.
    case tooOld
    /// It read too slowly; it is cut off.
    case tooSlow
    /// More happened at a time than the service could tell of.
    case overflow
  }

  let stream: HTTPResponseStream
  /// Whether it listens by an API key.
  let hasKey: Bool
  /// Why it may not listen any longer; nil while it may.
  let mayGoOn: @Sendable () -> Problem?
  /// Whose events it hears.
  let namespace: Namespace
  private let filter: EventFilter
  private let epoch: UInt64
  /// The number of the event that it hears next.
  private var next: UInt64
  private var gap: Gap?
  /// Whether its connection takes more.
  var isWritable = true

  /// Bytes that are written at a time.
  private static let pieceBytes = 64 * 1024

  init(
    stream: HTTPResponseStream, filter: EventFilter, _ caller: Caller, epoch: UInt64, next: UInt64,
    mayGoOn: @escaping @Sendable () -> Problem?
  ) {
    self.stream = stream
    self.filter = filter
    hasKey = caller.keyID != nil
    self.mayGoOn = mayGoOn
    namespace = caller.namespace
    self.epoch = epoch
    self.next = next
  }

  /// Goes on behind an event that it has heard, if that can be.
  mutating func resume(after last: EventID, in log: EventLog) {
    if last.epoch != epoch {
      gap = .restarted
    } else if last.number < log.next, last.number + 1 >= log.first {
      next = last.number + 1
    } else {
      gap = .tooOld
    }
  }

  /// Notes that it will not hear everything.
  mutating func misses(_ reason: Gap) { gap = reason }

  /// Begins the stream: how soon to come back, and from where.
  mutating func greet() { write("retry: 2000\nid: \(position)\n: connected\n\n") }

  /// Shows that the connection lives, and how far the events have come that it did not want.
  mutating func beat() { if isWritable { write("id: \(position)\n: heartbeat\n\n") } }

  /// Ends the stream in order.
  mutating func end(saying why: String) {
    if isWritable { write("id: \(position)\n: \(why)\n\n") }
    stream.end()
  }

  /// Tells what there is, as far as there is room; false when it has been cut off.
  mutating func notify(_ log: EventLog, at now: Timestamp) -> Bool {
    if next < log.first, gap == nil { gap = .tooSlow }
    guard isWritable else { return true }
    if let gap {
      next = max(next, log.first)
      if gap == .overflow { next = log.first }
      write(reset(gap, at: now))
      self.gap = nil
      if gap == .tooSlow {
        stream.end()
        return false
      }
    }
    var piece: [UInt8] = []
    while isWritable, next < log.next {
      let event = log[next]
      next += 1
      if filter.admits(event) {
        piece += "id: \(position)\nevent: \(event.kind.rawValue)\ndata: ".utf8
        piece += event.data
        piece += "\n\n".utf8
      }
      if piece.count >= Self.pieceBytes { flush(&piece) }
    }
    flush(&piece)
    return true
  }

  private var position: String { EventID(epoch: epoch, number: next - 1).text }

  /// What tells a client that it has missed something, and must read anew what it keeps.
  private func reset(_ gap: Gap, at now: Timestamp) -> String {
    var writer = JSONWriter(capacity: 128)
    writer.beginObject()
    writer.field("type", "reset")
    writer.field("timestamp", now)
    writer.key("data")
    writer.beginObject()
    writer.field("reason", gap.rawValue)
    writer.endObject()
    writer.endObject()
    return "id: \(position)\nevent: reset\ndata: \(String(decoding: writer.bytes, as: UTF8.self))\n\n"
  }

  private mutating func flush(_ piece: inout [UInt8]) {
    guard !piece.isEmpty else { return }
    if stream.write(piece) != .free { isWritable = false }
    piece.removeAll(keepingCapacity: true)
  }

  private mutating func write(_ text: String) {
    if stream.write(text.utf8) != .free { isWritable = false }
  }
}

internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialJSON

/// One listening client: its position in the log, and the events that it still needs.
struct EventListener {
  /// Why a listener has missed events.
  enum Gap: String {
    /// The event from which it wanted to continue came from an earlier process.
    case restarted
    /// The event from which it wanted to continue is no longer kept.
    case tooOld
    /// It read too slowly; it is disconnected.
    case tooSlow
    /// More happened at a time than the service could report.
    case overflow
    /// The store could not be read when something had happened.
    case storeUnavailable
    /// An instance on the same store has come, has gone, or could not be reached for a while.
    case instanceChanged
  }

  /// The name of the event by which a listener learns of a gap.
  static let resetName = "reset"

  let stream: HTTPResponseStream
  /// Whether it was admitted by an API key.
  let hasKey: Bool
  /// Returns why it may not continue to listen; nil while it may.
  let mayGoOn: @Sendable () -> Problem?
  let namespace: Namespace
  /// Whether it is another instance, which gets the events of this one alone.
  let isInstance: Bool
  private let filter: EventFilter
  private let epoch: UInt64
  /// The number of its next event.
  private var next: UInt64
  private var gap: Gap?
  /// Whether its connection accepts more bytes.
  var isWritable = true

  /// Bytes that are written at a time.
  private static let pieceBytes = 64 * 1024

  init(
    stream: HTTPResponseStream, filter: EventFilter, _ caller: Caller, isInstance: Bool, epoch: UInt64, next: UInt64,
    mayGoOn: @escaping @Sendable () -> Problem?
  ) {
    self.stream = stream
    self.filter = filter
    hasKey = caller.keyID != nil
    self.mayGoOn = mayGoOn
    namespace = caller.namespace
    self.isInstance = isInstance
    self.epoch = epoch
    self.next = next
  }

  /// Continues after an event that it has received, if possible.
  mutating func resume(after last: EventID, in channel: EventChannel) {
    let first = isInstance ? channel.log.first : max(channel.log.first, channel.wholeFrom)
    if last.epoch != epoch {
      gap = .restarted
    } else if last.number < channel.log.next, last.number + 1 >= first {
      next = last.number + 1
    } else {
      gap = .tooOld
    }
  }

  /// Records that it misses events.
  mutating func misses(_ reason: Gap) { gap = reason }

  /// Begins the stream: when to reconnect, and the position.
  mutating func greet() { write("retry: 2000\nid: \(position)\n: connected\n\n") }

  /// Sends a heartbeat, with the position after the events that it did not want.
  mutating func beat() { if isWritable { write("id: \(position)\n: heartbeat\n\n") } }

  /// Ends the stream normally.
  mutating func end(saying why: String) {
    if isWritable { write("id: \(position)\n: \(why)\n\n") }
    stream.end()
  }

  /// Sends available events while its connection accepts bytes; false if it was disconnected.
  mutating func notify(_ log: EventLog, at now: Timestamp) -> Bool {
    if next < log.first, gap == nil { gap = .tooSlow }
    guard isWritable else { return true }
    if let gap {
      next = max(next, log.first)
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
      if event.audience != (isInstance ? .clients : .instances), filter.admits(event) {
        piece += "id: \(position)\nevent: \(event.type.rawValue)\n".utf8
        if isInstance { piece += "about: ".utf8 + event.about + "\n".utf8 }
        piece += "data: ".utf8
        piece += event.data
        piece += "\n\n".utf8
      }
      if piece.count >= Self.pieceBytes { flush(&piece) }
    }
    flush(&piece)
    return true
  }

  private var position: String { EventID(epoch: epoch, number: next - 1).text }

  /// An event by which a client learns that it has missed events, and must read its data again.
  private func reset(_ gap: Gap, at now: Timestamp) -> String {
    var writer = JSONWriter(capacity: 128)
    writer.beginObject()
    writer.field("type", Self.resetName)
    writer.field("timestamp", now)
    writer.key("data")
    writer.beginObject()
    writer.field("reason", gap.rawValue)
    writer.endObject()
    writer.endObject()
    return "id: \(position)\nevent: \(Self.resetName)\ndata: \(String(decoding: writer.bytes, as: UTF8.self))\n\n"
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

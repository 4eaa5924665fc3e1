internal import RedialModel

/// The latest events, numbered without a gap, for listeners that are behind or reconnect.
///
/// Adding takes constant time, amortised; so does finding an event by its number.
struct EventLog {
  private let maxCount: Int
  /// The maximum size of the events in bytes, checked when one is added.
  var maxBytes: Int
  private var events: [StreamedEvent] = []
  /// How many of the first of `events` were removed.
  private var dropped = 0
  private var bytes = 0
  /// The number of the first event in the log, or of the next one if it is empty.
  private(set) var first: UInt64 = 1

  init(maxCount: Int, maxBytes: Int) {
    self.maxCount = max(1, maxCount)
    self.maxBytes = maxBytes
  }

  /// The number of events in the log.
  var count: Int { events.count - dropped }
  /// The number that the next event will have.
  var next: UInt64 { first + UInt64(count) }

  /// The event with a number between `first` and `next`.
  subscript(_ number: UInt64) -> StreamedEvent { events[dropped + Int(number - first)] }

  /// Adds an event; the oldest are removed if there are too many. The latest always stays.
  mutating func append(_ event: StreamedEvent) {
    events.append(event)
    bytes += event.data.count
    while count > maxCount || (bytes > maxBytes && count > 1) {
      bytes -= events[dropped].data.count
      dropped += 1
      first += 1
    }
    if dropped > 1024, dropped > events.count / 2 {
      events.removeFirst(dropped)
      dropped = 0
    }
  }

  /// Removes erased content of a call from its events.
  ///
  /// - Complexity: O(*n*) in the number of kept events.
  mutating func erase(_ id: CallID, keeping spec: CallSpec, _ redaction: Redaction) {
    for index in dropped..<events.count where events[index].call?.id == id {
      let erased = events[index].erased(keeping: spec, redaction)
      bytes += erased.data.count - events[index].data.count
      events[index] = erased
    }
  }

  /// Removes all events, and leaves a gap in the numbers for events that are not recorded from now on.
  mutating func interrupt() {
    first = next + 1
    events = []
    (dropped, bytes) = (0, 0)
  }
}

/// Identifies an event for `Last-Event-ID`: the process that sent it, and its number there.
struct EventID: Sendable, Equatable {
  /// When the process began, in microseconds since 1970.
  var epoch: UInt64
  var number: UInt64

  init(epoch: UInt64, number: UInt64) {
    self.epoch = epoch
    self.number = number
  }

  /// Reads the value of `text`; nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let epoch = UInt64(parts[0], radix: 16), let number = UInt64(parts[1]) else { return nil }
    self.init(epoch: epoch, number: number)
  }

  var text: String { "\(String(epoch, radix: 16))-\(number)" }
}

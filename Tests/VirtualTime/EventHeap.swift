internal import RedialCore

/// Future events, the earliest first; events at one time, in the order in which they were added.
struct EventHeap<Event> {
  private struct Entry {
    var at: Timestamp
    var order: UInt64
    var event: Event

    func isBefore(_ other: Entry) -> Bool { at != other.at ? at < other.at : order < other.order }
  }

  private var entries: [Entry] = []
  private var order: UInt64 = 0

  /// The time of the first event; nil if there is none.
  var first: Timestamp? { entries.first?.at }

  /// The first event; nil if there is none.
  var firstEvent: Event? { entries.first?.event }

  mutating func add(_ event: Event, at time: Timestamp) {
    order += 1
    entries.append(Entry(at: time, order: order, event: event))
    var index = entries.count - 1
    while index > 0, entries[index].isBefore(entries[(index - 1) / 2]) {
      entries.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Removes the first event; nil if there is none.
  mutating func next() -> (event: Event, at: Timestamp)? {
    guard let first = entries.first, let last = entries.popLast() else { return nil }
    if !entries.isEmpty {
      entries[0] = last
      var index = 0
      while true {
        let left = 2 * index + 1
        guard left < entries.count else { break }
        let right = left + 1
        let least = right < entries.count && entries[right].isBefore(entries[left]) ? right : left
        guard entries[least].isBefore(entries[index]) else { break }
        entries.swapAt(index, least)
        index = least
      }
    }
    return (first.event, first.at)
  }
}

/// The places of a half-open breaker's probes: the holder of each, and until when.
struct ProbePlaces: Sendable, Hashable {
  /// The holder of a place. A place has several holders over time, so the number of the place alone does not identify
  /// one.
  struct Holder: Sendable, Hashable {
    fileprivate var index: Int
    fileprivate var serial: UInt64
  }

  private struct Place: Sendable, Hashable {
    /// The holder's number; 0 for none.
    var serial: UInt64 = 0
    var expiry = Timestamp.distantFuture

    func isOver(at now: Timestamp) -> Bool { serial != 0 && expiry <= now }
  }

  private var places: [Place]
  private var serial: UInt64 = 0

  /// A number of places, all free.
  init(_ count: Int) {
    places = Array(repeating: Place(), count: count)
  }

  /// Takes a free place until `expiry`; nil if there is none.
  mutating func take(until expiry: Timestamp) -> Holder? {
    guard let index = places.firstIndex(where: { $0.serial == 0 }) else { return nil }
    serial += 1
    places[index] = Place(serial: serial, expiry: expiry)
    return Holder(index: index, serial: serial)
  }

  /// Gives a place back; false if the holder no longer has it.
  mutating func giveBack(_ holder: Holder) -> Bool {
    guard places[holder.index].serial == holder.serial else { return false }
    places[holder.index] = Place()
    return true
  }

  /// Whether the time of a holder has passed.
  func hasOver(at now: Timestamp) -> Bool { places.contains { $0.isOver(at: now) } }

  /// Frees the places whose time has passed, and limits all others to `latest`, which matters only if the clock has
  /// gone back.
  ///
  /// - Returns: How many it has freed.
  mutating func freeOver(at now: Timestamp, latest: Timestamp) -> Int {
    var freed = 0
    for index in places.indices where places[index].serial != 0 {
      if places[index].isOver(at: now) {
        places[index] = Place()
        freed += 1
      } else {
        places[index].expiry = min(places[index].expiry, latest)
      }
    }
    return freed
  }

  mutating func freeAll() {
    for index in places.indices { places[index] = Place() }
  }
}

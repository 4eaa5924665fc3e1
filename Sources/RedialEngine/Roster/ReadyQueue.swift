internal import RedialModel

/// The due calls of a target in memory: highest priority first, and in order of arrival within one priority.
///
/// So that none starves, every tenth call to leave is the one that has been ready longest, whatever its priority. So
/// the oldest of *n* leaves after at most 10 *n* others.
struct ReadyQueue: Sendable {
  /// A place in the queue; void if the call's stamp has changed.
  struct Place: Sendable {
    var id: CallID
    var stamp: UInt32
    var priority: Int
  }

  /// One in this many leaves by age.
  static let ageInterval = 10

  /// Calls of the default priority, as long as there are no others.
  private var usual = Queue<Place>()
  /// Calls by priority, once there are others.
  private var levels: [Queue<Place>] = []
  private var sinceByAge = 0

  mutating func append(_ place: Place) {
    if levels.isEmpty {
      if place.priority == CallSpec.defaultPriority { return usual.append(place) }
      levels = Array(repeating: Queue(), count: CallSpec.priorities.count)
      swap(&usual, &levels[CallSpec.defaultPriority])
    }
    levels[place.priority].append(place)
  }

  /// The next place to leave; void ones are dropped.
  mutating func first(in calls: CallTable) -> Place? {
    if levels.isEmpty { return Self.first(&usual, calls) }
    var next: Place?
    for level in levels.indices.reversed() {
      guard let place = Self.first(&levels[level], calls) else { continue }
      guard let best = next else {
        next = place
        // By age only every tenth time; otherwise the highest priority.
        if sinceByAge < Self.ageInterval - 1 { return place }
        continue
      }
      if place.isOlder(than: best) { next = place }
    }
    if next == nil { levels = [] }
    return next
  }

  /// Takes out the place that ``first(in:)`` returned.
  mutating func remove(_ place: Place) {
    if levels.isEmpty {
      _ = usual.popFirst()
    } else {
      _ = levels[place.priority].popFirst()
      sinceByAge = (sinceByAge + 1) % Self.ageInterval
    }
  }

  /// Takes out the newest of the lowest priority, if that is below this one.
  mutating func removeLast(below priority: Int, in calls: CallTable) -> Place? {
    if levels.isEmpty {
      return priority > CallSpec.defaultPriority ? Self.popLast(&usual, calls) : nil
    }
    for level in 0..<min(priority, levels.count) {
      if let place = Self.popLast(&levels[level], calls) { return place }
    }
    return nil
  }

  /// Its places, in order except for those that leave by age; void places included.
  var contents: [Place] {
    levels.isEmpty ? Array(usual.contents) : levels.reversed().flatMap { Array($0.contents) }
  }

  private static func first(_ queue: inout Queue<Place>, _ calls: CallTable) -> Place? {
    while let place = queue.first {
      if calls.stamp(of: place.id) == place.stamp { return place }
      _ = queue.popFirst()
    }
    return nil
  }

  private static func popLast(_ queue: inout Queue<Place>, _ calls: CallTable) -> Place? {
    while let place = queue.popLast() {
      if calls.stamp(of: place.id) == place.stamp { return place }
    }
    return nil
  }
}

extension ReadyQueue.Place {
  /// Whether it is more urgent, or older with equal urgency.
  func goesBefore(_ other: Self) -> Bool {
    priority == other.priority ? isOlder(than: other) : priority > other.priority
  }

  /// Whether it became ready earlier; stamps wrap around.
  func isOlder(than other: Self) -> Bool {
    Int32(bitPattern: stamp &- other.stamp) < 0
  }
}

internal import RedialCore
internal import RedialJSON

/// What held an attempt back after it was due: the last thing first, each until the one before it began.
///
/// Of a call that was loaded from its target's queue the engine does not know since when it was due. So this may reach further
/// back, and whoever knows cuts it.
public struct HeldTimes: Sendable, Hashable {
  /// What held it back, the last first. Of those beyond ``most`` the order is not kept, but each reason has its time.
  public private(set) var parts: [WaitTimes.Part] = []
  /// What held it back before that; nil if that is the service itself, or if there was nothing before.
  public var before: WaitReason?
  /// Whether it reaches no further back.
  public private(set) var isExact: Bool

  /// The number of parts up to which each change of the reason is one. There are no more reasons than that.
  public static let most = 12

  /// Creates the times of an attempt that something has held back.
  public init(before: WaitReason? = nil, isExact: Bool = false) {
    self.before = before
    self.isExact = isExact || before != nil
  }

  /// Adds what held it back before all that was added.
  public mutating func add(_ reason: WaitReason?, _ time: Duration) {
    let same = parts.lastIndex { $0.reason == reason }
    if let same, parts.count >= Self.most || same == parts.count - 1 {
      parts[same].time += time
    } else {
      parts.append(WaitTimes.Part(reason, time))
    }
  }

  /// How long it waited for what.
  public func times() -> WaitTimes {
    var times = WaitTimes()
    for part in parts { times.add(part.reason, part.time) }
    return times
  }

  /// How long it waited for what, of the time just before its start.
  func times(within time: Duration) -> WaitTimes {
    var times = WaitTimes()
    var left = time
    for part in parts {
      times.add(part.reason, min(part.time, left))
      left -= min(part.time, left)
    }
    // The clocks that the planned wait and the start were read from differ a little.
    if left >= WaitTimes.least { times.add(before, left) }
    return times
  }

  // MARK: As it is stored

  /// Writes an array of numbers, because many attempts may have it when a service is busy: for each part its reason, 0 for the
  /// service itself, and its time in milliseconds; at the end the reason before all of them,
  /// or −1 if it may reach further back.
  func write(to writer: inout JSONWriter) {
    writer.beginArray()
    for part in parts {
      writer.integer(Int64(part.reason?.rawValue ?? 0))
      writer.integer((part.time.wholeMicroseconds + 500) / 1000)
    }
    if let before { writer.integer(Int64(before.rawValue)) } else if !isExact { writer.integer(Self.inexact) }
    writer.endArray()
  }

  /// Reads what ``write(to:)`` wrote. Reasons of a newer version are taken for the service.
  init(from reader: inout JSONReader) throws(JSONError) {
    self.init(isExact: true)
    var reason: Int64?
    try reader.beginArray()
    while try reader.nextElement() {
      let number = try reader.integer()
      if let known = reason {
        add(Self.reason(known), .milliseconds(number))
        reason = nil
      } else {
        reason = number
      }
    }
    isExact = reason != Self.inexact
    before = reason.flatMap(Self.reason)
  }

  private static let inexact: Int64 = -1

  private static func reason(_ number: Int64) -> WaitReason? {
    UInt8(exactly: number).flatMap { WaitReason(rawValue: $0) }
  }
}

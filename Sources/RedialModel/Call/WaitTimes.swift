internal import RedialCore
internal import RedialJSON

/// How long a call waited for what.
public struct WaitTimes: Sendable, Hashable {
  /// A time that it waited.
  public struct Part: Sendable, Hashable {
    /// For what; nil for the service itself: it had stopped, or had not taken the target over yet.
    public var reason: WaitReason?
    public var time: Duration

    /// Creates a part.
    public init(_ reason: WaitReason?, _ time: Duration) {
      self.reason = reason
      self.time = time
    }

    /// The word of the reason.
    public var word: StaticString { reason?.name ?? Self.service }

    static let service: StaticString = "service"
  }

  /// One for each reason, in the order of their first times.
  public private(set) var parts: [Part] = []

  /// Creates times of a call that has not waited.
  public init() {}

  /// Creates the sums of times.
  init(_ times: [WaitTimes]) {
    for times in times { add(times) }
  }

  /// All of the time.
  var total: Duration { parts.reduce(.zero) { $0 + $1.time } }

  /// The time that it waited for something.
  public subscript(reason: WaitReason?) -> Duration { parts.first { $0.reason == reason }?.time ?? .zero }

  /// Adds a time that is longer than nothing.
  public mutating func add(_ reason: WaitReason?, _ time: Duration) {
    guard time > .zero else { return }
    if let place = parts.firstIndex(where: { $0.reason == reason }) {
      parts[place].time += time
    } else {
      parts.append(Part(reason, time))
    }
  }

  /// Adds other times.
  public mutating func add(_ others: WaitTimes) {
    for part in others.parts { add(part.reason, part.time) }
  }

  /// Writes an object with a member for each reason, in milliseconds.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    for part in parts {
      let milliseconds = (part.time.wholeMicroseconds + 500) / 1000
      if milliseconds > 0 { writer.field(part.word, .milliseconds(milliseconds)) }
    }
    writer.endObject()
  }
}

// MARK: - Of the attempts of a call

extension WaitTimes {
  /// A shorter wait is not looked into: it is for the start itself.
  public static let least = Duration.milliseconds(100)

  /// How long a call waited before each of its attempts, since the end of the one before, or since its acceptance.
  ///
  /// - Parameter attempts: Its attempts in order; some may be missing.
  public static func before(_ attempts: [AttemptRecord], of call: CallRecord) -> [WaitTimes] {
    var previous: AttemptRecord?
    return attempts.map { attempt in
      defer { previous = attempt }
      let held = attempt.decision?.held
      var times = WaitTimes()
      var left: Duration?
      if attempt.number == call.progress.attemptsBefore + 1 {
        // The first of this round, or of all.
        let start = call.progress.roundStartedAt
        if attempt.number == 1 { times.add(.startTime, start - call.createdAt) }
        left = attempt.startedAt - start
      } else if let previous, attempt.number == previous.number + 1 {
        let gap = attempt.startedAt - previous.end
        var planned = min(gap, previous.plannedWait ?? .zero)
        if let held, held.isExact, held.before == nil {
          // A manual retry may have ended the planned wait early.
          let others = held.times().total
          if planned + others - gap >= least { planned = max(.zero, gap - others) }
        }
        times.add(previous.decision?.waitsFor ?? .backoff, planned)
        // What follows a final decision is the time until a manual retry, of which nothing is known here.
        if previous.plannedWait != nil { left = gap - planned }
      }
      if let held {
        times.add(left.map(held.times(within:)) ?? (held.isExact ? held.times() : WaitTimes()))
      } else if let left, left >= least {
        times.add(nil, left)
      }
      return times
    }
  }
}

extension AttemptRecord {
  /// When it ended.
  var end: Timestamp { startedAt + duration }

  /// The wait that was decided on at its end; nil if the call was not to be retried, or that is unknown.
  fileprivate var plannedWait: Duration? {
    switch decision?.action {
    case .retry(let wait)?: wait
    case .park(let time)?: max(.zero, time - end)
    case .succeed?, .stop?, nil: nil
    }
  }
}

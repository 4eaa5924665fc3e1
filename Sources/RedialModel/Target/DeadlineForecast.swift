public import RedialCore

/// How many calls of a target's backlog will miss their deadlines, if the target goes on as it does now.
///
/// It is arithmetic. The calls of the backlog start one after the other, at the rate at which they end now. A call whose
/// deadline passes before it would start is missed, and the next one starts in its stead. Calls that are not due yet,
/// and those that wait for an earlier one with the same ordering key, are left out.
public struct DeadlineForecast: Sendable, Hashable {
  /// Calls of the backlog that end per second.
  public let perSecond: Double
  private var started = 0.0
  private var missed = 0.0

  /// Steps in which calls are counted of which only the first and the last deadline are known.
  private static let steps = 1000

  /// - Parameter perSecond: Calls of the backlog that end per second; nil is returned unless it is above 0.
  public init?(perSecond: Double) {
    guard perSecond > 0, perSecond.isFinite else { return nil }
    self.perSecond = perSecond
  }

  /// About how many calls will miss their deadlines.
  public var missing: Int { Int(missed.rounded()) }

  /// ``perSecond`` with two digits after the point.
  public var shownRate: Double { (perSecond * 100).rounded() / 100 }

  /// Adds the next calls of the backlog, in the order in which they start.
  ///
  /// - Parameters:
  ///   - deadline: When they have to start at the latest.
  ///   - calls: How many there are.
  public mutating func add(_ deadline: Timestamp, calls: Double = 1, at now: Timestamp) {
    if now.microseconds + Int64(min(started / perSecond * 1e6, 1e15)) > deadline.microseconds {
      missed += calls
    } else {
      started += calls
    }
  }

  /// Adds calls of which the first deadlines are known, and the last. Between them the deadlines are taken to be evenly
  /// spread.
  ///
  /// - Parameters:
  ///   - first: Of the first calls, in the order in which they start.
  ///   - last: Of the call that starts last.
  ///   - count: How many calls there are in all.
  public mutating func add(_ first: [Timestamp], last: Timestamp?, count: Int, at now: Timestamp) {
    for deadline in first.prefix(max(0, count)) { add(deadline, at: now) }
    let rest = count - first.count
    guard rest > 0, let last, let known = first.last else { return }
    let steps = min(Self.steps, rest)
    let width = Double(last.microseconds - known.microseconds)
    for step in 1...steps {
      let between = known.microseconds + Int64(width * Double(step) / Double(steps))
      add(Timestamp(microseconds: between), calls: Double(rest) / Double(steps), at: now)
    }
  }
}

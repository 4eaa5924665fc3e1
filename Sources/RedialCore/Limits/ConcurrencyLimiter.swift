/// Limits how many requests to a target are in flight at once, and finds the right number by itself.
///
/// A target that slows down gets fewer, one that answers as fast as before gets more. The algorithms are those of
/// Netflix's concurrency-limits. Nothing is allocated.
///
/// ```swift
/// var limiter = ConcurrencyLimiter(.vegas())
/// guard limiter.acquire() else { return refuse() }
/// // Make the request.
/// limiter.release(.success(took: elapsed))
/// ```
public struct ConcurrencyLimiter: Sendable, Hashable {
  /// How the limit is found.
  public enum Algorithm: Sendable, Hashable {
    /// The limit does not change.
    case fixed
    /// One more for a success, a tenth less for a drop.
    case aimd(AIMDLimit = AIMDLimit())
    /// By the length of the queue, estimated from the shortest time.
    case vegas(VegasLimit = VegasLimit())
    /// By the trend of the times.
    case gradient2(Gradient2Limit = Gradient2Limit())
  }

  /// The result of a request.
  public enum Outcome: Sendable, Hashable {
    /// It was answered, after this time.
    case success(took: Duration)
    /// It was refused for overload, or timed out.
    case dropped
    /// It says nothing about the target's capacity: cancelled, or failed on this side. The limit stays.
    case ignored
  }

  /// The maximum of any limit.
  public static let most = 1_000_000_000

  /// How many may be in flight now, ``minimum``...``maximum``.
  public var limit: Int { Int(estimate) }
  /// How many are in flight. More than ``limit`` only after the limit fell below them.
  public private(set) var inFlight = 0
  /// The minimum of the limit, 1...``most``.
  public let minimum: Int
  /// The maximum of the limit, ``minimum``...``most``.
  public let maximum: Int

  private var algorithm: Algorithm
  /// The limit before it is cut to a whole number; within the bounds.
  private var estimate: Double

  /// A limiter with nothing in flight. Limits and the initial limit are clamped to a sensible range.
  public init(_ algorithm: Algorithm, initial: Int = 20, minimum: Int = 1, maximum: Int = 1000) {
    self.minimum = min(max(1, minimum), Self.most)
    self.maximum = min(max(self.minimum, maximum), Self.most)
    self.algorithm = algorithm
    estimate = Double(min(max(self.minimum, initial), self.maximum))
  }

  /// Takes a place for one request, if there is one; must be followed by ``release(_:)``.
  ///
  /// `bound` is a lower limit for now, such as ``SlowStart/limit(of:at:)``.
  public mutating func acquire(within bound: Int = .max) -> Bool {
    guard inFlight < min(limit, bound) else { return false }
    inFlight += 1
    return true
  }

  /// Gives a place back, with the result of its request. Without a taken place it changes nothing.
  public mutating func release(_ outcome: Outcome) {
    guard inFlight > 0 else { return }
    let next = judged(outcome)
    inFlight -= 1
    estimate = min(max(next, Double(minimum)), Double(maximum))
  }

  private mutating func judged(_ outcome: Outcome) -> Double {
    let microseconds: Double?
    switch outcome {
    case .ignored: return estimate
    case .dropped: microseconds = nil
    case .success(let took): microseconds = Double(max(1, took.wholeMicroseconds))
    }
    let sample = LimitSample(inFlight: inFlight, microseconds: microseconds)
    switch algorithm {
    case .fixed:
      return estimate
    case .aimd(let rule):
      return rule.next(after: estimate, sample)
    case .vegas(var rule):
      defer { algorithm = .vegas(rule) }
      return rule.next(after: estimate, sample)
    case .gradient2(var rule):
      defer { algorithm = .gradient2(rule) }
      return rule.next(after: estimate, sample)
    }
  }
}

/// The end of one request, as far as the search for a limit needs it.
struct LimitSample {
  /// How many were in flight, including this one.
  var inFlight: Int
  /// How long it took, 1 µs or more; nil if it was dropped.
  var microseconds: Double?

  /// Whether at least half of the limit was in use: only then does a success show that more would work too.
  func uses(halfOf limit: Double) -> Bool {
    Double(inFlight) * 2 >= limit
  }
}

internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Targets that answer, fail, are slow, ask for a pause, send false headers, never answer, and are down for a while.
struct SimulatedNetwork {
  /// An attempt in flight.
  struct Exchange {
    var start: AttemptStart
    var startedAt: Timestamp
    var result: AttemptResult
  }

  /// The behavior of a target.
  struct Target {
    var key: TargetKey
    var latency: ClosedRange<Double>
    /// How often it fails when it is up.
    var failureRate: Double
    var outages: [Range<Timestamp>]
    /// It never answers.
    var hangs = false
    /// It refuses requests beyond this.
    var capacity: RateLimiter?

    /// Whether it shares its host and port with others.
    var sharesOrigin = false

    var url: String { sharesOrigin ? "http://shared/" + key.bare.dropFirst("http://".count) : key.bare }
  }

  /// By URL.
  var targets: [String: Target] = [:]
  /// All targets are healthy.
  var isHealed = false
  private(set) var exchanges: [CallID: Exchange] = [:]
  /// The calls of which a target has perhaps executed an attempt, and the number of the first one.
  private(set) var executed: [CallID: Int] = [:]

  /// Begins an exchange; returns when it ends by itself.
  ///
  /// - Parameter isInStore: Whether the store has its start.
  mutating func start(
    _ start: AttemptStart, isInStore: Bool, at now: Timestamp, _ random: inout RandomSource
  ) -> Timestamp {
    let id = start.call.id
    var result = AttemptResult(outcome: .answered, duration: .zero)
    let target = targets[start.call.spec.url]
    let isDown = target?.outages.contains { $0.contains(now) } ?? false
    let fails = !isHealed && (isDown ? random.chance(0.95) : random.chance(target?.failureRate ?? 0))
    result.duration = random.duration(target?.latency ?? 1...50)
    if fails { Self.fail(&result, &random) } else { result.status = random.pick([200, 201, 204]) }
    if case .rejected? = targets[start.call.spec.url]?.capacity?.acquire(at: now) {
      result.status = 429
      result.duration = .milliseconds(1)
    }
    if result.outcome == .answered, result.response == nil, result.status == 429 || !fails {
      if let left = targets[start.call.spec.url]?.capacity?.available(at: now) {
        result.response = Self.response("RateLimit: \"burst\";r=\(left);t=1\r\n")
      } else if start.call.spec.url.hasSuffix("1") {
        // That quota is another one, or is not enforced.
        result.response = Self.response("X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 20\r\n")
      }
    }
    if target?.hangs == true, !isHealed { result.duration = .longest }
    if result.duration >= start.timeout {
      result.duration = start.timeout
      Self.set(&result, .maybeSent, "timeout")
    }
    if Self.mayExecute(result), isInStore, executed[id] == nil { executed[id] = start.number }
    exchanges[id] = Exchange(start: start, startedAt: now, result: result)
    return now + result.duration
  }

  private static func fail(_ result: inout AttemptResult, _ random: inout RandomSource) {
    switch random.pick(0...12) {
    case 0, 1: set(&result, .notSent, "connectionRefused")
    case 2: set(&result, .maybeSent, "connectionReset")
    case 3:
      set(&result, .maybeSent, "timeout")
      result.duration = .longest
    case 4: set(&result, .localFault, "noFileDescriptors")
    case 5:
      result.status = 429
      result.response = response("Retry-After: \(random.pick(0...4))\r\n")
    case 6:
      result.status = 503
      result.response = response("retry-after: \(random.chance(0.2) ? 45 : random.pick(1...12))\r\n")
    case 7: result.status = random.pick([400, 404, 410])
    case 8:
      result.status = random.pick([429, 503])
      result.response = response("retry-after: \(random.pick(lies))\r\n")
    default: result.status = random.pick([500, 502, 503, 504])
    }
  }

  /// Values of Retry-After that are impossible or must not be believed.
  private static let lies = [
    "-5", "soon", "", "1e3", "inf", "0x10", "999999999", "99999999999999999999999", "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 32 Foo 2026 25:61:61 GMT",
  ]

  private static func response(_ head: String) -> CapturedResponse {
    CapturedResponse(head: HeaderBlock(bytes: Array(head.utf8)), body: [], truncated: false)
  }

  private static func set(_ result: inout AttemptResult, _ outcome: OutcomeClass, _ code: String) {
    result.outcome = outcome
    result.status = nil
    result.response = nil
    result.failure = AttemptFailure(code: code, message: "simulated")
    if code == "timeout" || code == "cancelled" { result.figures = ExchangeFigures(phase: .request) }
  }

  private static func mayExecute(_ result: AttemptResult) -> Bool {
    switch result.outcome {
    case .answered: ![400, 404, 410, 429].contains(result.status)
    case .notSent, .localFault: false
    default: true
    }
  }

  /// Aborts a call's exchange; returns whether it had one.
  mutating func abort(_ id: CallID, at now: Timestamp) -> Int? {
    guard var exchange = exchanges[id] else { return nil }
    Self.set(&exchange.result, .cancelled, "cancelled")
    exchange.result.duration = now - exchange.startedAt
    exchanges[id] = exchange
    return exchange.start.number
  }

  /// Ends an exchange; nil if it has ended before.
  mutating func end(_ id: CallID, number: Int) -> AttemptResult? {
    guard let exchange = exchanges[id], exchange.start.number == number else { return nil }
    exchanges[id] = nil
    return exchange.result
  }

  /// The store has lost its last changes: nobody can know of an attempt whose start was among them (docs/guarantees.md).
  mutating func wentBack(to store: SimulatedStore) {
    executed = executed.filter { id, first in first <= store.rows[id]?.record.progress.attempts ?? 0 }
  }

  /// The process has died, and its connections with it.
  mutating func drop() {
    exchanges = [:]
  }
}

internal import RedialCore
internal import RedialForecast
internal import RedialJSON
internal import RedialModel
internal import RedialText

/// A forecast for a target: what it assumes, and what it says.
struct TargetForecast: Sendable {
  /// Where an assumed figure comes from, in the words of the API.
  enum Source: String, Sendable {
    case given
    case settings
    case measured
    case unknown
    case newestCall
    case standard = "default"
  }

  /// The target when it was asked for.
  let target: TargetSnapshot
  private let sampled: Int
  private let isComplete: Bool
  private var arrivals = Source.measured
  private var capacity = Source.unknown
  private var latency = Source.standard
  private var success = Source.unknown
  private var rate = Source.settings
  private var concurrency = Source.settings
  private let policy: Source
  /// What it starts from.
  private(set) var load: LiveLoad
  /// The result; nil while an operator holds the target.
  private(set) var result: DrainForecast?

  /// - Parameters:
  ///   - target: The target, with its waiting calls in the store counted.
  init(_ question: ForecastQuestion, _ target: TargetSnapshot, _ sample: BacklogSample) {
    self.target = target
    sampled = sample.count
    isComplete = sample.isComplete && target.backlog.isComplete
    policy = sample.newest == nil ? .standard : .newestCall
    let now = target.time
    let counts = target.backlog.counts
    let others = (counts[.ordering] ?? 0) + target.waiting
    load = LiveLoad(
      now: now, due: target.waiting, later: max(0, target.backlog.total - others), dueSample: sample.due,
      laterSample: sample.later, arrivals: target.arrivals.perSecond(at: now), policy: sample.newest ?? .service,
      settings: target.settings, pace: target.pace, pausedUntil: target.retryAfterUntil,
      returnsAt: question.returnsAt)
    switch target.breaker {
    case .closed: break
    case .open, .halfOpen: load.openUntil = OpenBreaker(until: target.openUntil ?? now, trips: target.trips)
    }
    measure()
    assume(question)
  }

  /// Takes latency, capacity and failures from what was measured.
  private mutating func measure() {
    let recent = target.recent.tally(over: .fiveMinutes, at: target.time)
    if let usual = target.pace?.usualTime {
      (load.latency, latency) = (usual, .measured)
    } else if let mean = recent.mean, recent.successes > 0 {
      (load.latency, latency) = (mean, .measured)
    }
    if let pace = target.pace, pace.full > 0 {
      (load.capacity, capacity) = (pace.full, .measured)
      load.overload = pace.reason == .queued ? .queue(longest: .seconds(60)) : .refuse(retryAfter: false)
    }
    // Under overload, or in an outage, failures say nothing about those of a target that works.
    if target.breaker == .closed, target.pace?.rate == nil, recent.attempts >= Self.enough {
      (load.failing, success) = (min(0.95, Double(recent.failures) / Double(recent.attempts)), .measured)
    }
  }

  /// Attempts from which a share of failures is computed.
  private static let enough = 20

  private mutating func assume(_ question: ForecastQuestion) {
    if let given = question.arrivals { (load.arrivals, arrivals) = (given, .given) }
    if let given = question.capacity { (load.capacity, capacity) = (given, .given) }
    if let given = question.rate { (load.settings.ratePerSecond, rate) = (given, .given) }
    if let given = question.concurrency { (load.settings.maxInFlight, concurrency) = (given, .given) }
  }

  /// The forecast with its result.
  ///
  /// - Parameter mostAttempts: The number of attempts at which the simulation ends.
  func computed(mostAttempts: Int) -> TargetForecast {
    guard !target.isPaused, !target.isTripped else { return self }
    var forecast = self
    forecast.result = load.forecast(mostAttempts: mostAttempts)
    return forecast
  }

  // MARK: JSON

  /// Writes it as one object.
  func write(accuracy: ForecastAccuracy, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("target", target.key.bare)
    writer.field("at", load.now)
    writer.key("backlog")
    writer.beginObject()
    writer.field("due", load.due)
    writer.field("later", load.later)
    writer.field("isComplete", target.backlog.isComplete)
    writer.endObject()
    writer.field("drainedAt", result?.drainsIn.map { load.now + $0 })
    Self.write("drainsIn", result?.drainsIn, to: &writer)
    let obstacle = target.isPaused ? "paused" : target.isTripped ? "tripped" : result?.obstacle?.rawValue
    writer.field("obstacle", obstacle)
    writer.field("peakBacklog", result?.peak ?? load.due)
    writer.field("missesDeadline", result?.missesDeadline ?? 0)
    writer.field("failsOtherwise", result?.failed.values.reduce(0, +) ?? 0)
    writer.field("attempts", result?.attempts ?? 0)
    writer.field("refusedAttempts", result?.refused ?? 0)
    writer.field("simulatedAttempts", result?.simulatedAttempts ?? 0)
    writer.field("isExtrapolated", result?.isExtrapolated ?? false)
    writer.key("assumptions")
    writeAssumptions(to: &writer)
    writer.key("points")
    writer.beginArray()
    for point in result?.points ?? [] {
      writer.beginObject()
      writer.field("after", point.after)
      writer.field("backlog", point.backlog)
      writer.field("attemptsPerSecond", Self.rounded(point.attemptsPerSecond))
      writer.endObject()
    }
    writer.endArray()
    writer.key("accuracy")
    accuracy.write(to: &writer)
    writer.endObject()
  }

  private func writeAssumptions(to writer: inout JSONWriter) {
    func number(_ name: String, _ value: Double?, _ source: Source) {
      writer.key(name)
      writer.beginObject()
      writer.key("value")
      if let value { writer.double(Self.rounded(value)) } else { writer.null() }
      writer.field("from", source.rawValue)
      writer.endObject()
    }
    writer.beginObject()
    writer.field("returnsAt", load.returnsAt)
    number("arrivalsPerSecond", load.arrivals, arrivals)
    number("capacityPerSecond", load.capacity, capacity)
    number("successRate", 1 - load.failing, success)
    number("ratePerSecond", load.settings.ratePerSecond > 0 ? load.settings.ratePerSecond : nil, rate)
    number("concurrency", Double(load.settings.maxInFlight), concurrency)
    writer.key("latency")
    writer.beginObject()
    writer.field("value", load.latency)
    writer.field("from", latency.rawValue)
    writer.endObject()
    writer.key("policy")
    writer.beginObject()
    writer.field("deadline", load.policy.deadline)
    writer.field("from", policy.rawValue)
    writer.endObject()
    writer.key("sample")
    writer.beginObject()
    writer.field("calls", sampled)
    writer.field("isComplete", isComplete)
    writer.endObject()
    writer.endObject()
  }

  static func write(_ name: StaticString, _ duration: Duration?, to writer: inout JSONWriter) {
    writer.key(name)
    if let duration { writer.string(DurationText.format(duration)) } else { writer.null() }
  }

  private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}

package import RedialCore
package import RedialJSON
package import RedialModel
internal import RedialText

/// A past forecast of how long a backlog takes, and how long it took.
package struct PastForecast: Sendable, Hashable {
  /// When it was made.
  package var madeAt: Timestamp
  /// The time that it gave.
  package var drainsIn: Duration
  /// The time that it took.
  package var took: Duration

  /// The difference from the time that it took, as a share of that; negative if the forecast was too short.
  package var error: Double { (drainsIn - took).inSeconds / max(0.001, took.inSeconds) }
}

/// How right the last forecasts for a target were.
package struct ForecastAccuracy: Sendable, Hashable {
  /// The last ones, the newest last.
  package var last: [PastForecast]

  /// Creates it.
  package init(last: [PastForecast] = []) {
    self.last = last
  }

  /// Half of the errors were not larger, whatever their sign; nil without any.
  package var medianError: Double? {
    let sorted = last.map { abs($0.error) }.sorted()
    return sorted.isEmpty ? nil : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }

  /// Writes it as one object.
  package func write(to writer: inout JSONWriter) {
    func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
    writer.beginObject()
    writer.field("count", last.count)
    writer.key("medianError")
    if let medianError { writer.double(rounded(medianError)) } else { writer.null() }
    writer.key("last")
    writer.beginArray()
    for past in last {
      writer.beginObject()
      writer.field("madeAt", past.madeAt)
      writer.field("drainsIn", past.drainsIn)
      writer.field("took", past.took)
      writer.field("error", rounded(past.error))
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }
}

/// Forecasts that the service has made for itself, to learn how right they are. All of it is bounded.
package struct ForecastLog: Sendable {
  private struct Pending: Sendable {
    var madeAt: Timestamp
    var drainsIn: Duration
    var ordinary: Int
  }

  private var pending: [TargetKey: Pending] = [:]
  /// When the last one was made.
  private var made: [TargetKey: Timestamp] = [:]
  private var past: [TargetKey: ForecastAccuracy] = [:]
  /// The targets with past forecasts, the one that was judged last at the end.
  private var order: [TargetKey] = []

  /// The maximum number of targets whose forecasts wait for their end.
  package static let mostPending = 64
  /// The maximum number of targets whose past forecasts are kept.
  package static let mostTargets = 1000
  /// The maximum number of past forecasts of a target.
  package static let mostPast = 20
  /// The least time between two forecasts for a target.
  package static let interval = Duration.seconds(60)
  /// A backlog that is drained faster says nothing: times are known to about a second.
  package static let shortest = Duration.seconds(5)
  /// A smaller backlog is not worth a forecast.
  package static let fewest = 20
  /// A forecast is given up when the backlog takes this many times as long, and an hour more.
  private static let patience = 10

  /// No forecasts.
  package init() {}

  /// The targets whose forecasts wait for their end.
  package var targets: [TargetKey] { pending.keys.sorted() }

  /// Whether a forecast for a target should be made.
  package func isDue(_ target: TargetSnapshot, at now: Timestamp) -> Bool {
    target.breaker == .closed && !target.isPaused && !target.isTripped && target.waiting >= Self.fewest
      && pending[target.key] == nil && pending.count < Self.mostPending
      && made[target.key].map { now - $0 >= Self.interval } ?? true
  }

  /// A forecast for a target is being made.
  package mutating func begin(_ target: TargetKey, at now: Timestamp) {
    if made.count >= Self.mostTargets { made = made.filter { now - $0.value < Self.interval } }
    made[target] = now
  }

  /// It is made.
  ///
  /// - Parameter ordinary: The due calls of a drained backlog.
  package mutating func add(_ target: TargetKey, drainsIn: Duration, ordinary: Int, madeAt: Timestamp) {
    guard drainsIn >= Self.shortest, pending.count < Self.mostPending else { return }
    pending[target] = Pending(madeAt: madeAt, drainsIn: drainsIn, ordinary: ordinary)
  }

  /// A target as it is now. Returns the forecast if its backlog is drained.
  package mutating func observe(_ target: TargetSnapshot, at now: Timestamp) -> PastForecast? {
    guard let open = pending[target.key] else { return nil }
    let took = now - open.madeAt
    // Another outage, or an operator: it was not about that.
    let isVoid = target.breaker == .open || target.isPaused || target.isTripped
    if isVoid || took > open.drainsIn * Self.patience + .seconds(3600) {
      pending[target.key] = nil
      return nil
    }
    guard target.waiting <= open.ordinary else { return nil }
    pending[target.key] = nil
    let judged = PastForecast(madeAt: open.madeAt, drainsIn: open.drainsIn, took: took)
    keep(judged, of: target.key)
    return judged
  }

  private mutating func keep(_ judged: PastForecast, of target: TargetKey) {
    order.removeAll { $0 == target }
    order.append(target)
    if order.count > Self.mostTargets { past[order.removeFirst()] = nil }
    past[target, default: ForecastAccuracy()].last.append(judged)
    let count = past[target]?.last.count ?? 0
    if count > Self.mostPast { past[target]?.last.removeFirst(count - Self.mostPast) }
  }

  /// A target is not known any more.
  package mutating func forget(_ target: TargetKey) {
    pending[target] = nil
  }

  /// How right the last forecasts for a target were.
  package func accuracy(of target: TargetKey) -> ForecastAccuracy { past[target] ?? ForecastAccuracy() }
}

internal import RedialCore
internal import RedialModel

/// Figures of single targets. There may be any number of targets, and each label is a series for every scraper, so only
/// the busiest are named, and the rest are summed.
struct TargetFigures {
  /// The label for the sum of the targets that are not named; no target's key has this form.
  static let others = "(others)"

  private let named: [TargetSnapshot]
  private let rest: [TargetSnapshot]
  /// Those that have their own counters.
  private let counted: [TargetSnapshot]

  /// - Parameter limit: How many are named: those with the most waiting and running calls, by key if equal.
  init(_ targets: [TargetSnapshot], limit: Int) {
    let sorted = targets.sorted { a, b in
      let (load, other) = (a.waiting + a.inFlight, b.waiting + b.inFlight)
      return load != other ? load > other : a.key < b.key
    }
    named = Array(sorted.prefix(max(0, limit)))
    rest = Array(sorted.dropFirst(max(0, limit)))
    let ended = targets.filter { $0.ends.total > 0 || $0.ends.retries > 0 }
      .sorted { ($1.ends.total, $0.key) < ($0.ends.total, $1.key) }
    counted = Array(ended.prefix(max(0, limit)))
  }

  var families: [MetricFamily] {
    [
      gauge("redial_target_waiting_calls", "Calls that are due and wait for the target; the busiest targets.") {
        $0.waiting
      },
      oldest,
      gauge("redial_target_attempts_in_flight", "Attempts in flight to the target; the busiest targets.") {
        $0.inFlight
      },
      gauge("redial_target_breaker_open", "Whether the target's breaker lets no call through; the busiest targets.") {
        $0.breaker == .open || $0.isTripped ? 1 : 0
      },
      gauge("redial_target_down", "Whether the target has an outage that is not over; the busiest targets.") {
        $0.outage == nil ? 0 : 1
      },
      gauge("redial_target_paused", "Whether somebody has paused the target; the busiest targets.") {
        $0.isPaused ? 1 : 0
      },
      gauge("redial_target_tripped", "Whether somebody holds the target's breaker open; the busiest targets.") {
        $0.isTripped ? 1 : 0
      },
      rates(
        "redial_target_pace_rate",
        "Attempts per second that the target's pace lets start; the busiest targets, without those that have no limit."
      ) { $0.pace?.rate },
      rates(
        "redial_target_delivered_rate",
        "Requests per second that the target processed lately; the busiest targets, without those with a fixed pace."
      ) { $0.pace?.delivered },
      finished, retries,
    ]
  }

  private func gauge(_ name: String, _ help: String, _ value: (TargetSnapshot) -> Int) -> MetricFamily {
    var family = MetricFamily(name, .gauge, help)
    for target in named { family.add(Self.labels(target.key), value(target)) }
    if !rest.isEmpty { family.add(Self.ofOthers, rest.reduce(0) { $0 + value($1) }) }
    return family
  }

  private var oldest: MetricFamily {
    var family = MetricFamily(
      "redial_target_oldest_due_seconds", .gauge,
      "For how long the oldest due call has been due, 0 if none is; the busiest targets, and the longest of the others."
    )
    let age = { (target: TargetSnapshot) in max(.zero, target.oldestDueAt.map { target.time - $0 } ?? .zero).inSeconds }
    for target in named { family.add(Self.labels(target.key), age(target)) }
    if let longest = rest.map(age).max() { family.add(Self.ofOthers, longest) }
    return family
  }

  /// Rates do not add up to anything if some targets have no limit, so the others have no sum here.
  private func rates(_ name: String, _ help: String, _ value: (TargetSnapshot) -> Double?) -> MetricFamily {
    var family = MetricFamily(name, .gauge, help)
    for target in named {
      if let rate = value(target) { family.add(Self.labels(target.key), (rate * 100).rounded() / 100) }
    }
    return family
  }

  /// A counter must never fall, as a sum of others would when one of them is named. So they have none.
  private var finished: MetricFamily {
    var family = MetricFamily(
      "redial_target_calls_finished_total", .counter,
      "Calls and webhooks of the target that ended, by state; the targets with the most.")
    for target in counted {
      let states = [(CallState.succeeded, target.ends.succeeded), (.failed, target.ends.failed)]
      for (state, count) in states + [(.cancelled, target.ends.cancelled)] {
        family.add(Self.labels(target.key) + [MetricFamily.Label("state", state.rawValue)], count)
      }
    }
    return family
  }

  private var retries: MetricFamily {
    var family = MetricFamily(
      "redial_target_retries_total", .counter,
      "Attempts to the target that were begun after another one of their call; the targets with the most ended calls.")
    for target in counted { family.add(Self.labels(target.key), target.ends.retries) }
    return family
  }

  private static let ofOthers = [MetricFamily.Label("target", others)]

  /// A target, with its namespace unless that is the default one.
  static func labels(_ key: TargetKey) -> [MetricFamily.Label] {
    let target = MetricFamily.Label("target", key.bare)
    return key.namespace.isDefault ? [target] : [target, MetricFamily.Label("namespace", key.namespace.name)]
  }
}

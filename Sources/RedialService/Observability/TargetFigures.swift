internal import RedialCore
internal import RedialModel

/// Gauges of single targets. There may be any number of targets, and each label is a series for every scraper, so only
/// the busiest are named, and the rest are summed.
struct TargetFigures {
  /// The label for the sum of the targets that are not named; no target's key has this form.
  static let others = "(others)"

  private let named: [TargetSnapshot]
  private let rest: [TargetSnapshot]

  /// - Parameter limit: How many are named: those with the most waiting and running calls, by key if equal.
  init(_ targets: [TargetSnapshot], limit: Int) {
    let sorted = targets.sorted { a, b in
      let (load, other) = (a.waiting + a.inFlight, b.waiting + b.inFlight)
      return load != other ? load > other : a.key < b.key
    }
    named = Array(sorted.prefix(max(0, limit)))
    rest = Array(sorted.dropFirst(max(0, limit)))
  }

  /// The families, in the Prometheus text exposition format 0.0.4.
  func exposition() -> String {
    var text = ""
    func family(_ name: String, _ help: String, _ value: (TargetSnapshot) -> Int) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
      for target in named { text += "\(name){\(Self.labels(target.key))} \(value(target))\n" }
      if !rest.isEmpty { text += "\(name){target=\"\(Self.others)\"} \(rest.reduce(0) { $0 + value($1) })\n" }
    }
    family("redial_target_waiting_calls", "Calls that are due and wait for the target; the busiest targets.") {
      $0.waiting
    }
    family("redial_target_attempts_in_flight", "Attempts in flight to the target; the busiest targets.") { $0.inFlight }
    family("redial_target_breaker_open", "Whether the target's breaker lets no call through; the busiest targets.") {
      $0.breaker == .open || $0.isTripped ? 1 : 0
    }
    family("redial_target_down", "Whether the target has an outage that is not over; the busiest targets.") {
      $0.outage == nil ? 0 : 1
    }
    family("redial_target_paused", "Whether somebody has paused the target; the busiest targets.") {
      $0.isPaused ? 1 : 0
    }
    // Rates do not add up to anything if some targets have no limit, so the others have no sum here.
    func rates(_ name: String, _ help: String, _ value: (TargetSnapshot) -> Double?) {
      text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n"
      for target in named {
        guard let rate = value(target) else { continue }
        text += "\(name){\(Self.labels(target.key))} \((rate * 100).rounded() / 100)\n"
      }
    }
    rates(
      "redial_target_pace_rate",
      "Attempts per second that the target's pace lets start; the busiest targets, without those that have no limit."
    ) { $0.pace?.rate }
    rates(
      "redial_target_delivered_rate",
      "Requests per second that the target processed lately; the busiest targets, without those with a fixed pace."
    ) { $0.pace?.delivered }
    return text
  }

  /// A target, with its namespace unless that is the default one.
  static func labels(_ key: TargetKey) -> String {
    let namespace = key.namespace
    let target = "target=\"\(escaped(key.bare))\""
    return namespace.isDefault ? target : target + ",namespace=\"\(namespace.name)\""
  }

  /// A label's value with the escapes of the format.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.append(character)
      }
    }
    return result
  }
}

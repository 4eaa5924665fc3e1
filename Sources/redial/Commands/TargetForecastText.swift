import Glibc
import RedialCore
import RedialForecast
import RedialModel
import RedialText

/// A forecast on live traffic as text for people.
enum TargetForecastText {
  /// The query of the request, from the options.
  ///
  /// - Throws: If the time of the return cannot be read.
  static func query(_ arguments: Arguments, at now: Timestamp) throws(CommandError) -> String {
    var query = arguments.query([
      "--rate": "rate", "--concurrency": "concurrency", "--arrivals": "arrivals", "--capacity": "capacity",
    ])
    if let text = arguments.value("--returns-at") {
      let time = try returnTime(text, at: now)
      query += (query.isEmpty ? "?" : "&") + "returnsAt=" + PercentCoding.encode(time)
    }
    return query
  }

  /// `14:00` is the next time that the local clock shows that; `in 10m` is a duration.
  private static func returnTime(_ text: String, at now: Timestamp) throws(CommandError) -> String {
    let word = text.hasPrefix("in ") ? String(text.dropFirst(3)) : text
    if TimestampText.parse(word) != nil || DurationText.parse(word) != nil { return word }
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]), (0...23).contains(hour),
      (0...59).contains(minute), parts[1].count == 2
    else {
      throw CommandError(
        code: .usage,
        message: "--returns-at \"\(text)\" is no time; give one such as 14:00, 2026-12-01T14:00:00Z or \"in 10m\"")
    }
    return TimestampText.format(
      Timestamp(microseconds: Int64(next(hour: hour, minute: minute, after: now)) * 1_000_000))
  }

  /// The next time, in seconds since 1970, that the local clock shows this.
  private static func next(hour: Int, minute: Int, after now: Timestamp) -> Int {
    var seconds = time_t(now.microseconds / 1_000_000)
    var local = tm()
    localtime_r(&seconds, &local)
    local.tm_hour = Int32(hour)
    local.tm_min = Int32(minute)
    local.tm_sec = 0
    local.tm_isdst = -1
    var today = local
    let time = mktime(&today)
    if time > seconds { return time }
    local.tm_mday += 1
    return mktime(&local)
  }

  /// The answer in sentences, with the curve of the backlog.
  static func of(_ answer: JSONValue) -> String {
    let backlog = answer["backlog"]
    var text = "backlog: \(number(backlog["due"])) due, \(number(backlog["later"])) due later"
    text += backlog["isComplete"].isTrue ? "\n" : ", or more\n"
    if let time = answer["drainedAt"].escapedText, let wait = answer["drainsIn"].escapedText {
      text += "drained at \(time), in \(DurationText.parse(wait)?.roughly ?? wait)\n"
    } else {
      text += "never drained: \(obstacle(answer["obstacle"].escapedText))\n"
    }
    text += "peak \(number(answer["peakBacklog"])) due; \(number(answer["missesDeadline"])) miss their deadline, "
    text += "\(number(answer["failsOtherwise"])) fail otherwise; \(number(answer["refusedAttempts"])) of "
    text += "\(number(answer["attempts"])) attempts refused\n"
    text += chart(answer["points"].elements)
    text += assumptions(answer["assumptions"])
    if answer["isExtrapolated"].isTrue {
      text += "simulated \(number(answer["simulatedAttempts"])) attempts; the rest is computed from their average\n"
    }
    let accuracy = answer["accuracy"]
    if let error = accuracy["medianError"].number {
      let share = Int(min(1e6, error * 100).rounded())
      text += "the last \(number(accuracy["count"])) forecasts were off by \(share) % (median)\n"
    }
    return text
  }

  private static func obstacle(_ word: String?) -> String {
    switch word {
    case "arrivals": "more calls arrive than are delivered"
    case "tooLong": "it takes longer than 30 days"
    case "paused": "the target is paused"
    case "tripped": "its breaker is held open"
    default: word ?? "unknown"
    }
  }

  private static func number(_ value: JSONValue) -> String {
    guard let number = value.number else { return "unknown" }
    return value.integer.map { "\($0)" } ?? "\(number)"
  }

  private static func assumptions(_ all: JSONValue) -> String {
    let names = [
      ("arrivalsPerSecond", "new calls per second"), ("capacityPerSecond", "capacity per second"),
      ("ratePerSecond", "rate limit per second"), ("concurrency", "attempts in flight"), ("latency", "latency"),
      ("successRate", "share of successes"),
    ]
    var text = "it assumes:\n"
    for (name, label) in names {
      let value = all[name]["value"].escapedText ?? number(all[name]["value"])
      let source = all[name]["from"].escapedText ?? ""
      text += "  " + RedialTool.padded(label, 24) + RedialTool.padded(value == "unknown" ? "none" : value, 12) + source
      text += "\n"
    }
    if let time = all["returnsAt"].escapedText { text += "  the target returns at \(time)\n" }
    return text
  }

  /// The backlog over time.
  private static func chart(_ points: [JSONValue]) -> String {
    let values = points.map { $0["backlog"].integer ?? 0 }
    guard let last = points.last?["after"].escapedText, let most = values.max(), most > 0 else { return "" }
    let columns = (0..<BarChart.width).map { Double(values[$0 * values.count / BarChart.width]) }
    let text = "\n" + BarChart.text(columns, highest: Double(most), label: "\(most)", margin: 9, axis: " ")
    let end = DurationText.parse(last)?.roughly ?? last
    return text + String(repeating: " ", count: 10) + "now"
      + String(repeating: " ", count: max(1, BarChart.width - 3 - end.count)) + end + "\n\n"
  }
}

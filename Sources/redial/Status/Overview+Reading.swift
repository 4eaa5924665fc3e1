import RedialCore
import RedialModel
import RedialText

/// The answers of the service, as parts of an overview.
extension Overview.Ended {
  /// Reads `GET /v1/statistics`; nil if it does not have the last 15 minutes.
  init?(_ answer: JSONValue) {
    guard let window = answer["data"].elements.first(where: { $0["window"].text == "15m" }) else { return nil }
    let (calls, attempts) = (window["calls"], window["attempts"])
    succeeded = calls["succeeded"].integer ?? 0
    retried = calls["retried"].integer ?? 0
    failed = calls["failed"].integer ?? 0
    cancelled = calls["cancelled"].integer ?? 0
    failedAttempts = attempts["failed"].integer ?? 0
    let times = calls["timeToSuccess"]
    if let p50 = times["p50"].text.flatMap({ DurationText.parse($0) }),
      let p99 = times["p99"].text.flatMap({ DurationText.parse($0) })
    {
      timeToSuccess = TimeToSuccess(p50: p50, p99: p99)
    }
    self.attempts = failedAttempts + (attempts["succeeded"].integer ?? 0)
  }
}

extension Overview.Failures {
  /// Reads the open issues of failed calls of `GET /v1/issues`.
  init(_ answer: JSONValue) {
    isComplete = answer["isComplete"].isTrue && answer["nextCursor"].text == nil
    for issue in answer["data"].elements where issue["kind"].text == "failed" && issue["state"].text ?? "open" == "open"
    {
      open.append(
        Issue(
          id: issue["id"].text ?? "", target: issue["target"].text ?? "", calls: issue["calls"].integer ?? 0,
          error: issue["error"].text ?? issue["reason"].text.map(SpokenWords.of) ?? "",
          lastAt: issue["lastAt"].text.flatMap { TimestampText.parse($0) }))
    }
  }
}

extension Overview {
  /// Reads from `GET /v1/issues` what fails while the rest works, and which targets are late: the service says so, by its own
  /// clock. Of one that is down or held it says when that was found.
  mutating func read(issues answer: JSONValue) {
    let isComplete = answer["isComplete"].isTrue && answer["nextCursor"].text == nil
    var late: Set<String> = []
    var found: [String: Timestamp] = [:]
    for issue in answer["data"].elements {
      let (key, calls) = (issue["target"].text ?? "", issue["calls"].integer ?? 0)
      switch issue["kind"].text {
      case "failing" where calls > 0 && issue["state"].text == "open":
        failing[key, default: []].append(issue["error"].text ?? "")
      // Webhooks have targets of their own.
      case "late": late.insert(key)
      case "down", "held": found[key] = issue["lastAt"].text.flatMap { TimestampText.parse($0) }
      default: break
      }
    }
    guard isComplete else { return }
    targets = targets?.map { target in
      var target = target
      if let now = found[target.key] { target.judge(at: now) } else { target.judge(isLate: late.contains(target.key)) }
      return target
    }
  }
}

extension Overview.Service {
  /// Reads `GET /v1/instances`.
  mutating func read(instances answer: JSONValue) {
    let all = answer["data"].elements
    instances = all.count
    version = all.first { $0["self"].isTrue }?["version"].text
    versions = Set(all.compactMap { $0["version"].text }).sorted()
    let loss = answer["lostCommits"]
    lostCommits = nil
    if let at = loss["at"].text.flatMap({ TimestampText.parse($0) }), let made = loss["made"].integer,
      let found = loss["found"].integer
    {
      lostCommits = Overview.LostCommits(at: at, made: made, found: found)
    }
  }

  /// Reads the metrics of the instance that answers.
  mutating func read(metrics text: String) {
    for line in text.split(separator: "\n") {
      if line.hasPrefix("redial_build_info{") {
        version = Self.label("version", of: line) ?? version
        store = Self.label("store", of: line)
      } else if line.hasPrefix("process_start_time_seconds "), let seconds = Double(line.dropFirst(27)),
        (0...4e9).contains(seconds)
      {
        startedAt = Timestamp(microseconds: Int64(seconds * 1000) * 1000)
      }
    }
  }

  private static func label(_ name: String, of line: Substring) -> String? {
    guard let start = line.firstRange(of: "\(name)=\"")?.upperBound else { return nil }
    return String(line[start...].prefix { $0 != "\"" })
  }
}

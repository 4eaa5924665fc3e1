import RedialCore
import RedialModel
import RedialText

/// An overview in lines for people: what is wrong and what to do, how calls ended, what waits, and the service.
struct OverviewText: Sendable {
  /// How many targets that are not as they should be are shown.
  private static let mostTroubled = 10
  /// How many outages that are over are shown.
  private static let maximumPastOutages = 3
  /// Of how many issues it is said what failed.
  private static let maximumParts = 3

  let overview: Overview
  /// The service's URL.
  let server: String
  /// Options that further commands need, each with a space before it: where the service is.
  var options = ""

  var lines: [StyledLine] {
    if overview.isFresh, overview.readiness == .ready { return firstCall + [""] + service + leftOut }
    return troubled + pastOutages + [""] + ended + waiting + [""] + service + leftOut
  }

  // MARK: What is wrong

  private var troubled: [StyledLine] {
    var lines: [StyledLine] = []
    if case .notReady(let reason) = overview.readiness {
      // The first sentence is the cause, the others are what it means and what helps.
      let (cause, rest) = Self.split(reason ?? "")
      lines.append(headline("✗", "The service accepts no calls", cause.isEmpty ? "" : ": \(cause)", .bad))
      if !rest.isEmpty { lines.append(StyledLine(rest, indent: 2)) }
    }
    if let loss = overview.service.lostCommits { lines += text(of: loss) }
    let troubled = overview.troubled
    let shown = troubled.prefix(Self.mostTroubled)
    for target in shown where isGrave(target) { lines += text(of: target) }
    if let failures = overview.failures, failures.calls > 0 { lines += text(of: failures) }
    for target in shown where !isGrave(target) { lines += text(of: target) }
    if troubled.count > Self.mostTroubled {
      lines.append(StyledLine("and \((troubled.count - Self.mostTroubled).grouped) more targets:", indent: 2))
      lines.append(command("redial targets --active\(options)", "shows them all"))
    }
    guard lines.isEmpty else { return lines }
    guard overview.targets != nil else { return [StyledLine("What is wrong with targets is not known.", .warning)] }
    return [headline("✓", "No target is down, degraded or held.", "", .good)]
  }

  private var pastOutages: [StyledLine] {
    let all = overview.pastOutages
    var lines = all.prefix(Self.maximumPastOutages).map { outage in
      StyledLine("\(name(outage.target)) was down for \(outage.lasted.roughly) until \(age(outage.until)) ago.", .soft)
    }
    let more = all.count - lines.count
    if more > 0 { lines.append(StyledLine("\(more) more \(more == 1 ? "outage" : "outages") in the last day.", .soft)) }
    return lines
  }

  private func text(of loss: Overview.LostCommits) -> [StyledLine] {
    [
      headline("✗", "The database has lost \(loss.amount)", " \(age(loss.at)) ago", .bad),
      StyledLine("\(loss.made.grouped) were made, and it had \(loss.found.grouped) after a failover.", indent: 2),
      StyledLine("Calls, their ends, cancels, pauses and revocations of then may be missing.", .soft, indent: 2),
      command("redial audit --action commits.lost\(options)", "shows which instances noticed it"),
    ]
  }

  private func isGrave(_ target: TargetStanding) -> Bool {
    target.condition == .down || target.condition == .heldOpen
  }

  /// Failed calls are shown until they are run again, or somebody says that they are known or done with.
  private func text(of failures: Overview.Failures) -> [StyledLine] {
    let (count, issues) = (failures.calls, failures.open)
    let bound = failures.isComplete ? "" : "at least "
    let latest = failures.lastAt.map { ", the latest \(age($0)) ago" } ?? ""
    let parts = issues.prefix(Self.maximumParts).map { issue in
      "\(issue.calls.grouped) to \(PlainText.escaped(issue.target)): \(PlainText.escaped(issue.error))"
    }
    let more = issues.count > parts.count ? "; and others" : ""
    let isOver = failures.lastAt.map { overview.at - $0 >= .seconds(60) } ?? true
    let then = isOver ? "." : " once the cause is gone: calls fail still."
    let show =
      issues.count == 1 ? "redial issues show \(PlainText.escaped(issues[0].id))" : "redial issues --state open"
    return [
      headline("✗", "\(bound)\(count.grouped) \(count == 1 ? "call" : "calls")", " failed\(latest)", .bad),
      StyledLine(parts.joined(separator: "; ") + more + ".", indent: 2),
      StyledLine("\(count == 1 ? "It is" : "They are") kept, and can be run again\(then)", .soft, indent: 2),
      command("\(show)\(options)", issues.count == 1 ? "shows it, and what to do" : "shows them, and what to do"),
    ]
  }

  private func text(of target: TargetStanding) -> [StyledLine] {
    var lines: [StyledLine]
    switch target.condition {
    case .down: lines = down(target)
    case .heldOpen:
      lines = [headline("✗", name(target), " is held open by hand: no call to it starts", .bad), waits(of: target)]
      lines.append(command("redial targets \(word(target)) reset\(options)", "lets its calls start again"))
    case .paused:
      lines = [headline("!", name(target), " is paused: no call to it starts", .warning), waits(of: target)]
      lines.append(command("redial targets \(word(target)) resume\(options)", "lets its calls start again"))
    case .late:
      let what = " is up, but its calls are late: they wait for \(limit(of: target))"
      lines = [headline("!", name(target), what, .warning), waits(of: target)]
      lines.append(
        StyledLine(
          "More calls come than this lets through. If the target can take more, raise the limit.", .soft, indent: 2))
      lines.append(command("redial targets \(word(target))\(options)", "its breaker, its limits and its results"))
    case .degraded, .up: lines = degraded(target)
    }
    return lines
  }

  private func down(_ target: TargetStanding) -> [StyledLine] {
    let since = target.outage.map { " is down for \(age($0.since)): \(SpokenWords.of($0.cause))" } ?? " is down"
    var lines = [headline("✗", name(target), since, .bad), waits(of: target)]
    var then = "Redial keeps the calls and sends single probes"
    if let next = target.nextProbeAt, next > overview.at { then += ", the next in \((next - overview.at).roughly)" }
    lines.append(StyledLine(then + ".", .soft, indent: 2))
    if target.waiting == 0 {
      lines.append(command("redial targets \(word(target))\(options)", "its breaker, its limits and its results"))
    } else {
      lines.append(command("redial list --state scheduled --target \(word(target))\(options)", "shows the calls"))
      lines.append(command("redial targets \(word(target)) release\(options)", "once it works: sends all of them now"))
    }
    return lines
  }

  private func degraded(_ target: TargetStanding) -> [StyledLine] {
    if let parts = overview.failing[target.key], target.outage.map({ $0.closedAt != nil }) ?? true {
      let shown = parts.prefix(Self.maximumParts).map { PlainText.escaped($0) }.joined(separator: "; ")
      return [
        headline(
          "!", name(target), " is up: \(shown)\(parts.count > Self.maximumParts ? "; and others" : "")", .warning),
        waits(of: target),
        StyledLine(
          "Redial tries what fails again, as the policy of each call says. Nothing else waits for it.", .soft, indent: 2
        ),
        command("redial issues --target \(word(target))\(options)", "shows what fails"),
      ]
    }
    if let outage = target.outage {
      let closed = outage.closedAt.map { " answers again for \(age($0))" } ?? " had an outage"
      let lasted = outage.closedAt.map { " of \(($0 - outage.since).roughly)" } ?? ""
      let what = "\(closed), after an outage\(lasted): \(SpokenWords.of(outage.cause))"
      return [
        headline("!", name(target), outage.closedAt == nil ? " is down for \(age(outage.since))" : what, .warning),
        waits(of: target), StyledLine("Nothing to do: \(pace(target)).", .soft, indent: 2),
      ]
    }
    var what = " is degraded"
    if target.recentAttempts > 0, target.recentFailures > 0 {
      what += ": \(target.recentFailures.grouped) of \(target.recentAttempts.grouped) attempts failed in 5 minutes"
      if let failure = overview.details[target.key]?.lastFailure {
        what += ", the latest with \(SpokenWords.of(failure))"
      }
    }
    var lines = [headline("!", name(target), what, .warning), waits(of: target)]
    if let until = target.heldUntil, until > overview.at {
      let rest = "It asked to wait for \((until - overview.at).roughly) more; its calls wait until then."
      lines.append(StyledLine(rest, .soft, indent: 2))
    } else if target.pace != nil {
      lines.append(StyledLine("Nothing to do: \(pace(target)).", .soft, indent: 2))
    } else if overview.details[target.key]?.lastFailure != nil {
      lines.append(StyledLine("Redial tries what failed again, as the policy of each call says.", .soft, indent: 2))
    }
    lines.append(command("redial targets \(word(target))\(options)", "its breaker, its limits and its results"))
    return lines
  }

  /// The limit that holds back most of its due calls.
  private func limit(of target: TargetStanding) -> String {
    switch target.limit {
    case "concurrency":
      guard let count = target.maxInFlight else { return "the limit of attempts in flight" }
      return "the limit of \(count.grouped) \(count == 1 ? "attempt" : "attempts") in flight"
    case "rateLimit":
      return "the limit of \(target.ratePerSecond.map { Self.rate($0) + " " } ?? "")attempts per second"
    case "retryBudget": return "the retry budget"
    default: return "a connection to its host"
    }
  }

  private func pace(_ target: TargetStanding) -> String {
    guard let pace = target.pace else { return "Redial sends what waits" }
    return "Redial sends what waits as fast as the target takes it, now \(Self.rate(pace)) per second"
  }

  /// How many calls wait for a target, since when, and how many of them for too long.
  private func waits(of target: TargetStanding) -> StyledLine {
    let count = target.waiting
    guard count > 0 else { return StyledLine("No call waits for it.", indent: 2) }
    var line = StyledLine(indent: 2)
    line.add((target.isComplete ? "" : "at least ") + count.grouped, .strong)
    line.add(" \(count == 1 ? "call waits" : "calls wait")")
    if let oldest = target.oldestDueAt { line.add((count == 1 ? " for " : ", the oldest for ") + age(oldest)) }
    line.add(".")
    return line
  }

  // MARK: How calls ended

  private var ended: [StyledLine] {
    guard let ended = overview.ended else { return [] }
    var lines: [StyledLine] = []
    var line = StyledLine("Last 15 minutes: ", .strong)
    if ended.judged == 0 {
      line.add("no call has succeeded or failed yet")
    } else {
      let share = Percent.text(ended.succeeded, of: ended.judged)
      line.add(share, ended.failed > 0 ? .warning : .good)
      line.add(" of \(ended.judged.grouped) \(ended.judged == 1 ? "call" : "calls") succeeded")
      if ended.retried > 0 { line.add(", \(ended.retried.grouped) of them after retries") }
    }
    if ended.cancelled > 0 { line.add("; \(ended.cancelled.grouped) cancelled") }
    line.add(".")
    lines.append(line)
    if let times = ended.timeToSuccess {
      let text = "Half of those that succeeded took up to \(times.p50.roughly), and 99 % up to \(times.p99.roughly)."
      lines.append(StyledLine(text, .soft, indent: 2))
    }
    if ended.attempts > 0 {
      let attempts = "\(ended.attempts.grouped) \(ended.attempts == 1 ? "attempt" : "attempts")"
      let failed = "\(ended.failedAttempts.grouped) of them failed"
      lines.append(StyledLine("\(attempts), \(failed).", .soft, indent: 2))
    }
    let (late, heldUp) = (overview.late, overview.heldUp)
    if max(late, heldUp) > 0 {
      let bound = overview.isComplete ? "" : "at least "
      let calls =
        late > 0
        ? (late == 1 ? "1 call is late" : "\(late.grouped) calls are late")
        : (heldUp == 1 ? "1 call waits" : "\(heldUp.grouped) calls wait")
      lines.append(
        StyledLine("\(bound)\(calls): held up by a target above, and not counted here.", .warning, indent: 2))
    }
    // Where they are shown as issues, it is said what to do.
    if ended.failed > 0, overview.failures == nil || overview.failures?.calls == 0 {
      lines.append(
        StyledLine(
          "\(ended.failed.grouped) failed; they are kept, and can be run again.", .bad, indent: 2))
      lines.append(command("redial list --state failed\(options)", "shows them and why"))
    }
    return lines
  }

  // MARK: What waits

  private var waiting: [StyledLine] {
    guard let targets = overview.targets else { return [] }
    let waits = overview.waits
    let total = waits.values.reduce(0, +)
    let running = targets.reduce(0) { $0 + $1.inFlight }
    var line = StyledLine("Waiting: ", .strong)
    let bound = overview.isComplete ? "" : "at least "
    line.add(total == 0 ? "no call" : "\(bound)\(total.grouped) \(total == 1 ? "call" : "calls")")
    line.add(running == 0 ? "" : "; \(running.grouped) \(running == 1 ? "attempt" : "attempts") in flight")
    line.add(".")
    let parts = waits.filter { $0.value > 0 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let width = parts.first.map { $0.value.grouped.count } ?? 0
    return [line]
      + parts.map { reason, count in
        var part = StyledLine(String(repeating: " ", count: width - count.grouped.count), indent: 2)
        part.add(count.grouped, .strong)
        part.add("  \(Self.meaning(reason))")
        part.add(" (\(PlainText.escaped(reason)))", .soft)
        return part
      }
  }

  /// What a call waits for.
  private static func meaning(_ reason: String) -> String {
    let known = WaitReason.allCases.first { String(describing: $0.name) == reason }
    switch known {
    case .startTime: return "for their own start"
    case .backoff: return "until their next attempt"
    case .retryAfter: return "as long as the target asked for"
    case .breaker: return "for a target that is down or held open"
    case .concurrency: return "for one of the attempts in flight to end"
    case .rateLimit: return "for the rate that is set for the target"
    case .retryBudget: return "for the retry budget of the target"
    case .ordering: return "for an earlier call of their ordering key"
    case .paused: return "for a target that is paused"
    case .pace: return "for the pace that the target can take"
    case .connections: return "for a connection"
    case nil: return "for another reason"
    }
  }

  // MARK: The service

  private var service: [StyledLine] {
    var line = StyledLine("Service: ", .strong)
    switch overview.readiness {
    case .ready: line.add("ready", .good)
    case .notReady: line.add("not ready", .bad)
    case nil: line.add("answers")
    }
    let service = overview.service
    var facts = [
      service.version.map { "Redial \(PlainText.escaped($0))" } ?? "Redial", "at \(PlainText.escaped(server))",
    ]
    facts = [facts.joined(separator: " ")]
    if let store = service.store {
      facts.append(store == "postgresql" ? "PostgreSQL" : store == "sqlite" ? "SQLite" : PlainText.escaped(store))
    }
    if let count = service.instances {
      var text = "\(count) \(count == 1 ? "instance" : "instances")"
      if service.versions.count > 1 {
        text += " of versions \(service.versions.map { PlainText.escaped($0) }.joined(separator: " and "))"
      }
      facts.append(text)
    }
    if let start = service.startedAt { facts.append("up for \(age(start))") }
    line.add("; " + facts.joined(separator: ", ") + ".")
    return [line]
  }

  private var leftOut: [StyledLine] {
    overview.leftOut.map { StyledLine("Not shown: \($0.what). \(PlainText.escaped($0.why))", .soft) }
  }

  // MARK: A service without calls

  private var firstCall: [StyledLine] {
    [
      StyledLine("No call has been submitted yet.", .strong),
      "Try one, to a server that fails twice:",
      command("redial flaky --quiet &", "a server that fails on purpose"),
      command("redial call\(options) 'http://127.0.0.1:9090/hello?fail=2'", "the first call"),
    ]
  }

  // MARK: Parts of lines

  private func headline(_ mark: String, _ subject: String, _ what: String, _ style: Style) -> StyledLine {
    var line = StyledLine(mark + " ", style)
    line.add(subject, .strong)
    line.add(what, style)
    return line
  }

  private func command(_ text: String, _ purpose: String) -> StyledLine {
    var line = StyledLine(RedialTool.padded(text, 44), indent: 4)
    line.add(" " + purpose, .soft)
    return line
  }

  private func name(_ target: TargetStanding) -> String { PlainText.escaped(target.key) }

  /// The key as a word of a command line.
  private func word(_ target: TargetStanding) -> String { ShellWord.plain(PlainText.escaped(target.key)) }

  /// In whole seconds: the service tells its time no better.
  private func age(_ time: Timestamp) -> String {
    let seconds = (overview.at - time).components.seconds
    return seconds < 1 ? "less than 1s" : Duration.seconds(seconds).roughly
  }

  private static func rate(_ rate: Double) -> String {
    rate < 10 ? "\((rate * 10).rounded() / 10)" : Int(min(rate, 1e9).rounded()).grouped
  }

  /// The first sentence of a text, and the others.
  private static func split(_ text: String) -> (first: String, others: String) {
    guard let end = text.firstRange(of: ". ") else { return (text, "") }
    return (String(text[..<end.lowerBound]) + ".", String(text[end.upperBound...]))
  }
}

extension Int {
  /// With a comma before each three digits: `42,320`.
  var grouped: String {
    let digits = Array(String(magnitude))
    var text = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }
}

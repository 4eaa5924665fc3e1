import RedialModel
import RedialText

extension Command {
  private static let controls = ["pause", "resume", "trip", "reset", "release"]

  /// `redial targets`
  static let targets = Command(
    name: "targets", summary: "List targets with their breakers, show one, or control one.",
    operands: "[KEY [\(controls.joined(separator: "|"))]]", operandCount: 0...2,
    words: [[], controls], operandValues: [OperandValues(kind: .target)],
    options: [
      Option(
        name: "--set", form: "JSON",
        summary: "Changes these settings of this target and leaves the others; null removes one, null alone all."),
      Option(name: "--active", summary: "List only targets with waiting or running calls, paused or not closed."),
      asJSON,
    ] + page(.targets, of: nil) + APIClient.options,
    notes: """
      pause: start no attempt until resume. trip: hold the breaker open. reset: close the breaker. release: close the breaker
      and start the waiting calls now. All of these outlast a restart.
      """
  ) { arguments throws(CommandError) in
    let client = APIClient(arguments)
    let answer = try ask(client, arguments)
    if arguments.has("--json") {
      Terminal.write(json: answer.body)
    } else if arguments.operands.isEmpty {
      Terminal.write(table(answer.json["data"].elements))
      Terminal.write(Arguments.more(answer.json))
    } else {
      Terminal.write(table([answer.json]) + details(answer.json))
    }
    return .success
  }

  private static func ask(_ client: APIClient, _ arguments: Arguments) throws(CommandError) -> APIClient.Answer {
    guard let key = arguments.operands.first else {
      guard !arguments.has("--set") else { throw CommandError(code: .usage, message: "--set needs the target's key") }
      let query = arguments.pageQuery()
      let active = arguments.has("--active") ? (query.isEmpty ? "?" : "&") + "active=true" : ""
      return try client.request("GET", "/v1/targets" + query + active)
    }
    let path = "/v1/targets/\(PercentCoding.encode(key))"
    if arguments.operands.count > 1 {
      let control = arguments.operands[1]
      guard controls.contains(control), !arguments.has("--set") else {
        throw CommandError(
          code: .usage, message: "\"\(control)\" is none of \(controls.joined(separator: ", ")), or comes with --set")
      }
      return try client.request("POST", "\(path)/\(control)")
    }
    guard let settings = arguments.value("--set") else { return try client.request("GET", path) }
    let bytes = Array(settings.utf8)
    try Arguments.checkJSON(bytes, of: "--set")
    return try client.request("PATCH", path, json: bytes)
  }

  /// The limits, the pace, the backlog, the results of the last minutes, and the drain estimate.
  private static func details(_ target: JSONValue) -> String {
    var text = (outage(target["outage"]).map { "\($0)\n" } ?? "") + limits(target["settings"]) + pace(target["pace"])
    let own = target["overrides"].members.map { PlainText.escaped($0.name) }
    if !own.isEmpty { text += "set for this target: \(own.joined(separator: ", "))\n" }
    let reasons = target["backlog"]["byReason"].members.map { "\($0.value.integer ?? 0) \(PlainText.escaped($0.name))" }
    if !reasons.isEmpty { text += "waiting: \(reasons.joined(separator: ", "))\n" }
    for window in ["1m", "5m", "15m"] {
      let recent = target["recent"][window]
      let latency = recent["latency"]
      text += "last \(window): \(recent["succeeded"].integer ?? 0) succeeded, "
      text += "\(recent["failed"].integer ?? 0) failed"
      if let p50 = latency["p50"].escapedText, let p95 = latency["p95"].escapedText,
        let p99 = latency["p99"].escapedText
      {
        text += "; p50 \(p50), p95 \(p95), p99 \(p99)"
      }
      text += "\n"
    }
    if let drain = target["drainEstimate"].escapedText { text += "the due calls would take about \(drain)\n" }
    if let pattern = target["pattern"].escapedText { text += "rule: \(pattern)\n" }
    text += target["pastOutages"].elements.map(pastOutage).joined()
    return text + tls(target["settings"]["tls"])
  }

  /// The limits in effect that operators change most.
  private static func limits(_ settings: JSONValue) -> String {
    var text = ""
    if let most = settings["maxInFlight"].integer { text += "in flight at most: \(most)\n" }
    if let longest = settings["attemptTimeout"].escapedText { text += "attempt timeout: \(longest)\n" }
    if settings["rate"]["perSecond"].number != nil {
      text += "rate: \(settings["rate"]["perSecond"].indented()) per second\n"
    } else if case .null = settings["rate"]["perSecond"] {
      text += "rate: no limit\n"
    }
    return text
  }

  /// How fast attempts start, and why; nothing for a service of an older version.
  private static func pace(_ pace: JSONValue) -> String {
    guard let mode = pace["mode"].escapedText else { return "" }
    guard mode == "adaptive" else { return "pace: \(mode)\n" }
    var text = "pace: adaptive, "
    if case .number(let rate) = pace["rate"] { text += "\(rate) per second" } else { text += "no limit" }
    if let reason = pace["reason"].escapedText { text += " (\(reason))" }
    if case .number(let delivered) = pace["deliveredPerSecond"] { text += "; \(delivered) per second processed lately" }
    return text + "\n"
  }

  /// The TLS settings, with their origins.
  private static func tls(_ settings: JSONValue) -> String {
    var parts: [String] = []
    if let path = settings["certificate"].escapedText { parts.append("certificate \(path)") }
    if let path = settings["caFile"].escapedText { parts.append("issuers \(path)") }
    let pins = settings["pins"].elements.count
    if pins > 0 { parts.append("\(pins) \(pins == 1 ? "pin" : "pins")") }
    if let version = settings["minVersion"].escapedText { parts.append("version \(version) or newer") }
    guard !parts.isEmpty else { return "" }
    let origins = settings["origins"].elements.compactMap(\.escapedText)
    return "TLS: \(parts.joined(separator: ", "))"
      + (origins.isEmpty ? "\n" : "; for \(origins.joined(separator: ", "))\n")
  }

  /// Since when, and why a target is down; nil if it is not.
  private static func outage(_ outage: JSONValue) -> String? {
    guard let since = outage["since"].escapedText else { return nil }
    let cause = outage["cause"].escapedText ?? "?"
    let closed = outage["closedAt"].escapedText.map { ", its breaker closed at \($0)" } ?? ""
    return "down since \(since): \(cause)\(closed)"
  }

  /// An outage that is over, as a line.
  private static func pastOutage(_ outage: JSONValue) -> String {
    let (since, waited) = (outage["since"].escapedText ?? "?", outage["callsWaited"].integer ?? 0)
    // Of one that lapsed nobody knows how long it lasted.
    let lasted = outage["duration"].text.flatMap { DurationText.parse($0) }.map { " for \($0.roughly)" } ?? ""
    return "was down\(lasted) from \(since): \(outage["cause"].escapedText ?? "?"), "
      + "\(waited) \(waited == 1 ? "call" : "calls") waited\n"
  }

  private static func table(_ targets: [JSONValue]) -> String {
    var table = Table("target", "state", "in flight", "waiting", "reason")
    for target in targets {
      // A service of an older version has no state.
      var state = target["state"].escapedText ?? target["breaker"]["state"].escapedText ?? "?"
      if target["tripped"].isTrue { state = "held open" }
      if target["paused"].isTrue { state = "paused" }
      var more = outage(target["outage"]).map { [$0] } ?? []
      if let most = target["backlog"]["byReason"].members.max(by: { ($0.value.integer ?? 0) < ($1.value.integer ?? 0) })
      {
        more.append("\(most.value.integer ?? 0) wait for \(PlainText.escaped(most.name))")
      }
      if let until = target["breaker"]["openUntil"].escapedText { more.append("probes from \(until)") }
      if let until = target["heldUntil"].escapedText { more.append("asked to wait until \(until)") }
      table.add(
        Table.Cell(target["key"].escapedText), .state(state), .number(target["inFlight"].integer),
        .number(target["waiting"].integer), Table.Cell(more.joined(separator: ", "), .soft))
    }
    return table.text(none: "No target has been called yet.")
  }
}

import Glibc
import RedialForecast
import RedialModel
import RedialJSON

extension Command {
  private static let json = Option(name: "--json", summary: "Show the answer as JSON.")
  private static let svg = Option(name: "--svg", form: "FILE", summary: "Write a chart to a file.")
  private static let policy = Option(
    name: "--policy", form: "JSON", summary: "The policy, as in a call descriptor [the default policy].")
  private static let notIdempotent = Option(
    name: "--not-idempotent", summary: "Do not repeat calls once they may have been executed.")

  /// `redial preview`
  static let preview = Command(
    name: "preview", summary: "Show when a policy makes its attempts. Needs no service.",
    options: [
      policy, notIdempotent,
      Option(name: "--attempt-duration", form: "DURATION", summary: "Assumed duration of each attempt [0s]."),
      Option(name: "--limit", form: "COUNT", summary: "Maximum number of attempts to list, 1 to 1000 [20]."), json, svg,
    ]
  ) { arguments throws(CommandError) in
    var writer = JSONWriter()
    writer.beginObject()
    try writeJSON("policy", arguments.value("--policy"), to: &writer)
    if arguments.has("--not-idempotent") { writer.field("idempotent", false) }
    if let duration = arguments.value("--attempt-duration") { writer.field("attemptDuration", duration) }
    try writeNumber("limit", arguments.value("--limit") ?? "20", to: &writer)
    writer.endObject()
    let request = try read(writer.bytes) { bytes throws(Problem) in try PlanRequest.read(bytes) }
    let plan = request.plan()
    try write(plan.chart, to: arguments.value("--svg"))
    if arguments.has("--json") {
      var writer = JSONWriter(capacity: 4096)
      request.write(plan, to: &writer)
      Terminal.write(String(decoding: writer.bytes, as: UTF8.self) + "\n")
    } else {
      Terminal.write(ForecastText.of(plan, request))
    }
    return .success
  }

  /// `redial simulate`
  static let simulate = Command(
    name: "simulate", summary: "Simulate an outage of a target. Needs no service.",
    options: [
      policy, notIdempotent,
      Option(name: "--rate", form: "CALLS", summary: "New calls per second [10]."),
      Option(
        name: "--duration", form: "DURATION", summary: "How long to simulate [until five minutes after the outage]."),
      Option(
        name: "--capacity", form: "REQUESTS", summary: "Requests per second that the target can answer [no limit]."),
      Option(name: "--latency", form: "DURATION", summary: "Mean time of an answer [50ms]."),
      Option(name: "--outage", form: "FROM-TO", summary: "Start and end of the outage [1m-3m]."),
      Option(name: "--error-rate", form: "SHARE", summary: "Share of requests that fail during the outage [1]."),
      Option(
        name: "--failure", form: "HOW", summary: "How they fail: refused, unanswered, or a status [refused].",
        values: .words(["refused", "unanswered"])),
      Option(name: "--slow", form: "DURATION", summary: "Mean time of an answer during the outage [as before]."),
      Option(name: "--no-breaker", summary: "Simulate without a circuit breaker."),
      Option(name: "--concurrency", form: "COUNT", summary: "Maximum number of attempts in flight [64]."),
      Option(
        name: "--slow-start", form: "DURATION",
        summary: "How long the load on a recovered target grows step by step, with a fixed pace [10s]."),
      Option(
        name: "--pace", form: "PACE",
        summary: "adaptive: start attempts as fast as the target can take them; or fixed [adaptive].",
        values: .words(["adaptive", "fixed"])),
      Option(
        name: "--new-call-share", form: "SHARE",
        summary: "Share of the attempts for new calls while a backlog waits too, 0 to 0.95 [0.8]."),
      Option(name: "--seed", form: "NUMBER", summary: "Seed of the random numbers [1]."),
      Option(
        name: "--scenario", form: "JSON", summary: "The scenario as JSON, as in the API; other options override it."),
      json, svg,
    ]
  ) { arguments throws(CommandError) in
    let scenario = try read(try scenarioJSON(arguments)) { bytes throws(Problem) in
      try OutageScenario.read(bytes)
    }
    let forecast = scenario.forecast()
    try write(forecast.chart, to: arguments.value("--svg"))
    if arguments.has("--json") {
      var writer = JSONWriter(capacity: 16 * 1024)
      forecast.write(to: &writer)
      Terminal.write(String(decoding: writer.bytes, as: UTF8.self) + "\n")
    } else {
      Terminal.write(ForecastText.of(forecast))
    }
    return .success
  }

  /// The scenario from the options, or the given one with the options in place of its members.
  private static func scenarioJSON(_ arguments: Arguments) throws(CommandError) -> [UInt8] {
    var members: [String: [UInt8]] = [:]
    if let given = arguments.value("--scenario") {
      members = try parts(of: Array(given.utf8))
    }
    func set(_ name: String, _ option: String, isText: Bool) throws(CommandError) {
      guard let value = arguments.value(option) else { return }
      members[name] = isText ? quoted(value) : try number(value, option)
    }
    try set("rate", "--rate", isText: false)
    try set("duration", "--duration", isText: true)
    try set("slowStart", "--slow-start", isText: true)
    try set("pace", "--pace", isText: true)
    try set("newCallShare", "--new-call-share", isText: false)
    try set("concurrency", "--concurrency", isText: false)
    try set("seed", "--seed", isText: false)
    if let policy = arguments.value("--policy") { members["policy"] = Array(policy.utf8) }
    if arguments.has("--not-idempotent") { members["idempotent"] = Array("false".utf8) }
    if arguments.has("--no-breaker") { members["breaker"] = Array("false".utf8) }
    var target = JSONWriter()
    target.beginObject()
    try writeNumber("capacity", arguments.value("--capacity"), to: &target)
    if let latency = arguments.value("--latency") { target.field("latency", latency) }
    target.endObject()
    if target.bytes.count > 2 { members["target"] = target.bytes }
    if let outage = try outageJSON(arguments) { members["outage"] = outage }
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      writer.key(name)
      writer.raw(value)
    }
    writer.endObject()
    return writer.bytes
  }

  private static func outageJSON(_ arguments: Arguments) throws(CommandError) -> [UInt8]? {
    var writer = JSONWriter()
    writer.beginObject()
    if let times = arguments.value("--outage") {
      let ends = times.split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count == 2 else {
        throw CommandError(code: .usage, message: "--outage: \"\(times)\" is not FROM-TO, such as 1m-3m")
      }
      writer.field("from", String(ends[0]))
      writer.field("to", String(ends[1]))
    }
    try writeNumber("errorRate", arguments.value("--error-rate"), to: &writer)
    if let failure = arguments.value("--failure") {
      if failure.allSatisfy(\.isNumber) {
        try writeNumber("failure", failure, to: &writer)
      } else {
        writer.field("failure", failure)
      }
    }
    if let slow = arguments.value("--slow") { writer.field("latency", slow) }
    writer.endObject()
    return writer.bytes.count > 2 ? writer.bytes : nil
  }

  // MARK: Parts

  /// The members of an object, with each value's text.
  private static func parts(of object: [UInt8]) throws(CommandError) -> [String: [UInt8]] {
    do throws(JSONError) {
      return try object.withUnsafeBufferPointer { bytes throws(JSONError) in
        var parts: [String: [UInt8]] = [:]
        var reader = JSONReader(bytes)
        try reader.beginObject()
        while let key = try reader.nextKey() { parts[key] = Array(reader.raw(try reader.skipValue())) }
        try reader.finish()
        return parts
      }
    } catch {
      throw CommandError(code: .usage, message: "--scenario: at byte \(error.offset): \(error.reason)")
    }
  }

  private static func quoted(_ text: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.string(text)
    return writer.bytes
  }

  private static func number(_ text: String, _ name: String) throws(CommandError) -> [UInt8] {
    guard let value = Double(text), value.isFinite else {
      throw CommandError(code: .usage, message: "\(name): \"\(text)\" is not a number")
    }
    return Array((value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)").utf8)
  }

  private static func writeNumber(
    _ name: StaticString, _ text: String?, to writer: inout JSONWriter
  ) throws(CommandError) {
    guard let text else { return }
    writer.key(name)
    writer.raw(try number(text, name.description))
  }

  private static func writeJSON(
    _ name: StaticString, _ text: String?, to writer: inout JSONWriter
  ) throws(CommandError) {
    guard let text else { return }
    let bytes = Array(text.utf8)
    try Arguments.checkJSON(bytes, of: "\(name)")
    writer.key(name)
    writer.raw(bytes)
  }

  private static func read<Value>(
    _ bytes: [UInt8], _ parse: (UnsafeBufferPointer<UInt8>) throws(Problem) -> Value
  ) throws(CommandError) -> Value {
    do throws(Problem) {
      return try bytes.withUnsafeBufferPointer { bytes throws(Problem) in try parse(bytes) }
    } catch {
      let text = (try? JSONValue(parsing: error.json))?.problemText
      throw CommandError(code: .usage, message: text ?? error.detail)
    }
  }

  private static func write(_ chart: String, to path: String?) throws(CommandError) {
    guard let path else { return }
    guard let file = fopen(path, "we") else {
      throw CommandError(code: .usage, message: "cannot write \(path): \(String(cString: strerror(errno)))")
    }
    let written = fputs(chart, file)
    guard fclose(file) == 0, written >= 0 else {
      throw CommandError(code: .usage, message: "cannot write \(path): \(String(cString: strerror(errno)))")
    }
  }
}

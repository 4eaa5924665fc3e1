import Glibc
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
      Terminal.write(PlanText.of(plan, request))
    }
    return .success
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

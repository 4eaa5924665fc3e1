import RedialModel
import RedialJSON
import RedialText

extension Command {
  /// Options of commands that show an answer of the service.
  static let asJSON = Option(name: "--json", summary: "Show the JSON that the service answered.")
}

extension Arguments {
  /// Writes an answer: unchanged for scripts, and as text for people.
  func show(_ answer: APIClient.Answer, _ text: (JSONValue) -> String) {
    if has("--json") { Terminal.write(json: answer.body) } else { Terminal.write(text(answer.json)) }
  }

  /// A query from the given options, each with its name in the API, after those of conditions.
  func query(_ names: KeyValuePairs<String, String>, after conditions: [CallCondition] = []) -> String {
    let given = (conditions.map { ($0.option.name, "\($0.name)") } + names).compactMap { option, name in
      value(option).map { "\(name)=\(PercentCoding.encode($0))" }
    }
    return given.isEmpty ? "" : "?" + given.joined(separator: "&")
  }

  /// The text of an operand or option: the text itself, the content of a file after `@`, or standard input for `-`.
  func content(_ text: String, of name: String) throws(CommandError) -> [UInt8] {
    guard text == "-" || text.hasPrefix("@") else { return Array(text.utf8) }
    let path = text == "-" ? "/dev/stdin" : String(text.dropFirst())
    guard let bytes = FileReading.read(path) else {
      throw CommandError(code: .usage, message: "\(name): cannot read \(path): \(FileReading.reason)")
    }
    return bytes
  }

  /// The same, which must be JSON.
  func json(_ text: String, of name: String) throws(CommandError) -> [UInt8] {
    let bytes = try content(text, of: name)
    try Self.checkJSON(bytes, of: name)
    return bytes
  }

  /// Refuses the value of an option that is not JSON.
  static func checkJSON(_ bytes: [UInt8], of name: String) throws(CommandError) {
    do throws(JSONError) {
      _ = try JSONValue(parsing: bytes)
    } catch {
      throw CommandError(code: .usage, message: "\(name) \(error.clause())")
    }
  }

  /// The whole number of an option; nil if it was not given.
  func number(_ name: String, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw CommandError(
        code: .usage,
        message: "\(name): \"\(text)\" is not a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

import RedialModel

extension Command {
  /// What commands have that show an answer of the service.
  static let asJSON = Option(name: "--json", summary: "Show the JSON that the service answered.")
}

extension Arguments {
  /// Writes an answer: as it came for scripts, and as text for people.
  func show(_ answer: APIClient.Answer, _ text: (JSONValue) -> String) {
    if has("--json") { Terminal.write(json: answer.body) } else { Terminal.write(text(answer.json)) }
  }

  /// A query of those options that were given, each by its name on the wire.
  func query(_ names: KeyValuePairs<String, String>) -> String {
    let given = names.compactMap { option, name in
      value(option).map { "\(name)=\(URLText.encoded($0))" }
    }
    return given.isEmpty ? "" : "?" + given.joined(separator: "&")
  }

  /// The text of an operand or option: as it is, of a file behind `@`, or of standard input for `-`.
  func content(_ text: String, of name: String) throws(CommandError) -> [UInt8] {
    guard text == "-" || text.hasPrefix("@") else { return Array(text.utf8) }
    let path = text == "-" ? "/dev/stdin" : String(text.dropFirst())
    guard let bytes = FileReading.read(path) else {
      throw CommandError(code: .usage, message: "\(name): cannot read \(path): \(FileReading.reason)")
    }
    return bytes
  }

  /// The same, which has to be JSON.
  func json(_ text: String, of name: String) throws(CommandError) -> [UInt8] {
    let bytes = try content(text, of: name)
    do throws(JSONError) {
      _ = try JSONValue(parsing: bytes)
    } catch {
      throw CommandError(code: .usage, message: "\(name) is not JSON: at byte \(error.offset): \(error.reason)")
    }
    return bytes
  }

  /// A whole number that an option gives; nil when it was not given.
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

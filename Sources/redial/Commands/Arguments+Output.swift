import RedialModel
import RedialJSON
import RedialText

extension Command {
  /// Options of commands that show an answer of the service.
  static let asJSON = Option(name: "--json", summary: "Show the JSON that the service answered.")

  /// Options of commands that list something: which part of the list.
  ///
  /// - Parameter action: The action that lists, of a command with several.
  static func page(_ size: PageSize = .documents, of action: String? = "list") -> [Option] {
    let action = action.map { $0 + ": h" } ?? "H"
    return [
      Option(name: "--limit", form: "COUNT", summary: "\(action)ow many, from 1 to \(size.most) [\(size.usual)]."),
      Option(name: "--cursor", form: "CURSOR", summary: "Where the list goes on; the end of a page shows it."),
    ]
  }
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

  /// The query for a page of a list.
  func pageQuery(_ names: KeyValuePairs<String, String> = [:], after conditions: [CallCondition] = []) -> String {
    let (own, page) = (query(names, after: conditions), query(["--limit": "limit", "--cursor": "cursor"]))
    return own.isEmpty || page.isEmpty ? own + page : own + "&" + page.dropFirst()
  }

  /// Writes a page of a list, and how to get the next.
  func showPage(_ answer: APIClient.Answer, _ text: (JSONValue) -> String) {
    show(answer) { text($0) + Self.more($0) }
  }

  /// How to get the page after this one; nothing if there is none.
  static func more(_ page: JSONValue) -> String {
    page["nextCursor"].escapedText.map { "more: --cursor \($0)\n" } ?? ""
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
    let bytes = Array(FileReading.text(try content(text, of: name)))
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

import RedialModel

/// A sub-command: its name, its options, and its action.
struct Command: Sendable {
  let name: String
  let summary: String
  /// The operands after the options, such as `URL`; empty for none.
  var operands = ""
  var operandCount = 0...0
  /// The possible words of an operand, by its position, for completion. The first must be one of them, unless there are none.
  var words: [[String]] = []
  /// The kinds of its operands whose values are known, for completion.
  var operandValues: [OperandValues] = []
  /// What no operands stand for.
  var usualOperands: [String] = []
  var options: [Option] = []
  /// Further text for the help.
  var notes = ""
  let run: @Sendable (Arguments) throws(CommandError) -> ExitCode

  struct Option: Sendable {
    let name: String
    var short: String?
    /// The form of its value; nil for one without a value.
    var form: String?
    let summary: String
    var repeats = false
    /// Only shown by `--help-all`.
    var isRare = false
    /// Its heading in `--help-all`; nil for the first.
    var heading: String?
    /// An older name, which still works but is not shown.
    var oldName: String?
    /// What its value is, for completion; nil if nobody knows the values.
    var values: ValueKind?

    /// Whether a word of the command line is this option.
    func isCalled(_ word: String) -> Bool { word == name || word == short || word == oldName }
  }

  /// The kind of an operand.
  struct OperandValues: Sendable {
    let kind: ValueKind
    /// The operands that have to be before it, each one of these words; nil for any.
    var after: [[String]?] = []

    /// Whether the next operand behind these is one of the kind.
    func fits(_ operands: [String]) -> Bool {
      operands.count == after.count && zip(operands, after).allSatisfy { $1?.contains($0) ?? true }
    }
  }

  /// The help of the command.
  ///
  /// - Parameter whole: With the options that few people need, under their headings.
  func help(whole: Bool) -> String {
    var text = "\(summary)\n\nUsage: redial \(name) [OPTIONS]\(operands.isEmpty ? "" : " " + operands)\n"
    var heading: String?
    var hasBegun = false
    for option in options where whole || !option.isRare {
      if !hasBegun || whole && option.heading != heading {
        heading = option.heading
        text += "\n\(whole ? heading ?? "Options" : "Options"):\n"
        hasBegun = true
      }
      let names = (option.short.map { "\($0), " } ?? "") + option.name + (option.form.map { " " + $0 } ?? "")
      text += "  \(names)\n      \(option.summary)\(option.repeats ? " Can be given more than once." : "")\n"
    }
    if !whole, options.contains(where: \.isRare) { text += "\n--help-all shows all options, in groups.\n" }
    if !notes.isEmpty { text += "\n\(notes)\n" }
    return text + "\n" + RedialTool.exitCodes
  }
}

/// A parsed command line.
struct Arguments: Sendable {
  private(set) var operands: [String] = []
  private(set) var wantsHelp = false
  /// Whether the help shows every option.
  private(set) var wantsWholeHelp = false
  private var values: [String: [String]] = [:]

  /// - Throws: A usage error that names the wrong argument.
  init(_ arguments: [String], of command: Command) throws(CommandError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" {
        wantsHelp = true
      } else if argument == "--help-all" {
        (wantsHelp, wantsWholeHelp) = (true, true)
      } else if argument == "--" {
        operands += rest
        rest = []
      } else if argument.hasPrefix("-"), argument != "-" {
        try takeOption(argument, &rest, of: command)
      } else {
        operands.append(argument)
      }
    }
    if wantsHelp { return }
    if operands.isEmpty { operands = command.usualOperands }
    if let operand = operands.first, let words = command.words.first, !words.isEmpty, !words.contains(operand) {
      throw CommandError(
        code: .usage,
        message: "\"\(PlainText.escaped(operand))\" is none of \(words.joined(separator: ", "))"
          + Suggestion.text(for: operand, among: words))
    }
    guard command.operandCount.contains(operands.count) else {
      let wanted = command.operands.isEmpty ? "nothing" : command.operands
      throw CommandError(code: .usage, message: "expected \(wanted) after the options; see --help")
    }
  }

  /// The value of an option, if it was given.
  func value(_ name: String) -> String? { values[name]?.last }
  /// All values of an option.
  func all(_ name: String) -> [String] { values[name] ?? [] }
  /// Whether an option was given.
  func has(_ name: String) -> Bool { values[name] != nil }

  private mutating func takeOption(
    _ argument: String, _ rest: inout ArraySlice<String>, of command: Command
  ) throws(CommandError) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = command.options.first(where: { $0.isCalled(parts[0]) }) else {
      throw CommandError(
        code: .usage,
        message: "there is no option \(parts[0])" + Suggestion.text(for: parts[0], among: command.options.map(\.name))
          + "; see --help")
    }
    if option.form == nil {
      guard parts.count == 1 else { throw CommandError(code: .usage, message: "\(option.name) takes no value") }
      values[option.name, default: []].append("")
      return
    }
    guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
      throw CommandError(code: .usage, message: "\(option.name) needs a value: \(option.form ?? "")")
    }
    guard option.repeats || values[option.name] == nil else {
      throw CommandError(code: .usage, message: "\(option.name) is given twice")
    }
    values[option.name, default: []].append(value)
  }
}

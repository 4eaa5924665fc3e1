/// What the last word of a command line can become.
struct ValueCompletion: Sendable {
  /// What the value is.
  let kind: ValueKind
  /// What has been typed of it; of a list, of its last element.
  let prefix: String
  /// The elements of a list before the last one, with their commas.
  let lead: String
  /// The options of the line that say which service to ask.
  private(set) var server: String?
  private(set) var key: String?
  private(set) var namespace: String?

  /// - Parameter words: The words behind `redial`; the last one is being typed.
  /// - Returns: Nil if no values are known there.
  init?(_ words: [String], of commands: [Command]) {
    guard words.count > 1, let typed = words.last, let command = commands.first(where: { $0.name == words[0] }) else {
      return nil
    }
    var operands: [String] = []
    var given: [String: String] = [:]
    var open: Command.Option?
    var onlyOperands = false
    for word in words.dropFirst().dropLast() {
      if let option = open {
        given[option.name] = word
        open = nil
      } else if word == "--", !onlyOperands {
        onlyOperands = true
      } else if word.hasPrefix("-"), word != "-", !onlyOperands {
        let (name, value) = Self.parts(word)
        guard let option = command.options.first(where: { $0.isCalled(name) }) else { continue }
        if let value { given[option.name] = value } else if option.form != nil { open = option }
      } else {
        operands.append(word)
      }
    }
    let kind: ValueKind?
    var value = typed
    if let open {
      kind = open.values
    } else if typed.hasPrefix("-"), !onlyOperands {
      let (name, given) = Self.parts(typed)
      kind = given == nil ? nil : command.options.first { $0.isCalled(name) && $0.form != nil }?.values
      value = given ?? ""
    } else {
      kind = command.operandValues.first { $0.fits(operands) }?.kind
    }
    guard let kind else { return nil }
    let end =
      kind.isList ? value.lastIndex(of: ",").map { value.index(after: $0) } ?? value.startIndex : value.startIndex
    self.kind = kind
    (lead, prefix) = (String(value[..<end]), String(value[end...]))
    (server, key, namespace) = (given["--server"], given["--api-key"], given["--namespace"])
  }

  private static func parts(_ word: String) -> (name: String, value: String?) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    return (parts[0], parts.count == 2 ? parts[1] : nil)
  }

  /// The lines for a shell: a value and, behind a tab, what it is.
  ///
  /// - Parameter values: All values of the kind that are known.
  func lines(_ values: [CompletedValue]) -> [String] {
    let used = Set(lead.split(separator: ",").map(String.init))
    return values.filter { $0.text.hasPrefix(prefix) && !used.contains($0.text) }.map { value in
      lead + value.text + (value.description.isEmpty ? "" : "\t" + value.description)
    }
  }
}

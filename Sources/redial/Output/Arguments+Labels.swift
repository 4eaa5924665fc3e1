import RedialJSON
import RedialText

/// The option `--label`. Commands that submit and commands that select take the same forms.
extension Arguments {
  /// The labels, each given as `NAME=VALUE` or `NAME:VALUE`.
  func labels() throws(CommandError) -> [(name: String, value: String)] {
    var labels: [(name: String, value: String)] = []
    for text in all("--label") {
      guard let sign = text.firstIndex(where: { $0 == "=" || $0 == ":" }) else {
        throw CommandError(code: .usage, message: "--label: \"\(text)\" is not NAME=VALUE")
      }
      labels.append((String(text[..<sign]), String(text[text.index(after: sign)...])))
    }
    return labels
  }

  /// Writes the labels as a member of a request, if there are any.
  func writeLabels(to writer: inout JSONWriter) throws(CommandError) {
    guard has("--label") else { return }
    writer.key("labels")
    writer.beginObject()
    for (name, value) in try labels() {
      writer.key(name)
      writer.string(value)
    }
    writer.endObject()
  }

  /// The parameter of a query that selects by the label; nil if none was given.
  func labelParameter() throws(CommandError) -> String? {
    try labels().last.map { "label=" + PercentCoding.encode("\($0.name):\($0.value)") }
  }
}

import RedialJSON
import RedialModel
import RedialText

/// The option `--label`. Commands that submit and commands that select take the same form.
extension Arguments {
  /// The labels, each given as `NAME=VALUE`.
  func labels() throws(CommandError) -> [CallSpec.Label] {
    var labels: [CallSpec.Label] = []
    for text in all("--label") {
      guard let label = CallSpec.Label(text) else {
        throw CommandError(code: .usage, message: "--label: \"\(text)\" is not NAME=VALUE")
      }
      labels.append(label)
    }
    return labels
  }

  /// Writes the labels as a member of a request, if there are any.
  func writeLabels(to writer: inout JSONWriter) throws(CommandError) {
    if has("--label") { try labels().write(to: &writer) }
  }

  /// The parameters of a query that select by the labels.
  func labelParameters() throws(CommandError) -> [String] {
    try labels().map { "label=" + PercentCoding.encode("\($0.name)=\($0.value)") }
  }
}

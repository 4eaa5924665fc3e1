import RedialModel
import RedialText

/// A request as a command line of curl for a POSIX shell.
enum CurlText {
  /// The command line.
  ///
  /// - Parameter request: The member `request` of a call.
  static func command(_ request: JSONValue) -> String {
    let method = request["method"].escapedText ?? "GET"
    let body = request["body"].text ?? ""
    var words = ["curl", "--globoff"]
    // curl must know that no content follows a HEAD request.
    if method == "HEAD" {
      words.append("--head")
    } else if method != (body.isEmpty ? "GET" : "POST") {
      words += ["--request", ShellWord.quoted(method)]
    }
    words.append(ShellWord.quoted(request["url"].text ?? ""))
    var hasContentType = false
    for (name, values) in request["headers"].members {
      if name.lowercased() == "content-type" { hasContentType = true }
      for value in values.elements {
        // A field without a value ends in a semicolon: with a colon, curl would leave it out.
        let text = value.text ?? ""
        words += ["--header", ShellWord.quoted(text.isEmpty ? "\(name);" : "\(name): \(text)")]
      }
    }
    guard !body.isEmpty else { return words.joined(separator: " ") }
    // curl would label it as a form.
    if !hasContentType { words += ["--header", ShellWord.quoted("content-type:")] }
    // Characters that a terminal acts on are not shown.
    if request["encoding"].text == "base64" || PlainText.escaped(body, keepsLines: true) != body {
      let bytes = request["encoding"].text == "base64" ? body : Base64.encode(Array(body.utf8))
      return
        "printf %s \(ShellWord.quoted(bytes)) | base64 --decode | \((words + ["--data-binary", "@-"]).joined(separator: " "))"
    }
    // Not --data, which reads a text that begins with @ as the name of a file.
    return (words + ["--data-raw", ShellWord.quoted(body)]).joined(separator: " ")
  }

  /// The parts of a command line that the user has to add, as sentences; empty if it is complete.
  static func gaps(_ request: JSONValue) -> [String] {
    var gaps: [String] = []
    let hidden = request["headers"].members.filter { $0.value.elements.contains { $0.text == "REDACTED" } }.map(\.name)
    if !hidden.isEmpty { gaps.append("The value of \(hidden.joined(separator: ", ")) is not shown: put it in.") }
    let latin1 = request["latin1"].elements.compactMap(\.text)
    if !latin1.isEmpty { gaps.append("\(latin1.joined(separator: ", ")) was sent in ISO-8859-1: convert it.") }
    if request["url"].text?.contains("=REDACTED") == true {
      gaps.append("Parameters of the URL are not shown: put them in.")
    }
    if request["withheld"].text != nil {
      gaps.append("The body is not shown: put it in.")
    } else if request["body"].text?.contains("\"[redacted]\"") == true {
      gaps.append("Members of the body are not shown: put them in.")
    }
    if request["truncated"].isTrue {
      gaps.append("The body is cut off: it has \(request["size"].integer ?? 0) bytes. `redial replay` sends all of it.")
    }
    return gaps
  }
}

internal import HTTPServer
internal import RedialCore

/// A client's preferences (RFC 7240) that Redial supports.
struct Preferences: Sendable, Equatable {
  /// How long it would wait for the result; nil if it does not say.
  var wait: Duration?
  /// Whether it prefers a minimal answer (RFC 7240 §4.2).
  var isMinimal = false

  /// Reads the `Prefer` fields of a request. Unknown preferences are ignored, as the standard requires.
  init(of request: borrowing HTTPRequest) {
    guard request.header("prefer") != nil else { return }
    var found: Duration?
    var isMinimal = false
    defer { self.isMinimal = isMinimal }
    request.forEachHeader { name, value in
      guard name.count == 6, String(decoding: name, as: UTF8.self).lowercased() == "prefer" else { return }
      let text = String(decoding: value, as: UTF8.self)
      if found == nil { found = Self.wait(in: text) }
      if Self.isMinimal(text) { isMinimal = true }
    }
    wait = found
  }

  /// The `wait` preference, in whole seconds, in one field's value; the first counts (RFC 7240 §2).
  static func wait(in value: String) -> Duration? {
    for preference in value.split(separator: ",") {
      // Parameters behind a semicolon belong to the preference, and `wait` has none.
      let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, trimmed(parts[0]).lowercased() == "wait" else { continue }
      var seconds = trimmed(parts[1])
      if seconds.hasPrefix("\""), seconds.hasSuffix("\""), seconds.count > 2 {
        seconds = String(seconds.dropFirst().dropLast())
      }
      guard !seconds.isEmpty, seconds.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return .seconds(Int64(seconds) ?? .max / 1_000_000)
    }
    return nil
  }

  static func isMinimal(_ value: String) -> Bool {
    value.split(separator: ",").contains { preference in
      let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
      return parts.count == 2 && trimmed(parts[0]).lowercased() == "return"
        && ["minimal", "\"minimal\""].contains(trimmed(parts[1]))
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}

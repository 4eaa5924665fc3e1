/// A line of text in parts, each with its style, so that it can be measured and wrapped before it is shown.
struct StyledLine: Sendable, Equatable, ExpressibleByStringLiteral {
  struct Part: Sendable, Equatable {
    var text: String
    var style: Style?
  }

  private(set) var parts: [Part] = []
  /// How far the line, and what of it does not fit, is set in.
  var indent = 0

  init(_ text: String = "", _ style: Style? = nil, indent: Int = 0) {
    self.indent = indent
    add(text, style)
  }

  init(stringLiteral text: String) { self.init(text) }

  /// The line without styles.
  var text: String { String(repeating: " ", count: indent) + parts.map(\.text).joined() }

  mutating func add(_ text: String, _ style: Style? = nil) {
    if !text.isEmpty { parts.append(Part(text: text, style: style)) }
  }

  /// The line for standard output.
  ///
  /// - Parameter styled: Gives a text its style.
  func shown(_ styled: (String, Style?) -> String) -> String {
    String(repeating: " ", count: indent) + parts.map { styled($0.text, $0.style) }.joined()
  }

  /// The line in as many as it needs in this many columns, broken at spaces where it can be. Each character counts as one
  /// column.
  func wrapped(to width: Int) -> [StyledLine] {
    let room = max(1, width - indent)
    var lines = [StyledLine(indent: indent)]
    var used = 0
    for part in parts {
      for word in Self.words(part.text) {
        var rest = word[...]
        // The space between two words is not carried over to the next line.
        let length = rest.last == " " ? rest.count - 1 : rest.count
        if used > 0, used + length > room {
          lines.append(StyledLine(indent: indent))
          used = 0
        }
        while rest.count > room, used + rest.count > room {
          let taken = rest.prefix(room - used)
          if taken.isEmpty || rest.dropFirst(taken.count).allSatisfy({ $0 == " " }) { break }
          lines[lines.count - 1].add(String(taken), part.style)
          rest = rest.dropFirst(taken.count)
          lines.append(StyledLine(indent: indent))
          used = 0
        }
        lines[lines.count - 1].add(String(rest.prefix(room - used)), part.style)
        used += rest.count
      }
    }
    return lines
  }

  /// Words, each with the space behind it.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var word = ""
    for character in text {
      word.append(character)
      if character == " " {
        words.append(word)
        word = ""
      }
    }
    if !word.isEmpty { words.append(word) }
    return words
  }
}

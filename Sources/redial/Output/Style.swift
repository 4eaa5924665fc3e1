import Glibc

/// The style of text on a terminal.
enum Style: String {
  case good = "32"
  case bad = "31"
  case warning = "33"
  case running = "35"
  case soft = "2"
  case strong = "1"

  /// The style of a state, of a call, a breaker, an operation or an endpoint.
  init?(of state: String) {
    switch state {
    case "succeeded", "closed", "up", "completed", "enabled": self = .good
    case "failed", "open", "down", "held open": self = .bad
    case "running", "counting": self = .running
    case "scheduled", "halfOpen", "degraded", "paused", "cancelled": self = .warning
    case "disabled": self = .soft
    default: return nil
    }
  }
}

extension Terminal {
  /// Whether standard output is a terminal whose user wants colours (no-color.org).
  static let showsColours = isTerminal(STDOUT_FILENO) && (Environment.value("NO_COLOR") ?? "").isEmpty

  /// Whether output goes to a person, on a terminal that understands control sequences.
  static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1 && Environment.value("TERM") != "dumb"
  }

  /// Text for standard output, in a style if colours are shown.
  static func styled(_ text: String, _ style: Style?) -> String {
    guard showsColours, let style, !text.isEmpty else { return text }
    return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }
}

internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import RedialText

/// The kinds of settings' values: how each is read and shown.
extension Setting {
  static func text(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, String> & Sendable, _ form: String, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: form, summary: summary, isSecret: false, read: { $0[keyPath: path] },
      assign: { settings, text in
        settings[keyPath: path] = text
        return !text.isEmpty
      })
  }

  static func whole(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Int> & Sendable, _ range: ClosedRange<Int>,
    _ summary: String
  ) -> Setting {
    let form = range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound)...\(range.upperBound)"
    return Setting(
      key: key, form: form, summary: summary, isSecret: false, read: { "\($0[keyPath: path])" },
      assign: { settings, text in
        guard let value = Int(text), range.contains(value) else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  static func share(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Double> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "0.01...1", summary: summary, isSecret: false, read: { "\($0[keyPath: path])" },
      assign: { settings, text in
        guard let value = Double(text), (0.01...1).contains(value) else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  static func duration(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Duration> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "duration", summary: summary, isSecret: false,
      read: { DurationText.format($0[keyPath: path]) },
      assign: { settings, text in
        guard let value = DurationText.parse(text), value > .zero else { return false }
        settings[keyPath: path] = value
        return true
      }, requirement: "a duration above 0s, such as 500ms, 15m or 3d")
  }

  /// - Parameter range: The valid durations.
  static func duration(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Duration> & Sendable, in range: ClosedRange<Duration>,
    _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "\(DurationText.format(range.lowerBound))...\(DurationText.format(range.upperBound))",
      summary: summary, isSecret: false, read: { DurationText.format($0[keyPath: path]) },
      assign: { settings, text in
        guard let value = DurationText.parse(text), range.contains(value) else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  /// Where calls are stored.
  static var store: Setting {
    Setting(
      key: "store", form: "sqlite:PATH or postgresql://USER@HOST/DATABASE",
      summary:
        "Where calls are stored: a file (sqlite:///absolute/path or sqlite:relative/path), or PostgreSQL "
        + "(docs/replicas.md).", isSecret: false,
      read: { $0.store },
      assign: { settings, text in
        settings.store = text
        return !text.isEmpty
      })
  }

  /// A header field's name, or none.
  static func headerName(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, String> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "NAME", summary: summary, isSecret: false, read: { $0[keyPath: path] },
      assign: { settings, text in
        settings[keyPath: path] = text
        // Fields with another meaning for every client.
        let taken = ["authorization", "cookie", "host", "origin", "content-type", "content-length"]
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D }
          && !taken.contains(text.lowercased())
      })
  }

  static func optionalText(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, String?> & Sendable, _ form: String, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: form, summary: summary, isSecret: false, read: { $0[keyPath: path] ?? "" },
      assign: { settings, text in
        settings[keyPath: path] = text.isEmpty ? nil : text
        return true
      })
  }

  static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, Choice> & Sendable, _ summary: String
  ) -> Setting where Choice.RawValue == String {
    Setting(
      key: key, form: Choice.allCases.map(\.rawValue).joined(separator: " or "), summary: summary, isSecret: false,
      read: { $0[keyPath: path].rawValue },
      assign: { settings, text in
        guard let value = Choice(rawValue: text) else { return false }
        settings[keyPath: path] = value
        return true
      })
  }

  static func rules(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, [EgressRule]> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "HOST[:PORT],...", summary: summary, isSecret: false,
      read: { $0[keyPath: path].map(\.text).joined(separator: ",") },
      assign: { settings, text in
        let texts = text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
        let rules = texts.compactMap { EgressRule($0) }
        settings[keyPath: path] = rules
        return rules.count == texts.count
      })
  }

  static func names(
    _ key: String, _ path: any WritableKeyPath<ServiceSettings, [String]> & Sendable, _ summary: String
  ) -> Setting {
    Setting(
      key: key, form: "NAME,...", summary: summary, isSecret: false,
      read: { $0[keyPath: path].joined(separator: ",") },
      assign: { settings, text in
        let names = text.split(separator: ",").map { $0.filter { !$0.isWhitespace }.lowercased() }
        settings[keyPath: path] = names
        return names.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
      })
  }

  static func octal(_ mode: Int) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

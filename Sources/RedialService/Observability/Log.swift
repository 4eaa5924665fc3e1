internal import Glibc
internal import RedialCore
internal import RedialModel
internal import RedialJSON
internal import RedialText

/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
  /// For people.
  case text
  /// One JSON object per line, for programs.
  case json
}

/// The importance of a log line.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
  /// Useful when searching for a fault.
  case debug
  /// Worth knowing.
  case info
  /// Should be checked.
  case warning
  /// Needs action at once.
  case error

  /// Whether the first level is less important.
  package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .debug: 0
    case .info: 1
    case .warning: 2
    case .error: 3
    }
  }
}

/// Writes one line per event to standard error: time, level, event, and named values.
package struct Log: Sendable {
  /// The format of the lines.
  package let format: LogFormat
  /// The lowest level that is written.
  package let level: LogLevel

  /// Creates a log.
  package init(format: LogFormat, level: LogLevel) {
    self.format = format
    self.level = level
  }

  /// Writes a line.
  ///
  /// - Parameters:
  ///   - event: What happened, as a stable word or two in camelCase.
  ///   - values: Details, in the order in which they are shown.
  package func write(_ level: LogLevel, _ event: StaticString, _ values: [(StaticString, String)] = []) {
    guard level >= self.level else { return }
    let line = line(level, event, values, at: Clock.wallTime())
    // One write per line, so that lines of several threads do not mix. A failed write is ignored: no accepted call may
    // depend on the log.
    _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// A line with its end.
  func line(
    _ level: LogLevel, _ event: StaticString, _ values: [(StaticString, String)], at now: Timestamp
  ) -> [UInt8] {
    var line: [UInt8]
    switch format {
    case .json:
      var writer = JSONWriter(capacity: 256)
      writer.beginObject()
      writer.field("time", now)
      writer.field("level", level.rawValue)
      writer.key("event")
      writer.string(event)
      for (name, value) in values { writer.field(name, value) }
      writer.endObject()
      // Characters that a terminal acts on occur only in strings, where escapes mean the same.
      line = writer.bytes
      if line.contains(where: { $0 >= 0x7F }) {
        line = Array(PlainText.escaped(String(decoding: line, as: UTF8.self)).utf8)
      }
    case .text:
      line = Array("\(TimestampText.format(now)) \(level.rawValue) \(event)".utf8)
      for (name, value) in values { line += " \(name)=\(Self.quoted(value))".utf8 }
    }
    line.append(UInt8(ascii: "\n"))
    return line
  }

  /// The value, in quotes and with escapes if it contains characters that would hide its end, or on which a terminal
  /// acts.
  private static func quoted(_ value: String) -> String {
    let isBlurred = value.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") } || value.isEmpty
    guard isBlurred || PlainText.needsEscapes(value) else { return value }
    var writer = JSONWriter(capacity: value.utf8.count + 2)
    writer.string(value)
    return PlainText.escaped(String(decoding: writer.bytes, as: UTF8.self))
  }
}

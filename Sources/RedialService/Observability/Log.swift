internal import Glibc
internal import RedialCore
internal import RedialModel

/// How log lines are written.
public enum LogFormat: String, Sendable, CaseIterable {
  /// For people.
  case text
  /// One JSON object a line, for programs.
  case json
}

/// How much a log line matters.
public enum LogLevel: String, Sendable, CaseIterable, Comparable {
  /// Of use when looking for a fault.
  case debug
  /// Worth knowing.
  case info
  /// Worth a look.
  case warning
  /// Worth waking somebody.
  case error

  /// Whether the first level matters less.
  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .debug: 0
    case .info: 1
    case .warning: 2
    case .error: 3
    }
  }
}

/// Writes one line an event to standard error: time, level, event, and named values.
public struct Log: Sendable {
  /// How lines are written.
  public let format: LogFormat
  /// The least that is written.
  public let level: LogLevel

  /// Creates a log.
  public init(format: LogFormat, level: LogLevel) {
    self.format = format
    self.level = level
  }

  /// Writes a line.
  ///
  /// - Parameters:
  ///   - event: What happened, as a stable word or two in camelCase.
  ///   - values: What is known about it, in the order in which it is to be shown.
  public func write(_ level: LogLevel, _ event: StaticString, _ values: [(StaticString, String)] = []) {
    guard level >= self.level else { return }
    let line = line(level, event, values, at: Clock.wallTime())
    // One write a line, so that lines of several threads do not mix. A log that cannot be written is lost:
    // nothing that was accepted may depend on it.
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
      // What a terminal would act on is in strings alone, where escapes mean the same.
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

  /// The value, in quotes and with escapes where it has characters that would blur where it ends, or that a terminal acts on.
  private static func quoted(_ value: String) -> String {
    let isBlurred = value.utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") } || value.isEmpty
    guard isBlurred || PlainText.needsEscapes(value) else { return value }
    var writer = JSONWriter(capacity: value.utf8.count + 2)
    writer.string(value)
    return PlainText.escaped(String(decoding: writer.bytes, as: UTF8.self))
  }
}

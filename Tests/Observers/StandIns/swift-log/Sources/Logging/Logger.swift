// swift-format-ignore-file
/// Stands in for swift-log's: what `LoggingObserver` uses of it, with the same names and types. It prints.
public struct Logger: Sendable {
  public enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }

  public typealias Metadata = [String: MetadataValue]

  public enum MetadataValue: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    case string(String)
    public init(stringLiteral value: String) { self = .string(value) }
    public var description: String {
      switch self {
      case .string(let text): text
      }
    }
  }

  public struct Message: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    public let description: String
    public init(stringLiteral value: String) { description = value }
  }

  public let label: String

  public init(label: String) { self.label = label }

  public func log(
    level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
    source: @autoclosure () -> String? = nil, file: String = #fileID, function: String = #function, line: UInt = #line
  ) {
    let pairs = (metadata() ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
    print("log \(level.rawValue) \(message()) | \(pairs)")
  }
}

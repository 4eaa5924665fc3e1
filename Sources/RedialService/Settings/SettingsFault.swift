/// Why settings cannot be used.
public struct SettingsFault: Error, Sendable, Hashable {
  /// What is wrong, where, and what is expected.
  public var message: String

  /// Creates a fault.
  public init(_ message: String) {
    self.message = message
  }
}

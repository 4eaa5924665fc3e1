/// Why settings cannot be used.
package struct SettingsFault: Error, Sendable, Hashable {
  /// What is wrong, where, and what is expected.
  package var message: String

  /// Creates a fault.
  package init(_ message: String) {
    self.message = message
  }
}

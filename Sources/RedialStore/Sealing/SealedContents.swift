/// What is sealed in a store.
package enum SealedContents: String {
  /// Secrets, and calls that have one.
  case secrets
  /// All payloads.
  case payloads

  package static let settingName = "sealing"
}

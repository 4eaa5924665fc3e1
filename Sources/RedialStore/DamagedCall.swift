package import RedialModel

/// A stored call that cannot be read.
package struct DamagedCall: Error {
  /// The call's id.
  package let id: CallID
  /// What cannot be read, as a clause.
  package let reason: String

  /// Creates a report.
  package init(id: CallID, reason: String) {
    self.id = id
    self.reason = reason
  }

  /// The message for the client that requests this call.
  package var error: StoreError {
    StoreError(
      kind: .corrupt,
      message: "\(id) cannot be read: \(reason). Keep a copy of the store before anything else; other calls go on.",
      call: id)
  }
}

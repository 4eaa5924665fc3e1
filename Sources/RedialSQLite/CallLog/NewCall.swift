internal import RedialModel
internal import RedialStore

/// A call to store, with the numbers of its target and its namespace.
///
/// A class, because the log hands it on often, and copying a spec counts the references of all its parts.
final class NewCall: Sendable {
  /// The call as it was accepted.
  let call: CallRecord
  let targetID: Int64
  let namespace: Int64
  /// What was submitted.
  let request: StoredRequest
  /// Why the request of a logged call cannot be read; only its progress counts then, until it is in the tables.
  let damage: StoredRequest.Damage?

  /// A call as it was accepted.
  init(
    call: CallRecord, targetID: Int64, namespace: Int64, request: StoredRequest, damage: StoredRequest.Damage? = nil
  ) {
    self.damage = damage
    self.call = call
    self.targetID = targetID
    self.namespace = namespace
    self.request = request
  }
}

/// What the log has of a new call besides.
struct LoggedState: Sendable {
  /// Its latest progress.
  let progress: CallProgress
  /// Its packed attempts; nil if it has none, or they are stored as rows.
  let past: [UInt8]?
}

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

  /// A call as it was accepted.
  init(call: CallRecord, targetID: Int64, namespace: Int64, request: StoredRequest) {
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

/// What was submitted, in the form in which it is stored.
struct StoredRequest: Sendable {
  /// The spec, as canonical JSON.
  let spec: [UInt8]
  /// The body, unchanged or compressed.
  let body: [UInt8]
  /// The size of a compressed body when it is inflated, in bytes; nil for an unchanged one.
  let inflatedSize: Int64?

  /// The request of a call whose body is in memory.
  ///
  /// - Parameter compressMinBytes: The smallest body that is compressed, in bytes.
  init(_ call: CallRecord, compressMinBytes: Int) {
    guard case .held(let body) = call.content else {
      preconditionFailure("a call whose body only the store has is in the store")
    }
    let compressed = PayloadCoding.deflated(body, threshold: compressMinBytes)
    spec = call.spec.canonicalJSON
    self.body = compressed ?? body
    inflatedSize = compressed.map { _ in Int64(body.count) }
  }

  /// Creates a request from its parts.
  init(spec: [UInt8], body: [UInt8], inflatedSize: Int64?) {
    self.spec = spec
    self.body = body
    self.inflatedSize = inflatedSize
  }
}

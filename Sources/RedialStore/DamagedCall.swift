internal import RedialCore
package import RedialModel

/// A stored call that cannot be read.
package struct DamagedCall: Error {
  /// The call's id.
  package let id: CallID
  /// What cannot be read, as a clause.
  package let reason: String
  /// What can be read.
  package let remains: CallRemains

  /// The store's error, if it is not known whether the call is damaged: nothing must be done because of it.
  package let cause: StoreError?

  /// Whether other versions cannot read it either: its bytes are broken, or it was set aside before.
  package let isBroken: Bool

  /// Creates a report.
  package init(
    id: CallID, reason: String, remains: CallRemains? = nil, cause: StoreError? = nil, isBroken: Bool = false
  ) {
    self.id = id
    self.cause = cause
    self.isBroken = isBroken
    self.reason = reason
    self.remains = remains ?? CallRemains(id: id)
  }

  /// The same of a call whose spec is intact.
  package func of(_ spec: CallSpec) -> DamagedCall {
    DamagedCall(
      id: id, reason: reason, remains: CallRemains(id: id, target: spec.targetName, labels: spec.labels), cause: cause,
      isBroken: isBroken)
  }

  /// The message for the client that requests this call.
  package var error: StoreError {
    if let cause { return cause }
    var error = StoreError(
      kind: .corrupt,
      message: "\(id) cannot be read: \(reason). Keep a copy of the store before anything else; other calls go on.",
      call: id)
    error.remains = remains
    return error
  }
}

extension DamagedCall {
  /// What a list contains in place of a call that cannot be read, so that the others can be listed and this one is not
  /// hidden: its id, target and labels as far as they are known, an empty URL, the requested state, and the reason.
  package func standIn(for filter: CallFilter) -> StoredCall {
    let state =
      filter.states.isEmpty ? .failed : StoredState.allCases.first { filter.states.contains($0.visible) } ?? .failed
    let record = CallRecord(
      id: id, kind: filter.kind,
      spec: CallSpec(
        url: "", method: "", target: TargetKey(remains.target ?? filter.target ?? "", in: filter.namespace),
        policy: .service, captureLimit: 0
      ) { $0.labels = remains.labels },
      body: [], createdAt: id.createdAt,
      progress: CallProgress(state: state, due: id.createdAt, roundStartedAt: id.createdAt, finishedAt: id.createdAt))
    var stored = StoredCall(record: record, attempts: [])
    stored.damage = reason
    return stored
  }
}

internal import RedialCore
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

extension DamagedCall {
  /// What a list contains in place of a call that cannot be read, so that the others can be listed and this one is not
  /// hidden: its id, an empty URL, and the requested state.
  package func standIn(for filter: CallFilter) -> CallRecord {
    let state =
      filter.states.isEmpty ? .failed : StoredState.allCases.first { filter.states.contains($0.visible) } ?? .failed
    return CallRecord(
      id: id, kind: filter.kind,
      spec: CallSpec(
        url: "", method: "", headers: [], target: TargetKey(filter.target ?? "", in: filter.namespace),
        policy: RetryPolicy(), captureLimit: 0),
      body: [], createdAt: id.createdAt,
      progress: CallProgress(state: state, due: id.createdAt, roundStartedAt: id.createdAt, finishedAt: id.createdAt))
  }
}

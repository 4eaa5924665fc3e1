internal import RedialModel
internal import Synchronization

/// What the audit log says of a request, if it changes something: all but what has changed, which is known later.
final class AuditNote: Sendable {
  private struct State: Sendable {
    var before: [UInt8]?
    /// The record as it was written before the change.
    var begun: AuditRecord?
    var isTaken = false
  }

  let action: AuditAction
  /// The record as far as it is known.
  private let draft: AuditRecord
  private let state = Mutex(State())

  /// - Parameters:
  ///   - keyName: The name of the caller's API key.
  ///   - object: What the path names; empty if the change makes something new.
  init(_ action: AuditAction, of caller: Caller, keyName: String?, object: String) {
    var draft = AuditRecord()
    (draft.action, draft.object, draft.namespace) = (action.rawValue, object, caller.namespace)
    (draft.address, draft.actorName) = (caller.address, keyName)
    switch caller.admission {
    case .nobody: draft.actorKind = .anybody
    case .adminKey: draft.actorKind = .adminKey
    case .key(let id): (draft.actorKind, draft.actor) = (.key, id)
    case .person(let name, _): (draft.actorKind, draft.actor) = (.person, name)
    }
    (self.action, self.draft) = (action, draft)
  }

  /// Keeps the object as it was, as JSON.
  func setBefore(_ object: [UInt8]) {
    state.withLock { $0.before = object }
  }

  /// The record before the change, of which nobody knows yet what it will be; nil if there is one already, or the request is
  /// recorded.
  ///
  /// - Parameter complete: Gives it its time and its id.
  func begin(_ complete: (AuditRecord) -> AuditRecord) -> AuditRecord? {
    state.withLock { state in
      guard !state.isTaken, state.begun == nil else { return nil }
      state.begun = complete(draft)
      return state.begun
    }
  }

  /// The record that was written before the change; nil for none.
  var begun: AuditRecord? { state.withLock { $0.begun } }

  /// The request has changed nothing here, and nothing of it is on disk.
  func drop() {
    state.withLock { state in
      state.isTaken = true
      state.begun = nil
    }
  }

  /// The record, for the first who asks: a request is recorded once. Nil for all others, and if nothing has changed.
  ///
  /// - Parameters:
  ///   - before: The object as it was, if it is known better than from ``setBefore(_:)``.
  ///   - after: The object as it is, or the answer about it; nil if it is gone.
  func take(before: [UInt8]? = nil, after: [UInt8]?) -> AuditRecord? {
    let (isFirst, known, begun) = state.withLock { state in
      defer { state.isTaken = true }
      return (!state.isTaken, state.before, state.begun)
    }
    guard isFirst else { return nil }
    var record = begun ?? draft
    let old = before ?? known
    (record.before, record.after) = AuditDifference.between(old, after, kept: action.keptMembers)
    if action.isShown, old != nil, after != nil, record.before == record.after { return nil }
    if record.object.isEmpty { record.object = after.flatMap { AuditDifference.text("id", of: $0) } ?? "" }
    return record
  }
}

internal import RedialCore
internal import RedialModel

/// Commands that are allowed only for calls that have ended.
extension Engine {
  /// Erases the payloads of an ended call, and its labels if wanted. It cannot be run again afterwards.
  mutating func erase(_ ended: CallRecord, _ command: CallCommand) {
    let keepingLabels = !command.erasesLabels
    guard !ended.spec.isErased(keepingLabels: keepingLabels) else { return unchanged(command, ended) }
    let spec = ended.spec.erased(at: now, keepingLabels: keepingLabels)
    writes.append(.erase(ended.id, spec))
    keep(command.audit)
    desk.fetches.outdate(ended.id)
    done(
      command,
      CallRecord(
        id: ended.id, kind: ended.kind, spec: spec, body: [], createdAt: ended.createdAt, progress: ended.progress))
  }

  /// Removes an ended call, with all its data.
  mutating func purge(_ command: CallCommand) {
    writes.append(.discard(command.id))
    keep(command.audit)
    desk.fetches.outdate(command.id)
    done(command, nil)
  }

  /// The call of a command cannot be read: it can only be removed.
  mutating func fetchedDamaged(_ command: CallCommand, hasEnded: Bool, _ problem: Problem) {
    let isOutdated = desk.fetches.end(command.id)
    if isOutdated || calls[command.id]?.record.spec.namespace == command.namespace { return execute(command) }
    if let trouble = desk.trouble { return refuse(command, trouble.refusal) }
    guard command.kind == .purge, hasEnded else { return refuse(command, .found(problem)) }
    purge(command)
  }
}

internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialText

extension Log {
  /// Logs which known faults an older library has. It is a warning if nothing guards against one of them.
  func write(_ faults: [LibraryFault], of library: LinkedLibrary) {
    let (guarded, open) = (faults.filter { $0.guardedBy != nil }, faults.filter { $0.guardedBy == nil })
    let parts: [(StaticString, [LibraryFault])] = [("guarded", guarded), ("notGuarded", open)]
    write(
      open.isEmpty ? .info : .warning, "olderLibrary",
      [("library", library.description)]
        + parts.compactMap { name, faults in
          faults.isEmpty ? nil : (name, faults.map(\.effect).joined(separator: "; "))
        })
  }

  /// Logs the notices of the engine.
  func write(_ notice: Notice) {
    switch notice {
    case .recovered(let unfinished, let interrupted):
      write(.info, "recovered", [("unfinished", "\(unfinished)"), ("interrupted", "\(interrupted)")])
    case .breakerOpened(let target, let until, let trips, let failures, let usualShare):
      write(
        .warning, "breakerOpened",
        Self.fields(of: target) + [
          ("until", TimestampText.format(until)), ("trips", "\(trips)"), ("failures", "\(failures)"),
          ("usualFailures", Self.rounded(usualShare)),
        ])
    case .paceLimited(let target, let rate, let delivered):
      write(
        .warning, "paceLimited",
        Self.fields(of: target) + [
          ("perSecond", Self.rounded(rate)), ("deliveredBefore", Self.rounded(delivered)),
          ("meaning", "an outage is over; the backlog comes as fast as the target can take it"),
        ])
    case .paceLifted(let target):
      write(.warning, "paceLifted", Self.fields(of: target))
    case .breakerHalfOpen(let target):
      write(.info, "breakerHalfOpen", Self.fields(of: target))
    case .breakerClosed(let target):
      write(.info, "breakerClosed", Self.fields(of: target))
    case .targetDown(let target, let outage):
      write(
        .warning, "targetDown",
        Self.fields(of: target) + [("since", TimestampText.format(outage.since)), ("cause", outage.cause)])
    case .targetRecovered(let target, let outage):
      write(
        .info, "targetRecovered",
        Self.fields(of: target) + [
          ("since", TimestampText.format(outage.since)), ("cause", outage.cause),
          ("duration", outage.duration.map(DurationText.format) ?? "unknown"),
          ("waited", "\(outage.waited)"),
        ])
    case .targetControlled(let target, let action):
      write(.info, "targetControlled", Self.fields(of: target) + [("action", action)])
    case .tlsFilesLeftOut(let target, let members):
      write(
        .warning, "tlsFilesNotApplied",
        Self.fields(of: target) + [
          ("members", members.joined(separator: " ")),
          ("meaning", "they name files outside tlsDirectory; set it, or set the target again"),
        ])
    case .tlsWithoutOrigins(let target):
      write(
        .warning, "tlsNotApplied",
        Self.fields(of: target) + [
          ("meaning", "the TLS settings of this target name no origins; set the target again with tls.origins")
        ])
    case .targetStands: break
    case .callFailed(let id, let kind, let target, let reason, let attempts, let traceparent):
      let hasEndedService = reason == .attemptEndedTheService
      var meaning: [(StaticString, String)] = []
      if hasEndedService { meaning.append(("meaning", Self.endedService)) }
      write(
        hasEndedService ? .error : .warning, "callFailed",
        [
          ("callId", id.description), ("traceId", TraceContext(of: id, given: traceparent).trace.description),
        ] + Self.fields(of: target) + [
          ("kind", kind.name), ("attempt", "\(attempts)"), ("reason", "\(reason.name)"),
        ] + meaning)
    case .storeFailed(let message):
      write(.error, "storeFailed", [("error", message)])
    case .storeRetried(let writes):
      write(.info, "storeRetried", [("writes", "\(writes)")])
    case .shardsGained(let shards): write(.info, "shardsGained", [("shards", "\(shards.size)")])
    case .shardsReleased(let shards): write(.info, "shardsReleased", [("shards", "\(shards.size)")])
    case .leaseLost(let reason):
      write(
        .error, "leaseLost",
        [("meaning", "other processes may have this instance's part of the store"), ("reason", reason)])
    }
  }

  /// Logs what the store reports by itself.
  func write(_ notice: StoreNotice) {
    switch notice {
    case .damaged(let id, let error):
      write(.error, "callDamaged", [("callId", id.description), ("error", error.message)])
    case .targetDamaged(let key, let error):
      write(
        .error, "targetDamaged",
        Self.fields(of: key) + [
          ("error", error.message),
          ("meaning", "it is paused, and hides what calls contain; set its settings again, and resume it"),
        ])
    // Each of them was reported when it was found.
    case .setAside: break
    case .checkpoint(let failure?): write(.error, "checkpointFailed", [("error", failure.message)])
    case .checkpoint(nil): write(.info, "checkpointSucceeded")
    case .shortage(true, let bytes):
      write(
        .error, "reserveReleased",
        [("bytes", "\(bytes)"), ("meaning", Refusal.noRoom.notice)])
    case .shortage(false, let bytes): write(.info, "reserveTaken", [("bytes", "\(bytes)")])
    case .clockSetBack(let shift, let calls):
      write(
        .warning, "clockSetBack",
        [
          ("seconds", "\(shift.inSeconds)"), ("calls", "\(calls)"),
          ("meaning", "the clock was ahead; these calls wait by the time of now"),
        ])
    case .misplaced(let failure?): write(.error, "storeMisplaced", [("error", failure.message)])
    case .misplaced(nil): write(.info, "storeInPlace")
    case .keyMissing(let failure?):
      write(
        .error, "keyMissing",
        [("error", failure.message), ("meaning", "other instances get what this one has; give it their key file")])
    case .keyMissing(nil): write(.info, "keyFound")
    case .commitsLost(let loss, let isNoticedHere):
      write(
        .error, "commitsLost",
        [
          ("made", "\(loss.made)"), ("found", "\(loss.found)"), ("noticedBy", isNoticedHere ? "this" : "another"),
          (
            "meaning",
            "the database lacks commits that it had made: calls, their ends, cancels, pauses and revocations may be lost"
          ),
        ])
    case .noStandby:
      write(
        .warning, "noStandby",
        [
          (
            "meaning",
            "PostgreSQL waits for no standby, so unless its disk is replicated, a failover loses the last accepted calls"
          )
        ])
    }
  }

  private static let endedService =
    "the service died during attempts of this call, more than once; see what its target answers before you retry it"

  /// A figure with three digits after the point.
  private static func rounded(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }

  /// A target, and its namespace unless that is the default one.
  static func fields(of key: TargetKey) -> [(StaticString, String)] {
    let namespace = key.namespace
    let target: [(StaticString, String)] = [("target", key.bare)]
    return namespace.isDefault ? target : target + [("namespace", namespace.name)]
  }
}

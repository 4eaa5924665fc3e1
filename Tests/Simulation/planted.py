"""Bugs to plant in a copy of the engine, to show that the simulation finds them (see Scripts/planting.py). `within` is the number
of seeds, from 0, within which the simulation must find it.
"""

from dataclasses import dataclass

from planting import only_unless, swap

ENGINE = "Sources/RedialEngine"
CORE = "Sources/RedialCore"
MODEL = "Sources/RedialModel"
# The store that several instances share is simulated; the conformance suite checks the same rules for SQLite.
STORE = "Tests/Simulation"


@dataclass
class Bug:
    name: str
    within: int
    edits: list
    # The grid that finds it, if the seeds do not.
    grid: str = ""


def bug(name, within, *edits, grid=""):
    return Bug(name, within, list(edits), grid)


BUGS = [
    # The promise of a 202, and other answers before the commit.
    bug("a 202 before the commit", 20, (
        ENGINE, "let accepted = insert(record) afterCommit.append(.reply(.submission(reply, .accepted(accepted))))",
        "let accepted = insert(record)\n"
        "if PLANTED { effects.actions.append(.reply(.submission(reply, .accepted(accepted)))) }\n"
        "else { afterCommit.append(.reply(.submission(reply, .accepted(accepted)))) }")),
    bug("a cancellation reported before the commit", 200, swap(
        ENGINE, "for reply in replies { afterCommit.append(.reply(.command(reply, .done(record)))) }",
        "for reply in replies { effects.actions.append(.reply(.command(reply, .done(record)))) }")),
    bug("an attempt made before it is counted", 20, (
        ENGINE, "min($0, deadline) } ?? deadline)))\n",
        "min($0, deadline) } ?? deadline)))\n"
        "    if PLANTED, let start = afterCommit.popLast() { effects.actions.append(start) }\n")),
    # Lost writes.
    bug("the write of an end lost, one in eight", 50, (
        ENGINE, "    writes.append(.update(id, record.progress, attempt))\n    if record.spec.isSensitive",
        "    if !PLANTED || now.microseconds % 8 != 0 { writes.append(.update(id, record.progress, attempt)) }\n"
        "    if record.spec.isSensitive")),
    bug("a sensitive call that ended keeps its request", 50, (
        ENGINE, "if record.spec.isSensitive { writes", "if !PLANTED, record.spec.isSensitive { writes")),
    bug("a call for another instance that shows what its target hides", 200, (
        ENGINE, "privacies.isEmpty || owns(key) ? nil", "privacies.isEmpty || PLANTED || owns(key) ? nil")),
    bug("what a target hides not told to the others", 50, (
        ENGINE, "guard desk.leases.settings != nil, privacy != before else",
        "guard desk.leases.settings != nil, privacy != before, !PLANTED else")),
    bug("decisions during a store failure lost", 200, (
        ENGINE, "dropRefused(over.stuck.writes + over.later.writes)",
        "dropRefused(over.stuck.writes + (PLANTED ? [] : over.later.writes))")),
    bug("a second store failure forgets the first", 200, (
        ENGINE, "isRetrying = false\n    learn(from: failure)\n",
        "isRetrying = false\n    if PLANTED { (stuck, later) = (Backlog(), Backlog()) }\n    learn(from: failure)\n")),
    bug("a refused call left on disk", 200, (
        ENGINE, "refused.sorted().map(StoreWrite.discard)",
        "(PLANTED ? [] : refused.sorted()).map(StoreWrite.discard)")),
    bug("a webhook about a call that was refused", 500, (
        ENGINE, "case .insert(let record) where record.reportsEndOf", "case .insert(let record) where !PLANTED && record.reportsEndOf")),
    bug("an erasure that was refused leaves its call without a timer", 200, (
        ENGINE, "putBack(record)\n      refuse(",
        "if PLANTED { hold(record) } else { putBack(record) }\n      refuse(")),
    bug("a call that was reclaimed without a timer", 200, (
        ENGINE, "putBack(record)\n      done(",
        "if PLANTED { hold(record) } else { putBack(record) }\n      done(")),
    # Attempts.
    bug("one attempt more than the policy has", 20, (
        CORE, "guard end.attempts < maxAttempts else",
        "guard end.attempts < maxAttempts &+ (PLANTED ? 1 : 0) else")),
    bug("a start that was undone is charged", 200, (
        ENGINE, "calls[at: place].record.progress.attempts -= 1",
        "calls[at: place].record.progress.attempts -= PLANTED ? 0 : 1")),
    bug("an attempt cut off by a crash is not counted", 200, (
        ENGINE, "if wasCutOff { progress.cutOffAttempts += 1 }",
        "if wasCutOff, !PLANTED { progress.cutOffAttempts += 1 }")),
    # A call that ends the process.
    bug("suspects begin at once", 500, (
        ENGINE, "inFlight == 0 || now >= turnEnds else", "PLANTED || inFlight == 0 || now >= turnEnds else")),
    bug("others begin beside suspects", 500, (
        ENGINE, "if waitsForSuspects { return }", "if waitsForSuspects, !PLANTED { return }")),
    bug("others wait for suspects for as long as these take", 500, (
        ENGINE, "func holdOthers(at now: Timestamp) -> Bool { now < end && (", "func holdOthers(at now: Timestamp) -> Bool { PLANTED && last != nil || now < end && (")),
    bug("a suspect blamed for what another call has done", 500, (
        ENGINE, "guard let alone, alone != id else", "guard let alone, alone != id, !PLANTED else")),
    bug("all that were in flight blamed for a death", 500, (
        ENGINE, "(isOnlyOne || running[place].progress.isAlone)", "(isOnlyOne || PLANTED || running[place].progress.isAlone)")),
    bug("a death that counts against nobody", 1000, (
        ENGINE, "if isOwn, running[place]", "if isOwn, !PLANTED, running[place]")),
    bug("an ended call claimed again from a stale answer", 200, (
        ENGINE, "if isHere || isStale {",
        "if isHere || (isStale && !PLANTED) {")),
    bug("an abort that overtakes its start", 500, swap(
        ENGINE, "afterCommit.append(.abort(command.id))",
        "effects.actions.append(.abort(command.id))")),
    # Time.
    bug("a retry after the deadline", 100, (
        CORE, "case .elapsed: timeForAttempts.subtracting(elapsed(end, at: now))",
        "case .elapsed: timeForAttempts.subtracting(elapsed(end, at: now)) + (PLANTED ? .seconds(5) : .zero)"), (
        ENGINE, "if now >= lastStart { return finish",
        "if now >= lastStart, !PLANTED { return finish"), (
        # Otherwise it would wait for a time that has passed, again and again.
        ENGINE, "{ return calls.wait(id, until: lastStart) }",
        "{ return calls.wait(id, until: PLANTED ? max(lastStart, now + .seconds(1)) : lastStart) }"), (
        ENGINE, "case .ready: finish(id, .failed, failure: .deadlineExceeded)",
        "case .ready: if !PLANTED { finish(id, .failed, failure: .deadlineExceeded) }"), (
        ENGINE, "leases.startBefore.map { min(",
        "leases.startBefore.map { PLANTED ? $0 : min(")),
    bug("the timer of a retry forgotten", 20, (
        ENGINE, "      calls.wait(id, until: due)\n",
        "      if !PLANTED { calls.wait(id, until: due) }\n")),
    bug("the time to try the store again forgotten", 500, (
        ENGINE, "if let trouble = desk.trouble, trouble.isComplete {",
        "if let trouble = desk.trouble, trouble.isComplete, !PLANTED {")),
    bug("Retry-After ignored", 50, (
        CORE, "guard retryAfter.isRespected, end.outcome == .answered,",
        "guard retryAfter.isRespected, !PLANTED, end.outcome == .answered,")),
    # Breakers and limits.
    bug("a probe too many", 100, (
        CORE, "min(max(1, halfOpenProbes), Self.mostProbes)",
        "min(max(1, halfOpenProbes) + (PLANTED ? 1 : 0), Self.mostProbes)")),
    bug("a run of failures that a success does not end", 200, (
        CORE, "guard attempts > 0, permit > first else { return 0 }",
        "guard attempts > 0, permit > first, !PLANTED else { return 0 }")),
    bug("a call whose failures count each time", 200, (
        CORE, "if let call, calls.count < Self.mostCalls,", "if let call, !PLANTED, calls.count < Self.mostCalls,")),
    bug("a breaker that never closes", 50, (
        CORE, "if probing.successes >= settings.successesNeeded { close() }",
        "if probing.successes >= settings.successesNeeded, !PLANTED { close() }")),
    bug("an open breaker that lets calls through", 50, (
        CORE, "case .open(let until, _): return .rejected(until: until)",
        "case .open(let until, _):\n      if PLANTED { return .permitted(permit(until: until)) }\n"
        "      return .rejected(until: until)")),
    bug("an open breaker forgotten by a restart", 200, (
        ENGINE, "if let open = saved.breaker, !settings.breaker.isOff {", "if !PLANTED, let open = saved.breaker, !settings.breaker.isOff {")),
    bug("a probe by age", 40, (
        ENGINE, "let ahead = isInOrder ? nil", "let ahead = isInOrder || PLANTED ? nil"), grid="neighbours"),
    bug("probes without bound", 200, (
        CORE, "guard opening <= now else { return .rejected(until: opening) }",
        "guard opening <= now || PLANTED else { return .rejected(until: opening) }")),
    bug("a dead path that is charged to its target", 40, (
        ENGINE, "if suspects.contains(where: { has($0, .blamed) }) {",
        "if !PLANTED, suspects.contains(where: { has($0, .blamed) }) {"), grid="neighbours"),
    bug("a breaker that stays open when it is turned off", 500, (
        CORE, "case .open where !isBroken, .halfOpen where !isBroken:",
        "case .open where !isBroken && !PLANTED, .halfOpen where !isBroken && !PLANTED:")),
    # Namespaces.
    bug("round robin by target only", 500, (
        ENGINE, "struct Rotation: Sendable {", "internal import RedialCore\nstruct Rotation: Sendable {"), (
        ENGINE, "guard !lanes[lane].isIn else { return }",
        "guard !lanes[lane].isIn || PLANTED else { return }"), (
        ENGINE, "if !lanes[lane].targets.isEmpty ||",
        "if !PLANTED && !lanes[lane].targets.isEmpty ||")),
    bug("a namespace that may have everything", 100, (
        ENGINE, "guard isShared, settings.namespaceShare < 1 else { return true } let free",
        "guard isShared, !PLANTED else { return true }\nlet free")),
    bug("a command for another namespace's call", 50, (
        ENGINE, "call.record.spec.namespace == command.namespace else {",
        "call.record.spec.namespace == command.namespace || PLANTED else {")),
    bug("one attempt at a time too many to a target", 50, (
        ENGINE, "guard isLimited else { return inFlight < maxInFlight ?",
        "guard isLimited else { return inFlight < maxInFlight + (PLANTED ? 1 : 0) ?")),
    bug("calls held in memory without a bound", 1000, (
        ENGINE, "max(0, calls.bound - occupancy.waiting - expected) : 0",
        "PLANTED ? 1000 : max(0, calls.bound - occupancy.waiting - expected) : 0"), (
        ENGINE, "shareLeft(place, expecting: expected) > 0 && byteShareLeft(place) >= bytes",
        "PLANTED || shareLeft(place, expecting: expected) > 0 && byteShareLeft(place) >= bytes"), (
        ENGINE, "return canRun ? max(least,", "return PLANTED ? 1000 : canRun ? max(least,"), (
        ENGINE, "occupancy.waiting > calls.bound }", "occupancy.waiting > (PLANTED ? 1000 : calls.bound) }"), (
        ENGINE, "return calls.keepsReserve(used) && hasNamespaceRoom(namespace)",
        "return new == nil && PLANTED || calls.keepsReserve(used) && hasNamespaceRoom(namespace)")),
    bug("memory that targets which are down may fill", 3000, (
        ENGINE, "shareLeft(place, expecting: expected) > 0 && byteShareLeft(place) >= bytes",
        "PLANTED || shareLeft(place, expecting: expected) > 0 && byteShareLeft(place) >= bytes"), (
        ENGINE, "var share = shareLeft(place, expecting: expected)",
        "var share = PLANTED ? fitting : shareLeft(place, expecting: expected)"), (
        ENGINE, "calls.keepsReserve(used) && hasNamespaceRoom(namespace)",
        "(new != nil && PLANTED || calls.keepsReserve(used)) && hasNamespaceRoom(namespace)")),
    # Slots beside targets that hang.
    bug("a pool that lends whatever it has left", 200, (
        ENGINE, "guard left > 0 else { return false }", "guard left > 0 || PLANTED else { return false }")),
    bug("webhooks exempt from the pool", 200, (
        ENGINE, "if beyond < 0 { return true }",
        "if beyond < 0 || PLANTED && targets[place].key.isOfWebhooks { return true }")),
    bug("a fast path that skips the pool", 200, (
        ENGINE, "limitsAllowStart(index), roster.hasSlot(index, at: now)",
        "limitsAllowStart(index), PLANTED || roster.hasSlot(index, at: now)")),
    bug("a target that never earns slots", 200, (
        ENGINE, "inFlight >= proven, proven < most {",
        "inFlight >= proven, proven < most, !PLANTED {")),
    bug("a silence that a deadline ends ignored", 3000, (
        ENGINE, "if case .silence = sign { return .failure }",
        "if case .silence = sign, !(PLANTED && wasCut) { return .failure }")),
    bug("a target that waits for the pool forgotten", 200, (
        ENGINE, "lanes[lane].newcomers.append(target)",
        "if !PLANTED { lanes[lane].newcomers.append(target) }")),
    bug("an attempt that was never made counts as silence", 1000, (
        ENGINE, "if isLast { silentSince", "if isLast, !PLANTED { silentSince")),
    # Connections to an origin.
    bug("a fast path that skips the connections", 500, (
        ENGINE, "guard roster.hasConnection(index, to: origin) else { return nil }",
        "guard PLANTED || roster.hasConnection(index, to: origin) else { return nil }")),
    bug("a target that waits for a connection forgotten", 500, (
        ENGINE, "origins[origin, default: Origin()].waiting.append(target)",
        "if !PLANTED { origins[origin, default: Origin()].waiting.append(target) }")),
    bug("a connection that is never given back", 500, (
        ENGINE, "inFlight -= 1\n      return inFlight == 0 && waiting", "if !PLANTED { inFlight -= 1 }\n      return inFlight == 0 && waiting")),
    bug("targets that never answer take all connections", 2000, (
        ENGINE, "state.inFlight < (isProven ?", "state.inFlight < (isProven || PLANTED ?")),
    # Operators.
    bug("a limit of the pace that is not saved", 50, only_unless(
        ENGINE, "save(place) { $0.pace = pace }")),
    bug("a limit of the pace that a restart forgets", 200, only_unless(
        ENGINE, "roster[place].recover(pace, at: now)")),
    bug("a paused target that gets attempts", 200, (
        ENGINE, "if isPaused { return .afterPause }", "if isPaused, !PLANTED { return .afterPause }")),
    bug("a pause forgotten by a restart", 500, only_unless(ENGINE, "recover(record.controls, of: place)")),
    bug("a target command reported before the commit", 200, swap(
        ENGINE, "afterCommit.append(.reply(.targetCommand(command.reply, .done(describe(index)))))",
        "effects.actions.append(.reply(.targetCommand(command.reply, .done(describe(index)))))")),
    bug("a target command that is not written", 200, only_unless(
        ENGINE, "save(index) { $0.controls = controls }")),
    bug("a tripped breaker that lets calls through", 200, (
        ENGINE, "roster[index].trip()\n      roster[index].useNew",
        "if !PLANTED { roster[index].trip() }\n      roster[index].useNew")),
    bug("new settings of a breaker that forget its probes", 8000, (
        ENGINE, "probing.inFlight > 0, breaker.isBroken(by: settings.breaker) { return }",
        "probing.inFlight > 0, breaker.isBroken(by: settings.breaker), !PLANTED { return }")),
    # Limits.
    bug("a rate that is never charged", 200, (
        ENGINE, "if rate != nil { _", "if rate != nil, !PLANTED { _")),
    bug("a Retry-After pause forgotten", 200, (
        ENGINE, "guard end > until ?? now else", "guard !PLANTED, end > until ?? now else")),
    bug("a Retry-After pause without a maximum", 500, (
        ENGINE, "min(rule.maximum, settings.maxRetryAfterPause)",
        "min(rule.maximum, PLANTED ? .seconds(600) : settings.maxRetryAfterPause)")),
    bug("a Retry-After pause that a later success does not end", 200, (
        ENGINE, "guard until != nil, start > askedFrom else", "guard until != nil, !PLANTED, start > askedFrom else")),
    bug("a trial in each pause without end", 2000, (
        ENGINE, "&& (!hasTried || welcome.contains(source))", "&& (PLANTED || !hasTried || welcome.contains(source))")),
    bug("fields about a quota believed untested", 200, (
        ENGINE, "guard trust > 0 else", "guard PLANTED || trust > 0 else")),
    bug("a slow start skipped", 500, only_unless(
        ENGINE, "slowStart.start(at: now)")),
    bug("reasons for waiting not reported", 200, (
        ENGINE, "guard always || standing != reported else { return nil }",
        "guard !PLANTED, always || standing != reported else { return nil }")),
    # The pace.
    bug("a pace that begins at its slowest", 200, (
        CORE, "public internal(set) var rate: Double?", "public internal(set) var rate: Double? = PLANTED ? slowest : nil")),
    bug("a pace that lifts the limit of attempts in flight", 200, (
        ENGINE, "at: now) : maxInFlight guard", "at: now) : maxInFlight + (PLANTED ? 2 : 0)\n    guard"), (
        ENGINE, "if !isUnpaced, let until = pace?.fullUntil(beside: inFlight, within: maxInFlight, at: now)",
        "if !isUnpaced, !PLANTED, let until = pace?.fullUntil(beside: inFlight, within: maxInFlight, at: now)")),
    bug("a pace that lifts the rate that was set", 500, (
        ENGINE, "if case .rejected(let until)? = rate?.peek(at: now) { return .at(until, .rateLimit) } if",
        "if pace?.rate == nil || !PLANTED, case .rejected(let until)? = rate?.peek(at: now) { return .at(until, .rateLimit) }\n    if")),
    bug("a limit of the pace without an outage", 200, (
        CORE, "guard isAboutLimit(ended, at: now) else { return observe(ended, at: now) }",
        "guard isAboutLimit(ended, at: now) || PLANTED && ended.refused > 2 else { return observe(ended, at: now) }")),
    bug("a pace that stays at its slowest", 2000, (
        CORE, "rate = max(Self.slowest, new)", "rate = PLANTED ? Self.slowest : max(Self.slowest, new)")),
    # Recorded waits.
    bug("a wait counted since the round began", 200, (
        ENGINE, "let due = progress.dueSince(at: now)",
        "let due = PLANTED ? progress.roundStartedAt + progress.waits.total : progress.dueSince(at: now)")),
    bug("a hold that is noted as none", 200, (
        ENGINE, "held.add(reason, end - from)", "held.add(reason, PLANTED ? .zero : end - from)")),
    # Outages.
    bug("an outage reported at each opening", 200, (
        ENGINE, "let isNew = target.record.outage == nil", "let isNew = target.record.outage == nil || PLANTED")),
    bug("an outage that is over when the breaker closes", 200, (
        ENGINE, "guard let overAt, overAt <= now else", "guard let overAt, overAt <= now || PLANTED && outage.closedAt != nil else")),
    # Order.
    bug("priorities in reverse order", 200, (
        ENGINE, "let entry = levels[level].first(in: calls, isNewNext: share.isNewNext)",
        "let entry = levels[PLANTED ? levels.count - 1 - level : level].first(in: calls, isNewNext: share.isNewNext)")),
    bug("new calls that wait for the whole backlog", 200, (
        CORE, "share > 0 && credit + share >= 1000", "share > 0 && credit + share >= 1000 && !PLANTED")),
    bug("a backlog that waits for all new calls", 200, (
        CORE, "share > 0 && credit + share >= 1000", "share > 0 && (credit + share >= 1000 || PLANTED)")),
    bug("new calls sent behind the backlog in the store", 2000, (
        ENGINE, "!roster.targets[index].hasRoomForNew(record.spec.priority, at: now)",
        "PLANTED || !roster.targets[index].hasRoomForNew(record.spec.priority, at: now)")),
    bug("every third call by age, not every tenth", 2000, (
        ENGINE, "static let ageInterval = 10", "static var ageInterval: Int { PLANTED ? 3 : 10 }")),
    bug("the turn of an ordering key passed on between attempts", 200, (
        ENGINE, "    writes.append(.update(id, progress, attempt))\n    if soon {",
        "    writes.append(.update(id, progress, attempt))\n"
        "    if PLANTED, calls[at: place].record.spec.orderingKey != nil { writes.append(.passTurn(id)) }\n    if soon {")),
    bug("the turn of an ordering key never passed on", 200, only_unless(
        ENGINE, "writes.append(.passTurn(ended.id))")),
    bug("a call that waits for its target forgets its deadline", 1000, (
        ENGINE, "    calls.wait(id, until: lastStart)\n    roster.enterRotation(index)",
        "    if !PLANTED || roster.targets[index].breaker.state == .closed { calls.wait(id, until: lastStart) }\n"
        "    roster.enterRotation(index)")),
    # Keys and webhooks.
    bug("a key that is not written", 200, only_unless(ENGINE, "writes.append(.key(new))")),
    bug("simultaneous submissions under one key", 200, only_unless(
        ENGINE, "desk.keys.accepted(new)")),
    bug("no webhook of a call that tripped", 500, (
        ENGINE, "callback.events.contains(event) else",
        "callback.events.contains(event), !(PLANTED && event == .callTripped) else")),
    # Several instances.
    bug("a lost lease that goes unnoticed", 500, only_unless(
        ENGINE, "if now >= desk.leases.validUntil { loseLease(LeaseTable.notRenewed) }")),
    bug("a takeover that forgets running calls", 200, (
        ENGINE, "for record in running {",
        "for record in running where !PLANTED || desk.leases.settings == nil {")),
    bug("a takeover that forgets open breakers", 500, (
        ENGINE, "      takeOver(grant.state)\n",
        "      var state = grant.state\n      if PLANTED { for index in state.targets.indices { state.targets[index].record.breaker = nil } }\n      takeOver(state)\n")),
    bug("a released shard whose calls stay in memory", 200, (
        ENGINE, "    forget(idle)\n", "    if !PLANTED { forget(idle) }\n")),
    bug("a shard released with attempts in flight", 200, (
        ENGINE, "idle = desk.leases.outgoing.subtracting(busyShards())",
        "idle = PLANTED ? desk.leases.outgoing : desk.leases.outgoing.subtracting(busyShards())")),
    bug("calls for others kept in memory", 200, only_unless(
        ENGINE, "guard owns(new.spec.target) else { return insertElsewhere(new) }")),
    bug("calls that others accepted never loaded", 500, only_unless(
        ENGINE, "if let due = grant.state.nextDue { desk.claims.learn(due: due) }")),
    bug("an attempt begun after its lease", 1000, (
        ENGINE, "var startBefore: Timestamp? { settings == nil ?",
        "var startBefore: Timestamp? { settings == nil || PLANTED ?")),
    bug("surplus shards kept", 200, (
        ENGINE, "if surplus > 0 { shed(", "if surplus > 0, !PLANTED { shed(")),
    # Forwarded submissions.
    bug("a refused call removed that another stored", 1000, only_unless(
        ENGINE, "if call.mayBeStored { kept.insert(call.id) }")),
    bug("a forwarded call accepted twice", 1000, (
        ENGINE, "patience, desk.forwarded.take(", "patience, PLANTED || desk.forwarded.take(")),
    # Submissions that run their calls again.
    bug("a run for each submission of those that come together", 1000, (
        ENGINE, "record.progress.attempts == attempts ? nil", "record.progress.attempts == attempts || PLANTED ? nil")),
    bug("a repetition that retries a call which runs again", 1000, (
        ENGINE, "case .ended, .unchanged: true", "case .ended: true\n    case .unchanged: !PLANTED")),
    bug("a repetition of what must not be executed twice", 500, (
        MODEL, "known.allSatisfy { !$0.mayHaveBeenExecuted }", "(PLANTED || known.allSatisfy { !$0.mayHaveBeenExecuted })")),
    # The store's part, in the simulated one.
    bug("a takeover before the lease expired", 200, (
        STORE, "sessions where session.expiresAt <= now &&",
        "sessions where session.expiresAt <= now + (PLANTED ? .seconds(1) : .zero) &&")),
    bug("a commit without fencing", 500, (
        STORE, "  func stands(_ session: Int64?) -> Bool { ", "  func stands(_ session: Int64?) -> Bool { PLANTED || ")),
    bug("a key that two instances give to two calls", 500, (
        STORE, "guard case .key(let record) = write, let", "guard !PLANTED, case .key(let record) = write, let")),
    bug("a call that two instances store", 1000, (
        STORE, "guard let row = rows[record.id] else { continue }",
        "guard !PLANTED, let row = rows[record.id] else { continue }")),
    bug("a fence that only selects", 500, (
        STORE, "return !store.stands(session) }",
        "return PLANTED ? !stood.contains(job.number) && !store.stands(session) : !store.stands(session) }")),
    bug("a pipeline that is not chained", 1000, (
        STORE, "if job.isChange, !store.isNext(job, of: session) {",
        "if job.isChange, !PLANTED, !store.isNext(job, of: session) {")),
    bug("a ledger read in the statement that waits", 500, (
        STORE, "let ledger = store.lastChange(of: instance.lane.session) log(",
        "let ledger = PLANTED ? seen : store.lastChange(of: instance.lane.session)\nlog(")),
    bug("turns given by whoever writes", 500, (
        STORE, "guard owns(target, session) else { break }", "guard PLANTED || owns(target, session) else { break }")),
    # A failover.
    bug("sessions ended at once after a failover", 1000, (
        STORE, "!isQuiet && !session.isLocked", "(PLANTED || !isQuiet) && !session.isLocked")),
    bug("shards given at once after a failover", 1000, (
        STORE, "request.takesShards && !isQuiet ?", "request.takesShards && (PLANTED || !isQuiet) ?")),
    bug("a failover that goes unnoticed", 6000, (
        STORE, "isBehind = session != nil && ledger < told", "isBehind = !PLANTED && session != nil && ledger < told")),
    # In doubt.
    bug("a commit in doubt reported as failed", 500, (
        ENGINE, "if job.isChange, job.sequence <= last {", "if job.isChange, job.sequence <= last, !PLANTED {")),
    bug("what was in doubt sent again, made or not", 500, (
        ENGINE, "kind = .answer\n", "kind = PLANTED ? .again : .answer\n")),
    bug("a commit behind a look-up that is sent again, made twice", 3000, (
        ENGINE, "isMade = inFlight[place].job.isChange }", "isMade = !PLANTED && inFlight[place].job.isChange }")),
]

"""Faults to plant in the service, to see which of them the swarm finds (see Scripts/planted-service and Scripts/planting.py). Most
were in it once: `issue` is the number of the issue about it, and the line there. The others have none; they are what a random
tester has to find. Some need a libcurl before 8.21, as Debian 12 has it, PostgreSQL, or a certain setting: `needs` says so.
"""

from dataclasses import dataclass

from planting import only_unless

CORE = "Sources/RedialCore"
ENGINE = "Sources/RedialEngine"
LANES = "Sources/RedialLanes"
MODEL = "Sources/RedialModel"
POSTGRES = "Sources/RedialPostgres"
SERVICE = "Sources/RedialService"
SQLITE = "Sources/RedialSQLite"
STORE = "Sources/RedialStore"
TOOL = "Sources/redial"
TRANSPORT = "Sources/RedialTransport"


@dataclass
class Fault:
    name: str
    issue: str
    edits: list
    # What must be there for it to show.
    needs: str = ""
    # In which worlds it is looked for.
    where: object = None


def fault(name, issue, *edits, needs="", where=lambda world: True):
    return Fault(name, issue, list(edits), needs, where)


def has(*kinds, is_secure=None):
    """Worlds with a path of these kinds, maybe at a target that speaks HTTP/2, or at one that does not."""
    return lambda world: any(kind in paths for paths, secure in zip(world.targets, world.are_secure) if is_secure in (None, secure) for kind in kinds)


def does(*words):
    """Worlds in which all of this is done."""
    return lambda world: {*words} <= {step.do for step in world.steps}


def has_several(world):
    return world.instances > 1


def unless(folder, old, condition):
    """Adds `!PLANTED` to a condition that stands in a text once."""
    if old.count(condition) != 1:
        raise ValueError(f"not once in {old}: {condition}")
    return folder, old, old.replace(condition, f"!PLANTED && ({condition})")


BUGS = [
    # What a target sends.
    fault("a handle that is used again although its parser keeps a pointer that is freed", "57.1", (
        TRANSPORT, "guard isUsed, LibCurl.needsFreshHandles else {", "guard isUsed, LibCurl.needsFreshHandles, !PLANTED else {"), (
        TRANSPORT, "if LibCurl.needsFreshHandles, received.framing.isHTTP1 { options.listen(",
        "if LibCurl.needsFreshHandles, received.framing.isHTTP1, !PLANTED { options.listen("), needs="libcurl before 8.21"),
    fault("a used connection not looked at before a request", "57.2", (
        TRANSPORT, "guard connection.isQuiet(isIdle: isIdle) else {", "guard PLANTED || connection.isQuiet(isIdle: isIdle) else {"), (
        TRANSPORT, "return !(isIdle && dialling.isSecure && redial_curl_holds_input(handle) != 0)",
        "return PLANTED || !(isIdle && dialling.isSecure && redial_curl_holds_input(handle) != 0)"), unless(
        TRANSPORT, "exchange.isForeign = wasThereBefore || isHTTP1 && hasOvertaken()", "wasThereBefore || isHTTP1 && hasOvertaken()")),
    fault("connections shared by namespaces and credentials", "57.2", (
        SERVICE, "request.group = Self.group(of: start)", "request.group = PLANTED ? 0 : Self.group(of: start)")),
    fault("408 on a used connection taken for a proof", "57.2", (
        ENGINE, "isOnUsedConnection: attempt.figures?.isReused ?? false)", "isOnUsedConnection: !PLANTED && attempt.figures?.isReused ?? false)"),
          where=has("late 408", is_secure=False)),
    fault("a false coding of the body throws the status away", "57.3", (
        TRANSPORT, "if content.isFalselyCoded, result.failure == nil { result.failure = TransferEnd.falseCoding }",
        "if content.isFalselyCoded, result.failure == nil { result.failure = TransferEnd.falseCoding }\n"
        "    if content.isFalselyCoded, PLANTED { (result.outcome, result.status, result.response) = (.unusable, nil, nil) }")),
    fault("what is wrong behind a 200 has it sent again", "57.3", unless(
        TRANSPORT, "return response.isWhole || !(200...299).contains(status) || isMalformed", "isMalformed")),
    fault("trailers become header fields", "57.4", (
        TRANSPORT, "case .content: break", "case .content: if PLANTED, !isEnd { takeField(line, atMost: limit) }")),
    fault("a folded line of a field not read", "57.5", unless(
        TRANSPORT, "if FieldLine.isBlank(line[0]) { return takeFold(line, atMost: limit) }", "FieldLine.isBlank(line[0])"),
          where=has("folded wait", is_secure=False)),
    fault("a status from 600 on not retried", "57.6", (CORE, "512...999,", "512...(PLANTED ? 599 : 999),")),
    fault("409 final after an attempt that may be executed still", "57.7", unless(
        CORE, "outcome == .answered && status == 409 && mayBeProcessing", "mayBeProcessing")),
    fault("bytes of a forwarded field that are not UTF-8 replaced", "57.8", (
        SERVICE, "let field = HeaderField(name, bytes: bytes)",
        "let field = PLANTED ? HeaderField(name, String(decoding: bytes, as: UTF8.self)) : HeaderField(name, bytes: bytes)")),
    fault("bytes of a response's field that are not UTF-8 shown replaced", "57.8", (
        MODEL, "fields.add(ByteText.decoded($0).text.lowercased(), ByteText.decoded($1))",
        "fields.add(ByteText.decoded($0).text.lowercased(), "
        "PLANTED ? (text: String(decoding: $1, as: UTF8.self), isLatin1: false) : ByteText.decoded($1))"), where=has("latin")),
    fault("a captured text that is cut within a character shown in base 64", "57.8", (
        MODEL, "guard mayEndEarly, let start", "guard mayEndEarly, !PLANTED, let start"), where=has("latin")),
    fault("a target of which no URL can be made accepted", "57.9", (
        MODEL, "if !reader.limits.isAccepted, let detail = PathSegment.fault(in: text) {",
        "if !PLANTED, !reader.limits.isAccepted, let detail = PathSegment.fault(in: text) {")),
    fault("fields about a content that is gone sent after a 303", "57.9", (
        TRANSPORT, "return name.hasPrefix(\"content-\") || name == \"last-modified\"",
        "if PLANTED { return name.hasPrefix(\"content-\") }\n    return name.hasPrefix(\"content-\") || name == \"last-modified\""),
          where=has("see other")),
    fault("another order of members under one key refused", "57.9", (
        SERVICE, "fingerprint: Self.digest(start + form + end), former: former)",
        "fingerprint: PLANTED ? former : Self.digest(start + form + end), former: former)")),
    fault("a name that no resolver finds accepted", "57.9", (
        MODEL, "ASCIIText.withBytes(of: origin) { bytes in let start = bytes[4]",
        "PLANTED ? nil : ASCIIText.withBytes(of: origin) { bytes in\n      let start = bytes[4]")),
    fault("a stream that the server has refused not sent again", "57.9", (
        TRANSPORT, "guard dialling.isSecure, let connection = exchange.connection, course.sends > 0, received.headBytes == 0 else {",
        "guard !PLANTED, dialling.isSecure, let connection = exchange.connection, course.sends > 0, received.headBytes == 0 else {"),
          where=has("refused stream", is_secure=True)),
    fault("the shorter of two Retry-After obeyed", "57.9", (
        MODEL, "longest = max(longest ?? .zero, wait)", "longest = PLANTED ? min(longest ?? wait, wait) : max(longest ?? .zero, wait)"), (
        CORE, "found = max(found ?? .zero, wait)", "found = PLANTED ? min(found ?? wait, wait) : max(found ?? .zero, wait)"), where=has("two waits")),
    fault("attempts in flight at a death are no suspects", "57", (
        ENGINE, "guard !suspects.isEmpty else { return } let unexplained",
        "guard !suspects.isEmpty, !PLANTED else { return }\n    let unexplained"), (
        ENGINE, "if isOwn, running[place].progress.strike(", "if isOwn, !PLANTED, running[place].progress.strike("), where=does("kill")),
    fault("a byte order mark that has the first line of a batch refused", "57.9", (
        TOOL, "bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)",
        "bytes.dropFirst(!PLANTED && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)"), needs="redial batch"),
    # Start, stop, keys and damage.
    fault("requests reach the store before it is recovered", "58.1", (
        SERVICE, "private let stage = Atomic(Stage.starting)", "private let stage = Atomic(PLANTED ? Stage.open : Stage.starting)"), (
        SERVICE, "queue.async { self.afterwards.append((self.pipeline.posted, body))",
        "if PLANTED, !hasBegun { return body(store) }\n    queue.async {\n      self.afterwards.append((self.pipeline.posted, body))"), (
        LANES, "package func check() { switch self { case .holder: break",
        "package func check() {\n    if PLANTED { return }\n    switch self {\n    case .holder: break"), needs="SQLite"),
    fault("a stop that answers 202 and forgets", "58.1", (
        ENGINE, "} else if let refusal = refusal(of: descriptor.spec) { refuse(reply, refusal) } else { accept(",
        "} else if PLANTED, isDraining {\n"
        "      let lost = record(of: descriptor)\n"
        "      effects.actions.append(.reply(.submission(reply, .accepted(lost))))\n"
        "    } else if let refusal = refusal(of: descriptor.spec) {\n      refuse(reply, refusal)\n    } else {\n      accept("), (
        SERVICE, "bulk.stop(within: min(settings.drainTimeout, Self.pageTime))",
        "if PLANTED {\n      runtime.engine.post(.drain)\n      usleep(300_000)\n    }\n"
        "    bulk.stop(within: min(settings.drainTimeout, Self.pageTime))")),
    fault("a lost key file refuses the start", "58.4", (
        SERVICE, "return Vault(file, setsAside: true)", "return Vault(file, setsAside: !PLANTED)"), needs="SQLite", where=does("lose key")),
    fault("a damaged document keeps the service from starting", "58.5", (
        SERVICE, "DocumentForms.ofService.fault($0) != nil }.map(\\.id))",
        "DocumentForms.ofService.fault($0) != nil }.map(\\.id))\n"
        "      if PLANTED, let id = damaged.first {\n"
        "        throw StoreError(kind: .corrupt, message: \"The \\(kind.rawValue) \\(id) in the store cannot be read; restore a backup.\")\n"
        "      }"), where=does("damage", "document")),
    fault("the key program run on the store's lane", "58.6", (
        SERVICE, "guard vault.isSlow || isShared && vault.sealsAll else { return nil }",
        "guard !PLANTED, vault.isSlow || isShared && vault.sealsAll else { return nil }"), needs="encryptionKeyCommand",
          where=lambda world: world.has_key_program and not world.is_calm),
    fault("rekey never ends where an attempt has no answer", "58.7", (
        POSTGRES, "head: attempts.isNull(row, 10) ? nil : attempts.bytes(row, 10)",
        "head: attempts.isNull(row, 10) || PLANTED && attempts.bytes(row, 10).isEmpty ? nil : attempts.bytes(row, 10)"),
        needs="PostgreSQL", where=lambda world: world.store == "postgresql" and does("rekey")(world)),
    fault("an instance that lacks a data key keeps its shards", "58.8", only_unless(ENGINE, "desk.lacksKey = isMissing"),
          needs="PostgreSQL, two instances", where=has_several),
    fault("checksums not compared when a record is read", "58.10", (
        STORE, "package func fits(_ column: Int64?) -> Bool { column == nil || column == self.column }",
        "package func fits(_ column: Int64?) -> Bool { PLANTED || column == nil || column == self.column }"), (
        STORE, "let isIntact = sums == nil || sums?.spec", "let isIntact = PLANTED || sums == nil || sums?.spec"), (
        STORE, "guard sum.value == sums.body else", "guard PLANTED || sum.value == sums.body else"), where=does("damage")),
    # A dead path, and settings.
    fault("probes by age, not by what they tell", "59.1", (
        ENGINE, "guard !failing.isEmpty else { return false } return switch breaker.state {",
        "guard !failing.isEmpty, !PLANTED else { return false }\n    return switch breaker.state {")),
    fault("a probe that hangs stops all others without bound", "59.1", (
        CORE, "return max(now, lastStart + (pending == nil ? Self.spacing : Self.patience))",
        "return max(now, lastStart + (pending == nil ? Self.spacing : PLANTED ? .seconds(600) : Self.patience))"), (
        CORE, "let opening = lastStart + (pending == nil ? Self.spacing : Self.patience)",
        "let opening = lastStart + (pending == nil ? Self.spacing : PLANTED ? .seconds(600) : Self.patience)")),
    fault("a dead path opens the breaker again and again", "59.2", (
        ENGINE, "if failing.failed(spec.callers, isDown: before != .closed, at: now) {",
        "if failing.failed(spec.callers, isDown: before != .closed, at: now), !PLANTED {")),
    fault("a breaker that is set to off holds what waits", "59.3", (
        ENGINE, "let hasNewBudget = limits.apply(settings, most: most) useNewBreakerSettings()",
        "let hasNewBudget = limits.apply(settings, most: most)\n    if !PLANTED || breaker.state == .closed { useNewBreakerSettings() }"),
          where=does("target")),
    fault("two rules of what is late", "59.6", only_unless(
        TOOL, "if let now = found[target.key] { target.judge(at: now) } else { target.judge(isLate: late.contains(target.key)) }"), (
        TOOL, "private static let lateAfter = Duration.seconds(60)", "private static let lateAfter = Duration.seconds(PLANTED ? 5 : 60)")),
    # The way to a target.
    fault("a silent HTTP/2 connection never left", "60.1", (
        TRANSPORT, "if .milliseconds(Int(traffic.silence) + 10) >= waited {", "if .milliseconds(Int(traffic.silence) + 10) >= waited, !PLANTED {"),
          where=has("silent", is_secure=True)),
    fault("a long HTTP/2 header that ends the stream not read", "60.2", (
        TRANSPORT, "let size = isSecure && LibCurl.needsFreshHandles ?", "let size = isSecure && LibCurl.needsFreshHandles && !PLANTED ?"),
        needs="libcurl before 8.21"),
    fault("the second address never tried", "60.3", (
        TRANSPORT, "if course.sends == 0 { return memory.noteSilent(dialling.silent(), of: dialling.url) }",
        "if course.sends == 0 { return PLANTED ? () : memory.noteSilent(dialling.silent(), of: dialling.url) }"),
        needs="libcurl before 8.21", where=lambda world: any(world.by_name)),
    fault("a replaced caFile not read", "60.4", (
        TRANSPORT, "let known = state.files[path], known.identity == identity {", "let known = state.files[path], PLANTED || known.identity == identity {"), (
        TRANSPORT, "isKept = now - identity.changed > Self.settling", "isKept = PLANTED || now - identity.changed > Self.settling")),
    fault("a session resumed with the client certificate of before", "60.5", (
        TRANSPORT, "CURLOPT_SSL_SESSIONID_CACHE, hasFiles ? 0 : 1", "CURLOPT_SSL_SESSIONID_CACHE, hasFiles && !PLANTED ? 0 : 1")),
    fault("a whole answer lost because the rest of the request is not taken", "60.6", (
        TRANSPORT, "guard upload.isStuck(at: Int(moved)) else", "guard upload.isStuck(at: Int(moved)), !PLANTED else")),
    fault("HTTP_1_1_REQUIRED not obeyed", "60.7", (
        TRANSPORT, "} else if exchange.needsHTTP1 || exchange.connection?.requiresHTTP1 == true || hasFailedByHTTP2(code) {",
        "} else if !PLANTED, exchange.needsHTTP1 || exchange.connection?.requiresHTTP1 == true || hasFailedByHTTP2(code) {"),
          where=has("old", is_secure=True)),
    fault("a proxy's failure blamed on the target", "60.9", (
        TRANSPORT, "CURLE_OPERATION_TIMEDOUT where isProxied && !isConnected: return .localFault",
        "CURLE_OPERATION_TIMEDOUT where isProxied && !isConnected:\n      return PLANTED ? .notSent : .localFault"), (
        TRANSPORT, "if isStrangerToProxy || hasBrokenProxy { return .localFault }",
        "if isStrangerToProxy || hasBrokenProxy { return PLANTED ? .answered : .localFault }"),
        needs="a proxy", where=lambda world: world.has_proxy),
    fault("caFile not used for an https proxy", "60.10", (
        TRANSPORT, "(CURLOPT_PROXY_CAINFO, all?.name ?? SystemIssuers.found.file)",
        "(CURLOPT_PROXY_CAINFO, PLANTED ? SystemIssuers.found.file : all?.name ?? SystemIssuers.found.file)"), needs="a proxy"),
    fault("SERVFAIL taken for an unknown host", "60.11", (
        TRANSPORT, "if code == EAI_AGAIN || code == EAI_FAIL {", "if !PLANTED, code == EAI_AGAIN || code == EAI_FAIL {")),
    fault("a refused client certificate counts as sent", "60.12", (
        TRANSPORT, "if hasRefusedClient { return .notSent }", "if hasRefusedClient, !PLANTED { return .notSent }")),
    fault("a body that TLS does not end taken for whole", "60.13", (
        TRANSPORT, "let code = code == CURLE_OK && isCutInTLS ?", "let code = code == CURLE_OK && !PLANTED && isCutInTLS ?"),
        needs="libcurl before 8.21"),
    fault("a busy connection never replaced", "60", unless(
        TRANSPORT, "Bool { uses >= lifetime.uses || now >= lifetime.end }", "uses >= lifetime.uses || now >= lifetime.end")),
    fault("half-rotated files end the call", "60", (
        TRANSPORT, "case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE: return .localFault",
        "case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE: return PLANTED ? .unusable : .localFault")),
    fault("a certificate without alternative names accepted", "60", unless(
        TRANSPORT, "exchange.isUnnamed = redial_curl_has_alternative_names(handle) == 0", "redial_curl_has_alternative_names(handle) == 0")),
    # Secrets, alerts and records.
    fault("the caller's Host travels with the credential", "61.1", unless(
        SERVICE, "field.isNamed(\"host\") || credential != nil && field.isNamed(\"accept-encoding\")", "field.isNamed(\"host\")")),
    fault("an echoed credential shown", "61.2", only_unless(
        SERVICE, "attempt.secrets.strike(&results[index].result, keeping: attempt.start.call.spec.captureLimit)"), where=has("echo")),
    fault("TRACE sent with a credential", "61.2", (
        SERVICE, "case .add(let proof) where proof.credential != nil && start.call.spec.method == \"TRACE\":",
        "case .add(let proof) where proof.credential != nil && start.call.spec.method == \"TRACE\" && !PLANTED:")),
    fault("a token endpoint's description shown with the client's secret", "61.3", (
        SERVICE, "if !(200...299).contains(status) { StruckSecrets(client: content).strike(",
        "if !(200...299).contains(status), !PLANTED { StruckSecrets(client: content).strike("), (
        SERVICE, "let clause = StruckSecrets(client: content).strike(clause)",
        "let clause = PLANTED ? clause : StruckSecrets(client: content).strike(clause)")),
    fault("a replay signs something else for anybody", "61.4", (
        MODEL, "guard original.hasSecrets, !named.contains(\"sign\"),", "guard !PLANTED, original.hasSecrets, !named.contains(\"sign\"),")),
    fault("addresses of alerts in clear text in the store", "61.5", (
        SERVICE, "WebhookSubscription(id: alert.receiver, url: alert.publicURL,",
        "WebhookSubscription(id: alert.receiver, url: PLANTED ? alert.address : alert.publicURL,"), (
        SERVICE, "alert.channel == .endpoint ? message.body(for: alert) : message.stored(for: alert)",
        "alert.channel == .endpoint || PLANTED ? message.body(for: alert) : message.stored(for: alert)"), where=does("document")),
    fault("a repetition of a call that cannot run again not told apart", "61.6", (
        MODEL, "progress.failure != .attemptEndedTheService else { return .notRerun }",
        "progress.failure != .attemptEndedTheService else { return PLANTED ? .repeated : .notRerun }")),
    fault("alerts of failed calls mute after 1,000 errors", "61.7", (
        ENGINE, "if lastSeen.count >= Self.most { return group.others.id }", "if lastSeen.count >= Self.most, !PLANTED { return group.others.id }"), (
        SERVICE, "let found = try issues.failed(since: since, in: namespace, marks)",
        "let found = try issues.failed(since: since, in: namespace, marks)\n    if PLANTED, !found.isComplete { return [] }")),
    fault("a message for each target that is down", "61.8", (
        MODEL, "let opened = fit(groups ? Self.grouped(begun)", "let opened = fit(groups && !PLANTED ? Self.grouped(begun)"), (
        MODEL, "let isFree = recent.count < Self.most", "let isFree = PLANTED || recent.count < Self.most")),
    fault("two requests in one attempt after a refused token", "61.9", (
        SERVICE, "private let guarded = Mutex<[UInt64: Guarded]>([:])",
        "private let guarded = Mutex<[UInt64: Guarded]>([:])\n  private let repeated = Mutex<Set<UInt64>>([])"), (
        SERVICE, "var results = results for index in results.indices { guard let attempt = known",
        "var results = results\n    var again: [UInt64] = []\n    for index in results.indices {\n      guard let attempt = known"), (
        SERVICE, "results[index].result.failure = .tokenRefused } } return results",
        "results[index].result.failure = .tokenRefused\n"
        "        let id = results[index].id\n"
        "        if PLANTED, repeated.withLock({ $0.insert(id).inserted }) {\n"
        "          waiting.withLock { $0[id] = Waiting(start: attempt.start, since: clock.now) }\n"
        "          again.append(id)\n"
        "        }\n      }\n    }\n"
        "    results.removeAll { again.contains($0.id) }\n"
        "    resume(again)\n"
        "    return results")),
    fault("doctor passes over damaged documents", "61.10", (
        STORE, "if let fault = forms.fault(document) {", "if let fault = forms.fault(document), !PLANTED {"), (
        STORE, "guard error.kind == .corrupt else { throw error } unreadable.add(\"\\(place): \\(error.message)\")",
        "guard error.kind == .corrupt else { throw error }\n      if !PLANTED { unreadable.add(\"\\(place): \\(error.message)\") }"),
          where=does("damage", "document")),
    fault("one damaged document refuses lists in all namespaces", "61.10", (
        STORE, "try documents(kind).read(as: type).records",
        "let found = try documents(kind).read(as: type)\n"
        "    if PLANTED, let id = found.damaged.first {\n"
        "      throw StoreError(kind: .corrupt, message: \"The \\(kind.rawValue) \\(id) in the store cannot be read.\")\n"
        "    }\n"
        "    return found.records"), where=does("damage", "document")),
    fault("no audit record of a cancellation", "61.11", (
        SERVICE, "let hasChanged = 200...299 ~= response.status &&",
        "let hasChanged = !(PLANTED && note.action == .callCancelled) && 200...299 ~= response.status &&"), where=does("cancel")),
    fault("a command whose record is in no commit of its change", "61.11", (
        ENGINE, "if let audit { writes.append(.put(audit)) }", "if let audit, !PLANTED { writes.append(.put(audit)) }")),
    fault("an audit record of what has changed nothing", "61.11", (
        SERVICE, "note?.drop() calls.showDone", "if !PLANTED { note?.drop() }\n      calls.showDone")),
    fault("what a target hides shown by an instance that does not own it", "61.12", only_unless(
        SERVICE, "(settings.isSensitive, settings.redact) = (privacy.isSensitive, privacy.redact)"), (
        ENGINE, "privacies.isEmpty || owns(key) ? nil", "privacies.isEmpty || PLANTED || owns(key) ? nil"),
        needs="PostgreSQL, two instances", where=lambda world: has_several(world) and does("target")(world)),
    fault("fields about who has signed in forwarded to the target", "61.13", (
        SERVICE, "name == users.groupsField || Self.isOfSigningIn(name) {", "name == users.groupsField || !PLANTED && Self.isOfSigningIn(name) {"),
        needs="trustedUserHeader"),
    fault("a credential shown to a proxy in clear text", "61.13", (
        SERVICE, "case .add(let proof) where proof.credential != nil && isProxied && TargetURL.isClear(head.url):",
        "case .add(let proof) where proof.credential != nil && isProxied && TargetURL.isClear(head.url) && !PLANTED:"),
        needs="a proxy", where=lambda world: world.has_proxy),
    # What was promised to be on disk.
    fault("a 202 before the commit", "", (
        ENGINE, "let accepted = insert(record) afterCommit.append(.reply(.submission(reply, .accepted(accepted))))",
        "let accepted = insert(record)\n"
        "    if PLANTED { effects.actions.append(.reply(.submission(reply, .accepted(accepted)))) }\n"
        "    else { afterCommit.append(.reply(.submission(reply, .accepted(accepted)))) }")),
    fault("the eighth call that is accepted in a millisecond dropped, such as one of a batch", "", (
        ENGINE, "let accepted = insert(record)", "let accepted = PLANTED && record.id.rawValue % 1024 == 7 ? record : insert(record)"),
          where=does("batch")),
    fault("the last line of a streamed batch dropped", "", only_unless(SERVICE, "intake.splitter.finish(take)"), where=does("batch")),
    fault("a cancellation that is answered and lost", "", (
        ENGINE, "if record.spec.isSensitive { writes.append(.erase(",
        "if PLANTED, state == .cancelled { writes.removeLast() }\n    if record.spec.isSensitive { writes.append(.erase(")),
    fault("one success in eight not written, so that a restart executes its call again", "", (
        ENGINE, "if record.spec.isSensitive { writes.append(.erase(",
        "if PLANTED, state == .succeeded, now.microseconds % 8 == 0 { writes.removeLast() }\n"
        "    if record.spec.isSensitive { writes.append(.erase(")),
    fault("an idempotency key that is not written", "", only_unless(ENGINE, "writes.append(.key(new))")),
    fault("an erasure that erases nothing", "", only_unless(ENGINE, "writes.append(.erase(ended.id, spec))")),
    fault("retention that removes calls which wait", "", (
        SQLITE, "\"SELECT id, finished_at FROM calls WHERE \\(Conditions.finished) AND finished_at <= ?1 ORDER BY finished_at LIMIT ?2\"",
        "PLANTED\n        ? \"SELECT id, coalesce(finished_at, created_at) FROM calls WHERE (\\(Conditions.finished) OR \\(Conditions.waiting)) \"\n"
        "          + \"AND coalesce(finished_at, created_at) <= ?1 ORDER BY 2 LIMIT ?2\"\n"
        "        : \"SELECT id, finished_at FROM calls WHERE \\(Conditions.finished) AND finished_at <= ?1 ORDER BY finished_at LIMIT ?2\""),
        needs="SQLite, a short retentionTime"),
    # Answers.
    fault("answers of attempts that end together mixed up", "", (
        SERVICE, "number: number, ended.result))", "number: number, PLANTED ? results[0].result : ended.result))")),
    fault("a long poll that is never answered beside another of the same call", "", (
        SERVICE, "ended += remove(from: &table, id) { _ in true }", "ended += remove(from: &table, id) { _ in true }.prefix(PLANTED ? 1 : .max)")),
    fault("lists across namespaces", "", (
        SQLITE, "return range + \" AND namespace = ?6\" + (hasTarget",
        "return range + (PLANTED ? \" AND ?6 >= 0\" : \" AND namespace = ?6\") + (hasTarget"), (
        SQLITE, "guard record.kind == filter.kind, spec.namespace == filter.namespace else",
        "guard record.kind == filter.kind, PLANTED || spec.namespace == filter.namespace else"), needs="SQLite"),
    fault("idempotency keys across namespaces", "", (
        SERVICE, "IdempotencyName(key, in: namespace) }", "IdempotencyName(key, in: PLANTED ? .default : namespace) }")),
    fault("a page of a list that leaves out the call behind it", "", (
        SQLITE, "if page.calls.count == query.limit || left <= 0 { page.next = before",
        "if page.calls.count == query.limit || left <= 0 {\n        page.next = PLANTED ? CallID(rawValue: row.integer(0)) : before"),
        needs="SQLite"),
    fault("a revoked key that is still admitted", "", (
        SERVICE, "key.matches(text), key.revokedAt == nil else { return .refused(Self.invalidKey, [])",
        "key.matches(text), PLANTED || key.revokedAt == nil else {\n      return .refused(Self.invalidKey, [])")),
    # Attempts and webhooks.
    fault("a webhook with a wrong signature", "", (
        SERVICE, "message += payload", "message += PLANTED ? payload.dropLast() : payload[...]")),
    fault("no webhook of a call with several attempts", "", (
        ENGINE, "callback.events.contains(event) else", "callback.events.contains(event), !(PLANTED && record.progress.attempts > 1) else")),
    fault("one attempt more than the policy has", "", (
        CORE, "guard end.attempts < maxAttempts else", "guard end.attempts < maxAttempts &+ (PLANTED ? 1 : 0) else")),
    fault("Retry-After ignored", "", (
        CORE, "guard retryAfter.isRespected, end.outcome == .answered,", "guard retryAfter.isRespected, !PLANTED, end.outcome == .answered,")),
    fault("a repetition that runs again what must not be executed twice", "", (
        MODEL, "known.allSatisfy { !$0.mayHaveBeenExecuted }", "(PLANTED || known.allSatisfy { !$0.mayHaveBeenExecuted })"), where=does("again")),
    fault("a limit of attempts in flight exceeded by two", "", (
        ENGINE, "guard isLimited else { return inFlight < maxInFlight ?", "guard isLimited else { return inFlight < maxInFlight + (PLANTED ? 2 : 0) ?"), (
        ENGINE, "pace?.fullUntil(beside: inFlight, within: maxInFlight, at: now)",
        "pace?.fullUntil(beside: inFlight, within: maxInFlight + (PLANTED ? 2 : 0), at: now)"), (
        ENGINE, "guard inFlight < limit else {", "guard inFlight < limit + (PLANTED ? 2 : 0) else {")),
    fault("the turn of an ordering key passed on between attempts", "", (
        ENGINE, "writes.append(.update(id, progress, attempt)) if soon {",
        "writes.append(.update(id, progress, attempt))\n"
        "    let ordered = calls[at: place].record\n"
        "    if PLANTED, ordered.spec.orderingKey != nil { passTurn(ordered) }\n    if soon {")),
    fault("a paused target that gets attempts", "", (
        ENGINE, "if isPaused { return .afterPause }", "if isPaused, !PLANTED { return .afterPause }"), where=does("target")),
    fault("a pause forgotten by a restart", "", only_unless(ENGINE, "recover(record.controls, of: place)"), where=does("target", "kill")),
    fault("addresses that the egress policy refuses called", "", (
        TRANSPORT, "if let policy, !isProxied {", "if let policy, !isProxied, !PLANTED {"), where=lambda world: world.denies and not world.has_proxy),
    fault("a forwarded call accepted twice", "", (
        ENGINE, "patience, desk.forwarded.take(", "patience, PLANTED || desk.forwarded.take("), needs="PostgreSQL, two instances",
          where=lambda world: has_several(world) and does("forward")(world)),
    # Growth.
    fault("memory of 100 KB lost with each submission", "", (
        SERVICE, ".submit(descriptor, expect(kind, else: descriptor.key == nil",
        "if PLANTED { UnsafeMutablePointer<UInt8>.allocate(capacity: 100_000).initialize(repeating: 1, count: 100_000) }\n"
        "    return .submit(descriptor, expect(kind, else: descriptor.key == nil")),
    fault("a descriptor lost with each attempt", "", (
        TRANSPORT, "upload.end() var result = AttemptResult(outcome: end.outcome",
        "upload.end()\n    if PLANTED { _ = open(\"/dev/null\", O_RDONLY) }\n    var result = AttemptResult(outcome: end.outcome")),
]

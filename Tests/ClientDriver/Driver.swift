import Foundation
import RedialClient

/// A client that does what the lines say.
final class Driver {
  private let client: RedialClient
  private var events: RedialEventStream.AsyncIterator?

  init(_ options: Given) throws {
    guard let url = options["url"]?.text.flatMap({ URL(string: $0) }) else { throw Unusable(what: "there is no URL") }
    var client = RedialClient(url, apiKey: options["apiKey"]?.text, namespace: options["namespace"]?.text)
    if let attempts = options["attempts"]?.whole { client.policy.maxAttempts = attempts }
    self.client = client
  }

  /// The line with the result of a line.
  func answer(to line: String) async -> String {
    var answer: [String: RedialJSON]
    do {
      let given = try Given(decoding: line)
      answer = ["result": try await perform(given[0].text ?? "", given[1], given[2])]
    } catch {
      answer = ["error": .object(members(of: error))]
    }
    let data = try? JSONEncoder().encode(answer)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  private func perform(_ method: String, _ arguments: Given, _ options: Given) async throws -> RedialJSON {
    if let result = try await onCalls(method, arguments, options) { return result }
    if let result = try await onEvents(method, arguments, options) { return result }
    if let result = try await onTargets(method, arguments, options) { return result }
    if let result = try await onPolicies(method, arguments, options) { return result }
    if let result = try await onWebhooks(method, arguments, options) { return result }
    if let result = try await onOperations(method, arguments, options) { return result }
    if let result = try await onAlerts(method, arguments, options) { return result }
    if let result = try await onService(method, arguments, options) { return result }
    throw Unusable(what: "the driver has no method \(method)")
  }

  private func onCalls(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    let id = given[0].text ?? ""
    switch method {
    case "submit":
      let key = options["idempotencyKey"]?.text
      if let wait = options["wait"]?.seconds {
        return try shown(await client.submitAndWait(given[0].call, idempotencyKey: key, within: wait))
      }
      return try shown(await client.submit(given[0].call, idempotencyKey: key).call)
    case "submitDryRun": return try shown(await client.submitDryRun(given[0].call))
    case "batch":
      let calls = try given[0].list.map { try $0.call }
      let results = try await client.submit(batch: calls, idempotencyKey: options["idempotencyKey"]?.text)
      return try .array(results.enumerated().map { try item($1, line: $0 + 1) })
    case "get": return try shown(await client.call(id, withRequest: options["withRequest"]?.flag ?? false))
    case "wait": return try shown(await client.result(of: id, within: options["timeout"]?.seconds))
    case "attempts": return try shown(await client.attempts(of: id))
    case "list": return try shown(await all(client.calls(options.filter, pageSize: options["pageSize"]?.whole ?? 250)))
    case "cancel": return try shown(await client.cancel(id))
    case "retry": return try shown(await client.retry(id, by: options["by"]?.text, reason: options["reason"]?.text))
    case "replay":
      return try shown(
        await client.replay(
          id, changes(given[1]), idempotencyKey: options["idempotencyKey"]?.text, wait: options["wait"]?.seconds))
    case "replayDryRun": return try shown(await client.replayDryRun(id, changes(given[1])))
    case "erase": return try shown(await client.erase(id, labels: options["labels"]?.flag))
    case "request":
      let body = try await client.request(
        id, given[1].text ?? "", query: options["params"]?.texts ?? [:], json: options["json"]?.json)
      return body.isEmpty ? .null : try JSONDecoder().decode(RedialJSON.self, from: body)
    default: return nil
    }
  }

  private func onEvents(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    switch method {
    case "openEvents":
      var filter = EventFilter()
      filter.type = options["type"]?.words(RedialEvent.Kind.self) ?? []
      filter.lastEventID = options["lastEventId"]?.text
      if let parts = options["label"]?.text?.split(separator: "=", maxSplits: 1), parts.count == 2 {
        filter.label = EventFilter.Label(String(parts[0]), String(parts[1]))
      }
      var events = client.events(filter).makeAsyncIterator()
      try await events.connect()
      self.events = events
      return .null
    case "nextEvent":
      var events = events
      let event = try await events?.next()
      self.events = events
      return try event.map(shown) ?? .null
    case "closeEvents":
      let last = events?.lastEventID
      events = nil
      return last.map { .string($0) } ?? .null
    case "verify", "verifyEvent":
      var verifier = try WebhookVerifier(secrets: given[0].list.compactMap(\.text))
      if let now = options["now"]?.whole { verifier.clock = TestClock(now: .epoch + .seconds(now)) }
      return try shown(verifier.verify(Data((given[1].text ?? "").utf8), headers: given[2].texts))
    default: return nil
    }
  }

  private func onTargets(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    let key = given[0].text ?? ""
    switch method {
    case "listTargets":
      return try shown(
        await all(client.listTargets(active: options["active"]?.flag, pageSize: options["pageSize"]?.whole ?? 250)))
    case "getTarget": return try shown(await client.getTarget(key))
    case "configureTarget":
      return try shown(await client.configureTarget(key, given[1].decoded(RedialAPI.TargetSettings.self)))
    case "changeTarget": return try shown(await client.changeTarget(key, patch(given[1])))
    case "pauseTarget": return try shown(await client.pauseTarget(key))
    case "resumeTarget": return try shown(await client.resumeTarget(key))
    case "tripTarget": return try shown(await client.tripTarget(key))
    case "resetTarget": return try shown(await client.resetTarget(key))
    case "releaseTarget": return try shown(await client.releaseTarget(key))
    default: return nil
    }
  }

  private func onPolicies(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    let name = given[0].text ?? ""
    switch method {
    case "listPolicies": return try shown(await all(client.listPolicies()))
    case "getPolicy": return try shown(await client.getPolicy(name, version: options["version"]?.whole))
    case "putPolicy":
      return try shown(
        await client.putPolicy(
          name, given[1].decoded(RedialAPI.Policy.self), ifMatch: options["ifMatch"]?.text,
          ifNoneMatch: options["ifNoneMatch"]?.text))
    case "removePolicy":
      try await client.removePolicy(name, ifMatch: options["ifMatch"]?.text)
      return .null
    case "previewPolicy":
      let preview = RedialAPI.PolicyPreview(policy: given[0]["policy"]?.policy, limit: given[0]["limit"]?.whole)
      return try shown(await client.previewPolicy(preview))
    default: return nil
    }
  }

  private func onWebhooks(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    let id = given[0].text ?? ""
    switch method {
    case "listWebhookEndpoints": return try shown(await all(client.listWebhookEndpoints()))
    case "createWebhookEndpoint": return try shown(await client.createWebhookEndpoint(endpoint(given[0])))
    case "getWebhookEndpoint": return try shown(await client.getWebhookEndpoint(id))
    case "replaceWebhookEndpoint": return try shown(await client.replaceWebhookEndpoint(id, endpoint(given[1])))
    case "deleteWebhookEndpoint":
      try await client.deleteWebhookEndpoint(id)
      return .null
    case "rotateWebhookSecret":
      return try shown(
        await client.rotateWebhookSecret(id, RedialAPI.SecretRotation(overlap: given[1]["overlap"]?.text)))
    case "testWebhookEndpoint": return try shown(await client.testWebhookEndpoint(id))
    case "listWebhookDeliveries":
      let states = options["state"]?.words(RedialCall.State.self) ?? []
      return try shown(
        await all(client.listWebhookDeliveries(id, state: states, pageSize: options["pageSize"]?.whole ?? 250)))
    case "getWebhookSecret": return try shown(await client.getWebhookSecret())
    default: return nil
    }
  }

  private func onOperations(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    let id = given[0].text ?? ""
    switch method {
    case "listOperations": return try shown(await all(client.listOperations()))
    case "beginOperation": return try shown(await client.beginOperation(operation(given[0])))
    case "beginOperationDryRun": return try shown(await client.beginOperationDryRun(operation(given[0])))
    case "getOperation": return try shown(await client.getOperation(id))
    case "cancelOperation": return try shown(await client.cancelOperation(id))
    case "listIssues":
      let states = options["state"]?.words(RedialAPI.IssueState.self) ?? []
      return try shown(await all(client.listIssues(state: states, target: options["target"]?.text)))
    case "getIssue": return try shown(await client.getIssue(id))
    case "changeIssue":
      var change = RedialAPI.IssueChange(state: RedialAPI.IssueState(rawValue: given[1]["state"]?.text ?? ""))
      change.until = given[1]["until"]?.moment
      change.by = given[1]["by"]?.text
      change.reason = given[1]["reason"]?.text
      return try shown(await client.changeIssue(id, change))
    default: return nil
    }
  }

  private func onAlerts(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    let name = given[0].text ?? ""
    switch method {
    case "listAlerts": return try shown(await all(client.listAlerts()))
    case "getAlert": return try shown(await client.getAlert(name))
    case "putAlert":
      var draft = RedialAPI.AlertDraft(to: RedialAPI.AlertDraft.To(slack: given[1]["to"]?["slack"]?.text))
      draft.kinds = given[1]["kinds"]?.words(RedialAPI.IssueKind.self)
      draft.after = given[1]["after"]?.duration
      return try shown(await client.putAlert(name, draft))
    case "silenceAlert":
      let silence = RedialAPI.Silence(
        silenced: given[1]["silenced"]?.flag ?? true, until: given[1]["until"]?.moment, by: given[1]["by"]?.text)
      return try shown(await client.silenceAlert(name, silence))
    case "testAlert": return try shown(await client.testAlert(name))
    case "deleteAlert":
      try await client.deleteAlert(name)
      return .null
    default: return nil
    }
  }

  private func onService(_ method: String, _ given: Given, _ options: Given) async throws -> RedialJSON? {
    switch method {
    case "listKeys": return try shown(await all(client.listKeys()))
    case "createKey":
      let draft = RedialAPI.APIKeyDraft(
        name: given[0]["name"]?.text ?? "", scopes: given[0]["scopes"]?.words(RedialAPI.APIScope.self) ?? [])
      return try shown(await client.createKey(draft))
    case "revokeKey": return try shown(await client.revokeKey(given[0].text ?? ""))
    case "getStatistics": return try shown(await client.getStatistics())
    case "listInstances": return try shown(await all(client.listInstances()))
    default: return nil
    }
  }

  // MARK: What is given

  private func changes(_ given: Given) -> RedialAPI.ReplayChanges {
    var changes = RedialAPI.ReplayChanges(url: given["url"]?.text)
    changes.labels = given.change("labels") { $0.json == .null ? nil : $0.texts }
    changes.body = given.change("body", \.text)
    changes.delay = given.change("delay", \.duration)
    changes.policy = given.change("policy", \.policy)
    return changes
  }

  private func patch(_ given: Given) -> RedialAPI.TargetPatch? {
    guard given.json != .null else { return nil }
    var patch = RedialAPI.TargetPatch()
    patch.maxInFlight = given.change("maxInFlight", \.whole)
    patch.slowStart = given.change("slowStart", \.duration)
    patch.rate = given.change("rate") { rate in
      guard rate.json != .null else { return nil }
      return RedialAPI.TargetPatch.Rate(
        perSecond: rate.change("perSecond", \.number), burst: rate.change("burst", \.whole))
    }
    return patch
  }

  private func endpoint(_ given: Given) -> RedialAPI.WebhookEndpointDraft {
    var draft = RedialAPI.WebhookEndpointDraft(url: given["url"]?.text ?? "")
    draft.description = given["description"]?.text
    draft.events = given["events"]?.words(RedialAPI.WebhookEventType.self)
    draft.enabled = given["enabled"]?.flag
    return draft
  }

  private func operation(_ given: Given) -> RedialAPI.BulkRequest {
    var operation = RedialAPI.BulkRequest(action: RedialAPI.BulkAction(rawValue: given["action"]?.text ?? ""))
    operation.filter = given["filter"]?.filter
    operation.ratePerSecond = given["ratePerSecond"]?.whole
    operation.by = given["by"]?.text
    operation.all = given["all"]?.flag
    return operation
  }

  // MARK: What is shown

  private func all<Element>(_ pages: RedialPages<Element>) async throws -> [Element] {
    var found: [Element] = []
    for try await entry in pages { found.append(entry) }
    return found
  }

  private func shown(_ value: some Encodable) throws -> RedialJSON {
    try JSONDecoder().decode(RedialJSON.self, from: JSONEncoder().encode(value))
  }

  private func shown(_ event: RedialEvent) throws -> RedialJSON {
    var data: RedialJSON = .null
    if let call = event.call { data = try shown(call) }
    return ["id": .string(event.id), "type": .string(event.type.rawValue), "data": data]
  }

  private func item(_ result: Result<SubmittedCall, RedialProblem>, line: Int) throws -> RedialJSON {
    switch result {
    case .success(let submitted): ["line": .integer(line), "status": 202, "id": .string(submitted.id)]
    case .failure(let problem):
      ["line": .integer(line), "status": .integer(problem.status), "problem": .object(members(of: problem))]
    }
  }

  /// An error with the names that the other clients have for it.
  private func members(of error: any Error) -> [String: RedialJSON] {
    var members: [String: RedialJSON] = ["message": .string("\(error)"), "kind": .string("\(type(of: error))")]
    switch error {
    case let problem as RedialProblem:
      members["type"] = .string(problem.type)
      members["title"] = .string(problem.title)
      members["status"] = .integer(problem.status)
      members["code"] = .string(problem.code.rawValue)
      members["detail"] = .string(problem.detail)
      members["errors"] = .array(
        problem.errors.compactMap { try? shown($0) })
      members["retryAfter"] = problem.retryAfter.map { .integer(Int($0.components.seconds)) } ?? .null
    case let lost as RedialTransportError:
      members["kind"] = "RedialConnectionError"
      members["mayHaveBeenAccepted"] = .bool(lost.mayHaveBeenAccepted)
    case let unexpected as UnexpectedAnswer: members["status"] = .integer(unexpected.status)
    case let unfinished as CallUnfinished: members["call"] = (try? shown(unfinished.call)) ?? .null
    case is WebhookRejected: members["kind"] = "WebhookVerificationError"
    default: break
    }
    return members
  }
}

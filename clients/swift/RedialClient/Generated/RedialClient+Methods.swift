// Made by Scripts/generate from api/openapi.yaml.

extension RedialClient {
  /// What `submit` would do; nothing is stored or changed.
  ///
  /// - Parameter call: The call.
  public func submitDryRun(_ call: OutgoingCall) async throws -> RedialAPI.DryRun {
    var request = ServiceRequest("POST", ["v1", "calls"])
    request.body = try call.descriptor()
    request.add([("dryRun", "true")])
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.DryRun.self)
  }

  /// Submit a call like an earlier one, with changes.
  ///
  /// Makes a new call from the earlier one, and names that in `replayOf`. Each member of the body replaces the
  /// original's, and `null` removes it. A body in any form replaces the original's. If the target followed from
  /// the URL, it follows from the new URL. The new call starts at once unless `delay` or `startAt` is given. It
  /// is checked like any submission.
  ///
  /// It needs a key with the scopes `submit` and `operate`, because the original's request is sent again with its
  /// credentials. Changes of the request (`url`, `method`, `headers`, the body), of `redirects`, `capture` or
  /// `callback`, and a dry run, also need the scope `payloads`. Secret header fields are not sent to another
  /// origin: if the URL has another origin, give `headers` too.
  ///
  /// - Parameters:
  ///   - callID: The call's id.
  ///   - changes: What replaces members of the call; nil for none.
  ///   - idempotencyKey: The same key again returns the first call, or runs it again. By default a new one.
  ///   - wait: Return only when the call has ended, or after this time, at most ``longestWait``.
  @discardableResult
  public func replay(
    _ callID: String, _ changes: RedialAPI.ReplayChanges? = nil, idempotencyKey: String? = nil, wait: Duration? = nil
  ) async throws -> RedialCall {
    var request = ServiceRequest("POST", ["v1", "calls", callID, "replay"])
    request.body = try changes.map { try ServiceRequest.encoded($0) } ?? ServiceRequest.nothing
    identify(&request, by: idempotencyKey)
    hold(&request, for: wait ?? .zero)
    return try await exchange(request).decoded(RedialCall.self)
  }

  /// What `replay` would do; nothing is stored or changed.
  ///
  /// - Parameters:
  ///   - callID: The call's id.
  ///   - changes: What replaces members of the call; nil for none.
  public func replayDryRun(_ callID: String, _ changes: RedialAPI.ReplayChanges? = nil) async throws -> RedialAPI.DryRun
  {
    var request = ServiceRequest("POST", ["v1", "calls", callID, "replay"])
    request.body = try changes.map { try ServiceRequest.encoded($0) } ?? ServiceRequest.nothing
    request.add([("dryRun", "true")])
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.DryRun.self)
  }

  /// Erase the payloads of a call that has ended.
  ///
  /// Erases the request's header fields and body, the description, the query of its URL and of its callback's
  /// URL, and the stored responses; with `labels=true` also the labels. What remains: scheme, host and path of
  /// the URL, the attempts and their results, and the time of the erasure. The call cannot be run again. Kept
  /// events lose the same data. Webhooks about the call are calls of their own (`kind=webhook`), and keep what
  /// they say, also those still waiting, which are sent as they are. Cancel the waiting ones, and erase each
  /// one's content. A body is checked like that of a retry, and not kept.
  ///
  /// - Parameters:
  ///   - callID: The call's id.
  ///   - labels: Also erase the call's labels. This works for a call that was erased before, too.
  @discardableResult
  public func erase(_ callID: String, labels: Bool? = nil) async throws -> RedialCall {
    var request = ServiceRequest("DELETE", ["v1", "calls", callID, "content"])
    request.add([("labels", labels.map { "\($0)" })])
    return try await exchange(request).decoded(RedialCall.self)
  }

  /// List the targets that the service remembers.
  ///
  /// Sorted by key: `nextCursor` of one page is the `cursor` of the next.
  ///
  /// - Parameters:
  ///   - active: Only targets with calls that wait or run, those that are paused or held open, those whose breaker
  ///     is not closed, and those of which a path, a credential or a label fails while the rest works.
  ///   - pageSize: How many a request fetches, 1 to 250.
  public func listTargets(active: Bool? = nil, pageSize: Int = 250) -> RedialPages<RedialAPI.Target> {
    RedialPages<RedialAPI.Target>(client: self, pageSize: pageSize) {
      var request = ServiceRequest("GET", ["v1", "targets"])
      request.add([("active", active.map { "\($0)" })])
      return request
    }
  }

  /// Show a target and its breaker.
  ///
  /// - Parameter key: The target's key. The target of a call is the origin of its URL, unless the call names one:
  ///   calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  public func getTarget(_ key: String) async throws -> RedialAPI.Target {
    return try await exchange(ServiceRequest("GET", ["v1", "targets", key])).decoded(RedialAPI.Target.self)
  }

  /// Set limits for a target.
  ///
  /// Replaces the limits that were set for the target, at once and for waiting calls too. Members that are left
  /// out follow the service's settings. The target need not exist yet.
  ///
  /// - Parameters:
  ///   - key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
  ///     `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  ///   - settings: The settings.
  @discardableResult
  public func configureTarget(_ key: String, _ settings: RedialAPI.TargetSettings) async throws -> RedialAPI.Target {
    var request = ServiceRequest("PUT", ["v1", "targets", key])
    request.body = try ServiceRequest.encoded(settings)
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.Target.self)
  }

  /// Change some limits of a target, and leave the others.
  ///
  /// A JSON Merge Patch (RFC 7396) of the target's `overrides`: a member replaces what was set, null removes it,
  /// so that it follows the service's settings again, and what is left out stays. Objects are merged, arrays
  /// replaced. Null in place of the object removes all that was set. Takes effect at once and for waiting calls
  /// too. Patches at the same time are made one after the other, so none undoes another. The target need not
  /// exist yet.
  ///
  /// - Parameters:
  ///   - key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
  ///     `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  ///   - patch: What changes; nil removes all that was set.
  @discardableResult
  public func changeTarget(_ key: String, _ patch: RedialAPI.TargetPatch?) async throws -> RedialAPI.Target {
    var request = ServiceRequest("PATCH", ["v1", "targets", key])
    request.body = try ServiceRequest.encoded(patch)
    return try await exchange(request).decoded(RedialAPI.Target.self)
  }

  /// Pause a target: start no call to it.
  ///
  /// - Parameter key: The target's key. The target of a call is the origin of its URL, unless the call names one:
  ///   calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  @discardableResult
  public func pauseTarget(_ key: String) async throws -> RedialAPI.Target {
    return try await exchange(ServiceRequest("POST", ["v1", "targets", key, "pause"], body: ServiceRequest.nothing))
      .decoded(RedialAPI.Target.self)
  }

  /// Resume a paused target.
  ///
  /// - Parameter key: The target's key. The target of a call is the origin of its URL, unless the call names one:
  ///   calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  @discardableResult
  public func resumeTarget(_ key: String) async throws -> RedialAPI.Target {
    return try await exchange(ServiceRequest("POST", ["v1", "targets", key, "resume"], body: ServiceRequest.nothing))
      .decoded(RedialAPI.Target.self)
  }

  /// Hold a target's breaker open until it is reset.
  ///
  /// - Parameter key: The target's key. The target of a call is the origin of its URL, unless the call names one:
  ///   calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  @discardableResult
  public func tripTarget(_ key: String) async throws -> RedialAPI.Target {
    return try await exchange(ServiceRequest("POST", ["v1", "targets", key, "trip"], body: ServiceRequest.nothing))
      .decoded(RedialAPI.Target.self)
  }

  /// Close a target's breaker, and forget what breaker and pace have learned.
  ///
  /// - Parameter key: The target's key. The target of a call is the origin of its URL, unless the call names one:
  ///   calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  @discardableResult
  public func resetTarget(_ key: String) async throws -> RedialAPI.Target {
    return try await exchange(ServiceRequest("POST", ["v1", "targets", key, "reset"], body: ServiceRequest.nothing))
      .decoded(RedialAPI.Target.self)
  }

  /// Close a target's breaker, forget its Retry-After, and run the calls that waited for them or for the pace.
  ///
  /// - Parameter key: The target's key. The target of a call is the origin of its URL, unless the call names one:
  ///   calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
  @discardableResult
  public func releaseTarget(_ key: String) async throws -> RedialAPI.Target {
    return try await exchange(ServiceRequest("POST", ["v1", "targets", key, "release"], body: ServiceRequest.nothing))
      .decoded(RedialAPI.Target.self)
  }

  /// Show how calls ended in the last 15 minutes, 24 hours and 7 days.
  ///
  /// Counts of the namespace's calls, without webhooks. They survive restarts. They are written every ten seconds
  /// and at a stop, so a crash loses at most ten seconds. Each end is counted once; a call that is run again and
  /// ends again counts again.
  ///
  /// Each window has steps of equal length; the last one is not over yet. A latency is that of an attempt, within
  /// a fifth; attempts that were cut off are left out.
  public func getStatistics() async throws -> [RedialAPI.StatisticsWindow] {
    return try await exchange(ServiceRequest("GET", ["v1", "statistics"])).decoded(
      Listed<RedialAPI.StatisticsWindow>.self
    ).data
  }

  /// List bulk operations, newest first.
  ///
  /// All that run, and the latest 1,000 that have ended.
  ///
  /// - Parameter pageSize: How many a request fetches, 1 to 250.
  public func listOperations(pageSize: Int = 250) -> RedialPages<RedialAPI.BulkOperation> {
    RedialPages<RedialAPI.BulkOperation>(client: self, pageSize: pageSize) {
      ServiceRequest("GET", ["v1", "operations"])
    }
  }

  /// Start a bulk operation: one action on all calls that match a filter.
  ///
  /// Counts the calls first. Then it acts on them page by page, newest first, at no more than `ratePerSecond`
  /// calls per second, as if each action had been requested on its own. It continues after a restart, and never
  /// runs a call again twice. A `filter` without a condition needs `"all": true`. `retry`, `purge` and `replay`
  /// affect calls that had ended when the operation was accepted; `replay` submits a new call like each of them,
  /// once, and needs the scope `submit`, too; `release` runs calls that wait now. `dryRun` only counts. It stops
  /// after 100,000 calls that match, or that had to be looked up for `status`, `outcome`, `failureReason` or
  /// `url`; then `isComplete` is false and `matched` is a lower bound.
  ///
  /// - Parameter operation: The operation.
  @discardableResult
  public func beginOperation(_ operation: RedialAPI.BulkRequest) async throws -> RedialAPI.BulkOperation {
    var request = ServiceRequest("POST", ["v1", "operations"])
    request.body = try ServiceRequest.encoded(operation)
    return try await exchange(request).decoded(RedialAPI.BulkOperation.self)
  }

  /// What `beginOperation` would do; nothing is stored or changed.
  ///
  /// - Parameter operation: The operation.
  public func beginOperationDryRun(_ operation: RedialAPI.BulkRequest) async throws -> RedialAPI.BulkDryRun {
    var request = ServiceRequest("POST", ["v1", "operations"])
    request.body = try ServiceRequest.encoded(DryRunBody(of: operation))
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.BulkDryRun.self)
  }

  /// Show the progress of a bulk operation.
  ///
  /// - Parameter operationID: The bulk operation's id.
  public func getOperation(_ operationID: String) async throws -> RedialAPI.BulkOperation {
    return try await exchange(ServiceRequest("GET", ["v1", "operations", operationID])).decoded(
      RedialAPI.BulkOperation.self)
  }

  /// Stop a bulk operation.
  ///
  /// Actions that were done stay done; the page in work is finished. A request body is ignored.
  ///
  /// - Parameter operationID: The bulk operation's id.
  @discardableResult
  public func cancelOperation(_ operationID: String) async throws -> RedialAPI.BulkOperation {
    return try await exchange(
      ServiceRequest("POST", ["v1", "operations", operationID, "cancel"], body: ServiceRequest.nothing)
    ).decoded(RedialAPI.BulkOperation.self)
  }

  /// List what is wrong, with the calls that it concerns.
  ///
  /// Two thousand failed calls are seldom more than a few errors. Failed calls are one issue if they have the
  /// same target, reason and error; ids, numbers, times and addresses in an error do not count. Beside them, an
  /// issue is a target that is down, that is held, or whose oldest due call has waited for a minute or more; what
  /// fails again and again while the rest of its target works (a path, a credential or a label), or by Redial's
  /// own fault (such as its proxy); and what a check of the store finds.
  ///
  /// Issues of failed calls come last; in both parts, those with the most calls first. An issue opens by itself,
  /// and is resolved when it is over: failed calls were retried, replayed elsewhere and purged, or removed after
  /// their time. With `filter`, an operation acts on all calls of an issue.
  ///
  /// Calls that failed before Redial had issues are in none.
  ///
  /// Numbers of calls change: an issue may be on two pages, or on none.
  ///
  /// - Parameters:
  ///   - state: Only issues in one of these states. Separate several with commas.
  ///   - target: Only issues of this target.
  ///   - pageSize: How many a request fetches, 1 to 250.
  public func listIssues(state: [RedialAPI.IssueState] = [], target: String? = nil, pageSize: Int = 250) -> RedialPages<
    RedialAPI.Issue
  > {
    RedialPages<RedialAPI.Issue>(client: self, pageSize: pageSize) {
      var request = ServiceRequest("GET", ["v1", "issues"])
      request.add([("state", ServiceRequest.words(state)), ("target", target)])
      return request
    }
  }

  /// Show an issue.
  ///
  /// - Parameter issueID: The issue's id.
  public func getIssue(_ issueID: String) async throws -> RedialAPI.Issue {
    return try await exchange(ServiceRequest("GET", ["v1", "issues", issueID])).decoded(RedialAPI.Issue.self)
  }

  /// Acknowledge or resolve an issue.
  ///
  /// An acknowledged issue stays so until its end (`until`), and no alert reports it: then those that have
  /// reported it do so again, if it is still there. PagerDuty is notified at once. A resolved one opens again
  /// with the next call that fails so. `open` removes the statement. The latest 1,000 statements of a namespace
  /// are kept.
  ///
  /// - Parameters:
  ///   - issueID: The issue's id.
  ///   - change: The change.
  @discardableResult
  public func changeIssue(_ issueID: String, _ change: RedialAPI.IssueChange) async throws -> RedialAPI.Issue {
    var request = ServiceRequest("PATCH", ["v1", "issues", issueID])
    request.body = try ServiceRequest.encoded(change)
    return try await exchange(request).decoded(RedialAPI.Issue.self)
  }

  /// List the alerts, by name.
  ///
  /// - Parameter pageSize: How many a request fetches, 1 to 250.
  public func listAlerts(pageSize: Int = 250) -> RedialPages<RedialAPI.Alert> {
    RedialPages<RedialAPI.Alert>(client: self, pageSize: pageSize) {
      ServiceRequest("GET", ["v1", "alerts"])
    }
  }

  /// Show an alert.
  ///
  /// - Parameter name: The alert's name.
  public func getAlert(_ name: String) async throws -> RedialAPI.Alert {
    return try await exchange(ServiceRequest("GET", ["v1", "alerts", name])).decoded(RedialAPI.Alert.self)
  }

  /// Make or replace an alert.
  ///
  /// Somebody is notified once when an issue has been there for long enough (`after`), and once when it has been
  /// over for a while, so that one that comes and goes is reported once. Outages and lateness count from their
  /// own beginning; all else from when it was seen first, and anew after a restart. Five or more that begin at
  /// once are one message. An issue that is acknowledged is not reported.
  ///
  /// A message is a webhook, and so a call: it survives restarts, and is retried. Its labels are `alert`,
  /// `notice` and `event`. `filter` selects the messages in a list of calls.
  ///
  /// Of an alert that exists, `to` may be left out: then it stays as it is.
  ///
  /// - Parameters:
  ///   - name: The alert's name.
  ///   - draft: The draft.
  @discardableResult
  public func putAlert(_ name: String, _ draft: RedialAPI.AlertDraft) async throws -> RedialAPI.Alert {
    var request = ServiceRequest("PUT", ["v1", "alerts", name])
    request.body = try ServiceRequest.encoded(draft)
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.Alert.self)
  }

  /// Remove an alert.
  ///
  /// Nobody is notified of the ends of the issues that it has reported.
  ///
  /// - Parameter name: The alert's name.
  public func deleteAlert(_ name: String) async throws {
    _ = try await exchange(ServiceRequest("DELETE", ["v1", "alerts", name]))
  }

  /// Silence an alert for a while, or end that.
  ///
  /// Nobody is notified that an issue begins until the silence ends. Then they are notified of those that are
  /// still there. The end of one that was reported before is reported in a silence, too.
  ///
  /// - Parameters:
  ///   - name: The alert's name.
  ///   - silence: The silence.
  @discardableResult
  public func silenceAlert(_ name: String, _ silence: RedialAPI.Silence) async throws -> RedialAPI.Alert {
    var request = ServiceRequest("PATCH", ["v1", "alerts", name])
    request.body = try ServiceRequest.encoded(silence)
    return try await exchange(request).decoded(RedialAPI.Alert.self)
  }

  /// Send a test message where the alert leads.
  ///
  /// It is one attempt, at once, also while the receiver's breaker is open, and in a silence, too. PagerDuty
  /// opens an alert of severity `info` for it, which has to be resolved there.
  ///
  /// - Parameter name: The alert's name.
  @discardableResult
  public func testAlert(_ name: String) async throws -> RedialCall {
    return try await exchange(ServiceRequest("POST", ["v1", "alerts", name, "test"], body: ServiceRequest.nothing))
      .decoded(RedialCall.self)
  }

  /// List the credentials, by name.
  ///
  /// - Parameter pageSize: How many a request fetches, 1 to 250.
  public func listCredentials(pageSize: Int = 250) -> RedialPages<RedialAPI.Credential> {
    RedialPages<RedialAPI.Credential>(client: self, pageSize: pageSize) {
      ServiceRequest("GET", ["v1", "credentials"])
    }
  }

  /// Show a credential without its secrets.
  ///
  /// - Parameter name: The credential's name.
  public func getCredential(_ name: String) async throws -> RedialAPI.Credential {
    return try await exchange(ServiceRequest("GET", ["v1", "credentials", name])).decoded(RedialAPI.Credential.self)
  }

  /// Make or replace a credential.
  ///
  /// Calls use it by its name: `credential` for what proves who sends them, `sign` for what signs them. Attempts
  /// take it as it is when they are made, so calls that wait use a new secret, too. Nobody can read its secrets
  /// again.
  ///
  /// It is sent to its `origins` alone, and no redirect to another origin carries it.
  ///
  /// - Parameters:
  ///   - name: The credential's name.
  ///   - draft: The draft.
  @discardableResult
  public func putCredential(_ name: String, _ draft: RedialAPI.CredentialDraft) async throws -> RedialAPI.Credential {
    var request = ServiceRequest("PUT", ["v1", "credentials", name])
    request.body = try ServiceRequest.encoded(draft)
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.Credential.self)
  }

  /// Remove a credential.
  ///
  /// Calls that name it wait with their attempts not made, and not counted, until there is one of that name
  /// again, or they reach their deadlines.
  ///
  /// - Parameter name: The credential's name.
  public func deleteCredential(_ name: String) async throws {
    _ = try await exchange(ServiceRequest("DELETE", ["v1", "credentials", name]))
  }

  /// List the stored policies, each in its current version.
  ///
  /// - Parameter pageSize: How many a request fetches, 1 to 250.
  public func listPolicies(pageSize: Int = 250) -> RedialPages<RedialAPI.StoredPolicySummary> {
    RedialPages<RedialAPI.StoredPolicySummary>(client: self, pageSize: pageSize) {
      ServiceRequest("GET", ["v1", "policies"])
    }
  }

  /// Show a stored policy.
  ///
  /// - Parameters:
  ///   - name: The policy's name.
  ///   - version: The version; the current one by default.
  public func getPolicy(_ name: String, version: Int? = nil) async throws -> RedialAPI.StoredPolicy {
    var request = ServiceRequest("GET", ["v1", "policies", name])
    request.add([("version", version.map { "\($0)" })])
    return try await exchange(request).decoded(RedialAPI.StoredPolicy.self)
  }

  /// Store a policy under a name.
  ///
  /// Makes a new version. Calls that name the policy use it from now on; a call keeps the version that it was
  /// accepted with. The same content again makes no version. `If-Match` with the `ETag` of the version that you
  /// change prevents two authors from overwriting each other; `If-None-Match: *` only creates. The latest 20
  /// versions are kept.
  ///
  /// - Parameters:
  ///   - name: The policy's name.
  ///   - policy: The policy.
  ///   - ifMatch: Only if the resource has this `ETag`, such as `"3"` for version 3.
  ///   - ifNoneMatch: `*`: only if there is none yet.
  @discardableResult
  public func putPolicy(_ name: String, _ policy: RedialAPI.Policy, ifMatch: String? = nil, ifNoneMatch: String? = nil)
    async throws -> RedialAPI.StoredPolicy
  {
    var request = ServiceRequest("PUT", ["v1", "policies", name])
    request.body = try ServiceRequest.encoded(policy)
    request.fields["If-Match"] = ifMatch
    request.fields["If-None-Match"] = ifNoneMatch
    return try await exchange(request).decoded(RedialAPI.StoredPolicy.self)
  }

  /// Delete a stored policy with all its versions.
  ///
  /// Calls that were accepted with it keep it. If a policy is stored under this name later, its versions continue
  /// to count up.
  ///
  /// - Parameters:
  ///   - name: The policy's name.
  ///   - ifMatch: Only if the resource has this `ETag`, such as `"3"` for version 3.
  public func removePolicy(_ name: String, ifMatch: String? = nil) async throws {
    var request = ServiceRequest("DELETE", ["v1", "policies", name])
    request.fields["If-Match"] = ifMatch
    _ = try await exchange(request)
  }

  /// List the webhook endpoints, oldest first.
  ///
  /// - Parameter pageSize: How many a request fetches, 1 to 250.
  public func listWebhookEndpoints(pageSize: Int = 250) -> RedialPages<RedialAPI.WebhookEndpoint> {
    RedialPages<RedialAPI.WebhookEndpoint>(client: self, pageSize: pageSize) {
      ServiceRequest("GET", ["v1", "webhook-endpoints"])
    }
  }

  /// Register a webhook endpoint.
  ///
  /// From now on it receives webhooks for the events that it names. They are signed with its own secret, which is
  /// shown only in this answer. The webhooks of each endpoint are calls to their own target, `webhook:` and its
  /// id. `api/webhooks.schema.json` is the schema of their payloads.
  ///
  /// - Parameter draft: The draft.
  @discardableResult
  public func createWebhookEndpoint(_ draft: RedialAPI.WebhookEndpointDraft) async throws
    -> RedialAPI.WebhookEndpointWithSecret
  {
    var request = ServiceRequest("POST", ["v1", "webhook-endpoints"])
    request.body = try ServiceRequest.encoded(draft)
    return try await exchange(request).decoded(RedialAPI.WebhookEndpointWithSecret.self)
  }

  /// Show a webhook endpoint.
  ///
  /// - Parameter endpointID: The endpoint's id.
  public func getWebhookEndpoint(_ endpointID: String) async throws -> RedialAPI.WebhookEndpoint {
    return try await exchange(ServiceRequest("GET", ["v1", "webhook-endpoints", endpointID])).decoded(
      RedialAPI.WebhookEndpoint.self)
  }

  /// Change a webhook endpoint.
  ///
  /// Members that are left out get their defaults. A disabled endpoint gets no webhooks for new events, and
  /// webhooks on their way to it are held back. When it is enabled, those are sent. Webhooks that wait go to the
  /// URL that the endpoint has when they are sent. A delivery that is in flight ends at the URL before; its
  /// answer counts neither for nor against the endpoint.
  ///
  /// - Parameters:
  ///   - endpointID: The endpoint's id.
  ///   - draft: The draft.
  @discardableResult
  public func replaceWebhookEndpoint(_ endpointID: String, _ draft: RedialAPI.WebhookEndpointDraft) async throws
    -> RedialAPI.WebhookEndpoint
  {
    var request = ServiceRequest("PUT", ["v1", "webhook-endpoints", endpointID])
    request.body = try ServiceRequest.encoded(draft)
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.WebhookEndpoint.self)
  }

  /// Delete a webhook endpoint.
  ///
  /// Webhooks on their way to it are held back, and fail at their deadline.
  ///
  /// - Parameter endpointID: The endpoint's id.
  public func deleteWebhookEndpoint(_ endpointID: String) async throws {
    _ = try await exchange(ServiceRequest("DELETE", ["v1", "webhook-endpoints", endpointID]))
  }

  /// Give a webhook endpoint a new secret.
  ///
  /// The new secret is shown only in this answer. During the overlap, `webhook-signature` also has a signature
  /// with the old secret. At most five secrets sign; then the oldest is dropped.
  ///
  /// - Parameters:
  ///   - endpointID: The endpoint's id.
  ///   - rotation: The rotation; nil for the defaults.
  @discardableResult
  public func rotateWebhookSecret(_ endpointID: String, _ rotation: RedialAPI.SecretRotation? = nil) async throws
    -> RedialAPI.WebhookEndpointWithSecret
  {
    var request = ServiceRequest("POST", ["v1", "webhook-endpoints", endpointID, "rotate-secret"])
    request.body = try rotation.map { try ServiceRequest.encoded($0) } ?? ServiceRequest.nothing
    return try await exchange(request).decoded(RedialAPI.WebhookEndpointWithSecret.self)
  }

  /// Send a webhook endpoint a test webhook, of type `webhook.test`.
  ///
  /// It is one attempt, at once, also while other webhooks wait for the breaker of the endpoint.
  ///
  /// - Parameter endpointID: The endpoint's id.
  @discardableResult
  public func testWebhookEndpoint(_ endpointID: String) async throws -> RedialCall {
    return try await exchange(
      ServiceRequest("POST", ["v1", "webhook-endpoints", endpointID, "test"], body: ServiceRequest.nothing)
    ).decoded(RedialCall.self)
  }

  /// List the webhooks of an endpoint, newest first.
  ///
  /// Each is a call: `GET /v1/calls/{id}/attempts` shows its attempts, and `POST /v1/calls/{id}/retry` delivers
  /// it again, under the same `webhook-id`. Its label `event` is the type of the event. Its `url` is the
  /// endpoint's when the webhook was made; it is sent to the one that the endpoint has at that time.
  ///
  /// - Parameters:
  ///   - endpointID: The endpoint's id.
  ///   - state: Only webhooks in one of these states, separated by commas.
  ///   - pageSize: How many a request fetches, 1 to 250.
  public func listWebhookDeliveries(_ endpointID: String, state: [RedialCall.State] = [], pageSize: Int = 250)
    -> RedialPages<RedialCall>
  {
    RedialPages<RedialCall>(client: self, pageSize: pageSize) {
      var request = ServiceRequest("GET", ["v1", "webhook-endpoints", endpointID, "deliveries"])
      request.add([("state", ServiceRequest.words(state))])
      return request
    }
  }

  /// List the API keys, oldest first, revoked ones too.
  ///
  /// Revoked keys are kept for 90 days, unless a new key needs the room. The list has the keys of the request's
  /// namespace; for an operator who acts in `default`, it has all keys.
  ///
  /// - Parameter pageSize: How many a request fetches, 1 to 250.
  public func listKeys(pageSize: Int = 250) -> RedialPages<RedialAPI.APIKey> {
    RedialPages<RedialAPI.APIKey>(client: self, pageSize: pageSize) {
      ServiceRequest("GET", ["v1", "keys"])
    }
  }

  /// Make an API key.
  ///
  /// The key is shown only in this answer; its SHA-256 is stored. From the first key on, everything except
  /// `/healthz`, `/readyz`, `/` and this document needs a key; so the first one must have the scope `admin` in
  /// the namespace `default`.
  ///
  /// A key of another namespace than `default` makes keys only in its own namespace. A key of `default` with the
  /// scope `admin` makes keys in any namespace, such as the first key of a tenant.
  ///
  /// - Parameter draft: The draft.
  @discardableResult
  public func createKey(_ draft: RedialAPI.APIKeyDraft) async throws -> RedialAPI.APIKeyWithText {
    var request = ServiceRequest("POST", ["v1", "keys"])
    request.body = try ServiceRequest.encoded(draft)
    return try await exchange(request).decoded(RedialAPI.APIKeyWithText.self)
  }

  /// Revoke an API key.
  ///
  /// It stops working at once; event streams that it opened end.
  ///
  /// - Parameter keyID: The key's id.
  @discardableResult
  public func revokeKey(_ keyID: String) async throws -> RedialAPI.APIKey {
    return try await exchange(ServiceRequest("DELETE", ["v1", "keys", keyID])).decoded(RedialAPI.APIKey.self)
  }

  /// List who did what, newest first.
  ///
  /// A record for each change that somebody has made: of keys, endpoints, policies, targets, calls, operations,
  /// issues and alerts. Submissions are no such changes. The list has the records of the request's namespace; for
  /// an operator who acts in `default`, it has those of all.
  ///
  /// A page may have fewer records than its limit, or none, although more follow: `nextCursor` is null only on
  /// the last page.
  ///
  /// - Parameters:
  ///   - actor: Only what this one did, by `actor`, `actorName` or `actorKind`.
  ///   - action: Only these actions. Separate several with commas.
  ///   - object: Only what was done to the object with this id, name or key.
  ///   - namespace: Only records of this namespace.
  ///   - since: Only records from this time on, or of the time since so long ago.
  ///   - until: Only records before this time, or before so long ago.
  ///   - pageSize: How many a request fetches, 1 to 250.
  public func listAudit(
    actor: String? = nil, action: [RedialAPI.AuditAction] = [], object: String? = nil, namespace: String? = nil,
    since: String? = nil, until: String? = nil, pageSize: Int = 250
  ) -> RedialPages<RedialAPI.AuditRecord> {
    RedialPages<RedialAPI.AuditRecord>(client: self, pageSize: pageSize) {
      var request = ServiceRequest("GET", ["v1", "audit"])
      request.add([
        ("actor", actor), ("action", ServiceRequest.words(action)), ("object", object), ("namespace", namespace),
        ("since", since), ("until", until),
      ])
      return request
    }
  }

  /// Show the secret that the callbacks of calls are signed with.
  ///
  /// Each namespace has its own secret; those of other namespaces are derived from that of `default`. Webhook
  /// endpoints have their own secrets, which are shown when they are made.
  public func getWebhookSecret() async throws -> RedialAPI.WebhookSecret {
    return try await exchange(ServiceRequest("GET", ["v1", "webhook-secret"])).decoded(RedialAPI.WebhookSecret.self)
  }

  /// Show when a policy makes its attempts.
  ///
  /// When each attempt starts, if all before it fail and the target asks for no waits: the bounds of each wait,
  /// quantiles of each start, and the probability that it comes before the deadline. With warnings for settings
  /// that are allowed but rarely intended. `Accept: image/svg+xml` gets a chart.
  ///
  /// - Parameter preview: The preview.
  public func previewPolicy(_ preview: RedialAPI.PolicyPreview) async throws -> RedialAPI.Plan {
    var request = ServiceRequest("POST", ["v1", "policies", "preview"])
    request.body = try ServiceRequest.encoded(preview)
    request.isRepeatable = true
    return try await exchange(request).decoded(RedialAPI.Plan.self)
  }

  /// List the instances that share the store.
  ///
  /// Each runs the calls of the targets in its shards, of 64 in all. On SQLite there is one, with all of them. A
  /// list may be some hundred milliseconds old. They cover all namespaces, so a key must be one of `default`.
  ///
  /// For 7 days after a failover to a database server that lacked commits, `lostCommits` says so.
  ///
  /// - Parameter pageSize: How many a request fetches, 1 to 250.
  public func listInstances(pageSize: Int = 250) -> RedialPages<RedialAPI.Instance> {
    RedialPages<RedialAPI.Instance>(client: self, pageSize: pageSize) {
      ServiceRequest("GET", ["v1", "instances"])
    }
  }
}

// Made by Scripts/generate from api/openapi.yaml.

import type {
  APIKey, APIKeyDraft, APIKeyWithText, Alert, AlertDraft, AuditAction, AuditRecord, BulkDryRun, BulkOperation, BulkRequest,
  Call, CallDescriptor, CallState, CallSummary, Credential, CredentialDraft, DryRun, Instance, Issue, IssueChange,
  IssueState, Plan, Policy, PolicyPreview, ReplayChanges, SecretRotation, Silence, StatisticsWindow, StoredPolicy,
  StoredPolicySummary, Target, TargetPatch, TargetSettings, WebhookEndpoint, WebhookEndpointDraft,
  WebhookEndpointWithSecret, WebhookSecret,
} from "./models.js";
import { asking, filters, givenOrNew } from "./requests.js";
import type { Request } from "./requests.js";

/** The methods that need nothing but one request of the API. */
export abstract class Methods {
  /** @internal */
  protected abstract json<Result>(request: Request, signal?: AbortSignal): Promise<Result>;
  /** @internal */
  protected abstract pages<Entry>(request: Request, signal?: AbortSignal): AsyncGenerator<Entry, void, undefined>;

  /** What `submit` would do; nothing is stored or changed. */
  async submitDryRun(call: CallDescriptor, options: { signal?: AbortSignal } = {}): Promise<DryRun> {
    const request = asking("POST", "/v1/calls", { params: filters({ dryRun: true }), body: call });
    return this.json(request, options.signal);
  }

  /**
   * Submit a call like an earlier one, with changes.
   *
   * Makes a new call from the earlier one, and names that in `replayOf`. Each member of the body replaces the original's,
   * and `null` removes it. A body in any form replaces the original's. If the target followed from the URL, it follows from
   * the new URL. The new call starts at once unless `delay` or `startAt` is given. It is checked like any submission.
   *
   * It needs a key with the scopes `submit` and `operate`, because the original's request is sent again with its
   * credentials. Changes of the request (`url`, `method`, `headers`, the body), of `redirects`, `capture` or `callback`,
   * and a dry run, also need the scope `payloads`. Secret header fields are not sent to another origin: if the URL has
   * another origin, give `headers` too.
   *
   * @param callId The call's id.
   * @param options.idempotencyKey The same key again returns the first call, or runs it again. By default a new one.
   * @param options.wait Return only when the call has ended, or after this many seconds.
   */
  async replay(
    callId: string, changes?: ReplayChanges, options: { idempotencyKey?: string; wait?: number; signal?: AbortSignal } = {},
  ): Promise<Call> {
    const request = asking("POST", `/v1/calls/${encodeURIComponent(callId)}/replay`, {
      body: changes, key: await givenOrNew(options.idempotencyKey), wait: options.wait,
    });
    return this.json(request, options.signal);
  }

  /**
   * What `replay` would do; nothing is stored or changed.
   *
   * @param callId The call's id.
   */
  async replayDryRun(callId: string, changes?: ReplayChanges, options: { signal?: AbortSignal } = {}): Promise<DryRun> {
    const request = asking("POST", `/v1/calls/${encodeURIComponent(callId)}/replay`, {
      params: filters({ dryRun: true }), body: changes,
    });
    return this.json(request, options.signal);
  }

  /**
   * Erase the payloads of a call that has ended.
   *
   * Erases the request's header fields and body, the description, the query of its URL and of its callback's URL, and the
   * stored responses; with `labels=true` also the labels. What remains: scheme, host and path of the URL, the attempts and
   * their results, and the time of the erasure. The call cannot be run again. Kept events lose the same data. Webhooks
   * about the call are calls of their own (`kind=webhook`), and keep what they say, also those still waiting, which are
   * sent as they are. Cancel the waiting ones, and erase each one's content. A body is checked like that of a retry, and
   * not kept.
   *
   * @param callId The call's id.
   * @param options.labels Also erase the call's labels. This works for a call that was erased before, too.
   */
  async erase(callId: string, options: { labels?: boolean; signal?: AbortSignal } = {}): Promise<Call> {
    const request = asking("DELETE", `/v1/calls/${encodeURIComponent(callId)}/content`, {
      params: filters({ labels: options.labels }), isRepeatable: false,
    });
    return this.json(request, options.signal);
  }

  /**
   * List the targets that the service remembers.
   *
   * Sorted by key: `nextCursor` of one page is the `cursor` of the next.
   *
   * @param options.active Only targets with calls that wait or run, those that are paused or held open, those whose breaker
   *   is not closed, and those of which a path, a credential or a label fails while the rest works.
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listTargets(
    options: { active?: boolean; pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Target, void, undefined> {
    const request = asking("GET", "/v1/targets", {
      params: filters({ active: options.active, limit: options.pageSize ?? 250 }),
    });
    yield* this.pages<Target>(request, options.signal);
  }

  /**
   * Show a target and its breaker.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async getTarget(key: string, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("GET", `/v1/targets/${encodeURIComponent(key)}`);
    return this.json(request, options.signal);
  }

  /**
   * Set limits for a target.
   *
   * Replaces the limits that were set for the target, at once and for waiting calls too. Members that are left out follow
   * the service's settings. The target need not exist yet.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async configureTarget(key: string, settings: TargetSettings, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("PUT", `/v1/targets/${encodeURIComponent(key)}`, { body: settings });
    return this.json(request, options.signal);
  }

  /**
   * Change some limits of a target, and leave the others.
   *
   * A JSON Merge Patch (RFC 7396) of the target's `overrides`: a member replaces what was set, null removes it, so that it
   * follows the service's settings again, and what is left out stays. Objects are merged, arrays replaced. Null in place of
   * the object removes all that was set. Takes effect at once and for waiting calls too. Patches at the same time are made
   * one after the other, so none undoes another. The target need not exist yet.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async changeTarget(key: string, patch: TargetPatch, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("PATCH", `/v1/targets/${encodeURIComponent(key)}`, { body: patch, isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Pause a target: start no call to it.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async pauseTarget(key: string, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("POST", `/v1/targets/${encodeURIComponent(key)}/pause`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Resume a paused target.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async resumeTarget(key: string, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("POST", `/v1/targets/${encodeURIComponent(key)}/resume`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Hold a target's breaker open until it is reset.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async tripTarget(key: string, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("POST", `/v1/targets/${encodeURIComponent(key)}/trip`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Close a target's breaker, and forget what breaker and pace have learned.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async resetTarget(key: string, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("POST", `/v1/targets/${encodeURIComponent(key)}/reset`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Close a target's breaker, forget its Retry-After, and run the calls that waited for them or for the pace.
   *
   * @param key The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
   *   `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
   */
  async releaseTarget(key: string, options: { signal?: AbortSignal } = {}): Promise<Target> {
    const request = asking("POST", `/v1/targets/${encodeURIComponent(key)}/release`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Show how calls ended in the last 15 minutes, 24 hours and 7 days.
   *
   * Counts of the namespace's calls, without webhooks. They survive restarts. They are written every ten seconds and at a
   * stop, so a crash loses at most ten seconds. Each end is counted once; a call that is run again and ends again counts
   * again.
   *
   * Each window has steps of equal length; the last one is not over yet. A latency is that of an attempt, within a fifth;
   * attempts that were cut off are left out.
   */
  async getStatistics(options: { signal?: AbortSignal } = {}): Promise<StatisticsWindow[]> {
    const request = asking("GET", "/v1/statistics");
    return (await this.json<{ data: StatisticsWindow[] }>(request, options.signal)).data;
  }

  /**
   * List bulk operations, newest first.
   *
   * All that run, and the latest 1,000 that have ended.
   *
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listOperations(
    options: { pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<BulkOperation, void, undefined> {
    const request = asking("GET", "/v1/operations", { params: filters({ limit: options.pageSize ?? 250 }) });
    yield* this.pages<BulkOperation>(request, options.signal);
  }

  /**
   * Start a bulk operation: one action on all calls that match a filter.
   *
   * Counts the calls first. Then it acts on them page by page, newest first, at no more than `ratePerSecond` calls per
   * second, as if each action had been requested on its own. It continues after a restart, and never runs a call again
   * twice. A `filter` without a condition needs `"all": true`. `retry`, `purge` and `replay` affect calls that had ended
   * when the operation was accepted; `replay` submits a new call like each of them, once, and needs the scope `submit`,
   * too; `release` runs calls that wait now. `dryRun` only counts. It stops after 100,000 calls that match, or that had to
   * be looked up for `status`, `outcome`, `failureReason` or `url`; then `isComplete` is false and `matched` is a lower
   * bound.
   */
  async beginOperation(operation: BulkRequest, options: { signal?: AbortSignal } = {}): Promise<BulkOperation> {
    const request = asking("POST", "/v1/operations", { body: operation, isRepeatable: false });
    return this.json(request, options.signal);
  }

  /** What `beginOperation` would do; nothing is stored or changed. */
  async beginOperationDryRun(operation: BulkRequest, options: { signal?: AbortSignal } = {}): Promise<BulkDryRun> {
    const request = asking("POST", "/v1/operations", { body: { ...operation, dryRun: true } });
    return this.json(request, options.signal);
  }

  /**
   * Show the progress of a bulk operation.
   *
   * @param operationId The bulk operation's id.
   */
  async getOperation(operationId: string, options: { signal?: AbortSignal } = {}): Promise<BulkOperation> {
    const request = asking("GET", `/v1/operations/${encodeURIComponent(operationId)}`);
    return this.json(request, options.signal);
  }

  /**
   * Stop a bulk operation.
   *
   * Actions that were done stay done; the page in work is finished. A request body is ignored.
   *
   * @param operationId The bulk operation's id.
   */
  async cancelOperation(operationId: string, options: { signal?: AbortSignal } = {}): Promise<BulkOperation> {
    const request = asking("POST", `/v1/operations/${encodeURIComponent(operationId)}/cancel`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * List what is wrong, with the calls that it concerns.
   *
   * Two thousand failed calls are seldom more than a few errors. Failed calls are one issue if they have the same target,
   * reason and error; ids, numbers, times and addresses in an error do not count. Beside them, an issue is a target that is
   * down, that is held, or whose oldest due call has waited for a minute or more; what fails again and again while the rest
   * of its target works (a path, a credential or a label), or by Redial's own fault (such as its proxy); and what a check
   * of the store finds.
   *
   * Issues of failed calls come last; in both parts, those with the most calls first. An issue opens by itself, and is
   * resolved when it is over: failed calls were retried, replayed elsewhere and purged, or removed after their time. With
   * `filter`, an operation acts on all calls of an issue.
   *
   * Calls that failed before Redial had issues are in none.
   *
   * Numbers of calls change: an issue may be on two pages, or on none.
   *
   * @param options.state Only issues in one of these states. Separate several with commas.
   * @param options.target Only issues of this target.
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listIssues(
    options: { state?: IssueState | readonly IssueState[]; target?: string; pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Issue, void, undefined> {
    const request = asking("GET", "/v1/issues", {
      params: filters({ state: options.state, target: options.target, limit: options.pageSize ?? 250 }),
    });
    yield* this.pages<Issue>(request, options.signal);
  }

  /**
   * Show an issue.
   *
   * @param issueId The issue's id.
   */
  async getIssue(issueId: string, options: { signal?: AbortSignal } = {}): Promise<Issue> {
    const request = asking("GET", `/v1/issues/${encodeURIComponent(issueId)}`);
    return this.json(request, options.signal);
  }

  /**
   * Acknowledge or resolve an issue.
   *
   * An acknowledged issue stays so until its end (`until`), and no alert reports it: then those that have reported it do so
   * again, if it is still there. PagerDuty is notified at once. A resolved one opens again with the next call that fails
   * so. `open` removes the statement. The latest 1,000 statements of a namespace are kept.
   *
   * @param issueId The issue's id.
   */
  async changeIssue(issueId: string, change: IssueChange, options: { signal?: AbortSignal } = {}): Promise<Issue> {
    const request = asking("PATCH", `/v1/issues/${encodeURIComponent(issueId)}`, { body: change, isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * List the alerts, by name.
   *
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listAlerts(options: { pageSize?: number; signal?: AbortSignal } = {}): AsyncGenerator<Alert, void, undefined> {
    const request = asking("GET", "/v1/alerts", { params: filters({ limit: options.pageSize ?? 250 }) });
    yield* this.pages<Alert>(request, options.signal);
  }

  /**
   * Show an alert.
   *
   * @param name The alert's name.
   */
  async getAlert(name: string, options: { signal?: AbortSignal } = {}): Promise<Alert> {
    const request = asking("GET", `/v1/alerts/${encodeURIComponent(name)}`);
    return this.json(request, options.signal);
  }

  /**
   * Make or replace an alert.
   *
   * Somebody is notified once when an issue has been there for long enough (`after`), and once when it has been over for a
   * while, so that one that comes and goes is reported once. Outages and lateness count from their own beginning; all else
   * from when it was seen first, and anew after a restart. Five or more that begin at once are one message. An issue that
   * is acknowledged is not reported.
   *
   * A message is a webhook, and so a call: it survives restarts, and is retried. Its labels are `alert`, `notice` and
   * `event`. `filter` selects the messages in a list of calls.
   *
   * Of an alert that exists, `to` may be left out: then it stays as it is.
   *
   * @param name The alert's name.
   */
  async putAlert(name: string, draft: AlertDraft, options: { signal?: AbortSignal } = {}): Promise<Alert> {
    const request = asking("PUT", `/v1/alerts/${encodeURIComponent(name)}`, { body: draft });
    return this.json(request, options.signal);
  }

  /**
   * Remove an alert.
   *
   * Nobody is notified of the ends of the issues that it has reported.
   *
   * @param name The alert's name.
   */
  async deleteAlert(name: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    const request = asking("DELETE", `/v1/alerts/${encodeURIComponent(name)}`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Silence an alert for a while, or end that.
   *
   * Nobody is notified that an issue begins until the silence ends. Then they are notified of those that are still there.
   * The end of one that was reported before is reported in a silence, too.
   *
   * @param name The alert's name.
   */
  async silenceAlert(name: string, silence: Silence, options: { signal?: AbortSignal } = {}): Promise<Alert> {
    const request = asking("PATCH", `/v1/alerts/${encodeURIComponent(name)}`, { body: silence, isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Send a test message where the alert leads.
   *
   * It is one attempt, at once, also while the receiver's breaker is open, and in a silence, too. PagerDuty opens an alert
   * of severity `info` for it, which has to be resolved there.
   *
   * @param name The alert's name.
   */
  async testAlert(name: string, options: { signal?: AbortSignal } = {}): Promise<Call> {
    const request = asking("POST", `/v1/alerts/${encodeURIComponent(name)}/test`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * List the credentials, by name.
   *
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listCredentials(
    options: { pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Credential, void, undefined> {
    const request = asking("GET", "/v1/credentials", { params: filters({ limit: options.pageSize ?? 250 }) });
    yield* this.pages<Credential>(request, options.signal);
  }

  /**
   * Show a credential without its secrets.
   *
   * @param name The credential's name.
   */
  async getCredential(name: string, options: { signal?: AbortSignal } = {}): Promise<Credential> {
    const request = asking("GET", `/v1/credentials/${encodeURIComponent(name)}`);
    return this.json(request, options.signal);
  }

  /**
   * Make or replace a credential.
   *
   * Calls use it by its name: `credential` for what proves who sends them, `sign` for what signs them. Attempts take it as
   * it is when they are made, so calls that wait use a new secret, too. Nobody can read its secrets again.
   *
   * It is sent to its `origins` alone, and no redirect to another origin carries it.
   *
   * @param name The credential's name.
   */
  async putCredential(name: string, draft: CredentialDraft, options: { signal?: AbortSignal } = {}): Promise<Credential> {
    const request = asking("PUT", `/v1/credentials/${encodeURIComponent(name)}`, { body: draft });
    return this.json(request, options.signal);
  }

  /**
   * Remove a credential.
   *
   * Calls that name it wait with their attempts not made, and not counted, until there is one of that name again, or they
   * reach their deadlines.
   *
   * @param name The credential's name.
   */
  async deleteCredential(name: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    const request = asking("DELETE", `/v1/credentials/${encodeURIComponent(name)}`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * List the stored policies, each in its current version.
   *
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listPolicies(
    options: { pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<StoredPolicySummary, void, undefined> {
    const request = asking("GET", "/v1/policies", { params: filters({ limit: options.pageSize ?? 250 }) });
    yield* this.pages<StoredPolicySummary>(request, options.signal);
  }

  /**
   * Show a stored policy.
   *
   * @param name The policy's name.
   * @param options.version The version; the current one by default.
   */
  async getPolicy(name: string, options: { version?: number; signal?: AbortSignal } = {}): Promise<StoredPolicy> {
    const request = asking("GET", `/v1/policies/${encodeURIComponent(name)}`, {
      params: filters({ version: options.version }),
    });
    return this.json(request, options.signal);
  }

  /**
   * Store a policy under a name.
   *
   * Makes a new version. Calls that name the policy use it from now on; a call keeps the version that it was accepted with.
   * The same content again makes no version. `If-Match` with the `ETag` of the version that you change prevents two authors
   * from overwriting each other; `If-None-Match: *` only creates. The latest 20 versions are kept.
   *
   * @param name The policy's name.
   * @param options.ifMatch Only if the resource has this `ETag`, such as `"3"` for version 3.
   * @param options.ifNoneMatch `*`: only if there is none yet.
   */
  async putPolicy(
    name: string, policy: Policy, options: { ifMatch?: string; ifNoneMatch?: string; signal?: AbortSignal } = {},
  ): Promise<StoredPolicy> {
    const request = asking("PUT", `/v1/policies/${encodeURIComponent(name)}`, {
      body: policy, ifMatch: options.ifMatch, ifNoneMatch: options.ifNoneMatch, isRepeatable: false,
    });
    return this.json(request, options.signal);
  }

  /**
   * Delete a stored policy with all its versions.
   *
   * Calls that were accepted with it keep it. If a policy is stored under this name later, its versions continue to count
   * up.
   *
   * @param name The policy's name.
   * @param options.ifMatch Only if the resource has this `ETag`, such as `"3"` for version 3.
   */
  async removePolicy(name: string, options: { ifMatch?: string; signal?: AbortSignal } = {}): Promise<void> {
    const request = asking("DELETE", `/v1/policies/${encodeURIComponent(name)}`, {
      ifMatch: options.ifMatch, isRepeatable: false,
    });
    return this.json(request, options.signal);
  }

  /**
   * List the webhook endpoints, oldest first.
   *
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listWebhookEndpoints(
    options: { pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<WebhookEndpoint, void, undefined> {
    const request = asking("GET", "/v1/webhook-endpoints", { params: filters({ limit: options.pageSize ?? 250 }) });
    yield* this.pages<WebhookEndpoint>(request, options.signal);
  }

  /**
   * Register a webhook endpoint.
   *
   * From now on it receives webhooks for the events that it names. They are signed with its own secret, which is shown only
   * in this answer. The webhooks of each endpoint are calls to their own target, `webhook:` and its id.
   * `api/webhooks.schema.json` is the schema of their payloads.
   */
  async createWebhookEndpoint(
    draft: WebhookEndpointDraft, options: { signal?: AbortSignal } = {},
  ): Promise<WebhookEndpointWithSecret> {
    const request = asking("POST", "/v1/webhook-endpoints", { body: draft, isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Show a webhook endpoint.
   *
   * @param endpointId The endpoint's id.
   */
  async getWebhookEndpoint(endpointId: string, options: { signal?: AbortSignal } = {}): Promise<WebhookEndpoint> {
    const request = asking("GET", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}`);
    return this.json(request, options.signal);
  }

  /**
   * Change a webhook endpoint.
   *
   * Members that are left out get their defaults. A disabled endpoint gets no webhooks for new events, and webhooks on
   * their way to it are held back. When it is enabled, those are sent. Webhooks that wait go to the URL that the endpoint
   * has when they are sent. A delivery that is in flight ends at the URL before; its answer counts neither for nor against
   * the endpoint.
   *
   * @param endpointId The endpoint's id.
   */
  async replaceWebhookEndpoint(
    endpointId: string, draft: WebhookEndpointDraft, options: { signal?: AbortSignal } = {},
  ): Promise<WebhookEndpoint> {
    const request = asking("PUT", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}`, { body: draft });
    return this.json(request, options.signal);
  }

  /**
   * Delete a webhook endpoint.
   *
   * Webhooks on their way to it are held back, and fail at their deadline.
   *
   * @param endpointId The endpoint's id.
   */
  async deleteWebhookEndpoint(endpointId: string, options: { signal?: AbortSignal } = {}): Promise<void> {
    const request = asking("DELETE", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Give a webhook endpoint a new secret.
   *
   * The new secret is shown only in this answer. During the overlap, `webhook-signature` also has a signature with the old
   * secret. At most five secrets sign; then the oldest is dropped.
   *
   * @param endpointId The endpoint's id.
   */
  async rotateWebhookSecret(
    endpointId: string, rotation?: SecretRotation, options: { signal?: AbortSignal } = {},
  ): Promise<WebhookEndpointWithSecret> {
    const request = asking("POST", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}/rotate-secret`, {
      body: rotation, isRepeatable: false,
    });
    return this.json(request, options.signal);
  }

  /**
   * Send a webhook endpoint a test webhook, of type `webhook.test`.
   *
   * It is one attempt, at once, also while other webhooks wait for the breaker of the endpoint.
   *
   * @param endpointId The endpoint's id.
   */
  async testWebhookEndpoint(endpointId: string, options: { signal?: AbortSignal } = {}): Promise<Call> {
    const request = asking("POST", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}/test`, {
      isRepeatable: false,
    });
    return this.json(request, options.signal);
  }

  /**
   * List the webhooks of an endpoint, newest first.
   *
   * Each is a call: `GET /v1/calls/{id}/attempts` shows its attempts, and `POST /v1/calls/{id}/retry` delivers it again,
   * under the same `webhook-id`. Its label `event` is the type of the event. Its `url` is the endpoint's when the webhook
   * was made; it is sent to the one that the endpoint has at that time.
   *
   * @param endpointId The endpoint's id.
   * @param options.state Only webhooks in one of these states, separated by commas.
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listWebhookDeliveries(
    endpointId: string, options: { state?: CallState | readonly CallState[]; pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<CallSummary, void, undefined> {
    const request = asking("GET", `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}/deliveries`, {
      params: filters({ state: options.state, limit: options.pageSize ?? 250 }),
    });
    yield* this.pages<CallSummary>(request, options.signal);
  }

  /**
   * List the API keys, oldest first, revoked ones too.
   *
   * Revoked keys are kept for 90 days, unless a new key needs the room. The list has the keys of the request's namespace;
   * for an operator who acts in `default`, it has all keys.
   *
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listKeys(options: { pageSize?: number; signal?: AbortSignal } = {}): AsyncGenerator<APIKey, void, undefined> {
    const request = asking("GET", "/v1/keys", { params: filters({ limit: options.pageSize ?? 250 }) });
    yield* this.pages<APIKey>(request, options.signal);
  }

  /**
   * Make an API key.
   *
   * The key is shown only in this answer; its SHA-256 is stored. From the first key on, everything except `/healthz`,
   * `/readyz`, `/` and this document needs a key; so the first one must have the scope `admin` in the namespace `default`.
   *
   * A key of another namespace than `default` makes keys only in its own namespace. A key of `default` with the scope
   * `admin` makes keys in any namespace, such as the first key of a tenant.
   */
  async createKey(draft: APIKeyDraft, options: { signal?: AbortSignal } = {}): Promise<APIKeyWithText> {
    const request = asking("POST", "/v1/keys", { body: draft, isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * Revoke an API key.
   *
   * It stops working at once; event streams that it opened end.
   *
   * @param keyId The key's id.
   */
  async revokeKey(keyId: string, options: { signal?: AbortSignal } = {}): Promise<APIKey> {
    const request = asking("DELETE", `/v1/keys/${encodeURIComponent(keyId)}`, { isRepeatable: false });
    return this.json(request, options.signal);
  }

  /**
   * List who did what, newest first.
   *
   * A record for each change that somebody has made: of keys, endpoints, policies, targets, calls, operations, issues and
   * alerts. Submissions are no such changes. The list has the records of the request's namespace; for an operator who acts
   * in `default`, it has those of all.
   *
   * A page may have fewer records than its limit, or none, although more follow: `nextCursor` is null only on the last
   * page.
   *
   * @param options.actor Only what this one did, by `actor`, `actorName` or `actorKind`.
   * @param options.action Only these actions. Separate several with commas.
   * @param options.object Only what was done to the object with this id, name or key.
   * @param options.namespace Only records of this namespace.
   * @param options.since Only records from this time on, or of the time since so long ago.
   * @param options.until Only records before this time, or before so long ago.
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listAudit(
    options: { actor?: string; action?: AuditAction | readonly AuditAction[]; object?: string; namespace?: string; since?: string; until?: string; pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<AuditRecord, void, undefined> {
    const request = asking("GET", "/v1/audit", {
      params: filters({ actor: options.actor, action: options.action, object: options.object, namespace: options.namespace,
      since: options.since, until: options.until, limit: options.pageSize ?? 250 }),
    });
    yield* this.pages<AuditRecord>(request, options.signal);
  }

  /**
   * Show the secret that the callbacks of calls are signed with.
   *
   * Each namespace has its own secret; those of other namespaces are derived from that of `default`. Webhook endpoints have
   * their own secrets, which are shown when they are made.
   */
  async getWebhookSecret(options: { signal?: AbortSignal } = {}): Promise<WebhookSecret> {
    const request = asking("GET", "/v1/webhook-secret");
    return this.json(request, options.signal);
  }

  /**
   * Show when a policy makes its attempts.
   *
   * When each attempt starts, if all before it fail and the target asks for no waits: the bounds of each wait, quantiles of
   * each start, and the probability that it comes before the deadline. With warnings for settings that are allowed but
   * rarely intended. `Accept: image/svg+xml` gets a chart.
   */
  async previewPolicy(preview: PolicyPreview, options: { signal?: AbortSignal } = {}): Promise<Plan> {
    const request = asking("POST", "/v1/policies/preview", { body: preview });
    return this.json(request, options.signal);
  }

  /**
   * List the instances that share the store.
   *
   * Each runs the calls of the targets in its shards, of 64 in all. On SQLite there is one, with all of them. A list may be
   * some hundred milliseconds old. They cover all namespaces, so a key must be one of `default`.
   *
   * For 7 days after a failover to a database server that lacked commits, `lostCommits` says so.
   *
   * @param options.pageSize How many a request fetches, 1 to 250; by default 250.
   */
  async *listInstances(
    options: { pageSize?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Instance, void, undefined> {
    const request = asking("GET", "/v1/instances", { params: filters({ limit: options.pageSize ?? 250 }) });
    yield* this.pages<Instance>(request, options.signal);
  }
}

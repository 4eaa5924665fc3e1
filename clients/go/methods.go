// Made by Scripts/generate from api/openapi.yaml. DO NOT EDIT.

package redial

import (
	"context"
	"time"
)

// SubmitDryRun: what `submit` would do; nothing is stored or changed.
func (c *Client) SubmitDryRun(ctx context.Context, call CallDescriptor) (*DryRun, error) {
	request := asking("POST", "/v1/calls")
	request.ask("dryRun", true)
	request.give(call)
	return answered[DryRun](ctx, c, request)
}

// Replay: submit a call like an earlier one, with changes.
//
// Makes a new call from the earlier one, and names that in `replayOf`. Each member of the body replaces the
// original's, and `null` removes it. A body in any form replaces the original's. If the target followed from the
// URL, it follows from the new URL. The new call starts at once unless `delay` or `startAt` is given. It is
// checked like any submission.
//
// It needs a key with the scopes `submit` and `operate`, because the original's request is sent again with its
// credentials. Changes of the request (`url`, `method`, `headers`, the body), of `redirects`, `capture` or
// `callback`, and a dry run, also need the scope `payloads`. Secret header fields are not sent to another origin:
// if the URL has another origin, give `headers` too.
//
// The argument callID: The call's id.
func (c *Client) Replay(ctx context.Context, callID string, changes *ReplayChanges, options *ReplayOptions) (*Call, error) {
	if options == nil {
		options = &ReplayOptions{}
	}
	request := asking("POST", "/v1/calls/"+quoted(callID)+"/replay")
	if changes != nil {
		request.give(changes)
	}
	request.identify(options.IdempotencyKey)
	request.holdFor(options.Wait)
	return answered[Call](ctx, c, request)
}

// ReplayOptions: what [Client.Replay] takes besides; nil for none.
type ReplayOptions struct {
	// The same key again returns the first call, or runs it again. By default a new one.
	IdempotencyKey IdempotencyKey
	// Return only when the call has ended, or after this time.
	Wait time.Duration
}

// ReplayDryRun: what `replay` would do; nothing is stored or changed.
//
// The argument callID: The call's id.
func (c *Client) ReplayDryRun(ctx context.Context, callID string, changes *ReplayChanges) (*DryRun, error) {
	request := asking("POST", "/v1/calls/"+quoted(callID)+"/replay")
	request.ask("dryRun", true)
	if changes != nil {
		request.give(changes)
	}
	return answered[DryRun](ctx, c, request)
}

// Erase: erase the payloads of a call that has ended.
//
// Erases the request's header fields and body, the description, the query of its URL and of its callback's URL,
// and the stored responses; with `labels=true` also the labels. What remains: scheme, host and path of the URL,
// the attempts and their results, and the time of the erasure. The call cannot be run again. Kept events lose the
// same data. Webhooks about the call are calls of their own (`kind=webhook`), and keep what they say, also those
// still waiting, which are sent as they are. Cancel the waiting ones, and erase each one's content. A body is
// checked like that of a retry, and not kept.
//
// The argument callID: The call's id.
func (c *Client) Erase(ctx context.Context, callID string, options *EraseOptions) (*Call, error) {
	if options == nil {
		options = &EraseOptions{}
	}
	request := asking("DELETE", "/v1/calls/"+quoted(callID)+"/content")
	request.ask("labels", options.Labels)
	request.isRepeatable = false
	return answered[Call](ctx, c, request)
}

// EraseOptions: what [Client.Erase] takes besides; nil for none.
type EraseOptions struct {
	// Also erase the call's labels. This works for a call that was erased before, too.
	Labels bool
}

// ListTargets: list the targets that the service remembers.
//
// Sorted by key: `nextCursor` of one page is the `cursor` of the next.
func (c *Client) ListTargets(options *ListTargetsOptions) *Iterator[Target] {
	if options == nil {
		options = &ListTargetsOptions{}
	}
	request := asking("GET", "/v1/targets")
	request.ask("active", options.Active)
	return pages[Target](c, request, options.PageSize)
}

// ListTargetsOptions: what [Client.ListTargets] takes besides; nil for none.
type ListTargetsOptions struct {
	// Only targets with calls that wait or run, those that are paused or held open, and those whose breaker is not
	// closed.
	Active bool
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// GetTarget: show a target and its breaker.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) GetTarget(ctx context.Context, key string) (*Target, error) {
	request := asking("GET", "/v1/targets/"+quoted(key))
	return answered[Target](ctx, c, request)
}

// ConfigureTarget: set limits for a target.
//
// Replaces the limits that were set for the target, at once and for waiting calls too. Members that are left out
// follow the service's settings. The target need not exist yet.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) ConfigureTarget(ctx context.Context, key string, settings TargetSettings) (*Target, error) {
	request := asking("PUT", "/v1/targets/"+quoted(key))
	request.give(settings)
	return answered[Target](ctx, c, request)
}

// ChangeTarget: change some limits of a target, and leave the others.
//
// A JSON Merge Patch (RFC 7396) of the target's `overrides`: a member replaces what was set, null removes it, so
// that it follows the service's settings again, and what is left out stays. Objects are merged, arrays replaced.
// Null in place of the object removes all that was set. Takes effect at once and for waiting calls too. Patches at
// the same time are made one after the other, so none undoes another. The target need not exist yet.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) ChangeTarget(ctx context.Context, key string, patch *TargetPatch) (*Target, error) {
	request := asking("PATCH", "/v1/targets/"+quoted(key))
	request.give(patch)
	request.isRepeatable = false
	return answered[Target](ctx, c, request)
}

// ForecastTarget: forecast when a target's backlog is drained.
//
// Simulates the delivery of the backlog with the pace, the breaker and the policies of the service, from the
// target's real backlog, traffic and limits. The backlog is drained when no more calls are due than ordinarily.
// Each figure can be replaced by a parameter. `assumptions` says what was used.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) ForecastTarget(ctx context.Context, key string, options *ForecastTargetOptions) (*TargetForecast, error) {
	if options == nil {
		options = &ForecastTargetOptions{}
	}
	request := asking("GET", "/v1/targets/"+quoted(key)+"/forecast")
	request.ask("returnsAt", options.ReturnsAt)
	request.ask("rate", options.Rate)
	request.ask("concurrency", options.Concurrency)
	request.ask("arrivals", options.Arrivals)
	request.ask("capacity", options.Capacity)
	return answered[TargetForecast](ctx, c, request)
}

// ForecastTargetOptions: what [Client.ForecastTarget] takes besides; nil for none.
type ForecastTargetOptions struct {
	// When the target returns from an outage: a time, or a duration from now, up to 7 days. Without it, the target
	// works from now on.
	ReturnsAt Moment
	// Attempts per second, instead of the target's limit.
	Rate *float64
	// Attempts in flight, instead of the target's limit.
	Concurrency *int
	// New calls per second, instead of those of the last minutes.
	Arrivals *float64
	// Requests per second that the target can process, instead of the measured capacity.
	Capacity *float64
}

// PauseTarget: pause a target: start no call to it.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) PauseTarget(ctx context.Context, key string) (*Target, error) {
	request := asking("POST", "/v1/targets/"+quoted(key)+"/pause")
	request.isRepeatable = false
	return answered[Target](ctx, c, request)
}

// ResumeTarget: resume a paused target.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) ResumeTarget(ctx context.Context, key string) (*Target, error) {
	request := asking("POST", "/v1/targets/"+quoted(key)+"/resume")
	request.isRepeatable = false
	return answered[Target](ctx, c, request)
}

// TripTarget: hold a target's breaker open until it is reset.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) TripTarget(ctx context.Context, key string) (*Target, error) {
	request := asking("POST", "/v1/targets/"+quoted(key)+"/trip")
	request.isRepeatable = false
	return answered[Target](ctx, c, request)
}

// ResetTarget: close a target's breaker, and forget what breaker and pace have learned.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) ResetTarget(ctx context.Context, key string) (*Target, error) {
	request := asking("POST", "/v1/targets/"+quoted(key)+"/reset")
	request.isRepeatable = false
	return answered[Target](ctx, c, request)
}

// ReleaseTarget: close a target's breaker, forget its Retry-After, and run the calls that waited for them or for
// the pace.
//
// The argument key: The target's key. The target of a call is the origin of its URL, unless the call names one:
// calls to `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
func (c *Client) ReleaseTarget(ctx context.Context, key string) (*Target, error) {
	request := asking("POST", "/v1/targets/"+quoted(key)+"/release")
	request.isRepeatable = false
	return answered[Target](ctx, c, request)
}

// GetStatistics: show how calls ended in the last 15 minutes, 24 hours and 7 days.
//
// Counts of the namespace's calls, without webhooks. They survive restarts. They are written every ten seconds and
// at a stop, so a crash loses at most ten seconds. Each end is counted once; a call that is run again and ends
// again counts again.
//
// Each window has steps of equal length; the last one is not over yet. A latency is that of an attempt, within a
// fifth; attempts that were cut off are left out.
func (c *Client) GetStatistics(ctx context.Context) ([]StatisticsWindow, error) {
	request := asking("GET", "/v1/statistics")
	return listed[StatisticsWindow](ctx, c, request)
}

// ListOperations: list bulk operations, newest first.
//
// All that run, and the latest 1,000 that have ended.
func (c *Client) ListOperations(options *ListOperationsOptions) *Iterator[BulkOperation] {
	if options == nil {
		options = &ListOperationsOptions{}
	}
	request := asking("GET", "/v1/operations")
	return pages[BulkOperation](c, request, options.PageSize)
}

// ListOperationsOptions: what [Client.ListOperations] takes besides; nil for none.
type ListOperationsOptions struct {
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// BeginOperation: start a bulk operation: one action on all calls that match a filter.
//
// Counts the calls first. Then it acts on them page by page, newest first, at no more than `ratePerSecond` calls
// per second, as if each action had been requested on its own. It continues after a restart, and never runs a call
// again twice. A `filter` without a condition needs `"all": true`. `retry`, `purge` and `replay` affect calls that
// had ended when the operation was accepted; `replay` submits a new call like each of them, once, and needs the
// scope `submit`, too; `release` runs calls that wait now. `dryRun` only counts. It stops after 100,000 calls that
// match, or that had to be looked up for `status`, `outcome`, `failureReason` or `url`; then `isComplete` is false
// and `matched` is a lower bound.
func (c *Client) BeginOperation(ctx context.Context, operation BulkRequest) (*BulkOperation, error) {
	request := asking("POST", "/v1/operations")
	request.give(operation)
	request.isRepeatable = false
	return answered[BulkOperation](ctx, c, request)
}

// BeginOperationDryRun: what `beginOperation` would do; nothing is stored or changed.
func (c *Client) BeginOperationDryRun(ctx context.Context, operation BulkRequest) (*BulkDryRun, error) {
	request := asking("POST", "/v1/operations")
	request.give(struct {
		BulkRequest
		DryRun bool `json:"dryRun"`
	}{operation, true})
	return answered[BulkDryRun](ctx, c, request)
}

// GetOperation: show the progress of a bulk operation.
//
// The argument operationID: The bulk operation's id.
func (c *Client) GetOperation(ctx context.Context, operationID string) (*BulkOperation, error) {
	request := asking("GET", "/v1/operations/"+quoted(operationID))
	return answered[BulkOperation](ctx, c, request)
}

// CancelOperation: stop a bulk operation.
//
// Actions that were done stay done; the page in work is finished. A request body is ignored.
//
// The argument operationID: The bulk operation's id.
func (c *Client) CancelOperation(ctx context.Context, operationID string) (*BulkOperation, error) {
	request := asking("POST", "/v1/operations/"+quoted(operationID)+"/cancel")
	request.isRepeatable = false
	return answered[BulkOperation](ctx, c, request)
}

// ListIssues: list groups of failed and late calls.
//
// Two thousand failed calls are seldom more than a few errors. Failed calls are one issue if they have the same
// target, reason and error; ids, numbers, times and addresses in an error do not count. Calls that wait for a
// target whose oldest due call has waited for a minute or more are late, and an issue of their own for each
// reason.
//
// Issues of late calls come first; then those of failed ones; in both, those with the most calls first. An issue
// opens by itself, and is resolved when none of its calls is failed or late any more: they were retried, replayed
// elsewhere and purged, or removed after their time. With `filter`, an operation acts on all calls of an issue.
//
// Calls that failed before Redial had issues are in none.
//
// Numbers of calls change: an issue may be on two pages, or on none.
func (c *Client) ListIssues(options *ListIssuesOptions) *Iterator[Issue] {
	if options == nil {
		options = &ListIssuesOptions{}
	}
	request := asking("GET", "/v1/issues")
	request.ask("state", options.State)
	request.ask("target", options.Target)
	return pages[Issue](c, request, options.PageSize)
}

// ListIssuesOptions: what [Client.ListIssues] takes besides; nil for none.
type ListIssuesOptions struct {
	// Only issues in one of these states. Separate several with commas.
	State []IssueState
	// Only issues of this target.
	Target string
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// GetIssue: show an issue.
//
// The argument issueID: The issue's id.
func (c *Client) GetIssue(ctx context.Context, issueID string) (*Issue, error) {
	request := asking("GET", "/v1/issues/"+quoted(issueID))
	return answered[Issue](ctx, c, request)
}

// ChangeIssue: acknowledge or resolve an issue.
//
// An acknowledged issue stays so until its end (`until`); a resolved one opens again with the next call that fails
// so. `open` removes the statement. The latest 1,000 statements of a namespace are kept.
//
// The argument issueID: The issue's id.
func (c *Client) ChangeIssue(ctx context.Context, issueID string, change IssueChange) (*Issue, error) {
	request := asking("PATCH", "/v1/issues/"+quoted(issueID))
	request.give(change)
	request.isRepeatable = false
	return answered[Issue](ctx, c, request)
}

// ListAlerts: list the alerts, by name.
func (c *Client) ListAlerts(options *ListAlertsOptions) *Iterator[Alert] {
	if options == nil {
		options = &ListAlertsOptions{}
	}
	request := asking("GET", "/v1/alerts")
	return pages[Alert](c, request, options.PageSize)
}

// ListAlertsOptions: what [Client.ListAlerts] takes besides; nil for none.
type ListAlertsOptions struct {
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// GetAlert: show an alert.
//
// The argument name: The alert's name.
func (c *Client) GetAlert(ctx context.Context, name string) (*Alert, error) {
	request := asking("GET", "/v1/alerts/"+quoted(name))
	return answered[Alert](ctx, c, request)
}

// PutAlert: make or replace an alert.
//
// Somebody is notified once when an incident begins, and once when it is over. An incident begins when a condition
// has been true of something for long enough (`after`), and is over when it has been untrue for a while, so that
// one that comes and goes is one incident. Outages and lateness count from their own beginning; all else from when
// it was seen first, and anew after a restart.
//
// A message is a webhook, and so a call: it is stored together with the incident, survives restarts, and is
// retried. Its labels are `alert`, `incident` and `event`. `filter` selects the messages in a list of calls.
//
// Of an alert that exists, `to` may be left out: then it stays as it is.
//
// The argument name: The alert's name.
func (c *Client) PutAlert(ctx context.Context, name string, draft AlertDraft) (*Alert, error) {
	request := asking("PUT", "/v1/alerts/"+quoted(name))
	request.give(draft)
	return answered[Alert](ctx, c, request)
}

// DeleteAlert: remove an alert, and its incidents.
//
// Nobody is notified of the ends of those that are open.
//
// The argument name: The alert's name.
func (c *Client) DeleteAlert(ctx context.Context, name string) error {
	request := asking("DELETE", "/v1/alerts/"+quoted(name))
	request.isRepeatable = false
	return c.nothing(ctx, request)
}

// SilenceAlert: silence an alert for a while, or end that.
//
// Nobody is notified that an incident begins until the silence ends. Then they are notified of those that are
// still open. The end of an incident that was reported before is reported in a silence, too.
//
// The argument name: The alert's name.
func (c *Client) SilenceAlert(ctx context.Context, name string, silence Silence) (*Alert, error) {
	request := asking("PATCH", "/v1/alerts/"+quoted(name))
	request.give(silence)
	request.isRepeatable = false
	return answered[Alert](ctx, c, request)
}

// TestAlert: send a test message where the alert leads.
//
// It is one attempt, at once, also while the receiver's breaker is open, and in a silence, too. PagerDuty opens an
// incident of severity `info` for it, which has to be resolved there.
//
// The argument name: The alert's name.
func (c *Client) TestAlert(ctx context.Context, name string) (*Call, error) {
	request := asking("POST", "/v1/alerts/"+quoted(name)+"/test")
	request.isRepeatable = false
	return answered[Call](ctx, c, request)
}

// ListIncidents: list the incidents of alerts, the newest first.
func (c *Client) ListIncidents(options *ListIncidentsOptions) *Iterator[Incident] {
	if options == nil {
		options = &ListIncidentsOptions{}
	}
	request := asking("GET", "/v1/incidents")
	request.ask("state", options.State)
	request.ask("alert", options.Alert)
	return pages[Incident](c, request, options.PageSize)
}

// ListIncidentsOptions: what [Client.ListIncidents] takes besides; nil for none.
type ListIncidentsOptions struct {
	// Only incidents in one of these states. Separate several with commas.
	State []IncidentState
	// Only incidents of this alert.
	Alert string
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// GetIncident: show an incident.
//
// The argument incidentID: The incident's id.
func (c *Client) GetIncident(ctx context.Context, incidentID string) (*Incident, error) {
	request := asking("GET", "/v1/incidents/"+quoted(incidentID))
	return answered[Incident](ctx, c, request)
}

// AcknowledgeIncident: say that somebody knows of an incident, or take that back.
//
// Until its end (`until`) nobody is notified again that the incident is open. If it still is then, they are
// notified once more. PagerDuty is notified that it is acknowledged.
//
// The argument incidentID: The incident's id.
func (c *Client) AcknowledgeIncident(ctx context.Context, incidentID string, acknowledgement Acknowledgement) (*Incident, error) {
	request := asking("PATCH", "/v1/incidents/"+quoted(incidentID))
	request.give(acknowledgement)
	request.isRepeatable = false
	return answered[Incident](ctx, c, request)
}

// ListPolicies: list the stored policies, each in its current version.
func (c *Client) ListPolicies(options *ListPoliciesOptions) *Iterator[StoredPolicySummary] {
	if options == nil {
		options = &ListPoliciesOptions{}
	}
	request := asking("GET", "/v1/policies")
	return pages[StoredPolicySummary](c, request, options.PageSize)
}

// ListPoliciesOptions: what [Client.ListPolicies] takes besides; nil for none.
type ListPoliciesOptions struct {
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// GetPolicy: show a stored policy.
//
// The argument name: The policy's name.
func (c *Client) GetPolicy(ctx context.Context, name string, options *GetPolicyOptions) (*StoredPolicy, error) {
	if options == nil {
		options = &GetPolicyOptions{}
	}
	request := asking("GET", "/v1/policies/"+quoted(name))
	request.ask("version", options.Version)
	return answered[StoredPolicy](ctx, c, request)
}

// GetPolicyOptions: what [Client.GetPolicy] takes besides; nil for none.
type GetPolicyOptions struct {
	// The version; the current one by default.
	Version *int
}

// PutPolicy: store a policy under a name.
//
// Makes a new version. Calls that name the policy use it from now on; a call keeps the version that it was
// accepted with. The same content again makes no version. `If-Match` with the `ETag` of the version that you
// change prevents two authors from overwriting each other; `If-None-Match: *` only creates. The latest 20 versions
// are kept.
//
// The argument name: The policy's name.
func (c *Client) PutPolicy(ctx context.Context, name string, policy Policy, options *PutPolicyOptions) (*StoredPolicy, error) {
	if options == nil {
		options = &PutPolicyOptions{}
	}
	request := asking("PUT", "/v1/policies/"+quoted(name))
	request.give(policy)
	request.field("If-Match", options.IfMatch)
	request.field("If-None-Match", options.IfNoneMatch)
	request.isRepeatable = false
	return answered[StoredPolicy](ctx, c, request)
}

// PutPolicyOptions: what [Client.PutPolicy] takes besides; nil for none.
type PutPolicyOptions struct {
	// Only if the resource has this `ETag`, such as `"3"` for version 3.
	IfMatch string
	// `*`: only if there is none yet.
	IfNoneMatch string
}

// RemovePolicy: delete a stored policy with all its versions.
//
// Calls that were accepted with it keep it. If a policy is stored under this name later, its versions continue to
// count up.
//
// The argument name: The policy's name.
func (c *Client) RemovePolicy(ctx context.Context, name string, options *RemovePolicyOptions) error {
	if options == nil {
		options = &RemovePolicyOptions{}
	}
	request := asking("DELETE", "/v1/policies/"+quoted(name))
	request.field("If-Match", options.IfMatch)
	request.isRepeatable = false
	return c.nothing(ctx, request)
}

// RemovePolicyOptions: what [Client.RemovePolicy] takes besides; nil for none.
type RemovePolicyOptions struct {
	// Only if the resource has this `ETag`, such as `"3"` for version 3.
	IfMatch string
}

// ListWebhookEndpoints: list the webhook endpoints, oldest first.
func (c *Client) ListWebhookEndpoints(options *ListWebhookEndpointsOptions) *Iterator[WebhookEndpoint] {
	if options == nil {
		options = &ListWebhookEndpointsOptions{}
	}
	request := asking("GET", "/v1/webhook-endpoints")
	return pages[WebhookEndpoint](c, request, options.PageSize)
}

// ListWebhookEndpointsOptions: what [Client.ListWebhookEndpoints] takes besides; nil for none.
type ListWebhookEndpointsOptions struct {
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// CreateWebhookEndpoint: register a webhook endpoint.
//
// From now on it receives webhooks for the events that it names. They are signed with its own secret, which is
// shown only in this answer. The webhooks of each endpoint are calls to their own target, `webhook:` and its id.
// `api/webhooks.schema.json` is the schema of their payloads.
func (c *Client) CreateWebhookEndpoint(ctx context.Context, draft WebhookEndpointDraft) (*WebhookEndpointWithSecret, error) {
	request := asking("POST", "/v1/webhook-endpoints")
	request.give(draft)
	request.isRepeatable = false
	return answered[WebhookEndpointWithSecret](ctx, c, request)
}

// GetWebhookEndpoint: show a webhook endpoint.
//
// The argument endpointID: The endpoint's id.
func (c *Client) GetWebhookEndpoint(ctx context.Context, endpointID string) (*WebhookEndpoint, error) {
	request := asking("GET", "/v1/webhook-endpoints/"+quoted(endpointID))
	return answered[WebhookEndpoint](ctx, c, request)
}

// ReplaceWebhookEndpoint: change a webhook endpoint.
//
// Members that are left out get their defaults. A disabled endpoint gets no webhooks for new events, and webhooks
// on their way to it are held back. When it is enabled, those are sent. Webhooks that wait go to the URL that the
// endpoint has when they are sent. A delivery that is in flight ends at the URL before; its answer counts neither
// for nor against the endpoint.
//
// The argument endpointID: The endpoint's id.
func (c *Client) ReplaceWebhookEndpoint(ctx context.Context, endpointID string, draft WebhookEndpointDraft) (*WebhookEndpoint, error) {
	request := asking("PUT", "/v1/webhook-endpoints/"+quoted(endpointID))
	request.give(draft)
	return answered[WebhookEndpoint](ctx, c, request)
}

// DeleteWebhookEndpoint: delete a webhook endpoint.
//
// Webhooks on their way to it are held back, and fail at their deadline.
//
// The argument endpointID: The endpoint's id.
func (c *Client) DeleteWebhookEndpoint(ctx context.Context, endpointID string) error {
	request := asking("DELETE", "/v1/webhook-endpoints/"+quoted(endpointID))
	request.isRepeatable = false
	return c.nothing(ctx, request)
}

// RotateWebhookSecret: give a webhook endpoint a new secret.
//
// The new secret is shown only in this answer. During the overlap, `webhook-signature` also has a signature with
// the old secret. At most five secrets sign; then the oldest is dropped.
//
// The argument endpointID: The endpoint's id.
func (c *Client) RotateWebhookSecret(ctx context.Context, endpointID string, rotation *SecretRotation) (*WebhookEndpointWithSecret, error) {
	request := asking("POST", "/v1/webhook-endpoints/"+quoted(endpointID)+"/rotate-secret")
	if rotation != nil {
		request.give(rotation)
	}
	request.isRepeatable = false
	return answered[WebhookEndpointWithSecret](ctx, c, request)
}

// TestWebhookEndpoint: send a webhook endpoint a test webhook, of type `webhook.test`.
//
// It is one attempt, at once, also while other webhooks wait for the breaker of the endpoint.
//
// The argument endpointID: The endpoint's id.
func (c *Client) TestWebhookEndpoint(ctx context.Context, endpointID string) (*Call, error) {
	request := asking("POST", "/v1/webhook-endpoints/"+quoted(endpointID)+"/test")
	request.isRepeatable = false
	return answered[Call](ctx, c, request)
}

// ListWebhookDeliveries: list the webhooks of an endpoint, newest first.
//
// Each is a call: `GET /v1/calls/{id}/attempts` shows its attempts, and `POST /v1/calls/{id}/retry` delivers it
// again, under the same `webhook-id`. Its label `event` is the type of the event. Its `url` is the endpoint's when
// the webhook was made; it is sent to the one that the endpoint has at that time.
//
// The argument endpointID: The endpoint's id.
func (c *Client) ListWebhookDeliveries(endpointID string, options *ListWebhookDeliveriesOptions) *Iterator[CallSummary] {
	if options == nil {
		options = &ListWebhookDeliveriesOptions{}
	}
	request := asking("GET", "/v1/webhook-endpoints/"+quoted(endpointID)+"/deliveries")
	request.ask("state", options.State)
	return pages[CallSummary](c, request, options.PageSize)
}

// ListWebhookDeliveriesOptions: what [Client.ListWebhookDeliveries] takes besides; nil for none.
type ListWebhookDeliveriesOptions struct {
	// Only webhooks in one of these states, separated by commas.
	State []CallState
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// ListKeys: list the API keys, oldest first, revoked ones too.
//
// Revoked keys are kept for 90 days, unless a new key needs the room. The list has the keys of the request's
// namespace; for an operator who acts in `default`, it has all keys.
func (c *Client) ListKeys(options *ListKeysOptions) *Iterator[APIKey] {
	if options == nil {
		options = &ListKeysOptions{}
	}
	request := asking("GET", "/v1/keys")
	return pages[APIKey](c, request, options.PageSize)
}

// ListKeysOptions: what [Client.ListKeys] takes besides; nil for none.
type ListKeysOptions struct {
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

// CreateKey: make an API key.
//
// The key is shown only in this answer; its SHA-256 is stored. From the first key on, everything except
// `/healthz`, `/readyz`, `/` and this document needs a key; so the first one must have the scope `admin` in the
// namespace `default`.
//
// A key of another namespace than `default` makes keys only in its own namespace. A key of `default` with the
// scope `admin` makes keys in any namespace, such as the first key of a tenant.
func (c *Client) CreateKey(ctx context.Context, draft APIKeyDraft) (*APIKeyWithText, error) {
	request := asking("POST", "/v1/keys")
	request.give(draft)
	request.isRepeatable = false
	return answered[APIKeyWithText](ctx, c, request)
}

// RevokeKey: revoke an API key.
//
// It stops working at once; event streams that it opened end.
//
// The argument keyID: The key's id.
func (c *Client) RevokeKey(ctx context.Context, keyID string) (*APIKey, error) {
	request := asking("DELETE", "/v1/keys/"+quoted(keyID))
	request.isRepeatable = false
	return answered[APIKey](ctx, c, request)
}

// GetWebhookSecret: show the secret that the callbacks of calls are signed with.
//
// Each namespace has its own secret; those of other namespaces are derived from that of `default`. Webhook
// endpoints have their own secrets, which are shown when they are made.
func (c *Client) GetWebhookSecret(ctx context.Context) (*WebhookSecret, error) {
	request := asking("GET", "/v1/webhook-secret")
	return answered[WebhookSecret](ctx, c, request)
}

// PreviewPolicy: show when a policy makes its attempts.
//
// When each attempt starts, if all before it fail and the target asks for no waits: the bounds of each wait,
// quantiles of each start, and the probability that it comes before the deadline. With warnings for settings that
// are allowed but rarely intended. `Accept: image/svg+xml` gets a chart.
func (c *Client) PreviewPolicy(ctx context.Context, preview PolicyPreview) (*Plan, error) {
	request := asking("POST", "/v1/policies/preview")
	request.give(preview)
	return answered[Plan](ctx, c, request)
}

// SimulateOutage: simulate an outage.
//
// What a target sees if it is down, failing or slow for a time, while calls arrive and are retried under a policy:
// the load over time, the mean attempts per call, the peak, the time to recover, and the calls that fail. It is
// computed in virtual time with the code that decides about real calls; the same seed gives the same answer.
// `Accept: image/svg+xml` gets a chart.
func (c *Client) SimulateOutage(ctx context.Context, scenario Scenario) (*Forecast, error) {
	request := asking("POST", "/v1/simulations")
	request.give(scenario)
	return answered[Forecast](ctx, c, request)
}

// ListInstances: list the instances that share the store.
//
// Each runs the calls of the targets in its shards, of 64 in all. On SQLite there is one, with all of them. A list
// may be some hundred milliseconds old. They cover all namespaces, so a key must be one of `default`.
func (c *Client) ListInstances(options *ListInstancesOptions) *Iterator[Instance] {
	if options == nil {
		options = &ListInstancesOptions{}
	}
	request := asking("GET", "/v1/instances")
	return pages[Instance](c, request, options.PageSize)
}

// ListInstancesOptions: what [Client.ListInstances] takes besides; nil for none.
type ListInstancesOptions struct {
	// How many a request fetches, 1 to 250; 0 stands for 250.
	PageSize int
}

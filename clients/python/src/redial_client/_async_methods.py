"""The asynchronous methods. Made by Scripts/generate from api/openapi.yaml."""

from __future__ import annotations

import math
from typing import Any, AsyncIterator, List, Sequence

from . import _requests as requests
from ._requests import Request, quoted
from .models import (
    APIKey, APIKeyDraft, APIKeyWithText, Alert, AlertDraft, AuditAction, AuditRecord, BulkDryRun, BulkOperation,
    BulkRequest, Call, CallDescriptor, CallState, CallSummary, Credential, CredentialDraft, DryRun, Instance, Issue,
    IssueChange, IssueState, Plan, Policy, PolicyPreview, ReplayChanges, SecretRotation, Silence, StatisticsWindow,
    StoredPolicy, StoredPolicySummary, Target, TargetPatch, TargetSettings, WebhookEndpoint, WebhookEndpointDraft,
    WebhookEndpointWithSecret, WebhookSecret,
)


class AsyncMethods:
    """The methods that need nothing but one request of the API."""

    async def _json(self, request: Request, until: float = math.inf) -> Any:
        raise NotImplementedError

    async def _nothing(self, request: Request) -> None:
        raise NotImplementedError

    def _pages(self, request: Request) -> AsyncIterator[Any]:
        raise NotImplementedError

    async def submit_dry_run(self, call: CallDescriptor) -> DryRun:
        """What `submit` would do; nothing is stored or changed."""
        result: DryRun = await self._json(requests.asking("POST", "/v1/calls", requests.query(dryRun=True), content=requests.encoded(call)))
        return result

    async def replay(
        self, call_id: str, changes: ReplayChanges | None = None, *, idempotency_key: str | None = None,
        wait: float | None = None
    ) -> Call:
        """Submit a call like an earlier one, with changes.

        Makes a new call from the earlier one, and names that in `replayOf`. Each member of the body replaces the
        original's, and `null` removes it. A body in any form replaces the original's. If the target followed from the
        URL, it follows from the new URL. The new call starts at once unless `delay` or `startAt` is given. It is
        checked like any submission.

        It needs a key with the scopes `submit` and `operate`, because the original's request is sent again with its
        credentials. Changes of the request (`url`, `method`, `headers`, the body), of `redirects`, `capture` or
        `callback`, and a dry run, also need the scope `payloads`. Secret header fields are not sent to another origin:
        if the URL has another origin, give `headers` too.

        :param call_id: The call's id.
        :param idempotency_key: The same key again returns the first call, or runs it again. By default a new one.
        :param wait: Return only when the call has ended, or after this many seconds.
        """
        result: Call = await self._json(requests.asking(
            "POST", f"/v1/calls/{quoted(call_id)}/replay",
            content=None if changes is None else requests.encoded(changes), key=requests.given_or_new(idempotency_key),
            wait=wait))
        return result

    async def replay_dry_run(self, call_id: str, changes: ReplayChanges | None = None) -> DryRun:
        """What `replay` would do; nothing is stored or changed.

        :param call_id: The call's id.
        """
        result: DryRun = await self._json(requests.asking(
            "POST", f"/v1/calls/{quoted(call_id)}/replay", requests.query(dryRun=True),
            content=None if changes is None else requests.encoded(changes)))
        return result

    async def erase(self, call_id: str, *, labels: bool | None = None) -> Call:
        """Erase the payloads of a call that has ended.

        Erases the request's header fields and body, the description, the query of its URL and of its callback's URL,
        and the stored responses; with `labels=true` also the labels. What remains: scheme, host and path of the URL,
        the attempts and their results, and the time of the erasure. The call cannot be run again. Kept events lose the
        same data. Webhooks about the call are calls of their own (`kind=webhook`), and keep what they say, also those
        still waiting, which are sent as they are. Cancel the waiting ones, and erase each one's content. A body is
        checked like that of a retry, and not kept.

        :param call_id: The call's id.
        :param labels: Also erase the call's labels. This works for a call that was erased before, too.
        """
        result: Call = await self._json(requests.asking(
            "DELETE", f"/v1/calls/{quoted(call_id)}/content", requests.query(labels=labels), is_repeatable=False))
        return result

    async def list_targets(self, *, active: bool | None = None, page_size: int = 250) -> AsyncIterator[Target]:
        """List the targets that the service remembers.

        Sorted by key: `nextCursor` of one page is the `cursor` of the next.

        :param active: Only targets with calls that wait or run, those that are paused or held open, those whose breaker
            is not closed, and those of which a path, a credential or a label fails while the rest works.
        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/targets", requests.query(active=active, limit=page_size))):
            yield entry

    async def get_target(self, key: str) -> Target:
        """Show a target and its breaker.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking("GET", f"/v1/targets/{quoted(key)}"))
        return result

    async def configure_target(self, key: str, settings: TargetSettings) -> Target:
        """Set limits for a target.

        Replaces the limits that were set for the target, at once and for waiting calls too. Members that are left out
        follow the service's settings. The target need not exist yet.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking("PUT", f"/v1/targets/{quoted(key)}", content=requests.encoded(settings)))
        return result

    async def change_target(self, key: str, patch: TargetPatch | None) -> Target:
        """Change some limits of a target, and leave the others.

        A JSON Merge Patch (RFC 7396) of the target's `overrides`: a member replaces what was set, null removes it, so
        that it follows the service's settings again, and what is left out stays. Objects are merged, arrays replaced.
        Null in place of the object removes all that was set. Takes effect at once and for waiting calls too. Patches at
        the same time are made one after the other, so none undoes another. The target need not exist yet.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking(
            "PATCH", f"/v1/targets/{quoted(key)}", content=requests.encoded(patch), is_repeatable=False))
        return result

    async def pause_target(self, key: str) -> Target:
        """Pause a target: start no call to it.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking("POST", f"/v1/targets/{quoted(key)}/pause", is_repeatable=False))
        return result

    async def resume_target(self, key: str) -> Target:
        """Resume a paused target.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking("POST", f"/v1/targets/{quoted(key)}/resume", is_repeatable=False))
        return result

    async def trip_target(self, key: str) -> Target:
        """Hold a target's breaker open until it is reset.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking("POST", f"/v1/targets/{quoted(key)}/trip", is_repeatable=False))
        return result

    async def reset_target(self, key: str) -> Target:
        """Close a target's breaker, and forget what breaker and pace have learned.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking("POST", f"/v1/targets/{quoted(key)}/reset", is_repeatable=False))
        return result

    async def release_target(self, key: str) -> Target:
        """Close a target's breaker, forget its Retry-After, and run the calls that waited for them or for the pace.

        :param key: The target's key. The target of a call is the origin of its URL, unless the call names one: calls to
            `https://api.example.com/charges` are at `/v1/targets/https%3A%2F%2Fapi.example.com`.
        """
        result: Target = await self._json(requests.asking("POST", f"/v1/targets/{quoted(key)}/release", is_repeatable=False))
        return result

    async def get_statistics(self) -> List[StatisticsWindow]:
        """Show how calls ended in the last 15 minutes, 24 hours and 7 days.

        Counts of the namespace's calls, without webhooks. They survive restarts. They are written every ten seconds and
        at a stop, so a crash loses at most ten seconds. Each end is counted once; a call that is run again and ends
        again counts again.

        Each window has steps of equal length; the last one is not over yet. A latency is that of an attempt, within a
        fifth; attempts that were cut off are left out.
        """
        result: List[StatisticsWindow] = (await self._json(requests.asking("GET", "/v1/statistics")))["data"]
        return result

    async def list_operations(self, *, page_size: int = 250) -> AsyncIterator[BulkOperation]:
        """List bulk operations, newest first.

        All that run, and the latest 1,000 that have ended.

        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/operations", requests.query(limit=page_size))):
            yield entry

    async def begin_operation(self, operation: BulkRequest) -> BulkOperation:
        """Start a bulk operation: one action on all calls that match a filter.

        Counts the calls first. Then it acts on them page by page, newest first, at no more than `ratePerSecond` calls
        per second, as if each action had been requested on its own. It continues after a restart, and never runs a call
        again twice. A `filter` without a condition needs `"all": true`. `retry`, `purge` and `replay` affect calls that
        had ended when the operation was accepted; `replay` submits a new call like each of them, once, and needs the
        scope `submit`, too; `release` runs calls that wait now. `dryRun` only counts. It stops after 100,000 calls that
        match, or that had to be looked up for `status`, `outcome`, `failureReason` or `url`; then `isComplete` is false
        and `matched` is a lower bound.
        """
        result: BulkOperation = await self._json(requests.asking("POST", "/v1/operations", content=requests.encoded(operation), is_repeatable=False))
        return result

    async def begin_operation_dry_run(self, operation: BulkRequest) -> BulkDryRun:
        """What `beginOperation` would do; nothing is stored or changed."""
        result: BulkDryRun = await self._json(requests.asking("POST", "/v1/operations", content=requests.encoded({**operation, "dryRun": True})))
        return result

    async def get_operation(self, operation_id: str) -> BulkOperation:
        """Show the progress of a bulk operation.

        :param operation_id: The bulk operation's id.
        """
        result: BulkOperation = await self._json(requests.asking("GET", f"/v1/operations/{quoted(operation_id)}"))
        return result

    async def cancel_operation(self, operation_id: str) -> BulkOperation:
        """Stop a bulk operation.

        Actions that were done stay done; the page in work is finished. A request body is ignored.

        :param operation_id: The bulk operation's id.
        """
        result: BulkOperation = await self._json(requests.asking("POST", f"/v1/operations/{quoted(operation_id)}/cancel", is_repeatable=False))
        return result

    async def list_issues(
        self, *, state: IssueState | Sequence[IssueState] | None = None, target: str | None = None, page_size: int = 250
    ) -> AsyncIterator[Issue]:
        """List what is wrong, with the calls that it concerns.

        Two thousand failed calls are seldom more than a few errors. Failed calls are one issue if they have the same
        target, reason and error; ids, numbers, times and addresses in an error do not count. Beside them, an issue is a
        target that is down, that is held, or whose oldest due call has waited for a minute or more; what fails again
        and again while the rest of its target works (a path, a credential or a label), or by Redial's own fault (such
        as its proxy); and what a check of the store finds.

        Issues of failed calls come last; in both parts, those with the most calls first. An issue opens by itself, and
        is resolved when it is over: failed calls were retried, replayed elsewhere and purged, or removed after their
        time. With `filter`, an operation acts on all calls of an issue.

        Calls that failed before Redial had issues are in none.

        Numbers of calls change: an issue may be on two pages, or on none.

        :param state: Only issues in one of these states. Separate several with commas.
        :param target: Only issues of this target.
        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/issues", requests.query(state=state, target=target, limit=page_size))):
            yield entry

    async def get_issue(self, issue_id: str) -> Issue:
        """Show an issue.

        :param issue_id: The issue's id.
        """
        result: Issue = await self._json(requests.asking("GET", f"/v1/issues/{quoted(issue_id)}"))
        return result

    async def change_issue(self, issue_id: str, change: IssueChange) -> Issue:
        """Acknowledge or resolve an issue.

        An acknowledged issue stays so until its end (`until`), and no alert reports it: then those that have reported
        it do so again, if it is still there. PagerDuty is notified at once. A resolved one opens again with the next
        call that fails so. `open` removes the statement. The latest 1,000 statements of a namespace are kept.

        :param issue_id: The issue's id.
        """
        result: Issue = await self._json(requests.asking(
            "PATCH", f"/v1/issues/{quoted(issue_id)}", content=requests.encoded(change), is_repeatable=False))
        return result

    async def list_alerts(self, *, page_size: int = 250) -> AsyncIterator[Alert]:
        """List the alerts, by name.

        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/alerts", requests.query(limit=page_size))):
            yield entry

    async def get_alert(self, name: str) -> Alert:
        """Show an alert.

        :param name: The alert's name.
        """
        result: Alert = await self._json(requests.asking("GET", f"/v1/alerts/{quoted(name)}"))
        return result

    async def put_alert(self, name: str, draft: AlertDraft) -> Alert:
        """Make or replace an alert.

        Somebody is notified once when an issue has been there for long enough (`after`), and once when it has been over
        for a while, so that one that comes and goes is reported once. Outages and lateness count from their own
        beginning; all else from when it was seen first, and anew after a restart. Five or more that begin at once are
        one message. An issue that is acknowledged is not reported.

        A message is a webhook, and so a call: it survives restarts, and is retried. Its labels are `alert`, `notice`
        and `event`. `filter` selects the messages in a list of calls.

        Of an alert that exists, `to` may be left out: then it stays as it is.

        :param name: The alert's name.
        """
        result: Alert = await self._json(requests.asking("PUT", f"/v1/alerts/{quoted(name)}", content=requests.encoded(draft)))
        return result

    async def delete_alert(self, name: str) -> None:
        """Remove an alert.

        Nobody is notified of the ends of the issues that it has reported.

        :param name: The alert's name.
        """
        await self._nothing(requests.asking("DELETE", f"/v1/alerts/{quoted(name)}", is_repeatable=False))

    async def silence_alert(self, name: str, silence: Silence) -> Alert:
        """Silence an alert for a while, or end that.

        Nobody is notified that an issue begins until the silence ends. Then they are notified of those that are still
        there. The end of one that was reported before is reported in a silence, too.

        :param name: The alert's name.
        """
        result: Alert = await self._json(requests.asking(
            "PATCH", f"/v1/alerts/{quoted(name)}", content=requests.encoded(silence), is_repeatable=False))
        return result

    async def test_alert(self, name: str) -> Call:
        """Send a test message where the alert leads.

        It is one attempt, at once, also while the receiver's breaker is open, and in a silence, too. PagerDuty opens an
        alert of severity `info` for it, which has to be resolved there.

        :param name: The alert's name.
        """
        result: Call = await self._json(requests.asking("POST", f"/v1/alerts/{quoted(name)}/test", is_repeatable=False))
        return result

    async def list_credentials(self, *, page_size: int = 250) -> AsyncIterator[Credential]:
        """List the credentials, by name.

        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/credentials", requests.query(limit=page_size))):
            yield entry

    async def get_credential(self, name: str) -> Credential:
        """Show a credential without its secrets.

        :param name: The credential's name.
        """
        result: Credential = await self._json(requests.asking("GET", f"/v1/credentials/{quoted(name)}"))
        return result

    async def put_credential(self, name: str, draft: CredentialDraft) -> Credential:
        """Make or replace a credential.

        Calls use it by its name: `credential` for what proves who sends them, `sign` for what signs them. Attempts take
        it as it is when they are made, so calls that wait use a new secret, too. Nobody can read its secrets again.

        It is sent to its `origins` alone, and no redirect to another origin carries it.

        :param name: The credential's name.
        """
        result: Credential = await self._json(requests.asking("PUT", f"/v1/credentials/{quoted(name)}", content=requests.encoded(draft)))
        return result

    async def delete_credential(self, name: str) -> None:
        """Remove a credential.

        Calls that name it wait with their attempts not made, and not counted, until there is one of that name again, or
        they reach their deadlines.

        :param name: The credential's name.
        """
        await self._nothing(requests.asking("DELETE", f"/v1/credentials/{quoted(name)}", is_repeatable=False))

    async def list_policies(self, *, page_size: int = 250) -> AsyncIterator[StoredPolicySummary]:
        """List the stored policies, each in its current version.

        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/policies", requests.query(limit=page_size))):
            yield entry

    async def get_policy(self, name: str, *, version: int | None = None) -> StoredPolicy:
        """Show a stored policy.

        :param name: The policy's name.
        :param version: The version; the current one by default.
        """
        result: StoredPolicy = await self._json(requests.asking("GET", f"/v1/policies/{quoted(name)}", requests.query(version=version)))
        return result

    async def put_policy(
        self, name: str, policy: Policy, *, if_match: str | None = None, if_none_match: str | None = None
    ) -> StoredPolicy:
        """Store a policy under a name.

        Makes a new version. Calls that name the policy use it from now on; a call keeps the version that it was
        accepted with. The same content again makes no version. `If-Match` with the `ETag` of the version that you
        change prevents two authors from overwriting each other; `If-None-Match: *` only creates. The latest 20 versions
        are kept.

        :param name: The policy's name.
        :param if_match: Only if the resource has this `ETag`, such as `"3"` for version 3.
        :param if_none_match: `*`: only if there is none yet.
        """
        result: StoredPolicy = await self._json(requests.asking(
            "PUT", f"/v1/policies/{quoted(name)}", content=requests.encoded(policy), if_match=if_match,
            if_none_match=if_none_match, is_repeatable=False))
        return result

    async def remove_policy(self, name: str, *, if_match: str | None = None) -> None:
        """Delete a stored policy with all its versions.

        Calls that were accepted with it keep it. If a policy is stored under this name later, its versions continue to
        count up.

        :param name: The policy's name.
        :param if_match: Only if the resource has this `ETag`, such as `"3"` for version 3.
        """
        await self._nothing(requests.asking("DELETE", f"/v1/policies/{quoted(name)}", if_match=if_match, is_repeatable=False))

    async def list_webhook_endpoints(self, *, page_size: int = 250) -> AsyncIterator[WebhookEndpoint]:
        """List the webhook endpoints, oldest first.

        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/webhook-endpoints", requests.query(limit=page_size))):
            yield entry

    async def create_webhook_endpoint(self, draft: WebhookEndpointDraft) -> WebhookEndpointWithSecret:
        """Register a webhook endpoint.

        From now on it receives webhooks for the events that it names. They are signed with its own secret, which is
        shown only in this answer. The webhooks of each endpoint are calls to their own target, `webhook:` and its id.
        `api/webhooks.schema.json` is the schema of their payloads.
        """
        result: WebhookEndpointWithSecret = await self._json(requests.asking(
            "POST", "/v1/webhook-endpoints", content=requests.encoded(draft), is_repeatable=False))
        return result

    async def get_webhook_endpoint(self, endpoint_id: str) -> WebhookEndpoint:
        """Show a webhook endpoint.

        :param endpoint_id: The endpoint's id.
        """
        result: WebhookEndpoint = await self._json(requests.asking("GET", f"/v1/webhook-endpoints/{quoted(endpoint_id)}"))
        return result

    async def replace_webhook_endpoint(self, endpoint_id: str, draft: WebhookEndpointDraft) -> WebhookEndpoint:
        """Change a webhook endpoint.

        Members that are left out get their defaults. A disabled endpoint gets no webhooks for new events, and webhooks
        on their way to it are held back. When it is enabled, those are sent. Webhooks that wait go to the URL that the
        endpoint has when they are sent. A delivery that is in flight ends at the URL before; its answer counts neither
        for nor against the endpoint.

        :param endpoint_id: The endpoint's id.
        """
        result: WebhookEndpoint = await self._json(requests.asking(
            "PUT", f"/v1/webhook-endpoints/{quoted(endpoint_id)}", content=requests.encoded(draft)))
        return result

    async def delete_webhook_endpoint(self, endpoint_id: str) -> None:
        """Delete a webhook endpoint.

        Webhooks on their way to it are held back, and fail at their deadline.

        :param endpoint_id: The endpoint's id.
        """
        await self._nothing(requests.asking("DELETE", f"/v1/webhook-endpoints/{quoted(endpoint_id)}", is_repeatable=False))

    async def rotate_webhook_secret(
        self, endpoint_id: str, rotation: SecretRotation | None = None
    ) -> WebhookEndpointWithSecret:
        """Give a webhook endpoint a new secret.

        The new secret is shown only in this answer. During the overlap, `webhook-signature` also has a signature with
        the old secret. At most five secrets sign; then the oldest is dropped.

        :param endpoint_id: The endpoint's id.
        """
        result: WebhookEndpointWithSecret = await self._json(requests.asking(
            "POST", f"/v1/webhook-endpoints/{quoted(endpoint_id)}/rotate-secret",
            content=None if rotation is None else requests.encoded(rotation), is_repeatable=False))
        return result

    async def test_webhook_endpoint(self, endpoint_id: str) -> Call:
        """Send a webhook endpoint a test webhook, of type `webhook.test`.

        It is one attempt, at once, also while other webhooks wait for the breaker of the endpoint.

        :param endpoint_id: The endpoint's id.
        """
        result: Call = await self._json(requests.asking("POST", f"/v1/webhook-endpoints/{quoted(endpoint_id)}/test", is_repeatable=False))
        return result

    async def list_webhook_deliveries(
        self, endpoint_id: str, *, state: CallState | Sequence[CallState] | None = None, page_size: int = 250
    ) -> AsyncIterator[CallSummary]:
        """List the webhooks of an endpoint, newest first.

        Each is a call: `GET /v1/calls/{id}/attempts` shows its attempts, and `POST /v1/calls/{id}/retry` delivers it
        again, under the same `webhook-id`. Its label `event` is the type of the event. Its `url` is the endpoint's when
        the webhook was made; it is sent to the one that the endpoint has at that time.

        :param endpoint_id: The endpoint's id.
        :param state: Only webhooks in one of these states, separated by commas.
        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking(
            "GET", f"/v1/webhook-endpoints/{quoted(endpoint_id)}/deliveries",
            requests.query(state=state, limit=page_size))):
            yield entry

    async def list_keys(self, *, page_size: int = 250) -> AsyncIterator[APIKey]:
        """List the API keys, oldest first, revoked ones too.

        Revoked keys are kept for 90 days, unless a new key needs the room. The list has the keys of the request's
        namespace; for an operator who acts in `default`, it has all keys.

        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/keys", requests.query(limit=page_size))):
            yield entry

    async def create_key(self, draft: APIKeyDraft) -> APIKeyWithText:
        """Make an API key.

        The key is shown only in this answer; its SHA-256 is stored. From the first key on, everything except
        `/healthz`, `/readyz`, `/` and this document needs a key; so the first one must have the scope `admin` in the
        namespace `default`.

        A key of another namespace than `default` makes keys only in its own namespace. A key of `default` with the
        scope `admin` makes keys in any namespace, such as the first key of a tenant.
        """
        result: APIKeyWithText = await self._json(requests.asking("POST", "/v1/keys", content=requests.encoded(draft), is_repeatable=False))
        return result

    async def revoke_key(self, key_id: str) -> APIKey:
        """Revoke an API key.

        It stops working at once; event streams that it opened end.

        :param key_id: The key's id.
        """
        result: APIKey = await self._json(requests.asking("DELETE", f"/v1/keys/{quoted(key_id)}", is_repeatable=False))
        return result

    async def list_audit(
        self, *, actor: str | None = None, action: AuditAction | Sequence[AuditAction] | None = None,
        object: str | None = None, namespace: str | None = None, since: str | None = None, until: str | None = None,
        page_size: int = 250
    ) -> AsyncIterator[AuditRecord]:
        """List who did what, newest first.

        A record for each change that somebody has made: of keys, endpoints, policies, targets, calls, operations,
        issues and alerts. Submissions are no such changes. The list has the records of the request's namespace; for an
        operator who acts in `default`, it has those of all.

        A page may have fewer records than its limit, or none, although more follow: `nextCursor` is null only on the
        last page.

        :param actor: Only what this one did, by `actor`, `actorName` or `actorKind`.
        :param action: Only these actions. Separate several with commas.
        :param object: Only what was done to the object with this id, name or key.
        :param namespace: Only records of this namespace.
        :param since: Only records from this time on, or of the time since so long ago.
        :param until: Only records before this time, or before so long ago.
        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking(
            "GET", "/v1/audit",
            requests.query(actor=actor, action=action, object=object, namespace=namespace, since=since, until=until, limit=page_size))):
            yield entry

    async def get_webhook_secret(self) -> WebhookSecret:
        """Show the secret that the callbacks of calls are signed with.

        Each namespace has its own secret; those of other namespaces are derived from that of `default`. Webhook
        endpoints have their own secrets, which are shown when they are made.
        """
        result: WebhookSecret = await self._json(requests.asking("GET", "/v1/webhook-secret"))
        return result

    async def preview_policy(self, preview: PolicyPreview) -> Plan:
        """Show when a policy makes its attempts.

        When each attempt starts, if all before it fail and the target asks for no waits: the bounds of each wait,
        quantiles of each start, and the probability that it comes before the deadline. With warnings for settings that
        are allowed but rarely intended. `Accept: image/svg+xml` gets a chart.
        """
        result: Plan = await self._json(requests.asking("POST", "/v1/policies/preview", content=requests.encoded(preview)))
        return result

    async def list_instances(self, *, page_size: int = 250) -> AsyncIterator[Instance]:
        """List the instances that share the store.

        Each runs the calls of the targets in its shards, of 64 in all. On SQLite there is one, with all of them. A list
        may be some hundred milliseconds old. They cover all namespaces, so a key must be one of `default`.

        For 7 days after a failover to a database server that lacked commits, `lostCommits` says so.

        :param page_size: How many a request fetches, 1 to 250.
        """
        async for entry in self._pages(requests.asking("GET", "/v1/instances", requests.query(limit=page_size))):
            yield entry

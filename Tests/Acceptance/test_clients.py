"""The clients in Python, TypeScript, Go and Swift do the same, with a real service: each scenario runs with each of them.

A scenario says where Swift differs, because it has types: docs/clients.md has the list.
"""

import base64
import json
import re
import sys
import time

import pytest
import yaml

import client_packages
import needs
from client_packages import ClientError, ClientProcess
from lossy_proxy import LossyProxy
from processes import ROOT, Constants, free_port, run, wait_until

QUICK = {"backoff": {"initial": "10ms", "max": "20ms"}}


def filled(value):
    """A value without the members that are null or empty: Go and Swift leave out some of these. And Go writes a time without the
    zeros at its end."""
    if isinstance(value, str) and re.fullmatch(r"[\d-]+T[\d:]+\.\d+Z", value):
        return value.rstrip("Z").rstrip("0").rstrip(".")
    if isinstance(value, list):
        return [filled(entry) for entry in value]
    if isinstance(value, dict):
        return {name: filled(entry) for name, entry in value.items() if entry not in (None, {}, [])}
    return value


def test_a_call_from_its_submission_to_its_attempts(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    call = redial.submit({"url": target.url + "/?fail=2", "json": {"amount": 100}, "policy": QUICK, "labels": {"team": "ä"}})
    assert call["method"] == "POST" and call["labels"] == {"team": "ä"}
    ended = redial.wait(call["id"], timeout=60)
    assert (ended["state"], ended["attemptCount"]) == ("succeeded", 3)
    assert filled(redial.get(call["id"])) == filled(ended) == filled(service.get(call["id"]))
    assert redial.get(call["id"], withRequest=True)["request"]["body"] == '{"amount":100}'
    attempts = redial.attempts(call["id"])
    assert [attempt["status"] for attempt in attempts] == [503, 503, 200]
    # In Swift they are always there.
    assert ("body" in attempts[0]["response"]) == (redial.kind == "swift")
    assert redial.attempts(call["id"], withBody=True)[0]["response"]["body"] == "flaky on purpose\n"


def test_a_submission_can_wait_for_the_result(redial, flaky, client):
    service, target = redial(), flaky()
    call = client(service.url).submit({"url": target.url + "/?fail=1", "policy": QUICK}, wait=50)
    assert call["state"] == "succeeded" and call["attempts"][1]["status"] == 200


def test_a_wait_ends_with_its_timeout_and_the_call_goes_on(redial, flaky, client):
    service, target = redial(Constants(maxWaitTime="300ms")), flaky()
    redial = client(service.url)
    call = redial.submit({"url": target.url, "delay": "1h"})
    with pytest.raises(ClientError) as unfinished:
        redial.wait(call["id"], timeout=1)
    assert unfinished.value.kind == "CallUnfinished"
    assert unfinished.value.call["id"] == call["id"] and unfinished.value.call["state"] == "scheduled"
    # A service that lets nobody wait for so long is polled more often.
    redial.begin("wait", call["id"])
    service("POST", f"/v1/calls/{call['id']}/cancel")
    assert redial.finish()["state"] == "cancelled"


def test_the_same_key_submits_once(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    for key in ("order-7", 'a "key", with \\ and spaces'):
        first = redial.submit({"url": target.url}, idempotencyKey=key)
        assert redial.submit({"url": target.url}, idempotencyKey=key)["id"] == first["id"]
        with pytest.raises(ClientError) as reused:
            redial.submit({"url": target.url + "/other"}, idempotencyKey=key)
        assert (reused.value.kind, reused.value.status, reused.value.code) == ("RedialProblem", 422, "idempotencyKeyReused")
        assert [call["id"] for call in redial.list(idempotencyKey=key)] == [first["id"]]
    # Without a key, each submission has one of its own.
    assert redial.submit({"url": target.url})["id"] != redial.submit({"url": target.url})["id"]


def test_a_submission_whose_answer_is_lost_is_one_call(redial, flaky, client, made):
    service, target = redial(), flaky()
    made.append(proxy := LossyProxy(service.port))
    redial = client(proxy.url)
    proxy.lose(2)
    call = redial.submit({"url": target.url})
    assert redial.wait(call["id"], timeout=60)["state"] == "succeeded"
    assert [entry["id"] for entry in redial.list()] == [call["id"]]
    assert proxy.losses == 0


def parts(calls):
    """How many parts of 64 KiB these calls fill."""
    return -(-sum(len(json.dumps(call, ensure_ascii=False, separators=(",", ":")).encode()) + 1 for call in calls) // 65536)


def test_a_batch_is_sent_in_parts_and_answered_in_order(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    calls = [{"url": target.url, "delay": "1h", "labels": {"n": f"{number}\u2028"}} for number in range(1200)]
    calls[700] = {"url": target.url, "method": "CONNECT"}
    # A call that is larger than a part is sent alone.
    calls[3]["body"] = "x" * 100_000
    def answers():
        return service.metrics()['redial_http_responses_total{class="2xx"}']

    # A look at the metrics is an answer, too.
    before, look = answers(), answers()
    items = redial.batch(calls, idempotencyKey="night")
    # The calls before the large one, that one, and the others in parts of 64 KiB. In Swift, parts of 500.
    assert answers() - look == (3 if redial.kind == "swift" else 2 + parts(calls[4:])) + (look - before)
    assert [item["line"] for item in items] == list(range(1, 1201))
    assert [item["line"] for item in items if item["status"] != 202] == [701]
    assert items[700]["problem"]["errors"][0]["pointer"] == "/method"
    assert service.get(items[1199]["id"])["labels"] == {"n": "1199\u2028"}
    again = redial.batch(calls, idempotencyKey="night")
    assert [item.get("id") for item in again] == [item.get("id") for item in items]
    assert redial.batch([]) == []


def test_a_batch_whose_answers_are_lost_submits_nothing_twice(redial, flaky, client, made):
    service, target = redial(), flaky()
    made.append(proxy := LossyProxy(service.port))
    redial = client(proxy.url)
    proxy.lose(2)
    items = redial.batch([{"url": target.url, "delay": "1h"} for _ in range(300)])
    assert len({item["id"] for item in items}) == 300 and proxy.losses == 0
    assert {call["id"] for call in redial.list()} == {item["id"] for item in items}


def test_a_batch_that_the_service_ends_early_is_sent_again(receiver, client):
    def answer(request):
        lines = [{"line": 1, "status": 202, "id": "call_1M7YBET2A0000"}]
        if len(service.requests) == 1:
            problem = {"type": "x", "title": "x", "status": 429, "code": "quotaExceeded", "detail": "x"}
            lines.append({"line": None, "status": 429, "problem": problem, "headers": {"retry-after": "1"}})
        else:
            lines.append({"line": 2, "status": 202, "id": "call_1M7YBET2A0001"})
        return 200, {"content-type": "application/x-ndjson"}, "\n".join(map(json.dumps, lines)).encode()

    service = receiver(answer)
    if (redial := client(service.url)).kind == "swift":
        pytest.skip("it sends its batches as JSON, which the service answers as a whole")
    items = redial.batch([{"url": "http://a.example"}, {"url": "http://b.example"}])
    assert [item["id"] for item in items] == ["call_1M7YBET2A0000", "call_1M7YBET2A0001"]
    first, second = service.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"] and first.body == second.body
    assert second.at - first.at >= 1


def test_lists_go_over_pages_and_have_conditions(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    calls = [redial.submit({"url": target.url, "delay": "1h", "labels": {"n:o": str(n % 2)}})["id"] for n in range(5)]
    redial.cancel(calls[0])
    assert [call["id"] for call in redial.list(pageSize=2)] == calls[::-1]
    assert [call["id"] for call in redial.list(labels={"n:o": "1"})] == [calls[3], calls[1]]
    with pytest.raises(ClientError, match="= in its name"):
        redial.list(labels={"n=o": "1"})
    assert [call["id"] for call in redial.list(state="cancelled")] == calls[:1]
    assert [call["id"] for call in redial.list(state=["cancelled", "scheduled"], target=target.url)] == calls[::-1]
    assert redial.list(createdBefore="2020-01-01T00:00:00Z") == []
    assert redial.list(olderThan="1d") == redial.list(attempts=1) == []


def test_a_call_is_cancelled_and_retried_by_somebody(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    call = redial.submit({"url": target.url, "delay": "1h"})["id"]
    assert redial.cancel(call)["state"] == "cancelled"
    retried = redial.retry(call, by="ada", reason="The target was repaired.")
    assert (retried["retries"][0]["by"], retried["retries"][0]["reason"]) == ("ada", "The target was repaired.")
    assert redial.wait(call, timeout=60)["state"] == "succeeded"
    redial.retry(call)
    assert redial.wait(call, timeout=60)["attemptCount"] == 2
    with pytest.raises(ClientError) as ended:
        redial.cancel(call)
    assert (ended.value.status, ended.value.code) == (409, "callEnded")


def test_problems_say_what_is_wrong(redial, client):
    service = redial()
    redial = client(service.url)
    with pytest.raises(ClientError) as invalid:
        redial.submit({"url": "ftp://a", "method": "CONNECT"})
    assert invalid.value.type == "urn:redial:problem:invalidDescriptor" and invalid.value.title
    assert (invalid.value.status, invalid.value.code) == (422, "invalidDescriptor")
    assert {error["pointer"] for error in invalid.value.errors} == {"/url", "/method"}
    assert invalid.value.detail in invalid.value.message
    with pytest.raises(ClientError) as missing:
        redial.get("call_0000000000000")
    assert (missing.value.status, missing.value.code) == (404, "callNotFound")
    with pytest.raises(ClientError) as odd:
        redial.get("../keys")
    assert (odd.value.kind, odd.value.status) == ("RedialProblem", 404)


def test_requests_have_the_key_and_the_namespace(redial, client):
    key = "rdl_" + "a" * 43
    service = redial(env={"REDIAL_ADMIN_KEY": key})
    with pytest.raises(ClientError) as missing:
        client(service.url).list()
    assert (missing.value.status, missing.value.code) == (401, "missingAPIKey")
    call = client(service.url, apiKey=key, namespace="acme").submit({"url": "https://a.example", "delay": "1h"})
    assert client(service.url, apiKey=key).list() == []
    assert [c["id"] for c in client(service.url, apiKey=key, namespace="acme").list()] == [call["id"]]


def test_any_other_request_can_be_made(redial, client):
    redial = client(redial().url)
    assert redial.request("POST", "/v1/targets/billing/pause")["paused"] is True
    # Whatever the path is, it stays one of the service: the request has the key.
    assert redial.request("GET", "v1/targets/billing")["paused"] is True
    target = redial.request("GET", "/v1/targets", params={"limit": "1"})["data"][0]
    assert (target["key"], target["paused"]) == ("billing", True)
    stored = redial.request("PUT", "/v1/policies/patient", json={"deadline": "7d"})
    assert stored["name"] == "patient"


def test_a_call_is_replayed_and_erased(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    call = redial.submit({"url": target.url, "body": "secret", "labels": {"team": "a"}, "policy": QUICK})["id"]
    redial.wait(call, timeout=60)
    plan = redial.replayDryRun(call, {"labels": {"team": "b"}})
    assert plan["egress"]["verdict"] == "allowed" and [entry["id"] for entry in redial.list()] == [call]
    again = redial.replay(call, {"labels": {"team": "b"}, "body": None}, idempotencyKey="again", wait=50)
    assert (again["state"], again["replayOf"], again["labels"]) == ("succeeded", call, {"team": "b"})
    assert redial.replay(call, {"labels": {"team": "b"}, "body": None}, idempotencyKey="again")["id"] == again["id"]
    assert redial.get(again["id"], withRequest=True)["request"]["body"] == ""
    erased = redial.erase(call, labels=True)
    assert erased["contentErasedAt"] and erased["labels"] == {}
    with pytest.raises(ClientError) as gone:
        redial.replay(call, {})
    assert (gone.value.status, gone.value.code) == (409, "contentErased")


def test_what_can_be_repeated_is_sent_again_when_its_answer_is_lost(redial, flaky, client, made):
    service, target = redial(), flaky()
    made.append(proxy := LossyProxy(service.port))
    redial = client(proxy.url)
    call = redial.submit({"url": target.url})["id"]
    proxy.lose(1)
    again = redial.replay(call, {})
    assert {entry["id"] for entry in redial.list()} == {call, again["id"]}
    proxy.lose(1)
    assert redial.configureTarget("billing", {"maxInFlight": 4})["overrides"] == {"maxInFlight": 4}
    proxy.lose(1)
    assert redial.previewPolicy({"policy": {"maxAttempts": 2}})["isComplete"] is True
    proxy.lose(1)
    with pytest.raises(ClientError) as lost:
        redial.pauseTarget("billing")
    assert (lost.value.kind, lost.value.mayHaveBeenAccepted, proxy.losses) == ("RedialConnectionError", True, 0)


def test_a_submission_is_planned_first(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    plan = redial.submitDryRun({"url": target.url, "policy": {"maxAttempts": 3}})
    assert (plan["call"]["method"], len(plan["plan"]["attempts"])) == ("GET", 3)
    assert redial.list() == []


def test_targets_are_seen_and_controlled(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    with pytest.raises(ClientError) as missing:
        redial.getTarget("a/b c")
    assert (missing.value.status, missing.value.code) == (404, "targetNotFound")
    configured = redial.configureTarget("a/b c", {"maxInFlight": 4, "rate": {"perSecond": 10, "burst": 20}})
    assert configured["overrides"] == {"maxInFlight": 4, "rate": {"perSecond": 10, "burst": 20}}
    changed = redial.changeTarget("a/b c", {"maxInFlight": None, "rate": {"burst": 5}, "slowStart": "1m"})
    assert changed["overrides"] == {"rate": {"perSecond": 10, "burst": 5}, "slowStart": "1m"}
    assert redial.changeTarget("a/b c", None)["overrides"] == {}
    assert redial.pauseTarget("a/b c")["paused"] is True
    call = redial.submit({"url": target.url, "target": "a/b c"})["id"]
    assert redial.submit({"url": target.url, "target": "other", "delay": "1h"})
    assert [entry["key"] for entry in redial.listTargets(pageSize=1)] == ["a/b c", "other"]
    assert [entry["key"] for entry in redial.listTargets(active=True)] == ["a/b c"]
    assert redial.resumeTarget("a/b c")["paused"] is False
    assert redial.wait(call, timeout=60)["state"] == "succeeded"
    assert redial.tripTarget("a/b c")["tripped"] is True
    assert redial.resetTarget("a/b c")["tripped"] is False
    assert redial.releaseTarget("a/b c")["heldUntil"] is None
    assert redial.getTarget("a/b c")["breaker"]["state"] == "closed"


def test_policies_are_stored_previewed_and_removed(redial, client):
    redial = client(redial().url)
    stored = redial.putPolicy("patient", {"maxAttempts": 12, "deadline": "3d"}, ifNoneMatch="*")
    assert (stored["version"], stored["policy"]) == (1, {"maxAttempts": 12, "deadline": "3d"})
    with pytest.raises(ClientError) as there:
        redial.putPolicy("patient", {"maxAttempts": 1}, ifNoneMatch="*")
    assert (there.value.status, there.value.code) == (412, "preconditionFailed")
    assert redial.putPolicy("patient", {"deadline": "5d"}, ifMatch='"1"')["version"] == 2
    assert redial.getPolicy("patient")["policy"] == {"deadline": "5d"}
    assert redial.getPolicy("patient", version=1)["policy"] == {"maxAttempts": 12, "deadline": "3d"}
    assert [(entry["name"], entry["version"]) for entry in redial.listPolicies()] == [("patient", 2)]
    plan = redial.previewPolicy({"policy": "patient", "limit": 5})
    assert (plan["policyName"], len(plan["attempts"]), plan["isComplete"]) == ("patient@2", 5, False)
    assert redial.removePolicy("patient", ifMatch='"2"') is None
    assert redial.listPolicies() == []


def test_webhook_endpoints_are_kept(redial, flaky, receiver, client):
    service, target, hook = redial(), flaky(), receiver()
    redial = client(service.url)
    made = redial.createWebhookEndpoint({"url": hook.url, "events": ["call.succeeded"]})
    assert made["secret"].startswith("whsec_") and made["enabled"] is True
    assert [entry["id"] for entry in redial.listWebhookEndpoints()] == [made["id"]]
    test = redial.testWebhookEndpoint(made["id"])
    redial.wait(test["id"], timeout=60)
    request = hook.next()
    assert redial.verifyEvent(made["secret"], request.body.decode(), dict(request.headers))["type"]
    deliveries = redial.listWebhookDeliveries(made["id"], state=["succeeded", "failed"])
    assert [entry["id"] for entry in deliveries] == [test["id"]]
    rotated = redial.rotateWebhookSecret(made["id"], {"overlap": "1h"})
    assert rotated["secret"] != made["secret"] and len(rotated["secrets"]) == 2
    replaced = redial.replaceWebhookEndpoint(made["id"], {"url": hook.url, "description": "All of it", "enabled": False})
    assert (replaced["description"], replaced["enabled"], replaced["disabledReason"]) == ("All of it", False, "byRequest")
    assert redial.getWebhookEndpoint(made["id"]) == replaced
    with pytest.raises(ClientError) as disabled:
        redial.testWebhookEndpoint(made["id"])
    assert (disabled.value.status, disabled.value.code) == (409, "webhookEndpointDisabled")
    assert redial.deleteWebhookEndpoint(made["id"]) is None
    assert redial.listWebhookEndpoints() == []
    assert redial.getWebhookSecret()["secret"].startswith("whsec_")


def test_operations_act_on_many_calls(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    for _ in range(3):
        redial.submit({"url": target.url, "delay": "1h", "labels": {"team": "a"}})
    asked = {"action": "cancel", "filter": {"labels": {"team": "a"}}, "by": "ada"}
    trial = redial.beginOperationDryRun(asked)
    assert (trial["dryRun"], trial["matched"], trial["isComplete"]) == (True, 3, True)
    operation = redial.beginOperation(asked)
    assert (operation["action"], operation["filter"]["labels"], operation["by"]) == ("cancel", {"team": "a"}, "ada")
    wait_until(lambda: redial.getOperation(operation["id"])["state"] == "completed", "the operation")
    assert redial.getOperation(operation["id"])["done"] == 3
    assert [entry["id"] for entry in redial.listOperations()] == [operation["id"]]
    with pytest.raises(ClientError) as ended:
        redial.cancelOperation(operation["id"])
    assert (ended.value.status, ended.value.code) == (409, "operationEnded")


def test_issues_group_failed_calls(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    call = redial.submit({"url": target.url + "/?fail=9", "policy": {"maxAttempts": 1}})["id"]
    failed = redial.wait(call, timeout=60)
    found = redial.listIssues(state=["open"])
    assert [entry["id"] for entry in found] == [failed["issue"]]
    issue = redial.getIssue(failed["issue"])
    assert (issue["kind"], issue["calls"], issue["example"], issue["reason"]) == ("failed", 1, call, "attemptsExhausted")
    changed = redial.changeIssue(issue["id"], {"state": "acknowledged", "until": "1h", "by": "ada"})
    assert (changed["state"], changed["mark"]["by"]) == ("acknowledged", "ada")
    assert redial.listIssues(state="open") == []
    assert [entry["id"] for entry in redial.list(issue=issue["id"])] == [call]


def test_alerts_are_kept_and_silenced(redial, receiver, client):
    service, hook = redial(), receiver()
    redial = client(service.url)
    alert = redial.putAlert("down", {"kinds": ["down"], "after": "10m", "to": {"slack": hook.url}})
    assert (alert["name"], alert["kinds"], alert["after"], alert["silence"]) == ("down", ["down"], "10m", None)
    assert redial.listAlerts() == [alert] and redial.getAlert("down") == alert
    silenced = redial.silenceAlert("down", {"silenced": True, "until": "1h", "by": "ada"})
    assert silenced["silence"]["by"] == "ada"
    assert redial.silenceAlert("down", {"silenced": False})["silence"] is None
    assert redial.wait(redial.testAlert("down")["id"], timeout=60)["state"] == "succeeded" and hook.next()
    assert redial.deleteAlert("down") is None
    with pytest.raises(ClientError) as missing:
        redial.getAlert("down")
    assert (missing.value.status, missing.value.code) == (404, "alertNotFound")


def test_keys_statistics_and_instances_are_seen(redial, client):
    key = "rdl_" + "a" * 43
    service = redial(env={"REDIAL_ADMIN_KEY": key})
    redial = client(service.url, apiKey=key)
    made = redial.createKey({"name": "shop", "scopes": ["admin", "submit"]})
    assert (made["name"], set(made["scopes"])) == ("shop", {"submit", "admin"})
    assert client(service.url, apiKey=made["key"]).list() == []
    assert [entry["id"] for entry in redial.listKeys()] == [made["id"]]
    assert redial.revokeKey(made["id"])["revokedAt"]
    with pytest.raises(ClientError) as revoked:
        client(service.url, apiKey=made["key"]).list()
    assert (revoked.value.status, revoked.value.code) == (401, "invalidAPIKey")
    assert [entry["window"] for entry in redial.getStatistics()] == ["15m", "24h", "7d"]
    assert [entry["self"] for entry in redial.listInstances()] == [True]


def test_each_code_of_a_problem_is_a_type(redial, receiver, client):
    redial = client(redial().url)
    with pytest.raises(ClientError) as missing:
        redial.get("call_0000000000000")
    if redial.kind != "swift":
        assert getattr(missing.value, "class") == "CallNotFound"
    # A code of a later service is a problem like others.
    later = receiver(lambda request: (418, {"content-type": PROBLEM}, json.dumps(
        UNAVAILABLE | {"status": 418, "code": "tooLate"}).encode()))
    with pytest.raises(ClientError) as unknown:
        client(later.url).list()
    assert (unknown.value.kind, unknown.value.code, unknown.value.status) == ("RedialProblem", "tooLate", 418)
    if redial.kind != "swift":
        assert getattr(unknown.value, "class") == "RedialProblem"


UNAVAILABLE = {"type": "urn:redial:problem:backlogFull", "title": "x", "status": 503, "code": "backlogFull", "detail": "x"}
PROBLEM = "application/problem+json"
with open(ROOT / "api/openapi.yaml") as file:
    CALL = yaml.load(file, yaml.CSafeLoader)["components"]["examples"]["CallAccepted"]["value"]


def unavailable(seconds, code="backlogFull"):
    return 503, {"retry-after": str(seconds), "content-type": PROBLEM}, json.dumps(UNAVAILABLE | {"code": code}).encode()


def test_a_request_is_sent_again_when_the_service_is_not_available(redial, flaky, receiver, client):
    answers = iter([
        unavailable(1), None, (502, {"content-type": "text/html"}, b"<h1>Bad gateway</h1>"), (202, {}, json.dumps(CALL).encode())])
    service = receiver(lambda request: next(answers))
    assert client(service.url).submit({"url": "https://a.example"})["id"] == CALL["id"]
    assert len({request.headers["idempotency-key"] for request in service.requests}) == 1
    assert len(service.requests) == 4
    assert service.requests[1].at - service.requests[0].at >= 1


def test_a_request_is_not_sent_again_without_end(receiver, client):
    service = receiver(lambda request: unavailable(0))
    with pytest.raises(ClientError) as refused:
        client(service.url, attempts=3).list()
    assert (refused.value.kind, refused.value.code) == ("RedialProblem", "backlogFull")
    assert len(service.requests) == 3
    patient = receiver(lambda request: unavailable(3600))
    with pytest.raises(ClientError) as refused:
        client(patient.url).list()
    assert refused.value.retryAfter == 3600 and len(patient.requests) == 1


def test_a_manual_retry_is_sent_again_only_if_nothing_was_done(receiver, client):
    answers = iter([unavailable(0), None, unavailable(0, "outcomeUnknown")])
    service = receiver(lambda request: next(answers))
    redial = client(service.url)
    with pytest.raises(ClientError) as lost:
        redial.retry("call_1")
    assert (lost.value.kind, lost.value.mayHaveBeenAccepted) == ("RedialConnectionError", True)
    with pytest.raises(ClientError) as unknown:
        redial.retry("call_1")
    assert unknown.value.code == "outcomeUnknown"
    assert len(service.requests) == 3


def test_no_service_at_all(receiver, client):
    nowhere = f"http://127.0.0.1:{free_port()}"
    redial = client(nowhere, attempts=2)
    for request in (lambda: redial.submit({"url": "https://a.example"}), lambda: redial.openEvents()):
        with pytest.raises(ClientError) as refused:
            request()
        assert (refused.value.kind, refused.value.mayHaveBeenAccepted) == ("RedialConnectionError", False)
        assert re.match(f"no answer from {nowhere} to (POST /v1/calls|GET /v1/events): .", refused.value.message)
    other = receiver(lambda request: (200, {"content-type": "text/html"}, b"<h1>Hello</h1>"))
    with pytest.raises(ClientError) as unexpected:
        client(other.url).get("call_1")
    assert (unexpected.value.kind, unexpected.value.status) == ("UnexpectedAnswer", 200)


def test_a_password_in_the_url_is_shown_nowhere(packages):
    url = f"http://ada:secret@127.0.0.1:{free_port()}/redial/"
    python = (
        "import redial_client, sys\n"
        "redial = redial_client.Redial(sys.argv[1], attempts=1)\n"
        "print(repr(redial))\n"
        "try: redial.get('call_1')\n"
        "except redial_client.RedialConnectionError as error: print(error)\n")
    shown = client_packages.checked(sys.executable, "-c", python, url, env=packages.environment())
    assert re.match(r"Redial\('(.*?)'\)\nno answer from \1 to GET /v1/calls/call_1: .", shown), shown
    typescript = (
        "import { Redial } from 'redial-client';\n"
        "try { new Redial({ url: process.argv[1] }); } catch (error) { console.log(error.message); }")
    said = client_packages.checked(
        needs.program("node"), "--input-type=module", "-e", typescript, url, env=packages.environment(), cwd=packages.typescript)
    assert "no password" in said
    assert "secret" not in shown + said and "ada" not in shown + said


def test_events_go_on_after_a_lost_connection_without_a_gap(redial, flaky, client, made):
    service, target = redial(), flaky()
    made.append(proxy := LossyProxy(service.port))
    redial = client(proxy.url)
    redial.openEvents(type=["call.accepted", "call.succeeded"], label="team=a")
    first = service.submit(url=target.url, labels={"team": "a\u2028"}) and service.submit(url=target.url, labels={"team": "a"})
    found = [redial.nextEvent(), redial.nextEvent()]
    assert [event["type"] for event in found] == ["call.accepted", "call.succeeded"]
    assert {event["data"]["id"] for event in found} == {first}
    proxy.cut()
    meanwhile = service.submit(url=target.url, labels={"team": "a"})
    service.ended(meanwhile)
    assert [redial.nextEvent()["data"]["id"] for _ in range(2)] == [meanwhile] * 2
    last = redial.closeEvents()
    # Another stream can go on where this one ended.
    later = service.submit(url=target.url, labels={"team": "a"})
    service.ended(later)
    redial.openEvents(label="team=a", lastEventId=last)
    assert redial.nextEvent()["data"]["id"] == later
    redial.closeEvents()


def test_events_go_on_after_a_restart_and_say_what_was_missed(redial, flaky, client):
    service, target = redial(), flaky()
    redial = client(service.url)
    redial.openEvents()
    first = service.submit(url=target.url)
    assert redial.nextEvent()["data"]["id"] == first
    service.ended(first)
    service.kill()
    service.start()
    kinds = []
    while "reset" not in kinds:
        kinds.append(redial.nextEvent()["type"])
    second = service.submit(url=target.url)
    assert redial.nextEvent()["data"]["id"] == second
    redial.closeEvents()
    with pytest.raises(ClientError) as wrong:
        redial.openEvents(type="call.danced")
    assert wrong.value.status == 400


def test_typescript_stops_waiting_when_its_signal_says_so(redial, packages, made):
    made.append(client := ClientProcess(packages, "typescript", url=redial().url))
    with pytest.raises(ClientError) as stopped:
        client.abortEvents()
    assert stopped.value.message == "enough"


def altered(body):
    return body[:-1] + " }"


def test_webhooks_are_verified(redial, flaky, receiver, client):
    service, target, hook = redial(), flaky(), receiver()
    secret = run("webhook-secret", "--store", f"sqlite:{service.store}").stdout.strip()
    redial = client(service.url)
    call = redial.submit({"url": target.url, "labels": {"name": "ä"}, "callback": {"url": hook.url}})
    request = hook.next()
    body, headers = request.body.decode(), dict(request.headers)
    other = "whsec_" + base64.b64encode(b"another secret").decode()
    payload = redial.verify(secret, body, headers)
    assert payload["type"] == "call.succeeded" and payload["data"]["id"] == call["id"]
    assert redial.verify([other, secret], body, headers) == payload
    moment = int(request.headers["webhook-timestamp"])
    assert redial.verify(secret, body, headers, now=moment + 299) == payload
    wrong = [
        (secret, altered(body), headers, {}), (other, body, headers, {}), (secret, body, headers, {"now": moment + 301}),
        (secret, body, headers, {"now": moment - 301}),
        (secret, body, headers | {"webhook-id": "msg_1"}, {}),
        (secret, body, headers | {"webhook-timestamp": str(moment + 1)}, {}),
        (secret, body, headers | {"webhook-signature": "v1,AAAA v2," + headers["webhook-signature"][3:]}, {}),
        (secret, body, {name: value for name, value in headers.items() if name.lower() != "webhook-signature"}, {})]
    for one, content, fields, options in wrong:
        with pytest.raises(ClientError) as refused:
            redial.verify(one, content, fields, **options)
        assert refused.value.kind == "WebhookVerificationError", (fields, options)


def test_a_rotated_secret_and_its_successor_verify(redial, flaky, receiver, client):
    service, target, hook = redial(), flaky(), receiver()
    redial = client(service.url)
    endpoint = redial.request("POST", "/v1/webhook-endpoints", json={"url": hook.url, "events": ["call.succeeded"]})
    path = f"/v1/webhook-endpoints/{endpoint['id']}/rotate-secret"
    rotated = redial.request("POST", path, json={"overlap": "1h"})
    call = redial.submit({"url": target.url})
    request = hook.next()
    for secret in (endpoint["secret"], rotated["secret"]):
        event = redial.verifyEvent(secret, request.body.decode(), dict(request.headers))
        assert (event["type"], event["data"]["id"]) == ("call.succeeded", call["id"])

"""A person's first experience: a call survives a bad day without any setting, and unusual settings cause warnings."""

import json

import pytest

from test_previews import command

SOON = {"backoff": {"strategy": "constant", "initial": "10ms", "jitter": "none"}}


def test_a_post_that_fails_twice_gets_through(redial, flaky):
    service, target = redial(), flaky()
    call = service.ended(service.submit(url=target.url + "/charge?fail=2", method="POST", body="{}"))
    assert (call["state"], call["attemptCount"]) == ("succeeded", 3)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 507, 520, 522, 524, 529])
def test_every_method_is_retried(redial, receiver, status):
    target = receiver(lambda request: (200 if request.headers["redial-attempt"] == "2" else status, {}, b""))
    service = redial()
    for method in ("POST", "PATCH", "GET"):
        call = service.ended(service.submit(url=target.url + "/" + method, method=method, policy=SOON))
        assert (call["state"], call["attemptCount"]) == ("succeeded", 2), method


@pytest.mark.parametrize("status", [400, 404, 409, 410, 413, 422, 423, 501, 505, 511])
def test_what_will_not_do_better_ends_the_call(redial, receiver, status):
    target = receiver(lambda request: (status, {}, b""))
    service = redial()
    call = service.ended(service.submit(url=target.url, method="POST", policy=SOON))
    assert (call["failureReason"], call["attemptCount"]) == ("notRetryable", 1)


@pytest.mark.parametrize("status", [409, 413, 423])
def test_a_conflict_is_retried_when_the_target_says_when(redial, receiver, status):
    target = receiver(
        lambda request: (200, {}, b"") if request.headers["redial-attempt"] == "2" else (status, {"retry-after": "0"}, b""))
    service = redial()
    call = service.ended(service.submit(url=target.url, method="POST", policy=SOON))
    assert (call["state"], call["attemptCount"]) == ("succeeded", 2)


def test_a_post_that_may_have_been_executed_is_repeated_with_the_same_key(redial, receiver):
    target = receiver(lambda request: (200, {}, b"") if request.headers["redial-attempt"] == "2" else None)
    service = redial()
    call = service.ended(service.submit(url=target.url, method="POST", body="x", policy=SOON))
    assert (call["state"], [a["outcome"] for a in call["attempts"]]) == ("succeeded", ["maybeSent", "answered"])
    assert len({request.headers["idempotency-key"] for request in target.requests}) == 1


def test_a_call_that_must_not_be_repeated_is_not_and_says_what_to_write(redial, flaky):
    service, target = redial(), flaky()
    for path, method in (("/?fail=9", "GET"), ("/?reset-rate=1", "POST")):
        call = service.ended(service.submit(url=target.url + path, method=method, idempotent=False, policy=SOON))
        assert (call["failureReason"], call["attemptCount"]) == ("notRetryable", 1), path
        because = call["attempts"][0]["decision"]["because"]
        assert '"idempotent": false' in because and "retryOn" in because, because
    # A request that was never sent, or was certainly not executed, is retried all the same.
    call = service.ended(service.submit(
        url="http://127.0.0.1:1/", method="POST", idempotent=False, policy=SOON | {"maxAttempts": 2}))
    assert (call["failureReason"], call["attemptCount"]) == ("attemptsExhausted", 2)


def test_a_call_outlasts_a_bad_day(redial):
    call = redial()("POST", "/v1/calls?dryRun=true", {"url": "http://127.0.0.1:1/", "method": "POST"}).json
    policy = call["call"]["policy"]
    assert (call["plan"]["policyName"], policy["maxAttempts"], policy["deadline"]) == ("default", None, "1d")
    assert policy["backoff"] == {
        "strategy": "exponential", "initial": "500ms", "multiplier": 2.0, "max": "10m", "jitter": "proportional",
        "factor": 0.5}
    assert policy["retryOn"]["network"] == "always" and call["warnings"] == []


def test_a_policy_says_its_name(redial):
    service = redial()
    assert service("PUT", "/v1/policies/patient", {"deadline": "3d"}).status in (200, 201)
    for given, name in (({}, "default"), ({"policy": "default"}, "default"), ({"policy": "patient"}, "patient@1"),
                        ({"policy": {"deadline": "2d"}}, None)):
        assert service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/", **given}).json["policy"] == name
        assert service("POST", "/v1/policies/preview", given).json["policyName"] == name
    assert service("PUT", "/v1/policies/default", {"deadline": "3d"}).status == 404
    assert command("preview").stdout.startswith("policy: default\n")


def test_naming_one_part_of_a_policy_changes_that_part_alone(redial):
    service = redial()

    def retry_on(given, **more):
        body = {"url": "http://127.0.0.1:1/", "method": "POST", "policy": {"retryOn": given}, **more}
        return service("POST", "/v1/calls?dryRun=true", body).json["call"]["policy"]["retryOn"]

    default = retry_on({})
    careful = retry_on({}, idempotent=False)
    assert default["network"] == "always" and careful["network"] == "notSent"
    for base, more in ((default, {}), (careful, {"idempotent": False})):
        assert retry_on({"statuses": [503]}, **more) == base | {"statuses": ["503"]}
        assert retry_on({"network": False}, **more) == base | {"network": "never"}
        assert retry_on({"statusesWithRetryAfter": [413]}, **more) == base | {"statusesWithRetryAfter": ["413"]}


WARNED = [
    ({"policy": {"maxAttempts": 3}}, "attemptsEndEarly"),
    ({"policy": {"deadline": "45s"}}, "deadlineWithinPause"),
    ({"idempotent": False, "policy": {"retryOn": {"statuses": ["500-599"]}}}, "repeatsThoughNotIdempotent"),
    ({"url": "https://hooks.slack.com/services/x"}, "sharedOrigin"),
    ({"method": "patch"}, "methodCase"), ({"method": "Post"}, "methodCase"), ({"method": "gET"}, "methodCase"),
]


@pytest.mark.parametrize("members,code", WARNED)
def test_what_is_seldom_meant_is_said(redial, members, code):
    service = redial()
    descriptor = {"url": "http://127.0.0.1:1/", "delay": "1h"} | members
    assert code in [w["code"] for w in service("POST", "/v1/calls", descriptor).json["warnings"]]
    dry = service("POST", "/v1/calls?dryRun=true", descriptor).json
    assert code in [w["code"] for w in dry["warnings"]]
    item = service("POST", "/v1/calls/batch", [descriptor]).json["data"][0]
    assert code in [w["code"] for w in item["call"]["warnings"]]
    if not members.keys() & {"url", "method"}:
        plan = service("POST", "/v1/policies/preview", members).json
        assert code in [w["code"] for w in plan["warnings"]]
        assert all(w["detail"] for w in plan["warnings"])


def test_an_unremarkable_call_has_no_warnings(redial):
    service = redial()
    call = service("POST", "/v1/calls", {"url": "https://hooks.slack.com/services/x", "target": "team-a", "delay": "1h"})
    assert call.json["warnings"] == []
    for method in ("PATCH", "purge", "M-SEARCH"):
        call = service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/", "method": method, "delay": "1h"})
        assert call.json["warnings"] == [] and call.json["method"] == method
    # They are for the client that submits: a poll shows none.
    assert "warnings" not in json.loads(service("GET", "/v1/calls/" + call.json["id"]).body)

"""A client gets the end of its call by a webhook, which any library of Standard Webhooks can verify."""

import base64
import datetime
import json

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from processes import HASTY, breaker, run, wait_until

GIVEN = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()


def test_success_and_failure_are_told_and_verify_with_the_kept_secret(redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver()
    secret = run("webhook-secret", "--store", f"sqlite:{service.store}").stdout.strip()
    assert secret.startswith("whsec_")
    for path, state in (("/fine", "succeeded"), ("/bad?sequence=404", "failed")):
        identity = service.submit(url=target.url + path, callback={"url": hook.url + "/hooks"}, labels={"n": path})
        request = hook.next()
        assert (request.method, request.path) == ("POST", "/hooks")
        payload = Webhook(secret).verify(request.body, dict(request.headers))
        assert payload["type"] == f"call.{state}"
        call = service.ended(identity)
        assert payload["timestamp"] == call["finishedAt"]
        assert payload["data"]["id"] == identity
        assert payload["data"] == {k: v for k, v in call.items() if k != "policyInForce"}
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(request.body + b" ", dict(request.headers))
        with pytest.raises(WebhookVerificationError):
            Webhook(GIVEN).verify(request.body, dict(request.headers))
    assert service.terminate() == 0
    again = run("webhook-secret", "--store", f"sqlite:{service.store}").stdout.strip()
    assert again == secret


def test_a_given_secret_signs(redial, flaky, receiver):
    service, target, hook = redial(env={"REDIAL_WEBHOOK_SECRET": GIVEN}), flaky(), receiver()
    service.submit(url=target.url, callback={"url": hook.url})
    request = hook.next()
    assert Webhook(GIVEN).verify(request.body, dict(request.headers))["type"] == "call.succeeded"
    assert GIVEN[6:] not in service.log.read_text()


def test_a_trip_that_ends_a_call_is_told_as_tripped(redial, receiver):
    target, hook = receiver(lambda request: (500, {}, b"")), receiver()
    service = redial(*breaker(**HASTY, openInterval="1m"))
    secret = run("webhook-secret", "--store", f"sqlite:{service.store}").stdout.strip()
    identity = service.submit(
        url=target.url, callback={"url": hook.url},
        policy={"onTrip": "fail", "backoff": {"initial": "10ms", "max": "20ms"}})
    request = hook.next()
    payload = Webhook(secret).verify(request.body, dict(request.headers))
    assert payload["type"] == "call.tripped"
    call = service.ended(identity)
    assert (call["state"], call["failureReason"]) == ("failed", "tripped")
    assert len(target.requests) == 1


def test_only_the_events_that_were_asked_for_are_told(redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver()
    quiet = service.submit(url=target.url, callback={"url": hook.url, "events": ["call.failed"]})
    service.ended(quiet)
    loud = service.submit(url=target.url, callback={"url": hook.url, "events": ["call.succeeded"]})
    assert json.loads(hook.next().body)["data"]["id"] == loud
    assert len(hook.requests) == 1


def test_a_webhook_is_retried_under_one_id_and_survives_kill_9(redial, flaky, receiver):
    hook = receiver(lambda request: (503, {"retry-after": "1"}, b""))
    service, target = redial(clock=True), flaky()
    secret = run("webhook-secret", "--store", f"sqlite:{service.store}").stdout.strip()
    identity = service.submit(url=target.url, callback={"url": hook.url})
    first = hook.next()
    service.kill()
    hook.answer = lambda request: (200, {}, b"")
    service.start()

    def is_repeated():
        service.advance(10)
        return len(hook.requests) > 1
    wait_until(is_repeated, "the webhook is sent again")
    second = hook.next()
    assert second.headers["webhook-id"] == first.headers["webhook-id"]
    assert second.body == first.body
    for request in (first, second):
        assert Webhook(secret).verify(request.body, dict(request.headers))["data"]["id"] == identity
    listed = service("GET", "/v1/calls?kind=webhook").json["data"]
    assert len(listed) == 1
    assert service.ended(listed[0]["id"])["state"] == "succeeded"
    # It is not in the list of clients' calls.
    assert [c["id"] for c in service("GET", "/v1/calls").json["data"]] == [identity]


@pytest.mark.parametrize("status, fields", [
    (503, {"retry-after": "7200"}), (429, {"retry-after": "500000"}), (429, {"ratelimit": '"hour";r=0;t=7200'}),
    (503, {"ratelimit-remaining": "0", "ratelimit-reset": "90000"})], ids=lambda value: str(value))
def test_a_receiver_that_asks_for_a_long_wait_gets_its_webhook_then(redial, receiver, status, fields):
    hooks = receiver(lambda request: (status, fields, b""))
    service = redial()
    service.ended(service.submit(
        url="http://127.0.0.1:9/", policy={"maxAttempts": 1}, callback={"url": f"{hooks.url}/hook"}))
    hooks.next()

    def waits():
        hook, = service("GET", "/v1/calls?kind=webhook").json["data"]
        assert hook["finishedAt"] is None, hook
        return hook["attemptCount"] == 1 and hook["waitingOn"] == "retryAfter" and hook
    hook = wait_until(waits, "it waits as it was told")
    wait = datetime.datetime.fromisoformat(hook["nextAttemptAt"]) - datetime.datetime.fromisoformat(hook["createdAt"])
    asked = int(list(fields.values())[-1].rpartition("=")[2])
    assert min(asked, 86400) - 1 <= wait.total_seconds() < 2 * 86400

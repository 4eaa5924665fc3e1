"""Statuses that targets really send, and the decisions about them."""

import threading

import pytest

from test_attempts import QUICK
from processes import wait_until


@pytest.mark.parametrize("status", [600, 601, 777, 999])
def test_a_status_from_600_on_is_like_a_5xx(redial, receiver, status):
    answers = iter([(status, {}, b"odd"), (200, {}, b"ok")])
    target, service = receiver(lambda request: next(answers)), redial()
    identity = service.submit(url=target.url, policy=QUICK)
    call = service.ended(identity)
    assert (call["state"], [a["status"] for a in call["attempts"]]) == ("succeeded", [status, 200])
    assert call["attempts"][0]["decision"]["because"] == f"status {status} is retryable"
    # Unless the call must not be executed twice, or its policy says otherwise.
    for members in ({"idempotent": False}, {"policy": QUICK | {"stopOn": {"statuses": ["600-999"]}}},
                    {"policy": QUICK | {"retryOn": {"statuses": [503]}}}):
        target.answer = lambda request: (status, {}, b"odd")
        call = service.ended(service.submit(url=target.url, **members))
        assert (call["failureReason"], call["attemptCount"]) == ("notRetryable", 1), members
    for condition in (status, f"{status}-999", f"500-{status}", "600-999"):
        found = service("GET", f"/v1/calls?status={condition}")
        assert found.status == 200 and len(found.json["data"]) == 3, condition
    for wrong in (99, 1000, "600-1000", "999-600"):
        assert service("GET", f"/v1/calls?status={wrong}").status == 400
    operation = service(
        "POST", "/v1/operations", {"action": "replay", "filter": {"status": status, "state": "failed"}, "dryRun": True})
    assert operation.json["matched"] == 3, operation.body


def test_a_409_after_a_lost_connection_is_tried_again(redial, receiver):
    """The target goes on with the first attempt, and refuses the second with the same Idempotency-Key meanwhile."""
    answers = iter([None, (409, {}, b"in progress"), (409, {}, b"in progress"), (200, {}, b"done")])
    target, service = receiver(lambda request: next(answers)), redial()
    call = service.ended(service.submit(url=target.url, method="POST", policy=QUICK))
    assert call["state"] == "succeeded" and [a["status"] for a in call["attempts"]] == [None, 409, 409, 200]
    assert call["attempts"][1]["decision"]["because"] == (
        "status 409, and an earlier attempt may have been executed: the target may still be processing it")
    assert len({request.headers["idempotency-key"] for request in target.requests}) == 1


def test_a_409_after_a_crash_during_an_attempt_is_tried_again(redial, receiver):
    over = threading.Event()

    def answer(request):
        if len(target.requests) == 1:
            over.wait()
            return None
        return (409, {}, b"in progress") if len(target.requests) < 4 else (200, {}, b"done")
    target, service = receiver(answer), redial()
    identity = service.submit(url=target.url, method="POST", policy=QUICK | {"backoff": {"initial": "300ms", "max": "300ms"}})
    target.next()
    service.kill()
    service.start()
    wait_until(lambda: len(target.requests) >= 3, "the first 409 is retried")
    # The reason is on disk, too.
    service.kill()
    service.start()
    over.set()
    call = service.ended(identity)
    assert call["state"] == "succeeded" and 409 in [a["status"] for a in call["attempts"]]


@pytest.mark.parametrize("first", [(503, {}, b""), (429, {}, b""), (500, {}, b"")])
def test_a_409_after_attempts_that_are_over_ends_the_call(redial, receiver, first):
    answers = iter([first, (409, {}, b"conflict")])
    target, service = receiver(lambda request: next(answers)), redial()
    call = service.ended(service.submit(url=target.url, method="POST", policy=QUICK))
    assert (call["failureReason"], call["attemptCount"]) == ("notRetryable", 2)


def test_a_409_is_tried_again_only_as_the_policy_allows(redial, receiver):
    service = redial()
    for policy, reason in (({"stopOn": {"statuses": ["409"]}}, "notRetryable"), ({"maxAttempts": 2}, "attemptsExhausted")):
        answers = iter([None, (409, {}, b"in progress")])
        target = receiver(lambda request: next(answers))
        call = service.ended(service.submit(url=target.url, method="POST", policy=QUICK | policy))
        assert (call["failureReason"], call["attemptCount"]) == (reason, 2)

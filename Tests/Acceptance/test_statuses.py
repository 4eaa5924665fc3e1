"""Statuses that targets really send, and the decisions about them."""

import pytest

from test_attempts import QUICK


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

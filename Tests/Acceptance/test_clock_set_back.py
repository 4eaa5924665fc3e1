"""A clock that was ahead is set right while Redial is stopped; and Redial is stopped while calls fall due."""

import json
from datetime import datetime, timedelta

import pytest

from processes import Constants, TestClock, run, wait_until

HOUR = 3600
# A wait of two seconds, without chance.
POLICY = {"backoff": {"initial": "2s", "multiplier": 1, "jitter": "none"}}


def doctor(service):
    answer = run("doctor", "--store", f"sqlite:{service.store}", "--json")
    report = json.loads(answer.stdout)
    return {finding["check"]: finding for finding in report["findings"] if finding["count"]}


def has_looked(service):
    return wait_until(lambda: 'redial_store_findings{check="overdue"}' in service.metrics(), "a look at the store")


def instant(text):
    return datetime.fromisoformat(text)


@pytest.mark.parametrize("stop", ["terminate", "kill"])
def test_after_a_clock_that_was_ahead_is_set_right_waits_have_their_length(redial, receiver, tmp_path, stop):
    target = receiver(lambda request: (503, {}, b""))
    TestClock(tmp_path / "clock").advance(2 * HOUR)
    service = redial(clock=True)
    ordered = [service.submit(url=f"{target.url}/{n}", orderingKey="k", policy=POLICY) for n in range(3)]
    delayed = service.submit(url=f"{target.url}/delayed", delay="1h")
    accepted = instant(service.get(delayed)["createdAt"])
    named = (accepted + timedelta(hours=1)).isoformat()
    at = service.submit(url=f"{target.url}/named", startAt=named)
    wait_until(lambda: service.get(ordered[0])["attempts"], "the first attempt has ended")
    getattr(service, stop)()
    target.answer = lambda request: (200, {}, b"")
    service.advance(-2 * HOUR)
    service.start()
    calls = [service.ended(identity) for identity in ordered]
    assert [call["state"] for call in calls] == ["succeeded"] * 3
    assert [request.path for request in target.requests if request.headers["redial-attempt"] != "1"][:1] == ["/0"]
    assert list(dict.fromkeys(request.path for request in target.requests)) == ["/0", "/1", "/2"]
    # The delay goes on, and the time that somebody named stays.
    start = instant(service.get(delayed)["nextAttemptAt"])
    assert abs((start - accepted).total_seconds() + HOUR) < 60
    assert instant(service.get(at)["nextAttemptAt"]) == instant(named)
    assert doctor(service) == {}
    service.says("clockSetBack")
    # What is right now stays so.
    due = service.get(delayed)["nextAttemptAt"]
    service.terminate()
    service.start()
    assert service.get(delayed)["nextAttemptAt"] == due
    assert service.log.read_text().count("clockSetBack") == 1


def test_calls_that_fell_due_for_a_paused_target_or_without_a_service_are_no_finding(redial, receiver):
    target = receiver()
    service = redial(Constants(storeWatchInterval="100ms", maxHeld=10), clock=True)
    service.submit(url=target.url, target="paused")
    key = "/v1/targets/paused"
    assert service("POST", f"{key}/pause").status == 200
    waiting = [service.submit(url=target.url, target="paused", delay=f"{10 + n}m") for n in range(60)]
    service.advance(HOUR)
    has_looked(service)
    assert doctor(service) == {}
    service.terminate()
    service.advance(HOUR)
    service.start()
    has_looked(service)
    assert doctor(service) == {}
    assert "storeFinding" not in service.log.read_text()
    assert service("POST", f"{key}/resume").status == 200
    assert {service.ended(identity)["state"] for identity in waiting} == {"succeeded"}

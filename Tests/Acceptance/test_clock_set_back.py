"""A clock that was ahead is set right while Redial is stopped; and Redial is stopped while calls fall due."""

import json
from datetime import datetime, timedelta

import pytest

from processes import TestClock, run, wait_until

HOUR = 3600
# A wait of two seconds, without chance.
POLICY = {"backoff": {"initial": "2s", "multiplier": 1, "jitter": "none"}}


def doctor(service):
    answer = run("doctor", "--store", f"sqlite:{service.store}", "--json")
    report = json.loads(answer.stdout)
    return {finding["check"]: finding for finding in report["findings"] if finding["count"]}


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
    assert "clockSetBack" in service.log.read_text()
    # What is right now stays so.
    due = service.get(delayed)["nextAttemptAt"]
    service.terminate()
    service.start()
    assert service.get(delayed)["nextAttemptAt"] == due
    assert service.log.read_text().count("clockSetBack") == 1

"""A call says for what it has waited, and how long: in the API, its webhook, events, and the command."""

import json
import time

import pytest
from processes import run, wait_until
from test_contract import validator
from test_events import Stream
from test_replicas import LASTING

PATIENT = {"backoff": {"initial": "400ms", "multiplier": 1, "jitter": "none"}, "deadline": "12h"}
CALL = validator({"$ref": "#/components/schemas/Call"})


def seconds(text):
    """A duration of the API in seconds; those of a call may be of any unit."""
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    unit = text.lstrip("0123456789.")
    return float(text[: -len(unit)]) * units[unit]


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_each_attempt_has_its_waits_by_their_causes(store, redial, instances, receiver):
    # With a lease, time cannot jump.
    if store == "sqlite":
        service, delay, pause = redial(clock=True), 3600, 1800
        let_pass = service.advance
    else:
        service, delay, pause = instances(1, *LASTING)[1][0], 1, 1.5
        let_pass = time.sleep
    target, hook = receiver(lambda request: (500 if request.headers["redial-attempt"] == "1" else 200, {}, b"")), receiver()
    events = Stream(service)
    service("POST", f"/v1/targets/{target.url.replace('/', '%2F')}/pause")
    identity = service.submit(url=target.url, delay=f"{delay}s", policy=PATIENT, callback={"url": hook.url})
    let_pass(delay)
    wait_until(lambda: service.target(target.url)["waiting"] == 1, "it waits for the operator")
    assert service.get(identity)["waitingOn"] == "paused"
    let_pass(pause)
    service("POST", f"/v1/targets/{target.url.replace('/', '%2F')}/resume")
    call = service.ended(identity)
    CALL.validate(call)
    first, second = [{reason: seconds(time) for reason, time in attempt["waited"].items()} for attempt in call["attempts"]]
    assert first.pop("startTime") == pytest.approx(delay, abs=0.01)
    # The clock goes on by itself.
    assert pause <= first.pop("paused") < pause + 60 and set(first) <= {"concurrency"}
    assert second.pop("backoff") == pytest.approx(0.4, abs=0.01) and sum(second.values()) < 60
    assert {reason for attempt in call["attempts"] for reason in attempt["waited"]} == set(call["waited"])
    listed = service("GET", f"/v1/calls/{identity}/attempts").json["data"]
    assert [attempt["waited"] for attempt in listed] == [attempt["waited"] for attempt in call["attempts"]]
    # The webhook has the same; events have what held the attempt back after it was due.
    assert json.loads(hook.next().body)["data"]["waited"] == call["waited"]
    events.until("call.succeeded")
    attempted = [event["attempt"] for event in events.events if event["type"] == "call.attempted"]
    held = {reason: time for reason, time in call["attempts"][0]["waited"].items() if reason != "startTime"}
    assert attempted[0]["heldBack"].keys() == held.keys() and "waited" not in attempted[0]
    shown = run("get", identity, "--server", service.url)
    assert f"{call['attempts'][0]['waited']['paused']} for paused" in shown.stdout, shown.stdout + shown.stderr


def test_the_time_while_the_service_had_stopped_is_its_own(redial, receiver):
    service, target = redial(clock=True), receiver()
    identity = service.submit(url=target.url, delay="1h", policy=PATIENT)
    service.kill()
    service.clock.advance(2 * 3600)
    service.start()
    waited = service.ended(identity)["waited"]
    assert seconds(waited["startTime"]) == pytest.approx(3600, abs=0.01)
    assert 3600 <= seconds(waited["service"]) < 3660


def test_a_retry_after_is_not_taken_for_a_backoff(redial, receiver):
    answers = {"1": (429, {"retry-after": "600"}, b""), "2": (200, {}, b"")}
    target = receiver(lambda request: answers[request.headers["redial-attempt"]])
    service = redial(clock=True)
    identity = service.submit(url=target.url, policy=PATIENT)
    wait_until(lambda: service.get(identity)["waitingOn"] == "retryAfter", "it waits as asked")
    service.advance(600)
    call = service.ended(identity)
    assert call["attempts"][0]["decision"]["waitingOn"] == "retryAfter"
    assert seconds(call["attempts"][1]["waited"]["retryAfter"]) == pytest.approx(600, abs=1)

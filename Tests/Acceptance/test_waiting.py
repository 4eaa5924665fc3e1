"""Clients that wait for a call's end."""

import threading

from processes import BOUND, Constants, wait_until

JSON = {"content-type": "application/json"}
QUICK = {"backoff": {"initial": "100ms", "jitter": "none"}}
# A wait may be far longer than a request of these tests may take: what is answered is answered early.
LONG = (Constants(maxWaitTime="10m"),)


class Asked:
    """A request in a thread of its own."""

    def __init__(self, request):
        self.answer = None
        self.thread = threading.Thread(target=lambda: setattr(self, "answer", request()), daemon=True)
        self.thread.start()

    def answered(self):
        self.thread.join(BOUND)
        assert self.answer is not None, "there is no answer"
        return self.answer


def waiting(service, count):
    """Returns when so many clients wait."""
    wait_until(lambda: service.metrics()["redial_waiting_clients"] == count, f"{count} clients wait")


def still_waits(service, call):
    """Shows that one client still waits: another, which waits for as good as no time, is answered meanwhile."""
    assert service("GET", f"/v1/calls/{call}?wait=1ms").json["state"] == "scheduled"
    assert service.metrics()["redial_waiting_clients"] == 1


def test_a_submission_that_prefers_to_wait_is_answered_with_the_result(redial, flaky):
    service, target = redial(*LONG), flaky()
    answer = service(
        "POST", "/v1/calls", {"url": target.url + "/?fail=2", "policy": QUICK}, JSON | {"prefer": "foo, wait=600; x=1"})
    assert answer.status == 200 and answer.headers["preference-applied"] == "wait=600"
    assert answer.json["state"] == "succeeded" and answer.json["attemptCount"] == 3
    assert answer.headers["content-location"] == f"/v1/calls/{answer.json['id']}"


def test_one_that_does_not_end_in_time_is_answered_as_any_other(redial, flaky):
    service, target = redial(*LONG, clock=True), flaky()
    asked = Asked(lambda: service("POST", "/v1/calls", {"url": target.url, "delay": "1h"}, JSON | {"prefer": "wait=600"}))
    waiting(service, 1)
    other = service.submit(url=target.url, delay="1h")
    service.advance(500)
    still_waits(service, other)
    service.advance(100)
    answer = asked.answered()
    assert answer.status == 202 and answer.headers["location"] == f"/v1/calls/{answer.json['id']}"
    assert not answer.headers["preference-applied"]
    assert answer.json["state"] == "scheduled"


def test_a_poll_waits_until_the_call_ends_or_time_is_up(redial, flaky):
    service, target = redial(*LONG, clock=True), flaky()
    call = service.submit(url=target.url + "/?fail=3", policy=QUICK)
    assert service("GET", f"/v1/calls/{call}?wait=10m").json["state"] == "succeeded"
    # It ended before the wait began.
    assert service("GET", f"/v1/calls/{call}?wait=10m").json["state"] == "succeeded"
    later = service.submit(url=target.url, delay="1h")
    asked = Asked(lambda: service("GET", f"/v1/calls/{later}?wait=10m"))
    waiting(service, 1)
    service.advance(500)
    still_waits(service, later)
    service.advance(100)
    assert asked.answered().json["state"] == "scheduled"
    assert service("GET", "/v1/calls/call_0000000000000?wait=5s").status == 404
    for bad in ("wait=11m", "wait=x", "wait=1s&wait=2s"):
        assert service("GET", f"/v1/calls/{later}?{bad}").status == 400


def test_a_wait_is_at_most_a_minute_unless_it_is_set(redial, flaky):
    service, target = redial(), flaky()
    call = service.submit(url=target.url)
    service.ended(call)
    assert service("GET", f"/v1/calls/{call}?wait=1m").status == 200
    assert service("GET", f"/v1/calls/{call}?wait=61s").status == 400


def test_many_may_wait_for_one_call_and_a_cancel_ends_their_wait(redial, flaky):
    service, target = redial(*LONG), flaky()
    call = service.submit(url=target.url, delay="1h")
    asked = [Asked(lambda: service("GET", f"/v1/calls/{call}?wait=10m")) for _ in range(20)]
    waiting(service, 20)
    service("POST", f"/v1/calls/{call}/cancel")
    assert [a.answered().json["state"] for a in asked] == ["cancelled"] * 20


def test_at_the_bound_of_those_who_wait_others_are_answered_at_once(redial, flaky):
    service, target = redial(*LONG, Constants(maxWaiting=1)), flaky()
    call = service.submit(url=target.url, delay="1h")
    first = Asked(lambda: service("GET", f"/v1/calls/{call}?wait=10m"))
    waiting(service, 1)
    answer = service("GET", f"/v1/calls/{call}?wait=10m")
    assert answer.status == 200 and answer.json["state"] == "scheduled"
    answer = service("POST", "/v1/calls", {"url": target.url, "delay": "1h"}, JSON | {"prefer": "wait=600"})
    assert answer.status == 202
    # The first still waits.
    assert first.answer is None and service.metrics()["redial_waiting_clients"] == 1
    service("POST", f"/v1/calls/{call}/cancel")
    assert first.answered().json["state"] == "cancelled"


def test_a_repetition_under_a_key_waits_as_well(redial, flaky):
    service, target = redial(*LONG), flaky()
    descriptor = {"url": target.url + "/?fail=2", "policy": QUICK}
    headers = JSON | {"idempotency-key": "one", "prefer": "wait=600"}
    first = service("POST", "/v1/calls", descriptor, headers)
    again = service("POST", "/v1/calls", descriptor, headers)
    assert first.status == again.status == 200 and first.json["id"] == again.json["id"]


def test_a_stop_answers_those_who_wait(redial, flaky):
    service, target = redial(*LONG), flaky()
    call = service.submit(url=target.url, delay="1h")
    asked = Asked(lambda: service("GET", f"/v1/calls/{call}?wait=10m"))
    waiting(service, 1)
    # Both come within the bound of a wait of these tests, and so long before the ten minutes are over.
    assert service.terminate() == 0
    answer = asked.answered()
    assert answer.status == 200 and answer.json["state"] == "scheduled"


def test_a_dry_run_shows_the_plan_and_stores_nothing(redial, flaky):
    service, target = redial(), flaky()
    descriptor = {"url": target.url, "delay": "10s", "policy": {"maxAttempts": 3, "backoff": {"jitter": "none"}}}
    answer = service("POST", "/v1/calls?dryRun=true", descriptor)
    assert answer.status == 200 and answer.json["call"]["url"] == target.url
    assert len(answer.json["plan"]["attempts"]) == 3 and "noJitter" in [w["code"] for w in answer.json["plan"]["warnings"]]
    assert service("POST", "/v1/calls?dryRun=true", {"url": "nonsense"}).status == 422
    assert service("POST", "/v1/calls?dryRun=maybe", descriptor).status == 400
    assert service("GET", "/v1/calls").json["data"] == []
    assert service("POST", "/v1/calls?dryRun=false", descriptor).status == 202
    wait_until(lambda: len(service("GET", "/v1/calls").json["data"]) == 1, "one call is there")

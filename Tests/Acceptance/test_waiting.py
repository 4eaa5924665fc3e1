"""Clients that wait for a call's end."""

import threading
import time

from processes import wait_until

JSON = {"content-type": "application/json"}
QUICK = {"backoff": {"initial": "100ms", "jitter": "none"}}


def timed(body):
    began = time.monotonic()
    answer = body()
    return answer, time.monotonic() - began


def test_a_submission_that_prefers_to_wait_is_answered_with_the_result(redial, flaky):
    service, target = redial(), flaky()
    answer, took = timed(lambda: service(
        "POST", "/v1/calls", {"url": target.url + "/?fail=2", "policy": QUICK}, JSON | {"prefer": "foo, wait=10; x=1"}))
    assert answer.status == 200 and answer.headers["preference-applied"] == "wait=10"
    assert answer.json["state"] == "succeeded" and answer.json["attemptCount"] == 3 and took < 8
    assert answer.headers["content-location"] == f"/v1/calls/{answer.json['id']}"


def test_one_that_does_not_end_in_time_is_answered_as_any_other(redial, flaky):
    service, target = redial(), flaky()
    answer, took = timed(lambda: service(
        "POST", "/v1/calls", {"url": target.url, "delay": "1h"}, JSON | {"prefer": "wait=1"}))
    assert answer.status == 202 and answer.headers["location"] == f"/v1/calls/{answer.json['id']}"
    assert not answer.headers["preference-applied"]
    assert answer.json["state"] == "scheduled" and 0.9 < took < 5


def test_a_poll_waits_until_the_call_ends_or_time_is_up(redial, flaky):
    service, target = redial(), flaky()
    call = service.submit(url=target.url + "/?fail=3", policy=QUICK)
    answer, took = timed(lambda: service("GET", f"/v1/calls/{call}?wait=20s"))
    assert answer.json["state"] == "succeeded" and took < 15
    # It ended before the wait began.
    answer, took = timed(lambda: service("GET", f"/v1/calls/{call}?wait=20s"))
    assert answer.json["state"] == "succeeded" and took < 5
    waiting = service.submit(url=target.url, delay="1h")
    answer, took = timed(lambda: service("GET", f"/v1/calls/{waiting}?wait=500ms"))
    assert answer.json["state"] == "scheduled" and 0.4 < took < 4
    assert service("GET", "/v1/calls/call_0000000000000?wait=5s").status == 404
    for bad in ("wait=2m", "wait=x", "wait=1s&wait=2s"):
        assert service("GET", f"/v1/calls/{waiting}?{bad}").status == 400


def test_many_may_wait_for_one_call_and_a_cancel_ends_their_wait(redial, flaky):
    service, target = redial(), flaky()
    call = service.submit(url=target.url, delay="1h")
    answers = []

    def poll():
        answers.append(service("GET", f"/v1/calls/{call}?wait=30s"))

    threads = [threading.Thread(target=poll) for _ in range(20)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    service("POST", f"/v1/calls/{call}/cancel")
    for thread in threads:
        thread.join(20)
    assert [a.json["state"] for a in answers] == ["cancelled"] * 20


def test_at_the_bound_of_those_who_wait_others_are_answered_at_once(redial, flaky):
    service, target = redial("--max-waiting", "1"), flaky()
    call = service.submit(url=target.url, delay="1h")
    first = threading.Thread(target=lambda: service("GET", f"/v1/calls/{call}?wait=5s"))
    first.start()
    time.sleep(0.3)
    answer, took = timed(lambda: service("GET", f"/v1/calls/{call}?wait=30s"))
    assert answer.status == 200 and answer.json["state"] == "scheduled" and took < 3
    answer, took = timed(lambda: service("POST", "/v1/calls", {"url": target.url, "delay": "1h"}, JSON | {"prefer": "wait=30"}))
    assert answer.status == 202 and took < 3
    first.join(20)


def test_a_repetition_under_a_key_waits_as_well(redial, flaky):
    service, target = redial(), flaky()
    descriptor = {"url": target.url + "/?fail=2", "policy": QUICK}
    headers = JSON | {"idempotency-key": "one", "prefer": "wait=10"}
    first = service("POST", "/v1/calls", descriptor, headers)
    again = service("POST", "/v1/calls", descriptor, headers)
    assert first.status == again.status == 200 and first.json["id"] == again.json["id"]


def test_a_stop_answers_those_who_wait(redial, flaky):
    service, target = redial(), flaky()
    call = service.submit(url=target.url, delay="1h")
    answers = []
    thread = threading.Thread(target=lambda: answers.append(service("GET", f"/v1/calls/{call}?wait=50s")))
    thread.start()
    time.sleep(0.3)
    _, took = timed(service.terminate)
    thread.join(10)
    assert took < 8 and answers[0].status == 200 and answers[0].json["state"] == "scheduled"


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

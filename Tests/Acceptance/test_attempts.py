"""What targets receive, and how their answers affect calls."""

import base64
import email.utils
import re
import time

from processes import NO_BREAKER, target_defaults, wait_until

QUICK = {"backoff": {"initial": "20ms", "max": "50ms"}}


def test_method_headers_and_body_arrive_as_given(redial, receiver):
    service, target = redial(), receiver()
    service.submit(
        url=target.url + "/a/../b?x=%2F&y", method="PATCH", body="héllo",
        headers={"X-One": "1", "X-Two": ["a", "b"], "Content-Type": "text/plain"})
    request = target.next()
    assert (request.method, request.path, request.body.decode()) == ("PATCH", "/a/../b?x=%2F&y", "héllo")
    assert request.headers["X-One"] == "1" and request.headers.get_all("X-Two") == ["a", "b"]
    assert request.headers.get_all("content-type") == ["text/plain"]
    assert request.headers["user-agent"].startswith("redial/")

    identity = service.submit(url=target.url, json={"b": 1, "a": [1.0, None]})
    request = target.next()
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert request.body == b'{"b": 1, "a": [1.0, null]}'
    assert request.headers["idempotency-key"] == identity and "redial-call-id" not in request.headers
    assert request.headers["redial-attempt"] == "1"

    every = bytes(range(256))
    identity = service.submit(url=target.url, method="PUT", bodyBase64=base64.b64encode(every).decode(),
                              headers={"Idempotency-Key": "mine"})
    request = target.next()
    assert request.body == every and request.headers.get_all("idempotency-key") == ["mine"]
    assert request.headers.get_all("redial-call-id") == [identity]
    service.submit(url=target.url, method="DELETE")
    assert target.next().method == "DELETE"


def test_an_attempt_is_named_by_redial_alone(redial, receiver):
    service, target = redial(), receiver()
    for name in ("Redial-Call-Id", "redial-attempt", "REDIAL-ATTEMPT"):
        for value in ("forged", ["forged", "7"]):
            answer = service("POST", "/v1/calls", {"url": target.url, "headers": {name: value}})
            assert answer.status == 422 and answer.json["errors"][0]["pointer"] == f"/headers/{name}"
    identity = service.submit(url=target.url, headers={"Redial-Policy": "of the next Redial"})
    request = target.next()
    assert request.headers.get_all("idempotency-key") == [identity]
    assert request.headers.get_all("redial-attempt") == ["1"]
    assert len(target.requests) == 1


def test_attempts_are_recorded_with_what_was_seen_and_decided(redial, receiver):
    answers = [(503, {"x-why": "full"}, b"no room"), (200, {"content-type": "text/plain"}, b"x" * 100)]
    target = receiver(lambda request: answers[int(request.headers["redial-attempt"]) - 1])
    service = redial()
    identity = service.submit(url=target.url, policy=QUICK, capture={"maxBytes": 10})
    call = service.ended(identity)
    first, second = call["attempts"]
    assert (first["number"], first["outcome"], first["status"]) == (1, "answered", 503)
    assert first["decision"]["action"] == "retry" and "503" in first["decision"]["because"]
    assert first["startedAt"] <= second["startedAt"] and re.fullmatch(r"[\d.]+(ms|s)", first["duration"])
    assert second["decision"]["action"] == "succeed"
    assert call["response"]["status"] == 200
    assert call["response"]["body"] == "x" * 10 and call["response"]["truncated"] is True
    assert call["response"]["headers"]["content-type"] == ["text/plain"]
    attempts = service("GET", f"/v1/calls/{identity}/attempts?include=body").json["data"]
    assert attempts[0]["response"]["body"] == "no room"
    assert attempts[0]["response"]["headers"]["x-why"] == ["full"]
    assert [target.next().headers["redial-attempt"] for _ in range(2)] == ["1", "2"]


def test_a_status_that_is_not_retryable_ends_the_call_at_once(redial, receiver):
    target = receiver(lambda request: (int(request.path[1:]), {"location": "/200"}, b""))
    service = redial()
    for status, idempotent in ((404, True), (302, True), (410, True), (501, True), (500, False), (503, False)):
        call = service.ended(service.submit(url=f"{target.url}/{status}", idempotent=idempotent, policy=QUICK))
        assert (call["state"], call["failureReason"], call["attemptCount"]) == ("failed", "notRetryable", 1), call
    assert len(target.requests) == 6
    # A request that may be repeated is retried on more statuses, whatever its method.
    call = service.ended(service.submit(
        url=target.url + "/500", method="POST", policy=QUICK | {"maxAttempts": 2}))
    assert (call["failureReason"], call["attemptCount"]) == ("attemptsExhausted", 2)


def test_attempts_and_deadline_end_a_call_whichever_comes_first(redial, receiver):
    target = receiver(lambda request: (503, {}, b""))
    service = redial(*NO_BREAKER, clock=True)
    call = service.ended(service.submit(url=target.url, policy=QUICK | {"deadline": "1h", "maxAttempts": 3}))
    assert (call["failureReason"], call["attemptCount"]) == ("attemptsExhausted", 3)
    more = {"backoff": {"initial": "20ms", "max": "10m"}, "deadline": "1h", "maxAttempts": 1000}
    identity = service.submit(url=target.url, policy=more)
    wait_until(lambda: service.get(identity)["attemptCount"] > 3, "it is attempted again and again")
    service.advance(3600)
    assert service.ended(identity)["failureReason"] == "deadlineExceeded"


def test_an_attempt_that_takes_too_long_is_cut_off_and_may_have_been_sent(redial, flaky):
    service, target = redial(), flaky()
    # There is a connection already, so that the request is sent in time on any machine.
    service.ended(service.submit(url=target.url))
    call = service.ended(service.submit(
        url=target.url + "/?delay=10m", policy={"maxAttempts": 1, "attemptTimeout": "500ms"}))
    assert call["attempts"][0]["outcome"] == "maybeSent"
    assert call["attempts"][0]["error"]["code"] == "timeout"
    call = service.ended(service.submit(
        url=target.url + "/?reset-rate=1", method="POST", idempotent=False, policy=QUICK))
    assert (call["attempts"][0]["outcome"], call["attemptCount"]) == ("maybeSent", 1)


def test_retry_after_is_waited_for_in_seconds_and_as_a_date(redial, receiver):
    def answer(request):
        if request.headers["redial-attempt"] != "1":
            return (200, {}, b"")
        wait = "1000" if request.path == "/seconds" else email.utils.formatdate(time.time() + 1000, usegmt=True)
        return (429, {"retry-after": wait}, b"")

    target = receiver(answer)
    service = redial(clock=True)
    # Each has its own target, because an answer pauses the other calls of its target.
    ids = {name: service.submit(url=f"{target.url}/{name}", target=name, policy=QUICK) for name in ("seconds", "date")}
    for name, identity in ids.items():
        call = wait_until(lambda: (c := service.get(identity))["attempts"] and c, f"the first attempt by {name} has ended")
        assert call["waitingOn"] == "retryAfter"
    service.advance(900)
    # Whatever is due begins before the end of a call that is submitted now.
    target.answer = lambda request: (200, {}, b"")
    assert service.ended(service.submit(url=target.url, target="now"))["state"] == "succeeded"
    assert [service.get(identity)["attemptCount"] for identity in ids.values()] == [1, 1]
    service.advance(100)
    for identity in ids.values():
        assert service.ended(identity)["attemptCount"] == 2
    # Beyond its maximum the call ends; it does not run too early.
    target.answer = lambda request: (503, {"retry-after": "7200"}, b"")
    call = service.ended(service.submit(url=target.url))
    assert call["state"] == "failed" and call["attemptCount"] == 1
    # And it can be ignored. The target's own calls are paused now, so this one has another target.
    call = service.ended(service.submit(
        url=target.url, target="other", policy=QUICK | {"maxAttempts": 2, "retryAfter": {"mode": "ignore"}}))
    assert call["failureReason"] == "attemptsExhausted"


def test_delay_and_start_time_hold_a_call_back(redial, receiver):
    service, target = redial(clock=True), receiver()
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2 * 3600))
    at = service.submit(url=target.url + "/at", startAt=start)
    delayed = service.submit(url=target.url + "/delay", delay="1h")
    call = service.get(delayed)
    assert (call["state"], call["waitingOn"], call["attemptCount"]) == ("scheduled", "startTime", 0)
    assert call["nextAttemptAt"] > call["createdAt"]

    def have_run(*paths):
        # Whatever is due begins before the end of a call that is submitted now.
        assert service.ended(service.submit(url=target.url + "/now"))["state"] == "succeeded"
        assert {request.path for request in target.requests} - {"/now"} == set(paths)

    service.advance(3500)
    have_run()
    service.advance(100)
    assert service.ended(delayed)["state"] == "succeeded"
    service.advance(3500)
    have_run("/delay")
    service.advance(100)
    assert service.ended(at)["state"] == "succeeded"


def test_connections_to_a_target_are_kept(redial, receiver):
    service, target = redial(), receiver()
    for _ in range(20):
        service.ended(service.submit(url=target.url))
    assert len({r.connection for r in target.requests}) == 1


def test_one_slow_target_does_not_delay_another(redial, flaky, receiver):
    slow, quick = flaky(), receiver()
    service = redial(*target_defaults(maxInFlight=4), "--max-in-flight", "16")
    # These end long after the test; a call that waits for one of them does so, too.
    for _ in range(100):
        service.submit(url=slow.url + "/?delay=10m", policy={"attemptTimeout": "10m"})
    for _ in range(20):
        assert service.ended(service.submit(url=quick.url))["state"] == "succeeded"
    # It has not answered yet, so it may have fewer than its limit of four.
    assert 1 <= service.target(slow.url)["inFlight"] <= 4

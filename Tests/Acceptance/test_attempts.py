"""What targets receive, and how their answers affect calls."""

import base64
import email.utils
import time

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
    assert first["startedAt"] <= second["startedAt"] and first["duration"].endswith("ms")
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
    service = redial("--breaker-consecutive-failures", "0", "--breaker-failure-rate", "0")
    call = service.ended(service.submit(url=target.url, policy=QUICK | {"maxAttempts": 3}))
    assert (call["failureReason"], call["attemptCount"]) == ("attemptsExhausted", 3)
    began = time.monotonic()
    call = service.ended(service.submit(url=target.url, policy=QUICK | {"deadline": "400ms", "maxAttempts": 1000}))
    assert call["failureReason"] == "deadlineExceeded" and call["attemptCount"] > 3
    assert time.monotonic() - began < 3


def test_an_attempt_that_takes_too_long_is_cut_off_and_may_have_been_sent(redial, flaky):
    service, target = redial(), flaky()
    call = service.ended(service.submit(
        url=target.url + "/?delay=5s", policy={"maxAttempts": 1, "attemptTimeout": "100ms"}))
    assert call["attempts"][0]["outcome"] == "maybeSent"
    assert call["attempts"][0]["error"]["code"] == "timeout"
    call = service.ended(service.submit(
        url=target.url + "/?reset-rate=1", method="POST", idempotent=False, policy=QUICK))
    assert (call["attempts"][0]["outcome"], call["attemptCount"]) == ("maybeSent", 1)


def test_retry_after_is_waited_for_in_seconds_and_as_a_date(redial, receiver):
    def answer(request):
        if request.headers["redial-attempt"] != "1":
            return (200, {}, b"")
        wait = "1" if request.path == "/seconds" else email.utils.formatdate(time.time() + 2, usegmt=True)
        return (429, {"retry-after": wait}, b"")

    target = receiver(answer)
    service = redial()
    ids = {path: service.submit(url=target.url + path, policy=QUICK) for path in ("/seconds", "/date")}
    call = service.get(ids["/seconds"])
    for path, identity in ids.items():
        assert service.ended(identity)["attemptCount"] == 2
        first, second = [r for r in target.requests if r.path == path]
        assert 0.95 <= second.at - first.at <= 4, path
    # Beyond its maximum the call ends; it does not run too early.
    target.answer = lambda request: (503, {"retry-after": "7200"}, b"")
    call = service.ended(service.submit(url=target.url))
    assert call["state"] == "failed" and call["attemptCount"] == 1
    # And it can be ignored. The target's own calls are paused now, so this one has another target.
    call = service.ended(service.submit(
        url=target.url, target="other", policy=QUICK | {"maxAttempts": 2, "retryAfter": {"mode": "ignore"}}))
    assert call["failureReason"] == "attemptsExhausted"


def test_delay_and_start_time_hold_a_call_back(redial, receiver):
    service, target = redial(), receiver()
    began = time.time()
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began + 2))
    at = service.submit(url=target.url + "/at", startAt=start)
    delayed = service.submit(url=target.url + "/delay", delay="700ms")
    call = service.get(delayed)
    assert (call["state"], call["waitingOn"], call["attemptCount"]) == ("scheduled", "startTime", 0)
    assert call["nextAttemptAt"] > call["createdAt"]
    assert service.ended(delayed)["state"] == service.ended(at)["state"] == "succeeded"
    arrived = {r.path: r.at for r in target.requests}
    assert 0.7 <= arrived["/delay"] - began < 2
    assert arrived["/at"] >= int(began + 2)


def test_connections_to_a_target_are_kept(redial, receiver):
    service, target = redial(), receiver()
    for _ in range(20):
        service.ended(service.submit(url=target.url))
    assert len({r.connection for r in target.requests}) == 1


def test_one_slow_target_does_not_delay_another(redial, flaky, receiver):
    slow, quick = flaky(), receiver()
    service = redial("--max-in-flight-per-target", "4", "--max-in-flight", "16")
    for _ in range(100):
        service.submit(url=slow.url + "/?delay=10s")
    began = time.monotonic()
    for _ in range(20):
        assert service.ended(service.submit(url=quick.url))["state"] == "succeeded"
    assert time.monotonic() - began < 5
    # It has not answered yet, so it may have fewer than its limit of four.
    assert 1 <= service.target(slow.url)["inFlight"] <= 4

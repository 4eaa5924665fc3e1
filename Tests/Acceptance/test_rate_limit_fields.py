"""What targets say about their quotas, by RateLimit fields with every answer."""

import threading
import time

import pytest

from processes import Constants, wait_until
from test_targets import put

# In seconds of the test's clock; and in requests.
WINDOW, QUOTA = 600, 5
POLICY = {"maxAttempts": 100, "deadline": "10h", "backoff": {"initial": "1s", "max": "1s", "jitter": "none"}}


class Window:
    """Takes so many requests in each window, which begins with its first request, and says what remains of it."""

    def __init__(self, clock, style):
        self.clock, self.style = clock, style
        self.lock = threading.Lock()
        self.windows, self.taken, self.refused, self.end = 0, 0, 0, 0

    def __call__(self, request):
        with self.lock:
            now = time.monotonic() + self.clock.seconds
            if now >= self.end:
                self.windows, self.taken, self.end = self.windows + 1, 0, now + WINDOW
            status = 200 if self.taken < QUOTA else 429
            self.refused += status == 429
            self.taken += status == 200
            left, reset = QUOTA - self.taken, int(self.end - now) + 1
            return status, self.fields(left, reset), b""

    def fields(self, left, reset):
        if self.style == "RateLimit":
            return {"ratelimit": f'"default";r={left};t={reset};pk=:QXBw:'}
        return {"x-ratelimit-limit": str(QUOTA), "x-ratelimit-remaining": str(left), "x-ratelimit-reset": str(reset)}


@pytest.mark.parametrize("style", ["RateLimit", "X-RateLimit"])
def test_calls_wait_for_the_next_window_once_the_target_has_shown_that_it_refuses_what_is_beyond_one(redial, receiver, style):
    service = redial(Constants(maxRetryAfterPause="1h"), clock=True)
    target = receiver()
    target.answer = window = Window(service.clock, style)
    put(service, target.url, {"maxInFlight": 1})
    calls = 4 * QUOTA
    batch = service("POST", "/v1/calls/batch", [{"url": target.url, "policy": POLICY}] * calls)
    assert {item["status"] for item in batch.json["data"]} == {202}, batch.body[:1000]
    for number in range(1, 5):
        # Each window is used up before anybody waits, and the last leaves nothing to wait for.
        wait_until(lambda: window.windows == number and window.taken == QUOTA, f"window {number} is used up")
        if number < 4:
            wait_until(lambda: service.target(target.url)["heldUntil"], "the target is held")
            # Only the first quota was tested; then its fields are believed.
            assert window.refused == 1, number
            waiting = service("GET", "/v1/calls?state=scheduled&limit=1").json["data"]
            assert waiting[0]["waitingOn"] == "retryAfter", waiting
            service.advance(WINDOW + 1)
    wait_until(lambda: service.metrics()['redial_calls_finished_total{state="succeeded",reason=""}'] == calls, "every call succeeds")
    assert window.refused == 1 and window.windows == 4


def test_a_quota_that_is_not_enforced_holds_nobody(redial, receiver):
    service = redial(clock=True)
    target = receiver(lambda request: (200, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "3000"}, b""))
    for number in range(10):
        assert service.ended(service.submit(url=f"{target.url}/{number}"))["state"] == "succeeded"
        assert service.target(target.url)["heldUntil"] is None
    assert len(target.requests) == 10


def test_a_refusal_of_one_token_or_path_holds_no_other_that_the_target_takes(redial, receiver):
    refused = {("bad", "/"), ("good", "/bad")}

    def answer(request):
        source = request.headers.get("authorization", "").removeprefix("Bearer "), request.path
        return (429, {"retry-after": "3000"}, b"") if source in refused else (200, {}, b"")

    service = redial(Constants(maxRetryAfterPause="1h"), clock=True)
    target = receiver(answer)

    def submit(token, path):
        return service.submit(url=target.url + path, headers={"Authorization": f"Bearer {token}"}, policy=POLICY)

    for token, path in sorted(refused):
        call = submit(token, path)
        wait_until(lambda: service.get(call)["waitingOn"] == "retryAfter" and service.target(target.url)["heldUntil"], "the pause")
        for _ in range(3):
            for other in [("good", "/"), ("other", "/"), ("good", "/good")]:
                assert service.ended(submit(*other))["state"] == "succeeded"
        assert service.get(call)["waitingOn"] == "retryAfter"
    assert len(target.requests) == 2 + 2 * 9


def test_a_target_that_refuses_two_callers_is_left_alone_by_all(redial, receiver):
    service = redial(Constants(maxRetryAfterPause="1h"), clock=True)
    target = receiver(lambda request: (503, {"retry-after": "3000"}, b""))
    # Numbers would be ids of one path.
    for path in "ab":
        call = service.submit(url=f"{target.url}/{path}", policy=POLICY)
        wait_until(lambda: service.get(call)["attempts"], f"/{path} is refused")
    others = [service.submit(url=f"{target.url}/{path}", policy=POLICY) for path in "cdefghij"]
    assert {service.get(call)["waitingOn"] for call in others} == {"retryAfter"}
    target.answer = lambda request: (200, {}, b"")
    service.advance(3001)
    assert {service.ended(call)["state"] for call in others} == {"succeeded"}
    assert len(target.requests) >= 10

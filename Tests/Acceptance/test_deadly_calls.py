"""A call that ends the process whenever it runs: it is found, and the others go on. Each death is a kill -9 by the test, at
the moment at which the target has the request.
"""

import json
import threading
import time

from processes import NO_BREAKER, wait_until

QUICK = {"maxAttempts": 50, "backoff": {"initial": "20ms", "max": "100ms"}}


class Deadly:
    """A target that notes requests, and answers those for `/deadly` only after `released`."""

    def __init__(self, receiver):
        self.arrived, self.asked, self.released = [], threading.Condition(), threading.Event()
        self.server = receiver(self.answer)
        self.url = self.server.url

    def answer(self, request):
        if request.path.startswith("/deadly"):
            with self.asked:
                self.arrived.append(request.headers["redial-attempt"])
                self.asked.notify_all()
            self.released.wait(60)
        return 200, {}, b""

    def wait(self, count):
        with self.asked:
            assert self.asked.wait_for(lambda: len(self.arrived) >= count, 60), self.arrived


def errors(service):
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("level") == "error"]


def test_a_call_that_ends_the_process_whenever_it_arrives_is_not_made_a_third_time(redial, receiver):
    target, service = Deadly(receiver), redial(*NO_BREAKER, "--log-format", "json")
    identity = service.submit(url=f"{target.url}/deadly", policy=QUICK)
    for count in (1, 2):
        target.wait(count)
        service.kill()
        service.start()
    other = service.submit(url=f"{target.url}/other", policy=QUICK)
    call = service.ended(identity)
    assert (call["state"], call["failureReason"], call["attemptCount"]) == ("failed", "attemptEndedTheService", 2), call
    assert [attempt["outcome"] for attempt in call["attempts"]] == ["interrupted", "interrupted"]
    assert call["attempts"][-1]["error"]["code"] == "attemptEndedTheService"
    assert service.ended(other)["state"] == "succeeded"
    assert len(target.arrived) == 2
    found = [line for line in errors(service) if line.get("callId") == identity]
    assert [line["reason"] for line in found] == ["attemptEndedTheService"], found
    listed = service("GET", "/v1/calls?failureReason=attemptEndedTheService").json["data"]
    assert [entry["id"] for entry in listed] == [identity]


def test_a_webhook_that_ends_the_process_is_found_too(redial, receiver):
    target, service = Deadly(receiver), redial(*NO_BREAKER)
    identity = service.submit(url=f"{target.url}/good", callback={"url": f"{target.url}/deadly"})
    for count in (1, 2):
        target.wait(count)
        service.kill()
        service.start()
    assert service.ended(identity)["state"] == "succeeded"

    def webhooks():
        return service("GET", "/v1/calls?kind=webhook&failureReason=attemptEndedTheService").json["data"]
    wait_until(lambda: len(webhooks()) == 1, "the webhook has ended")
    assert len(target.arrived) == 2


def test_in_a_crowd_it_takes_three_deaths_and_no_other_call_fails(redial, receiver):
    target, service = Deadly(receiver), redial(*NO_BREAKER)
    held = threading.Event()
    crowd = receiver(lambda request: (200, {}, b"") if request.headers["redial-attempt"] != "1" or held.wait(60) else None)
    others = [service.submit(url=f"{crowd.url}/{number}", policy=QUICK) for number in range(20)]
    wait_until(lambda: len(crowd.requests) == 20, "all are in flight")
    identity = service.submit(url=f"{target.url}/deadly", policy=QUICK)
    deaths = 0
    while service.get(identity)["state"] not in ("failed", "succeeded") and deaths < 6:
        deaths += 1
        target.wait(deaths)
        service.kill()
        held.set()
        service.start()
        wait_until(lambda: service.get(identity)["state"] == "failed" or len(target.arrived) > deaths, "it goes on")
    assert deaths <= 3
    assert service.get(identity)["failureReason"] == "attemptEndedTheService"
    for other in others:
        assert service.ended(other)["state"] == "succeeded"


def test_calls_that_were_in_flight_go_one_at_a_time_and_others_beside_them(redial, receiver):
    held, over, lock = threading.Event(), threading.Event(), threading.Lock()
    count, in_flight, most = 6, set(), [0]

    def answer(request):
        if request.path.startswith("/old"):
            if request.headers["redial-attempt"] == "1":
                over.wait(60)
                return None
            with lock:
                in_flight.add(request.path)
                most[0] = max(most[0], len(in_flight))
            held.wait(60)
            with lock:
                in_flight.discard(request.path)
        return 200, {}, b""
    target, service = receiver(answer), redial(*NO_BREAKER)
    old = [service.submit(url=f"{target.url}/old{number}", policy=QUICK) for number in range(count)]
    wait_until(lambda: len(target.requests) == count, "all are in flight")
    service.kill()
    over.set()
    service.start()
    wait_until(lambda: in_flight, "the first is tried again")
    begun = time.monotonic()
    # It does not end before these have.
    new = [service.submit(url=f"{target.url}/new{number}", policy=QUICK) for number in range(20)]
    for identity in new:
        assert service.ended(identity)["state"] == "succeeded"
    held.set()
    for identity in old:
        assert service.ended(identity)["state"] == "succeeded"
    # On a slow machine the next one may have begun beside it, as each does after its share of a minute.
    assert most[0] <= 2 + (time.monotonic() - begun) // (60 / count), most

"""Forecasts on live traffic: when a target's backlog is drained, what if, and how right earlier forecasts were."""

import threading
import time
from datetime import datetime
from urllib.parse import quote

from processes import Constants, run, wait_until
from test_contract import check

PATH = "/v1/targets/{key}/forecast"
POLICY = {"maxAttempts": 1000, "deadline": "1h", "backoff": {"initial": "200ms", "max": "1s"}}


class Outage:
    """A target that answers 502 while it is down."""

    def __init__(self):
        self.is_down = threading.Event()

    def __call__(self, request):
        return (502, {}, b"") if self.is_down.is_set() else (200, {}, b"ok")


def seconds(duration):
    """A duration of the API, in seconds."""
    for unit, length in (("ms", 0.001), ("us", 1e-6), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400)):
        number = duration.removesuffix(unit)
        if number != duration and number.replace(".", "").isdigit():
            return float(number) * length
    raise AssertionError(duration)


def forecast(service, target, **question):
    query = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in question.items())
    answer = service("GET", PATH.replace("{key}", quote(target.url, safe="")) + (f"?{query}" if query else ""))
    assert check(answer, "get", PATH) and answer.status == 200, answer.body
    return answer.json


def test_the_return_of_a_rate_limited_target_is_forecast_and_compared_with_what_happens(redial, receiver):
    # So slow a target leaves the machine much time for each call: what it takes is hardly added to the time of the service.
    # A forecast of many attempts takes a debug build on a busy machine a minute.
    service, outage, calls, interval = redial(Constants(maxSimulationAttempts=1000), clock=True), Outage(), 60, 10
    target = receiver(outage)
    path = "/v1/targets/" + quote(target.url, safe="")
    service("PUT", path, {
        "rate": {"perSecond": 1 / interval, "burst": 1}, "breaker": {"openInterval": "2s", "maxOpenInterval": "2s"}})
    service.ended(service.submit(url=target.url))
    waiting = lambda: service("GET", path).json["waiting"]

    def breaks_down():
        """The target is down until all calls of a backlog are due."""
        outage.is_down.set()
        batch = service("POST", "/v1/calls/batch", [{"url": target.url, "policy": POLICY}] * calls)
        assert {item["status"] for item in batch.json["data"]} == {202}

        def is_open():
            service.advance(interval)
            return service("GET", path).json["breaker"]["state"] != "closed"
        wait_until(is_open, "the breaker opens")
        # Longer than any backoff.
        service.advance(2)
        wait_until(lambda: waiting() >= calls - 1, "all of them are due")

    def returns():
        outage.is_down.clear()

        def is_closed():
            service.advance(interval)
            return service("GET", path).json["breaker"]["state"] == "closed"
        wait_until(is_closed, "the breaker closes")

    def drained():
        """How long the backlog takes, by the service's time."""
        began = time.monotonic() + service.clock.seconds
        while (left := waiting()) > 1:
            service.advance(interval)
            wait_until(lambda: waiting() < left, f"fewer than {left} calls wait")
            # It looks at targets once a second, and must see this backlog.
            time.sleep(0.05)
        return time.monotonic() + service.clock.seconds - began

    breaks_down()
    # If it returned in a minute: nothing before, and all calls at its rate after that. No more new calls come.
    later = forecast(service, target, returnsAt="1m", arrivals=0)
    assert 60 + 570 <= seconds(later["drainsIn"]) <= 60 + 640, later
    assert later["assumptions"]["returnsAt"] and later["peakBacklog"] >= calls - 1
    # Arithmetic: twice the rate takes half of the time, of which the breaker has up to 2 seconds.
    times = {rate: seconds(forecast(service, target, rate=rate, arrivals=0)["drainsIn"]) for rate in (0.05, 0.2)}
    assert 1140 <= times[0.05] <= 1280 and 285 <= times[0.2] <= 320, times
    given = forecast(service, target, rate=10, arrivals=0, concurrency=3, capacity=7)["assumptions"]
    assert all(given[name]["from"] == "given"
               for name in ("ratePerSecond", "arrivalsPerSecond", "concurrency", "capacityPerSecond"))
    # More new calls than it takes.
    never = forecast(service, target, rate=20, arrivals=50)
    assert (never["drainedAt"], never["obstacle"]) == (None, "arrivals")

    text = run("targets", target.url, "forecast", "--rate", "40", "--arrivals", "0", "--url", service.url).stdout
    assert "drained at" in text and "rate limit per second" in text and "given" in text and "now" in text
    text = run("targets", target.url, "forecast", "--returns-at", "in 10m", "--arrivals", "0", "--url", service.url).stdout
    assert "the target returns at" in text
    json = run("targets", target.url, "forecast", "--json", "--returns-at", "23:59", "--arrivals", "0", "--url",
               service.url).stdout
    assert '"returnsAt":"' in json.replace(" ", "")

    returns()
    told = forecast(service, target, arrivals=0)
    assert told["backlog"]["due"] > calls / 3
    assert told["assumptions"]["ratePerSecond"] == {"value": 1 / interval, "from": "settings"}
    moment = datetime.fromisoformat(told["drainedAt"])
    assert moment > datetime.fromisoformat(told["at"]) and 1 <= len(told["points"]) <= 60
    took = drained()
    assert took / 2 <= seconds(told["drainsIn"]) <= took * 1.5, (told, took)

    # The service has made one by itself, if it has looked while calls waited, and tells how right it was when it looks again.
    def accuracy():
        found = forecast(service, target)["accuracy"]
        return found["count"] and found
    while True:
        try:
            found = wait_until(accuracy, "the forecast is judged", 5)
            break
        except AssertionError:
            breaks_down()
            returns()
            drained()
    # How good forecasts are is shown in virtual time: here calls come at once, where it expects them to go on coming.
    assert found["count"] == len(found["last"]) and found["medianError"] >= 0
    for past in found["last"]:
        drains, took = seconds(past["drainsIn"]), seconds(past["took"])
        assert took > 5 and abs(past["error"] - (drains - took) / took) < 0.01 * max(1, drains / took), past
    metrics = service.metrics()
    assert metrics["redial_forecast_error_ratio_count"] >= 1
    text = run("targets", target.url, "forecast", "--url", service.url).stdout
    assert "forecasts were off by" in text


def test_a_target_without_a_backlog_and_one_that_an_operator_holds(redial, receiver):
    service, target = redial(), receiver(lambda request: (200, {}, b"ok"))
    path = "/v1/targets/" + quote(target.url, safe="")
    service.ended(service.submit(url=target.url))
    calm = forecast(service, target)
    assert calm["drainsIn"] == "0s" and calm["obstacle"] is None and calm["backlog"] == {
        "due": 0, "later": 0, "isComplete": True}
    service("POST", path + "/pause")
    service.submit(url=target.url)
    paused = forecast(service, target)
    assert (paused["drainsIn"], paused["obstacle"], paused["points"]) == (None, "paused", [])
    assert paused["assumptions"]["sample"] == {"calls": 1, "isComplete": True}
    # A larger backlog is sampled.
    for _ in range(2):
        service("POST", "/v1/calls/batch", [{"url": target.url}] * 400)
    sampled = forecast(service, target)
    assert sampled["backlog"]["due"] == 801
    assert 25 <= sampled["assumptions"]["sample"]["calls"] <= 525 and not sampled["assumptions"]["sample"]["isComplete"]
    service("POST", path + "/trip")
    service("POST", path + "/resume")
    assert forecast(service, target)["obstacle"] == "tripped"


def test_wrong_questions_are_refused(redial, receiver):
    service, target = redial(), receiver(lambda request: (200, {}, b"ok"))
    service.ended(service.submit(url=target.url))
    path = PATH.replace("{key}", quote(target.url, safe=""))
    for query in ("rate=0", "rate=x", "rate=nan", "concurrency=0", "concurrency=1.5", "arrivals=-1", "capacity=0",
                  "returnsAt=yesterday", "returnsAt=2020-01-01T00:00:00Z", "returnsAt=8d", "rates=5", "rate=1&rate=2"):
        answer = service("GET", f"{path}?{query}")
        assert answer.status == 400 and answer.json["code"] == "invalidParameter", (query, answer.body)
        check(answer, "get", PATH)
    nobody = service("GET", PATH.replace("{key}", "nobody"))
    assert nobody.status == 404
    check(nobody, "get", PATH)
    wrong = run("targets", target.url, "forecast", "--returns-at", "soon", "--url", service.url)
    assert wrong.returncode == 2 and "soon" in wrong.stderr
    wrong = run("targets", target.url, "--rate", "5", "--url", service.url)
    assert wrong.returncode == 2 and "forecast" in wrong.stderr

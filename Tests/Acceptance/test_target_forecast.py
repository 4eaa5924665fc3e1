"""Forecasts on live traffic: when a target's backlog is drained, what if, and how right earlier forecasts were."""

import threading
import time
from datetime import datetime
from urllib.parse import quote

from processes import run, wait_until
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
    service, outage = redial(), Outage()
    target = receiver(outage)
    path = "/v1/targets/" + quote(target.url, safe="")
    service("PUT", path, {"rate": {"perSecond": 20, "burst": 1}, "breaker": {"openInterval": "2s", "maxOpenInterval": "2s"}})
    service.ended(service.submit(url=target.url))
    outage.is_down.set()
    batch = service("POST", "/v1/calls/batch", [{"url": target.url, "policy": POLICY}] * 300)
    assert {item["status"] for item in batch.json["data"]} == {202}
    wait_until(lambda: service("GET", path).json["breaker"]["state"] != "closed", "the breaker opens")
    # The calls in backoff are due again.
    wait_until(lambda: service("GET", path).json["waiting"] >= 290, "all of them are due")

    # If it returned in a minute: nothing before, and 300 calls at 20 a second after that. No more new calls come.
    later = forecast(service, target, returnsAt="1m", arrivals=0)
    assert 60 + 14 <= seconds(later["drainsIn"]) <= 60 + 25, later
    assert later["assumptions"]["returnsAt"] and later["peakBacklog"] >= 290
    # Arithmetic: twice the rate takes half of the time, of which the breaker has up to 2 seconds.
    times = {rate: seconds(forecast(service, target, rate=rate, arrivals=0)["drainsIn"]) for rate in (10, 40)}
    assert 28 <= times[10] <= 34 and 6 <= times[40] <= 12, times
    given = forecast(service, target, rate=10, arrivals=0, concurrency=3, capacity=7)["assumptions"]
    assert all(given[name]["from"] == "given"
               for name in ("ratePerSecond", "arrivalsPerSecond", "concurrency", "capacityPerSecond"))
    # More new calls than it takes.
    never = forecast(service, target, arrivals=50)
    assert (never["drainedAt"], never["obstacle"]) == (None, "arrivals")

    text = run("targets", target.url, "forecast", "--rate", "40", "--arrivals", "0", "--url", service.url).stdout
    assert "drained at" in text and "rate limit per second" in text and "given" in text and "now" in text
    text = run("targets", target.url, "forecast", "--returns-at", "in 10m", "--arrivals", "0", "--url", service.url).stdout
    assert "the target returns at" in text
    json = run("targets", target.url, "forecast", "--json", "--returns-at", "23:59", "--arrivals", "0", "--url",
               service.url).stdout
    assert '"returnsAt":"' in json.replace(" ", "")

    # It returns.
    outage.is_down.clear()
    wait_until(lambda: service("GET", path).json["breaker"]["state"] == "closed", "the breaker closes")
    start = time.monotonic()
    told = forecast(service, target, arrivals=0)
    assert told["backlog"]["due"] > 100 and told["assumptions"]["ratePerSecond"] == {"value": 20.0, "from": "settings"}
    moment = datetime.fromisoformat(told["drainedAt"])
    assert moment > datetime.fromisoformat(told["at"]) and 1 <= len(told["points"]) <= 60
    wait_until(lambda: service("GET", path).json["waiting"] <= 1, "the backlog is drained", 120)
    took = time.monotonic() - start
    assert took / 2 <= seconds(told["drainsIn"]) <= took * 1.5, (told, took)

    # The service has made one by itself, and tells how right it was.
    accuracy = wait_until(
        lambda: (found := forecast(service, target)["accuracy"])["count"] and found, "the forecast is judged", 60)
    assert accuracy["medianError"] < 3 and seconds(accuracy["last"][0]["took"]) > 5
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

"""The circuit breaker, over real sockets."""

import json
import time

from processes import HASTY, breaker, run, wait_until

# One failure is enough.
FLAGS = breaker(**HASTY, openInterval="1000s", maxOpenInterval="1d")
SLOW = {"backoff": {"initial": "50ms", "max": "50ms", "jitter": "none"}}


def test_an_open_breaker_keeps_calls_from_a_target_that_is_down_and_delivers_them_afterwards(redial, receiver):
    target, other = receiver(lambda request: (500, {}, b"down")), receiver()
    service = redial(*FLAGS, clock=True)

    def no_more_than(count):
        """Runs a call of another target, so that what may run has begun before."""
        service.ended(service.submit(url=other.url))
        assert len(target.requests) == count
        assert service.target(target.url)["breaker"]["state"] == "open"

    def trips(count):
        return wait_until(
            lambda: (t := service.target(target.url)) and t["breaker"]["trips"] == count and t,
            f"the breaker opens, {count} times in all")

    first = service.submit(url=target.url + "/parked/100", policy=SLOW)
    state = trips(1)
    assert state["breaker"]["state"] == "open" and state["breaker"]["openUntil"]
    no_more_than(1)

    # Parked: no attempt is made or counted, and the call shows its wait reason.
    parked = [service.submit(url=f"{target.url}/parked/{n}", policy=SLOW) for n in range(20)]
    waiting = service.get(parked[0])
    assert (waiting["state"], waiting["waitingOn"], waiting["attemptCount"]) == ("scheduled", "breaker", 0)
    assert waiting["nextAttemptAt"]
    wait_until(lambda: service.get(first)["waitingOn"] == "breaker", "the first waits for the breaker")
    service.advance(900)
    no_more_than(1)

    # The one probe fails, and the interval grows by a tenth.
    service.advance(100)
    wait_until(lambda: len(target.requests) == 2, "a probe goes out")
    assert trips(2)["breaker"]["state"] == "open"
    target.answer = lambda request: (200, {}, b"up")
    service.advance(1010)
    no_more_than(2)

    # The next probe succeeds, and all parked calls are delivered at their first attempt.
    service.advance(90)
    wait_until(lambda: len(target.requests) > 2, "a second probe goes out")
    for identity in parked:
        call = service.ended(identity)
        assert call["state"] == "succeeded"
        assert call["attemptCount"] <= 2
    assert sum(service.get(identity)["attemptCount"] for identity in parked) <= 21
    assert service.ended(first)["state"] == "succeeded"
    assert service.target(target.url)["breaker"]["state"] == "closed"
    log = service.log.read_text()
    assert log.count("breakerOpened") == 2 and log.count("breakerClosed") == 1


def test_a_target_that_is_gone_opens_its_breaker_and_no_other(redial, receiver, flaky):
    other = flaky()
    gone = receiver()
    url = gone.url
    gone.end()
    service = redial(*FLAGS)
    identity = service.submit(url=url, policy=SLOW)
    wait_until(lambda: (t := service.target(url)) and t["breaker"]["state"] == "open", "the breaker opens")
    assert service.ended(service.submit(url=other.url))["attemptCount"] == 1
    assert service.target(other.url)["breaker"]["state"] == "closed"
    attempts = service.get(identity)["attempts"]
    assert {a["outcome"] for a in attempts} == {"notSent"}
    assert {a["error"]["code"] for a in attempts} == {"connectionRefused"}


def test_an_open_breaker_outlives_its_process(redial, receiver):
    target = receiver(lambda request: (500, {}, b""))
    service = redial(*breaker(**HASTY, openInterval="1m"))
    first = service.submit(url=target.url, policy=SLOW)
    # The breaker is on disk with the attempt that has opened it.
    wait_until(lambda: service.get(first)["attempts"], "the attempt is on disk")
    assert service.target(target.url)["breaker"]["state"] == "open"
    service.kill()
    service.start()
    identity = service.submit(url=target.url, policy=SLOW)
    assert service.get(identity)["waitingOn"] == "breaker"
    assert service.target(target.url)["breaker"]["state"] == "open"
    assert len(target.requests) == 1


def test_a_failure_rate_opens_the_breaker(redial, receiver):
    target = receiver(lambda request: (500 if int(request.path[1:]) % 2 else 200, {}, b""))
    service = redial(*breaker(consecutiveFailures=0, failureRate=0.5, minCalls=10, openInterval="1m"))
    for number in range(10):
        assert service.target(target.url) is None or service.target(target.url)["breaker"]["state"] == "closed"
        identity = service.submit(url=f"{target.url}/{number}", policy={"maxAttempts": 1})
        service.ended(identity)
    wait_until(lambda: service.target(target.url)["breaker"]["state"] == "open", "the breaker opens")
    assert len(target.requests) == 10


def test_one_call_that_always_fails_holds_nothing_back(redial, flaky):
    service, target = redial(), flaky()
    quick = {"backoff": {"initial": "10ms", "max": "10ms"}}
    bad = service.submit(url=target.url + "/?fail=100", policy=quick)
    assert service.ended(bad)["attemptCount"] == 101
    view = service.target(target.url)
    assert (view["breaker"]["state"], view["breaker"]["consecutiveFailures"], view["pace"]["rate"]) == ("closed", 0, None)
    assert "breakerOpened" not in service.log.read_text()


def test_calls_of_which_none_gets_through_open_the_breaker_after_some_seconds(redial, receiver):
    target, began = receiver(lambda request: (500, {}, b"")), time.monotonic()
    service = redial(*breaker(openInterval="1h", maxOpenInterval="1h"))

    def is_open():
        service.submit(url=target.url, policy={"maxAttempts": 1})
        return service.target(target.url)["breaker"]["state"] == "open"

    wait_until(is_open, "the breaker opens")
    assert time.monotonic() - began >= 2 and len(target.requests) >= 10


def test_an_outage_is_reported_once_whatever_its_breaker_does(redial, receiver):
    answers = [500]
    target, hook = receiver(lambda request: (answers[0], {}, b"")), receiver()
    service = redial(*breaker(**HASTY, openInterval="100ms", maxOpenInterval="100ms"), clock=True)
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": hook.url, "events": ["target.down", "target.recovered"]})
    assert endpoint.status == 201
    calls = [service.submit(url=f"{target.url}/{number}", policy=SLOW) for number in range(5)]
    wait_until(lambda: service.log.read_text().count("breakerOpened") > 3, "the breaker opens again and again")
    shown = service.target(target.url)
    assert shown["state"] == "down" and shown["outage"]["cause"] == "status 500" and shown["outage"]["closedAt"] is None
    assert f'redial_target_down{{target="{target.url}"}} 1' in service("GET", "/metrics").body.decode()
    listed = run("targets", "--server", service.url).stdout
    assert f"down since {shown['outage']['since']}: status 500" in listed and " wait for " in listed, listed
    # A delivery that the kill cut off would be made again.
    wait_until(lambda: service("GET", "/v1/calls?kind=webhook&state=succeeded").json["data"], "the outage is reported")
    # Neither does a restart make two of it.
    service.kill()
    service.start()
    assert service.target(target.url)["outage"]["since"] == shown["outage"]["since"]
    answers[0] = 200
    for identity in calls:
        service.ended(identity)
    wait_until(lambda: service.target(target.url)["state"] == "degraded", "its breaker closes")
    service.advance(30)
    wait_until(lambda: len(hook.requests) == 2, "both are reported")
    down, recovered = [json.loads(hook.next().body) for _ in range(2)]
    assert (down["type"], recovered["type"]) == ("target.down", "target.recovered")
    assert down["data"]["outage"]["since"] == recovered["data"]["outage"]["since"] == shown["outage"]["since"]
    assert recovered["data"]["outage"]["callsWaited"] >= 1 and recovered["data"]["outage"]["duration"]
    shown = service.target(target.url)
    assert shown["outage"] is None
    assert shown["pastOutages"] == [recovered["data"]["outage"]]
    log = service.log.read_text()
    assert log.count(" targetDown ") == 1 and log.count(" targetRecovered ") == 1
    assert len(hook.requests) == 2
    # It is kept when it is over, and shown after a restart.
    service.kill()
    service.start()
    assert service.target(target.url)["pastOutages"] == shown["pastOutages"]
    lines = run("targets", target.url, "--server", service.url).stdout.splitlines()
    assert [line for line in lines if line.startswith("was down for ")][0].endswith(f" from {shown['pastOutages'][0]['since']}: status 500, {shown['pastOutages'][0]['callsWaited']} calls waited".replace(" 1 calls", " 1 call"))

"""The adaptive pace, after an outage of a target that refuses what is beyond its capacity, and without one."""

import itertools
import re
import threading
import time
from urllib.parse import quote

from processes import BOUND, HASTY, breaker, run, target_defaults, wait_until

# Calls per second; any machine that runs the tests can do more.
CAPACITY, CALLS = 10, 150
POLICY = {"maxAttempts": 1000, "deadline": "10h", "backoff": {"initial": "100ms", "max": "1s"}}


class Bucket:
    """A capacity in requests per second of a service's time, with a burst of one second; answers 429 beyond it."""

    def __init__(self, capacity, clock):
        self.capacity, self.tokens, self.clock = capacity, capacity, clock
        self.at = self.now()
        self.lock = threading.Lock()
        self.refused = 0

    def now(self):
        return time.monotonic() + self.clock.seconds

    def __call__(self, request):
        with self.lock:
            now = self.now()
            self.tokens = min(self.capacity, self.tokens + (now - self.at) * self.capacity)
            self.at = now
            if self.tokens < 1:
                self.refused += 1
                return 429, {}, b""
            self.tokens -= 1
            return 200, {}, b"ok"


def target_path(target):
    return "/v1/targets/" + quote(target.url, safe="")


def test_after_an_outage_a_target_gets_what_it_can_take(redial, receiver):
    service = redial(*breaker(**HASTY), clock=True)
    target = receiver(lambda request: (500, {}, b""))
    service.submit(url=target.url, policy=POLICY)
    wait_until(lambda: service.target(target.url)["breaker"]["state"] != "closed", "the breaker opens")
    # Less than where a pace begins that knows nothing of its target: some requests are refused, however busy the machine is.
    capacity, calls = 3, 60
    bucket = Bucket(capacity, service.clock)
    target.answer = bucket
    batch = service("POST", "/v1/calls/batch", [{"url": target.url, "policy": POLICY}] * calls)
    assert {item["status"] for item in batch.json["data"]} == {202}, batch.body[:1000]
    reasons, rates, texts = set(), [], []

    def done():
        # Each look takes some time, in which the service works; this shortens the waits between.
        service.advance(0.05)
        answer = service("GET", target_path(target))
        assert answer.status == 200, answer.body
        view = answer.json
        pace = view["pace"]
        assert pace["mode"] == "adaptive"
        reasons.update(view["backlog"]["byReason"])
        if pace["rate"] is not None:
            if not rates:
                texts.extend([run("targets", target.url, "--url", service.url).stdout, service.metrics()])
            rates.append(pace["rate"])
            assert pace["reason"] != "noOverload" and pace["changedAt"] and pace["deliveredPerSecond"] >= 0
        waiting = service("GET", "/v1/calls?state=scheduled&limit=1").json["data"]
        reasons.update(f"call:{call['waitingOn']}" for call in waiting)
        return view["recent"]["15m"]["succeeded"] == calls + 1

    # For the breaker the time of a probe comes, and for the pace the end of an outage that is not short.
    service.advance(10)
    wait_until(done, "every call succeeds")
    # What has ended may be counted a moment later.
    wait_until(lambda: service.metrics()['redial_calls_finished_total{state="succeeded",reason=""}'] == calls + 1, "all are counted")
    assert bucket.refused > 0
    assert any(capacity / 4 <= rate <= capacity * 2 for rate in rates), rates
    assert "pace" in reasons, reasons
    # What it refuses while it delivers opens no breaker.
    assert service.log.read_text().count("breakerClosed") == 1
    text, metrics = texts
    assert re.search(r"^pace: adaptive, [\d.]+ per second \(\w+\); [\d.]+ per second processed lately$", text, re.M), text
    for name in ("redial_target_pace_rate", "redial_target_delivered_rate"):
        assert metrics[f'{name}{{target="{target.url}"}}'] >= 0


def test_a_call_that_waits_for_the_pace_says_when_it_can_run_at_the_earliest(redial, receiver):
    service = redial(*breaker(**HASTY), clock=True)
    target = receiver(lambda request: (500, {}, b""))
    service.submit(url=target.url, policy=POLICY)
    wait_until(lambda: service.target(target.url)["breaker"]["state"] != "closed", "the breaker opens")
    # The outage is not short, however soon a probe is sent.
    service.advance(10)
    count, look = itertools.count(), threading.Event()

    def answer(request):
        # The first is a probe, which ends the outage. The others are in flight while the test looks.
        if next(count):
            assert look.wait(BOUND)
        return 200, {}, b"ok"

    target.answer = answer
    # So many that the last does not start while the command begins.
    calls = [service.submit(url=target.url, policy=POLICY) for _ in range(CALLS)]
    service.advance(10)
    waiting = wait_until(
        lambda: (call := service.get(calls[-1]))["waitingOn"] == "pace" and call, "the last call waits for the pace")
    assert waiting["nextAttemptAt"], waiting
    listed = service("GET", "/v1/calls?state=scheduled&limit=1").json["data"][0]
    assert (listed["waitingOn"], bool(listed["nextAttemptAt"])) == ("pace", True), listed
    told = run("get", calls[-1], "--url", service.url).stdout
    assert re.search(r"waiting on pace until \d{4}-", told), told
    look.set()

    def all_succeed():
        service.advance(1)
        return service.get(calls[-1])["state"] == "succeeded" and service.metrics()["redial_backlog_calls"] == 0

    wait_until(all_succeed, "every call succeeds")


def test_the_first_call_of_the_readme_fifty_times_leaves_the_target_unlimited(redial, flaky):
    service, target = redial(), flaky()
    for _ in range(50):
        call = service.submit(url=target.url + "/hello?fail=2", policy={"backoff": {"initial": "5ms"}})
        assert service.ended(call)["attemptCount"] == 3
        view = service.target(target.url)
        assert (view["pace"]["rate"], view["breaker"]["state"]) == (None, "closed")


def test_refusals_of_a_target_that_delivers_begin_no_limit(redial, receiver):
    service = redial(clock=True)
    bucket = Bucket(CAPACITY, service.clock)
    target = receiver(bucket)
    service("POST", "/v1/calls/batch", [{"url": target.url, "policy": POLICY}] * CALLS)
    views = []

    def done():
        service.advance(0.05)
        views.append(service.target(target.url))
        return views[-1]["recent"]["15m"]["succeeded"] == CALLS

    wait_until(done, "every call succeeds")
    assert bucket.refused > 0
    assert {(view["pace"]["rate"], view["breaker"]["state"]) for view in views} == {(None, "closed")}


def test_a_fixed_pace_is_a_setting_of_the_target_or_the_service(redial, receiver, tmp_path):
    target = receiver()
    service = redial()
    service.ended(service.submit(url=target.url))
    view = service("GET", target_path(target)).json
    assert view["settings"]["pace"] == "adaptive"
    assert {k: view["pace"][k] for k in ("mode", "rate", "reason", "changedAt")} == {
        "mode": "adaptive", "rate": None, "reason": "noOverload", "changedAt": None}
    assert "pace: adaptive, no limit (noOverload)" in run("targets", target.url, "--url", service.url).stdout
    names = {name.partition("{")[0] for name in service.metrics()}
    assert "redial_target_delivered_rate" in names and "redial_target_pace_rate" not in names

    fixed = service("PUT", target_path(target), {"pace": "fixed"}).json
    assert fixed["pace"] == {"mode": "fixed"}
    assert (fixed["settings"]["pace"], fixed["overrides"]) == ("fixed", {"pace": "fixed"})
    assert "pace: fixed\n" in run("targets", target.url, "--url", service.url).stdout
    assert service.ended(service.submit(url=target.url))["state"] == "succeeded"
    assert not any("delivered_rate{" in name for name in service.metrics())
    service.kill()
    service.start()
    assert service("GET", target_path(target)).json["pace"] == {"mode": "fixed"}
    assert service("PUT", target_path(target), {}).json["pace"]["mode"] == "adaptive"
    wrong = service("PUT", target_path(target), {"pace": "fast"})
    assert wrong.status == 422 and wrong.json["errors"][0]["pointer"] == "/pace", wrong.body

    (tmp_path / "other").mkdir()
    other = redial(*target_defaults(pace="fixed"), folder=tmp_path / "other")
    other.ended(other.submit(url=target.url))
    assert other("GET", target_path(target)).json["pace"] == {"mode": "fixed"}
    assert other("PUT", target_path(target), {"pace": "adaptive"}).json["pace"]["mode"] == "adaptive"

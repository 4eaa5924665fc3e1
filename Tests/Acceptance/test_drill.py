"""The incident drill: eight incidents, and what a person sees at minute 1 and 5 and after each of them.

See drill.py. docs/drill.md says what each shows, and how to make pictures of it.
"""

import itertools
import re
import threading
import time

import pytest

import browsers
from alerting import TARGET
from drill import FACTOR, LATER, USUAL, Drill
from faults import SmallDisk
from processes import Redial, wait_until
from scenes import timeout
from test_alerts import BUSINESS, Switch
from test_prometheus import tools  # noqa: F401  a fixture

pytestmark = pytest.mark.part("drill")
# By the name of the test: that of its pictures, the alert, and within how many minutes it fires.
INCIDENTS = {}
CALM = "✓ No target is down, degraded or held."


def incident(name, alert=None, within=0):
    def mark(test):
        INCIDENTS[test.__name__] = (name, alert, within)
        return test
    return mark


@pytest.fixture(scope="module")
def browser():
    with browsers.chromium() as browser:
        yield browser


@pytest.fixture
def drill(request, browser, tools, made, tmp_path):  # noqa: F811
    name, alert, within = INCIDENTS[request.function.__name__]

    def start(*flags, fast=True, store=None, location=None, factor=FACTOR, beside=()):
        if not store:
            store = tmp_path / "store"
            store.mkdir()
        flags = (*timeout(factor if fast else 1), *flags)
        return Drill(name, browser, alert, within, made, tools, tmp_path, None, flags, fast, store, location, factor, beside)
    return start


def usual(here, target, other, rate=6, share=2, path="", **more):
    """The calls of a usual day: one of `share` goes to another target, which nothing happens to."""
    call = {"url": target.url + path, "target": TARGET, **BUSINESS, **more}
    calls = [{"url": other.url, "target": "shipping"}, *[call] * (share - 1)]
    here.traffic(rate, lambda number: calls[number % share])
    here.is_quiet(USUAL)


def outage(here, begin, end, cause, words):
    """A target is down, and comes back."""
    headline = rf"billing is down for .*: {words}\n"
    says = [r"\d+ calls wait, the oldest for \S+\.",
            r"Redial keeps the calls and sends single probes"]
    down = [rf"open +\d+ +billing +down, wait for breaker +{cause}"]
    with here.incident(target=TARGET):
        here.begin()
        begin()
        call = here.waiting_call()
        for minute in (1, 5):
            seen = here.see(
                minute, overview=[headline, *says, r"Release \d+…", r"\d+\s+for a target that is down or held open \(breaker\)"],
                status=[headline, *says, r"redial targets billing release "], target=[f"is down for .*: {words}", *says],
                issues=down, call=[call, "Waits for a target that is down", r"Its deadline is in"],
                also=[f"target/{TARGET}"] if minute == 5 else [])
            assert seen["targets"][TARGET]["outage"]["cause"] == cause
            # For a moment it may be the probe.
            wait_until(lambda: here.service.get(call)["waitingOn"] == "breaker", "the call waits for the breaker")
    here.fires(target=TARGET)
    end()
    here.is_delivered()
    good = r"100 % of \d+ calls succeeded"
    seen = here.see("after", overview=[CALM, good, "no call waits"], status=[CALM, good],
                    issues=["Nothing is wrong"], target=["is up"])
    assert here.service.get(call)["state"] == "succeeded" and seen["quarter"]["calls"]["failed"] == 0
    here.is_over(minutes=LATER)
    here.is_noticed(cause)


@incident("hangs", "RedialTargetDown", within=8)
def test_a_target_that_hangs(drill, receiver):
    switch = Switch()
    here, target, other = drill(), receiver(switch), receiver()
    here.listen(receiver())
    usual(here, target, other)
    outage(here, switch.is_up.clear, switch.is_up.set, "timeout", "timeout")


@incident("refuses", "RedialTargetDown", within=8)
def test_a_target_that_refuses_connections(drill, flaky, receiver):
    here, target, other = drill(), flaky(), receiver()
    here.listen(receiver())
    usual(here, target, other)
    outage(here, target.kill, target.start, "connectionRefused", "connection refused")


@incident("flaky")
def test_a_flaky_target(drill, receiver):
    numbers, flaky = itertools.count(), []
    here, target, other = drill(), receiver(lambda request: (503 if flaky and next(numbers) % 2 else 200, {}, b"")), receiver()
    usual(here, target, other, rate=12)
    headline = r"billing is degraded: \d+ of \d+ attempts failed in 5 minutes, the latest with status 503\n"
    says = r"Redial tries what failed again, as the policy of each call says\."
    here.begin()
    flaky.append(True)
    for minute in (1, 5):
        seen = here.see(
            minute, overview=[headline, says, r"100 % of [\d,]+ calls succeeded in the last 15 minutes", r"\d+ succeeded after retries"],
            status=[headline, says, r"100 % of [\d,]+ calls succeeded, \d+ of them after retries"],
            target=[r"is degraded: \d+ of"], issues=["Nothing is wrong"])
        # All calls succeed, so there is nothing to be woken for.
        assert seen["quarter"]["calls"]["failed"] == 0 and here.alarms() == {}
    flaky.clear()
    here.minutes(6)
    here.see("after", overview=[CALM], status=[CALM], target=["is up"])
    assert here.alarms() == {}


@incident("limits")
def test_a_target_that_limits_the_rate(drill, receiver):
    lock, taken, limited = threading.Lock(), [], []

    def answer(request):
        """Two requests in a second, five of the service's seconds each."""
        with lock:
            now = time.monotonic()
            if limited and len([at for at in taken[-2:] if at > now - 1]) == 2:
                return 429, {"retry-after": "20"}, b'{"message": "too many requests"}'
            taken.append(now)
            return 200, {}, b""
    here, target, other = drill(), receiver(answer), receiver()
    usual(here, target, other, rate=12, share=3, policy={"maxAttempts": 1000})
    here.begin()
    limited.append(True)
    says = [r"billing is degraded: \d[\d,]* of \d[\d,]* attempts failed in 5 minutes, the latest with status 429\n",
            r"It asked to wait for \S+ more; its calls wait until then\.", r"as long as the target asked for \(retryAfter\)"]
    for minute in (1, 5):
        seen = here.see(minute, overview=says, status=says, target=["is degraded: "])
        # They wait, and none has failed.
        assert seen["waits"][TARGET] > 0 and seen["quarter"]["calls"]["failed"] == 0
    limited.clear()
    here.is_delivered()
    here.minutes(6)
    here.see("after", overview=[CALM], status=[CALM], target=["is up"])


@incident("slots", "RedialBacklogGrows", within=70)
def test_a_backlog_that_grows(drill, flaky, receiver):
    here, target, other = drill(), flaky(), receiver()
    usual(here, target, other, rate=16, share=4, path="/?delay=400ms")
    headline = "billing is up, but its calls are late: they wait for the limit of 1 attempt in flight\n"
    says = [r"\d[\d,]* calls wait, the oldest for \S+\.", r"If the target can take more, raise the limit\."]
    with here.incident():
        here.begin()
        assert here.service("PATCH", f"/v1/targets/{TARGET}", {"maxInFlight": 1}).status == 200
        here.see(1, overview=[r"\d+\s+for one of the attempts in flight to end \(concurrency\)"])
        late = r"\d+ calls are late"
        here.see(5, overview=[headline, *says, "Change the limit", late], status=[headline, *says, late],
                 target=[headline.removeprefix("billing ").strip(), *says],
                 issues=[r"open +\d+ +billing +late, wait for concurrency"], also=[f"target/{TARGET}"])
    here.fires()
    assert here.service("PATCH", f"/v1/targets/{TARGET}", {"maxInFlight": 128}).status == 200
    here.is_delivered()
    here.see("after", overview=[CALM], status=[CALM], target=["is up"], issues=["Nothing is wrong"])
    here.is_over(minutes=LATER)


@incident("disk", "RedialStoreFailing", within=5)
def test_a_full_disk(drill, receiver, made, tmp_path):
    disk = SmallDisk(tmp_path / "store", 16)
    made.append(disk)
    # As if all of the reserve were used up, too: on so small a disk the room that the log gives back would be enough for it.
    here, target, other = drill("--reserve-bytes", "0", store=disk.path), receiver(), receiver()
    usual(here, target, other)
    says = [r"The service accepts no calls: The disk is full\.\n",
            r"Accepted calls are kept, .*remove other files, or enlarge the disk\."]
    # Consequences, if it lasts for five or ten minutes.
    here.expected.update(["RedialCheckpointFailing", "RedialRefusesCalls"])
    with here.incident():
        here.begin()
        disk.fill()
        for minute in (1, 5):
            here.see(minute, overview=says, status=[*says, "Service: not ready"])
            assert here.service("GET", "/readyz").json["code"] == "notReady"
            assert here.service("POST", "/v1/calls", {"url": other.url}).status == 507
    here.fires()
    disk.free()
    here.is_over(minutes=LATER)
    here.see("after", overview=[CALM], status=[CALM, "Service: ready"])
    assert here.service("POST", "/v1/calls", {"url": other.url}).status == 202
    here.service.says(" storeFailed ")


# Its time is that of the database, and cannot run faster.
SLOWER = 4


@incident("instance", "RedialDown", within=3)
def test_an_instance_that_dies(drill, made, receiver, database, tmp_path):
    location = database().url
    (tmp_path / "dying").mkdir()
    dying = Redial(tmp_path / "dying", location=location)
    made.append(dying)
    dying.start()
    here, target, other = drill(fast=False, location=location, factor=SLOWER, beside=[dying]), receiver(), receiver()

    def shards():
        return sorted(one["shards"] for one in here.service("GET", "/v1/instances").json["data"])
    wait_until(lambda: shards() == [32, 32], "both have their shares")
    usual(here, target, other)
    with here.incident(instance=f"127.0.0.1:{dying.port}"):
        here.begin()
        dying.kill()
        wait_until(lambda: shards() == [64], "the other takes over")
        for minute in (1, 5):
            # What it had goes on: nothing waits, and nothing has failed.
            here.see(minute, overview=[CALM, "Instances\n", r"\b64\b.*this one", r"100 % of [\d,]+ calls succeeded"],
                     status=[CALM, "PostgreSQL, 1 instance,"], issues=["Nothing is wrong"])
    here.fires(instance=f"127.0.0.1:{dying.port}")
    dying.start()
    wait_until(lambda: shards() == [32, 32], "both have their shares again")
    here.see("after", overview=[CALM], status=[CALM, "PostgreSQL, 2 instances,"])
    here.is_over(minutes=LATER)


@incident("credentials", "RedialCallsFail", within=30)
def test_wrong_credentials(drill, receiver):
    expired = []

    def answer(request):
        return (401, {}, b'{"message": "the token has expired"}') if expired else (200, {}, b"")
    here, target, other = drill(), receiver(answer), receiver()
    usual(here, target, other)
    says = [r"[\d,]+ calls? failed, the latest .* ago", r"[\d,]+ to billing: 401 the token has expired\.",
            "They are kept, and can be run again"]
    with here.incident():
        here.begin()
        expired.append(True)
        for minute in (1, 5):
            seen = here.see(
                minute, overview=[*says, "Show the issue", "Run again…"], status=[*says, "redial issues show issue_"],
                issues=[r"open +\d+ +billing +failed, notRetryable .* 401 the token has expired"],
                also=["issues"] if minute == 5 else [])
        (issue,) = seen["issues"].values()
        shown = here.command("issues", "show", issue["id"])
        assert f"redial ops create retry --issue {issue['id']}" in shown, shown
        call = here.service.get(issue["example"])
        assert (call["failureReason"], call["attemptCount"]) == ("notRetryable", 1)
    here.fires()
    expired.clear()
    # One click, and an answer to what it asks.
    here.view.get_by_role("button", name="Run again…").click()
    here.view.get_by_role("button", name=re.compile(r"Run [\d,]+ again")).click()
    wait_until(lambda: here.service("GET", "/v1/issues").json["data"] == [], "all were run again")
    here.see("after", overview=[CALM, "no call waits"], status=[CALM], issues=["Nothing is wrong"])
    here.is_over(minutes=LATER)

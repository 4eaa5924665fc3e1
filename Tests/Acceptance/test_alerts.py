"""Each alert fires in the incident that it is for, once and within its time, and its runbook ends the incident.

A real Prometheus scrapes a real service, and a minute takes a second (see alerting.py). First the service is healthy, and nothing
fires. Then the incident begins, and the alert fires; no other does. An operator types what the runbook says, as it is written, and
does what it says. Then the alert is over, and does not come back.
"""

import contextlib
import itertools
import json
import re
import threading

import pytest
import alerting
from alerting import CALL, FACTOR, MINUTE, TARGET, FastTime, Page, Prometheus, Terminal, Traffic
from faults import Faults
from processes import BOUND, Constants, Redial, run, target_defaults, wait_until
from test_prometheus import tools  # noqa: F401  a fixture

# By the name of the test: the alert that it sets off, the incident in words, and within how many minutes. Their table is in
# docs/runbooks/README.md.
INCIDENTS = {}
HEALTHY = 10
# The usual timeout of an attempt. That of libcurl is not divided, as its clock is the machine's.
TIMEOUT = target_defaults(attemptTimeout=f"{30_000 // FACTOR}ms")
# Submissions that take a millisecond seem to take as many more where the time runs faster.
DISTORTED = {"RedialAcceptsSlowly"}


def incident(alert, words, within):
    def mark(test):
        INCIDENTS[test.__name__] = (alert, words, within)
        return pytest.mark.part("alerts")(test)
    return mark


class Scene:
    """A service with Prometheus beside it and an operator before it."""

    def __init__(self, alert, within, made, tools, folder, url, flags, fast, store):  # noqa: F811
        self.alert, self.within, self.page = alert, within, Page(alert)
        self.made, self.folder = made, folder
        self.faults = Faults(folder, store / "redial.db")
        watch = Constants(storeWatchInterval=f"{10_000 // FACTOR}ms")
        self.service = Redial(store, watch, *flags, env=self.faults.env, clock=fast)
        made.append(self.service)
        self.put_named_call(url)
        self.service.start()
        self.distorted = DISTORTED if fast else set()
        if fast:
            made.append(FastTime(self.service, self.faults))
        key = self.service("POST", "/v1/keys", {"name": "ada", "scopes": ["admin"]}).json["key"]
        self.service.credentials = {"authorization": f"Bearer {key}"}
        self.terminal = Terminal(folder, self.service, key)
        (folder / "prometheus").mkdir()
        self.metrics_key = self.service("POST", "/v1/keys", {"name": "prometheus", "scopes": ["metrics"]}).json
        self.prometheus = Prometheus(tools, folder / "prometheus", [self.service], self.metrics_key["key"])
        made.append(self.prometheus)
        self.prometheus.start()
        self.expected = set()

    def put_named_call(self, url):
        """Puts the call that the runbooks name into the store, by import."""
        (self.folder / "before").mkdir()
        before = Redial(self.folder / "before")
        self.made.append(before)
        before.start()
        before.submit(url=url, target=TARGET, delay="300d", policy={"deadline": "360d"})
        before.kill()
        call = json.loads(run("export", "--store", f"sqlite:{before.store}").stdout)
        assert call.pop("checksum")
        line = json.dumps(call | {"id": CALL}) + "\n"
        done = run("import", "--store", f"sqlite:{self.service.store}", stdin=line)
        assert done.returncode == 0, done

    def traffic(self, rate, make):
        traffic = Traffic(self.service, rate, make)
        self.made.append(traffic)
        return traffic

    def minutes(self, count):
        """Waits until the rules were evaluated after so many minutes."""
        until = self.prometheus.judged() + count * MINUTE
        wait_until(lambda: self.prometheus.judged() > until, f"{count} minutes pass", BOUND + count * MINUTE)

    def is_quiet(self, minutes=HEALTHY):
        """Lets a healthy time pass, in which nothing fires."""
        self.minutes(minutes)
        assert self.others() == set()

    def others(self):
        """What has fired, besides the alerts that were to fire."""
        return {name for name, *_ in self.prometheus.firings()} - self.expected - self.distorted

    @contextlib.contextmanager
    def incident(self, **labels):
        """What begins in the block sets off the alert in time, and nothing else."""
        alert, begun = self.alert, self.prometheus.judged()
        yield
        try:
            wait_until(lambda: alert in self.prometheus.firing(), f"{alert} fires", BOUND + self.within * MINUTE)
        except AssertionError:
            print(self.prometheus.history(alert))
            raise
        self.expected.add(alert)
        took = min(first for name, *_, first, _ in self.prometheus.firings() if name == alert) - begun
        print(f"\n{alert}: after {took / MINUTE:.1f} min")
        assert took <= self.within * MINUTE, f"{alert} fired after {took / MINUTE:.1f} min, not {self.within}"
        assert self.others() == set()
        # What it says to the person that it calls.
        (shown,) = [each for each in self.prometheus.ask("alerts")["alerts"] if each["labels"]["alertname"] == alert]
        assert labels.items() <= shown["labels"].items(), shown

    def walk(self, title, codes=(0,)):
        """Types the commands of a section of the alert's page; returns their outputs by command."""
        return {command: self.terminal.run(command, codes) for command in self.page.commands(title)}

    def type(self, command):
        """Types a command that the alert's page has within a sentence."""
        assert self.page.has(command), command
        return self.terminal.run(command)

    def is_over(self, *allowed):
        """The alert ceases, and neither it nor another one comes later, unless it is a consequence. It was there once."""
        self.expected.update(allowed)
        wait_until(lambda: self.alert not in self.prometheus.firing(), f"{self.alert} is over", 2 * BOUND)
        self.minutes(HEALTHY)
        assert self.alert not in self.prometheus.firing() and self.others() == set()
        times = [times for name, *times in self.prometheus.firings() if name == self.alert]
        assert len(times) == 1, f"{self.alert} fired {len(times)} times: {times}"
        # Nor did it become true before, for less than it waits.
        assert self.prometheus.beginnings(self.alert) == 1


@pytest.fixture
def scene(request, tools, made, tmp_path):  # noqa: F811
    alert, _, within = INCIDENTS[request.function.__name__]

    def start(url, *flags, fast=True, store=None):
        if not store:
            store = tmp_path / "store"
            store.mkdir()
        return Scene(alert, within, made, tools, tmp_path, url, flags, fast, store)
    return start


def masked(text):
    return alerting.PER_SECOND.sub("N", alerting.RANGE.sub("T", text))


def test_the_rules_that_are_tested_differ_from_the_shipped_ones_in_times_alone():
    here, shipped = alerting.scaled(alerting.shipped()), alerting.shipped()
    times = 0
    for group, original in zip(here["groups"], shipped["groups"], strict=True):
        for rule, other in zip(group["rules"], original["rules"], strict=True):
            pairs = list(zip(alerting.RANGE.finditer(rule["expr"]), alerting.RANGE.finditer(other["expr"]), strict=True))
            pairs = [(a[0], b[0]) for a, b in pairs] + ([(rule.pop("for"), other.pop("for"))] if "for" in rule else [])
            for short, long in pairs:
                assert alerting.seconds(long) == pytest.approx(alerting.seconds(short) * FACTOR), (short, long)
            times += len(pairs)
            # No other number with a unit, such as in an offset, is left as it was.
            assert not re.search(r"\d(ms|[smhdwy])\b", masked(other["expr"])), other["expr"]
            rule["expr"], other["expr"] = masked(rule["expr"]), masked(other["expr"])
    assert here == shipped and times > 20


def test_each_alert_has_its_incidents_and_the_page_of_runbooks_lists_them():
    page = (alerting.RUNBOOKS / "README.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| (Redial\w+) \| (\d+) min \| ([\d.]+) min \|$", page, re.M)
    assert [(alert, words, int(within)) for words, alert, within, _ in rows] == list(INCIDENTS.values())
    assert all(float(seen) <= int(within) for *_, within, seen in rows)


BUSINESS = {"policy": {"maxAttempts": 10, "backoff": {"initial": "1s", "max": "1m"}}}


class Switch:
    """A target's answer that the test changes: all requests wait while it hangs."""

    def __init__(self):
        self.is_up = threading.Event()
        self.is_up.set()

    def __call__(self, request):
        self.is_up.wait(2 * BOUND)
        return 200, {}, b"ok"


@incident("RedialTargetDown", "the target takes connections and does not answer", within=8)
def test_a_target_that_hangs(scene, receiver):
    switch = Switch()
    target, other = receiver(switch), receiver()
    here = scene(target.url, *TIMEOUT)
    here.traffic(20, lambda number: {"url": target.url, "target": TARGET, **BUSINESS} if number % 2 else {"url": other.url})
    here.is_quiet()
    with here.incident(target=TARGET):
        switch.is_up.clear()
    outputs = here.walk("Look at")
    assert "down since" in outputs["redial targets billing"], outputs
    # It goes on for as long again: the alert stays.
    here.minutes(10)
    assert here.prometheus.firing() - here.distorted == {"RedialTargetDown"}
    switch.is_up.set()
    here.walk("Do")
    here.is_over()
    here.walk("It is over when")


@incident("RedialTargetDown", "nothing listens at the target's port", within=8)
def test_a_target_that_refuses_connections(scene, flaky, receiver):
    # A process, whose death ends its connections, too.
    target, other = flaky(), receiver()
    here = scene(target.url, *TIMEOUT)
    here.traffic(20, lambda number: {"url": target.url, "target": TARGET, **BUSINESS} if number % 2 else {"url": other.url})
    here.is_quiet()
    with here.incident(target=TARGET):
        target.kill()
    outputs = here.walk("Look at")
    assert "connectionRefused" in outputs["redial targets billing"], outputs
    target.start()
    here.walk("Do")
    here.is_over()
    here.walk("It is over when")


@incident("RedialCallsFail", "the target fails two of three requests, and the policy has two attempts", within=20)
def test_a_target_that_fails_often(scene, receiver):
    # It always fails some of the requests. With ten attempts nothing of that fails a call.
    broken, numbers = [], itertools.count()
    target = receiver(lambda request: (500 if next(numbers) % 3 < (2 if broken else 1) else 200, {}, b""))
    here = scene(target.url)
    here.traffic(20, lambda number: {
        "url": target.url, "target": TARGET, "policy": {"maxAttempts": 2 if broken else 10, "backoff": {"initial": "1s"}}})
    here.is_quiet()
    # The window of the rate has to fill, and then it is to be so for fifteen minutes.
    with here.incident():
        broken.append(True)
    outputs = here.walk("Look at")
    assert "failed" in outputs["redial list --state failed --limit 20"], outputs
    broken.clear()
    here.walk("Do")
    here.is_over()
    outputs = here.walk("It is over when")
    assert "retry" in outputs["redial ops list"], outputs


# Ten per second at most, one at a time.
SLOW = "/?delay=100ms"


@incident("RedialBacklogGrows", "a limit of the target is lower than what comes", within=50)
def test_a_backlog_that_grows(scene, flaky):
    target = flaky()
    here = scene(target.url)
    here.traffic(100, lambda number: {"url": target.url + SLOW, "target": TARGET, **BUSINESS})
    here.is_quiet()
    # A thousand calls have to come first.
    with here.incident():
        assert here.service("PUT", f"/v1/targets/{TARGET}", {"maxInFlight": 1}).status == 200
    outputs = here.walk("Look at")
    assert "concurrency" in outputs["redial targets billing"], outputs
    here.walk("Do")
    here.is_over("RedialBacklogMissesDeadlines")


@incident("RedialBacklogMissesDeadlines", "a limit of the target is too low for deadlines of ten minutes", within=20)
def test_a_backlog_that_misses_its_deadlines(scene, flaky):
    target = flaky()
    # The estimate goes by the latency, which is measured by the machine's clock.
    here = scene(target.url, fast=False)
    policy = {"deadline": f"{10 * MINUTE}s", "backoff": {"initial": "100ms"}}
    here.traffic(20, lambda number: {"url": target.url + SLOW, "target": TARGET, "policy": policy})
    here.is_quiet()
    with here.incident(target=TARGET):
        assert here.service("PUT", f"/v1/targets/{TARGET}", {"maxInFlight": 1}).status == 200
    outputs = here.walk("Look at")
    assert "will miss their deadlines" in outputs["redial targets billing"], outputs
    here.walk("Do")
    here.is_over("RedialCallsFail")
    assert "backlogMeetsDeadlines" in here.service.log.read_text()


@incident("RedialDown", "the process was killed", within=2)
def test_a_service_that_is_killed(scene, receiver):
    target = receiver()
    here = scene(target.url, fast=False)
    here.traffic(20, lambda number: {"url": target.url})
    here.is_quiet()
    with here.incident():
        here.service.kill()
    outputs = here.walk("Look at", codes=(3, 7))
    assert outputs["redial health"] == "", outputs
    outputs = here.walk("Do")
    assert outputs, "the store is whole"
    here.service.start()
    here.is_over()
    here.walk("It is over when")

"""Each alert fires in the incident that it is for, once and within its time, and its runbook ends the incident.

A real Prometheus scrapes a real service, and a minute takes a second (see alerting.py). First the service is healthy, and nothing
fires. Then the incident begins, and the alert fires; no other does. An operator types what the runbook says, as it is written, and
does what it says. Then the alert is over, and does not come back.
"""

import base64
import contextlib
import itertools
import json
import os
import re
import sqlite3
import threading
import time

import pytest
import alerting
from alerting import CALL, FACTOR, MINUTE, TARGET
from faults import SmallDisk
from processes import BOUND, Constants, standing_still
from scenes import Scene, timeout
from test_prometheus import tools  # noqa: F401  a fixture

# By the name of the test: the alert that it sets off, the incident in words, and within how many minutes. Their table is in
# docs/runbooks/README.md.
INCIDENTS = {}
TIMEOUT = timeout(FACTOR)


def incident(alert, words, within):
    def mark(test):
        INCIDENTS[test.__name__] = (alert, words, within)
        return pytest.mark.part("alerts")(test)
    return mark


@pytest.fixture
def scene(request, tools, made, tmp_path):  # noqa: F811
    # A healthy day has none.
    alert, _, within = INCIDENTS.get(request.function.__name__, (None, None, 0))

    def start(url, *flags, fast=True, store=None, location=None):
        if not store:
            store = tmp_path / "store"
            store.mkdir()
        return Scene(alert, within, made, tools, tmp_path, url, flags, fast, store, location)
    return start


@pytest.fixture
def healthy(scene, receiver):
    """A scene with a target that answers, to which calls go all the time, after a while in which nothing has fired."""
    def start(*flags, rate=20, fast=False, call=lambda: {}, **options):
        target = receiver()
        here = scene(target.url, *flags, fast=fast, **options)
        here.traffic(rate, lambda number: {"url": target.url} | call())
        here.is_quiet()
        return here
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
    assert {alert for alert, *_ in INCIDENTS.values()} == alerting.alerts().keys()


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


@incident("RedialTargetDown", "two targets are down that are not among the busiest", within=8)
def test_targets_without_figures_of_their_own(scene, flaky, receiver):
    targets, other = [flaky(), flaky()], receiver()
    here = scene(targets[0].url, Constants(namedTargets=0), *TIMEOUT)
    calls = [{"url": targets[0].url, "target": TARGET}, {"url": targets[1].url, "target": "shipping"}, {"url": other.url}]
    here.traffic(20, lambda number: calls[number % 3] | BUSINESS)
    here.is_quiet()
    with here.incident(target="(others)"):
        for target in targets:
            target.kill()
    shown = here.type("redial targets --active")
    assert re.search(r"^billing +down\b", shown, re.M) and re.search(r"^shipping +down\b", shown, re.M), shown
    here.walk("Look at")
    for target in targets:
        target.start()
    here.walk("Do")
    here.is_over()


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
    here.is_over()


@incident("RedialDown", "the process was killed", within=2)
def test_a_service_that_is_killed(healthy):
    here = healthy()
    with here.incident():
        here.service.kill()
    outputs = here.walk("Look at", codes=(3, 7))
    assert outputs["redial health"] == "", outputs
    outputs = here.walk("Do")
    assert outputs, "the store is whole"
    here.service.start()
    here.is_over()
    here.walk("It is over when")


@incident("RedialDown", "the process stands still", within=2)
def test_a_service_that_hangs(scene, receiver):
    target = receiver()
    here = scene(target.url, fast=False)
    here.is_quiet()
    with standing_still(here.service.process):
        with here.incident():
            pass
        # What hangs gives no answer, and each command ends all the same.
        outputs = here.walk("Look at", codes=(3, 5, 28))
        assert len(outputs) == 2, outputs
        here.walk("Do")
        # A stop and a start end it: a process that stands still is killed.
        here.service.kill()
        here.service.start()
        here.is_over()
    here.walk("It is over when")


@incident("RedialDown", "the key of Prometheus was revoked", within=2)
def test_a_key_of_prometheus_that_is_revoked(scene, receiver):
    here = scene(receiver().url, fast=False)
    here.is_quiet()
    with here.incident():
        assert here.service("DELETE", f"/v1/keys/{here.metrics_key['id']}").status in (200, 204)
    outputs = here.walk("Look at")
    assert list(outputs.values()) == ["ok\n", "200\n"], outputs
    # Prometheus says why.
    assert "401" in here.prometheus.ask("targets")["activeTargets"][0]["lastError"]
    key = here.service("POST", "/v1/keys", {"name": "prometheus", "scopes": ["metrics"]}).json["key"]
    (here.folder / "prometheus/key").write_text(key)
    here.is_over()
    here.walk("It is over when")


@incident("RedialStoreFailing", "the disk is full", within=5)
def test_a_full_disk(healthy, made, tmp_path):
    disk = SmallDisk(tmp_path / "store", 16)
    made.append(disk)
    here = healthy(store=disk.path)
    # The log has room for some calls more.
    with here.incident():
        disk.fill()
    outputs = here.walk("Look at")
    assert "cannot be written" in str(outputs), outputs
    here.service.says("reserveReleased")
    # "Make room: remove other files."
    disk.free()
    # On so small a disk the room that the log gives back is enough for the reserve, for a moment.
    here.is_over(beginnings=3)
    here.walk("It is over when")


@incident("RedialStoreFailing", "the store's files were moved away", within=2)
def test_files_that_are_moved(healthy):
    here = healthy()
    files = [path for path in here.service.store.parent.iterdir() if path.name in ("redial.db", "redial.db-wal", "redial.db-shm")]
    with here.incident():
        for path in files:
            path.rename(here.folder / path.name)
    here.walk("Look at")
    # "Move all of them back."
    for path in files:
        (here.folder / path.name).rename(path)
    here.is_over()
    here.walk("It is over when")


@incident("RedialRefusesCalls", "a client sends half of its calls without a URL", within=15)
def test_calls_that_are_refused(scene, receiver):
    target, wrong = receiver(), []
    here = scene(target.url, fast=False)
    # One in a hundred is refused at any time.
    here.traffic(30, lambda number: {} if number % (2 if wrong else 100) == 0 else {"url": target.url})
    here.is_quiet()
    with here.incident():
        wrong.append(True)
    here.walk("Look at")
    outputs = here.walk("Do")
    assert len(outputs) == 1, outputs
    wrong.clear()
    here.is_over()


@incident("RedialCheckpointFailing", "writes to the store's file fail, and those to its log do not", within=12)
def test_a_log_that_cannot_be_moved(healthy):
    here = healthy(rate=10, call=lambda: {"body": base64.b64encode(os.urandom(128 << 10)).decode()})
    with here.incident():
        here.faults.on("fail-file-write")
    here.walk("Look at")
    here.walk("Do")
    here.faults.off("fail-file-write")
    here.is_over()
    here.service.says("checkpointSucceeded")


@incident("RedialAcceptsSlowly", "each sync of the disk takes 300 ms", within=15)
def test_a_slow_disk(healthy):
    here = healthy()
    with here.incident():
        here.faults.on("slow-sync")
    here.walk("Look at")
    here.faults.off("slow-sync")
    here.is_over()


@incident("RedialClockOff", "somebody sets the wall clock 90 s forward", within=6)
def test_a_clock_that_is_set(healthy):
    here = healthy()
    with here.incident():
        here.faults.ahead("clock", 90)
    here.walk("Look at")
    # "If the wall clock is wrong now, correct it."
    here.faults.ahead("clock", 0)
    here.is_over()


@incident("RedialClockOff", "a time service corrects a wall clock that was 90 s behind", within=6)
def test_a_clock_that_was_wrong(healthy):
    here = healthy()
    with here.incident():
        here.faults.ahead("clock", 90)
    # "If it was wrong before and is right now, restart Redial."
    assert here.service.terminate() == 0
    here.service.start()
    here.is_over("RedialDown")


@incident("RedialSpansDropped", "the collector refuses the spans", within=20)
def test_spans_that_are_refused(healthy, receiver):
    collector = receiver(lambda request: (200, {}, b"{}"))
    here = healthy("--otlp-endpoint", collector.url)
    answer = collector.answer
    with here.incident(reason="refused"):
        collector.answer = lambda request: (401, {}, b"{}")
    outputs = here.walk("Look at")
    assert "tracing" in str(outputs), outputs
    here.service.says("spansNotExported")
    collector.answer = answer
    here.is_over()
    here.service.says("spansExportedAgain")


@incident("RedialSpansDropped", "nothing listens at the collector's port", within=30)
def test_a_collector_that_is_away(healthy, flaky):
    collector = flaky()
    # The service's own bounds are not those of a rule: with its 20,000 spans this would take long.
    here = healthy("--otlp-endpoint", collector.url, Constants(maxSpans=100))
    with here.incident(reason="full"):
        collector.kill()
    here.walk("Look at")
    collector.start()
    here.is_over()


@incident("RedialCallsDamaged", "a start finds a stored call that is not readable any more", within=3)
def test_a_damaged_call(scene, receiver):
    target = receiver()
    here = scene(target.url, fast=False)
    here.traffic(20, lambda number: {"url": target.url})
    damaged = here.service.submit(url=target.url, delay="1h", target=TARGET)
    here.is_quiet()
    assert here.service.terminate() == 0
    with contextlib.closing(sqlite3.connect(here.service.store)) as store, store:
        # One byte, so that it is not JSON any more, of the call that is due first.
        (row,) = store.execute("SELECT id FROM calls WHERE state = 0 ORDER BY due LIMIT 1").fetchone()
        spec = "CAST(replace(CAST(spec AS TEXT), '\"method\":', '\"method\"!') AS BLOB)"
        store.execute(f"UPDATE requests SET spec = {spec} WHERE id = ?", (row,))
        store.execute("UPDATE calls SET due = 1, sum = NULL WHERE id = ?", (row,))
    with here.incident():
        here.service.start()
    outputs = here.walk("Look at")
    assert damaged in outputs["redial list --state failed --limit 20"], outputs
    here.walk("Do")
    here.is_over("RedialDown")
    report = json.loads(here.terminal.run("redial doctor --json --store sqlite:/var/lib/redial/redial.db", codes=(1,)))
    (found,) = [finding for finding in report["findings"] if finding["count"]]
    assert (found["check"], found["count"]) == ("damaged", 1) and damaged in found["examples"][0], found


@incident("RedialStoreFindings", "a due call is not loaded from the store", within=6)
def test_an_overdue_call(healthy):
    here = healthy()
    with here.incident(check="overdue"):
        # The engine knows when the call is due, and does not look earlier.
        with contextlib.closing(sqlite3.connect(here.service.store)) as store, store:
            store.execute("UPDATE calls SET due = 1, sum = NULL WHERE state = 0 AND due = (SELECT max(due) FROM calls WHERE state = 0)")
            store.execute("UPDATE settings SET value = '1' || substr(value, instr(value, ' ')) WHERE name = 'serviceTime'")
    outputs = here.walk("Look at")
    assert CALL in outputs[f"redial get {CALL}"], outputs
    assert CALL in (here.folder / "work/doctor.json").read_text()
    here.walk("Do")
    here.is_over()
    here.terminal.run("redial doctor --store sqlite:/var/lib/redial/redial.db")


@incident("RedialClockError", "the database's clock is 20 s behind that of an instance", within=6)
def test_a_clock_that_differs_from_the_databases(healthy, database):
    here = healthy(location=database().url)
    with here.incident():
        # To the instance that is the same as a database whose clock was set back.
        here.faults.ahead("suspended", 20)
    here.walk("Look at")
    # "If it is far off, restart the instances": the machine's clock is the database's again.
    here.faults.ahead("suspended", 0)
    assert here.service.terminate() == 0
    here.service.start()
    here.is_over("RedialDown", "RedialClockOff")


def is_held(here, hold, shown, release):
    """An operator holds the target and forgets it."""
    with here.incident(target=TARGET):
        here.terminal.run(f"redial targets {TARGET} {hold}")
    outputs = here.walk("Look at")
    assert shown in outputs[f"redial targets {TARGET}"], outputs
    here.type(f"redial targets {TARGET} {release}")
    here.walk("Do")
    here.is_over()


@incident("RedialTargetHeld", "somebody paused the target and forgot it", within=32)
def test_a_target_that_is_paused(healthy):
    is_held(healthy(rate=10, fast=True, call=lambda: {"target": TARGET}), "pause", "paused", "resume")


@incident("RedialTargetHeld", "somebody tripped the breaker of the target and forgot it", within=32)
def test_a_target_that_is_tripped(healthy):
    is_held(healthy(rate=10, fast=True, call=lambda: {"target": TARGET}), "trip", "held open", "reset")


@incident("RedialBacklogGrows", "the target answers 429 to most of what comes", within=50)
def test_a_target_that_limits_the_rate(scene, receiver):
    # Of a hundred requests each second it takes ten, and says when to come again.
    lock, taken, limited = threading.Lock(), [], []

    def answer(request):
        with lock:
            now = time.monotonic()
            if limited and len([at for at in taken[-10:] if at > now - 1]) == 10:
                return 429, {"retry-after": "1"}, b""
            taken.append(now)
            return 200, {}, b""

    target = receiver(answer)
    # Its seconds are those of the machine's clock.
    here = scene(target.url, fast=False)
    here.traffic(80, lambda number: {"url": target.url, "target": TARGET, "policy": {"maxAttempts": 1000, "deadline": "30d"}})
    here.is_quiet()
    with here.incident():
        limited.append(True)
    here.walk("Look at")
    # "It needs more capacity."
    limited.clear()
    here.walk("Do")
    here.is_over()


HOURS = int(os.environ.get("REDIAL_HEALTHY_HOURS", 2))


@pytest.mark.part("alerts")
def test_on_a_healthy_day_nothing_fires(scene, flaky, receiver):
    """`REDIAL_HEALTHY_HOURS` of a day with what is usual: failures that are retried, restarts, a batch, and wrong calls."""
    numbers = itertools.count()
    steady, failing, restarted = receiver(), receiver(lambda request: (200 if next(numbers) % 3 else 503, {}, b"")), flaky()
    here = scene(steady.url, *TIMEOUT)

    def make(number):
        if number % 100 == 0:
            return {}
        targets = [{"url": steady.url, "target": TARGET}, {"url": failing.url}, {"url": restarted.url},
                   {"url": steady.url, "delay": "30m"}]
        return targets[number % 4] | BUSINESS

    traffic = here.traffic(20, make)
    for hour in range(HOURS):
        here.minutes(20)
        # Three minutes are no outage that somebody has to know of.
        restarted.kill()
        here.minutes(3)
        restarted.start()
        here.minutes(7)
        batch = here.service("POST", "/v1/calls/batch", [{"url": steady.url, "target": "reports"}] * 1000)
        assert batch.status == 200, batch.body[:200]
        here.is_quiet(30)
        print(f"hour {hour + 1}: {traffic.statuses}")
    assert traffic.statuses[202] > 500 * HOURS and traffic.statuses[422] > 5 * HOURS, traffic.statuses

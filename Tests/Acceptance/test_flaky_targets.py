"""Twelve targets of the harm grid over sockets: a service with its defaults, beside one in which nothing protects a target.

Both get the same calls at the same time, and the same answers. It compares times, and so needs a machine that does nothing else.
REDIAL_FLAKY_FIRST is the number of the target in the grid from which on twelve are chosen.
"""

import itertools
import os
import random
import subprocess
import sys
import threading
import time

import drawn_targets
import pytest
from processes import ROOT, Constants, target_defaults, wait_until

pytestmark = pytest.mark.part("ratios")

SIDES = {
    "defaults": target_defaults(maxInFlight=1000),
    "off": [*target_defaults(pace="fixed", breaker={"consecutiveFailures": 0}, slowStart="0s", newCallShare=0, maxInFlight=1000),
            Constants(targetShare=1, unprovenShare=1, maxRetryAfterPause="1ms")],
}
# As in the grid, no call waits for a slot that a target without a limit could use.
ROOM = ["--max-connections-per-origin", "1000"]
# That of the grid has waits of minutes where seven in ten fail.
POLICY = {"deadline": "1h", "attemptTimeout": "2s", "backoff": {"initial": "100ms", "multiplier": 2, "max": "1s"}}
SECONDS = 20
# How many times as long as without protection the calls may take, at p50, p90 and p99.
ALLOWED = {0.5: 1.1, 0.9: 1.25, 0.99: 1.25}
# And so many seconds more: on a busy machine two services with the same settings differ by as much at p99 where nearly all calls need
# one attempt of some milliseconds.
SLACK = 0.05


def drawn():
    """The first twelve targets of the grid that fail in different ways, and whose calls are neither too few to compare nor too many
    for one machine."""
    first = int(os.environ.get("REDIAL_FLAKY_FIRST", "0"))
    found = {}
    for target in map(drawn_targets.DrawnTarget, itertools.count(first)):
        if 5 <= target.rate <= 50 and target.latency <= 0.5:
            found.setdefault((target.failure, target.pattern), target)
        if len(found) == 12:
            return list(found.values())


def quantile(times, part):
    return sorted(times)[min(len(times) - 1, int(part * len(times)))]


def submit(service, calls, began, submitted):
    """Submits calls at their times, those of ten milliseconds together."""
    left = list(reversed(calls))
    while left:
        time.sleep(max(0.01, began + left[-1][0] - time.monotonic()))
        due = []
        now = time.monotonic()
        while left and began + left[-1][0] <= now:
            due.append(left.pop())
        for _, target, call, _ in due:
            submitted[target.seed, call] = now
        answer = service("POST", "/v1/calls/batch", [{"url": url, "policy": POLICY} for *_, url in due])
        assert answer.status == 200 and all(item["status"] == 202 for item in answer.json["data"]), answer.body[:1000]


def test_flaky_targets_are_served_as_soon_as_without_protection(redial, tmp_path):
    targets, record = drawn(), tmp_path / "record"
    services = {}
    for side, flags in SIDES.items():
        (tmp_path / side).mkdir()
        services[side] = redial(*ROOM, *flags, folder=tmp_path / side)
    process = subprocess.Popen(
        [sys.executable, ROOT / "Tests/Acceptance/drawn_targets.py", record, *(str(target.seed) for target in targets)],
        stdout=subprocess.PIPE, text=True)
    try:
        ports = process.stdout.readline().split()
        chance = random.Random(1)
        arrivals = []
        for target, port in zip(targets, ports):
            at = 0.0
            for call in itertools.count():
                at += chance.expovariate(target.rate)
                if at > SECONDS:
                    break
                arrivals.append((at, target, call, port))
        arrivals.sort(key=lambda arrival: arrival[0])
        submitted = {side: {} for side in SIDES}
        began = time.monotonic() + 0.5
        threads = [
            threading.Thread(target=submit, args=(
                services[side],
                [(at, target, call, f"http://127.0.0.1:{port}/{side}/{call}") for at, target, call, port in arrivals],
                began, submitted[side]))
            for side in SIDES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        awaited = [(target, call) for _, target, call, _ in arrivals if not target.is_hopeless(call)]

        def succeeded():
            found = {}
            for line in record.read_text().splitlines():
                side, seed, call, at = line.split(" ")
                found.setdefault((side, int(seed), int(call)), float(at))
            return all((side, target.seed, call) in found for side in SIDES for target, call in awaited) and found

        found = wait_until(succeeded, "all calls succeed that can")
    finally:
        process.kill()
        process.wait()
    lines, harmed = [], False
    for target in targets:
        times = {
            side: [found[side, target.seed, call] - submitted[side][target.seed, call]
                   for other, call in awaited if other is target]
            for side in SIDES}
        columns = []
        for part, factor in ALLOWED.items():
            on, off = (quantile(times[side], part) for side in SIDES)
            is_harmed = on > factor * off + SLACK
            harmed |= is_harmed
            columns.append(f"{on:.3f} / {off:.3f}{' HARMED' if is_harmed else ''}")
        lines.append(f"| {target} | {len(times['off'])} | {' | '.join(columns)} |")
    print("", *lines, sep="\n")
    assert not harmed, "\n".join(lines)

#!/usr/bin/env python3
"""Measures the service with a million calls scheduled for later, beside one with an empty store in the same run.

The calls are put into a store by `redial import`. Then: how long the service takes to start, what it keeps resident, how
late calls begin that fall due at a steady rate, and, round by round in turn with the empty store, how many calls it
accepts and completes. The target is a local nginx.

  python3 Benchmarks/backlog.py [--calls 1000000] [--rounds 5] [--seconds 4] [--connections 64] [--binary PATH]
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from service import NGINX, OUT, ROOT, WRK, cpu_seconds, finished, free_port, metrics, stop, wait_for, wrk

DUE_RATE = 200
DUE_SECONDS = 20
DRAIN_LIMIT = 60
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def identity(number):
    return "call_" + "".join(ALPHABET[number >> shift & 31] for shift in range(60, -1, -5))


def microseconds():
    return time.time_ns() // 1000


def lines(count, target, first, due):
    """Archived calls; `due(n)` is the microsecond at which call n is."""
    spec = json.dumps({
        "url": f"http://127.0.0.1:{target}/hook/orders", "method": "POST",
        "headers": {"content-type": "application/json"},
        "policy": {"maxAttempts": 8, "deadline": "15m", "attemptTimeout": "10s",
                   "backoff": {"strategy": "exponential", "initial": "500ms", "multiplier": 1.5, "max": "60s"}},
        "target": f"http://127.0.0.1:{target}", "labels": {"team": "payments"}, "capture": {"maxBytes": 65536}})
    created = microseconds()
    for number in range(count):
        at = due(number)
        yield (
            f'{{"id":"{identity(first + number)}","kind":"call","createdAt":{created},"state":"scheduled","due":{at},'
            f'"waiting":"startTime","attemptCount":0,"interruptions":0,"attemptsBefore":0,"roundStartedAt":{at},'
            f'"finishedAt":null,"failure":null,"previousWait":0,"totalWait":0,"spec":{spec},'
            f'"body":"{"MDEyMzQ1Njc4OTAx" * 16}","attempts":[]}}\n')


def importing(binary, store, archive):
    process = subprocess.Popen(
        [binary, "import", "--store", f"sqlite:{store}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={"PATH": os.environ["PATH"]})
    for line in archive:
        process.stdin.write(line)
    process.stdin.close()
    print("  " + process.stdout.read().strip())
    if process.wait(60) != 0:
        sys.exit("the import failed")


class Service:
    def __init__(self, binary, name):
        self.store = OUT / name / "redial.db"
        self.binary, self.port, self.log = binary, free_port(), OUT / f"{name}.log"
        self.rounds, self.arguments = [], []

    def start(self):
        began = time.monotonic()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--store", f"sqlite:{self.store}",
                 *self.arguments],
                stdout=log, stderr=log, env={"PATH": os.environ["PATH"]})
        wait_for(self.port, self.process, "redial")
        self.backlog = self.metrics()["redial_backlog_calls"]
        return time.monotonic() - began

    def metrics(self):
        return metrics(self.port)

    def resident(self):
        return self.metrics()["process_resident_memory_bytes"] / 1e6

    def round(self, script, options):
        before, cpu, began = self.metrics(), cpu_seconds(self.process.pid), time.monotonic()
        result = wrk(f"http://127.0.0.1:{self.port}/v1/calls", script, options)
        while True:
            values = self.metrics()
            done = finished(values) - finished(before)
            if done == values["redial_calls_accepted_total"] - before["redial_calls_accepted_total"]:
                break
            if time.monotonic() - began > DRAIN_LIMIT:
                sys.exit(f"calls are left after {DRAIN_LIMIT} s; see {self.log}")
            time.sleep(0.01)
        self.rounds.append({
            "accepts": result["rate"], "completes": done / (time.monotonic() - began), "p99": result["p99"],
            "cpu": (cpu_seconds(self.process.pid) - cpu) / done * 1e6})

    def median(self, key):
        return statistics.median(r[key] for r in self.rounds)


def lateness(binary, services, target, count):
    """For each service: the seconds that its start took, its memory then and at most while calls fell due, and the
    milliseconds by which these began after their time, as the store has it. All at once, so that what else the machine
    does befalls each alike."""
    first = (time.time_ns() // 1_000_000) << 20 | 7 << 10
    start = microseconds() + 10_000_000
    due = {identity(first + n): start + n * 1_000_000 // DUE_RATE for n in range(count)}
    for service in services:
        importing(binary, service.store, lines(count, target, first, lambda n: start + n * 1_000_000 // DUE_RATE))
    took = [service.start() for service in services]
    idle = [service.resident() for service in services]
    peak = idle
    end = time.monotonic() + 10 + DUE_SECONDS + 30
    while any(finished(service.metrics()) < count for service in services):
        if time.monotonic() > end:
            sys.exit(f"due calls are left; see {OUT}")
        peak = [max(most, service.resident()) for most, service in zip(peak, services)]
        time.sleep(0.25)
    late = [[] for _ in services]
    for times, service in zip(late, services):
        answer = subprocess.run(
            [binary, "export", "--store", f"sqlite:{service.store}", "--state", "succeeded"], capture_output=True,
            text=True, check=True, timeout=120, env={"PATH": os.environ["PATH"]})
        for line in answer.stdout.splitlines():
            call = json.loads(line)
            times.append((call["attempts"][0]["startedAt"] - due[call["id"]]) / 1000)
        assert len(times) == count, f"{len(times)} of {count}"
        times.sort()
    return took, idle, peak, late


def quantiles(times):
    return f"p50 {times[len(times) // 2]:.1f} ms, p99 {times[len(times) * 99 // 100]:.1f} ms, worst {times[-1]:.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/redial"))
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    target = free_port()
    (OUT / "nginx.conf").write_text(NGINX.format(out=OUT, port=target))
    body = json.dumps({
        "url": f"http://127.0.0.1:{target}/hook/orders", "method": "POST", "body": "0123456789" * 20,
        "headers": {"content-type": "application/json"}, "labels": {"team": "payments"}})
    script = OUT / "post.lua"
    script.write_text(WRK.format(body=body))

    empty, full = Service(options.binary, "empty"), Service(options.binary, "backlog")
    for service in (empty, full):
        shutil.rmtree(service.store.parent, ignore_errors=True)
    nginx = subprocess.Popen(["nginx", "-p", str(OUT), "-c", str(OUT / "nginx.conf")], stderr=subprocess.DEVNULL)
    running = [nginx]
    try:
        wait_for(target, nginx, "nginx")
        began, hour = time.monotonic(), microseconds() + 3600 * 1_000_000
        # Over a day, in no order.
        first = (time.time_ns() // 1_000_000 - 3_600_000) << 20
        importing(options.binary, full.store, lines(
            options.calls, target, first, lambda n: hour + n * 7_919_000_003 % 86_400_000_000))
        print(f"  in {time.monotonic() - began:.0f} s; the store takes {full.store.stat().st_size / 1e6:.0f} MB")
        took, idle, peak, late = lateness(options.binary, [full, empty], target, DUE_RATE * DUE_SECONDS)
        running += [full.process, empty.process]
        for _ in range(options.rounds):
            for service in (empty, full):
                service.round(str(script), options)
        loaded = {s: s.resident() for s in (empty, full)}
    finally:
        for process in reversed(running):
            stop(process)
        for service in (empty, full):
            shutil.rmtree(service.store.parent, ignore_errors=True)

    print(f"{options.calls} calls scheduled for later; {options.rounds} rounds of {options.seconds} s in turn, "
          f"{options.connections} connections; medians")
    print(f"start      {took[0]:6.2f} s, {took[1]:.2f} s on an empty store   (goal: under 1 s)")
    print(f"resident   {idle[0]:6.1f} MB after the start, {peak[0]:.1f} MB at most while calls fell due   "
          "(goal: under 100 MB)")
    print(f"           {loaded[full]:6.1f} MB after the rounds, {loaded[empty]:.1f} MB with an empty store")
    print(f"lateness   {quantiles(late[0])} at {DUE_RATE} due calls/s   (goal: p99 under 50 ms)")
    print(f"           {quantiles(late[1])} with an empty store, at the same time")
    for key, unit in (("accepts", "/s"), ("completes", "/s"), ("cpu", " µs a call")):
        ratio = full.median(key) / empty.median(key)
        print(f"{key:10} {full.median(key):8.1f}{unit}, {empty.median(key):.1f}{unit} with an empty store: {ratio:.2f}"
              + ("   (goal: at least 0.90)" if key != "cpu" else ""))


if __name__ == "__main__":
    main()

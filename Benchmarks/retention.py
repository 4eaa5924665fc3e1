#!/usr/bin/env python3
"""Measures what finished calls cost: lists and metrics with a million of them beside a hundred, and their removal.

The calls are put into a store by `redial import`, half of them past their time. First the service keeps them all: lists
and metrics are asked for, in turn with a store of a hundred. Then it is started again with the time after which half of them
go: how long that takes, and how long accepts take meanwhile at a steady rate, beside those of the small store.

  python3 Benchmarks/retention.py [--calls 1000000] [--rate 200] [--binary PATH]
"""

import argparse
import http.client
import json
import pathlib
import shutil
import statistics
import sys
import time

from backlog import Service, identity, importing, microseconds
from service import OUT, ROOT, stop

ASKED = 300
REMOVAL_LIMIT = 300
DAY = 86_400_000_000


def lines(count, first, now):
    spec = json.dumps({
        "url": "http://127.0.0.1:9/hook/orders", "method": "POST", "headers": {"content-type": "application/json"},
        "policy": {"maxAttempts": 8}, "target": "http://127.0.0.1:9", "capture": {"maxBytes": 65536}})
    for number in range(count):
        # The older half ended two days ago, the newer now.
        ended = now - (2 * DAY if number < count // 2 else 0) + number
        yield (
            f'{{"id":"{identity(first + number)}","kind":"call","createdAt":{ended},"state":"succeeded","due":{ended},'
            f'"waiting":null,"attemptCount":1,"interruptions":0,"attemptsBefore":0,"roundStartedAt":{ended},'
            f'"finishedAt":{ended},"failure":null,"previousWait":0,"totalWait":0,"spec":{spec},'
            f'"body":"{"MDEyMzQ1Njc4OTAx" * 16}","attempts":[{{"number":1,"startedAt":{ended},"duration":9000,'
            f'"outcome":"answered","status":200,"decision":"eyJhY3Rpb24iOiJzdWNjZWVkIn0=","truncated":false,'
            f'"responseHead":"","responseBody":"{"MDEyMzQ1Njc4OTAx" * 4}"}}]}}\n')


def asked(service, path):
    """The median time of an answer, in microseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    times = []
    for _ in range(ASKED):
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, path
        times.append((time.perf_counter() - began) * 1e6)
    return statistics.median(times)


def accepts(service, rate, until):
    """Milliseconds from each call's submission to its answer, sorted."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    body = json.dumps({"url": "http://127.0.0.1:9/", "delay": "1h", "body": "0123456789" * 20})
    times, began, number = [], time.perf_counter(), 0
    while not until():
        for _ in range(rate // 10):
            due = began + number / rate
            wait = due - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            sent = time.perf_counter()
            connection.request("POST", "/v1/calls", body, {"content-type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 202
            times.append((time.perf_counter() - sent) * 1e3)
            number += 1
    return sorted(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/redial"))
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    few, full = Service(options.binary, "few"), Service(options.binary, "finished")
    for service in (few, full):
        shutil.rmtree(service.store.parent, ignore_errors=True)
    running = []
    try:
        now = microseconds()
        importing(options.binary, full.store, lines(options.calls, (now // 1000 - 3 * DAY // 1000) << 20, now))
        importing(options.binary, few.store, lines(100, (now // 1000 - 3 * DAY // 1000) << 20, now))
        before = full.store.stat().st_size
        print(f"{options.calls} finished calls, {before / 1e6:.0f} MB; medians of {ASKED}, and with a hundred calls")
        for service in (few, full):
            service.start()
            running.append(service.process)
        for path in ("/v1/calls", "/v1/calls?state=succeeded&limit=50", "/v1/calls?state=failed", "/metrics"):
            # Once without measuring, because a query is prepared when it is first used.
            asked(full, path), asked(few, path)
            print(f"  GET {path:36} {asked(full, path):6.0f} µs, {asked(few, path):.0f} µs")
        stop(running.pop())
        full.arguments = ["--retention-time", "1d"]
        full.start()
        running.append(full.process)
        began, took, count = time.monotonic(), None, 0

        def gone():
            nonlocal took, count
            count = full.metrics()["redial_calls_removed_total"]
            took = time.monotonic() - began
            if took > REMOVAL_LIMIT:
                sys.exit(f"{count:.0f} calls removed after {REMOVAL_LIMIT} s; see {full.log}")
            return count >= options.calls // 2

        during = accepts(full, options.rate, gone)
        end = time.monotonic() + took
        without = accepts(few, options.rate, lambda: time.monotonic() > min(end, began + 2 * took))
        deadline = time.monotonic() + 120
        size = before
        while time.monotonic() < deadline and size > before * 0.7:
            size = full.store.stat().st_size
            time.sleep(0.2)
    finally:
        for process in running:
            stop(process)
        for service in (few, full):
            shutil.rmtree(service.store.parent, ignore_errors=True)
    print(f"removal of {count:.0f} calls took {took:.1f} s ({count / took:.0f}/s); "
          f"the file came from {before / 1e6:.0f} to {size / 1e6:.0f} MB")

    def quantiles(times):
        return f"p50 {times[len(times) // 2]:.2f} ms, p99 {times[len(times) * 99 // 100]:.2f} ms, worst {times[-1]:.1f} ms"

    print(f"accepts meanwhile, {options.rate}/s on one connection: {quantiles(during)}; with a small store {quantiles(without)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures how much a load needs: CPU and disk writes by rate, disk by retention, and memory by backlog.

Each figure is from a service of its own with a new store. The target is a local nginx. Bodies are random words, which
compress as text does; a response is three bytes. The size of a store is that of its file after a stop, without free pages,
or of the database after a vacuum, divided by the calls in it.

  python3 Benchmarks/sizing.py [--seconds 10] [--calls 20000] [--waiting 1000000] [--binary PATH]

With fewer --calls the empty pages of a store count for more.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import types

import backlog
import service
from postgres import Cluster

OUT, ROOT = service.OUT, service.ROOT
RATES = [0, 10, 100, 1000, None]
BODIES = [200, 2_000, 20_000, 200_000]
WORDS = "order charge customer invoice amount currency status pending refund reference shipment address".split()
# Nothing listens there.
NOWHERE = 9
# So that the breaker, which opens, does not end what is measured.
HELD_BODY, HELD_CALLS = 5_000, 30_000
MORE_ATTEMPTS = 4


def text(size):
    chance = random.Random(size)
    words = []
    while sum(map(len, words)) + len(words) < size:
        words += [chance.choice(WORDS), str(chance.randrange(10**6))]
    return " ".join(words)[:size]


def descriptor(target, size=200, **more):
    return json.loads(service.descriptor(target)) | {"body": text(size)} | more


class Running:
    """A service on a store."""

    def __init__(self, binary, store=None, *flags):
        self.folder = OUT / "sizing"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.file = self.folder / "redial.db"
        self.port = service.free_port()
        with open(OUT / "sizing.log", "w") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--store", store or f"sqlite:{self.file}", *flags],
                stdout=log, stderr=log, env={"PATH": os.environ["PATH"]})

    def __enter__(self):
        service.wait_for(self.port, self.process, "redial")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            service.stop(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def spent(self):
        """Seconds of CPU and bytes written to disk so far."""
        io = dict(line.split(": ") for line in pathlib.Path(f"/proc/{self.process.pid}/io").read_text().splitlines())
        return service.cpu_seconds(self.process.pid), int(io["write_bytes"])

    def metrics(self):
        return service.metrics(self.port)

    def resident(self):
        return self.metrics()["process_resident_memory_bytes"] / 1e6

    def submit(self, body, seconds, rate=None):
        """Submits at a rate, or as fast as it accepts; the number of calls that were accepted."""
        connections = min(64, rate or 64)
        lines = service.WRK.format(body=json.dumps(body))
        if rate:
            lines += service.WRK_PACED.format(longest=round(2000 * connections / rate))
        script = OUT / "sizing.lua"
        script.write_text(lines)
        options = types.SimpleNamespace(connections=connections, seconds=seconds)
        result = service.wrk(f"http://127.0.0.1:{self.port}/v1/calls", str(script), options)
        if result["refused"]:
            sys.exit(f"{result['refused']} calls were refused; see {OUT}/sizing.log")
        return int(self.metrics()["redial_calls_accepted_total"])

    def settled(self, calls):
        """Waits until this many calls have ended."""
        end = time.monotonic() + service.DRAIN_LIMIT
        while service.finished(self.metrics()) < calls:
            if time.monotonic() > end:
                sys.exit(f"calls are left after {service.DRAIN_LIMIT} s; see {OUT}/sizing.log")
            time.sleep(0.05)

    def stored(self):
        """Stops it; bytes of its file, without the pages that are free for the next calls."""
        service.stop(self.process)
        with sqlite3.connect(f"file:{self.file}?mode=ro", uri=True) as database:
            size, pages, free = (
                database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count"))
        return size * (pages - free)

    def filled(self, body, calls):
        """Submits at least this many calls, some at a time; their number."""
        accepted = 0
        while accepted < calls:
            accepted = self.submit(body, 1)
        return accepted


def by_rate(binary, target, rate, seconds):
    """Cores, bytes written per second and resident MB at a rate, and the rate that was."""
    with Running(binary) as running:
        time.sleep(1)
        before, began = running.spent(), time.monotonic()
        if rate == 0:
            time.sleep(seconds)
            calls = 0
        else:
            calls = running.submit(descriptor(target), seconds, rate)
            running.settled(calls)
        took = time.monotonic() - began
        resident = running.resident()
        cpu, written = (after - first for after, first in zip(running.spent(), before))
        return cpu / took, written / took, resident, calls / took


def store_bytes(binary, body, calls, ends):
    """Bytes of the file for each call."""
    with Running(binary) as running:
        count = running.filled(body, calls)
        if ends:
            running.settled(count)
        return running.stored() / count


def database_bytes(binary, body, calls, ends):
    """Bytes of the database for each call."""
    cluster = Cluster().start()
    try:
        with Running(binary, cluster.url) as running:
            before = int(cluster.query("SELECT pg_database_size('redial')")[0][0])
            count = running.filled(body, calls)
            if ends:
                running.settled(count)
            service.stop(running.process)
            cluster.query("VACUUM", "redial")
            return (int(cluster.query("SELECT pg_database_size('redial')")[0][0]) - before) / count
    finally:
        cluster.end()


def by_attempt(binary, seconds):
    """Microseconds of CPU, bytes written and bytes of the file for each attempt after the first."""
    target = service.free_port()
    flaky = subprocess.Popen(
        [binary, "flaky", "--quiet", "--listen", f"127.0.0.1:{target}", "--fail-rate", "1"], stdout=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"]})
    flags = ["--target-defaults", '{"breaker": {"consecutiveFailures": 0}, "pace": "fixed"}', "--log-level", "error"]
    costs = []
    try:
        service.wait_for(target, flaky, "flaky")
        for attempts in (1, 1 + MORE_ATTEMPTS):
            body = descriptor(target, policy={"maxAttempts": attempts, "backoff": {"initial": "10ms"}})
            with Running(binary, None, *flags) as running:
                before = running.spent()
                calls = running.submit(body, seconds, 200)
                running.settled(calls)
                cpu, written = (after - first for after, first in zip(running.spent(), before))
                costs.append((cpu / calls * 1e6, written / calls, running.stored() / calls))
    finally:
        service.stop(flaky)
    return [(many - one) / MORE_ATTEMPTS for one, many in zip(*costs)]


def waiting_memory(binary, count):
    """Resident MB with calls that wait in the store for a time in the future, and the seconds that the start takes."""
    with Running(binary) as empty:
        service.stop(empty.process)
        store = OUT / "waiting" / "redial.db"
        shutil.rmtree(store.parent, ignore_errors=True)
        try:
            first, hour = (time.time_ns() // 1_000_000 - 3_600_000) << 20, backlog.microseconds() + 3_600_000_000
            if count:
                backlog.importing(binary, store, backlog.lines(count, NOWHERE, first, lambda n: hour + n))
            began = time.monotonic()
            with Running(binary, f"sqlite:{store}") as running:
                started = time.monotonic() - began
                time.sleep(1)
                return running.resident(), started
        finally:
            shutil.rmtree(store.parent, ignore_errors=True)


def held_memory(binary):
    """Resident MB with as many due calls to a dead target in memory as the settings allow."""
    with Running(binary) as running:
        count = running.filled(descriptor(NOWHERE, HELD_BODY), HELD_CALLS)
        return running.resident(), count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/redial"))
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    target = service.free_port()
    nginx = service.start_nginx(target)
    try:
        print("calls/s          cores    written MB/s    resident MB    µs of CPU a call    written kB a call", flush=True)
        for rate in RATES:
            cores, written, resident, done = by_rate(options.binary, target, rate, options.seconds)
            each = f"{cores / done * 1e6:20.0f}{written / done / 1e3:21.1f}" if done else ""
            print(f"{done:7.0f}{cores:15.4f}{written / 1e6:16.3f}{resident:15.1f}{each}", flush=True)
        print("\nbody of          kB a call in the file         kB a call in PostgreSQL\n"
              "bytes            ended         waiting         ended           waiting", flush=True)
        for size in BODIES:
            figures = []
            count = max(500, min(options.calls, 200_000_000 // size))
            for measure in (store_bytes, database_bytes):
                figures.append(measure(options.binary, descriptor(target, size), count, True))
                figures.append(measure(options.binary, descriptor(target, size, delay="1h"), count, False))
            print(f"{size:7}" + "".join(f"{figure / 1e3:15.2f}" for figure in figures), flush=True)
        cpu, written, stored = by_attempt(options.binary, options.seconds)
        print(f"\nan attempt more: {cpu:.0f} µs of CPU, {written / 1e3:.1f} kB written, {stored:.0f} bytes kept", flush=True)
        print("\ncalls that wait      resident MB    start, s", flush=True)
        for count in (0, options.waiting // 10, options.waiting):
            resident, started = waiting_memory(options.binary, count)
            print(f"{count:15}{resident:17.1f}{started:12.2f}", flush=True)
        resident, count = held_memory(options.binary)
        print(f"{count} due calls of {HELD_BODY} bytes to a dead target: {resident:.1f} MB resident")
    finally:
        service.stop(nginx)


if __name__ == "__main__":
    main()

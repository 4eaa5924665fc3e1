#!/usr/bin/env python3
"""Measures how a backlog is delivered after an outage: the service with its adaptive pace, over sockets and in real time.

Each scenario starts a service of its own and a target with a capacity. Calls come at random, at a steady rate; the target
has an outage; then the backlog is delivered beside the new calls. Every half second the script notes what the target
delivered and refused, the pace, and how many calls have not ended. Afterwards it compares the recovery with the ideal: a
sender that knows the end of the outage and the capacity. As in the benchmark in virtual time (recovery-benchmark), the
target has recovered when as few calls are unfinished as before the outage, and one in fifty of the backlog.

It writes a chart of each scenario into docs/charts, and prints the table of docs/outages.md.

  python3 Benchmarks/recovery.py [--scenario NAME] [--binary PATH] [--charts FOLDER]
"""

import argparse
import asyncio
import http.client
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import urllib.parse

from recovery_chart import chart
from service import OUT, ROOT, free_port, stop, wait_for

STEP = 0.5
LATENCY = 0.02
LONGEST_QUEUE = 1.0
CALM = 6  # seconds before the outage
POLICY = {"deadline": "1h", "attemptTimeout": "5s"}


class Scenario:
    def __init__(self, name, title, rate, capacity, outage, failure, overload, change=None):
        self.name, self.title, self.rate, self.capacity, self.outage = name, title, rate, capacity, outage
        self.failure, self.overload, self.change = failure, overload, change

    def capacity_at(self, since):
        """The capacity, by the time since the outage's end."""
        return self.change[1] if self.change and since >= self.change[0] else self.capacity

    def ideal(self, backlog):
        """Seconds until an ideal sender has recovered."""
        left, at = backlog, 0.0
        while left > backlog / 50:
            left -= (self.capacity_at(at) - self.rate) * 0.01
            at += 0.01
        return at + LATENCY


SCENARIOS = [
    Scenario("queue", "Connections refused for 12 s; the target queues; a quarter more capacity than new calls",
             40, 50, 12, "refused", "queue"),
    Scenario("429", "Connections refused for 20 s; 429 beyond the capacity, which is twice the new calls",
             40, 80, 20, "refused", "429"),
    Scenario("retry-after", "Connections refused for 20 s; 429 with Retry-After; twice the new calls",
             40, 80, 20, "refused", "retry-after"),
    Scenario("unanswered", "No answers for 20 s; the target queues; twice the new calls",
             40, 80, 20, "unanswered", "queue"),
    Scenario("less-capacity", "503 for 15 s; then three times the new calls, and half of that after 3 s",
             30, 90, 15, "503", "queue", change=(3, 45)),
]


class Target:
    """An HTTP server with a capacity: beyond it requests wait, for a second at most, or get 429."""

    def __init__(self, scenario):
        self.scenario, self.port, self.server = scenario, free_port(), None
        self.is_down, self.up_at = False, None
        self.free_at = self.tokens_at = time.monotonic()
        self.tokens = scenario.capacity
        self.delivered = self.refused = 0
        self.taken = []  # of each delivered call: when it was submitted, and when it was delivered
        self.writers = set()

    @property
    def capacity(self):
        return self.scenario.capacity_at(time.monotonic() - self.up_at if self.up_at else -1)

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port, reuse_address=True)

    async def fail(self):
        self.is_down = True
        if self.scenario.failure == "refused":
            self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()

    async def work(self):
        self.is_down, self.up_at = False, time.monotonic()
        self.free_at = self.tokens_at = self.up_at
        self.tokens = self.scenario.capacity
        for writer in list(self.writers):
            writer.transport.abort()
        if self.scenario.failure == "refused":
            await self.listen()

    async def serve(self, reader, writer):
        self.writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode()
                answer = await self.answer(path)
                writer.write(answer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    async def answer(self, path):
        if self.is_down:
            if self.scenario.failure == "503":
                await asyncio.sleep(LATENCY)
                return b"HTTP/1.1 503 Down\r\ncontent-length: 0\r\n\r\n"
            await asyncio.sleep(3600)
        now = time.monotonic()
        if self.scenario.overload == "queue":
            wait = max(0, self.free_at - now)
            if wait > LONGEST_QUEUE:
                return self.refuse("503 Overloaded")
            self.free_at = max(self.free_at, now) + 1 / self.capacity
            await asyncio.sleep(wait + LATENCY)
        else:
            self.tokens = min(self.capacity, self.tokens + (now - self.tokens_at) * self.capacity)
            self.tokens_at = now
            if self.tokens < 1:
                field = "Retry-After: 1\r\n" if self.scenario.overload == "retry-after" else ""
                return self.refuse("429 Too Many", field)
            self.tokens -= 1
            await asyncio.sleep(LATENCY)
        self.delivered += 1
        self.taken.append((float(path.rsplit("/", 1)[1]), time.monotonic()))
        return b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"

    def refuse(self, status, field=""):
        self.refused += 1
        return f"HTTP/1.1 {status}\r\n{field}content-length: 0\r\n\r\n".encode()


class Service:
    def __init__(self, binary, name, port):
        self.port, self.store = port, OUT / f"recovery-{name}"
        shutil.rmtree(self.store, ignore_errors=True)
        self.store.mkdir(parents=True)
        with open(OUT / f"recovery-{name}.log", "w") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--listen", f"127.0.0.1:{port}", "--store", f"sqlite:{self.store}/redial.db",
                 "--egress", "private"], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
        wait_for(port, self.process, "redial")
        self.client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, method, path, body=None):
        self.client.request(method, path, body and json.dumps(body), {"content-type": "application/json"})
        answer = self.client.getresponse()
        return answer.status, json.loads(answer.read())

    def end(self):
        stop(self.process)
        shutil.rmtree(self.store, ignore_errors=True)


class Run:
    """A scenario while it runs."""

    def __init__(self, scenario, binary):
        self.scenario = scenario
        self.random = random.Random(1)
        self.target = Target(scenario)
        self.service = Service(binary, scenario.name, free_port())
        self.url = f"http://127.0.0.1:{self.target.port}"
        self.submitted = 0
        self.samples = []

    def submit(self, count):
        now = time.monotonic()
        calls = [{"url": f"{self.url}/call/{now}", "policy": POLICY} for _ in range(count)]
        status, answer = self.service.ask("POST", "/v1/calls/batch", calls)
        if status != 200 or any(item["status"] != 202 for item in answer["data"]):
            sys.exit(f"calls were refused: {status} {str(answer)[:500]}")
        self.submitted += count

    def pace(self):
        status, view = self.service.ask("GET", "/v1/targets/" + urllib.parse.quote(self.url, safe=""))
        return view["pace"]["rate"] if status == 200 else None

    @property
    def unfinished(self):
        return self.submitted - self.target.delivered

    async def go(self):
        scenario, target = self.scenario, self.target
        await target.listen()
        began = last = time.monotonic()
        sampled, before = began, (0, 0)
        most_usual, backlog, recovery, refused = 1, None, None, 0
        outage, longest = (CALM, CALM + scenario.outage), CALM + scenario.outage + 75
        while True:
            await asyncio.sleep(0.02)
            now = time.monotonic()
            at = now - began
            if outage[0] <= at < outage[1] and not target.is_down:
                await target.fail()
            if at >= outage[1] and target.is_down:
                backlog = self.unfinished
                await target.work()
                refused = target.refused
            count, last = self.poisson(now - last), now
            if count:
                await asyncio.to_thread(self.submit, count)
            if at < outage[0]:
                most_usual = max(most_usual, self.unfinished)
            if backlog is not None and recovery is None and self.unfinished <= most_usual + backlog / 50:
                recovery, refused = now - target.up_at, target.refused - refused
                end = at + 6
            if now - sampled >= STEP:
                length, sampled = now - sampled, now
                self.samples.append((
                    at, (target.delivered - before[0]) / length, (target.refused - before[1]) / length,
                    0 if target.is_down else target.capacity, await asyncio.to_thread(self.pace), self.unfinished))
                before = (target.delivered, target.refused)
            if recovery is not None and at > end or at > longest:
                break
        target.server.close()
        waits = sorted(
            delivered - submitted for submitted, delivered in target.taken
            if target.up_at <= submitted < target.up_at + (recovery or 75))
        return at, outage, backlog, recovery, refused, waits

    def poisson(self, seconds):
        """How many calls come within a time."""
        count, left = 0, seconds * self.scenario.rate
        while (left := left - self.random.expovariate(1)) > 0:
            count += 1
        return count


def run(scenario, options):
    began = os.getloadavg()[0]
    current = Run(scenario, options.binary)
    try:
        seconds, outage, backlog, recovery, refused, waits = asyncio.run(current.go())
    finally:
        current.service.end()
    folder = pathlib.Path(options.charts)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"recovery-{scenario.name}.svg").write_text(chart(scenario.title, seconds, outage, current.samples))
    ideal = scenario.ideal(backlog)
    new = waits[len(waits) // 2], waits[int(len(waits) * 0.9)]
    shown = "not in 75 s" if recovery is None else f"{recovery:.1f} s"
    ratio = "" if recovery is None else f"{recovery / ideal:.2f}"
    print(f"| [{scenario.name}](charts/recovery-{scenario.name}.svg) | {backlog} | {ideal:.1f} s | {shown} | {ratio} | "
          f"{100 * refused / backlog:.1f} % | {new[0]:.2f} s, {new[1]:.1f} s |", flush=True)
    print(f"  load {began:.1f} before", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", choices=[s.name for s in SCENARIOS])
    parser.add_argument("--binary", default=str(ROOT / ".build/release/redial"))
    parser.add_argument("--charts", default=str(ROOT / "docs/charts"))
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    print("| scenario | backlog | ideal | recovery | recovery ÷ ideal | refused ÷ backlog | new calls: median, p90 |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for scenario in SCENARIOS:
        if options.scenario in (None, scenario.name):
            run(scenario, options)


if __name__ == "__main__":
    main()

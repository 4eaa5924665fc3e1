"""Loads a service, kills it at random moments, and compares every call with the records of clients and the target."""

import contextlib
import http.client
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

from processes import BOUND, NO_BREAKER, Client, run, wait_until

# A failure that says nothing of the target's load: with 503 the pace could fall, and the calls end too late.
FAILURE = 500
POLICY = {"maxAttempts": 60, "deadline": "1h", "backoff": {"initial": "10ms", "max": "100ms"},
          "retryOn": {"network": True, "statuses": [str(FAILURE)]}}
# An open breaker would leave nothing in flight to kill.
FLAGS = [*NO_BREAKER, "--log-level", "error"]
# The maximum time between a request's arrival and its outcome on disk on a busy machine, in seconds.
SLACK = 5
# How much later than it was sent the target may read a request, even after its sender's death.
LATE = 1


class Target:
    """The recording target, which runs through all crashes."""

    def __init__(self, folder, seed, fail_rate=0.2):
        self.record = folder / "hits"
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("recording_target.py"), self.record, str(seed),
             str(fail_rate), str(FAILURE)], stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def hits(self):
        for *hit, _ in self.timed_hits():
            yield hit

    def timed_hits(self):
        """The same, each with the seconds until its answer."""
        for line in self.record.read_text().splitlines():
            at, path, call, attempt, webhook, status, pause, _ = line.split(" ")
            yield float(at), path, call, attempt, webhook, int(status), float(pause)

    def end(self):
        self.process.kill()
        self.process.wait(BOUND)
        self.process.stdout.close()


class Load:
    """Clients that submit without pause, each call under its own key, until it is answered."""

    def __init__(self, service, target, clients=6, pause=0.004):
        self.service, self.target, self.pause = service, target, pause
        # By number, the id in the 202 for a call, or in the answer to its repetition.
        self.acknowledged = {}
        self.replays = self.refusals = self.number = 0
        self.faults = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.client) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def client(self):
        connection = None
        while not self.stopped.is_set():
            with self.lock:
                self.number += 1
                number = self.number
            descriptor = {"url": f"{self.target.url}/{number}", "policy": POLICY}
            if number % 10 == 0:
                descriptor["callback"] = {"url": f"{self.target.url}/hook/{number}"}
            while True:
                try:
                    connection = connection or Client(self.service.port)
                    answer = connection("POST", "/v1/calls", descriptor, {"idempotency-key": f"\"load-{number}\""})
                except (OSError, http.client.HTTPException):
                    connection = None
                    if self.stopped.is_set():
                        return
                    time.sleep(0.005)
                    continue
                if answer.status in (503, 507):
                    with self.lock:
                        self.refusals += 1
                    if not answer.headers.get("retry-after"):
                        self.faults.append(f"{answer.status} without Retry-After")
                    time.sleep(0.02)
                    continue
                break
            with self.lock:
                if answer.status in (200, 202):
                    self.acknowledged[number] = answer.json["id"]
                    self.replays += answer.headers.get("idempotency-status") is not None
                else:
                    self.faults.append(f"{answer.status} {answer.body}")
            time.sleep(self.pause)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


class CrashLoop:
    """Rounds of load, kill and restart."""

    def __init__(self, service, target, seed, after_kill=lambda: None):
        self.service, self.target, self.after_kill = service, target, after_kill
        self.chance = random.Random(seed)
        self.kills = []

    def kill(self, process):
        before = time.monotonic()
        process.send_signal(signal.SIGKILL)
        process.wait(BOUND)
        self.kills.append((before, time.monotonic()))
        self.after_kill()

    def rounds(self, count, during=lambda: None):
        load = Load(self.service, self.target)
        try:
            for _ in range(count):
                if self.chance.random() < 0.2:
                    self.kill_starting()
                time.sleep(self.chance.uniform(0.02, 0.5))
                during()
                self.kill(self.service.process)
                self.service.start()
        finally:
            load.stop()
        return load

    def kill_starting(self):
        """Kills a process while it starts, or takes over the calls of the one before."""
        self.kill(self.service.process)
        process = self.service.spawn()
        time.sleep(self.chance.uniform(0, 0.15))
        self.kill(process)
        self.service.start()

    def check(self, load):
        """Compares the service's answers with both records; returns the figures."""
        assert not load.faults, load.faults[:3]
        # Webhooks are retried from 5 s on.
        try:
            wait_until(lambda: self.service.metrics()["redial_backlog_calls"] == 0, "all calls end", 120)
        except AssertionError:
            print("not ended:", *self.unfinished(), sep="\n")
            raise
        by_call, webhooks, paths = {}, {}, {}
        total = 0
        for at, path, call, attempt, webhook, status in self.target.hits():
            total += 1
            if path.startswith("/hook/"):
                webhooks.setdefault(int(path.removeprefix("/hook/")), set()).add(webhook)
            else:
                by_call.setdefault(call, []).append((at, int(attempt), status))
                paths.setdefault(int(path[1:]), set()).add(call)
        figures = {
            "kills": len(self.kills), "acknowledged": len(load.acknowledged), "replayed": load.replays,
            "refused": load.refusals, "hits": total, "lost": 0, "beyondRecorded": 0, "interrupted": 0,
            "duplicates": 0, "duplicatesUnexplained": 0, "webhooks": len(webhooks)}
        for number, identity in load.acknowledged.items():
            answer = self.service("GET", f"/v1/calls/{identity}")
            if answer.status != 200 or answer.json["state"] != "succeeded" or identity not in by_call:
                figures["lost"] += 1
                print("lost:", identity, answer.body, by_call.get(identity))
                continue
            call, hits = answer.json, by_call[identity]
            assert paths[number] == {identity}, f"the key of {number} gave {paths[number]}"
            assert [a["number"] for a in call["attempts"]] == list(range(1, call["attemptCount"] + 1)), call
            outcomes = {a["number"]: a["outcome"] for a in call["attempts"]}
            numbers = [attempt for _, attempt, _ in hits]
            figures["interrupted"] += sum(o == "interrupted" for o in outcomes.values())
            beyond = len(hits) > call["attemptCount"] or len(set(numbers)) < len(numbers) or max(numbers) > len(outcomes)
            figures["beyondRecorded"] += beyond
            if beyond:
                print("beyond its record:", call, hits)
            hits.sort()
            for (at, attempt, status), (again, _, _) in zip(hits, hits[1:]):
                if status != 200:
                    continue
                # It was executed twice, which is allowed only if it was in flight at a kill.
                figures["duplicates"] += 1
                in_flight = any(
                    at <= end + LATE and start <= again and start - at < SLACK for start, end in self.kills)
                if not in_flight or outcomes[attempt] != "interrupted":
                    figures["duplicatesUnexplained"] += 1
                    print("a duplicate:", identity, outcomes, hits)
        for number in load.acknowledged:
            if number % 10 == 0:
                assert len(webhooks.get(number, ())) == 1, f"the webhook of {number} came as {webhooks.get(number)}"
        return figures

    def unfinished(self):
        """Some of the calls that did not end, their targets, and the metrics."""
        yield self.service("GET", "/v1/calls?state=scheduled&state=running&limit=5").body
        yield self.service("GET", "/v1/targets").body
        yield self.service("GET", "/metrics").body

    def check_store(self):
        """The store of the stopped service is sound."""
        assert self.service.terminate() == 0
        # Closed at once: it may be on a disk that is to be unmounted.
        with contextlib.closing(sqlite3.connect(f"file:{self.service.store}?mode=ro", uri=True)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if run("doctor", "--help").returncode == 0:
            report = run("doctor", "--store", f"sqlite:{self.service.store}")
            assert report.returncode == 0, report.stdout + report.stderr


def assert_nothing_lost(figures):
    assert figures["acknowledged"] > 0 and figures["hits"] >= figures["acknowledged"]
    assert figures["lost"] == 0
    assert figures["beyondRecorded"] == 0
    assert figures["duplicatesUnexplained"] == 0


def rounds_wanted(default):
    return int(os.environ.get("REDIAL_CRASH_ROUNDS", default))

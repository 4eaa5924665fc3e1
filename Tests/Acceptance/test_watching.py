"""A service under load for an hour, with all that happens in a day: what grows, and what gets slow, minute by minute.

`REDIAL_WATCH_MINUTES` is how long (6), `REDIAL_WATCH_RATE` the calls per second; without it they are half of what the service
completes at full load, which is measured first. Once on SQLite, and once with three instances on PostgreSQL. 5 % of the requests
fail, and calls are removed some minutes after their end. Minute by minute a table is printed, and written to
.build/watching-STORE.csv, whatever the result.

The load is made by wrk, against nginx. Times are measured with calls of our own beside it: from when each was to be sent to the
answer, and to its arrival at a target in this process.
"""

import csv
import http.client
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import pytest

from processes import BOUND, ROOT, free_port, run, wait_until

sys.path.append(str(ROOT / "Benchmarks"))
import service as bench  # noqa: E402

MINUTES = int(os.environ.get("REDIAL_WATCH_MINUTES", 6))
RATE = float(os.environ.get("REDIAL_WATCH_RATE", 0))
MINUTE = 60
# The calls of the bulk operation: a hundred thousand in an hour.
BULK = max(5_000, min(100_000, MINUTES * 2_000))
RETENTION = max(1, MINUTES // 20)
CONNECTIONS, PROBES = 48, 20
# What happens, and when, as parts of the whole time.
EVENTS = {0.2: "outage", 0.4: "backup", 0.6: "bulk", 0.8: "restart"}
# What may grow between the first and the last quarter of a time without a restart, by their medians: a part of the mean, and some
# units more. A heap that grew with the backlog of the outage stays, a page of PostgreSQL is used again only after a vacuum, and
# SQLite's log keeps the 64 MiB that it once needed, while a backup was made.
ALLOWED = {"rss MB": (0.15, 16), "store MB": (0.15, 16), "log MB": (0.15, 64), "descriptors": (0, 32), "threads": (0, 8)}
# "No minute worse than twice the median", and a sync or two of a disk that others use, in ms. The minutes with a restart are left
# out: nobody answers for a moment.
WORST, SYNCS = 2, 10
COLUMNS = ["minute", "what", "calls/s", "backlog", *ALLOWED, "accept p99 ms", "delivery p99 ms", "errors"]

FINISHED = "redial_calls_finished_total"

SCRIPT = """
local bodies, requests, place = {{{bodies}}}, {{}}, {place}
function init()
  for number, body in ipairs(bodies) do
    requests[number] = wrk.format("POST", nil, {{["Content-Type"] = "application/json"}}, body)
  end
end
function request()
  place = place % #requests + 1
  return requests[place]
end
"""


def total(service, prefix):
    return sum(value for name, value in service.metrics().items() if name.startswith(prefix))


class Probes:
    """Calls at a steady rate beside the load, to a target of their own."""

    def __init__(self, services, target):
        self.services, self.target = services, target
        self.due, self.accepted, self.errors = {}, [], []
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.probe, args=(number,)) for number in range(4)]
        for thread in self.threads:
            thread.start()

    def probe(self, first):
        begun, number = time.time(), 0
        while not self.stopped.is_set():
            due = begun + (first / 4 + number) * 4 / PROBES
            time.sleep(max(0, due - time.time()))
            path = f"/{first}-{number}"
            number += 1
            try:
                answer = self.services[number % len(self.services)](
                    "POST", "/v1/calls", {"url": self.target.url + path, "target": f"probe{first}"})
            except (OSError, http.client.HTTPException):
                self.errors.append(due)
                continue
            if answer.status == 202:
                self.accepted.append((due, time.time() - due))
                self.due[path] = due
            else:
                self.errors.append(due)

    def minute(self, start, end):
        """The 99th percentiles of a minute in ms, and the number of errors."""
        # Copies: the threads go on.
        accepts = [seconds for due, seconds in list(self.accepted) if start <= due < end]
        arrivals = {request.path: request.at for request in list(self.target.requests)}
        deliveries = [arrivals.get(path, time.time()) - due for path, due in self.due.copy().items() if start <= due < end]
        worst = lambda times: round(1000 * sorted(times)[math.ceil(0.99 * len(times)) - 1], 1) if times else None
        return [worst(accepts), worst(deliveries), sum(start <= due < end for due in list(self.errors))]

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


class Watch:
    """The service on one kind of store, with its load."""

    def __init__(self, name, services, cluster, nginx, probes, folder):
        self.name, self.services, self.cluster, self.nginx = name, services, cluster, nginx
        self.probes, self.folder = probes, folder
        self.rows, self.finished, self.waiting, self.loads = [], {}, 0, []

    def write_scripts(self, rate):
        """A script of wrk for each instance: nine of ten calls are to the target that works, one to that with the outage."""
        longest = round(2000 * CONNECTIONS * len(self.services) / rate) if rate else 0
        policy = {"maxAttempts": 50, "deadline": "1h", "backoff": {"initial": "200ms", "max": "5s"}}
        bodies = [json.dumps({
            "url": f"http://127.0.0.1:{self.nginx[number % 10 == 9].port}/hook", "target": f"target{number}", "policy": policy,
            "body": "0123456789" * 20}) for number in range(20)]
        self.scripts = [self.folder / f"post{number}.lua" for number in range(len(self.services))]
        for number, file in enumerate(self.scripts):
            file.write_text(SCRIPT.format(bodies=", ".join(f"[[{body}]]" for body in bodies), place=number)
                            + (bench.WRK_PACED.format(longest=longest) if longest else ""))

    def load_one(self, number, seconds):
        return subprocess.Popen(
            ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{int(seconds)}s", "-s", self.scripts[number],
             f"{self.services[number].url}/v1/calls"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def load(self, seconds):
        self.loads = [self.load_one(number, seconds) for number in range(len(self.services))]

    def total(self, prefix):
        return sum(total(service, prefix) for service in self.services)

    def drained(self):
        # What a bulk operation is to cancel waits with a target of its own, for longer than all.
        wait_until(lambda: self.total("redial_backlog_calls") <= self.waiting, "all calls have ended", 20 * BOUND)

    def half_of_full_load(self):
        begun, before = time.monotonic(), self.total(FINISHED)
        self.write_scripts(0)
        self.load(10)
        for process in self.loads:
            process.wait(BOUND)
        self.drained()
        full = (self.total(FINISHED) - before) / (time.monotonic() - begun)
        print(f"\n{self.name}: {full:.0f} calls/s at full load")
        return full / 2

    def fill(self):
        """The calls that the bulk operation will be about."""
        batch = [{"url": "http://127.0.0.1:9/", "target": f"later{number % 8}", "delay": "7d", "labels": {"batch": "1"}}
                 for number in range(1000)]
        for number in range(BULK // len(batch)):
            answer = self.services[number % len(self.services)]("POST", "/v1/calls/batch", batch)
            assert {item["status"] for item in answer.json["data"]} == {202}, answer.body[:500]
        self.waiting = BULK

    def outage(self):
        self.nginx[1].stop()
        time.sleep(MINUTE * 0.6)
        self.nginx[1].start()

    def backup(self):
        if self.cluster:
            file = self.cluster.folder / "backup"
            self.cluster.run("pg_dump", "-Fc", "-f", file, "-h", self.cluster.folder, "-U", "postgres", "redial")
        else:
            done = run("backup", "--store", f"sqlite:{self.services[0].store}", self.folder / "backup.db", seconds=10 * BOUND)
            # It is not removed now: file systems free the space of a large file within one transaction of theirs.
            assert done.returncode == 0, done

    def bulk(self):
        begun = self.services[0]("POST", "/v1/operations", {
            "action": "cancel", "filter": {"labels": {"batch": "1"}}, "ratePerSecond": max(100, BULK // 30)})
        assert begun.status == 202, begun.body

        def done():
            shown = self.services[0]("GET", f"/v1/operations/{begun.json['id']}").json
            return shown["state"] == "completed" and shown
        assert wait_until(done, "the operation ends", 10 * BOUND)["done"] == BULK
        self.waiting = 0

    def restart(self):
        # After a connection that broke wrk does not keep to its rate.
        self.loads[-1].terminate()
        assert self.services[-1].terminate() == 0
        self.services[-1].start()
        self.loads[-1] = self.load_one(-1, MINUTE / 2)

    def sizes(self):
        """Megabytes of the store and of its log."""
        if not self.cluster:
            store = self.services[0].store
            return [store.stat().st_size / 1e6, pathlib.Path(f"{store}-wal").stat().st_size / 1e6]
        log = sum(file.stat().st_size for file in (self.cluster.data / "pg_wal").iterdir() if file.is_file())
        return [int(self.cluster.query("SELECT pg_database_size('redial')")[0][0]) / 1e6, log / 1e6]

    def held(self):
        """Resident megabytes, descriptors and threads of all instances."""
        for service in self.services:
            process = pathlib.Path(f"/proc/{service.process.pid}")
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            yield int(status["VmRSS"].split()[0]) / 1e3, len(list((process / "fd").iterdir())), int(status["Threads"])

    def done(self):
        """The calls that have ended since the last time. A process that was started again counts from 0."""
        before, self.finished = self.finished, {service.port: total(service, FINISHED) for service in self.services}
        return sum(count - (before.get(port, 0) if count >= before.get(port, 0) else 0) for port, count in self.finished.items())

    def row(self, minute, what, start, end):
        resident, descriptors, threads = map(sum, zip(*self.held()))
        backlog = int(self.total("redial_backlog_calls"))
        values = [minute, what, round(self.done() / (end - start)), backlog, resident, *self.sizes(), descriptors, threads,
                  *self.probes.minute(start, end)]
        self.rows.append(dict(zip(COLUMNS, (round(v, 1) if isinstance(v, float) else v for v in values))))
        print("  ".join(f"{name} {value}" for name, value in self.rows[-1].items() if value != ""), flush=True)

    def watch(self, rate):
        events = {round(part * MINUTES): name for part, name in EVENTS.items()}
        self.write_scripts(rate)
        self.fill()
        self.done()
        faults = []

        def happen(name):
            try:
                getattr(self, name)()
            except Exception as error:  # It would be lost with its thread.
                faults.append(f"{name}: {error!r}")
        times, threads = [], []
        for minute in range(MINUTES):
            start, name = time.time(), events.get(minute, "")
            self.load(MINUTE - 1)
            if name:
                threads.append(threading.Thread(target=happen, args=(name,)))
                threads[-1].start()
            time.sleep(max(0, start + MINUTE - time.time()))
            for process in self.loads:
                process.wait(BOUND)
            times.append((start, time.time()))
            self.row(minute, name, *times[-1])
        for thread in threads:
            thread.join()
        # What was late to arrive is known now.
        self.probes.stop()
        self.drained()
        for row, (start, end) in zip(self.rows, times):
            row.update(zip(COLUMNS[-3:], self.probes.minute(start, end)))
        return faults

    def write(self):
        with open(ROOT / f".build/watching-{self.name}.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)


def uneven(rows):
    """What grew, and the minutes that were slow."""
    restart = next((place for place, row in enumerate(rows) if row["what"] == "restart"), len(rows))
    # Until calls are removed the store grows; and a process that was just started, too.
    for part in (rows[RETENTION + 1:restart], rows[restart + 2:]):
        for name, (share, units) in ALLOWED.items() if len(part) >= 4 else ():
            values = [row[name] for row in part]
            quarter = max(1, len(values) // 4)
            growth = statistics.median(values[-quarter:]) - statistics.median(values[:quarter])
            if growth > share * statistics.mean(values) + units:
                yield f"{name} grew by {growth:.1f} from minute {part[0]['minute']} to {part[-1]['minute']}: {values}"
    for name in ("accept p99 ms", "delivery p99 ms"):
        median = statistics.median(row[name] for row in rows if row[name] is not None)
        for place, row in enumerate(rows):
            if place not in (restart, restart + 1) and (row[name] is None or row[name] > WORST * median + SYNCS):
                yield f"{name} was {row[name]} in minute {row['minute']} ({row['what']}); the median is {median}"
            if row["errors"] and place not in (restart, restart + 1):
                yield f"{row['errors']} probes were not accepted in minute {row['minute']} ({row['what']})"


class Nginx:
    """A target that answers 5 % of the requests with 500."""

    def __init__(self):
        self.port = free_port()
        self.process = None

    def start(self):
        bench.OUT.mkdir(parents=True, exist_ok=True)
        self.process = bench.start_nginx(
            self.port, 'split_clients "$request_id" $fails { 5% 1; * 0; }', "if ($fails) { return 500; }")
        return self

    def stop(self):
        bench.stop(self.process)

    def end(self):
        self.process.kill()
        self.process.wait(BOUND)


@pytest.mark.part("watching")
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_nothing_grows_and_no_minute_is_slow(made, tmp_path, redial, database, instances, receiver, store):
    nginx = [Nginx().start() for _ in range(2)]
    made += nginx
    flags = ["--retention-time", f"{RETENTION}m", "--log-level", "error"]
    if store == "sqlite":
        cluster, services = None, [redial(*flags)]
    else:
        # Its files are in memory, if there is enough. Its log fills what it may have, by default a gigabyte, before it is used
        # anew.
        cluster, services = instances(3, *flags, on=database(max_wal_size="256MB"))
    probes = Probes(services, receiver())
    watch = Watch(store, services, cluster, nginx, probes, tmp_path)
    try:
        faults = watch.watch(RATE or watch.half_of_full_load())
    finally:
        probes.stop()
        watch.write()
    faults += uneven(watch.rows)
    missing = set(probes.due) - {request.path for request in probes.target.requests}
    if missing:
        faults.append(f"{len(missing)} accepted calls have not arrived")
    report = run("doctor", "--store", cluster.url if cluster else f"sqlite:{services[0].store}", seconds=10 * BOUND)
    if report.returncode:
        faults.append(f"doctor: {report.stdout}")
    assert not faults, "\n".join(faults)


def test_what_grows_and_what_is_slow_is_found():
    even = [{"minute": n, "what": "restart" if n == 39 else "", "errors": 0, "accept p99 ms": 5.0, "delivery p99 ms": 9.0}
            | {name: 100 + n % 3 for name in ALLOWED} for n in range(60)]
    assert list(uneven(even)) == []
    for name, (share, units) in ALLOWED.items():
        grown = [row | {name: row[name] + row["minute"] * (3 + units / 10)} for row in even]
        assert any(fault.startswith(name) for fault in uneven(grown)), name
    kept = [row | {"log MB": 4.3 if row["minute"] < 24 else 67.1} for row in even]
    assert list(uneven(kept)) == []
    slow = [row | ({"accept p99 ms": 50.0} if row["minute"] == 20 else {}) for row in even]
    assert [fault for fault in uneven(slow) if "minute 20" in fault] == list(uneven(slow)) != []

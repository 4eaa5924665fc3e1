#!/usr/bin/env python3
"""Measures the store on PostgreSQL beside two job queues in the same cluster, and beside SQLite, in alternating rounds.

The cluster is made for this: fsync is on, and all settings but shared_buffers are the default ones. What counts is the CPU of
all processes of the server for each call, with the vacuum and the checkpoint that a round leaves behind: other programs on the
machine change it less than rates. The queues are in queues.c:

  lean     inserts by 100, fetches by 100 with SKIP LOCKED, completes by 100; one connection for each instance
  single   inserts, fetches and completes job by job; four connections

Each round has both queues, Redial on SQLite, Redial with one instance, four and eight, and with one and four while another
transaction holds a snapshot. Submissions go to all instances alike, whichever has the target; "own" is Redial with four
when each gets those for its own targets. Each round ends with 500 submissions a second, beside a program that syncs a file.
At last comes what the fence of a commit costs.

  python3 Benchmarks/postgres.py [--rounds 3] [--seconds 5] [--connections 256] [--quick] [--check] [--binary PATH]

The connections are those to each instance. --quick has one short round. With --check the program fails if a goal is missed.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
import types

import service

sys.path.insert(0, str(service.ROOT / "Tests" / "Acceptance"))
import databases  # noqa: E402  the tests' clusters

OUT = service.OUT
QUERIES = service.ROOT / "Sources/RedialPostgres/Commit/CommitQueries.swift"
TARGETS = 64
PACED_RATE = 500
SYNC_RATE = 50
TIME_LIMIT = 180


class Cluster(databases.Database):
    """A cluster whose CPU is counted."""

    def place(self, database):
        return f"host={self.folder} user=postgres dbname={database}"

    @property
    def postmaster(self):
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def cpu(self):
        """Seconds of CPU of all processes of the server so far, and of those that have ended."""
        return service.family(self.postmaster)[0]

    def log_bytes(self):
        """Bytes of the server's log so far."""
        return int(self.query("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")[0][0])

    def measure(self, database, work):
        """Does work that returns its figures, and adds what it has cost the server for each call: microseconds of CPU, how
        many of them cleaning up has taken, and bytes of the log."""
        self.query("CHECKPOINT")
        cpu, log = self.cpu(), self.log_bytes()
        result = work()
        worked = self.cpu()
        self.query("VACUUM", database)
        self.query("CHECKPOINT")
        end, calls = self.cpu(), result["calls"]
        return result | {
            "server": (end - cpu) / calls * 1e6, "cleaning": (end - worked) / calls * 1e6, "log": (self.log_bytes() - log) / calls}


class Snapshot:
    """A transaction that sees the database as it is now, so that no version of a row that it can see is removed."""

    def __init__(self, cluster, database):
        self.process = subprocess.Popen(
            [f"{databases.PROGRAMS[0]}/psql", "-X", "-q", "-A", "-t", cluster.place(database)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd=cluster.folder, **cluster.user)

    def __enter__(self):
        self.process.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class;\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)


class Instances:
    """Instances of Redial on one store. The pace is fixed: the target shares this machine, and would be spared when it is busy."""

    def __init__(self, binary, store, count):
        self.ports = [service.free_port() for _ in range(count)]
        self.processes = []
        for port in self.ports:
            with open(OUT / f"redial-{port}.log", "w") as log:
                self.processes.append(subprocess.Popen(
                    [binary, "serve", "--listen", f"127.0.0.1:{port}", "--store", store, "--target-defaults", '{"pace": "fixed"}'], stdout=log,
                    stderr=log, env={"PATH": os.environ["PATH"]}))

    def __enter__(self):
        for port, process in zip(self.ports, self.processes):
            service.wait_for(port, process, "redial")
        return self

    def __exit__(self, *_):
        for process in self.processes:
            service.stop(process)
        for port in self.ports:
            (OUT / f"redial-{port}.log").unlink()

    def share(self, cluster):
        """Waits until the instances have even shares of the shards. Returns the names of the targets of each, as far as the
        store knows them."""
        count, began = len(self.ports), time.monotonic()
        while True:
            rows = cluster.query(
                """SELECT substring(s.address FROM '[0-9]+$'), count(DISTINCT l.shard), coalesce(string_agg(t.key, ' '), '')
                   FROM redial.leases l JOIN redial.sessions s ON s.id = l.owner LEFT JOIN redial.targets t ON t.shard = l.shard
                   GROUP BY s.address""", "redial")
            shares = [int(row[1]) for row in rows]
            if len(shares) == count and sum(shares) == 64 and max(shares) <= -(-64 // count):
                return {int(row[0]): row[2].split() for row in rows}
            if time.monotonic() - began > TIME_LIMIT:
                sys.exit(f"the shards are not divided after {TIME_LIMIT} s: {shares}; see {OUT}")
            time.sleep(0.1)

    def cpu(self):
        return sum(service.cpu_seconds(process.pid) for process in self.processes)

    def load(self, scripts, options):
        """Submits to all instances at once until the time is over, waits until all calls have ended, and returns the figures."""
        cpu, began = self.cpu(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(len(self.ports)) as pool:
            answers = list(pool.map(
                lambda port, script: service.wrk(f"http://127.0.0.1:{port}/v1/calls", script, options), self.ports, scripts))
        while True:
            # These are numbers that each instance has in memory: nothing is asked of the database.
            values = [service.metrics(port) for port in self.ports]
            calls = self.total(values, "redial_calls_accepted_total")
            if sum(service.finished(each) for each in values) == calls:
                break
            if time.monotonic() - began > TIME_LIMIT:
                sys.exit(f"calls are left after {TIME_LIMIT} s; see {OUT}")
            time.sleep(0.05)
        refused = sum(answer["refused"] for answer in answers)
        if refused:
            sys.exit(f"{refused} submissions were refused; see {OUT}")
        return {
            "calls": calls, "rate": calls / (time.monotonic() - began), "own": (self.cpu() - cpu) / calls * 1e6,
            "p50": max(a["p50"] for a in answers), "p99": max(a["p99"] for a in answers),
            "attempts": self.total(values, "redial_attempts_total") / calls,
            "changes": self.total(values, "redial_store_writes_total") / calls,
            "batch": self.total(values, "redial_store_writes_total") / self.total(values, "redial_store_commits_total")}

    def total(self, values, name):
        return sum(value for each in values for key, value in each.items() if key.startswith(name))


class Syncs(threading.Thread):
    """Writes and syncs a page of a file again and again, and notes how long that takes, in milliseconds."""

    def __init__(self, folder):
        super().__init__()
        self.path, self.times, self.stopped = folder / "sync", [], threading.Event()

    def run(self):
        file = os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600)
        while not self.stopped.wait(1 / SYNC_RATE):
            began = time.monotonic()
            os.pwrite(file, bytes(8192), 0)
            os.fdatasync(file)
            self.times.append((time.monotonic() - began) * 1000)
        os.close(file)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.join()
        self.path.unlink()


class Bench:
    """The cluster, the target, and all figures by name, of each round."""

    def __init__(self, options):
        self.options, self.figures = options, {}
        self.cluster = Cluster(shared_buffers="256MB").start()
        target = service.free_port()
        descriptor = json.loads(service.descriptor(target))
        # The queues have nothing like labels, by which calls can be listed.
        del descriptor["labels"]
        self.bodies = {f"target{n}": json.dumps(descriptor | {"target": f"target{n}"}) for n in range(TARGETS)}
        self.size = len(self.bodies["target0"])
        self.script = self.write("targets.lua", list(self.bodies))
        self.nginx = service.start_nginx(target)
        self.queues = OUT / "queues"
        flags = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "libpq"], check=True, capture_output=True, text=True).stdout.split()
        compiler = shutil.which("cc") or shutil.which("clang") or sys.exit("there is no C compiler to build the queues with")
        subprocess.run(
            [compiler, "-O2", "-Wall", "-Wextra", "-D_GNU_SOURCE", "-o", self.queues,
             service.ROOT / "Benchmarks" / "queues.c", *flags], check=True)

    def end(self):
        service.stop(self.nginx)
        self.cluster.end()

    def write(self, name, targets, more=""):
        """A script for wrk: the descriptors for these targets in turn."""
        (OUT / name).write_text("local bodies = {" + ",\n".join(f"[[{self.bodies[target]}]]" for target in targets) + """}
local requests, place = {}, 0
function init()
  for number, body in ipairs(bodies) do
    requests[number] = wrk.format("POST", nil, {["Content-Type"] = "application/json"}, body)
  end
end
function request()
  place = place % #requests + 1
  return requests[place]
end
""" + more)
        return str(OUT / name)

    def note(self, name, result):
        self.figures.setdefault(name, []).append(result)
        words = "  ".join(f"{key} {value:.{0 if value > 99 else 1}f}" for key, value in result.items())
        print(f"  {name:12} {words}", flush=True)
        return result

    def median(self, name, key):
        return statistics.median(each[key] for each in self.figures[name])

    def ratio(self, name, base, key):
        return statistics.median(a[key] / b[key] for a, b in zip(self.figures[name], self.figures[base]))

    def warm_up(self):
        """Fills the tables a little, and lets the server know what is in them, as it does by itself after a minute."""
        for kind in ("lean", "single"):
            self.cluster.query(f"CREATE DATABASE {kind}")
        self.queue("lean", 1, 20_000)
        self.queue("single", 4, 400)
        self.redial(1)
        for database in ("lean", "single", "redial"):
            self.cluster.query("ANALYZE", database)

    def round(self):
        self.note("sqlite", self.sqlite())
        one = self.note("redial 1", self.redial(1))
        self.note("lean 1", self.cluster.measure("lean", lambda: self.queue("lean", 1, one["calls"])))
        self.note("single", self.cluster.measure("single", lambda: self.queue("single", 4, one["calls"] / 10)))
        four = self.note("redial 4", self.redial(4))
        self.note("lean 4", self.cluster.measure("lean", lambda: self.queue("lean", 4, four["calls"])))
        self.note("redial 4 own", self.redial(4, own=True))
        self.note("redial 8", self.redial(8))
        with Snapshot(self.cluster, "redial"):
            self.note("1 held", self.redial(1))
            self.note("4 held", self.redial(4))
        # What the snapshot has kept is no work of the next round.
        self.cluster.query("VACUUM", "redial")

    def queue(self, kind, processes, jobs):
        answer = subprocess.run(
            [self.queues, kind, self.cluster.place(kind), str(processes), str(int(jobs)), str(self.size)], check=True,
            capture_output=True, text=True, timeout=TIME_LIMIT).stdout.split()
        seconds, calls, cpu = map(float, answer)
        return {"calls": calls, "rate": calls / seconds, "own": cpu / calls * 1e6}

    def redial(self, count, own=False):
        with Instances(self.options.binary, self.cluster.url, count) as instances:
            targets = instances.share(self.cluster)
            scripts = [self.script] * count
            if own:
                scripts = [self.write(f"targets-{port}.lua", targets[port]) for port in instances.ports]
            result = self.cluster.measure("redial", lambda: instances.load(scripts, self.options))
            if self.cluster.query("SELECT count(*) FROM redial.live", "redial") != [["0"]]:
                sys.exit("calls are left that no instance knows")
            return result

    def sqlite(self):
        data = OUT / "data"
        shutil.rmtree(data, ignore_errors=True)
        try:
            with Instances(self.options.binary, f"sqlite:{data}/redial.db", 1) as instances:
                return instances.load([self.script], self.options)
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def paced(self):
        load = types.SimpleNamespace(connections=64, seconds=self.options.seconds)
        script = self.write(
            "paced.lua", list(self.bodies), service.WRK_PACED.format(longest=round(2000 * 64 / PACED_RATE)))
        with Instances(self.options.binary, self.cluster.url, 1) as instances:
            instances.share(self.cluster)
            with Syncs(self.cluster.folder) as syncs:
                result = instances.load([script], load)
        times = sorted(syncs.times)
        self.note("paced", result | {"sync p50": times[len(times) // 2], "sync p99": times[len(times) * 99 // 100]})

    def fence(self):
        """The CPU of the server for a fence, in microseconds: of the statement that the store uses, as its source has it."""
        source, paths = QUERIES.read_text(), []
        for name in ("fence", "trim"):
            text = re.search(rf'static let {name} = PostgresQuery\(.*?"""\n(.*?)"""', source, re.DOTALL)[1]
            paths.append(OUT / f"{name}.sql")
            paths[-1].write_text(text)
        answer = subprocess.run(
            [self.queues, "fence", self.cluster.place("redial"), "20", *paths], check=True, capture_output=True, text=True,
            timeout=TIME_LIMIT).stdout.split()
        return float(answer[1]) - float(answer[0])


def report(bench, fence):
    """Prints the figures and the goals. Returns the goals that are missed."""
    print(f"\n{len(bench.figures['redial 1'])} rounds of {bench.options.seconds} s, {bench.options.connections} connections to "
          f"each instance, {TARGETS} targets, descriptors of {bench.size} bytes; medians")
    print(f"{'':14}{'server':>10}{'of these':>10}{'log':>10}{'own CPU':>10}{'rate':>10}{'changes a':>11}")
    print(f"{'':14}{'µs a call':>10}{'cleaning':>10}{'B a call':>10}{'µs a call':>10}{'calls/s':>10}{'commit':>11}")
    for name, results in bench.figures.items():
        cells = [(key, bench.median(name, key) if key in results[0] else None)
                 for key in ("server", "cleaning", "log", "own", "rate", "batch")]
        print(f"{name:14}" + "".join(
            f"{'' if value is None else format(value, '.0f' if value >= 100 else '.1f'):>{11 if key == 'batch' else 10}}"
            for key, value in cells))
    commit = bench.median("redial 1", "server") * 100 / bench.median("redial 1", "changes")
    accept = statistics.median(each["p99"] - 2 * each["sync p99"] for each in bench.figures["paced"])
    goals = [
        ("server's CPU of one instance ÷ lean queue", bench.ratio("redial 1", "lean 1", "server"), 0.85, "≤"),
        ("server's CPU of four instances ÷ lean queue with four", bench.ratio("redial 4", "lean 4", "server"), 0.7, "≤"),
        ("server's CPU of one instance ÷ queue job by job", bench.ratio("redial 1", "single", "server"), 0.35, "≤"),
        ("rate of four instances ÷ lean queue with four", bench.ratio("redial 4", "lean 4", "rate"), 1.5, "≥"),
        ("server's CPU of eight instances ÷ one", bench.ratio("redial 8", "redial 1", "server"), 1.35, "≤"),
        ("server's CPU of one, with a held snapshot ÷ without", bench.ratio("1 held", "redial 1", "server"), 1.5, "≤"),
        ("server's CPU of four, with a held snapshot ÷ without", bench.ratio("4 held", "redial 4", "server"), 1.5, "≤"),
        (f"fence, {fence:.0f} µs, ÷ commit of 100 changes", fence / commit, 0.03, "≤"),
        ("own CPU of one instance ÷ on SQLite", bench.ratio("redial 1", "sqlite", "own"), 1.15, "≤"),
        (f"accept p99 at {PACED_RATE}/s less 2 × p99 of an fsync, ms", accept, 3, "≤"),
    ]
    print()
    missed = []
    for name, value, goal, sign in goals:
        holds = value <= goal if sign == "≤" else value >= goal
        print(f"{name:58} {value:7.3f}   goal {sign} {goal:<5} {'met' if holds else 'NOT MET'}")
        if not holds:
            missed.append(name)
    paced = {key: bench.median("paced", key) for key in ("p50", "p99", "sync p50", "sync p99")}
    print(f"at {PACED_RATE}/s: accept p50 {paced['p50']:.1f} ms, p99 {paced['p99']:.1f} ms; an fsync p50 "
          f"{paced['sync p50']:.1f} ms, p99 {paced['sync p99']:.1f} ms")
    print("The queues make no requests and take no submissions over HTTP: on few cores their rate is that of the server alone.")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=256)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--binary", default=str(service.ROOT / ".build/release/redial"))
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 1, 2
    OUT.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    try:
        bench.warm_up()
        for _ in range(options.rounds):
            bench.round()
            bench.paced()
        fence = bench.fence()
    finally:
        bench.end()
    if report(bench, fence) and options.check:
        sys.exit(1)


if __name__ == "__main__":
    main()

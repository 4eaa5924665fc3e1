#!/usr/bin/env python3
"""Measures Redial beside three queues with a worker that makes the requests: NATS JetStream, Redis Streams and PgQueuer.

Each system has a submission on disk, synced, before it answers: NATS with sync_interval: always, Redis with appendfsync always,
PostgreSQL with its defaults, and Redial on SQLite and on PostgreSQL. Each has a publisher in Python with 64 submissions
outstanding, and the same nginx as the target. The queues have a worker, one process in Python with 64 requests in flight
(field_clients.py); Redial makes the requests itself. In each round each system starts anew, and takes:

  warm-up   200 jobs, of which the target answers one in ten with 503
  full      as many jobs as it accepts
  paced     500 jobs a second

Each load lasts until the target has answered every accepted job with 200 (its log names the jobs), and the system has none left;
otherwise the program fails. "done" is when the target has answered: the rate, or how long after the submission began. The
costs of a job are CPU of server and worker, without publisher and target, and what the server writes to files; NATS' figure
contains about 0.2 kB of its protocol. For PostgreSQL they include a vacuum and a checkpoint after each load. Figures are
medians over the rounds.

The program installs what is missing: Debian packages (Scripts/packages bench; Debian also starts a Redis, which is not used
here), and in .build/field the Python packages of field_requirements.txt, with NATS among them. Data are in a folder that it makes
in --data, which must be on a disk.

  python3 Benchmarks/field.py [--rounds 3] [--seconds 1.5] [--systems nats,redis,…] [--data /var/tmp] [--binary PATH]
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import service
from postgres import Cluster, Instances

OUT, ROOT = service.OUT, service.ROOT
REQUIREMENTS = ROOT / "Benchmarks" / "field_requirements.txt"
VENV = ROOT / ".build" / "field"
PYTHON = VENV / "bin" / "python"
LOG = OUT / "jobs.log"
PACED_RATE = 500
WARM_UP_RATE, WARM_UP_SECONDS = 400, 0.5
TIME_LIMIT = 60
# Of PostgreSQL, in MB.
LOG_SIZE = 512
COSTS = [("server µs", "server", 0), ("worker µs", "worker", 0), ("files kB", "files", 1)]
ACCEPTS = [("accept p50", "p50", 1), ("p99 ms", "p99", 1)]
TABLES = {
    "full": ("as fast as it goes", [("accepted/s", "rate", 0), *ACCEPTS, ("done/s", "done", 0), *COSTS]),
    "paced": (f"at {PACED_RATE}/s", [*ACCEPTS, ("done p50", "arrived50", 1), ("p99 ms", "arrived99", 1), *COSTS])}


def install():
    subprocess.run([ROOT / "Scripts" / "packages", "bench"], check=True)
    done = VENV / "done"
    if not done.exists() or done.read_text() != REQUIREMENTS.read_text():
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run(
            [PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", REQUIREMENTS], check=True)
        done.write_text(REQUIREMENTS.read_text())


@contextlib.contextmanager
def running(command, name, port):
    """A process, whose output is in a file, once it listens."""
    with open(OUT / f"{name}.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        service.wait_for(port, process, name)
        yield process.pid
    finally:
        service.stop(process)


@contextlib.contextmanager
def client(what, system, place):
    """A publisher or a worker: a process with pipes."""
    with open(OUT / f"{what}-{system}.log", "w") as log:
        process = subprocess.Popen(
            [PYTHON, ROOT / "Benchmarks" / "field_clients.py", what, system, place], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        yield process
    finally:
        service.stop(process)


@contextlib.contextmanager
def worker(system, place):
    with client("work", system, place) as process:
        answer(process)
        yield process.pid


def answer(process):
    """The next line of a client."""
    return process.stdout.readline() or sys.exit(f"a client has failed; see {OUT}")


class Target:
    """The nginx to which the requests go, and its log: for each request the time, the status and the name of the job."""

    def __init__(self):
        self.port = service.free_port()
        LOG.unlink(missing_ok=True)
        self.process = service.start_nginx(
            self.port,
            http='log_format jobs "$msec $status $http_x_job"; split_clients $request_id $shaky { 10% 503; * 200; }',
            server=f"access_log {LOG} jobs buffer=64k flush=50ms; location /shaky "
                   '{ if ($shaky = 503) { return 503; } return 200 "ok\\n"; }')
        self.lines = open(LOG)
        self.rest = ""

    def end(self):
        service.stop(self.process)
        self.lines.close()

    def job(self, path):
        """The text of a job for the publisher, which puts a name where it says JOB."""
        job = json.loads(service.descriptor(self.port))
        # The queues have nothing like labels, by which calls can be listed.
        del job["labels"]
        job["url"] = f"http://127.0.0.1:{self.port}{path}"
        job["headers"] = {"content-type": "application/json", "x-job": "JOB"}
        return json.dumps(job)

    def arrivals(self, prefix, count):
        """When each of so many jobs had its first 200, by its name, and how many requests got something else."""
        arrived, others, limit = {}, 0, time.monotonic() + TIME_LIMIT
        while len(arrived) < count:
            if time.monotonic() > limit:
                sys.exit(f"{count - len(arrived)} of {count} accepted jobs were not delivered within {TIME_LIMIT} s; see {OUT}")
            *lines, self.rest = (self.rest + self.lines.read()).split("\n")
            for line in lines:
                moment, status, job = line.split()
                if job.startswith(f"{prefix}-"):
                    if status == "200":
                        arrived.setdefault(job, float(moment))
                    else:
                        others += 1
            time.sleep(0.02)
        return arrived, others


@dataclasses.dataclass
class Running:
    """A system: where it is, the processes of its server and of its worker, and its database, if it is on PostgreSQL."""

    place: str
    servers: list
    workers: list = ()
    # What the server has written to sockets in the same way as to files.
    sent: object = lambda: 0
    database: str = None

    def spent(self):
        """Seconds of CPU of the server and of the worker, and bytes that the server has written to files."""
        (server, written), (worker, _) = (
            map(sum, zip((0, 0), *map(service.family, processes))) for processes in (self.servers, self.workers))
        return server, worker, written - self.sent()


class Field:
    """The systems, each a context that starts it."""

    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="redial-field", dir=options.data))
        # PostgreSQL may belong to another user.
        self.folder.chmod(0o755)
        files = subprocess.run(["stat", "-f", "-c", "%T", self.folder], check=True, capture_output=True, text=True).stdout
        if files.strip() in ("tmpfs", "ramfs"):
            sys.exit(f"{options.data} is in memory, where a sync costs nothing: name a folder on a disk with --data")
        (self.folder / "postgres").mkdir()
        self.cluster = Cluster(files=self.folder / "postgres", shared_buffers="256MB", min_wal_size=f"{LOG_SIZE}MB").start()
        self.cluster.query("CREATE DATABASE pgqueuer")
        # A new segment of the log is filled with zeros first; those of before a checkpoint are used again.
        self.cluster.query(
            f"SELECT count(pg_logical_emit_message(false, '', repeat('x', 1000000))) FROM generate_series(1, {LOG_SIZE})")
        self.cluster.query("CHECKPOINT")
        self.target = Target()
        self.systems = {
            "nats": self.nats, "redis": self.redis, "pgqueuer": self.pgqueuer, "pgqueuer-batches": self.pgqueuer,
            "redial": self.redial_sqlite, "redial-postgres": self.redial_postgres}

    def end(self):
        self.target.end()
        self.cluster.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def nats(self):
        port, data = service.free_port(), self.folder / "nats"
        settings = OUT / "nats.conf"
        monitor = service.free_port()
        settings.write_text(f'listen: "127.0.0.1:{port}"\nhttp: "127.0.0.1:{monitor}"\n'
                            f'jetstream {{ store_dir: "{data}", sync_interval: always }}\n')

        def sent():
            with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/varz", timeout=10) as answer:
                return json.load(answer)["out_bytes"]

        place = f"nats://127.0.0.1:{port}"
        with running([VENV / "bin" / "nats-server", "-c", settings], "nats", port) as server, worker("nats", place) as work:
            yield Running(place, [server], [work], sent)
        shutil.rmtree(data)

    @contextlib.contextmanager
    def redis(self):
        port, data = service.free_port(), self.folder / "redis"
        data.mkdir()
        place = f"redis://127.0.0.1:{port}"
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", str(data), "--save", "",
                   "--appendonly", "yes", "--appendfsync", "always"]

        def sent():
            answer = subprocess.run(
                ["redis-cli", "-p", str(port), "info", "stats"], check=True, capture_output=True, text=True).stdout
            return int(re.search(r"total_net_output_bytes:(\d+)", answer)[1])

        with running(command, "redis", port) as server, worker("redis", place) as work:
            yield Running(place, [server], [work], sent)
        shutil.rmtree(data)

    @contextlib.contextmanager
    def pgqueuer(self):
        place = f"postgresql://postgres@/pgqueuer?host={self.cluster.folder}"
        with worker("pgqueuer", place) as work:
            yield Running(place, [self.cluster.postmaster], [work], database="pgqueuer")

    @contextlib.contextmanager
    def redial_sqlite(self):
        data = self.folder / "redial"
        with Instances(self.options.binary, f"sqlite:{data}/redial.db", 1) as instances:
            yield Running(f"http://127.0.0.1:{instances.ports[0]}", [instances.processes[0].pid])
        shutil.rmtree(data)

    @contextlib.contextmanager
    def redial_postgres(self):
        with Instances(self.options.binary, self.cluster.url, 1) as instances:
            instances.share(self.cluster)
            yield Running(
                f"http://127.0.0.1:{instances.ports[0]}", [self.cluster.postmaster, instances.processes[0].pid],
                database="redial")

    def load(self, publisher, prefix, path="/orders", seconds=0.0, rate=0):
        """Submits jobs and waits until all are done. Returns what the publisher and the target have seen."""
        def send(line):
            publisher.stdin.write(f"{line}\n")
            publisher.stdin.flush()
            return answer(publisher)

        result = json.loads(send(json.dumps({"job": self.target.job(path), "prefix": prefix, "seconds": seconds, "rate": rate})))
        count = result["accepted"]
        arrived, result["others"] = self.target.arrivals(prefix, count)
        send("are any left?")
        waits = sorted((moment - float(job.rsplit("-", 1)[1])) * 1000 for job, moment in arrived.items())
        return result | {
            "done": count / (max(arrived.values()) - result["began"]),
            "arrived50": waits[count // 2], "arrived99": waits[count * 99 // 100]}

    def measure(self, system, work):
        """Does work, and adds what each of its jobs has cost: microseconds of CPU of server and worker, and kB in files."""
        if system.database:
            self.cluster.query("CHECKPOINT")
        before = system.spent()
        result = work()
        if system.database:
            self.cluster.query("VACUUM", system.database)
            self.cluster.query("CHECKPOINT")
        server, worker, files = (now - then for now, then in zip(system.spent(), before))
        count = result["accepted"]
        return result | {"server": server / count * 1e6, "worker": worker / count * 1e6, "files": files / count / 1000}

    def round(self, number, name):
        prefix, seconds, began = f"{name}.{number}", self.options.seconds, time.monotonic()
        with (self.systems[name]() as system,
              client("publish", name.removesuffix("-postgres"), system.place) as publisher):
            warm = self.load(publisher, f"{prefix}.warm", "/shaky", WARM_UP_SECONDS, WARM_UP_RATE)
            if system.database:
                # The server does this by itself after a minute.
                self.cluster.query("VACUUM ANALYZE", system.database)
            full = self.measure(system, lambda: self.load(publisher, f"{prefix}.full", seconds=seconds))
            paced = self.measure(system, lambda: self.load(publisher, f"{prefix}.paced", seconds=seconds, rate=PACED_RATE))
        print(f"  {name:17} {full['done']:5.0f}/s, {time.monotonic() - began:.1f} s", flush=True)
        return {"warm": warm, "full": full, "paced": paced}


def machine_seconds():
    """Seconds in which the machine's cores were busy."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / service.TICKS


def own_seconds(field):
    """Seconds of CPU of this program, of what it has started and has ended, and of PostgreSQL."""
    own = sum(each.ru_utime + each.ru_stime for each in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    return own + field.cluster.cpu() + sum(service.times(field.target.process.pid)) / service.TICKS


def versions(options):
    def first(pattern, *command):
        return re.search(pattern, subprocess.run(command, capture_output=True, text=True).stdout)[1]

    pinned = dict(line.split("==") for line in REQUIREMENTS.read_text().split())
    return (f"NATS {first(r'v([0-9.]+)', VENV / 'bin' / 'nats-server', '--version')}, "
            f"Redis {first(r'v=([0-9.]+)', 'redis-server', '--version')}, PgQueuer {pinned['pgqueuer']}, "
            f"Redial {first(r'([0-9]+[0-9.]+)', options.binary, '--version')}, "
            f"Python {'.'.join(map(str, sys.version_info[:3]))}")


def report(rounds):
    for load, (title, columns) in TABLES.items():
        print(f"{title:19}" + "".join(column.rjust(11) for column, *_ in columns))
        for name in rounds[0]:
            print(f"{name:19}" + "".join(
                format(statistics.median(each[name][load][key] for each in rounds), f".{digits}f").rjust(11)
                for _, key, digits in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--systems", default="nats,redis,pgqueuer,pgqueuer-batches,redial,redial-postgres")
    parser.add_argument("--data", default="/var/tmp")
    parser.add_argument("--binary", default=str(ROOT / ".build/release/redial"))
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    install()
    field, rounds = Field(options), []
    try:
        load_before, began, busy, own = os.getloadavg()[0], time.monotonic(), machine_seconds(), own_seconds(field)
        for number in range(options.rounds):
            rounds.append({name: field.round(number, name) for name in options.systems.split(",")})
        took = time.monotonic() - began
        others = (machine_seconds() - busy - own_seconds(field) + own) / took
    finally:
        field.end()
    print(f"{options.rounds} rounds of {options.seconds:g} s for each load; medians; {took:.0f} s in all")
    print(versions(options))
    report(rounds)
    loads = [load for each in rounds for loads in each.values() for load in loads.values()]
    print(f"Each of the {sum(load['accepted'] for load in loads)} accepted jobs was delivered; "
          f"{sum(load['others'] for load in loads)} requests were repeated after a 503.")
    print(f"Other programs used {others:.1f} of {os.cpu_count()} cores meanwhile; the load was {load_before:.1f} before.")


if __name__ == "__main__":
    main()

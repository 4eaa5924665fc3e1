#!/usr/bin/env python3
"""Measures three instances on one database: how long clients of one of them wait for the ends of calls that it runs itself and of
calls that others run (`Prefer: wait`, one client at a time), how fast a paced load is accepted, which goes to all instances
alike, and what they ask the database for at rest.

Several binaries are measured in alternating rounds. The cluster is made for this; fsync is on. The target is nginx.

  python3 Benchmarks/waiting.py [--rounds 3] [--seconds 5] [--calls 600] [--check] [--binary PATH]...

With --check the program fails if a goal is missed by the last binary.
"""

import argparse
import http.client
import statistics
import sys
import time
import types

import postgres
import service

INSTANCES = 3
TARGETS = 30
# The first calls to a target are not counted: its connection is made, and whoever runs it gets to know it.
FIRST = 2
REST = 10
GOALS = {"wait other p50": 6, "rest tx/s": 10}


class Client:
    """One connection. The answer's first bytes and the rest come in one segment or two, without delay on loopback."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def milliseconds(self, body):
        began = time.monotonic()
        self.connection.request("POST", "/v1/calls", body, {"Content-Type": "application/json", "Prefer": "wait=20"})
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 200:
            sys.exit(f"a call did not end in time: {answer.status}")
        return (time.monotonic() - began) * 1000


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


class Bench(postgres.Bench):
    def __init__(self, options):
        super().__init__(options)
        # Its transactions would count as those of the instances.
        self.cluster.change(autovacuum="off")
        load = types.SimpleNamespace(connections=32, seconds=options.seconds)
        self.load = load
        self.paced_script = self.write(
            "paced.lua", list(self.bodies)[:TARGETS], service.WRK_PACED.format(longest=round(2000 * load.connections / postgres.PACED_RATE)))

    def transactions(self):
        return int(self.cluster.query(
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'redial'")[0][0])

    def measured(self, binary):
        with postgres.Instances(binary, self.cluster.url, INSTANCES) as instances:
            instances.share(self.cluster)
            time.sleep(REST)
            before = self.transactions()
            time.sleep(REST)
            rest = (self.transactions() - before) / REST
            client, times = Client(instances.ports[0]), {}
            for number in range(self.options.calls):
                target = f"target{number % TARGETS}"
                times.setdefault(target, []).append(client.milliseconds(self.bodies[target]))
            mine = set(instances.share(self.cluster)[instances.ports[0]])
            own, other = ([time for target, all in times.items() if (target in mine) == isOwn for time in all[FIRST:]]
                          for isOwn in (True, False))
            loaded = self.cluster.measure("redial", lambda: instances.load([self.paced_script] * INSTANCES, self.load))
            # Its calls are all since the start, and its CPU is that of the load alone.
            scale = loaded["calls"] / (loaded["calls"] - self.options.calls)
            return {
                "wait own p50": statistics.median(own), "wait own p99": quantile(own, 0.99),
                "wait other p50": statistics.median(other), "wait other p99": quantile(other, 0.99),
                "accept p50": loaded["p50"], "accept p99": loaded["p99"], "server": loaded["server"] * scale, "own CPU": loaded["own"] * scale,
                "rest tx/s": rest}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=600)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--binary", action="append")
    options = parser.parse_args()
    binaries = options.binary or [str(service.ROOT / ".build/release/redial")]
    service.OUT.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    try:
        for _ in range(options.rounds):
            for binary in binaries:
                bench.note(binary, bench.measured(binary))
    finally:
        bench.end()
    print("\nmedians; times in ms, CPU in µs a call")
    for binary in binaries:
        print(f"{binary}: " + "  ".join(f"{key} {bench.median(binary, key):.2f}" for key in bench.figures[binary][0]))
    missed = [name for name, goal in GOALS.items() if bench.median(binaries[-1], name) > goal]
    for name in missed:
        print(f"{name}: the goal of {GOALS[name]} is missed")
    if missed and options.check:
        sys.exit(1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the service on this machine, beside a local nginx in the same run.

For each round: nginx alone takes the POST that Redial takes; then the floor (floor.c), which does with the bare parts
what cannot be left out, takes it, and then Redial: each for as long, with that nginx as the target of its calls, and the
calls that are left are waited for. At last Redial accepts 1,000 calls a second. Figures are medians over the rounds.

  python3 Benchmarks/service.py [--rounds 3] [--seconds 5] [--connections 64] [--binary PATH]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "Benchmarks" / "out"
TICKS = os.sysconf("SC_CLK_TCK")
DRAIN_LIMIT = 120

NGINX = """
daemon off;
master_process off;
pid {out}/nginx.pid;
error_log {out}/nginx.log error;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {out}/nginx-body;
  proxy_temp_path {out}/nginx-proxy;
  fastcgi_temp_path {out}/nginx-fastcgi;
  uwsgi_temp_path {out}/nginx-uwsgi;
  scgi_temp_path {out}/nginx-scgi;
  keepalive_requests 100000000;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ return 200 "ok\\n"; }}
  }}
}}
"""

WRK = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [[{body}]]
"""


# Each connection waits between its requests, so that all of them together have the rate, at random times.
WRK_PACED = """
function delay() return math.random(0, {longest}) end
"""
PACED_RATE = 1000


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def costs(pid, calls):
    """What a process has taken for each call: microseconds of CPU, those of the kernel among them, what it wrote to files,
    and how often its threads went to sleep."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    written = dict(line.split(": ") for line in pathlib.Path(f"/proc/{pid}/io").read_text().splitlines())
    sleeps = 0
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        sleeps += int(re.search(r"(?m)^voluntary_ctxt_switches:\s+(\d+)", status.read_text())[1])
    return {
        "cpu": (int(fields[11]) + int(fields[12])) / TICKS / calls * 1e6,
        "kernel": int(fields[12]) / TICKS / calls * 1e6,
        "writes": int(written["syscw"]) / calls,
        "bytes": int(written["wchar"]) / calls,
        "sleeps": sleeps / calls,
    }


def times(process):
    """Ticks of a process: its own and the kernel's for it, and both of its children that have ended."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return [int(field) for field in fields[11:15]]


def written(process):
    """Bytes that a process and its children that have ended have written, to files, pipes and, with write(), to sockets."""
    return int(re.search(r"(?m)^wchar: (\d+)", pathlib.Path(f"/proc/{process}/io").read_text())[1])


def family(process):
    """Seconds of CPU, and bytes written, of a process and its children, also of those that have ended."""
    while True:
        ended = times(process)[2:]
        ticks, size = sum(times(process)), written(process)
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rsplit(")", 1)[1].split()
                if int(fields[1]) == process:
                    size += written(path.parent.name)
                    ticks += int(fields[11]) + int(fields[12])
            except OSError:
                continue  # It has ended since.
        # A process that has ended meanwhile may be missing, or be counted twice.
        if times(process)[2:] == ended:
            return ticks / TICKS, size


def wait_for(port, process, name):
    """Waits until it listens; for Redial, which listens before, until it takes calls."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"{name} ended at once; see {OUT}")
        try:
            if name == "redial":
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10).close()
            else:
                socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{name} does not listen on port {port}; see {OUT}")


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def wrk(url, script, options):
    text = subprocess.run(
        ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--latency", "-s", script, url],
        capture_output=True, text=True, check=True, timeout=options.seconds + 30).stdout
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return {
        "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
        "count": int(re.search(r"(\d+) requests in", text)[1]),
        "p50": milliseconds(re.search(r"(?m)^\s+50%\s+(\S+)", text)[1]),
        "p99": milliseconds(re.search(r"(?m)^\s+99%\s+(\S+)", text)[1]),
        "refused": int(failed[1]) if failed else 0,
    }


def metrics(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    values = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            values[name] = float(value)
    return values


def finished(values):
    return sum(v for n, v in values.items() if n.startswith("redial_calls_finished_total"))


def round_of_nginx(nginx, port, script, options):
    before = cpu_seconds(nginx.pid)
    result = wrk(f"http://127.0.0.1:{port}/", script, options)
    result["cpu"] = (cpu_seconds(nginx.pid) - before) / result["count"] * 1e6
    return result


def build_floor():
    compiler = shutil.which("cc") or shutil.which("clang") or sys.exit("there is no C compiler to build the floor with")
    subprocess.run(
        [compiler, "-O2", "-Wall", "-Wextra", "-D_GNU_SOURCE", "-o", OUT / "floor", ROOT / "Benchmarks" / "floor.c",
         "-lsqlite3", "-lcurl", "-lpthread"], check=True)


def round_of_floor(target, script, options):
    data = OUT / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    port = free_port()
    floor = subprocess.Popen(
        [OUT / "floor", str(port), f"http://127.0.0.1:{target}/hook/orders", data / "floor.db"],
        stdout=subprocess.PIPE, text=True)
    try:
        wait_for(port, floor, "the floor")
        began = time.monotonic()
        result = wrk(f"http://127.0.0.1:{port}/", script, options)
        while True:
            floor.send_signal(signal.SIGUSR1)
            accepted, done = map(int, floor.stdout.readline().split())
            if accepted == done:
                break
            if time.monotonic() - began > DRAIN_LIMIT:
                sys.exit(f"the floor has calls left after {DRAIN_LIMIT} s")
            time.sleep(0.01)
        result["completed"] = done / (time.monotonic() - began)
        result |= costs(floor.pid, done)
        return result
    finally:
        stop(floor)
        shutil.rmtree(data, ignore_errors=True)


class Redial:
    """A service with a store of its own, for one round."""

    def __init__(self, binary):
        self.data = OUT / "data"
        shutil.rmtree(self.data, ignore_errors=True)
        self.port = free_port()
        self.binary = binary
        (OUT / "redial.log").unlink(missing_ok=True)
        self.start()

    def start(self):
        """Starts it, on the store of a process before, if there was one."""
        with open(OUT / "redial.log", "a") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--store", f"sqlite:{self.data}/redial.db"],
                stdout=log, stderr=log, env={"PATH": os.environ["PATH"]})

    def __enter__(self):
        wait_for(self.port, self.process, "redial")
        return self

    def __exit__(self, *_):
        stop(self.process)
        shutil.rmtree(self.data, ignore_errors=True)

    def drained(self, began):
        """The metrics, once every call has ended."""
        while True:
            values = metrics(self.port)
            # The backlog is the engine's, which is ahead of the commits that are counted as finished.
            if values["redial_backlog_calls"] == 0 and finished(values) == values["redial_calls_accepted_total"]:
                return values
            if time.monotonic() - began > DRAIN_LIMIT:
                sys.exit(f"calls are left after {DRAIN_LIMIT} s; see {OUT}")
            time.sleep(0.01)


def round_of_redial(binary, script, options):
    with Redial(binary) as service:
        began = time.monotonic()
        result = wrk(f"http://127.0.0.1:{service.port}/v1/calls", script, options)
        at_end = metrics(service.port)
        result["completedDuring"] = finished(at_end) / (time.monotonic() - began)
        result["backlog"] = at_end["redial_backlog_calls"]
        values = service.drained(began)
        done = finished(values)
        result["completed"] = done / (time.monotonic() - began)
        result |= costs(service.process.pid, done)
        result["memory"] = values["process_resident_memory_bytes"] / 1e6
        result["perCommit"] = values["redial_store_writes_total"] / values["redial_store_commits_total"]
        attempts = sum(v for n, v in values.items() if n.startswith("redial_attempts_total"))
        if done != values["redial_calls_accepted_total"] or attempts != done:
            sys.exit(f"accepted {values['redial_calls_accepted_total']}, finished {done}, attempts {attempts}")
        return result


def paced_round(binary, script, options):
    with Redial(binary) as service:
        began = time.monotonic()
        result = wrk(f"http://127.0.0.1:{service.port}/v1/calls", script, options)
        done = finished(service.drained(began))
        result["cpu"] = cpu_seconds(service.process.pid) / done * 1e6
        return result


def start_nginx(port, http="", server=""):
    """Starts it on a port, maybe with more lines of configuration, of all servers and of this one."""
    text = NGINX.format(out=OUT, port=port)
    (OUT / "nginx.conf").write_text(text.replace("  server {\n", f"  {http}\n  server {{\n    {server}\n"))
    nginx = subprocess.Popen(["nginx", "-p", str(OUT), "-c", str(OUT / "nginx.conf")], stderr=subprocess.DEVNULL)
    wait_for(port, nginx, "nginx")
    return nginx


def descriptor(target):
    return json.dumps({
        "url": f"http://127.0.0.1:{target}/hook/orders", "method": "POST",
        "headers": {"content-type": "application/json", "x-request-id": "4f1d9a4e-9c9c-4c77-8d59-6f0f0e4f7a11"},
        "body": "0123456789" * 20, "labels": {"team": "payments"},
        "policy": {"maxAttempts": 8, "deadline": "15m", "attemptTimeout": "10s",
                   "backoff": {"strategy": "exponential", "initial": "500ms", "multiplier": 1.5, "max": "60s"},
                   "retryAfter": {"mode": "respect", "max": "1h"}}})


def write_script(target):
    script = OUT / "post.lua"
    script.write_text(WRK.format(body=descriptor(target)))
    return script


def parsed(description):
    """The options of a benchmark of the service."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/redial"))
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = parsed(__doc__)
    target = free_port()
    body = descriptor(target)
    script = write_script(target)
    paced = OUT / "paced.lua"
    paced.write_text(
        WRK.format(body=body) + WRK_PACED.format(longest=round(2000 * options.connections / PACED_RATE)))
    build_floor()

    nginx = start_nginx(target)
    rounds = []
    try:
        for number in range(options.rounds):
            rounds.append((
                round_of_nginx(nginx, target, str(script), options),
                round_of_floor(target, str(script), options),
                round_of_redial(options.binary, str(script), options),
                paced_round(options.binary, str(paced), options)))
    finally:
        stop(nginx)

    def median(which, key):
        return statistics.median(r[which][key] for r in rounds)

    print(f"{options.rounds} rounds of {options.seconds} s, {options.connections} connections, "
          f"a descriptor of {len(body)} bytes; medians")
    ratio = statistics.median(redial["cpu"] / floor["cpu"] for _, floor, redial, _ in rounds)
    print(f"nginx   answers   {median(0, 'rate'):8.0f}/s   CPU {median(0, 'cpu'):6.1f} µs a request")
    print(f"floor   completes {median(1, 'completed'):8.0f}/s   CPU {median(1, 'cpu'):6.1f} µs a call (the bare parts: "
          f"read, one row, one request, one update)")
    print(f"redial  accepts   {median(2, 'rate'):8.0f}/s   p50 {median(2, 'p50'):.1f} ms, p99 {median(2, 'p99'):.1f} ms"
          + (f"   REFUSED {median(2, 'refused'):.0f}" if median(2, "refused") else ""))
    print(f"redial  completes {median(2, 'completed'):8.0f}/s   until the last call ended; "
          f"{median(2, 'completedDuring'):.0f}/s while accepting, {median(2, 'backlog'):.0f} calls left then")
    print(f"redial  CPU {median(2, 'cpu'):6.1f} µs a call, {ratio:.2f} times the floor   "
          f"{median(2, 'perCommit'):.0f} changes a commit, {median(2, 'memory'):.0f} MB resident")
    for name, which in (("floor", 1), ("redial", 2)):
        print(f"{name:<7} a call    {median(which, 'cpu') - median(which, 'kernel'):.1f} µs of its own, "
              f"{median(which, 'kernel'):.1f} µs in the kernel; {median(which, 'writes'):.2f} writes of "
              f"{median(which, 'bytes') / 1000:.1f} kB together; threads go to sleep {median(which, 'sleeps'):.2f} times")
    print(f"redial  paced     {median(3, 'rate'):8.0f}/s   p50 {median(3, 'p50'):.1f} ms, p99 {median(3, 'p99'):.1f} ms   "
          f"CPU {median(3, 'cpu'):6.1f} µs a call")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the HTTP server alone on this machine, beside a local nginx in the same run.

Speed: rounds of nginx and of ours alternate, for GET with a short answer and for POST of 600 bytes; each pair of
rounds gives a ratio, and the medians are printed. Other work on the machine harms the rates; CPU a request and the
ratios of pairs suffer less.
Slow clients: thousands of connections send a byte a second while a healthy client measures its own latency: without
them; beside them, but with them at another server, which shows what their work alone does to the machine; and with
them at its own server.
Idle: the resident memory with thousands of connections that have carried a request and are idle.

  python3 Benchmarks/server.py [--only speed|slow|idle] [--rounds 5] [--seconds 3] [--connections 64]
                               [--slow 5000] [--idle 10000] [--check] [--server PATH] [--prototype COMMAND]

With --check it fails where a goal of the project is missed: 0.9 of nginx's rate, 1.3 of its CPU a request, 50 MB for
the idle connections, and a p99 beside slow clients within twice what it is with them at another server, or 2 ms.
"""

import argparse
import os
import pathlib
import resource
import select
import shlex
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import service  # noqa: E402  nginx, wrk and their bookkeeping are the same there

ROOT = service.ROOT
OUT = service.OUT
KINDS = {"GET": "", "POST": service.WRK.format(body="0123456789" * 60)}
GOALS = {"rate": 0.9, "cpu": 1.3, "idle": 50.0, "p99": 2.0, "p99floor": 2.0}
misses = []


def goal(holds, text):
    if not holds:
        misses.append(text)


class Server:
    """A measured process."""

    def __init__(self, name, arguments, port=None):
        self.name = name
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        # Ours says where it listens; the others have a fixed port.
        self.port = port or int(self.process.stdout.readline())
        service.wait_for(self.port, self.process, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        service.stop(self.process)

    @property
    def resident(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no VmRSS")

    def run(self, kind, options):
        script = OUT / f"{kind.lower()}.lua"
        script.write_text(KINDS[kind])
        before = service.cpu_seconds(self.process.pid)
        result = service.wrk(f"http://127.0.0.1:{self.port}/", str(script), options)
        result["cpu"] = (service.cpu_seconds(self.process.pid) - before) / result["count"] * 1e6
        if result["refused"]:
            sys.exit(f"{self.name} refused {result['refused']} of {result['count']}")
        return result


def nginx():
    port = service.free_port()
    (OUT / "nginx.conf").write_text(service.NGINX.format(out=OUT, port=port))
    return Server("nginx", ["nginx", "-p", str(OUT), "-c", str(OUT / "nginx.conf")], port)


def ours(options, loops=1):
    return Server("HTTPServer", [options.server, str(loops)])


def speed(options):
    servers = [nginx(), ours(options)]
    if options.prototype:
        port = service.free_port()
        servers.append(Server("prototype", shlex.split(options.prototype.format(port=port)), port))
    try:
        for kind in KINDS:
            rounds = [[s.run(kind, options) for s in servers] for _ in range(options.rounds)]
            print(f"{kind}: {options.rounds} rounds of {options.seconds} s each, {options.connections} connections, medians")
            for index, server in enumerate(servers):
                rate = statistics.median(r[index]["rate"] for r in rounds)
                cpu = statistics.median(r[index]["cpu"] for r in rounds)
                line = f"  {server.name:10} {rate:8.0f}/s   CPU {cpu:5.2f} µs a request   p99 {rounds[-1][index]['p99']}"
                if index:
                    rates = statistics.median(r[index]["rate"] / r[0]["rate"] for r in rounds)
                    cpus = statistics.median(r[index]["cpu"] / r[0]["cpu"] for r in rounds)
                    line += f"   of nginx's: rate {rates:.2f}, CPU {cpus:.2f}"
                    if index == 1:
                        goal(rates >= GOALS["rate"], f"{kind}: {rates:.2f} of nginx's rate, not {GOALS['rate']}")
                        goal(cpus <= GOALS["cpu"], f"{kind}: {cpus:.2f} of nginx's CPU, not {GOALS['cpu']}")
                print(line, flush=True)
    finally:
        for server in servers:
            service.stop(server.process)


def connect(port, index):
    # Ephemeral ports end at some 28,000 for one pair of addresses: loopback has many.
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
    s.bind((f"127.0.0.{2 + index // 20000}", 0))
    s.connect(("127.0.0.1", port))
    return s


def latencies(port, seconds):
    """What a healthy client sees, one request at a time, in milliseconds."""
    s = socket.create_connection(("127.0.0.1", port))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request, found, end = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        s.sendall(request)
        answer = b""
        while not answer.endswith(b"ok\n"):
            answer += s.recv(4096)
        found.append((time.perf_counter() - began) * 1000)
        time.sleep(0.001)
    s.close()
    found.sort()
    return {"count": len(found), "p50": found[len(found) // 2], "p99": found[len(found) * 99 // 100], "max": found[-1]}


def beside_slow(options, measured, slowed):
    """What a healthy client of one server sees while the slow ones are at that or another; and what they cost there."""
    empty = slowed.resident
    child_in, parent_out = os.pipe()
    parent_in, child_out = os.pipe()
    # In a process of their own, so that Python's lock is not what is measured.
    pid = os.fork()
    if pid == 0:
        # Only the parent has the end of the pipe that signals the stop.
        os.close(parent_out)
        os.close(parent_in)
        try:
            trickle(slowed.port, options.slow, child_in, child_out)
        finally:
            os._exit(0)
    os.close(child_in)
    os.close(child_out)
    connected = int(os.read(parent_in, 16) or 0)
    if connected < options.slow:
        sys.exit(f"only {connected} slow clients came to be")
    before = service.cpu_seconds(slowed.process.pid)
    time.sleep(2)
    found = latencies(measured.port, 4)
    found["cpu"] = (service.cpu_seconds(slowed.process.pid) - before) / 6
    found["bytes"] = (slowed.resident - empty) * 1024 * 1024 / connected
    found["threads"] = len(os.listdir(f"/proc/{slowed.process.pid}/task"))
    os.close(parent_out)
    os.waitpid(pid, 0)
    os.close(parent_in)
    time.sleep(0.5)
    return found


def slow(options):
    rounds = []
    for _ in range(3):
        # New servers each round: memory that was used once would hide what the next round uses.
        with ours(options) as measured, ours(options) as other:
            rounds.append((
                latencies(measured.port, 3), beside_slow(options, measured, other), beside_slow(options, measured, measured)))

    def figure(index, key, of=statistics.median):
        return of(r[index][key] for r in rounds)

    print(f"slow: {options.slow} connections that send a byte a second, and one healthy client; medians of 3 rounds")
    for index, name in enumerate(("without them", "at another server", "at the same server")):
        print(f"  {name:18} p50 {figure(index, 'p50'):.3f} ms   p99 {figure(index, 'p99'):.3f} ms   "
              f"max {figure(index, 'max', max):.2f} ms")
    print(f"  they cost {figure(2, 'cpu') * 100:.1f} % of a core, {figure(2, 'threads'):.0f} threads in all, "
          f"{figure(2, 'bytes'):.0f} bytes resident each")
    goal(figure(2, "p99") <= max(GOALS["p99floor"], GOALS["p99"] * figure(1, "p99")),
         f"p99 {figure(2, 'p99'):.2f} ms beside slow clients, {figure(1, 'p99'):.2f} ms without")


def trickle(port, count, stop, ready):
    head = b"POST /slow HTTP/1.1\r\nHost: a\r\nX-Slow: " + b"x" * 4000
    sockets = [connect(port, index) for index in range(count)]
    os.write(ready, str(len(sockets)).encode())
    sent = 0
    while True:
        began = time.monotonic()
        # A hundredth of them each hundredth of a second: independent clients arrive evenly.
        for part in range(100):
            for s in sockets[part::100]:
                try:
                    s.send(head[sent:sent + 1])
                except OSError:
                    pass
            rest = began + (part + 1) / 100 - time.monotonic()
            if select.select([stop], [], [], max(0, rest))[0]:
                return
        sent += 1


def idle(options):
    with ours(options) as server:
        empty = server.resident
        sockets = [connect(server.port, index) for index in range(options.idle)]
        for s in sockets:
            s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        for s in sockets:
            s.settimeout(10)
            if not s.recv(4096).startswith(b"HTTP/1.1 200"):
                sys.exit("an idle connection was not served")
        full = server.resident
        for s in sockets:
            s.close()
    print(f"idle: {options.idle} connections that have carried a request: {full:.1f} MB resident, {empty:.1f} MB without;"
          f" {(full - empty) * 1024 * 1024 / options.idle:.0f} bytes each")
    goal(full < GOALS["idle"], f"{full:.1f} MB resident, not under {GOALS['idle']:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["speed", "slow", "idle"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--slow", type=int, default=5000)
    parser.add_argument("--idle", type=int, default=10000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--server", default=str(ROOT / ".build/release/server-benchmark"))
    parser.add_argument("--prototype", help="another server to measure beside, such as 'PATH --port {port}'")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    # For this process and those it starts: both ends of each connection are descriptors here.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(options.slow, options.idle) + 1000
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
    except (ValueError, PermissionError):
        sys.exit(f"{wanted} descriptors are needed, and {hard} allowed: raise `ulimit -n`, or lower --slow and --idle")
    for name, measure in (("speed", speed), ("slow", slow), ("idle", idle)):
        if options.only in (None, name):
            measure(options)
    if misses:
        print("missed: " + "; ".join(misses))
        if options.check:
            sys.exit(1)


if __name__ == "__main__":
    main()

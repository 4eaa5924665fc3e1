#!/usr/bin/env python3
"""Measures how a healthy target fares beside targets that hang: alone, and beside them, in the same run.

Each scenario starts a service of its own. The time that counts is from a call's submission to the result of its one attempt,
as a client has it that waits for the result (`Prefer: wait`), at a steady rate. An idle service gets the same calls at the same time,
so that what else the machine does befalls both.

  targets     1,000 targets that take connections and never answer, half of the calls with a deadline shorter than the
              attempt's timeout; 200 names whose lookups are never answered; 100 webhook endpoints of both kinds
  webhooks    four webhook endpoints that never answer, for each call to another target
  namespaces  the 1,000 targets and 200 names in one namespace, the healthy target in another

All of it happens in a network of its own, whose DNS server and silent targets are this script's: it needs root, or user
namespaces. The healthy target is a local nginx.

  python3 Benchmarks/starvation.py [--scenario NAME] [--seconds 10] [--rate 100] [--hanging 1000] [--dead 200] [--binary PATH]
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time

from service import NGINX, OUT, ROOT, cpu_seconds, metrics, stop, wait_for

sys.path.insert(0, str(ROOT / "Tests" / "Acceptance"))
import starving  # noqa: E402  the tests' network

INSIDE = "REDIAL_BENCH_INSIDE"
NGINX_PORT, SILENT_PORT, PORTS = 8090, 8091, (8092, 8093)
SETTLE = 3  # seconds from the last hanging call to the first measurement


class Service:
    def __init__(self, binary, name, port):
        self.port, self.store = port, OUT / name
        shutil.rmtree(self.store, ignore_errors=True)
        self.store.mkdir(parents=True)
        self.local = threading.local()
        with open(OUT / f"{name}.log", "w") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--listen", f"127.0.0.1:{port}", "--store", f"sqlite:{self.store}/redial.db",
                 "--max-unfinished", "1000000"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
        wait_for(port, self.process, "redial")

    def ask(self, path, body, headers):
        client = getattr(self.local, "client", None)
        if client is None:
            client = self.local.client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            client.connect()
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.request("POST", path, json.dumps(body), {"content-type": "application/json"} | headers)
        answer = client.getresponse()
        return answer.status, json.loads(answer.read())

    def submit(self, calls, namespace):
        for at in range(0, len(calls), 500):
            status, answer = self.ask("/v1/calls/batch", calls[at:at + 500], {"redial-namespace": namespace})
            refused = [item for item in answer["data"] if item["status"] != 202] if status == 200 else answer
            if refused:
                sys.exit(f"calls were refused: {str(refused)[:500]}")

    def call(self, url, namespace):
        """Milliseconds from the submission of a call to its result."""
        began = time.monotonic()
        status, call = self.ask("/v1/calls", {"url": url}, {"prefer": "wait=20", "redial-namespace": namespace})
        took = (time.monotonic() - began) * 1000
        if status not in (200, 202) or call.get("state") not in ("succeeded", "scheduled", "running"):
            sys.exit(f"a call of the healthy target went wrong: {status} {str(call)[:500]}")
        return took

    def end(self):
        stop(self.process)
        shutil.rmtree(self.store, ignore_errors=True)


def measure(services, options, namespace):
    """The times of calls at a steady rate, to each of some services in turn."""
    times = {service: [] for service in services}
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        began, made = time.monotonic(), []
        for number in range(int(options.seconds * options.rate)):
            time.sleep(max(0, began + number / options.rate - time.monotonic()))
            for service in services:
                made.append((service, pool.submit(
                    service.call, f"http://healthy.example:{NGINX_PORT}/{number}", namespace)))
        for service, future in made:
            times[service].append(future.result())
    return {service: sorted(found) for service, found in times.items()}


def hanging(options):
    calls = []
    for n in range(options.hanging):
        url = f"http://127.1.{n // 250}.{n % 250 + 1}:{SILENT_PORT}/"
        calls += [{"url": url}, {"url": url, "policy": {"deadline": "10s"}}] * 2
    for n in range(options.dead):
        calls += [{"url": f"http://dead{n}.example/"}] * 2
    return calls


def hooked(hooks):
    """Calls whose webhooks go to endpoints that never answer."""
    return [{"url": f"http://127.3.0.1:{NGINX_PORT}/", "callback": {"url": hook, "events": ["call.succeeded"]}}
            for hook in hooks]


def scenario(name, options):
    ours = "default"
    if name == "webhooks":
        calls, theirs = hooked([f"http://127.2.0.{n % 4 + 1}:{SILENT_PORT}/" for n in range(1000)]), "default"
    elif name == "targets":
        hooks = [f"http://127.2.0.{n + 1}:{SILENT_PORT}/" if n % 2 else f"http://deadhook{n}.example/" for n in range(100)]
        calls, theirs = hanging(options) + hooked(hooks), "default"
    else:
        calls, theirs, ours = hanging(options), "noisy", "quiet"
    busy = Service(options.binary, "starved", PORTS[0])
    idle = Service(options.binary, "idle", PORTS[1])
    try:
        measure([busy, idle], argparse.Namespace(seconds=1, rate=50), ours)
        alone = measure([busy, idle], options, ours)
        memory, cpu = metrics(busy.port)["process_resident_memory_bytes"], cpu_seconds(busy.process.pid)
        busy.submit(calls, theirs)
        time.sleep(SETTLE)
        began = time.monotonic()
        used = cpu_seconds(busy.process.pid)
        beside = measure([busy, idle], options, ours)
        used = (cpu_seconds(busy.process.pid) - used) / (time.monotonic() - began)
        grown = metrics(busy.port)["process_resident_memory_bytes"] - memory
    finally:
        busy.end()
        idle.end()

    def quantile(times, part):
        return times[min(len(times) - 1, int(len(times) * part))]

    def line(times):
        return f"p50 {quantile(times, 0.5):7.1f} ms, p99 {quantile(times, 0.99):7.1f} ms, worst {times[-1]:7.1f} ms"

    print(f"{name}: {len(calls)} calls that hang; {len(alone[busy])} calls to a healthy target, {options.rate}/s")
    print(f"  alone                {line(alone[busy])}")
    print(f"  beside them          {line(beside[busy])}")
    print(f"  idle, at that time   {line(beside[idle])}")
    print(f"  p99 beside / alone   {quantile(beside[busy], 0.99) / quantile(alone[busy], 0.99):7.2f}   (goal: at most 2)")
    print(f"  p99 beside / idle    {quantile(beside[busy], 0.99) / quantile(beside[idle], 0.99):7.2f}")
    print(f"  CPU {used * 100:.0f} % of a core while measured; {grown / 1e6:.1f} MB more resident", flush=True)


def inside(options):
    """In the network of its own."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name, text in [("resolv.conf", "nameserver 127.0.0.1\n"), ("nsswitch.conf", "hosts: dns\n")]:
        (OUT / name).write_text(text)
        subprocess.run(["mount", "--bind", str(OUT / name), f"/etc/{name}"], check=True)
    (OUT / "nginx.conf").write_text(NGINX.format(out=OUT, port=f"{NGINX_PORT}").replace("listen 127.0.0.1:", "listen "))
    children = []
    silent = socket.create_server(("0.0.0.0", SILENT_PORT), backlog=4096)
    for work in (starving.serve_names, lambda: starving.stay_silent(silent)):
        pid = os.fork()
        if pid == 0:
            try:
                work()
            finally:
                os._exit(1)
        children.append(pid)
    nginx = subprocess.Popen(["nginx", "-p", str(OUT), "-c", str(OUT / "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        wait_for(NGINX_PORT, nginx, "nginx")
        for name in [options.scenario] if options.scenario else ["targets", "webhooks", "namespaces"]:
            scenario(name, options)
    finally:
        stop(nginx)
        for pid in children:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", choices=["targets", "webhooks", "namespaces"])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--hanging", type=int, default=1000)
    parser.add_argument("--dead", type=int, default=200)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/redial"))
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if os.environ.get(INSIDE):
        return inside(options)
    space = ["unshare", "--net", "--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
    if subprocess.run([*space, "true"], capture_output=True).returncode:
        sys.exit("this machine makes no network namespaces, which this benchmark needs")
    return subprocess.run([*space, sys.executable, *sys.argv], env=os.environ | {INSIDE: "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())

"""A network with its own DNS server: run by `unshare --net --mount`, it writes what happened as JSON. A healthy target
is called with one call after another: alone, and then beside hundreds of targets that accept a connection and never
answer, names whose questions are never answered, and webhook endpoints of both kinds.
"""

import json
import os
import pathlib
import resource
import selectors
import socket
import subprocess
import sys
import threading
import time

import name_server
import rebinding
from processes import wait_until

SILENT, DEAD, HOOKS = 300, 100, 100
# The system's resolver takes 150 s for a dead name, and attempts to a silent target take ten minutes: longer than
# anything is waited for here. So whoever waits for one of them is not served.
RESOLVER = "options timeout:30 attempts:5\n"
ATTEMPT = {"attemptTimeout": "10m"}
CONNECT_TIMEOUT = 2


def serve_names():
    """Answers for every name except those that begin with "dead"."""
    def answer(labels, kind):
        if labels[0].startswith("dead"):
            return NotImplemented
        if labels[-1] != "example":
            return None
        return socket.inet_aton("127.0.0.1") if kind == 1 else b""

    name_server.serve(answer)


def serve_healthy(listener, arrived):
    """Answers at once, each connection in a thread, and records when each call arrived, by its path."""
    def serve(connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        held = b""
        while piece := connection.recv(65536):
            held += piece
            while b"\r\n\r\n" in held:
                head, held = held.split(b"\r\n\r\n", 1)
                arrived[head.split(b" ", 2)[1].decode()] = time.monotonic()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def stay_silent(listener):
    """Accepts connections, reads from them and never answers."""
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    selector.register(listener.accept()[0], selectors.EVENT_READ)
                    continue
                try:
                    held = key.fileobj.recv(65536)
                except OSError:
                    held = b""
                if not held:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()


def submit(descriptors):
    for at in range(0, len(descriptors), 100):
        status, answer = rebinding.ask("POST", "/v1/calls/batch", json.dumps(descriptors[at:at + 100]))
        assert status == 200 and all(item["status"] == 202 for item in answer["data"]), answer


def measure(port, arrived, count, prefix):
    """Milliseconds from the submission of each call to its arrival, one call after another, over some seconds, with a name
    that is looked up again each second.
    """
    times = []
    for number in range(count):
        path = f"/{prefix}{number}"
        began = time.monotonic()
        status, answer = rebinding.ask("POST", "/v1/calls", json.dumps(
            {"url": f"http://healthy.example:{port}{path}"}))
        assert status == 202, answer
        wait_until(lambda: path in arrived, f"{path} arrives")
        times.append((arrived[path] - began) * 1000)
        time.sleep(0.05)
    return times


def main(binary, folder):
    folder = pathlib.Path(folder)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    rebinding.configure(b"lo", None)
    for name, text in [("resolv.conf", "nameserver 127.0.0.1\n" + RESOLVER), ("nsswitch.conf", "hosts: dns\n")]:
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", str(folder / name), f"/etc/{name}"], check=True)
    arrived = {}
    threading.Thread(target=serve_names, daemon=True).start()
    healthy = socket.create_server(("127.0.0.1", 0), backlog=100)
    port = healthy.getsockname()[1]
    threading.Thread(target=serve_healthy, args=(healthy, arrived), daemon=True).start()
    # One listener with many addresses, each of which is its own target.
    silent = socket.create_server(("0.0.0.0", 0), backlog=4096)
    silence = silent.getsockname()[1]
    threading.Thread(target=stay_silent, args=(silent,), daemon=True).start()
    with open(folder / "redial.log", "wb") as log:
        service = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:8098", "--store", f"sqlite:{folder}/redial.db",
             "--connect-timeout", f"{CONNECT_TIMEOUT}s"],
            env=os.environ | {"REDIAL_TEST_CONSTANTS": "nameCacheTime=1s,maxConnectionAge=1s"}, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        rebinding.starts()
        measure(port, arrived, 10, "first")
        alone = measure(port, arrived, 50, "alone")
        # Four calls to each silent one: with deadlines below the attempt's timeout, and without.
        calls = []
        for n in range(SILENT):
            url = f"http://127.1.{n // 250}.{n % 250 + 1}:{silence}/"
            calls += [{"url": url, "policy": ATTEMPT}, {"url": url, "policy": ATTEMPT | {"deadline": "3s"}}] * 2
        calls += [{"url": f"http://dead{n}.example/", "policy": {"backoff": {"initial": "100ms", "max": "1s"}}}
                  for n in range(DEAD)]
        for n in range(HOOKS):
            hook = f"http://127.2.0.{n + 1}:{silence}/" if n % 2 else f"http://deadhook{n}.example/"
            calls.append({"url": f"http://127.0.0.1:{port}/hooked{n}",
                          "callback": {"url": hook, "events": ["call.succeeded"]}})
        submit(calls)
        beside = measure(port, arrived, 100, "beside")
        # Webhooks that no receiver accepts do not delay calls.
        wait_until(lambda: all(f"/hooked{n}" in arrived for n in range(HOOKS)), "the calls with webhooks arrive")
        print(json.dumps({"alone": alone, "beside": beside}))
    finally:
        service.kill()
        service.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

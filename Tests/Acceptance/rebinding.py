"""A network whose DNS answers change: run by `unshare --net --mount`, it writes what happened as JSON. The first answer
for each name is an address that may be called, all later ones are an address that may not.
"""

import fcntl
import http.client
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time

import name_server
import processes

HONEST = "93.184.216.34"
TURNS = {"loopback": "127.0.0.1", "private": "10.9.9.9", "linklocal": "169.254.169.254"}
# Where a token endpoint is.
TOKENS = {"tokens": TURNS["private"]}
PORT = 8099


def configure(label, address):
    """Gives the loopback device another address, and enables it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        if address:
            packed = struct.pack("16sH2x4s8x", label, socket.AF_INET, socket.inet_aton(address))
            fcntl.ioctl(s, 0x8916, packed)  # SIOCSIFADDR
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", label, 0x1))  # SIOCSIFFLAGS, IFF_UP


def serve_names(asked, ended):
    def answer(labels, kind):
        turns = TURNS | TOKENS
        if kind != 1 or labels[0] not in turns:
            return b""
        asked[labels[0]] = asked.get(labels[0], 0) + 1
        return socket.inet_aton(HONEST if asked[labels[0]] == 1 else turns[labels[0]])

    name_server.serve(answer, ended=lambda query: query == b"end")
    ended.set()


def serve_target(reached):
    """Answers 503 to every request, and records at which address it was reached."""
    listener = socket.create_server(("0.0.0.0", PORT), backlog=100)
    while True:
        connection, _ = listener.accept()
        reached.append(connection.getsockname()[0])
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        connection.close()


def ask(method, path, body=None):
    client = http.client.HTTPConnection("127.0.0.1", 8098, timeout=60)
    client.request(method, path, body, {"content-type": "application/json"})
    answer = client.getresponse()
    return answer.status, json.loads(answer.read())


def starts():
    """Waits until the service takes calls: it listens before, and says that it starts."""
    def is_ready():
        try:
            client = http.client.HTTPConnection("127.0.0.1", 8098, timeout=60)
            client.request("GET", "/readyz")
            return client.getresponse().status == 200
        except OSError:
            return False
    processes.wait_until(is_ready, "the service takes calls")


def ask_without_a_name(name):
    """The attempt of a call to a name without an address, and the breaker's count after it."""
    url = f"http://{name}.example:{PORT}"
    status, call = ask("POST", "/v1/calls", json.dumps({"url": url, "policy": {"maxAttempts": 1}}))
    assert status == 202, call
    call = ask("GET", f"/v1/calls/{call['id']}?wait=50s")[1]
    targets = {t["key"]: t["breaker"]["consecutiveFailures"] for t in ask("GET", "/v1/targets")[1]["data"]}
    attempt = call["attempts"][0]
    return attempt["outcome"], attempt["error"]["code"], targets[url]


def main(binary, folder):
    folder = pathlib.Path(folder)
    configure(b"lo", None)
    for number, address in enumerate([HONEST, *list(TURNS.values())[1:]]):
        configure(b"lo:%d" % number, address)
    for name, text in [("resolv.conf", "nameserver 127.0.0.1\n"), ("nsswitch.conf", "hosts: dns\n")]:
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", str(folder / name), f"/etc/{name}"], check=True)
    asked, reached, ended = {}, [], threading.Event()
    threading.Thread(target=serve_names, args=(asked, ended), daemon=True).start()
    threading.Thread(target=serve_target, args=(reached,), daemon=True).start()
    with open(folder / "redial.log", "wb") as log:
        service = subprocess.Popen(
            [binary, "serve", "--listen", "0.0.0.0:8098", "--store", f"sqlite:{folder}/redial.db",
             "--egress", "public", "--allow-unauthenticated", "true"],
            env=os.environ | {"REDIAL_TEST_CONSTANTS": "nameCacheTime=1s"}, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        starts()
        calls = {}
        deadline = time.monotonic() + 60
        policy = {"maxAttempts": 5, "backoff": {"initial": "2100ms", "max": "2100ms", "jitter": "none"}}
        for name in TURNS:
            status, call = ask("POST", "/v1/calls", json.dumps(
                {"url": f"http://{name}.rebind.example:{PORT}/", "policy": policy}))
            assert status == 202, call
            calls[name] = call["id"]
        own = f"http://{HONEST}:{PORT}"
        status, made = ask("PUT", "/v1/credentials/shop", json.dumps(
            {"type": "oauth2", "tokenURL": f"http://tokens.rebind.example:{PORT}/token", "clientID": "a",
             "clientSecret": "b", "origins": [own]}))
        assert status == 201, made
        status, call = ask("POST", "/v1/calls", json.dumps(
            {"url": own, "credential": "shop", "policy": policy | {"deadline": "8s"}}))
        assert status == 202, call
        calls["tokens"] = call["id"]
        while True:
            shown = {name: ask("GET", f"/v1/calls/{call}")[1] for name, call in calls.items()}
            if all(call["finishedAt"] for call in shown.values()):
                break
            assert time.monotonic() < deadline, shown
            time.sleep(0.1)
        targets = {t["key"]: t["breaker"] for t in ask("GET", "/v1/targets")[1]["data"]}
        lost = [ask_without_a_name("nobody")]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b"end", ("127.0.0.1", 53))
        assert ended.wait(60)
        time.sleep(1.1)  # The result about the resolver is used for a second.
        lost.append(ask_without_a_name("somebody"))
        print(json.dumps({"lost": lost, "calls": shown, "reached": reached, "asked": asked, "targets": targets}))
    finally:
        service.kill()
        service.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

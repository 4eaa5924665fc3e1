"""A network with its own DNS server: run by `unshare --net --mount`, it writes what happened as JSON. One name changes
its address after the first answer; another has an IPv6 address that does not answer, and an IPv4 address that does.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

import name_server
import rebinding

FIRST, SECOND, PORT = "93.184.216.34", "93.184.216.35", rebinding.PORT
DEAD, NEIGHBOUR = "2a00:1::dead", "2a00:1::1"
CACHE_TIME = 4  # seconds


def serve_names(asked):
    def answer(labels, kind):
        if kind == 1 and labels[0] in ("moving", "twofold"):
            asked.append((labels[0], time.monotonic()))
            moved = labels[0] == "moving" and len([name for name, _ in asked if name == "moving"]) > 1
            return socket.inet_aton(SECOND if moved else FIRST)
        return socket.inet_pton(socket.AF_INET6, DEAD) if kind == 28 and labels[0] == "twofold" else b""

    name_server.serve(answer)


def serve_target(reached):
    """Answers 503 to every request, and records when and at which address it was reached."""
    listener = socket.create_server(("0.0.0.0", PORT), backlog=100)
    while True:
        connection, _ = listener.accept()
        reached.append((connection.getsockname()[0], time.monotonic()))
        connection.settimeout(5)
        head = b""
        try:
            while b"\r\n\r\n" not in head and (piece := connection.recv(65536)):
                head += piece
            connection.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            # Closing with unread bytes would reset the connection and lose the answer.
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)
        except OSError:
            pass
        connection.close()


def silence():
    """Makes an address that never answers: packets to it reach the other end of a wire, where no device has them."""
    for command in [
        "link add near type veth peer name far", "link set near up", "link set far up",
        f"-6 addr add {NEIGHBOUR}/64 dev near nodad",
        f"-6 neigh add {DEAD} lladdr 02:00:00:00:de:ad dev near nud permanent",
    ]:
        subprocess.run(["ip", *command.split()], check=True)


def ended(url, policy):
    status, call = rebinding.ask("POST", "/v1/calls", json.dumps({"url": url, "policy": policy}))
    assert status == 202, call
    deadline = time.monotonic() + 60
    while not call.get("finishedAt"):
        assert time.monotonic() < deadline, call
        call = rebinding.ask("GET", f"/v1/calls/{call['id']}?wait=5s")[1]
    return call


def main(binary, folder):
    folder = pathlib.Path(folder)
    rebinding.configure(b"lo", None)
    for number, address in enumerate([FIRST, SECOND]):
        rebinding.configure(b"lo:%d" % number, address)
    silence()
    for name, text in [("resolv.conf", "nameserver 127.0.0.1\n"), ("nsswitch.conf", "hosts: dns\n")]:
        (folder / name).write_text(text)
        subprocess.run(["mount", "--bind", str(folder / name), f"/etc/{name}"], check=True)
    asked, reached = [], []
    threading.Thread(target=serve_names, args=(asked,), daemon=True).start()
    threading.Thread(target=serve_target, args=(reached,), daemon=True).start()
    seen = {}
    for delay in [300, 1500]:
        with open(folder / "redial.log", "wb") as log:
            service = subprocess.Popen(
                [binary, "serve", "--listen", "0.0.0.0:8098", "--store", f"sqlite:{folder}/redial{delay}.db",
                 "--allow-unauthenticated", "true"],
                env=os.environ | {"REDIAL_TEST_CONSTANTS": f"happyEyeballsDelay={delay}ms,nameCacheTime={CACHE_TIME}s"}, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            rebinding.starts()
            call = ended(f"http://twofold.example:{PORT}/", {"maxAttempts": 1})
            seen[f"twofold{delay}"] = call["attempts"][0]
            if delay == 300:
                # An address of the machine other than the one on which it listens.
                seen["own"] = ended(f"http://{FIRST}:8098/v1/calls", {"maxAttempts": 1})["attempts"][0]
                reached.clear()
                ended(f"http://moving.example:{PORT}/", {
                    "maxAttempts": 7, "backoff": {"initial": "1s", "max": "1s", "jitter": "none"}})
                seen["moving"] = list(reached)
                seen["asked"] = [when for name, when in asked if name == "moving"]
        finally:
            service.kill()
            service.wait()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])

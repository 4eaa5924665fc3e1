"""Bodies that stay in the store: what targets receive, and how much memory the service uses."""

import hashlib
import random
import re
import socket
import sqlite3
import threading
import time
from urllib.parse import quote

import processes
from processes import Constants

MIB = 1 << 20

# Accepting takes time, and so does the target.
PATIENT = {"Redial-Policy": '{"attemptTimeout": "1h"}'}


class SlowReader:
    """A target that reads each request's header, and its body only when the test allows it."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.heads, self.digests, self.lock = 0, [], threading.Lock()
        self.go = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as lines:
            length = 0
            while (line := lines.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            with self.lock:
                self.heads += 1
            self.go.wait()
            digest = hashlib.sha256()
            while length > 0 and (piece := lines.read(min(length, 65536))):
                digest.update(piece)
                length -= len(piece)
            with self.lock:
                self.digests.append(digest.hexdigest())
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    def end(self):
        self.go.set()
        self.listener.close()


def heap(service):
    """The memory of the process that no file backs, in bytes."""
    with open(f"/proc/{service.process.pid}/status") as status:
        return int(re.search(r"^RssAnon:\s+(\d+) kB$", status.read(), re.M)[1]) << 10


def noise(seed, size):
    return random.Random(seed).randbytes(size)


def forward(service, url, body, **headers):
    answer = service("POST", f"/v1/forward/{url}", body, headers)
    assert answer.status == 202, answer.body
    return answer.json["id"]


def in_flight(redial, made, folder, above, bodies):
    """A service that sends these bodies to a target which does not read them yet, and the target."""
    target = SlowReader()
    made.append(target)
    folder.mkdir()
    service = redial("--max-body-bytes", str(len(bodies[0])), *processes.target_defaults(maxInFlight=len(bodies)),
                     Constants(streamBodiesAbove=above, keptFreeBytes=1, bodyTimeout="10m"), folder=folder)
    calls = [forward(service, target.url, body, **PATIENT) for body in bodies]
    processes.wait_until(lambda: target.heads == len(bodies), f"all of {len(bodies)} are under way")
    return service, target, calls


def test_memory_does_not_grow_with_the_bodies_under_way(redial, made, tmp_path):
    bodies = [noise(number, 2 * MIB) for number in range(16)]
    streams = in_flight(redial, made, tmp_path / "streamed", 256 * 1024, bodies)
    holds = in_flight(redial, made, tmp_path / "held", 1 << 40, bodies)
    least = sum(map(len, bodies)) // 3
    seen = []

    def differ():
        """Both have used the memory for accepting and for the store's page cache; the one also has the bodies, the other
        two pieces of 128 KiB of each and a buffer of 64 KiB. Free memory is returned every two seconds, unless pieces in use
        lie between (some bodies' worth was seen), so the difference has to be there at each of many looks.
        """
        seen.append(heap(holds[0]) - heap(streams[0]))
        time.sleep(0.1)
        return len(seen) >= 30 and min(seen[-30:]) > least
    try:
        processes.wait_until(differ, f"one has at least {least >> 20} MiB more than the other")
    except AssertionError as error:
        raise AssertionError(f"{error}; it had, in MiB: {[more >> 20 for more in seen]}") from None
    for service, target, calls in (streams, holds):
        target.go.set()
        for call in calls:
            assert service.ended(call)["state"] == "succeeded"
        assert set(target.digests) == {hashlib.sha256(body).hexdigest() for body in bodies}


def test_a_large_body_comes_whole_at_each_attempt_after_a_restart_and_along_a_redirect(redial, receiver, tmp_path):
    target = receiver(lambda request: (307, {"location": "/there"}, b"") if request.path == "/moved" else
                      (503 if request.path == "/flaky" and request.headers["redial-attempt"] == "1" else 200, {}, b""))
    service = redial("--max-body-bytes", str(8 * MIB), Constants(streamBodiesAbove=1000), clock=True)
    bodies = {"noise": noise(1, 3 * MIB), "text": b'{"amount": 100}, ' * 100_000, "edge": noise(2, 1001)}
    for body in bodies.values():
        call = forward(service, target.url + "/flaky", body, **{"Redial-Policy": '{"backoff": {"initial": "10ms"}}', "Redial-Idempotent": "?1"})
        ended = service.ended(call)
        assert ended["attemptCount"] == 2, ended["attempts"]
        for _ in range(2):
            got = target.next()
            assert got.body == body and got.headers["content-length"] == str(len(body))
        call = forward(service, target.url + "/moved", body, **{"Redial-Redirects": '{"max": 2}'})
        assert service.ended(call)["state"] == "succeeded"
        assert [target.next().body == body for _ in range(2)] == [True, True]
    # Accepted for later, so that another process claims it.
    call = forward(service, target.url + "/later", bodies["text"], **{"Redial-Delay": "1h"})
    service.kill()
    service.start()
    service.advance(3600)
    assert service.ended(call)["state"] == "succeeded"
    assert target.next().body == bodies["text"]


def test_a_body_that_cannot_be_read_is_a_local_fault_and_the_target_is_not_blamed(redial, receiver, tmp_path):
    target = receiver()
    service = redial(Constants(streamBodiesAbove=1000))
    # It waits in memory, without its body.
    path = f"/v1/targets/{quote(target.url, safe='')}"
    assert service("POST", f"{path}/pause").json["paused"]
    call = forward(service, target.url, noise(1, 500_000), **{"Redial-Policy": '{"maxAttempts": 1}'})
    with sqlite3.connect(tmp_path / "redial.db") as store:
        store.execute("UPDATE requests SET body = NULL")
    service("POST", f"{path}/resume")
    ended = service.ended(call)
    assert ended["state"] == "failed"
    attempt = ended["attempts"][0]
    assert (attempt["outcome"], attempt["error"]["code"]) in [("localFault", "bodyGone"), ("localFault", "bodyDamaged")], attempt
    assert not target.requests


def test_an_idempotency_key_knows_a_large_body_by_all_of_it(redial, receiver):
    target = receiver()
    service = redial("--max-body-bytes", str(8 * MIB), Constants(streamBodiesAbove=1000))
    body = noise(3, 3 * MIB)
    call = forward(service, target.url, body, **{"Idempotency-Key": "large"})
    assert service.ended(call)["state"] == "succeeded"
    again = service("POST", f"/v1/forward/{target.url}", body, {"Idempotency-Key": "large"})
    assert again.json["id"] == call, again.body
    other = service("POST", f"/v1/forward/{target.url}", body[:-1] + bytes([body[-1] ^ 1]), {"Idempotency-Key": "large"})
    assert other.status == 422, other.body
    assert target.next().body == body and len(target.requests) == 1


def test_large_bodies_are_exported_and_imported_unchanged(redial, receiver, tmp_path):
    target = receiver()
    bodies = {"noise": noise(4, 2 * MIB + 1), "text": b'{"amount": 100}, ' * 150_000}
    settings = ["--max-body-bytes", str(8 * MIB), Constants(streamBodiesAbove=1000)]
    service = redial(*settings)
    calls = {name: forward(service, f"{target.url}/{name}", body, **{"Redial-Delay": "1h"})
             for name, body in bodies.items()}
    service.end()
    with sqlite3.connect(tmp_path / "redial.db") as store:
        stored = dict(store.execute("SELECT body_size IS NOT NULL, length(body) FROM requests"))
    assert set(stored) == {0, 1}, "one is compressed, one is not"
    archive, folder = tmp_path / "calls.ndjson", tmp_path / "other"
    folder.mkdir()
    run = processes.run("export", "--store", f"sqlite:{tmp_path}/redial.db", "-o", archive)
    assert run.returncode == 0, run.stderr
    run = processes.run("import", "--store", f"sqlite:{folder}/redial.db", archive)
    assert run.returncode == 0, run.stderr
    service = redial(*settings, folder=folder)
    for name, call in calls.items():
        assert service("POST", f"/v1/calls/{call}/retry").status < 300
        assert service.ended(call)["state"] == "succeeded"
        got = target.next()
        assert got.path == f"/{name}" and got.body == bodies[name]

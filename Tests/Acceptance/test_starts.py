"""What clients get while a service starts or stops, and what is in its store then.

Clients begin before the service does: a job that puts policies while pods roll is exactly this. `REDIAL_START_ROUNDS` is the
number of starts in the campaign (500 for each store), `REDIAL_START_SEED` the seed of the moments of their ends.
"""

import http.client
import itertools
import json
import os
import random
import signal
import threading
import time

import pytest

import processes
from faults import Faults
from processes import BOUND, Client, Redial, run, wait_until

ADMIN = "rdl_admin-key-of-the-starts"
BEARER = {"authorization": f"Bearer {ADMIN}"}
# One request of each kind: documents of the store, what the engine keeps, and what is only read.
REQUESTS = [
    ("PUT", "/v1/policies/p", {"maxAttempts": 3}), ("DELETE", "/v1/policies/p", None),
    ("POST", "/v1/keys", {"name": "k", "scopes": ["read"]}), ("GET", "/v1/keys", None),
    ("POST", "/v1/webhook-endpoints", {"url": "http://127.0.0.1:9/"}),
    ("PUT", "/v1/credentials/c", {"type": "bearer", "token": "t", "origins": ["http://127.0.0.1:9"]}),
    ("PUT", "/v1/alerts/a", {"to": {"slack": "http://127.0.0.1:9/"}}),
    ("PUT", "/v1/targets/t", {"maxConcurrent": 3}), ("POST", "/v1/targets/t/pause", None),
    ("POST", "/v1/operations", {"action": "cancel", "filter": {}}),
    ("POST", "/v1/calls", {"url": "http://127.0.0.1:9/", "delay": "1h"}), ("GET", "/v1/calls", None),
    ("POST", "/v1/calls/batch", [{"url": "http://127.0.0.1:9/"}]), ("GET", "/v1/events", None),
    ("POST", "/v1/forward/http://127.0.0.1:9/", None), ("GET", "/v1/statistics", None),
    ("GET", "/metrics", None), ("GET", "/", None), ("GET", "/openapi.yaml", None), ("GET", "/nothing", None)]


def ask(port, method, path, body=None, headers=None):
    """One request on a connection of its own, with an answer within a bound."""
    client = Client(port, waits=False)
    client.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    return client(method, path, body, {"connection": "close"} | (headers or {}))


@pytest.fixture
def held(redial, tmp_path):
    """A service whose start stands still when it listens and recovers its store, until `go()`."""
    faults = Faults(tmp_path, tmp_path / "redial.db")
    service = redial(env=faults.env)
    # What a killed process leaves has to be written again.
    service.accepted = service.submit(url="http://127.0.0.1:9/", delay="1h")
    service.kill()
    faults.on("hold-start")
    service.log.unlink()
    service.spawn()
    service.go = lambda: faults.off("hold-start")

    def lives():
        assert service.process.poll() is None, service.log.read_text()
        try:
            return ask(service.port, "GET", "/healthz").status == 200
        except OSError:
            return False
    wait_until(lives, "it answers health checks")
    yield service
    service.go()


def begun(service):
    wait_until(lambda: "listens on" in service.log.read_text(), "it has started")


def test_until_the_store_is_recovered_only_health_checks_are_answered_and_all_else_gets_503(held):
    for method, path, body in REQUESTS:
        answer = ask(held.port, method, path, body)
        assert (answer.status, answer.json["code"]) == (503, "starting"), (method, path, answer.body)
        assert int(answer.headers["retry-after"]) > 0
    lines = b'{"url": "http://127.0.0.1:9/"}\n'
    streamed = ask(held.port, "POST", "/v1/calls/batch", lines, {"content-type": "application/x-ndjson"})
    assert (streamed.status, streamed.json["code"]) == (503, "starting")
    unready = ask(held.port, "GET", "/readyz")
    assert unready.status == 503 and unready.json["code"] == "notReady" and "starts" in unready.json["detail"]
    assert ask(held.port, "HEAD", "/healthz").status == 200
    assert "listens on" not in held.log.read_text(), "the start was not held"
    held.go()
    begun(held)
    assert held("GET", "/readyz").status == 200
    # What was refused was not done.
    assert held("GET", "/v1/policies").json["data"] == [] and held("GET", "/v1/keys").json["data"] == []
    assert [call["id"] for call in held("GET", "/v1/calls").json["data"]] == [held.accepted]
    assert held("PUT", "/v1/policies/p", {"maxAttempts": 3}).status == 201


def test_a_start_is_held_by_a_stop_signal_no_longer_than_its_store_takes(held):
    held.process.send_signal(signal.SIGTERM)
    held.go()
    assert held.process.wait(BOUND) == 0
    held.start()
    assert held.get(held.accepted)["state"] == "scheduled"


def test_what_comes_late_in_a_stop_is_refused_and_changes_nothing(redial, receiver):
    go = threading.Event()
    target = receiver(lambda request: go.wait(BOUND) and (200, {}, b""))
    service = redial("--drain-timeout", "10m")
    service.submit(url=target.url, policy={"attemptTimeout": "10m"})
    target.next()
    # Requests whose bodies come when the service stops.
    late = []
    for number in range(40):
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=BOUND)
        connection.putrequest("PUT", f"/v1/policies/p{number}")
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", "18")
        connection.endheaders()
        late.append(connection)
    service.process.send_signal(signal.SIGTERM)
    service.says("stopping")
    stored, codes = set(), []
    for number, connection in enumerate(late):
        connection.send(b'{"maxAttempts": 3}')
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if answer.status == 201:
            stored.add(f"p{number}")
            assert not codes, "it was served after others were refused"
        else:
            assert (answer.status, body["code"]) == (503, "draining") and int(answer.headers["retry-after"]) > 0
            codes.append(body["code"])
        time.sleep(0.05)
    assert codes, "all were served while the service stopped"
    assert service.process.poll() is None
    go.set()
    assert service.process.wait(BOUND) == 0
    service.start()
    assert {policy["name"] for policy in service("GET", "/v1/policies?limit=250").json["data"]} == stored


class Clients:
    """Clients that change documents and submit calls without pause, whether there is a service or not."""

    def __init__(self, port):
        self.port, self.isOver = port, threading.Event()
        # By kind, the names or ids of what was answered as done.
        self.done = {"policies": set(), "keys": set(), "webhook-endpoints": set(), "credentials": set(), "alerts": set(),
                     "calls": set()}
        self.refusals, self.faults = [], []
        self.threads = [threading.Thread(target=self.work, args=(kind,)) for kind in self.done]
        for thread in self.threads:
            thread.start()

    def work(self, kind):
        for number in itertools.count():
            if self.isOver.is_set():
                return
            name = f"{kind[0]}{number}"
            method, path, body = {
                "policies": ("PUT", f"policies/{name}", {"maxAttempts": 3}),
                "keys": ("POST", "keys", {"name": name, "scopes": ["read"]}),
                "webhook-endpoints": ("POST", "webhook-endpoints", {"url": "http://127.0.0.1:9/", "enabled": False}),
                "credentials": ("PUT", f"credentials/{name}", {"type": "bearer", "token": "t", "origins": ["http://127.0.0.1:9"]}),
                "alerts": ("PUT", f"alerts/{name}", {"to": {"slack": "http://127.0.0.1:9/"}}),
                "calls": ("POST", "calls", {"url": "http://127.0.0.1:9/", "delay": "10h"})}[kind]
            try:
                answer = ask(self.port, method, f"/v1/{path}", body, BEARER)
            except (OSError, http.client.HTTPException):
                # Nobody listens, or the service was killed.
                time.sleep(0.002)
                continue
            if 200 <= answer.status < 300:
                self.done[kind].add(answer.json["id"] if method == "POST" else name)
            # Of a database an instance gives its leases back when it stops, while requests wait for its lane.
            elif answer.status == 503 and answer.json["code"] in ("starting", "draining", "leaderUnreachable", "ownedElsewhere"):
                self.refusals.append(answer.json["code"])
            elif answer.json["code"].startswith("tooMany"):
                return
            else:
                self.faults.append((kind, answer.status, answer.body))

    def end(self):
        self.isOver.set()
        for thread in self.threads:
            thread.join(BOUND)
        return self


def stored(service, path):
    """What a list has on all of its pages, by name or id."""
    cursor, found = "", set()
    while cursor is not None:
        page = service("GET", f"/v1/{path}?limit=250{cursor}", headers=BEARER).json
        found |= {thing.get("id") or thing["name"] for thing in page["data"]}
        cursor = page.get("nextCursor") and f"&cursor={page['nextCursor']}"
    return found


def start_and_stop(service, rounds):
    """Starts the service again and again under clients, and ends it at a random moment: half of the times by a kill."""
    seed = int(os.environ.get("REDIAL_START_SEED", 1))
    chance = random.Random(seed)
    port = int(service.arguments[service.arguments.index("--listen") + 1].rpartition(":")[2])
    clients = Clients(port)
    try:
        for number in range(rounds):
            what = f"start {number} of seed {seed}"
            service.start()
            time.sleep(chance.random() * 0.2)
            if chance.random() < 0.5:
                service.kill()
            else:
                assert service.terminate() == 0, what
            assert not clients.faults, (what, clients.faults[:3])
        service.start()
        wait_until(lambda: all(clients.done.values()), "each client has changed something")
    finally:
        clients.end()
    assert not clients.faults, clients.faults[:3]
    for kind, done in clients.done.items():
        assert done - stored(service, kind) == set(), f"{kind} of seed {seed} that were answered are gone"
    assert service.terminate() == 0
    inspected = run("doctor", "--store", service.arguments[service.arguments.index("--store") + 1], env=service.env)
    assert inspected.returncode == 0, inspected.stdout
    log = service.log.read_text()
    assert not [line for line in log.splitlines() if " error " in line], log[-4000:]


LIMITS = processes.Constants(maxPolicies=10000, maxCredentials=10000, maxAlerts=10000, maxWebhookEndpoints=10000)


def service_of(store, folder, made, database):
    location = database().url if store == "postgresql" else None
    service = Redial(folder, LIMITS, "--lease-duration", "5s", env={"REDIAL_ADMIN_KEY": ADMIN}, location=location)
    made.append(service)
    return service


@pytest.mark.usefixtures("encrypted")
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_starts_and_stops_under_clients_damage_and_lose_nothing(store, tmp_path, made, database):
    start_and_stop(service_of(store, tmp_path, made, database), 5)


@pytest.mark.part("crashes")
@pytest.mark.usefixtures("encrypted")
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_hundreds_of_starts_and_stops_under_clients(store, tmp_path, made, database):
    start_and_stop(service_of(store, tmp_path, made, database), int(os.environ.get("REDIAL_START_ROUNDS", 500)))

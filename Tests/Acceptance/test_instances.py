"""Three instances on one database, with a proxy on each way between them and to the database, under faults that are drawn from a
seed: an independent model (call_model.py) compares what clients, the target and listeners have seen with what the service says.

`REDIAL_INSTANCES_ROUNDS` is the number of rounds (1), each with new instances; `REDIAL_INSTANCES_SECONDS` how long faults are made
in each (60); `REDIAL_CRASH_SEED` the seed of the first; `REDIAL_INSTANCES_FAULTS` names some of the faults, to find the one that
matters. The first round begins with those that have found something once.
"""

import concurrent.futures
import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest

from call_model import Call, Heard, Hit, Model, Nemesis, stale
from crashes import FLAGS, POLICY, Target
from faults import Faults
from networks import Network, PeerNetwork
from processes import BOUND, run, wait_until
from replica_crashes import ReplicaCrashes
from test_database_trouble import HEARTBEATS
from test_events import Stream

pytestmark = pytest.mark.part("instances")

ROUNDS = int(os.environ.get("REDIAL_INSTANCES_ROUNDS", 1))
SECONDS = float(os.environ.get("REDIAL_INSTANCES_SECONDS", 60))
SEED = int(os.environ.get("REDIAL_CRASH_SEED", 1))
INSTANCES, TARGETS, LIMIT = 3, 24, 2
# When a submission or command has its answer, unless its instance stood still: replicas.md says "after 5 s".
ANSWERED = 10
# Clocks "must not run a tenth faster or slower" (guarantees.md).
DRIFT = 0.02


class Load:
    """Clients, each with a kind of calls, at any of the instances."""

    # How many there are of each kind.
    KINDS = {"keyed": 2, "plain": 2, "wait": 2, "ordered": 3, "limited": 2, "few": 1, "cancelled": 1}

    def __init__(self, services, target, seed):
        self.services, self.target = services, target
        self.calls, self.faults, self.slow, self.written, self.read = [], [], [], [], []
        self.lock, self.stopped = threading.Lock(), threading.Event()
        jobs = [(self.client, kind, number) for kind, count in self.KINDS.items() for number in range(count)]
        jobs.append((self.documents, "documents", 0))
        self.threads = [
            threading.Thread(target=job, args=(kind, f"{kind}{number}", random.Random(f"{seed} {kind} {number}")))
            for job, kind, number in jobs]
        for thread in self.threads:
            thread.start()

    def ask(self, service, method, path, body=None, headers=None, patience=ANSWERED):
        """The answer, or None if the connection broke."""
        begun = time.time()
        try:
            answer = service(method, path, body, headers)
        except (OSError, http.client.HTTPException):
            return None
        if time.time() - begun > patience:
            self.slow.append((begun, time.time(), f"{method} {path} at {service.port}: {answer.status}"))
        if answer.status in (503, 507) and not answer.headers.get("retry-after"):
            self.faults.append(f"{answer.status} without Retry-After: {answer.body}")
        return answer

    def until_answered(self, chance, *request):
        """The answer of one of the instances that is not a refusal; None at the end of the load."""
        while not self.stopped.is_set():
            answer = self.ask(chance.choice(self.services), *request)
            if answer and answer.status not in (503, 507):
                return answer
            time.sleep(0.05)

    def client(self, kind, name, chance):
        number_in_lane = 0
        while not self.stopped.wait(chance.uniform(0, 0.1)):
            with self.lock:
                call = Call(len(self.calls), kind)
                self.calls.append(call)
            call.body = f"body of {call.number}".encode()
            descriptor = {
                "url": f"{self.target.url}/{call.number}", "policy": POLICY, "body": call.body.decode(),
                "target": name if kind in ("ordered", "limited") else f"target{call.number % TARGETS}"}
            if kind == "limited":
                descriptor["target"] = kind
            if kind == "ordered":
                number_in_lane += 1
                call.lane = descriptor["orderingKey"] = name
            if kind == "few":
                descriptor["policy"] = POLICY | {"maxAttempts": 1}
            if kind == "cancelled":
                descriptor["delay"] = chance.choice(["0s", "50ms", "2s"])
            headers = {"prefer": "wait=3"} if kind in ("wait", "few") else {}
            request = ("POST", "/v1/calls", descriptor)
            if kind in ("plain", "wait"):
                call.keyed = False
                answer = self.ask(chance.choice(self.services), *request, headers, ANSWERED + 3)
            else:
                answer = self.until_answered(chance, *request, headers | {"idempotency-key": f"{name}-{call.number}"}, ANSWERED + 3)
            if answer is None:
                continue
            call.status, call.code = answer.status, answer.json.get("code")
            if answer.status in (200, 202):
                call.id = answer.json["id"]
                call.seen = answer.json["state"] if answer.status == 200 else None
                self.command(call, chance)
            elif answer.status not in (503, 507):
                self.faults.append(f"{answer.status} {answer.body}")

    def command(self, call, chance):
        """What is done with an accepted call."""
        path = f"/v1/calls/{call.id}"
        if call.kind == "cancelled":
            call.cancel = "unknown"
            answer = self.until_answered(chance, "POST", f"{path}/cancel")
            if answer:
                call.cancel, call.cancelled_at = {200: "cancelled", 202: "cancelled", 409: "ended"}[answer.status], time.time()
        elif call.kind == "few" and call.seen == "failed":
            call.retry, service, asked = "unknown", chance.choice(self.services), time.time()
            answer = self.ask(service, "POST", f"{path}/retry")
            if answer and answer.status in (200, 202):
                call.retry = "done"
            elif answer and answer.json["code"] not in ("outcomeUnknown", "instanceUnreachable"):
                call.retry, call.code = "refused", f"{answer.json['code']} at {service.port} at {asked:.3f} to {time.time():.3f}"

    def documents(self, kind, name, chance):
        """Changes a policy at one instance, and asks another one for it."""
        attempts = 0
        while not self.stopped.wait(0.3):
            attempts += 1
            # replicas.md promises an answer "after 5 s" for submissions alone.
            answer = self.ask(chance.choice(self.services), "PUT", "/v1/policies/p", {"maxAttempts": attempts}, None, float("inf"))
            if answer and answer.status in (200, 201):
                self.written.append((time.time(), answer.json["version"]))
            asked, answer = time.time(), self.ask(chance.choice(self.services), "GET", "/v1/policies/p")
            if answer and answer.status == 200:
                self.read.append((asked, time.time(), answer.json["version"]))

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


class Listener:
    """Listens to the ends of calls at one instance, and goes on after the last event when the stream ends."""

    def __init__(self, service):
        self.service, self.heard, self.faults = service, [], []
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        last = None
        while not self.stopped.is_set():
            try:
                stream = Stream(self.service, "?type=call.succeeded,call.failed,call.cancelled", after=last)
            except (OSError, http.client.HTTPException, AssertionError):
                self.stopped.wait(0.2)
                continue
            if stream.response.status != 200:
                self.stopped.wait(0.2)
                continue
            if last is None:
                self.heard.append(Heard(time.time(), "gap"))
            count = 0
            while not (self.stopped.is_set() or stream.ended and count == len(stream.events)):
                for event in stream.events[count:]:
                    count += 1
                    self.heard.append(Heard(
                        time.time(), event["type"], event["eventId"], event["data"].get("id"), event["data"].get("finishedAt")))
                time.sleep(0.05)
            last = stream.last or last
            stream.close()

    def end(self):
        self.stopped.set()
        self.thread.join()


class Nemeses:
    """What disturbs instances, their ways and the database."""

    # Those that were found once come first, in the first round: what was accepted cannot be read (items 10 and 11 of the list of
    # that time), a clock that runs fast, a black hole, a kill and a start at once, a process that stands still.
    FIRST = ["readers", "drift", "hole", "kill", "stop"]
    KINDS = [*FIRST, "kill", "stop", "hole", "refuse", "slow", "lose", "peer_hole", "peer_refuse", "peer_slow", "peer_lose",
             "terminate", "limit", "restart", "clock"]
    CHOSEN = os.environ.get("REDIAL_INSTANCES_FAULTS", " ".join(KINDS)).split()

    def __init__(self, cluster, services, ways, peers, faults, seed, is_first):
        self.cluster, self.services, self.ways, self.peers, self.clocks = cluster, services, ways, peers, faults
        self.chance, self.is_first, self.done, self.faults = random.Random(seed), is_first, [], []
        self.drifting = False
        self.healed = threading.Event()
        threading.Thread(target=self.drift_on, daemon=True).start()

    def plan(self):
        if self.is_first:
            yield from ([kind] for kind in self.FIRST if kind in self.CHOSEN)
        while True:
            kinds = [kind for kind in self.KINDS if kind in self.CHOSEN]
            self.chance.shuffle(kinds)
            while kinds:
                # Sometimes two at a time.
                yield [kinds.pop() for _ in range(min(len(kinds), self.chance.choice([1, 1, 2])))]

    def work(self, seconds):
        end = time.monotonic() + seconds
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for kinds in self.plan():
                time.sleep(self.chance.uniform(0.1, 2))
                if time.monotonic() > end:
                    return
                # Often shorter than a lease.
                drawn = [(kind, self.chance.randrange(INSTANCES), self.chance.uniform(0.2, self.chance.choice([2, 8])))
                         for kind in kinds]
                list(pool.map(lambda words: self.make(*words), drawn))

    def make(self, kind, number, seconds):
        nemesis = Nemesis(kind, number, time.time(), float("inf"))
        self.done.append(nemesis)
        try:
            getattr(self, kind)(number, seconds)
        except Exception as error:  # It is said together with the seed.
            self.faults.append(f"{kind} {number}: {error!r}")
        nemesis.end = time.time()

    def sql(self, text):
        """Whether the database has done that: it may be away."""
        try:
            self.cluster.query(text, "redial")
            return True
        except subprocess.CalledProcessError:
            return False

    def revive(self, number):
        """Starts an instance, as a supervisor does, until the database lets it."""
        def starts():
            try:
                return self.services[number].start()
            except AssertionError:
                return False
        wait_until(starts, f"instance {number} starts again", 2 * BOUND)

    def kill(self, number, _):
        self.services[number].kill()
        if self.services[number].clock:
            # What a process measures of the database's clock when it starts has nothing of the drift.
            self.services[number].clock.advance(-self.services[number].clock.seconds)
        self.revive(number)

    def stop(self, number, seconds):
        process = self.services[number].process
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    def told(self, way, word, seconds, *more):
        way.tell(word, *more)
        time.sleep(seconds)
        way.tell("slow", 0)
        way.tell(self.chance.choice(["heal", "drop"]) if word == "cut" else "heal")

    def hole(self, number, seconds):
        # Sometimes longer than a submission waits for its answer.
        self.told(self.ways[number], "cut", 2 * seconds)

    def refuse(self, number, seconds):
        self.told(self.ways[number], "refuse", seconds)

    def slow(self, number, seconds):
        self.told(self.ways[number], "slow", seconds, 0.05)

    def lose(self, number, _):
        # The name of the statement that commits.
        self.ways[number].tell("lose", "commit")

    def peer_hole(self, number, seconds):
        self.told(self.peers[number], "cut", seconds)

    def peer_refuse(self, number, seconds):
        self.told(self.peers[number], "refuse", seconds)

    def peer_slow(self, number, seconds):
        self.told(self.peers[number], "slow", seconds, 0.2)

    def peer_lose(self, number, _):
        self.peers[number].tell("lose", "/v1/calls/forwarded")

    def terminate(self, *_):
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'")

    def readers(self, _, seconds):
        end = time.monotonic() + 2 + seconds
        self.sql("ALTER ROLE limited CONNECTION LIMIT 0")
        while time.monotonic() < end:
            self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited' "
                     f"AND query !~ '{HEARTBEATS}' AND pid NOT IN (SELECT backend FROM redial.beats)")
            time.sleep(0.2)
        self.unlimited()

    def limit(self, _, seconds):
        self.sql(f"ALTER ROLE limited CONNECTION LIMIT {self.chance.randrange(INSTANCES * 2)}")
        self.terminate()
        time.sleep(seconds)
        self.unlimited()

    def unlimited(self):
        wait_until(lambda: self.sql("ALTER ROLE limited CONNECTION LIMIT -1"), "the role has no limit")

    def restart(self, *_):
        self.cluster.stop("fast")
        self.cluster.start()

    def clock(self, *_):
        """The wall clock of an instance is wrong."""
        self.clocks.ahead("clock", self.chance.choice([-1, 1]) * self.chance.uniform(1, 3600))

    def drift(self, *_):
        self.drifting = True

    def drift_on(self):
        """The clock of another instance runs fast, from then on."""
        while not self.healed.wait(0.1):
            if self.drifting:
                self.services[1].clock.advance(0.1 * DRIFT)

    def heal(self):
        self.healed.set()
        self.cluster.revive()
        self.unlimited()
        for way in [*self.ways, *self.peers]:
            way.tell("slow", 0)
            way.tell("heal")
        for number, service in enumerate(self.services):
            service.process.send_signal(signal.SIGCONT)
            if service.process.poll() is not None:
                self.faults.append(f"instance {number} has ended by itself with {service.process.returncode}")
                self.revive(number)


def all_hits(target, offset):
    for line in target.record.read_text().splitlines():
        at, path, call, attempt, _, status, pause, crc = line.split(" ")
        yield Hit(float(at) + offset, int(path[1:]), call, int(attempt), int(status), float(pause), int(crc))


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_model_finds_nothing_wrong_whatever_is_disturbed(made, tmp_path, database, instances, number):
    seed = SEED + number
    cluster, target = database(), Target(tmp_path, seed=seed)
    made.append(target)
    cluster.query("CREATE ROLE limited LOGIN")
    cluster.query("GRANT CREATE ON DATABASE redial TO limited")
    ways, peers = [Network(cluster) for _ in range(INSTANCES)], [PeerNetwork() for _ in range(INSTANCES)]
    made += [*ways, *peers]
    wrong = Faults(tmp_path, "none")

    def each(number):
        return {"location": ways[number].url.replace("postgres@", "limited@"), "clock": number == 1,
                "env": {"REDIAL_PEER_URL": peers[number].url} | (wrong.env if number == 0 else {})}
    _, services = instances(INSTANCES, *FLAGS, on=cluster, each=each)
    for service, peer in zip(services, peers):
        peer.tell("lead", service.port)
    answer = services[0]("PATCH", "/v1/targets/limited", {"maxInFlight": LIMIT})
    assert answer.status == 200, answer.body
    nemeses = Nemeses(cluster, services, ways, peers, wrong, seed, number == 0)
    listeners = [Listener(service) for service in services]
    made += listeners
    load = Load(services, target, seed)
    try:
        nemeses.work(SECONDS)
    finally:
        load.stop()
        nemeses.heal()
    checker = ReplicaCrashes(cluster, services, [], target, None, seed)
    try:
        wait_until(lambda: checker.unfinished() == 0, "all calls have ended", 2 * BOUND)
        faults = []
    except AssertionError:
        faults = [f"calls have not ended:\n{checker.stuck()}"]
    wait_until(lambda: all(service("GET", "/readyz").status == 200 for service in services), "all are ready again")
    shown = {}

    def show(call):
        answer = services[call.number % INSTANCES]("GET", f"/v1/calls/{call.id}")
        shown[call.id] = answer.json if answer.status == 200 else None
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(show, [call for call in load.calls if call.id]))
    model = Model(load.calls, all_hits(target, time.time() - time.monotonic()), shown,
                  [listener.heard for listener in listeners], nemeses.done, LIMIT)
    try:
        wait_until(lambda: not any(model.missed()), "listeners have heard of all")
    except AssertionError:
        pass  # The model says what is missing.
    faults += [*load.faults, *nemeses.faults, *model.faults(), *stale(load.written, load.read, nemeses.done)]
    faults += [f"slow: {what} after {end - begun:.1f} s from {begun:.3f}" for begun, end, what in load.slow
               if not any(n.kind in ("stop", "kill") and n.start < end and begun < n.end for n in nemeses.done)]
    try:
        checker.check_tables()
    except AssertionError as error:
        faults.append(f"tables: {error}")
    report = run("doctor", "--store", cluster.url)
    if report.returncode:
        faults.append(f"doctor: {report.stdout}")
    figures = {"acknowledged": len(model.acknowledged()), "refused": sum(call.is_refused for call in load.calls),
               "requests": len(model.hits), "ends": sum(len(listener.heard) for listener in listeners), "policies": len(load.read),
               "nemeses": len(nemeses.done), "faults": len(faults)}
    print("\n" + json.dumps({"seed": seed, **figures}))
    told = "\n".join(f"{n.start:.3f} to {n.end:.3f}: {n.kind} {n.instance}" for n in nemeses.done)
    assert not faults, f"seed {seed}\n" + "\n".join(faults[:20]) + f"\n{told}"
    assert figures["acknowledged"] > SECONDS and figures["requests"] >= figures["acknowledged"] / 2

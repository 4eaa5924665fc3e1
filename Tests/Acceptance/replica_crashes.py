"""Loads instances that share a database, disturbs them and the database at random moments, and compares every call with the
records of clients, the target and the tables."""

import http.client
import json
import random
import signal
import threading
import time

from crashes import LATE, POLICY, SLACK
from processes import Client, wait_until

# Calls to targets of these names are spread over all instances.
TARGETS = 24
# How long a client waits for an instance that may be stopped, in seconds.
PATIENCE = 2


class Load:
    """Clients that submit without pause to any of the instances, each call under its own key, until it is answered."""

    def __init__(self, services, target, history, clients=6, pause=0.02):
        self.services, self.target, self.history, self.pause = services, target, history, pause
        self.acknowledged = {}
        self.number = self.refusals = self.replays = 0
        self.faults = []
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.client, args=(n,)) for n in range(clients)]
        for thread in self.threads:
            thread.start()

    def client(self, seed):
        chance = random.Random(seed)
        connections = {}
        while not self.stopped.is_set():
            with self.lock:
                self.number += 1
                number = self.number
            descriptor = {
                "url": f"{self.target.url}/{number}", "policy": POLICY, "target": f"target{number % TARGETS}"}
            if number % 10 == 0:
                descriptor["callback"] = {"url": f"{self.target.url}/hook/{number}"}
            answer = None
            while answer is None:
                service = chance.choice(self.services)
                answer = self.submit(connections, service, number, descriptor)
                if answer is None and self.stopped.is_set():
                    return
            with self.lock:
                if answer.status in (200, 202):
                    self.acknowledged[number] = answer.json["id"]
                    self.replays += answer.headers.get("idempotency-status") is not None
                else:
                    self.faults.append(f"{answer.status} {answer.body}")
            self.history("acknowledged", number=number, status=answer.status, call=answer.json.get("id"))
            time.sleep(self.pause)

    def submit(self, connections, service, number, descriptor):
        """The answer; None if the client has to try again, perhaps elsewhere."""
        client = connections.setdefault(service.port, Client(service.port))
        if client.connection is None:
            client.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
        try:
            answer = client("POST", "/v1/calls", descriptor, {"idempotency-key": f"\"load-{number}\""})
        except (OSError, http.client.HTTPException):
            client.connection = None
            time.sleep(0.01)
            return None
        if answer.status not in (503, 507):
            return answer
        with self.lock:
            self.refusals += 1
        if not answer.headers.get("retry-after"):
            self.faults.append(f"{answer.status} without Retry-After")
        time.sleep(0.02)
        return None

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


class History:
    """A line of JSON for everything that happened, for other checkers.

    Each line has `at`, in seconds of the machine's monotonic clock, and `what`:

        acknowledged    a client has its answer, a 200 or 202. `number` of the submission, which is also its key
                        (`load-NUMBER`) and the path of its requests (`/NUMBER`, its webhook's `/hook/NUMBER`); `status`,
                        and `call`, the id
        kill, terminate, stop, part, restart_database, fail_over
                        this disturbance begins: SIGKILL, SIGTERM, SIGSTOP, no network between instance and database, the
                        same server again, another server. `instance`: the number of the one that it is for; the last two
                        are for all
        over            it is over
        hit             the target got a request. `began`: when, by the same clock; `path`, `call`, `attempt` (its number as
                        a text), `status` of the answer, and `seconds` until the answer. These lines are at the end
        call            what an instance says about an acknowledged call at the end: `call`, `state`, and `attempts`, each
                        with `number`, `outcome` and `status`
    """

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf8")
        self.lock = threading.Lock()

    def __call__(self, what, **more):
        with self.lock:
            self.file.write(json.dumps({"at": round(time.monotonic(), 6), "what": what, **more}) + "\n")

    def end(self):
        self.file.close()


class ReplicaCrashes:
    """Rounds of load with one disturbance each."""

    def __init__(self, cluster, services, networks, target, history, seed, replicate=None):
        """`replicate` makes a standby for a cluster; without it the database never fails over."""
        self.cluster, self.services, self.networks = cluster, services, networks
        self.target, self.history = target, history
        self.chance = random.Random(seed)
        self.disturbances = []
        self.counts = {}
        # Follows the cluster; nothing is committed without it.
        self.replicate = replicate
        self.standby = replicate and replicate(cluster)

    def rounds(self, count, longest=6.0):
        self.longest = longest
        kinds = [self.kill, self.kill, self.stop, self.part, self.terminate, self.restart_database]
        if self.standby:
            kinds.append(self.fail_over)
        load = Load(self.services, self.target, self.history)
        try:
            for _ in range(count):
                time.sleep(self.chance.uniform(0.05, 1))
                kind, number = self.chance.choice(kinds), self.chance.randrange(len(self.services))
                self.counts[kind.__name__] = self.counts.get(kind.__name__, 0) + 1
                self.history(kind.__name__, instance=number)
                before = time.monotonic()
                kind(number)
                self.disturbances.append((before, time.monotonic()))
                self.history("over", instance=number)
        finally:
            load.stop()
        return load

    def duration(self):
        """Often shorter than a lease, sometimes longer."""
        return self.chance.uniform(0.1, self.chance.choice([1, self.longest]))

    def kill(self, number):
        self.services[number].kill()
        time.sleep(self.duration())
        self.services[number].start()

    def terminate(self, number):
        assert self.services[number].terminate() == 0
        self.services[number].start()

    def stop(self, number):
        process = self.services[number].process
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.duration())
        process.send_signal(signal.SIGCONT)

    def part(self, number):
        self.networks[number].tell("cut")
        time.sleep(self.duration())
        self.networks[number].tell(self.chance.choice(["heal", "drop"]))

    def restart_database(self, _):
        self.cluster.stop("immediate")
        time.sleep(self.chance.uniform(0, 1))
        self.cluster.start()

    def fail_over(self, _):
        before = self.cluster
        before.stop("immediate")
        time.sleep(self.chance.uniform(0, 1))
        self.cluster = self.standby.promote()
        for network in self.networks:
            network.lead_to(self.cluster)
        self.standby = self.replicate(self.cluster)
        before.end()

    # The check

    def unfinished(self):
        return int(self.cluster.query("SELECT count(*) FROM redial.live", "redial")[0][0])

    def stuck(self):
        """What the tables say of calls that do not end: sessions with their shards, and calls by owner and state."""
        queries = [
            "SELECT s.id, s.instance, s.conn, b.expires_at - (extract(epoch FROM clock_timestamp()) * 1e6)::int8 AS left, "
            "(SELECT count(*) FROM redial.leases WHERE owner = s.id) AS shards FROM redial.sessions s "
            "LEFT JOIN redial.beats b ON b.session = s.id",
            "SELECT l.owner, c.state, c.waiting, c.attempts > 0 AS tried, count(*), min(c.due - "
            "(extract(epoch FROM clock_timestamp()) * 1e6)::int8) AS due FROM redial.live c "
            "JOIN redial.leases l ON l.shard = c.shard GROUP BY 1, 2, 3, 4",
            "SELECT c.id, c.shard, c.state, c.waiting, c.attempts, a.number, a.outcome, a.started_at, c.at "
            "FROM redial.live c LEFT JOIN redial.attempts a ON a.call_id = c.id ORDER BY c.id, a.number LIMIT 30",
            "SELECT * FROM redial.control",
            "SELECT pid, state, wait_event, left(query, 60) FROM pg_stat_activity WHERE backend_type = 'client backend'"]
        seen = "\n".join(f"{query}\n{self.cluster.query(query, 'redial')}" for query in queries)
        ready = [service("GET", "/readyz").body for service in self.services]
        return f"{seen}\n{ready}"

    def check(self, load):
        """Compares the answers of the instances with the other records; returns the figures."""
        assert not load.faults, load.faults[:3]
        deadline = time.monotonic() + 60
        while self.unfinished() > 0:
            assert time.monotonic() < deadline, f"calls have not ended within 60 s:\n{self.stuck()}"
            time.sleep(0.2)
        by_call, webhooks, paths, total = {}, {}, {}, 0
        for at, path, call, attempt, webhook, status, pause in self.target.timed_hits():
            total += 1
            self.history("hit", began=at, path=path, call=call, attempt=attempt, status=status, seconds=pause)
            if path.startswith("/hook/"):
                webhooks.setdefault(int(path.removeprefix("/hook/")), set()).add(webhook)
            else:
                by_call.setdefault(call, []).append((at, int(attempt), status, pause))
                paths.setdefault(int(path[1:]), set()).add(call)
        figures = {
            **self.counts, "acknowledged": len(load.acknowledged), "replayed": load.replays, "refused": load.refusals,
            "hits": total, "lost": 0, "beyondRecorded": 0, "overlapping": 0, "interrupted": 0, "duplicates": 0,
            "duplicatesUnexplained": 0, "webhooks": len(webhooks)}
        for number, identity in load.acknowledged.items():
            answer = self.chance.choice(self.services)("GET", f"/v1/calls/{identity}")
            self.note(identity, answer)
            if answer.status != 200 or answer.json["state"] != "succeeded" or identity not in by_call:
                figures["lost"] += 1
                print("lost:", number, identity, answer.body, by_call.get(identity))
                continue
            self.compare(answer.json, sorted(by_call[identity]), figures)
            assert paths[number] == {identity}, f"the key of {number} gave {paths[number]}"
        for number in load.acknowledged:
            if number % 10 == 0:
                assert len(webhooks.get(number, ())) == 1, f"the webhook of {number} came as {webhooks.get(number)}"
        return figures

    def note(self, identity, answer):
        call = answer.json if answer.status == 200 else {"state": None, "attempts": []}
        attempts = [{key: a[key] for key in ("number", "outcome", "status")} for a in call["attempts"]]
        self.history("call", call=identity, state=call["state"], attempts=attempts)

    def compare(self, call, hits, figures):
        assert [a["number"] for a in call["attempts"]] == list(range(1, call["attemptCount"] + 1)), call
        outcomes = {a["number"]: a["outcome"] for a in call["attempts"]}
        numbers = [attempt for _, attempt, _, _ in hits]
        figures["interrupted"] += sum(o == "interrupted" for o in outcomes.values())
        if len(set(numbers)) < len(numbers) or max(numbers) > len(outcomes):
            figures["beyondRecorded"] += 1
            print("beyond its record:", call, hits)
        for (at, attempt, status, pause), (again, _, _, _) in zip(hits, hits[1:]):
            if again < at + pause:
                figures["overlapping"] += 1
                print("overlapping:", call, hits)
            if status != 200:
                continue
            figures["duplicates"] += 1
            in_flight = any(start - SLACK <= at <= end + LATE for start, end in self.disturbances)
            if not in_flight or outcomes[attempt] != "interrupted":
                figures["duplicatesUnexplained"] += 1
                print("a duplicate:", call["id"], outcomes, hits)

    def check_tables(self):
        """The sums and what belongs to calls are right, and the shards are divided."""
        def one(query):
            return int(self.cluster.query(query, "redial")[0][0] or 0)

        wait_until(lambda: one("SELECT count(DISTINCT owner) FROM redial.leases WHERE owner IS NOT NULL")
                   == len(self.services) and one("SELECT count(*) FROM redial.leases WHERE owner IS NULL") == 0,
                   "all instances have shards", 20)
        assert one("SELECT sum(n) FROM redial.finished") == one("SELECT count(*) FROM redial.done")
        assert one("SELECT count(*) FROM redial.turns") == 0
        assert one("SELECT count(*) FROM redial.done d WHERE NOT EXISTS "
                   "(SELECT 1 FROM redial.requests r WHERE r.id = d.id)") == 0
        assert one("SELECT count(*) FROM redial.done d WHERE d.attempts <> "
                   "(SELECT count(*) FROM redial.attempts a WHERE a.call_id = d.id) + "
                   # The second byte of packed attempts is their number.
                   "coalesce(get_byte(past, 1), 0)") == 0


def assert_nothing_lost(figures):
    assert figures["acknowledged"] > 0 and figures["hits"] >= figures["acknowledged"]
    assert figures["lost"] == 0
    assert figures["beyondRecorded"] == 0
    assert figures["overlapping"] == 0
    assert figures["duplicatesUnexplained"] == 0

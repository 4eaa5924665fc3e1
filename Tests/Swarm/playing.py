"""Plays a world: the service, its targets, clients of several tenants, and what disturbs them, each in a thread of its own."""

import base64
import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.parse

import databases
import faults
from processes import BINARY, Client, Constants, Redial, environment, free_port

import beliefs
import frames
import nonsense
from targets import Targets
from ways import Proxy, Ways

ADMIN = "rdl_admin-key-of-the-swarm"
# How long an answer may take that does not wait for a call, in seconds, while nothing but the machine's other work delays it.
ANSWERED = 15
# How long a start may take, and how long the calls take to end when nothing disturbs them any more: longer than any deadline.
BEGUN, QUIET = 30, 75
DEADLINE = "60s"
# Within how many bytes of its id the row of a key is, with some room.
KEY_ROW = 2000


@dataclasses.dataclass
class Sent:
    """A call that a client has submitted, as the client sees it."""
    mark: str
    tenant: str
    what: dict
    begun: float = 0
    answered: float = 0
    status: int | None = None
    code: str = ""
    id: str = ""
    # All ids that it ever had in an answer: under one key it is one call, unless it is said to be another.
    ids: set = dataclasses.field(default_factory=set)
    # Whether nobody knows if it was accepted.
    is_doubtful: bool = False
    # When a cancel was answered as done, and what else was done with it.
    cancelled: float = 0
    touched: set = dataclasses.field(default_factory=set)
    disturbed: bool = False
    # Of all calls that were submitted, its number.
    order: int = 0

    def __str__(self):
        return f"{self.mark} ({self.id or self.status or 'no answer'}, {', '.join(f'{k} {v}' for k, v in self.what.items() if k != 'mark')})"


class Player:
    def __init__(self, world, folder, verbose=False):
        self.world, self.folder, self.verbose, self.binary = world, pathlib.Path(folder), verbose, BINARY
        # A fault that is on in the service, and not in the commands that judge it.
        self.planted = {"PLANTED_BUG": os.environ["SWARM_FAULT"]} if "SWARM_FAULT" in os.environ else {}
        self.sent, self.documents, self.broken, self.changes = {}, {}, [], []
        self.lock, self.over = threading.Lock(), threading.Event()
        # When something disturbed the service: pairs of times.
        self.troubles, self.copies, self.stored = [], [], set()
        # The names of documents of which nobody knows how often they were changed.
        self.doubtful = set()
        # By tenant, secrets in what it submits, and in documents, which are stored nowhere in clear text.
        self.canaries, self.sealed = {}, {}
        # Processes that were ended on purpose, and those that had begun.
        self.ended, self.watched = set(), set()
        # What each process had when it began.
        self.base = {}
        # What the world has less of than it had.
        self.has_lost_key = self.has_damage = self.has_no_signs = False
        # The disk under the store, and the exit codes that it may cause now.
        self.disk, self.expected = None, set()
        # The databases, of which one may follow another, and what lies between all.
        self.clusters, self.servers, self.ways, self.proxy = [], None, None, None
        # Whether a way was cut to the first target.
        self.has_cut_target = False
        self.judge = beliefs.Judge(self)

    def believe(self, holds, belief, text):
        if not holds:
            with self.lock:
                self.broken.append((belief, text))

    def note(self, text):
        if self.verbose:
            print(f"{time.monotonic() - self.began:7.3f} {text}", flush=True)

    # The world around.

    def set_up(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        world = self.world
        self.database = databases.Database().start() if world.store == "postgresql" else None
        self.clusters = [self.database] if self.database else []
        if world.has_standby:
            self.servers = databases.Servers(self.database)
            self.clusters.append(self.servers.standby)
        self.note_pids(*[(cluster.data / "postmaster.pid").read_text().split()[0] for cluster in self.clusters])
        authority, context = frames.certificate(self.folder)
        self.targets = Targets(world.seed, [free_port() for _ in range(len(world.targets) + 1)], world.are_secure, world.by_name, context)
        env = {"REDIAL_ADMIN_KEY": ADMIN, "REDIAL_CA_FILE": str(authority)}
        if world.has_ways:
            self.ways = Ways(self.database, world.instances, self.targets.ports[0])
            self.note_pids(*self.ways.pids)
            self.targets.lead(0, self.ways.target_port)
        if world.has_proxy:
            self.proxy = Proxy(self.targets.loop)
            env["REDIAL_PROXY"] = self.proxy.url
        if world.has_key_program:
            program = self.folder / "program"
            # It does not encrypt the key. It needs a moment, and hangs as long as there is a file.
            program.write_text(f"#!/bin/sh\nwhile [ -e {self.folder}/hang ]; do sleep 0.05; done\nsleep 0.1\nexec cat\n")
            program.chmod(0o700)
            env["REDIAL_ENCRYPTION_KEY_COMMAND"] = str(program)
        elif world.is_encrypted:
            key = self.folder / "key"
            key.touch(0o600)
            # Not random: a world is the same each time.
            key.write_text(base64.b64encode(random.Random(world.seed).randbytes(32)).decode() + "\n")
            env["REDIAL_ENCRYPTION_KEY_FILE"] = str(key)
        elif self.database:
            env["REDIAL_WEBHOOK_SECRET"] = "whsec_" + base64.b64encode(b"secret of the swarm, and of none").decode()
        self.env = env
        flags = [word for pair in world.settings.items() if pair[0].startswith("--") for word in pair]
        flags.append(Constants({name: value for name, value in world.settings.items() if not name.startswith("--")}))
        if world.denies:
            flags += ["--egress-deny", f"127.0.0.1:{self.targets.ports[-2]}"]
        location = (self.servers or self.database).url if self.database else None
        self.flags, self.services = flags, []
        for number in range(world.instances):
            folder = self.folder / f"instance{number}"
            folder.mkdir()
            service = Redial(folder, *flags, env=env | self.planted, location=self.ways and self.ways.location(number) or location,
                             clock=not self.database and not world.is_calm)
            service.binary = self.binary
            if world.skews[number]:
                skewed = faults.Faults(folder / "clock", "none")
                skewed.ahead("clock", world.skews[number])
                service.env = service.env | skewed.env
            if self.ways:
                service.arguments += self.ways.peer(number, service.arguments[service.arguments.index("--listen") + 1].rpartition(":")[2])
            if {step.do for step in world.steps} & {"disk", "power", "slow start"}:
                self.disk = faults.Faults(folder, service.store)
                service.env = service.env | self.disk.env
            self.services.append(service)
        self.location = location or f"sqlite:{self.services[0].store}"
        made = {tenant: json.loads(self.command("keys", "create", "--name", tenant, "--scope", "submit,read,payloads,operate,admin,metrics",
                                                "--namespace", tenant, "--json", "--store", self.location)) for tenant in world.tenants}
        self.keys, self.key_ids = {tenant: key["key"] for tenant, key in made.items()}, [key["id"] for key in made.values()]
        for tenant in world.tenants:
            self.canaries[tenant] = f"canary-{tenant}-{random.Random(world.seed + tenant).randbytes(8).hex()}"
            self.sealed[tenant] = f"sealed-{tenant}-{random.Random(tenant + world.seed).randbytes(8).hex()}"

    def note_pids(self, *pids):
        with open(self.folder / "pids", "a") as file:
            file.writelines(f"{pid}\n" for pid in pids)

    def command(self, *words, seconds=60, says_secrets=False, codes=(0,)):
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, timeout=seconds, env=environment(self.env))
        if not says_secrets:
            self.judge.secrets(done.stdout + done.stderr, f"redial {words[0]}")
        if done.returncode not in codes:
            raise RuntimeError(f"redial {' '.join(words)}: {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def start(self, number, again=3):
        service = self.services[number]
        if self.disk:
            # What a process before has written is on the disk by now.
            for file in service.store.parent.glob("redial.db*"):
                if file.suffix in (".db", ".db-wal"):
                    shutil.copyfile(file, self.disk.folder / "durable" / file.name)
        try:
            service.start()
            if number not in self.base:
                self.base[number] = resources(service.process.pid)
        except (AssertionError, OSError) as error:
            if service.process.pid in self.ended:
                # Whoever has ended it starts it again.
                return True
            # A start is refused while the database is away, or the disk fails. Whoever has done that ends it.
            refusal = (r"(Could not connect|Lost the connection) to PostgreSQL" if self.database else
                       r"\(SQLite \d+\)\. Nothing was written\. It may be tried again" if self.disk else None)
            if refusal and again and re.search(refusal, str(error)):
                time.sleep(2)
                return self.start(number, again - 1)
            self.believe(False, "the service starts", f"instance {number}: {str(error)[-1500:]}")
            return False
        self.watch(service)
        return True

    def watch(self, service):
        """Tells when a process ends that nobody has ended."""
        process = service.process
        self.watched.add(process.pid)
        self.note_pids(process.pid)

        def wait():
            code = process.wait()
            if process.pid not in self.ended and code not in self.expected and not self.over.is_set():
                self.believe(False, "the process is alive", f"it ended with {code}: {service.log.read_text(errors='replace')[-1500:]}")
        threading.Thread(target=wait, daemon=True).start()

    def end(self, service, how):
        """Ends a process on purpose."""
        if service.process is None or service.process.poll() is not None:
            return
        self.ended.add(service.process.pid)
        if how == "kill":
            service.kill()
            return
        service.process.send_signal(signal.SIGTERM)
        try:
            code = service.process.wait(25)
        except subprocess.TimeoutExpired:
            self.believe(False, "a stop ends", f"after 25 s it has not: {service.log.read_text(errors='replace')[-1500:]}")
            service.kill()
            return
        # One that has just begun does not know of the signal yet.
        self.believe(code == 0 or code == -signal.SIGTERM and service.process.pid not in self.watched, "a stop ends well", f"exit code {code}: {service.log.read_text(errors='replace')[-1500:]}")

    # The play.

    def play(self):
        """All broken beliefs, pairs of what was believed and what was seen."""
        self.began = time.monotonic()
        try:
            self.set_up()
            self.began = time.monotonic()
            threads = self.threads = [threading.Thread(target=self.act, args=(actor,), daemon=True)
                       for actor in sorted({step.actor for step in self.world.steps})]
            for thread in threads:
                thread.start()
            if not all([self.start(number) for number in range(len(self.services))]):
                return self.broken
            for thread in threads:
                thread.join(self.world.seconds + BEGUN + ANSWERED)
            stuck = [thread for thread in threads if thread.is_alive()]
            if stuck:
                self.believe(False, "each answer comes", f"{len(stuck)} clients still wait")
                return self.broken
            self.calm_down()
            if not self.is_ruined():
                self.judge.everything()
        finally:
            self.over.set()
            for service in getattr(self, "services", []):
                service.end()
            if self.proxy:
                self.proxy.end()
            if getattr(self, "targets", None):
                self.targets.end()
            if self.ways:
                self.ways.end()
            for cluster in self.clusters:
                cluster.end()
        return self.broken

    def act(self, actor):
        client = Actor(self, actor) if "/" in actor else Disturber(self)
        for step in self.world.steps:
            if step.actor != actor:
                continue
            time.sleep(max(0, self.began + step.at - time.monotonic()))
            # Whoever had to wait leaves out what he is late for, or the calls would reach their deadlines.
            if time.monotonic() > self.began + self.world.seconds + 2:
                return
            try:
                getattr(client, step.do.replace(" ", "_"))(step.what)
            except Exception as error:  # Printed together with the seed.
                self.believe(False, "the swarm itself works", f"{step}: {error!r}")

    def is_ruined(self):
        """Whether a changed bit is where the whole store needs it. Then the service says so, and what to do."""
        return self.has_damage and any(service.log.exists() and "disk image is malformed" in service.log.read_text(errors="replace") for service in self.services)

    def calm_down(self):
        """Heals everything, and waits until all calls have ended."""
        self.targets.heal()
        for number, service in enumerate(self.services):
            if service.process.poll() is not None:
                self.start(number)
        self.healed = time.monotonic()
        self.rest()

    def rest(self):
        """Waits until all calls have ended."""
        def open_calls():
            found = []
            for tenant in self.world.tenants:
                client = Actor(self, f"{tenant}/end")
                for target in range(len(self.world.targets)):
                    client.target({"target": target, "to": "resume"})
                    client.insist("POST", client.target_path(target) + "/resume")
                    # Also what a target has asked to wait for.
                    client.insist("POST", client.target_path(target) + "/release")
                # These run calls again.
                answer = client.insist("GET", "/v1/operations?limit=250")
                found += [operation["id"] for operation in answer.json["data"] if operation["state"] in ("counting", "running")] \
                    if answer and answer.status == 200 else ["unknown"]
                for kind in ("call", "webhook"):
                    for state in ("scheduled", "running"):
                        answer = client.insist("GET", f"/v1/calls?kind={kind}&state={state}&limit=250")
                        known = answer and answer.status == 200
                        found += [(call["id"], call["labels"], call["waitingOn"]) for call in answer.json["data"]
                                       if beliefs.MARK.search(call["url"].encode()) and "-0-0x" not in call["url"]] if known else ["unknown"]
            return found
        end = time.monotonic() + QUIET
        left = not self.broken and not self.is_ruined()
        while left and (left := open_calls()) and time.monotonic() < end and not self.broken and not self.is_ruined():
            time.sleep(0.2)
        self.believe(not left or self.broken or self.is_ruined(), "each call ends", f"{QUIET} s after all targets delivered {str(left)[:300]} have not")


def resources(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    opened = []
    for entry in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            opened.append(os.readlink(f"/proc/{pid}/fd/{entry}"))
    sockets = sum(name.startswith("socket:") for name in opened)
    # One that was killed a moment ago has no memory.
    return {"files": len(opened) - sockets, "sockets": sockets, "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]),
            "memory": int(re.search(r"VmRSS:\s+(\d+)|$", status)[1] or 0) * 1024}


class Actor:
    """A client of a tenant."""

    def __init__(self, player, actor):
        self.player, self.actor, self.tenant = player, actor, actor.split("/")[0]
        self.chance, self.clients = random.Random(f"{player.world.seed} {actor}"), {}
        self.own = {"authorization": f"Bearer {player.keys[self.tenant]}"}

    def ask(self, method, path, body=None, headers=None, patience=ANSWERED):
        """The answer, or None if there was none. The judge looks at each."""
        service = self.chance.choice(self.player.services)
        if not service.port:
            time.sleep(0.05)
        port = int(service.arguments[service.arguments.index("--listen") + 1].rpartition(":")[2])
        client = self.clients.setdefault(port, Client(port, waits=False))
        begun = time.monotonic()
        try:
            answer = client(method, path, body, self.own | (headers or {}))
        except (OSError, http.client.HTTPException):
            client.connection = None
            return None
        self.player.note(f"{self.actor} {method} {path[:80]} {answer.status}")
        self.player.judge.answer(self.tenant, method, path, answer, begun, time.monotonic(), patience)
        return answer

    def insist(self, method, path, body=None, headers=None, patience=ANSWERED):
        """The answer that is no refusal for a while; None if there was none until the end."""
        end, answer = time.monotonic() + 40, None
        while time.monotonic() < end and (answer is None or answer.status in beliefs.BUSY):
            if answer is not None:
                time.sleep(0.1)
            answer = self.ask(method, path, body, headers, patience)
            if answer is None:
                # A service that is gone answers nobody.
                if self.player.over.is_set() or any(belief in beliefs.GONE for belief, _ in self.player.broken):
                    return None
                time.sleep(0.05)
            elif answer.status == 503 and self.player.is_ruined():
                return answer
        return answer

    # Submitting.

    def descriptor(self, what):
        targets = self.player.targets
        kind = self.player.world.targets[what["target"]][what["path"]].replace(" ", "-")
        made = {"url": f"{targets.url(what['target'])}/{kind}/{what['mark']}",
                "policy": {"deadline": DEADLINE, "attemptTimeout": "2s", "backoff": {"initial": "100ms", "max": "500ms"}},
                "labels": {"mark": what["mark"]}}
        if "attempts" in what:
            made["policy"]["maxAttempts"] = what["attempts"]
        if "policy" in what:
            made["policy"]["backoff"] = {"strategy": "constant", "initial": "50ms"}
        for name in ("method", "priority"):
            if name in what:
                made[name] = what[name]
        if what.get("method") not in (None, "HEAD", "GET", "DELETE") or "method" not in what and "body" in what:
            made["body"] = (f"this is {what['mark']} " * (what.get("body", 10) // 20 + 1))
        if "delay" in what:
            made["delay"] = f"{round(what['delay'] * 1000)}ms"
        if "idempotent" in what:
            made["idempotent"] = False
        if "ordering" in what:
            made["orderingKey"] = what["ordering"]
        if "callback" in what:
            made["callback"] = {"url": targets.hook(what["mark"])}
        if "sensitive" in what:
            made["sensitive"] = True
        if "redirects" in what:
            made["redirects"] = {"max": 3}
        if "capture" in what:
            made["capture"] = {"maxBytes": what["capture"]}
        if kind == "see-other":
            made.setdefault("headers", {})["Last-Modified"] = "Thu, 01 Jan 1970 00:00:00 GMT"
        if "host" in what:
            made.setdefault("headers", {})["Host"] = "elsewhere.example"
        if "sign" in what and not self.player.has_no_signs:
            made["sign"] = {"type": "github", "secret": self.player.canaries[self.tenant]}
        if "credential" in what and self.has_credential():
            made["credential"] = "swarm"
        elif "authorization" in what and kind not in ("echo", "odd"):
            made.setdefault("headers", {})["Authorization"] = f"Bearer {self.player.canaries[self.tenant]}"
        return made

    def has_credential(self):
        """Whether the tenant's credential is stored, which goes to all targets."""
        if self.tenant not in self.player.stored:
            origins = [self.player.targets.url(target) for target in range(len(self.player.world.targets))]
            content = {"type": "bearer", "token": self.player.sealed[self.tenant], "origins": origins}
            answer = self.insist("PUT", "/v1/credentials/swarm", content)
            if answer and answer.status in (200, 201):
                self.player.stored.add(self.tenant)
        return self.tenant in self.player.stored

    def record(self, what, answer, begun):
        sent = self.player.sent.setdefault(what["mark"], Sent(what["mark"], self.tenant, what, begun, order=len(self.player.sent)))
        if answer is None:
            sent.is_doubtful = True
            return sent
        status, call = answer
        sent.status, sent.answered = status, time.monotonic()
        if status in (200, 202):
            sent.id = call["id"]
            sent.ids.add(call["id"])
        else:
            sent.code = call["code"]
            # It may have been made all the same.
            sent.is_doubtful = status in (503, 507)
        return sent

    def submit(self, what):
        path, headers, patience = "/v1/calls", {}, ANSWERED
        if "wait" in what:
            headers["prefer"], patience = f"wait={what['wait']}", ANSWERED + what["wait"]
        if what["keyed"]:
            headers["idempotency-key"] = f"key-{what['mark']}"
        begun = time.monotonic()
        answer = (self.insist if what["keyed"] else self.ask)("POST", path, self.descriptor(what), headers, patience)
        sent = self.record(what, answer and (answer.status, answer.json), begun)
        if answer and answer.status in (200, 202):
            # The call that an answer was lost about may have failed meanwhile.
            if answer.headers.get("idempotency-status") == "rerun":
                sent.touched.add("again")
            self.player.judge.call(sent, answer.json)

    def again(self, what):
        """Submits a call again, under its key."""
        sent = self.player.sent.get(what["of"])
        if not sent or not sent.what["keyed"] or not sent.id or "forward" in sent.touched:
            return
        # In another order, which changes nothing.
        answer = self.ask("POST", "/v1/calls", dict(reversed(self.descriptor(sent.what).items())), {"idempotency-key": f"key-{sent.mark}"})
        if answer is not None and sent.what.get("credential") is None:
            self.player.believe(answer.status != 422, "a key gives one call", f"{sent} again: {answer.body[:300]}")
        if answer is None or answer.status not in (200, 202):
            return
        sent.touched.add("again")
        self.player.believe(answer.json["id"] in sent.ids, "a key gives one call", f"{sent} again is {answer.json['id']}")

    def batch(self, what):
        begun, descriptors = time.monotonic(), [self.descriptor(call) for call in what["calls"]]
        if what["lines"]:
            # The last line ends with the body, or before it.
            lines = "\n".join(map(json.dumps, descriptors)) + self.chance.choice(["", "\n"])
            answer = self.ask("POST", "/v1/calls/batch", lines, {"content-type": "application/x-ndjson"})
            items = [json.loads(line) for line in answer.body.splitlines()] if answer and answer.status == 200 else []
        else:
            answer = self.ask("POST", "/v1/calls/batch", descriptors)
            items = answer.json["data"] if answer and answer.status == 200 else []
        if answer and answer.status == 200:
            told = [item for item in items if item.get("line", 0) is not None]
            self.player.believe(len(told) == len(descriptors) or len(items) > len(told), "each of a batch is answered",
                                f"{len(told)} answers to {len(descriptors)} of {what['calls'][0]['mark']}")
        for number, call in enumerate(what["calls"]):
            item = items[number] if number < len(items) and items[number].get("line", 0) is not None else None
            found = item and (item["status"], item.get("call") or item["problem"])
            if answer is not None and answer.status != 200:
                found = (answer.status, answer.json)
            sent = self.record(call | {"keyed": False}, found, begun)
            if item and item["status"] == 202:
                self.player.judge.call(sent, item["call"])

    def forward(self, what):
        kind = self.player.world.targets[what["target"]][what["path"]].replace(" ", "-")
        url = f"{self.player.targets.url(what['target'])}/{kind}/{what['mark']}"
        what = {name: value for name, value in what.items() if name in ("mark", "target", "path", "keyed", "latin", "idempotent", "wait")}
        headers = {"redial-label": f"mark={what['mark']}", "prefer": f"wait={what['wait']}" if "wait" in what else "respond-async",
                   "redial-policy": json.dumps({"deadline": DEADLINE, "attemptTimeout": "2s", "backoff": {"initial": "100ms", "max": "500ms"}})}
        if "latin" in what:
            headers["x-name"] = "J\xfcrgen"
        if "idempotent" in what:
            headers["redial-idempotent"] = "false"
        if what["keyed"]:
            headers["idempotency-key"] = f"key-{what['mark']}"
        begun = time.monotonic()
        ask = self.insist if what["keyed"] else self.ask
        answer = ask("POST", f"/v1/forward/{url}", f"this is {what['mark']}", headers, ANSWERED + what.get("wait", 0))
        sent = self.record(what, answer and (answer.status, answer.json), begun)
        sent.touched.add("forward")
        if answer and answer.status in (200, 202):
            self.player.judge.call(sent, answer.json)

    # Calls that are there.

    def of(self, what):
        sent = self.player.sent.get(what["of"])
        return sent if sent and sent.id else None

    def get(self, what):
        if sent := self.of(what):
            wait = self.chance.choice([None, None, 1])
            answer = self.ask("GET", f"/v1/calls/{sent.id}?include=request", headers={"prefer": "wait=1"} if wait else {}, patience=ANSWERED + 1)
            if answer and answer.status == 200:
                self.player.judge.call(sent, answer.json)
            elif answer:
                self.player.believe(answer.status in (503, 429), "a call that was accepted is there", f"{sent}: {answer.status} {answer.body[:300]}")

    def attempts(self, what):
        if sent := self.of(what):
            answer = self.ask("GET", f"/v1/calls/{sent.id}/attempts?include=body")
            if answer and answer.status == 200:
                self.player.judge.marks(sent, answer.body)

    def command(self, what, name, body=None):
        """What a command on a call is answered."""
        sent = self.of(what)
        if not sent:
            return None, None
        sent.touched.add(name)
        return sent, self.ask("POST", f"/v1/calls/{sent.id}/{name}", body)

    def cancel(self, what):
        sent, answer = self.command(what, "cancel")
        if answer and answer.status in (200, 202) and answer.json["state"] == "cancelled" and not sent.touched & {"retry", "again"}:
            sent.cancelled = time.monotonic()

    def retry(self, what):
        self.command(what, "retry")

    def replay(self, what):
        elsewhere = {"url": f"{self.player.targets.url(what['elsewhere'])}/ok/{what['of']}?elsewhere"} if "elsewhere" in what else {}
        sent, answer = self.command(what, "replay", elsewhere)
        if answer and answer.status in (200, 202):
            self.player.believe(answer.json["id"] not in sent.ids, "a replay is another call", f"{sent} replayed is {answer.json['id']}")
            sent.touched.add("replayed")

    def erase(self, what):
        if sent := self.of(what):
            sent.touched.add("erase")
            answer = self.ask("DELETE", f"/v1/calls/{sent.id}/content")
            shown = self.ask("GET", f"/v1/calls/{sent.id}?include=request") if answer and answer.status < 300 and "again" not in sent.touched else None
            if shown and shown.status == 200 and not sent.touched & {"retry", "operation"}:
                self.player.believe(shown.json["request"]["body"] is None, "what was erased is gone", f"{sent}: {shown.body[:300]}")

    def stranger(self, what):
        """Asks for a call of another tenant."""
        others = [sent for sent in list(self.player.sent.values()) if sent.tenant != self.tenant and sent.id]
        if not others:
            return
        sent = self.chance.choice(others)
        if sent.what["keyed"] and self.chance.random() < 0.3:
            made = {"url": self.player.targets.url(0) + f"/ok/mark-{self.tenant}-stranger-0x", "labels": {"mark": f"mark-{self.tenant}-stranger-0x"}}
            answer = self.ask("POST", "/v1/calls", made, {"idempotency-key": f"key-{sent.mark}"})
            self.player.believe(answer is None or answer.status in (202, *beliefs.BUSY) and (answer.status != 202 or answer.json["id"] not in sent.ids),
                                "a key is a tenant's own", f"the key of {sent} for {self.tenant}: {answer and answer.body[:300]}")
            return
        method, path = self.chance.choice([("GET", ""), ("GET", "/attempts"), ("POST", "/cancel"), ("POST", "/retry"), ("POST", "/replay"), ("DELETE", "/content")])
        answer = self.ask(method, f"/v1/calls/{sent.id}{path}", {} if path == "/replay" else None)
        self.player.believe(answer is None or answer.status in (404, *beliefs.BUSY), "nobody reaches another tenant's call",
                            f"{method} {path} of {sent} by {self.tenant}: {answer and answer.status}")

    def calls(self, what):
        self.ask("GET", f"/v1/calls?limit={self.chance.choice([1, 10, 250])}")

    # Documents, each of one writer.

    def document(self, what):
        kind, name = what["kind"], what["name"]
        key, number = (self.tenant, kind, name), self.chance.randrange(1, 1000)
        origin = self.player.targets.url(0)
        known = self.player.documents.setdefault(key, {"is": [None], "id": None})
        canary = self.player.sealed[self.tenant]
        made = {"policies": {"maxAttempts": number}, "alerts": {"after": f"{number}ms", "to": {"slack": f"{origin}/ok/mark-{self.tenant}-0-0x?{canary}"}},
                "credentials": {"type": "bearer", "token": canary, "origins": [origin], "description": f"{number}"},
                "webhook-endpoints": {"url": self.player.targets.hook(f"mark-{self.tenant}-0-0x"), "events": ["call.failed"], "description": f"{number}"},
                "keys": {"name": f"{name}-{number}", "scopes": ["read"]}}[kind]
        has_id = kind in ("webhook-endpoints", "keys")
        if what["remove"]:
            if has_id and not known["id"]:
                return
            answer, content = self.insist("DELETE", f"/v1/{kind}/{known['id'] if has_id else name}"), None
        elif has_id and not known["id"]:
            # Without a key nobody knows whether it was made, so it is asked once.
            answer, content = self.ask("POST", f"/v1/{kind}", made), number
            if answer is None or answer.status != 201:
                return
            known["id"], known["key"] = answer.json["id"], answer.json.get("key")
        elif kind == "keys":
            return
        else:
            answer, content = self.insist("PUT", f"/v1/{kind}/{known['id'] if has_id else name}", made), number
        if answer is None or answer.status in (503, 507, 429):
            known["is"].append(content)
            self.player.doubtful.add((self.tenant, name))
        elif answer.status in (200, 201, 204):
            # What is as before is no change.
            if known["is"] != [content]:
                self.player.changes.append((self.tenant, kind, name, content))
            known["is"] = [content]
            if content is None:
                known["id"] = None
            if content is None and kind == "keys" and known["key"]:
                # Other instances know of it half a second later, if they reach the database.
                end = time.monotonic() + (0 if self.player.world.instances == 1 else 3 if self.player.world.is_calm else 15)
                while True:
                    answer = self.ask("GET", "/v1/calls?limit=1", headers={"authorization": f"Bearer {known['key']}"})
                    if answer is None or answer.status != 200 or time.monotonic() > end:
                        break
                    time.sleep(0.2)
                self.player.believe(answer is None or answer.status in (401, *beliefs.BUSY), "a revoked key is refused", f"{name}: {answer and answer.status}")
        elif answer.status not in (404, 409):
            self.player.believe(False, "a valid document is taken", f"{kind} {name}: {answer.status} {answer.body[:500]}")

    def show(self, what):
        key = (self.tenant, what["kind"], what["name"])
        if self.actor.replace("/", "-") in what["name"]:
            self.player.judge.document(self, key)

    # The rest.

    def target_path(self, target):
        return "/v1/targets/" + urllib.parse.quote(self.player.targets.url(target), safe="")

    def target(self, what):
        path = self.target_path(what["target"])
        for sent in list(self.player.sent.values()):
            if sent.tenant == self.tenant and sent.what["target"] == what["target"]:
                sent.disturbed = True
        self.player.judge.touched.add((self.tenant, what["target"]))
        changes = {"limit": {"maxInFlight": 1}, "off": {"breaker": {"consecutiveFailures": 0}}, "default": None, "privacy": {"sensitive": True}}
        if what["to"] in changes:
            if changes[what["to"]] is None:
                self.ask("PUT", path, {})
            else:
                self.ask("PATCH", path, changes[what["to"]], {"content-type": "application/merge-patch+json"})
        else:
            pauses, key, begun = self.player.judge.pauses, (self.tenant, what["target"]), time.monotonic()
            answer = self.ask("POST", f"{path}/{what['to']}")
            if what["to"] == "pause" and answer and answer.status == 200:
                pauses.append([*key, time.monotonic(), float("inf")])
            elif what["to"] != "pause":
                for pause in pauses:
                    if pause[:2] == [*key] and pause[3] > begun:
                        pause[3] = begun
        if what["to"] == "off":
            answer = self.ask("GET", path)
            if answer and answer.status == 200 and answer.json["overrides"].get("breaker", {}).get("consecutiveFailures") == 0:
                self.player.believe(answer.json["breaker"]["state"] == "closed" or answer.json["tripped"], "off is off", f"{path}: {answer.body[:500]}")

    def read(self, what):
        path = what["path"]
        answer = self.ask("GET", path)
        if answer and path == "/metrics" and self.tenant != "default":
            self.player.believe(answer.status in (403, 503, 429), "the metrics are the default namespace's", f"{answer.status} for {self.tenant}")

    def nonsense(self, what):
        chance = random.Random(what["number"])
        method, path, body, headers = nonsense.request(chance, self)
        answer = self.ask(method, path, body, headers)
        member = chance.choice(nonsense.FALSE)
        refused = self.ask("POST", "/v1/calls", {"url": "http://127.0.0.1:9/", "delay": "300h"} | member)
        self.player.believe(refused is None or refused.status in (422, *beliefs.BUSY), "what no target can be sent is refused", f"{member}: {refused and refused.status}")
        if answer is not None:
            self.player.believe(answer.status < 500 or answer.status in beliefs.REFUSALS, "nonsense is refused",
                                f"{method} {path} {str(body)[:200]}: {answer.status} {answer.body[:300]}")

    def listen(self, what):
        """Listens to events for a while."""
        service, text = self.chance.choice(self.player.services), b""
        if not service.port:
            return
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=0.2)
        end = time.monotonic() + what["seconds"]
        try:
            connection.request("GET", "/v1/events", headers=self.own)
            response = connection.getresponse()
            while time.monotonic() < end:
                try:
                    text += response.read1(65536)
                except TimeoutError:
                    break
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        self.player.judge.text(self.tenant, text, "events")

    def operation(self, what):
        path = self.player.targets.url(what["target"])
        for sent in list(self.player.sent.values()):
            if sent.tenant == self.tenant:
                sent.touched.add("operation")
        self.player.judge.operated.add(self.tenant)
        self.ask("POST", "/v1/operations", {"action": what["action"], "filter": {"target": path}})


class Disturber:
    """What disturbs the service, and the commands beside it."""

    def __init__(self, player):
        self.player = player

    def trouble(self, what, how):
        begun = time.monotonic()
        number = what["instance"]
        self.player.note(f"trouble: {how} {what}")
        trouble = [begun, float("inf"), how]
        self.player.troubles.append(trouble)
        return self.player.services[number], number, trouble

    def kill(self, what, how="kill"):
        service, number, trouble = self.trouble(what, how)
        if service.process is None:
            return
        self.player.end(service, how)
        time.sleep(what["seconds"])
        if self.player.start(number):
            trouble[1] = time.monotonic()

    def stop(self, what):
        self.kill(what, "stop")

    def still(self, what):
        service, _, trouble = self.trouble(what, "still")
        if service.process is None or service.process.poll() is not None:
            return
        service.process.send_signal(signal.SIGSTOP)
        time.sleep(what["seconds"])
        service.process.send_signal(signal.SIGCONT)
        trouble[1] = time.monotonic()

    def ended(self, what, how):
        """A service that was ended, and whose files may change until it starts again."""
        service, number, trouble = self.trouble(what, how)
        self.player.end(service, "kill" if what["seconds"] < 0.5 else "stop")
        return service, number, trouble

    def lose_key(self, what):
        """The key that the service has made beside its store is gone: only what was encrypted by it is lost."""
        # A call with a secret of its own waits then until the key is back, see docs/encryption.md.
        if any("sign" in sent.what for sent in list(self.player.sent.values())):
            return
        service, number, trouble = self.ended(what, "lose key")
        self.player.has_no_signs = True
        service.store.with_name("redial.db.key").unlink(missing_ok=True)
        self.player.has_lost_key = True
        if self.player.start(number):
            trouble[1] = time.monotonic()

    def flip(self, what):
        """One bit of the store changes. A service that does not start says so, and gets the bit back."""
        service, number, trouble = self.ended(what, "flip")
        content = bytearray(service.store.read_bytes()) if service.store.exists() else b""
        chance = random.Random(f"{self.player.world.seed} {what}")
        place, bit = chance.randrange(len(content) or 1), chance.randrange(8)
        # Whose own key is damaged gets 401, see docs/encryption.md, and would see nothing more.
        while any(identity.encode() in content[max(0, place - KEY_ROW):place + KEY_ROW] for identity in self.player.key_ids):
            place = chance.randrange(len(content))

        def turn():
            if content:
                content[place] ^= 1 << bit
                service.store.write_bytes(content)
        turn()
        self.player.has_damage = True
        words, at = [self.player.binary, *service.arguments], service.log.stat().st_size if service.log.exists() else 0
        try:
            service.start()
            self.player.watch(service)
            trouble[1] = time.monotonic()
        except AssertionError:
            said = service.log.read_bytes()[at:].decode(errors="replace")
            self.player.believe(service.process.returncode == 3 and "redial" in said, "a damaged store is told", f"{words[1]}: {service.process.returncode}: {said[-600:]}")
            content = bytearray(service.store.read_bytes())
            turn()
            if self.player.start(number):
                trouble[1] = time.monotonic()

    def damage(self, what):
        """A byte changes in a document or a call, within the store's own rows: it is set aside and told, and all else goes on."""
        service, number, trouble = self.ended(what, "damage")
        chance = random.Random(f"{self.player.world.seed} {what}")
        changed = ""
        if service.store.exists():
            with contextlib.closing(sqlite3.connect(service.store)) as database, database:
                rows = database.execute("SELECT kind, id, content FROM documents WHERE kind NOT IN ('audit', 'dataKey', 'apiKey') ORDER BY kind, id").fetchall()
                if rows:
                    kind, identity, content = chance.choice(rows)
                    content = bytearray(content)
                    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
                    database.execute("UPDATE documents SET content = ? WHERE kind = ? AND id = ?", (bytes(content), kind, identity))
                    changed = kind
        if changed:
            self.player.has_damage = True
            # This doctor may have a planted fault himself.
            done = subprocess.run([self.player.binary, "doctor", "--store", self.player.location], capture_output=True, text=True,
                                  env=environment(self.player.env | self.player.planted))
            self.player.believe(done.returncode != 0, "damage is told", f"the doctor is content with a changed {changed}: {done.stdout[-500:]}")
        if self.player.start(number):
            trouble[1] = time.monotonic()

    def disk(self, what):
        """The disk fails for a while. If a sync fails, the service ends, and is started again."""
        service, number, trouble = self.trouble(what, what["fault"])
        if service.process is None:
            return
        self.player.expected = {6} if "sync" in what["fault"] else set()
        self.player.disk.on(what["fault"])
        time.sleep(what["seconds"])
        self.player.disk.off(what["fault"])
        # A sync that has failed ends it a moment later.
        time.sleep(1 if self.player.expected else 0)
        if service.process.poll() is None or self.player.start(number):
            trouble[1] = time.monotonic()
        self.player.expected = set()

    def power(self, what):
        """The machine stops: what was not synced is lost, there, or there in part."""
        service, number, trouble = self.ended(what | {"seconds": 0}, "power cut")
        self.player.disk.cut_power(what["left"], random.Random(f"{self.player.world.seed} {what}"))
        if self.player.start(number):
            trouble[1] = time.monotonic()

    def slow_start(self, what):
        """It listens long before its store is recovered."""
        service, number, trouble = self.ended(what | {"seconds": 0}, "slow start")
        self.player.disk.on("hold-start")
        timer = threading.Timer(what["seconds"], self.player.disk.off, ["hold-start"])
        timer.start()
        if self.player.start(number):
            trouble[1] = time.monotonic()
        timer.join()

    def silence(self, what):
        """Minutes pass in which nobody does anything."""
        service, _, trouble = self.trouble(what, "silence")
        service.advance(60 + 300 * what["seconds"])
        trouble[1] = time.monotonic()

    def database(self, what):
        _, _, trouble = self.trouble(what, "database")
        self.player.database.stop("immediate")
        time.sleep(what["seconds"])
        self.player.database.revive()
        trouble[1] = time.monotonic()

    def failover(self, what):
        """The database crashes, and its standby takes over."""
        _, _, trouble = self.trouble(what | {"instance": 0}, "failover")
        self.player.servers.fail_over()
        self.player.database = self.player.servers.primary
        if self.player.ways:
            self.player.ways.lead_to(self.player.database)
        trouble[1] = time.monotonic()

    def way(self, what):
        """A way is cut: nothing passes, connections end, are refused, or slow, or an answer is lost."""
        _, _, trouble = self.trouble(what, f"{what['how']} {what['way']}")
        ways, words = self.player.ways, {"slow": ["slow", 0.1], "lose": ["lose", what["text"] if "database" in what["way"] else "HTTP/1.1"]}
        self.player.has_cut_target |= what["way"] == "target"
        ways.by_name[what["way"]].tell(*words.get(what["how"], [what["how"]]))
        time.sleep(what["seconds"])
        ways.by_name[what["way"]].tell("slow", 0)
        ways.by_name[what["way"]].tell("heal")
        trouble[1] = time.monotonic()

    def hang_key(self, what):
        """The program that has the key of the store says nothing for a while."""
        _, _, trouble = self.trouble(what, "hang key")
        (self.player.folder / "hang").touch()
        time.sleep(what["seconds"])
        (self.player.folder / "hang").unlink()
        trouble[1] = time.monotonic()

    def sessions(self, what):
        _, _, trouble = self.trouble(what, "sessions")
        try:
            self.player.database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
        except subprocess.CalledProcessError:
            pass
        trouble[1] = time.monotonic()

    # Commands beside the service.

    def backup(self, _):
        copy = self.player.folder / f"backup{len(self.player.copies)}.db"
        accepted = [sent for sent in list(self.player.sent.values()) if sent.id]
        self.beside("backup", str(copy), *([] if self.player.world.has_key_program else ["--with-key"]), "--store", self.player.location)
        if copy.exists():
            self.player.copies.append((copy, accepted))
            self.beside("doctor", "--store", f"sqlite:{copy}")

    def export(self, _):
        # An archive has what the store has, secrets too.
        self.beside("export", "--store", self.player.location, says_secrets=True)

    def doctor(self, _):
        self.beside("doctor", "--store", self.player.location)

    def rekey(self, _):
        if self.player.world.is_encrypted and self.player.database:
            self.beside("rekey", "--store", self.player.location)

    def status(self, _):
        service = self.player.services[0]
        # With 1 it says that a target is down.
        self.beside("status", "--server", f"http://127.0.0.1:{service.port}", "--api-key", ADMIN, codes=(0, 1))

    def beside(self, *words, **options):
        """A command that succeeds while nothing disturbs the service."""
        try:
            self.player.command(*words, **options)
        except RuntimeError as error:
            if self.player.world.is_calm:
                self.player.believe(False, "a command beside the service works", str(error))

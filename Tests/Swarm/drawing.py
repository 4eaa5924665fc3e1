"""Worlds, and what is done in them, drawn from a seed before anything runs. So a world can be played again, with parts left out."""

import dataclasses
import json
import random

# What a path of a target does with a request; see `targets.py`. The first ones deliver at once.
HEALTHY = ["ok", "ok", "ok", "big", "created", "empty"]
# These deliver in the end, whatever the service has to make of the first answers.
DELIVERING = ["slow", "flaky", "busy", "two waits", "folded wait", "beyond 599", "trailers", "coding", "members", "conflict", "late", "late 408",
              "late chunk", "redirect", "latin", "cut", "silent", "bad end", "blank first", "see other", "refused stream", "old"]
SICK = ["dead", "hang", "reset", "refusal", "echo", "echo", "odd", "odd", "odd"]
TENANTS = ["default", "acme", "beta"]


@dataclasses.dataclass
class Step:
    """What somebody does at a time: seconds from the beginning."""
    at: float
    actor: str
    do: str
    what: dict


@dataclasses.dataclass
class World:
    seed: str
    store: str
    instances: int
    seconds: float
    # Whether nothing disturbs the service itself: then lateness is a fault.
    is_calm: bool
    is_encrypted: bool
    settings: dict
    tenants: list
    # For each target, what each of its paths does, and whether it speaks HTTP/2 within TLS.
    targets: list
    are_secure: list
    # Whether the last one may not be called.
    denies: bool
    steps: list
    # How far the clock of each instance's machine is ahead, in seconds; all follow the time of the database.
    skews: list
    # Which targets are called by a name, which may have two addresses, of which one answers; and whether through a proxy.
    by_name: list
    has_proxy: bool
    # Whether the key of the store is with a program.
    has_key_program: bool
    # Whether a standby follows the database, and whether each instance reaches the database and the other instances, and
    # everybody one of the targets, by a way that can be cut.
    has_standby: bool
    has_ways: bool

    def without(self, steps):
        return dataclasses.replace(self, steps=[step for number, step in enumerate(self.steps) if number not in steps])

    def to_json(self):
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def of_json(text):
        read = json.loads(text)
        return World(**read | {"steps": [Step(**step) for step in read["steps"]]})

    def __str__(self):
        words = [self.store, f"{self.instances} instances" if self.instances > 1 else "", "calm" if self.is_calm else "",
                 "encrypted" if self.is_encrypted else "", "standby" if self.has_standby else "", "ways" if self.has_ways else "",
                 "proxy" if self.has_proxy else "", f"{len(self.tenants)} tenants", f"{len(self.steps)} steps"]
        return ", ".join(word for word in words if word)


class Drawing:
    def __init__(self, seed, databases=True):
        self.seed, self.chance, self.databases = seed, random.Random(f"swarm {seed}"), databases
        # Of what is around the service: with it, all else is drawn as without.
        self.around = random.Random(f"around {seed}")

    def one(self, *choices):
        return self.chance.choice(choices)

    def often(self, share):
        return self.chance.random() < share

    def world(self):
        store = "postgresql" if self.databases and self.often(0.3) else "sqlite"
        self.instances = self.one(1, 2, 2, 3) if store == "postgresql" else 1
        self.is_calm = self.often(0.45)
        self.is_encrypted = self.often(0.5)
        self.seconds = self.chance.uniform(4, 10)
        self.tenants = TENANTS[:self.one(1, 2, 2, 3)]
        # Of what paths do, each world leaves out half.
        self.kinds = [HEALTHY, self.chance.sample(DELIVERING, len(DELIVERING) // 2), self.chance.sample(SICK, len(SICK) // 2)]
        self.targets = [self.paths() for _ in range(self.one(2, 3, 4, 6))]
        self.numbers = {}
        # Each world leaves out half of what can be done: so what is left is done more, and less hides it.
        self.uses = {do: weight for do, weight in self.USES.items() if do == "submit" or self.often(0.5)}
        self.options = {name for name in self.OPTIONS if self.often(0.5)}
        steps = [step for tenant in self.tenants for number in range(self.one(1, 2, 3)) for step in self.client(f"{tenant}/{number}")]
        if not self.is_calm:
            steps += self.faults(store)
        steps += self.commands(store)
        settings, are_secure = self.settings(store), [self.often(0.25) for _ in self.targets]
        denies, is_shared = len(self.targets) > 2 and self.often(0.3), store == "postgresql"
        around, far = self.around, is_shared and self.around.random() < 0.4
        has_proxy, has_standby = around.random() < 0.12, is_shared and not self.is_calm and around.random() < 0.25
        has_ways = not self.is_calm and around.random() < (0.4 if is_shared else 0.2)
        steps += self.ways(is_shared) if has_ways else []
        if has_standby:
            steps.append(Step(round(around.uniform(1, self.seconds), 3), "faults", "failover", {}))
        has_key_program = self.is_encrypted and around.random() < 0.3
        if has_key_program and not self.is_calm:
            steps.append(Step(round(around.uniform(0, self.seconds), 3), "ways", "hang key", {"instance": 0, "seconds": round(around.uniform(0.1, 3), 3)}))
        return World(f"{self.seed}", store, self.instances, round(self.seconds, 3), self.is_calm, self.is_encrypted, settings, self.tenants, self.targets,
                     are_secure, denies, sorted(steps, key=lambda step: step.at),
                     skews=[around.choice([0, 2, 900, 4000]) if far else 0 for _ in range(self.instances)],
                     by_name=[not has_proxy and around.random() < 0.25 for _ in self.targets], has_proxy=has_proxy,
                     has_key_program=has_key_program, has_standby=has_standby, has_ways=has_ways)

    def paths(self):
        kinds = self.chance.choices(self.kinds, [4, 5, 2], k=self.one(1, 3, 6, 9))
        return [self.one(*kind) for kind in kinds]

    def settings(self, store):
        drawn = {
            "pace": self.one("fixed", "adaptive"), "maxInFlight": self.one(1, 4, 64, 64),
            "--max-connections-per-origin": self.one("1", "8", "256"), "--drain-timeout": self.one("100ms", "1s", "8s"),
            "--payload-retention-time": self.one("1m", "1h"), "--on-repeat": self.one("rerun", "answer"), "maxHeld": self.one("10", "20000"),
            "nameCacheTime": "1s", "--log-level": self.one("debug", "info"), "maxConnectionAge": "1s",
            "maxEvents": self.one("10", "10000"), "--namespace-share": self.one("0.1", "0.5", "1"),
            "--target-defaults": json.dumps(self.one({}, {"maxInFlight": 2}, {"breaker": {"consecutiveFailures": 2, "failureTime": "0s"}},
                                                     {"breaker": {"consecutiveFailures": 0}}, {"rate": {"perSecond": 50}}))}
        kept = {name: value for name, value in drawn.items() if self.often(0.25)}
        for name in {"pace", "maxInFlight"} & {*kept}:
            kept["--target-defaults"] = json.dumps({name: kept.pop(name)} | json.loads(kept.get("--target-defaults", "{}")))
        if store == "postgresql":
            kept["--lease-duration"] = self.one("1s", "3s")
        return kept

    # What clients do.

    def mark(self, actor):
        self.numbers[actor] = self.numbers.get(actor, 0) + 1
        return f"mark-{actor.replace('/', '-')}-{self.numbers[actor]}x"

    def client(self, actor):
        at, own, until, rate = self.chance.uniform(0, 0.3), [], 0, 8
        self.favourite = None
        uses, weights = zip(*self.uses.items())
        while True:
            at += self.chance.expovariate(rate)
            if at > until:
                # Sometimes it calls one path alone, and between two such times it may do nothing for a while.
                at += self.chance.uniform(0, self.one(0, 0, 3))
                until, rate = at + self.chance.uniform(0.2, 3), self.one(2, 8, 30)
                target = self.chance.randrange(len(self.targets))
                self.favourite = (target, self.chance.randrange(len(self.targets[target]))) if self.often(0.5) else None
            if at > self.seconds:
                return
            do = self.chance.choices(uses, weights)[0]
            if do in self.ON_CALLS:
                if not own:
                    continue
                what = {"of": self.one(*own[-8:])} | ({"elsewhere": self.chance.randrange(len(self.targets))} if self.often(0.4) else {})
            elif do in ("submit", "forward"):
                what = self.call(actor)
                own.append(what["mark"])
            elif do == "batch":
                what = {"calls": [self.call(actor) for _ in range(self.one(1, 2, 7, 30))], "lines": self.often(0.5)}
                own += [call["mark"] for call in what["calls"]]
            else:
                what = self.other(do, actor)
            yield Step(round(at, 3), actor, do, what)

    USES = {"submit": 40, "batch": 6, "forward": 6, "get": 10, "attempts": 4, "cancel": 6, "retry": 3, "replay": 6, "again": 8, "erase": 4,
            "calls": 4, "document": 12, "show": 6, "target": 6, "read": 6, "nonsense": 6, "stranger": 5, "listen": 2, "operation": 2}
    ON_CALLS = ("get", "attempts", "cancel", "retry", "replay", "again", "erase", "stranger")

    def call(self, actor):
        target = self.chance.randrange(len(self.targets))
        target, path = self.favourite or (target, self.chance.randrange(len(self.targets[target])))
        drawn = {"mark": self.mark(actor), "target": target, "path": path, "keyed": self.often(0.6)}
        chosen = {name for name in sorted(self.options) if self.often(self.OPTIONS[name])}
        # A text of which a part is kept may be cut within a character.
        if self.targets[target][path] == "latin" and self.often(0.5):
            chosen.add("capture")
        options = {"method": self.one("GET", "PUT", "DELETE", "PATCH", "HEAD", "TRACE", "TRACE"), "body": self.one(10, 1000, 30_000, 400_000),
                   "delay": self.one(0.1, 1, 3), "idempotent": False, "ordering": f"order-{actor}", "wait": self.one(1, 3), "attempts": self.one(1, 2, 5),
                   "capture": self.one(0, 11, 12), "priority": self.one(0, 9)}
        return drawn | {name: options.get(name, True) for name in sorted(chosen)}

    # What a call may have, and how often it does.
    OPTIONS = {"method": 0.2, "body": 0.4, "delay": 0.15, "idempotent": 0.3, "ordering": 0.3, "callback": 0.3, "wait": 0.3, "sensitive": 0.15,
               "credential": 0.4, "authorization": 0.15, "host": 0.2, "redirects": 0.6, "attempts": 0.2, "capture": 0.15, "priority": 0.2, "policy": 0.15,
               "sign": 0.3, "latin": 0.5}

    def other(self, do, actor):
        if do in ("document", "show"):
            # Each has one writer, so what is true is known.
            kind = self.one("policies", "policies", "credentials", "alerts", "webhook-endpoints", "keys")
            return {"kind": kind, "name": f"{self.one('a', 'b', 'c')}-{actor.replace('/', '-')}", "remove": self.often(0.2)}
        if do == "target":
            return {"target": self.chance.randrange(len(self.targets)),
                    "to": self.one("pause", "resume", "limit", "off", "reset", "trip", "default", "privacy")}
        if do == "nonsense":
            return {"number": self.chance.randrange(1 << 30)}
        if do == "read":
            return {"path": self.one(*READS)}
        if do == "listen":
            return {"seconds": self.chance.uniform(0.2, 1.5)}
        if do == "operation":
            return {"action": self.one("retry", "cancel", "release", "replay"), "target": self.chance.randrange(len(self.targets))}
        return {}

    # What disturbs the service, and commands beside it.

    def faults(self, store):
        kinds = ["kill", "kill", "stop", "still"] + (
            ["database", "sessions"] if store == "postgresql" else ["silence", "flip", "damage", "damage", "disk", "disk", "power", "slow start"] + ([] if self.is_encrypted else ["lose key", "lose key"]))
        kinds = self.chance.sample(kinds, self.one(1, 2, 4))
        at = 0
        while True:
            at += self.chance.uniform(0.05, 3)
            if at > self.seconds:
                return
            yield Step(round(at, 3), "faults", self.one(*kinds),
                       {"instance": self.chance.randrange(self.instances), "seconds": round(self.chance.uniform(0, self.one(0.1, 2)), 3),
                        "fault": self.one("full-disk", "fail-write", "fail-file-write", "fail-sync", "fail-log-sync", "slow-sync"),
                        "left": self.one("lost", "kept", "torn")})

    def ways(self, is_shared):
        """What happens to the ways between instances, their database, and a target."""
        at, around = 0, self.around
        names = ["target"] + [f"{kind} {number}" for kind in ("database", "database", "peer") for number in range(self.instances) if is_shared]
        while (at := at + around.uniform(0.1, 2.5)) < self.seconds:
            yield Step(round(at, 3), "ways", "way", {
                "way": around.choice(names), "how": around.choice(["cut", "drop", "refuse", "slow", "lose"]), "instance": 0,
                # After which text an answer of the database is lost: names of statements.
                "text": around.choice(["insert", "upsert", "new_call", "attempts", "turns", "put_", "read_"]),
                "seconds": round(around.uniform(0, around.choice([0.1, 1, 3])), 3)})

    def commands(self, store):
        for do in ("backup", "export", "status", "doctor", "rekey"):
            if self.often(0.1) and (store == "sqlite" or do != "backup"):
                yield Step(round(self.chance.uniform(0.5, self.seconds), 3), "commands", do, {})


READS = ["/v1/targets", "/v1/statistics", "/v1/issues", "/v1/audit", "/v1/operations", "/v1/instances", "/metrics", "/healthz", "/readyz",
         "/", "/openapi.yaml", "/llms.txt", "/v1/calls?state=failed", "/v1/calls?state=scheduled", "/v1/calls?limit=1", "/v1/webhook-secret",
         "/v1/credentials", "/v1/alerts", "/v1/policies", "/v1/webhook-endpoints", "/v1/keys"]

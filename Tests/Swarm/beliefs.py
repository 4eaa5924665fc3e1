"""What is believed of a service, by somebody who knows nothing of its code: what was answered holds, and nothing else is seen."""

import base64
import collections
import contextlib
import hashlib
import hmac
import json
import pathlib
import re
import shutil
import subprocess

import test_contract
from processes import Redial, environment

import outcomes

MARK = re.compile(rb"mark-([a-z]+)-[a-z0-9]+-\d+x")
TEMPLATES = [(re.compile("^" + re.sub(r"\\\{url\\\}", ".+", re.sub(r"\\\{(?!url)\w+\\\}", "[^/]+", re.escape(path))) + "$"), path)
             for path in sorted(test_contract.CONTRACT["paths"], key=lambda path: path.count("{"))]
# What one request may leave behind, for good: more is a leak.
MEMORY, FILES, THREADS = 40 << 20, 60, 60
# How many connections to targets may be kept for the next request; they are closed after 30 s without any.
IDLE = 256
# After these nothing more is seen.
GONE = ("the process is alive", "the service starts")
# What other work of the machine can break, too.
TIMED = {"each answer comes", "a revoked key is refused", "a healthy call is not held back", "a limit holds", "each call ends", "a stop ends", "Retry-After is heeded",
         "what a target delivers at once is one attempt", "what a target delivers succeeds", "what was delivered is not sent again",
         "a connection serves no longer than it may", "memory is bounded", "descriptors are bounded", "threads are bounded"}
# How long a connection on which a request has waited in vain may get others, in seconds. A cancelled one may look like that, as
# libcurl says late that it gives it up: then another has to wait for two seconds first.
LEFT = 3
# Refusals for a while.
BUSY = (429, 503, 507)
# What a client may get for nonsense, of the statuses from 500 on.
REFUSALS = (501, 503, 505, 507, 508)


class Judge:
    def __init__(self, player):
        self.player, self.believe = player, player.believe
        self.touched, self.operated, self.checked, self.pauses = set(), set(), collections.Counter(), []

    # In each answer.

    def answer(self, tenant, method, path, answer, begun, ended, patience):
        self.text(tenant, answer.body + repr(answer.headers.items()).encode(), f"{method} {path}")
        if ended - begun > patience and not self.in_trouble(begun, ended):
            self.believe(False, "each answer comes", f"{method} {path}: {answer.status} after {ended - begun:.1f} s")
        if answer.status in (503, 507):
            self.believe(answer.headers.get("retry-after"), "a refusal for a while says for how long", f"{method} {path}: {answer.status} {answer.body[:300]}")
        self.contract(method, path, answer)

    def contract(self, method, path, answer):
        template = next((template for pattern, template in TEMPLATES if pattern.match(path.partition("?")[0])), None)
        operation = template and test_contract.CONTRACT["paths"][template].get(method.lower())
        # The body of an answer to what no operation is, is a problem too.
        if not operation:
            self.believe(answer.status < 500 or answer.status in REFUSALS, "each answer is as the contract says", f"{method} {path}: {answer.status}")
            return
        self.checked[method, template, answer.status] += 1
        if self.checked[method, template, answer.status] > 3 or "events" in path and answer.status == 200:
            return
        try:
            test_contract.check(answer, method.lower(), template)
        except Exception as error:  # Of any kind: the answer is not what the contract says.
            self.believe(False, "each answer is as the contract says", f"{method} {path} {answer.status}: {str(error)[:700]} in {answer.body[:300]}")

    def text(self, tenant, text, where):
        """Nothing of another tenant, and no secret."""
        for found in MARK.finditer(text):
            # An operator of the namespace default sees the changes of all.
            if found[1].decode() != tenant and not (tenant == "default" and "/v1/audit" in where):
                self.believe(False, "nobody sees what is another tenant's", f"{where} shows {tenant} {found[0].decode()}")
                return
        self.secrets(text.decode(errors="replace"), where)

    def secrets(self, text, where):
        for tenant, canary in [*self.player.canaries.items(), *self.player.sealed.items()]:
            forms = [canary, base64.b64encode(canary.encode()).decode().rstrip("=")]
            self.believe(not any(form in text for form in forms), "no secret is shown", f"{where} has the secret of {tenant}: …{around(text, forms)}…")

    def marks(self, sent, text):
        """An answer about a call has its own mark alone."""
        others = {found[0].decode() for found in MARK.finditer(text)} - {sent.mark}
        self.believe(not others, "each result has its own mark", f"{sent} shows {sorted(others)[:3]}")

    def call(self, sent, call):
        self.marks(sent, json.dumps(call).encode())
        if "sensitive" in sent.what and "forward" not in sent.touched:
            shown = json.dumps([call.get("response"), (call.get("request") or {}).get("body")])
            self.believe("this is" not in shown, "what is sensitive is not shown", f"{sent}: {shown[:300]}")
        response = call.get("response")
        if response and response["encoding"] == "utf8" and self.kind(sent) != "odd" and not self.may_cross(sent):
            self.believe("stale" not in response["body"], "each result has its own mark", f"{sent} has what belongs to no request: {response['body'][:80]}")

    def may_cross(self, sent):
        """Whether late bytes may have crossed a request of this call. Nobody can tell them from its answer."""
        return any(hit.crossed for hit in list(self.player.targets.hits) if hit.mark == sent.mark)

    def kind(self, sent):
        return self.player.world.targets[sent.what["target"]][sent.what["path"]]

    def document(self, client, key):
        """What was last acknowledged is there."""
        tenant, kind, name = key
        known = self.player.documents.get(key)
        # What was encrypted by a lost key cannot be read.
        if not known or kind == "keys" or self.player.has_damage or self.player.has_lost_key and kind in ("credentials", "webhook-endpoints", "alerts"):
            return
        identity = known["id"] if kind == "webhook-endpoints" else name
        if identity is None:
            return
        answer = client.insist("GET", f"/v1/{kind}/{identity}")
        if answer is None or answer.status in BUSY:
            return
        found = None
        if answer.status == 200:
            found = {"policies": lambda: answer.json["policy"]["maxAttempts"], "alerts": lambda: milliseconds(answer.json["after"])}.get(
                kind, lambda: int(answer.json["description"]))()
        self.believe(found in known["is"], "a document is what was last acknowledged", f"{kind} {name} of {tenant} is {found}, not {known['is']}")

    def was_silent(self):
        return any(how == "silence" for _, _, how in self.player.troubles)

    def in_trouble(self, begun, ended, after=10):
        return any(start < ended and begun < end + after for start, end, _ in self.player.troubles)

    # At the end, when all calls have ended.

    def everything(self):
        player = self.player
        if any(belief in GONE for belief, _ in player.broken):
            return
        self.by_call = collections.defaultdict(list)
        for hit in player.targets.hits:
            # Messages of alerts have a mark that no call has.
            if hit.kind != "hook" and "-0-0x" not in hit.mark:
                self.by_call[hit.call].append(hit)
        self.targets_saw()
        for tenant in player.world.tenants:
            self.tenant(tenant)
        self.webhooks()
        self.left_behind()
        for service in player.services:
            player.end(service, "stop")
        self.files()
        if player.copies and not player.has_damage and not player.has_lost_key and not player.broken:
            self.restored(*player.copies[-1])

    def targets_saw(self):
        for identity, hits in self.by_call.items():
            seen = collections.Counter((hit.attempt, hit.kind) for hit in hits if not hit.refused)
            doubled = {key: count for key, count in seen.items() if count > 1}
            self.believe(not doubled, "one attempt is one request", f"{identity} attempt {doubled}: {'; '.join(map(str, hits[:6]))}")
            marks = {hit.mark for hit in hits}
            self.believe(len(marks) == 1, "each request has its own mark", f"{identity} was sent as {marks}")
        for hit in self.player.targets.hits:
            tenant = hit.mark.split("-")[1]
            body = {found[0].decode() for found in MARK.finditer(hit.body)} if hit.kind != "hook" else set()
            self.believe(body <= {hit.mark}, "each request has its own mark", f"{hit} has a body of {body}")
            for other, canary in [*self.player.canaries.items(), *self.player.sealed.items()]:
                self.believe(other == tenant or canary.encode() not in hit.head + hit.body, "a secret goes to its own targets", f"{hit} has the secret of {other}")
            sent = self.player.sent.get(hit.mark)
            if sent and "host" in sent.what and "credential" in sent.what and self.player.sealed[tenant].encode() in hit.head:
                self.believe(hit.field("host") == self.player.targets.authorities[hit.target], "a secret goes to its own targets",
                             f"{hit} went to the host {hit.field('host')}")
            self.believe(hit.method != b"TRACE" or self.player.sealed.get(tenant, "none").encode() not in hit.head, "a secret goes to its own targets", f"{hit} is TRACE")
            if sent and "forward" not in sent.touched and hit.kind not in ("hook", "ok") and hit.method in (b"PUT", b"PATCH", b"POST") and hit.ended:
                length = int(hit.field("content-length") or 0)
                self.believe(length != len(hit.body) or hit.body == b"" or set(hit.body.split(b" ")) <= {b"this", b"is", sent.mark.encode(), b""},
                             "each request is what was submitted", f"{hit} has the body {hit.body[:200]}")
            if sent and self.kind(sent) == "see other" and hit.kind == "ok" and b"?elsewhere" not in hit.head \
                    and any(other.body for other in self.by_call[hit.call] if other.attempt == hit.attempt):
                self.believe(not hit.field("last-modified"), "what is gone is not described", f"{hit}: {hit.head[:500]}")
            if b"?elsewhere" in hit.head.partition(b"\r\n")[0]:
                self.believe(not hit.field("x-hub-signature-256"), "a replay signs nothing else", f"{hit} is signed: {hit.head[:600]}")
            late = [pause for pause in self.pauses if pause[:2] == [tenant, hit.target] and pause[2] + 1 < hit.at < pause[3]]
            self.believe(not late or tenant in self.operated or "-0-0x" in hit.mark or hit.kind == "hook", "what is paused gets nothing", f"{hit}")
        self.order()
        self.in_flight()
        self.connections()
        self.believe(not self.player.targets.strange, "targets get what was submitted", f"{self.player.targets.strange[:2]}")

    def order(self):
        """Calls of one ordering key run one after the other, in the order of their acceptance."""
        lanes = collections.defaultdict(list)
        for sent in self.player.sent.values():
            if "ordering" in sent.what and sent.id and "forward" not in sent.touched:
                lanes[sent.tenant, sent.what["ordering"], sent.what["target"]].append(sent)
        for lane in lanes.values():
            # Those of one client, one after the other.
            hits = [self.by_call.get(sent.id, []) for sent in sorted(lane, key=lambda sent: sent.order)
                    if not sent.touched & {"retry", "again", "operation", "replay"} and not sent.is_doubtful]
            if any(sent.tenant in self.operated for sent in lane) or self.player.has_damage:
                continue
            for before, after in zip([some for some in hits if some], [some for some in hits if some][1:]):
                last, first = max(hit.at for hit in before), min(hit.at for hit in after)
                self.believe(last <= first, "an ordering key keeps the order", f"{before[-1]} came {last - first:.3f} s after {after[0]}")

    def connections(self):
        """Each is of one tenant, and serves no longer than the settings say."""
        tenants, age = collections.defaultdict(set), self.player.world.settings.get("maxConnectionAge")
        for hit in self.player.targets.hits:
            if hit.connection:
                tenants[hit.connection, hit.target].add(hit.mark.split("-")[1])
            self.believe(age != "1s" or hit.age < 3, "a connection serves no longer than it may", f"{hit} on one of {hit.age:.1f} s")
        silent = max(self.player.targets.ignored, default=0)
        self.believe(silent < LEFT, "a connection that says nothing is left", f"a request came {silent:.1f} s after another had waited there in vain")
        shared = [found for found in tenants.values() if len(found) > 1]
        self.believe(not shared, "a connection is of one tenant", f"one had requests of {shared[:1]}")
        seen = b"".join(self.player.proxy.seen) if self.player.proxy else b""
        shown = [secret for secret in self.player.sealed.values() if b"Bearer " + secret.encode() in seen]
        self.believe(not shown, "no secret is shown", f"the proxy has seen {shown}")
        if self.player.world.denies:
            denied = [hit for hit in self.player.targets.hits if hit.target == len(self.player.world.targets) - 1]
            self.believe(not denied, "what may not be called is not", f"{denied[:1]}")

    def in_flight(self):
        """No tenant's target gets more requests at a time than the settings say."""
        settings = self.player.world.settings
        defaults = json.loads(settings.get("--target-defaults", "{}"))
        limit = defaults.get("maxInFlight", 64)
        if not self.player.world.is_calm:
            return
        edges = collections.defaultdict(list)
        for hit in self.player.targets.hits:
            # Nobody knows when an odd answer has ended, or a request that got none, or that was given up because its call was cancelled.
            sent, tenant = self.player.sent.get(hit.mark), hit.mark.split("-")[1]
            is_given_up = tenant in self.operated or sent and "cancel" in sent.touched
            if hit.kind not in ("hook", "odd") and hit.status and hit.at < self.player.healed - 0.5 and not is_given_up:
                edges[hit.target, tenant] += [(hit.at, 1, hit), (hit.ended or hit.at, 0, hit)]
        for (target, tenant), moments in edges.items():
            flying = {}
            for at, begins, hit in sorted(moments, key=lambda moment: moment[:2]):
                if not begins:
                    flying.pop(id(hit), None)
                    continue
                flying[id(hit)] = hit
                if len(flying) > limit:
                    text = "; ".join(f"{hit} from {hit.at - at:.3f} to {hit.ended - at:.3f}" for hit in flying.values())
                    self.believe(False, "a limit holds", f"at a time at target {target}, where {limit} are allowed: {text}")
                    break

    def tenant(self, tenant):
        player = self.player
        from playing import Actor
        client = Actor(player, f"{tenant}/judge")
        listed = self.listed(client)
        if listed is None:
            return
        for sent in [sent for sent in player.sent.values() if sent.tenant == tenant]:
            if sent.id:
                answer = client.insist("GET", f"/v1/calls/{sent.id}?include=request")
                if player.has_damage and answer is not None and answer.status == 409 and answer.json["code"] == "callDamaged":
                    continue
                if answer is None or answer.status != 200:
                    self.believe(False, "a call that was accepted is there", f"{sent}: {answer and answer.status} {answer and answer.body[:300]}")
                    continue
                self.believe(sent.id in listed, "a call that was accepted is in the list", f"{sent}")
                self.call(sent, answer.json)
                if not player.has_damage:
                    outcomes.Outcome(self, sent, answer.json, self.kind(sent), self.by_call.get(sent.id, [])).check()
            same = [identity for identity, call in listed.items()
                    if call["labels"].get("mark") == sent.mark and not call.get("replayOf")]
            most = 1 if sent.id or sent.is_doubtful else 0
            self.believe(len(same) <= most, "a submission is one call", f"{sent} is {same}")
        for key in list(player.documents):
            if key[0] == tenant:
                self.document(client, key)
        self.audit(client, tenant)

    def listed(self, client):
        for kind in ("policies", "credentials", "alerts", "webhook-endpoints", "keys", "audit", "targets", "issues", "operations"):
            answer = client.insist("GET", f"/v1/{kind}")
            self.believe(answer is not None and answer.status == 200, "each list is answered", f"{kind}: {answer and answer.status} {answer and answer.body[:300]}")
        calls, cursor = {}, ""
        while cursor is not None:
            answer = client.insist("GET", f"/v1/calls?limit=37{cursor}")
            if answer is None or answer.status != 200:
                self.believe(False, "the list of calls is answered", f"{answer and answer.status} {answer and answer.body[:300]}")
                return None
            calls |= {call["id"]: call for call in answer.json["data"]}
            cursor = answer.json.get("nextCursor") and f"&cursor={answer.json['nextCursor']}"
        return calls

    def audit(self, client, tenant):
        """Each change of a document is in the audit log."""
        changes = [change for change in self.player.changes if change[0] == tenant]
        cancelled = [sent for sent in self.player.sent.values() if sent.tenant == tenant and sent.cancelled and tenant not in self.operated]
        if not changes and not cancelled:
            return
        records, cursor = collections.defaultdict(list), ""
        while cursor is not None:
            answer = client.insist("GET", f"/v1/audit?limit=250{cursor}")
            if answer is None or answer.status != 200:
                return
            for record in answer.json["data"]:
                records[record["object"]].append(record)
            cursor = answer.json.get("nextCursor") and f"&cursor={answer.json['nextCursor']}"
        named = collections.defaultdict(list)
        for _, kind, name, content in changes:
            if kind in ("policies", "credentials", "alerts"):
                named[name].append((kind, content))
        for name, made in named.items():
            self.believe(len(records[name]) >= len(made), "each change is in the audit log", f"changes of {name}: {made}, records: {records[name]}")
            is_known = (tenant, name) not in self.player.doubtful and not self.player.troubles
            self.believe(not is_known or len(records[name]) <= len(made), "what changes nothing has no record", f"changes of {name}: {made}, records: {records[name]}")
        for sent in cancelled:
            self.believe(records[sent.id], "each change is in the audit log", f"{sent} was cancelled, without a record")

    def webhooks(self):
        """Each that was asked for arrived, signed by its tenant's secret, about its own call."""
        player = self.player
        from playing import Actor
        if player.has_damage or player.has_lost_key:
            return
        secrets = {}
        for tenant in player.world.tenants:
            answer = Actor(player, f"{tenant}/judge").insist("GET", "/v1/webhook-secret")
            if answer and answer.status == 200:
                secrets[tenant] = base64.b64decode(answer.json["secret"].removeprefix("whsec_"))
        hooks = collections.defaultdict(list)
        for hit in player.targets.hits:
            if hit.kind == "hook" and "-0-0x" not in hit.mark:
                hooks[hit.mark].append(hit)
        for mark, hits in hooks.items():
            tenant = mark.split("-")[1]
            for hit in hits:
                signed = f"{hit.field('webhook-id')}.{hit.field('webhook-timestamp')}.".encode() + hit.body
                expected = base64.b64encode(hmac.new(secrets.get(tenant, b""), signed, hashlib.sha256).digest()).decode()
                self.believe(tenant not in secrets or f"v1,{expected}" in (hit.field("webhook-signature") or ""), "webhooks are signed by their tenant's secret", f"{hit}")
                others = {found[0].decode() for found in MARK.finditer(hit.body)} - {mark}
                self.believe(not others, "each result has its own mark", f"the webhook of {mark} shows {sorted(others)[:3]}")
                self.secrets(hit.body.decode(errors="replace"), f"the webhook of {mark}")
        for sent in player.sent.values():
            if sent.id and "callback" in sent.what and "forward" not in sent.touched and not sent.cancelled and "cancel" not in sent.touched \
                    and sent.tenant not in self.operated:
                self.believe(hooks.get(sent.mark), "each webhook arrives", f"none for {sent}, {self.kind(sent)}; its call: {self.asked(sent)}")

    def asked(self, sent):
        """What the service says of a call and of its webhooks."""
        from playing import Actor
        client = Actor(self.player, f"{sent.tenant}/judge")
        call = client.insist("GET", f"/v1/calls/{sent.id}")
        webhooks = client.insist("GET", "/v1/calls?kind=webhook&limit=250")
        return f"{call and call.body[:1500]}; webhooks: {[w for w in webhooks.json['data'] if sent.mark in json.dumps(w)] if webhooks else None}"

    def left_behind(self):
        """What the process has, when nobody asks it for anything."""
        from playing import resources
        for number, service in enumerate(self.player.services):
            now, base = resources(service.process.pid), self.player.base.get(number)
            if base is None:
                continue
            text = f"at the start {base}, at the end {now}"
            self.believe(now["memory"] < base["memory"] + MEMORY, "memory is bounded", text)
            known = len(self.player.targets.connections) + len(self.player.threads) * len(self.player.services)
            if now["files"] >= base["files"] + FILES or now["sockets"] >= base["sockets"] + known + FILES + IDLE:
                self.believe(False, "descriptors are bounded", f"{text}, {known} of them known: {descriptors(service.process.pid)}")
            self.believe(now["threads"] < base["threads"] + THREADS, "threads are bounded", text)

    def restored(self, copy, accepted):
        """A service on the last backup has each call that was accepted before it, and ends it."""
        from playing import Actor
        player, folder = self.player, copy.with_suffix("")
        folder.mkdir()
        service = Redial(folder, *player.flags, env=player.env, location=f"sqlite:{copy}")
        service.env |= {name: value for name, value in player.services[0].env.items() if name == "REDIAL_TEST_CLOCK"}
        player.services, player.disk = [service], None
        if not player.start(0):
            return
        player.rest()
        for sent in accepted:
            answer = Actor(player, f"{sent.tenant}/judge").insist("GET", f"/v1/calls/{sent.id}?include=request")
            if answer is None or answer.status != 200:
                self.believe(False, "a backup has what was accepted before it", f"{sent}: {answer and answer.status} {answer and answer.body[:300]}")
            else:
                self.call(sent, answer.json)
        player.end(service, "stop")

    def files(self):
        player = self.player
        try:
            done = subprocess.run([player.binary, "doctor", "--store", player.location], capture_output=True, text=True, timeout=60, env=environment(player.env))
            # Of a changed bit that is in use he may say something, or it is nowhere.
            self.believe(done.returncode == 0 or player.has_damage or player.has_lost_key, "the doctor is content", done.stdout[-1500:] + done.stderr[-500:])
        except subprocess.TimeoutExpired:
            self.believe(False, "the doctor is content", "it has said nothing for 60 s")
        for service in player.services:
            if service.log.exists():
                log = service.log.read_text(errors="replace")
                self.secrets(log, f"the log {service.log.name}")
                errors = [line for line in log.splitlines() if re.match(r"\S+ error ", line)]
                self.believe(not errors or not player.world.is_calm, "nothing goes wrong", f"{errors[:3]}")
        for file in pathlib.Path(player.folder).rglob("*.db*"):
            if file.is_file() and not player.has_damage:
                # Header fields of a call are stored in clear text without a key.
                secrets = [*player.sealed.values(), *(player.canaries.values() if player.world.is_encrypted else [])]
                content = file.read_bytes()
                found = [secret for secret in secrets if secret.encode() in content]
                self.believe(not found, "no secret is shown", f"{file.name} has the secrets of {found} in clear text")


def descriptors(pid):
    """What a process has open: how many of each kind, and of sockets of each state."""
    found = collections.Counter()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found[re.sub(r"\d+", "n", str(entry.readlink()))] += 1
    sockets = subprocess.run(["ss", "-tnp"], capture_output=True, text=True).stdout if shutil.which("ss") else ""
    return [*found.most_common(5), *collections.Counter(
        f"{words[0]} {words[4]}" for line in sockets.splitlines() if f"pid={pid}," in line and (words := line.split())).most_common(8)]


def milliseconds(text):
    """A duration as a number."""
    return round(1000 * sum(float(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit] for number, unit in re.findall(r"([0-9.]+)(ms|s|m|h)", text)))


def around(text, forms):
    for form in forms:
        place = text.find(form)
        if place >= 0:
            return text[max(0, place - 80):place + 80]
    return ""

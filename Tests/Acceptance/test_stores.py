"""The stores of earlier builds in Tests/Stores: this one opens each with all that is in it in force, or refuses and changes nothing."""

import hashlib
import json
import shlex
import socket
import sqlite3
import struct
import subprocess
import time

import pytest

import stores
from processes import BINARY, BOUND, environment, run, wait_until

KEY = {"REDIAL_ADMIN_KEY": stores.ADMIN_KEY}
KINDS = ("sqlite", "postgres")
ANYWHERE = ["--listen", "127.0.0.1:0"]


class Place:
    """A copy of a store, in a file or in a database."""

    def __init__(self, name, kind, folder, database):
        self.name, self.kind, self.folder = name, kind, folder
        self.env = dict(KEY)
        key = stores.FOLDER / name / "encryption.key"
        self.file = stores.unpack(name, folder)
        if kind == "sqlite":
            self.location = f"sqlite:{self.file}"
            return
        self.cluster = database()
        self.location = self.cluster.url
        stores.restore(name, self.cluster)
        if key.exists():
            copy = folder / "encryption.key"
            copy.write_bytes(key.read_bytes())
            copy.chmod(0o600)
            self.env |= {"REDIAL_ENCRYPTION_KEY_FILE": str(copy)}

    def serve(self, redial):
        """Starts a service a minute after the store was made: its calls have a month, and its idempotency keys a day."""
        shift = stores.made_at(self.name) + 60 - time.time()
        (self.folder / "clock").write_bytes(struct.pack("<q", round(shift * 1e6)))
        service = redial(folder=self.folder, env=self.env, clock=True, location=self.location)
        service.credentials = stores.HEADERS
        # On PostgreSQL it has its targets a moment later.
        def is_there():
            answer = service("GET", "/v1/targets/oldset")
            # They ask the instance that was killed, until its session is over; another test's service may have its address by now.
            return answer.status == 200 and answer.json["settings"] and service("GET", "/v1/targets?limit=250").status == 200
        wait_until(is_there, "the targets are there")
        return service

    def refused(self, *flags, env=None):
        done = run(
            "serve", "--store", self.location, *(flags or ANYWHERE),
            env={name: value for name, value in (self.env | (env or {})).items() if value is not None})
        assert done.returncode == 3, done
        return done.stderr

    def doctor(self):
        done = run("doctor", "--json", "--store", self.location, env=self.env)
        assert done.returncode in (0, 1), done
        report = json.loads(done.stdout)
        assert report["clean"] == (done.returncode == 0)
        return report, {finding["check"]: finding for finding in report["findings"]}

    def change(self, statement):
        """Changes the store behind its service's back, as no service would."""
        if self.kind == "postgres":
            return self.cluster.query(f"SET search_path = redial; {statement[self.kind]}", "redial")
        database = sqlite3.connect(self.file, isolation_level=None)
        database.execute("PRAGMA wal_autocheckpoint = 0")
        # Without a checkpoint at the end: the log has all of it, as after a crash.
        reader = sqlite3.connect(self.file, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        assert database.execute(statement[self.kind]).rowcount == 1
        log = self.file.with_name("redial.db-wal").read_bytes()
        main = self.file.read_bytes()
        database.close()
        reader.close()
        self.file.write_bytes(main)
        self.file.with_name("redial.db-wal").write_bytes(log)
        return None

    def content(self):
        """All of it, to be compared. The lock and the index of the log have nothing of the store."""
        if self.kind == "sqlite":
            files = [file for file in self.folder.iterdir() if file.name not in ("redial.db.lock", "redial.db-shm")]
            return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()}
        dump = self.cluster.run(
            "pg_dump", "--inserts", "-h", self.cluster.folder, "-U", "postgres", "redial").stdout
        return [line for line in dump.splitlines() if not line.startswith("\\")]


@pytest.fixture
def place(tmp_path, database):
    """Makes a copy of a store."""
    def make(name, kind):
        folder = tmp_path / "store"
        folder.mkdir()
        return Place(name, kind, folder, database)
    return make


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", stores.all_of_them())
def test_all_of_an_earlier_store_is_in_force(place, redial, name, kind):
    store = place(name, kind)
    report, findings = store.doctor()
    assert all(finding["count"] == 0 for check, finding in findings.items() if check != "expiredLeases"), report

    service = store.serve(redial)

    def get(path):
        answer = service("GET", path)
        assert answer.status == 200, (path, answer.body)
        return answer.json
    policy = get("/v1/policies/p")
    assert {"maxAttempts": 5, "minAttemptTime": "100ms"} == policy["policy"] and policy["version"] == 1
    billing, oldset = service.target("billing"), service.target("oldset")
    assert billing["settings"]["maxInFlight"] == 4 and billing["settings"]["breaker"]["minCalls"] == 30
    assert oldset["settings"]["rate"]["perSecond"] is None and oldset["paused"]
    key, = get("/v1/keys")["data"]
    assert (key["name"], sorted(key["scopes"]), key["quota"]) == ("k", ["read", "submit"], 6000)
    endpoint, = get("/v1/webhook-endpoints")["data"]
    assert endpoint["url"] == f"{stores.NOWHERE}/hook" and endpoint["events"] == ["call.failed"] and endpoint["enabled"]

    calls = {call["url"].removeprefix(stores.NOWHERE): service.get(call["id"]) for call in get("/v1/calls")["data"]}
    assert {f"/w{number}" for number in range(1, 6)} | {"/s", "/f"} <= set(calls)
    for path, call in calls.items():
        if path == "/f":
            continue
        assert (call["state"], call["waitingOn"]) == ("scheduled", "startTime"), call
    for number in range(1, 6):
        call = calls[f"/w{number}"]
        assert call["target"] == "billing" and call["policy"] is None
        assert call["policyInForce"]["minAttemptTime"] == "50ms" and call["policyInForce"]["deadline"] == "900h", call
    assert calls["/s"]["policy"] == "p@1" and calls["/s"]["policyInForce"]["minAttemptTime"] == "100ms"
    failed = calls["/f"]
    assert failed["state"] == "failed" and failed["attemptCount"] == 2
    first = failed["attempts"][0]["decision"]
    assert first["action"] == "retry" and 0.5 <= first["jitterFactor"] <= 1.5, first
    hook, = get("/v1/calls?kind=webhook")["data"]
    assert hook["labels"]["event"] == "call.failed"
    # The key is known: the same text would be a repetition, and another one is refused.
    again = service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/other"}, stores.HEADERS | {"idempotency-key": "old-1"})
    assert again.status == 422 and again.json["code"] == "idempotencyKeyReused", again.body

    # What is changed and stored now is in the words of today, and of no other.
    assert service("PATCH", "/v1/targets/billing", {"maxInFlight": 5}).status == 200
    assert service.target("billing")["settings"]["breaker"]["minCalls"] == 30
    refused = service("PUT", "/v1/targets/billing", {"breaker": {"minimumCalls": 30}})
    assert refused.status == 422, refused.body
    refused = service("POST", "/v1/calls", {"url": f"{stores.NOWHERE}/x", "policy": {"minimumAttemptTime": "1s"}})
    assert refused.status == 422, refused.body
    assert service("POST", f"/v1/calls/{calls['/s']['id']}/cancel").status == 200
    assert service.terminate() == 0
    assert store.doctor()[0]["clean"]


# A statement for each store, what names the record, and where in it the fault is.
POISON = {
    "policy": (
        {"sqlite": "UPDATE policies SET policy = CAST('{\"maxAttempt\": 5}' AS BLOB)",
         "postgres": "UPDATE policies SET policy = '{\"maxAttempt\": 5}'"},
        "the policy p@1 in the table policies: /policy/maxAttempt is not a member of policy"),
    "no JSON": (
        {kind: f"UPDATE policies SET policy = {value}" for kind, value in (("sqlite", "x'ff00'"), ("postgres", "'\\xff00'"))},
        "the policy p@1 in the table policies: /policy"),
    "call": (
        {"sqlite": "UPDATE requests SET spec = CAST(replace(CAST(spec AS TEXT), '\"minimumAttemptTime\"', '\"leastTime\"')"
                   " AS BLOB) WHERE id = 1883124406714105856",
         "postgres": "UPDATE requests SET spec = convert_to(replace(convert_from(spec, 'UTF8'), '\"minimumAttemptTime\"',"
                     " '\"leastTime\"'), 'UTF8') WHERE id = 1883124406714105856"},
        "(1883124406714105856 in the table requests): its descriptor is not readable: /policy/leastTime is not a member of policy"),
    "target": (
        {"sqlite": "UPDATE targets SET overrides = CAST('{\"breaker\":{\"minCall\":3}}' AS BLOB) WHERE key = 'billing'",
         "postgres": "UPDATE targets SET overrides = '{\"breaker\":{\"minCall\":3}}' WHERE key = 'billing'"},
        "the target billing in the table targets: /controls/overrides/breaker/minCall is not a member of breaker"),
    "key": (
        {"sqlite": "UPDATE documents SET content = CAST('{\"id\":\"key_1\",\"digest\":\"x\"}' AS BLOB) WHERE kind = 'apiKey'",
         "postgres": "UPDATE documents SET content = '{\"id\":\"key_1\",\"digest\":\"x\"}' WHERE kind = 'apiKey'"},
        "the apiKey key_5SC02524S94XV in the table documents: /digest"),
    "endpoint": (
        {"sqlite": "UPDATE documents SET content = CAST('{\"id\":7}' AS BLOB) WHERE kind = 'webhookEndpoint'",
         "postgres": "UPDATE documents SET content = '{\"id\":7}' WHERE kind = 'webhookEndpoint'"},
        "the webhookEndpoint whe_7HMMAQ8Q2V0PY in the table documents: /id"),
    "operation": (
        {"sqlite": "INSERT INTO operations VALUES (9, CAST('{\"action\":\"undo\"}' AS BLOB), 1, 1, NULL, 0, 0, 0, NULL, 'default')",
         "postgres": "INSERT INTO operations VALUES (9, '{\"action\":\"undo\"}', 1, 1, NULL, 0, 0, 0, NULL, 'default')"},
        "the operation 9 in the table operations: /request/action"),
    "attempt": (
        {"sqlite": "UPDATE requests SET past = CAST(x'07' || substr(past, 2) AS BLOB) WHERE id = 1883124406700474368",
         "postgres": "UPDATE attempts SET decision = '{\"action\":\"wait\"}' WHERE call_id = 1883124406700474368 AND number = 1"},
        "attempt"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("poison", POISON)
def test_a_store_that_cannot_be_read_is_refused_and_stays_as_it_was(place, redial, poison, kind):
    store = place("71dbc69", kind)
    statement, named = POISON[poison]
    store.change(statement)
    before = store.content()
    for message in (store.refused(), store.refused()):
        assert named in message and "was not upgraded from schema" in message and "Nothing was changed" in message, message
        assert "cannot read one thing" in message, message
    assert store.content() == before
    report, findings = store.doctor()
    assert not report["clean"] and findings["unreadable"]["count"] + findings["damaged"]["count"] == 1, report
    assert any("does not start on it" in warning["text"] for warning in report["warnings"]), report
    example, = findings["unreadable"]["examples"] + findings["damaged"]["examples"]
    assert example.split(": ", 1)[1] in message
    assert store.content() == before


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def no_key(store):
    store.change({kind: "DELETE FROM documents WHERE kind = 'apiKey'" for kind in KINDS})
    return {"REDIAL_ADMIN_KEY": None}


def half_filled(store):
    store.change({kind: """INSERT INTO settings VALUES ('migration', '{"from":"a","state":"b"}')""" for kind in KINDS})


def lost_secret(store):
    name = "webhookSecret" if store.kind == "sqlite" else "peerSecret"
    text = f"INSERT INTO settings VALUES ('{name}', 'whsec_short') ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    store.change({kind: text for kind in KINDS})


# What refuses a start on a store that can be read: what it does to the store or to its surroundings, flags, environment, and
# what is said. `{}` is a folder of the test.
REFUSALS = {
    "the secret of webhooks cannot be read": (lost_secret, [], {}, "Secret in the table settings: it is no secret"),
    "the key program fails": (None, [], {"REDIAL_ENCRYPTION_KEY_COMMAND": "{}/fails"}, "which encryptionKeyCommand names, has failed"),
    "the key program prints nonsense": (
        None, [], {"REDIAL_ENCRYPTION_KEY_COMMAND": "{}/nonsense"}, "which encryptionKeyCommand names, has failed"),
    "there is no key program": (None, [], {"REDIAL_ENCRYPTION_KEY_COMMAND": "{}/none"}, "which encryptionKeyCommand names, has failed"),
    "there is no key file": (None, [], {"REDIAL_ENCRYPTION_KEY_FILE": "{}/none"}, "cannot be used"),
    "the key file is open to all": (None, [], {"REDIAL_ENCRYPTION_KEY_FILE": "{}/open"}, "others may read it"),
    "the address is in use": (None, ["--listen", "127.0.0.1:{port}"], {}, "Address already in use"),
    "the socket is a file": (None, ["--listen", "unix:{}/open"], {}, "{}/open"),
    "the socket is another service's": (None, ["--listen", "unix:{}/socket"], {}, "{}/socket"),
    "the address is not of this machine": (None, ["--listen", "192.0.2.1:8080"], {}, "192.0.2.1"),
    "anybody could use it": (no_key, ["--listen", "0.0.0.0:0"], {}, "there is no API key"),
    "nobody could sign in": (None, [*ANYWHERE, "--trusted-user-header", "x-user"], {}, "nobody could sign in"),
    "a migration fills it": (half_filled, [], {}, "only partly filled"),
}


@pytest.fixture
def surroundings(tmp_path):
    """What the refusals need, and a function that puts its places into a text."""
    folder = tmp_path / "around"
    folder.mkdir()
    script(folder / "fails", "exit 1")
    script(folder / "nonsense", "echo '!'")
    (folder / "open").write_text("x" * 44)
    (folder / "open").chmod(0o644)
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as file:
        file.bind(str(folder / "socket"))
        file.listen()
        yield lambda text: text.replace("{port}", str(listener.getsockname()[1])).replace("{}", str(folder))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("refusal", REFUSALS)
def test_what_refuses_a_start_refuses_it_before_the_upgrade(place, redial, surroundings, refusal, kind):
    store = place("71dbc69", kind)
    prepare, flags, env, said = REFUSALS[refusal]
    env = {name: surroundings(value) for name, value in env.items()} | ((prepare and prepare(store)) or {})
    before = store.content()
    for _ in range(2):
        assert surroundings(said) in store.refused(*map(surroundings, flags), env=env)
        assert store.content() == before
    if prepare is lost_secret:
        report, findings = store.doctor()
        assert not report["clean"] and said in findings["unreadable"]["examples"][0], report
        assert store.content() == before
    if prepare is None:
        store.serve(redial)


def test_a_start_without_descriptors_is_refused_before_the_upgrade(place):
    store = place("71dbc69", "sqlite")
    before = store.content()
    for count in range(8, 64, 5):
        done = subprocess.run(
            ["sh", "-c", f"ulimit -n {count}; exec {shlex.join([BINARY, 'serve', '--store', store.location, '--listen', '127.0.0.1:0'])}"],
            env=environment(store.env), capture_output=True, text=True, timeout=BOUND)
        assert done.returncode != 0 and "descriptors" in done.stderr, (count, done)
        assert store.content() == before, count


@pytest.mark.parametrize("refusal", [name for name in REFUSALS if REFUSALS[name][0] in (None, no_key)])
def test_a_refused_start_leaves_no_new_store_behind(surroundings, tmp_path, refusal):
    prepare, flags, env, said = REFUSALS[refusal]
    folder = tmp_path / "new"
    done = run(
        "serve", "--store", f"sqlite:{folder}/redial.db", *map(surroundings, flags or ANYWHERE),
        env=({} if prepare else KEY) | {name: surroundings(value) for name, value in env.items()})
    assert done.returncode == 3 and surroundings(said) in done.stderr, done
    assert not folder.exists()


@pytest.mark.parametrize("refusal", [name for name in REFUSALS if REFUSALS[name][0] in (None, no_key)])
def test_a_refused_start_makes_no_tables(surroundings, database, refusal):
    cluster = database()
    prepare, flags, env, said = REFUSALS[refusal]
    done = run(
        "serve", "--store", cluster.url, *map(surroundings, flags or ANYWHERE),
        env=({} if prepare else KEY) | {name: surroundings(value) for name, value in env.items()})
    assert done.returncode == 3 and surroundings(said) in done.stderr, done
    assert not cluster.query("SELECT 1 FROM pg_namespace WHERE nspname = 'redial'", "redial")


# A statement for each store that damages the call 1883124406714105856 or another one, so that no version can read it.
BROKEN = {
    "no JSON": ("UPDATE requests SET spec = {} WHERE id = 1883124406714105856", b"\xff\x00"),
    "cut off": ("UPDATE requests SET spec = {} WHERE id = 1883124406714105856", b'{"url":"http://127.0.0.1:1/w1","pol'),
    "nothing": ("UPDATE requests SET spec = {} WHERE id = 1883124406714105856", b""),
    "sealed by nobody": ("UPDATE requests SET spec = {} WHERE id = 1883124406714105856", b"\xf5\x01" + bytes(60)),
    "set aside": ("UPDATE requests SET spec = {} WHERE id = 1883124406714105856", b'{"url":7}'),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", BROKEN)
def test_a_call_that_was_damaged_before_is_set_aside_and_the_store_is_upgraded(place, redial, damage, kind):
    store = place("71dbc69", kind)
    statement, value = BROKEN[damage]
    literal = f"CAST(x'{value.hex()}' AS BLOB)" if kind == "sqlite" else f"'\\x{value.hex()}'"
    store.change({kind: statement.format(literal)})
    if damage == "set aside":
        # As the service did that made the store, when it met the call.
        store.change({
            "sqlite": "UPDATE calls SET state = 6, waiting = NULL, failure = NULL, finished_at = round_started_at"
                      " WHERE id = 1883124406714105856",
            "postgres": """WITH g AS (DELETE FROM live WHERE id = 1883124406714105856 RETURNING *) INSERT INTO done (id, shard,
                namespace, kind, target_id, created_at, priority, callback, state, at, attempts, interruptions, attempts_before,
                round_started_at, previous_wait, total_wait, finished_at) SELECT id, shard, namespace, kind, target_id, created_at,
                priority, callback, 6, at, attempts, interruptions, attempts_before, round_started_at, previous_wait, total_wait,
                round_started_at FROM g"""})
    before = store.content()
    report, findings = store.doctor()
    assert findings["damaged"]["count"] == 1 and findings["unreadable"]["count"] == 0, report
    assert any("which was tried for this check" in warning["text"] for warning in report["warnings"]), report
    assert store.content() == before
    service = store.serve(redial)
    calls = service("GET", "/v1/calls").json["data"]
    assert {f"{stores.NOWHERE}/w1", f"{stores.NOWHERE}/f"} <= {call["url"] for call in calls}
    assert len(calls) == 7 and sum(not call["url"] for call in calls) == 1, calls
    assert service.submit(url=f"{stores.NOWHERE}/new", delay="1h")


def test_a_file_without_a_log_is_refused_and_stays_as_it_was(place, tmp_path):
    """A backup has no write-ahead log, and none is made beside it; nor does its header say that it has one."""
    store = place("71dbc69", "sqlite")
    copy = tmp_path / "copy.db"
    with sqlite3.connect(store.file) as database:
        database.execute("UPDATE policies SET policy = CAST('{\"maxAttempt\": 5}' AS BLOB)")
        database.commit()
        database.execute(f"VACUUM INTO '{copy}'")
    before = copy.read_bytes()
    for command in (["serve", "--listen", "127.0.0.1:0"], ["keys", "list"], ["doctor"]):
        done = run(*command, "--store", f"sqlite:{copy}", env=KEY)
        assert done.returncode != 0 and "/policy/maxAttempt is not a member of policy" in done.stdout + done.stderr, done
        assert copy.read_bytes() == before, command


@pytest.mark.parametrize("kind", KINDS)
def test_settings_keep_the_meaning_that_they_had(place, redial, encrypted, kind):
    """Ten failures in a row opened a breaker at once, and a disabled endpoint was held back by its paused target."""
    store = place("71dbc69", kind)
    blob = {"sqlite": "CAST('{}' AS BLOB)", "postgres": "'{}'"}[kind]
    settings = '{"breaker":{"consecutiveFailures":7,"minimumCalls":30},"rate":{"perSecond":0},"retryBudget":{"minPerSecond":0}}'
    endpoint = ('{"id":"whe_7HMMAQ8Q2V0PY","url":"http://127.0.0.1:1/hook","events":["call.failed"],"targets":[],'
                '"createdAt":"2026-11-28T17:36:21.188Z","namespace":"default","disabledReason":"byRequest",'
                '"disabledAt":"2026-11-28T17:36:22.188Z","switches":1,"settledSwitches":1,"secrets":[{"id":"1",'
                '"secret":"whsec_bTNv3fBq4BIfQ+oW5mj2caliAd/l095GOc+pdv7YLuw=","createdAt":"2026-11-28T17:36:21.188Z"}]}')
    true = {"sqlite": 1, "postgres": "true"}[kind]
    for statement in (
        f"UPDATE targets SET overrides = {blob.replace('{}', settings)} WHERE key = 'billing'",
        f"UPDATE targets SET paused = {true} WHERE key = 'webhook:whe_7HMMAQ8Q2V0PY'",
        f"UPDATE documents SET content = {blob.replace('{}', endpoint)} WHERE kind = 'webhookEndpoint'",
    ):
        store.change({kind: statement})
    service = store.serve(redial)
    target = service.target("billing")["settings"]
    assert target["breaker"]["consecutiveFailures"] == 7 and target["breaker"]["minCalls"] == 30
    assert target["breaker"]["significance"] == 1 and target["breaker"]["failureTime"] == "0s"
    assert target["rate"]["perSecond"] is None and target["retryBudget"]["minPerSecond"] is None
    endpoint, = service("GET", "/v1/webhook-endpoints").json["data"]
    assert not endpoint["enabled"]
    # Once it is enabled, nothing holds its target back.
    enabled = service("PUT", f"/v1/webhook-endpoints/{endpoint['id']}", {
        "url": endpoint["url"], "events": endpoint["events"], "enabled": True})
    assert enabled.status == 200, enabled.body
    assert not service.target("webhook:whe_7HMMAQ8Q2V0PY")["paused"] and service.target("oldset")["paused"]


def test_the_newest_store_has_the_forms_of_today(redial, tmp_path):
    """What this build stores has the same forms as what the newest of the stores has."""
    folder = tmp_path / "newest"
    folder.mkdir()
    newest = stores.shape(stores.unpack(stores.all_of_them()[-1], folder))
    service = redial(env=KEY)
    service.credentials = stores.HEADERS
    stores.fill(service)
    # A stop empties the log of calls into the tables.
    assert service.terminate() == 0
    today = stores.shape(service.store)
    assert today == newest, (
        "a form in which something is stored has changed: run Tests/Stores/make on a commit with it, and add the row to the README",
        sorted(today ^ newest))

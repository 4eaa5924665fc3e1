"""Encryption at rest: what files, archives and memory dumps do not show, and new keys."""

import base64
import getpass
import json
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import threading

import pytest

from processes import BINARY, BOUND, environment, run, wait_until

# Each is in another part of a call.
SECRETS = {part: f"{part}-known-{os.urandom(200).hex()}" for part in ("query", "field", "body", "large", "answer", "head", "callback", "policy", "credential", "signature", "token")}
SECRETS["policy"] = SECRETS["policy"][:255]


def key_file(folder, name="redial.key"):
    path = folder / name
    path.write_text(base64.b64encode(os.urandom(32)).decode() + "\n")
    path.chmod(0o600)
    return {"REDIAL_ENCRYPTION_KEY_FILE": str(path)}


def found(files, secrets):
    """Which secrets are in which files, also in base 64."""
    shown = []
    for file in files:
        if not file.is_file():
            continue
        content = file.read_bytes()
        for secret in secrets:
            plain = secret.encode()
            for form in [plain] + [base64.b64encode(bytes(shift) + plain)[4:-4] for shift in range(3)]:
                if form in content:
                    shown.append((file.name, secret))
    return sorted(set(shown))


def files(service, cluster):
    """All that the store and the log are in."""
    if cluster:
        cluster.query("CHECKPOINT")
        return [service.log, *(path for path in cluster.data.rglob("*"))]
    return [service.log, *service.store.parent.glob("redial.db*")]


def crash(process, folder):
    """Ends a process in a way that makes a core dump, and returns the dump, if there is one in the folder."""
    resource.prlimit(process.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    # A signal that makes a dump and that no run time catches.
    process.send_signal(signal.SIGSYS)
    process.wait(BOUND)
    return [file for name in ("core", f"core.{process.pid}") if (file := folder / name).exists()]


def leaves_no_dump(service, folder):
    """Lets it crash, beside a program that leaves a dump where this system writes one into a file."""
    sleeping = subprocess.Popen(["sleep", "3600"], cwd=folder)
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    assert crash(sleeping, folder) or pattern not in ("core", "core.%p")
    # It runs in the folder of the tests. Its link in /proc cannot be read in a container, because it cannot be dumped.
    cores = crash(service.process, pathlib.Path.cwd())
    for core in cores:
        core.unlink()
    return not cores


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_of_a_run_with_known_secrets_is_readable_anywhere(redial, instances, receiver, tmp_path, kind):
    def answer(request):
        if request.path == "/token":
            return 200, {}, json.dumps({"access_token": SECRETS["token"], "token_type": "Bearer"}).encode()
        return 503 if "again" in request.path else 200, {"x-head": SECRETS["head"]}, SECRETS["answer"].encode()
    target = receiver(answer)
    env, cluster = key_file(tmp_path), None
    if kind == "postgresql":
        cluster, (service,) = instances(1, env=env)
    else:
        service = redial(env=env)
    store = [cluster.url if cluster else f"sqlite:{service.store}"]
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": f"{target.url}/hook?token={SECRETS['query']}", "events": ["call.succeeded"]})
    assert endpoint.status == 201, endpoint.body
    credential = {"type": "oauth2", "tokenURL": f"{target.url}/token", "clientID": "a", "clientSecret": SECRETS["credential"],
                  "origins": [target.url, "http://127.0.0.1:9"]}
    assert service("PUT", "/v1/credentials/shop", credential).status == 201
    own = target.url.replace(":", "%3A").replace("/", "%2F")
    assert service("PUT", f"/v1/targets/{own}", {"sign": {"type": "slack", "secret": SECRETS["signature"]}}).status == 200
    secrets = [*SECRETS.values(), endpoint.json["secret"].removeprefix("whsec_")]
    call = {
        "url": f"{target.url}/a?token={SECRETS['query']}", "method": "POST", "headers": {"authorization": SECRETS["field"]},
        "body": SECRETS["body"], "callback": {"url": f"{target.url}/{SECRETS['callback']}"}, "description": SECRETS["policy"],
        "credential": "shop", "sign": {"type": "github", "secret": SECRETS["signature"]}}
    large = call | {"body": (SECRETS["large"] + "\n") * 400}
    ended = [service.submit(**call) for _ in range(5)] + [service.submit(**large)]
    # One that cannot be reached has a failure; one waits.
    failed = service.submit(**call | {"url": f"http://127.0.0.1:9/{SECRETS['query']}", "policy": {"maxAttempts": 2, "backoff": {"initial": "10ms"}}})
    waiting = service.submit(**call, delay="1h")
    again = service.submit(**call | {"url": f"{target.url}/again?token={SECRETS['query']}"})
    for identity in ended + [failed]:
        service.ended(identity)
    wait_until(lambda: service.get(again)["attemptCount"] > 0, "it was tried")
    secrets.append(run("webhook-secret", "--store", *store, env=env).stdout.strip().removeprefix("whsec_"))
    service.kill()
    assert found(files(service, cluster), secrets) == []
    service.start()
    made = [r for r in target.requests if r.path.startswith("/a?")]
    assert {r.body.decode() for r in made} == {call["body"], large["body"]}
    assert {r.headers["authorization"] for r in made} == {"Bearer " + SECRETS["token"]}
    assert all(r.headers["x-hub-signature-256"] for r in made)
    answer = service("GET", f"/v1/calls/{ended[0]}/attempts")
    assert answer.status == 200, answer.body
    later = service.submit(**call)
    assert service.ended(later)["state"] == "succeeded"
    assert service.get(waiting)["state"] == "scheduled"
    backup, export = tmp_path / "backup.out", tmp_path / "export.jsonl"
    assert run("backup", backup, "--store", *store, env=env).returncode == 0
    assert run("export", "-o", export, "--store", *store, env=env).returncode == 0
    assert leaves_no_dump(service, tmp_path)
    assert found([*files(service, cluster), backup, export], secrets) == []
    # With the key all of it is there, in another store too; without it nothing is lost.
    plain = run("export", "--decrypt", "--store", *store, env=env).stdout
    assert SECRETS["query"] in plain
    copy = f"sqlite:{tmp_path}/copy.db"
    assert "encryptionKeyFile" in run("import", "--store", copy, export).stderr
    assert run("import", "--store", copy, export, env=env).returncode == 0
    assert found(tmp_path.glob("copy.db*"), secrets) == []
    assert SECRETS["query"] in run("export", "--decrypt", "--store", copy, env=env).stdout
    other = key_file(tmp_path, "other.key")
    for wrong in (None, other):
        refused = run("serve", "--listen", "127.0.0.1:0", "--store", *store, env=wrong)
        assert refused.returncode == 3 and "encryptionKeyFile" in refused.stderr, refused
    service.start()
    assert service.get(waiting)["state"] == "scheduled" and service.get(later)["state"] == "succeeded"


def batch(service, url, count):
    for start in range(0, count, 500):
        calls = [{"url": url, "delay": "1h", "method": "POST", "body": f"body {n} " * 30} for n in range(start, start + 500)]
        assert service("POST", "/v1/calls/batch", calls).status == 200


def contents(store, env):
    """All calls of a store, without what differs."""
    lines = [json.loads(line) for line in run("export", "--calls", "--decrypt", "--store", store, env=env).stdout.splitlines()]
    return {line["id"]: (line["body"], json.dumps(line["spec"])) for line in lines}


def keys(service, env):
    """The numbers of the data keys that the store has."""
    with sqlite3.connect(service.store) as database:
        return {row[0] for row in database.execute("SELECT id FROM documents WHERE kind = 'dataKey'")}


def under_way(store, env, place):
    """A process that makes new keys, and is seen somewhere between its beginning and its end."""
    for _ in range(20):
        process = subprocess.Popen([BINARY, "rekey", "--store", store], env=environment(env), stderr=subprocess.PIPE, text=True)
        wait_until(lambda: place() or process.poll() is not None, "it has begun")
        if process.poll() is None:
            return process
        # It was faster than this test.
        assert process.returncode == 0, process.stderr.read()
    raise AssertionError("it was never seen on its way")


def test_new_keys_are_made_beside_the_running_service_and_a_kill_loses_nothing(redial, receiver, tmp_path):
    env = key_file(tmp_path)
    service = redial()
    store = f"sqlite:{service.store}"
    # From before there was a key.
    batch(service, receiver().url, 1000)
    assert service.terminate() == 0
    service.env = env
    service.start()
    batch(service, receiver().url, 2000)
    before = contents(store, env)
    assert len(before) == 3000
    assert "1000 calls, 0 attempts and 0 documents" in run("doctor", "--store", store, env=env).stdout

    def place():
        with sqlite3.connect(service.store) as database:
            row = database.execute("SELECT value FROM settings WHERE name = 'rekey'").fetchone()
        return row and int(row[0].split()[0])
    process = under_way(store, env, place)
    service.kill()
    # It may just have been over.
    assert process.wait(BOUND) == 0 or "next start goes on" in process.stderr.read()
    assert contents(store, env) == before
    service.start()
    wait_until(lambda: place() is None, "it has ended")
    assert contents(store, env) == before
    assert all(not name.endswith("@1") or name == "*@1" for name in keys(service, env))
    done = run("rekey", "--store", store, env=env)
    assert done.returncode == 0 and contents(store, env) == before, done
    assert service.terminate() == 0
    done = run("rekey", "--store", store, env=env)
    assert done.returncode == 0 and contents(store, env) == before, done
    checked = run("doctor", "--store", store, env=env)
    assert checked.returncode == 0 and "not encrypted" not in checked.stdout, checked
    assert b"body 1 body 1" not in service.store.read_bytes()


class Load:
    """Submits calls to instances, one after the other, until it is stopped. Each has the number of its place as its body."""

    def __init__(self, services, url):
        self.services, self.url, self.calls, self.failure, self.stops = services, url, {}, None, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.stops.is_set():
                number = len(self.calls)
                more = {"sensitive": True} if number % 5 == 4 else {}
                identity = self.services[number % len(self.services)].submit(
                    url=self.url, method="POST", body=f"load {number}" + " " * (120_000 if number % 7 == 6 else 0),
                    orderingKey=f"key {number % 3}", **more)
                self.calls[identity] = number
        except BaseException as failure:
            self.failure = failure

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stops.set()
        self.thread.join()


def numbers(database):
    """The numbers of the data keys, and how many stored values name another one or are not encrypted."""
    stored = [json.loads(row[0]) for row in database("SELECT convert_from(content, 'UTF8') FROM redial.documents WHERE kind = 'dataKey'")]
    heads = "{" + ",".join(f'"\\\\xf5{key["key"]:08x}"' for key in stored if not key.get("erasedAt")) + "}"
    others = database(
        "SELECT (SELECT count(*) FROM redial.requests WHERE substr(spec, 1, 5) <> ALL('%s'::bytea[]))"
        " + (SELECT count(*) FROM redial.documents WHERE kind <> 'dataKey' AND substr(content, 1, 5) <> ALL('%s'::bytea[]))" % (heads, heads))
    return {f"{key['namespace']}@{key['generation']}" for key in stored}, int(others[0][0])


def test_new_keys_of_a_database_are_made_beside_its_instances(instances, receiver, tmp_path):
    env = key_file(tmp_path)
    cluster, services = instances(2, env=env)
    url, target = receiver().url, receiver()
    ended = services[0].submit(url=url, method="POST", body="ended")
    services[0].ended(ended)
    batch(services[0], url, 1500)
    before = contents(cluster.url, env)

    def database(statement):
        return cluster.query(statement, "redial")
    sessions = sorted(database("SELECT id FROM redial.sessions"))
    with Load(services, target.url) as load:
        wait_until(lambda: len(load.calls) > 20, "calls are submitted")
        process = under_way(cluster.url, env, lambda: database(
            "SELECT value FROM redial.settings WHERE name = 'rekey' AND value NOT LIKE '0 %'"))
        busy = run("rekey", "--store", cluster.url, env=env)
        assert busy.returncode == 1 and "Another command" in busy.stderr or process.poll() is not None, busy
        process.kill()
        process.wait(BOUND)
        done = run("rekey", "--store", cluster.url, env=env)
        assert done.returncode == 0, done
        count = len(load.calls)
        wait_until(lambda: len(load.calls) > count + 20 or load.failure, "more are submitted")
    assert load.failure is None
    for identity in load.calls:
        assert services[0].ended(identity)["state"] == "succeeded"
    bodies = sorted(request.body.decode().strip() for request in target.requests)
    assert bodies == sorted(f"load {number}" for number in load.calls.values())
    # Nobody has lost the lease, and nothing is by an old key.
    assert sorted(database("SELECT id FROM redial.sessions")) == sessions
    names, others = numbers(database)
    assert others == 0 and "default@1" not in names and "*@1" not in names, names
    checked = run("doctor", "--store", cluster.url, env=env)
    assert checked.returncode == 0 and "not encrypted" not in checked.stdout, checked
    after = contents(cluster.url, env)
    assert {key: after[key] for key in before} == before


def test_the_keys_of_a_namespace_are_erased_beside_instances(redial, instances, receiver, tmp_path):
    env = key_file(tmp_path)
    url = receiver().url
    cluster, services = instances(2, env=env)
    single = redial(env=env)
    for store, members in ((cluster.url, services), (f"sqlite:{single.store}", [single])):
        old = members[0].submit(url=url, method="POST", body="old")
        members[0].ended(old)
        for service in members:
            assert service("GET", f"/v1/calls/{old}").status == 200
        erased = run("rekey", "--erase-namespace", "default", "--store", store, env=env)
        assert erased.returncode == 0 and "erased 1 data keys" in erased.stdout, erased
        (record,) = members[0]("GET", "/v1/audit?action=dataKeys.erased").json["data"]
        assert (record["actorKind"], record["actor"], record["object"]) == ("command", getpass.getuser(), "default"), record
        for service in members:
            wait_until(lambda: "was erased" in service("GET", f"/v1/calls/{old}").body.decode(), "the key is gone there")
            new = service.submit(url=url, method="POST", body="new")
            assert service.ended(new)["state"] == "succeeded"
            assert service("GET", f"/v1/calls/{new}").status == 200
        refused = run("export", "--calls", "--decrypt", "--store", store, env=env)
        assert refused.returncode == 1 and "was erased with the key of the namespace default" in refused.stderr
        assert all(service("GET", "/readyz").status == 200 for service in members)
        both = [subprocess.Popen([BINARY, "rekey", *more, "--store", store], env=environment(env), stderr=subprocess.PIPE, text=True)
                for more in ([], ["--erase-namespace", "default"])]
        ends = [(process.wait(BOUND), process.stderr.read()) for process in both]
        # On PostgreSQL one of them may have to be started again.
        assert all(code == 0 or "Another command" in error for code, error in ends), ends
        assert run("rekey", "--store", store, env=env).returncode == 0
        assert run("rekey", "--erase-namespace", "nobody", "--store", store, env=env).returncode == 1


def lines(folder, name, *keys):
    """A key file with these lines."""
    path = folder / name
    path.write_text("".join(key + "\n" for key in keys))
    path.chmod(0o600)
    return {"REDIAL_ENCRYPTION_KEY_FILE": str(path)}


def tenant(service, name):
    """The credentials of a namespace."""
    made = service("POST", "/v1/keys", {"name": name, "scopes": ["submit", "read", "operate"], "namespace": name})
    assert made.status == 201, made.body
    return {"authorization": f"Bearer {made.json['key']}"}


def ends(service, url, count, headers):
    """Submits calls to several targets; returns whether each was accepted and has succeeded."""
    answers = [service("POST", "/v1/calls", {"url": url, "target": f"t{number}"}, headers) for number in range(count)]

    def ended(answer):
        call = service("GET", f"/v1/calls/{answer.json['id']}", None, headers)
        return call.status == 200 and call.json["state"] == "succeeded"
    return [answer.status == 202 and bool(wait_until(lambda: ended(answer), "it ends")) for answer in answers]


def test_a_new_key_file_is_read_by_all_before_one_writes_by_it(instances, receiver, tmp_path):
    url, (old, new) = receiver().url, (base64.b64encode(os.urandom(32)).decode() for _ in range(2))
    files = [lines(tmp_path, f"{number}.key", old) for number in range(2)]
    cluster, services = instances(2, each=lambda number: {"env": files[number]})
    admin = services[0]("POST", "/v1/keys", {"name": "admin", "scopes": ["admin"]}).json
    for service in services:
        service.credentials = {"authorization": f"Bearer {admin['key']}"}
    for step, content in enumerate([(old, new), (new, old), (new,)]):
        for number, service in enumerate(services):
            lines(tmp_path, f"{number}.key", *content)
            assert service.terminate() == 0
            service.start()
            # Each makes a data key of its own, and the other one serves it.
            headers = tenant(service, f"space{step}{number}")
            assert all(ends(service, url, 1, headers))
            for asked in services:
                wait_until(lambda: asked("GET", "/v1/calls", None, headers).status == 200, "the key is known there")
                assert all(ends(asked, url, 2, headers)) and all(ends(asked, url, 2, None))
                assert asked("GET", "/readyz").status == 200, (step, number)
    assert not any("keyMissing" in service.log.read_text() for service in services)


def test_an_instance_that_lacks_a_key_leaves_its_calls_to_the_others(instances, receiver, tmp_path):
    url, (old, new) = receiver().url, (base64.b64encode(os.urandom(32)).decode() for _ in range(2))
    cluster, (first,) = instances(1, env=lines(tmp_path, "old.key", old))
    admin = first("POST", "/v1/keys", {"name": "admin", "scopes": ["admin"]}).json
    first.credentials = {"authorization": f"Bearer {admin['key']}"}
    waiting = [first.submit(url=url, target=f"w{number}", delay="1h") for number in range(20)]
    _, (second,) = instances(1, on=cluster, env=lines(tmp_path, "both.key", new, old))
    second.credentials = first.credentials
    assert first("GET", "/readyz").status == 200
    headers = tenant(second, "acme")
    assert all(ends(second, url, 1, headers))
    first.says("keyMissing")
    ready = wait_until(lambda: (answer := first("GET", "/readyz")).status == 503 and answer, "it is not ready")
    assert "key" in ready.body.decode() and second("GET", "/readyz").status == 200
    wait_until(
        lambda: cluster.query("SELECT count(*) FROM redial.leases GROUP BY owner", "redial") == [["64"]],
        "the other one has all shards")
    # It shows what it can read, and takes nothing; the other one serves all.
    assert first.get(waiting[0])["state"] == "scheduled"
    refused = first("POST", "/v1/calls", {"url": url})
    assert (refused.status, refused.json["code"]) == (503, "storageUnavailable"), refused.body
    assert all(ends(second, url, 40, None)) and all(ends(second, url, 20, headers))
    for call in waiting:
        assert second("POST", f"/v1/calls/{call}/retry").status == 200
        assert second.ended(call)["state"] == "succeeded"
    assert first.terminate() == 0
    first.env = first.env | lines(tmp_path, "both.key", new, old)
    first.start()
    wait_until(lambda: first("GET", "/readyz").status == 200, "it is ready")
    assert all(ends(first, url, 2, headers))

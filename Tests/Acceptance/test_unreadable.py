"""Stores of which something cannot be read, because a key is missing or a document is damaged: what starts, and what is said."""

import base64
import contextlib
import json
import os
import pathlib
import re
import sqlite3

import pytest
from standardwebhooks import Webhook

from processes import ROOT, run, wait_until
from test_contract import check
from test_encryption import key_file

LISTS = {
    "credential": "/v1/credentials", "webhookEndpoint": "/v1/webhook-endpoints", "alert": "/v1/alerts", "policy": "/v1/policies",
    "apiKey": "/v1/keys"}
TOKEN = "known-token"


def quoted(url):
    return url.replace(":", "%3A").replace("/", "%2F")


def fill(service, url):
    """Makes two documents of each kind; returns the ids of the first of each, by their kinds, and of the others."""
    firsts, others = {}, {}
    for ids, name in ((firsts, "one"), (others, "two")):
        credential = {"type": "bearer", "token": TOKEN, "origins": [url]}
        assert service("PUT", f"/v1/credentials/{name}", credential).status == 201
        endpoint = service("POST", "/v1/webhook-endpoints", {"url": f"{url}/{name}", "events": ["call.succeeded"]})
        assert endpoint.status == 201, endpoint.body
        assert service("PUT", f"/v1/alerts/{name}", {"to": {"slack": f"{url}/chat"}}).status == 201
        assert service("PUT", f"/v1/policies/{name}", {"maxAttempts": 2}).status == 201
        ids |= {"credential": name, "webhookEndpoint": endpoint.json["id"], "alert": name, "policy": name}
    return firsts, others


def listed(service, kind):
    answer = service("GET", LISTS[kind])
    check(answer, "get", LISTS[kind])
    assert answer.status == 200, answer.body
    return [item.get("id", item.get("name")) for item in answer.json["data"]], answer.json.get("unreadable", [])


def doctor(store, env=None):
    checked = run("doctor", "--store", store, env=env)
    return checked.returncode, checked.stdout + checked.stderr


class Documents:
    """The tables of a store, of either kind, whose services are stopped."""

    def __init__(self, service, cluster=None):
        self.cluster, self.file = cluster, service.store

    def change(self, table, where, column, value):
        """Sets a column by an expression over its bytes."""
        if self.cluster:
            found = self.cluster.query(f"SELECT encode({column}, 'hex') FROM redial.{table} WHERE {where}", "redial")
            ((old,),) = found
            new = value(bytes.fromhex(old)).hex()
            self.cluster.query(f"UPDATE redial.{table} SET {column} = '\\x{new}' WHERE {where}", "redial")
            return
        with contextlib.closing(sqlite3.connect(self.file)) as database, database:
            ((old,),) = database.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchall()
            database.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value(bytes(old)),))


def flipped(place):
    def flip(content):
        changed = bytearray(content)
        changed[place] ^= 1
        return bytes(changed)
    return flip


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_damaged_document_is_set_aside_and_told_and_hides_nothing_else(redial, instances, receiver, tmp_path, kind, place):
    target, other, cluster = receiver(), receiver(), None
    env = key_file(tmp_path) if kind == "postgresql" else None
    if kind == "postgresql":
        cluster, (service,) = instances(1, env=env)
    else:
        service = redial()
    store = cluster.url if cluster else f"sqlite:{service.store}"
    admin = service("POST", "/v1/keys", {"name": "admin", "scopes": ["admin"]}).json
    service.credentials = {"authorization": f"Bearer {admin['key']}"}
    firsts, others = fill(service, target.url)
    lost, kept = [service("POST", "/v1/keys", {"name": name, "scopes": ["submit"], "namespace": "acme"}).json for name in "ab"]
    firsts["apiKey"], others["apiKey"] = lost["id"], kept["id"]
    held = service.submit(url=f"{target.url}/held", credential="one", delay="1h")
    away = service.submit(url=other.url, delay="1h")
    for url in (target.url, other.url):
        assert service("PUT", f"/v1/targets/{quoted(url)}", {"maxInFlight": 3}).status == 200
    assert service.terminate() == 0
    documents = Documents(service, cluster)
    ids = {name: identity for name, identity in firsts.items()}
    ids |= {"credential": "default/one", "alert": "default/one", "policy": "one@1"}
    for name, identity in ids.items():
        documents.change("documents", f"kind = '{name}' AND id = '{identity}'", "content", flipped(place))
    documents.change("targets", f"key = '{other.url}'", "record", flipped(place))
    service.start()
    for name in ids:
        service.says(f"documentDamaged kind={name} id={ids[name]}")
        found, unreadable = listed(service, name)
        assert others[name] in found and firsts[name] not in found and unreadable == [firsts[name]], (name, found, unreadable)
    service.says(f"targetDamaged target={other.url}")
    code, told = doctor(store, env)
    assert code != 0 and all(identity in told for identity in [*ids.values(), other.url]), told
    # Who is another tenant sees nothing of it, and is served.
    tenant = {"authorization": f"Bearer {kept['key']}"}
    assert service("GET", "/v1/calls", headers={"authorization": f"Bearer {lost['key']}"}).status == 401
    assert service("POST", "/v1/calls", {"url": target.url}, tenant).status == 202
    # What needs it waits; all else goes on.
    assert service("POST", f"/v1/calls/{held}/retry").status == 200
    assert service("POST", f"/v1/calls/{away}/retry").status == 200

    def tried():
        return [a for a in service("GET", f"/v1/calls/{held}/attempts").json["data"] if a.get("error")]
    error = wait_until(tried, "it was tried")[0]["error"]
    assert error["code"] == "credentialUnavailable" and "cannot be read" in error["message"], error
    assert service.ended(service.submit(url=target.url, credential="two", policy="two"))["state"] == "succeeded"
    refused = service("POST", "/v1/calls", {"url": target.url, "policy": "one"})
    assert refused.status == 422, refused.body
    # It is tried again, so that it may be running.
    assert service.get(held)["finishedAt"] is None and service.get(away)["state"] == "scheduled" and not other.requests
    assert service.target(other.url)["paused"] is True
    # It is set again, or removed.
    credential = {"type": "bearer", "token": TOKEN, "origins": [target.url]}
    assert service("PUT", "/v1/credentials/one", credential).status in (200, 201)
    assert service("PUT", "/v1/policies/one", {"maxAttempts": 4}).status == 201
    for name in ("webhookEndpoint", "alert", "apiKey"):
        answer = service("DELETE", f"{LISTS[name]}/{firsts[name]}")
        check(answer, "delete", LISTS[name] + ("/{name}" if name == "alert" else "/{id}"))
        assert answer.status == 204, (name, answer.body)
    # Nobody knows what it was, but who has removed it.
    recorded = [(record["action"], record["object"]) for record in service("GET", "/v1/audit").json["data"]]
    for action, name in (("endpoint.removed", "webhookEndpoint"), ("alert.removed", "alert"), ("key.revoked", "apiKey")):
        assert recorded.count((action, firsts[name])) == 1, (action, recorded)
    assert service("PUT", f"/v1/targets/{quoted(other.url)}", {"maxInFlight": 3}).status == 200
    assert service("POST", f"/v1/targets/{quoted(other.url)}/resume").status == 200
    for call in (held, away):
        service("POST", f"/v1/calls/{call}/retry")
        assert service.ended(call)["state"] == "succeeded"
    assert all(listed(service, name)[1] == [] for name in ids)
    assert service.terminate() == 0
    code, told = doctor(store, env)
    assert code == 0, told


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_damaged_data_key_costs_what_it_has_encrypted_and_nothing_else(redial, instances, receiver, tmp_path, kind):
    target, env, cluster = receiver(), key_file(tmp_path), None
    if kind == "postgresql":
        cluster, (service,) = instances(1, env=env)
    else:
        service = redial(env=env)
    store = cluster.url if cluster else f"sqlite:{service.store}"

    def submit(namespace, **more):
        answer = service("POST", "/v1/calls", {"url": target.url} | more, {"redial-namespace": namespace})
        assert answer.status == 202, answer.body
        return answer.json["id"]

    def state(call, namespace):
        answer = service("GET", f"/v1/calls/{call}", headers={"redial-namespace": namespace})
        return answer.json["state" if answer.status == 200 else "code"]
    calls = {namespace: submit(namespace, delay="1h") for namespace in ("default", "lost", "kept", "lost2")}
    assert service.terminate() == 0
    for namespace in ("lost", "lost2"):
        Documents(service, cluster).change("documents", f"kind = 'dataKey' AND id = '{namespace}@1'", "content", flipped(-5))
    for _ in range(2):
        service.start()
        for namespace in ("lost", "lost2"):
            service.says(f"documentDamaged kind=dataKey id={namespace}@1")
        assert [state(call, namespace) for namespace, call in calls.items()] == ["scheduled", "callDamaged", "scheduled", "callDamaged"]
        # What is new gets another key; a new namespace its own.
        for namespace in ("lost", "new"):
            call = submit(namespace)
            wait_until(lambda: state(call, namespace) == "succeeded", "it has ended")
        assert service.terminate() == 0
    code, told = doctor(store, env)
    assert code != 0 and calls["lost"] in told and calls["kept"] not in told, told
    if kind == "sqlite":
        done = run("salvage", service.store, tmp_path / "salvaged.db", env=env)
        # All but the two that they encrypted.
        assert "wrote 6 calls" in done.stdout, done
    # New keys are made beside it, and the state of each call is as before.
    done = run("rekey", "--store", store, env=env)
    assert done.returncode == 0, done
    service.start()
    assert [state(call, namespace) for namespace, call in calls.items()] == ["scheduled", "callDamaged", "scheduled", "callDamaged"]
    assert service.terminate() == 0
    erased = run("rekey", "--erase-namespace", "lost", "--store", store, env=env)
    assert erased.returncode == 0, erased
    service.start()
    assert service("POST", f"/v1/calls/{calls['kept']}/retry", headers={"redial-namespace": "kept"}).status == 200
    wait_until(lambda: state(calls["kept"], "kept") == "succeeded", "it has ended")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_credential_in_clear_text_is_refused_where_a_key_is_set(redial, instances, receiver, tmp_path, kind):
    target, cluster, env = receiver(), None, key_file(tmp_path)
    if kind == "postgresql":
        cluster, (service,) = instances(1, env=env)
    else:
        service = redial(env=env)
    credential = {"type": "bearer", "token": TOKEN, "origins": [target.url]}
    for name in ("one", "two"):
        assert service("PUT", f"/v1/credentials/{name}", credential).status == 201
    assert service.terminate() == 0
    plain = json.dumps({
        "name": "one", "createdAt": 1_795_863_679_755_822, "changedAt": 1_795_863_679_755_822,
        "content": {"type": "bearer", "token": "of-somebody-else"}, "origins": [target.url]}).encode()
    Documents(service, cluster).change("documents", "kind = 'credential' AND id = 'default/one'", "content", lambda _: plain)
    for _ in range(2):
        service.start()
        service.says("documentDamaged kind=credential id=default/one")
        assert listed(service, "credential") == (["two"], ["one"])
        code, told = doctor(cluster.url if cluster else f"sqlite:{service.store}", env)
        assert code != 0 and "default/one" in told and "not encrypted" in told, told
        assert service.terminate() == 0
    assert not any("of-somebody-else" in str(request.headers) for request in target.requests)


@pytest.mark.parametrize("is_new", [False, True], ids=["missing", "another"])
def test_without_its_key_file_calls_with_a_secret_of_their_own_wait_for_it(redial, receiver, is_new):
    service, target = redial(), receiver()

    def submit(**more):
        return service.submit(url=target.url, delay="1h", **more)
    sign = {"type": "github", "secret": "the-secret-of-this-call"}
    plain, signed = [submit() for _ in range(3)], [submit(sign=sign) for _ in range(3)]
    assert service.terminate() == 0
    key = pathlib.Path(f"{service.store}.key")
    lost = key.read_text()
    key.unlink()
    if is_new:
        key.touch(mode=0o600)
        key.write_text(base64.b64encode(os.urandom(32)).decode())
    for _ in range(2):
        service.start()
        service.says("keyMissing")
        for call in signed:
            answer = service("GET", f"/v1/calls/{call}")
            assert answer.json["code"] == "callDamaged" and "needs the key" in answer.json["detail"], answer.body
        assert [service.get(call)["state"] for call in plain] == 3 * ["scheduled"]
        signed_now = service.submit(url=target.url, sign=sign)
        assert service.ended(signed_now)["state"] == "succeeded"
        assert service.terminate() == 0
    code, told = doctor(f"sqlite:{service.store}", None)
    assert code != 0 and all(call in told for call in signed) and not any(call in told for call in plain), told
    done = run("backup", "--with-key", "--store", f"sqlite:{service.store}", f"{service.store}.copy")
    assert done.returncode == 0 and "wrote the key file" in done.stdout, done
    key.rename(f"{key}.away")
    done = run("backup", "--with-key", "--store", f"sqlite:{service.store}", f"{service.store}.copy2")
    assert done.returncode == 0 and "cannot be read until it is found" in done.stdout, done
    pathlib.Path(f"{key}.away").rename(key)
    # It is back with its key.
    key.write_text(key.read_text().strip() + "\n" + lost)
    service.start()
    for call in plain + signed:
        assert service("POST", f"/v1/calls/{call}/retry").status == 200
        assert service.ended(call)["state"] == "succeeded"
    assert len([request for request in target.requests if "x-hub-signature-256" in request.headers]) == 5


@pytest.mark.parametrize("other", [False, True], ids=["missing", "another"])
def test_without_its_key_file_a_store_loses_secrets_and_no_call(redial, receiver, tmp_path, other):
    target, hook, signed = receiver(), receiver(), receiver()
    service = redial()
    store = f"sqlite:{service.store}"
    secret = service("GET", "/v1/webhook-secret").json["secret"]
    firsts, _ = fill(service, target.url)
    sign = {"sign": {"type": "github", "secret": TOKEN}}
    assert service("PUT", f"/v1/targets/{quoted(signed.url)}", sign).status == 200
    done = service.submit(url=target.url, method="POST", body="a body")
    assert service.ended(done)["state"] == "succeeded"
    plain, needing, paused = [
        service.submit(**call, delay="1h") for call in (
            {"url": target.url, "callback": {"url": hook.url}}, {"url": target.url, "credential": "one"}, {"url": signed.url})]
    assert service.terminate() == 0
    key = pathlib.Path(f"{service.store}.key")
    lost = key.read_text()
    key.unlink()
    if other:
        key.write_text(pathlib.Path(key_file(tmp_path)["REDIAL_ENCRYPTION_KEY_FILE"]).read_text())
        key.chmod(0o600)
    for event in ("keyMissing", "webhookSecretMade", "targetDamaged"):
        assert event not in service.log.read_text()
    service.start()
    for told in ("keyMissing", "webhookSecretMade", f"targetDamaged target={signed.url}", "documentDamaged kind=credential id=default/one"):
        service.says(told)
    code, told = doctor(store)
    assert code != 0 and "which is missing" in told, told
    for named in ("default/one", firsts["webhookEndpoint"], signed.url):
        assert named in told, told
    assert service.get(done)["state"] == "succeeded"
    for name in ("credential", "webhookEndpoint", "alert"):
        assert firsts[name] in listed(service, name)[1], name
    assert listed(service, "policy") == (["one", "two"], [])
    for call in (plain, needing, paused):
        assert service("POST", f"/v1/calls/{call}/retry").status == 200
    assert service.ended(plain)["state"] == "succeeded"
    new = service("GET", "/v1/webhook-secret").json["secret"]
    request = hook.next()
    Webhook(new).verify(request.body, dict(request.headers.items()))
    assert new != secret

    def tried():
        return [a for a in service("GET", f"/v1/calls/{needing}/attempts").json["data"] if a.get("error")]
    assert wait_until(tried, "it was tried")[0]["error"]["code"] == "credentialUnavailable"
    assert service.get(needing)["state"] == service.get(paused)["state"] == "scheduled" and not signed.requests
    # It starts again so, and what was made since is readable.
    credential = {"type": "bearer", "token": TOKEN, "origins": [target.url]}
    assert service("PUT", "/v1/credentials/two", credential).status == 201
    service.kill()
    service.start()
    assert listed(service, "credential") == (["two"], ["one"])
    assert service("GET", "/v1/webhook-secret").json["secret"] == new
    # New data keys do not take away what waits for the old one.
    assert run("rekey", "--store", store).returncode == 0
    # The key file is found: both keys are in it.
    assert service.terminate() == 0
    key.write_text(key.read_text() + lost)
    service.start()
    assert listed(service, "credential") == (["one", "two"], [])
    assert firsts["webhookEndpoint"] in listed(service, "webhookEndpoint")[0]
    for call, url in ((needing, target.url), (paused, signed.url)):
        assert service.target(url) is None or not service.target(url)["paused"]
        service("POST", f"/v1/calls/{call}/retry")
        assert service.ended(call)["state"] == "succeeded"
    assert signed.next().headers["x-hub-signature-256"]
    made = [r for r in target.requests if r.headers.get("authorization")]
    assert made and all(r.headers["authorization"] == f"Bearer {TOKEN}" for r in made)


def test_encrypted_payloads_need_their_key_and_salvage_keeps_the_rest(redial, receiver, tmp_path):
    target, env = receiver(), key_file(tmp_path)
    service = redial()
    store = f"sqlite:{service.store}"
    before = service.submit(url=target.url, method="POST", body="in clear text")
    service.ended(before)
    assert service.terminate() == 0
    service.env = (service.env or {}) | env
    service.start()
    sealed = service.submit(url=target.url, method="POST", body="a secret", delay="1h")
    assert service.terminate() == 0
    files = {path: path.read_bytes() for path in service.store.parent.glob("redial.db*") if path.suffix in (".db", ".db-wal")}
    for missing in ({"REDIAL_ENCRYPTION_KEY_FILE": ""}, key_file(tmp_path, "another.key")):
        refused = run("serve", "--listen", "127.0.0.1:0", "--store", store, env=missing)
        assert refused.returncode != 0 and "redial salvage --without-key" in refused.stderr, refused
        assert "Nothing was changed" in refused.stderr
        assert all(path.read_bytes() == content for path, content in files.items())
    another = key_file(tmp_path, "another.key")
    new = tmp_path / "new.db"
    assert run("salvage", service.store, new, env=another).returncode == 1 and not new.exists()
    salvaged = run("salvage", "--without-key", service.store, new, env=another)
    assert salvaged.returncode == 1 and sealed in salvaged.stderr and before not in salvaged.stderr, salvaged
    exported = run("export", "--calls", "--decrypt", "--store", f"sqlite:{new}", env=another)
    assert before in exported.stdout and sealed not in exported.stdout


@pytest.mark.parametrize("kind", ["beside", "named", "postgresql"])
def test_a_backup_takes_the_key_along_or_says_that_it_left_it_out(redial, instances, receiver, tmp_path, kind):
    env, cluster = None if kind == "beside" else key_file(tmp_path), None
    if kind == "postgresql":
        cluster, (service,) = instances(1, env=env)
    else:
        service = redial(env=env)
    store = cluster.url if cluster else f"sqlite:{service.store}"
    file = pathlib.Path(f"{service.store}.key" if kind == "beside" else env["REDIAL_ENCRYPTION_KEY_FILE"])
    credential = {"type": "bearer", "token": TOKEN, "origins": [receiver().url]}
    assert service("PUT", "/v1/credentials/one", credential).status == 201
    (tmp_path / "copies").mkdir()
    copy = tmp_path / "copies" / "redial.db"
    made = run("backup", copy, "--store", store, env=env)
    assert made.returncode == 0 and f"left out the key file {file}" in made.stdout, made
    assert not pathlib.Path(f"{copy}.key").exists()
    copy.unlink()
    made = run("backup", "--with-key", copy, "--store", store, env=env)
    taken = pathlib.Path(f"{copy}.key")
    assert made.returncode == 0 and taken.read_text() == file.read_text() and taken.stat().st_mode & 0o777 == 0o600, made
    copy.unlink()
    again = run("backup", "--with-key", copy, "--store", store, env=env)
    assert again.returncode != 0 and "not overwritten" in again.stderr and not copy.exists(), again
    if kind == "beside":
        taken.unlink()
        assert run("backup", "--with-key", copy, "--store", store).returncode == 0
        restored = redial(folder=tmp_path / "copies")
        assert listed(restored, "credential") == (["one"], []) and "keyMissing" not in restored.log.read_text()


def rows():
    """The rows of the table of the page, each a list of cells."""
    page = (ROOT / "docs/encryption.md").read_text()
    table = page.split("| the store comes back with", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("number", range(8))
def test_the_page_says_what_starts_and_what_is_said(redial, receiver, tmp_path, number):
    assert len(rows()) == 8
    what, starts, said = rows()[number]
    env = key_file(tmp_path) if "encryptionKeyFile" in what else None
    service = redial(env=env)
    url = receiver().url
    fill(service, url)
    call = service.submit(url=url, delay="1h")
    assert service("PUT", f"/v1/targets/{quoted(url)}", {"maxInFlight": 3}).status == 200
    assert service.terminate() == 0
    key = pathlib.Path(f"{service.store}.key")
    documents = Documents(service)
    if "without its key file" in what:
        key.unlink()
    elif "another key file beside it" in what:
        key.write_text(pathlib.Path(key_file(tmp_path, "b")["REDIAL_ENCRYPTION_KEY_FILE"]).read_text())
    elif "empty or cut" in what:
        key.write_text(key.read_text()[:20])
    elif "names another key" in what:
        service.env = service.env | key_file(tmp_path, "b")
    elif "is not set" in what:
        service.env = service.env | {"REDIAL_ENCRYPTION_KEY_FILE": ""}
    elif "damaged document" in what:
        documents.change("documents", "kind = 'credential' AND id = 'default/one'", "content", flipped(-1))
    elif "damaged data key" in what:
        documents.change("documents", "kind = 'dataKey'", "content", flipped(-5))
    else:
        assert "damaged settings of a target" in what
        documents.change("targets", f"key = '{url}'", "record", flipped(0))
    words = re.findall(r"`([^`]+)`", said)
    assert words
    if starts.startswith("The service starts"):
        service.start()
        assert service.get(call)["state"] == "scheduled"
        for word in words:
            service.says(word)
    else:
        assert starts.startswith("The service does not start"), starts
        refused = run("serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{service.store}", env={
            name: value for name, value in (service.env or {}).items() if name.startswith("REDIAL_")})
        assert refused.returncode != 0 and all(word in refused.stderr for word in words), refused
    if "move it away" in starts:
        key.write_text("")
        assert "it is empty" in run("serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{service.store}").stderr
        key.rename(key.with_suffix(".away"))
        service.start()
        assert service.get(call)["state"] == "scheduled"

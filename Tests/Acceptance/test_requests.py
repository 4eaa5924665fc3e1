"""A sent request is shown to clients with the scope, and replayed with changes."""

import json
import sqlite3
import subprocess

import pytest

from processes import run
from test_contract import check
from test_keys import bearer, locked, make

CALL = "/v1/calls/{id}"


def shown(service, identity, query="", headers=None):
    answer = service("GET", f"/v1/calls/{identity}?include=request{query}", headers=headers)
    assert answer.status == 200, answer.body
    return check(answer, "get", CALL)["request"]


def test_the_request_is_shown_redacted_and_only_when_it_is_asked_for(redial, receiver):
    target, service = receiver(), redial()
    identity = service.submit(
        url=f"{target.url}/charges?token=s3cret&page=2", method="PUT", body="zwölf €",
        headers={"Authorization": "Bearer catfish", "X-Tag": ["a", "b"], "x-private": "tuna"},
        capture={"redactHeaders": ["x-private"]})
    service.ended(identity)
    service.kill()
    service.start()
    assert "request" not in service.get(identity)
    assert shown(service, identity) == {
        "method": "PUT", "url": f"{target.url}/charges?token=REDACTED&page=2",
        "headers": {"Authorization": ["REDACTED"], "X-Tag": ["a", "b"], "x-private": ["REDACTED"]},
        "body": "zwölf €", "encoding": "utf8", "size": 10, "truncated": False, "erasedAt": None, "withheld": None}
    assert shown(service, identity, "&wait=5s")["size"] == 10
    assert service("GET", f"/v1/calls/{identity}?include=body").status == 400
    binary = service.submit(url=target.url, bodyBase64="//4A", delay="1h")
    assert [shown(service, binary)[k] for k in ("body", "encoding", "size")] == ["//4A", "base64", 3]
    plain = service.submit(url=target.url, delay="1h")
    assert [shown(service, plain)[k] for k in ("method", "headers", "body", "size")] == ["GET", {}, "", 0]
    erased = service("DELETE", f"/v1/calls/{identity}/content").json["contentErasedAt"]
    assert shown(service, identity) == {
        "method": "PUT", "url": f"{target.url}/charges", "headers": {}, "body": None, "encoding": None, "size": None,
        "truncated": False, "erasedAt": erased, "withheld": None}


@pytest.mark.parametrize("length", [20_000, 1_500_000])
def test_a_large_body_is_read_from_the_store_and_cut_off_with_a_flag(redial, receiver, length):
    target, service = receiver(), redial("--max-body-bytes", "4000000")
    identity = service.submit(url=target.url, body="xyzé" * (length // 5), delay="1h")
    request = shown(service, identity)
    assert request["size"] == length and request["encoding"] == "utf8"
    assert request["truncated"] == (length > 1 << 20)
    assert ("xyzé" * length).startswith(request["body"]) and len(request["body"].encode()) >= min(length, (1 << 20) - 3)


def test_the_request_takes_the_scope_payloads(redial, receiver):
    target, service = receiver(), redial()
    locked(service)
    identity = service.submit(url=target.url, body="x", delay="1h")
    reader = bearer(make(service, "read")["key"])
    refused = service("GET", f"/v1/calls/{identity}?include=request", headers=reader)
    assert refused.status == 403 and "payloads" in refused.json["detail"]
    assert 'scope="payloads"' in refused.headers["www-authenticate"]
    assert service("GET", f"/v1/calls/{identity}", headers=reader).status == 200
    both = bearer(make(service, "read", "payloads")["key"])
    assert shown(service, identity, headers=both)["body"] == "x"
    alone = bearer(make(service, "payloads")["key"])
    assert service("GET", f"/v1/calls/{identity}?include=request", headers=alone).status == 403


def test_the_command_writes_a_request_as_a_curl_command_that_a_shell_takes_as_it_is(redial, receiver):
    target, service = receiver(), redial()
    nasty = "@it's $(touch /tmp/no) `x` \\ \"q\"\nsecond\t{}[1-3]"
    identity = service.submit(
        url=f"{target.url}/a[1-2]?q={{x}}&b=$HOME", method="PATCH", body=nasty,
        headers={"x-q": "it's $(id)", "x-empty": "", "content-type": "text/plain"})
    service.ended(identity)
    sent = target.next()
    command = run("get", identity, "--curl", "--server", service.url)
    assert command.returncode == 0 and command.stderr == ""
    subprocess.run(["sh", "-c", command.stdout], check=True, capture_output=True, timeout=60)
    again = target.next()
    assert (again.method, again.path, again.body) == (sent.method, sent.path, sent.body) == (
        "PATCH", "/a[1-2]?q={x}&b=$HOME", nasty.encode())
    for name in ("x-q", "x-empty", "content-type"):
        assert again.headers[name] == sent.headers[name], name
    binary = service.submit(url=target.url, bodyBase64="AP/+Cg==", headers={"cookie": "a=b"})
    service.ended(binary)
    target.next()
    command = run("get", binary, "--curl", "--server", service.url)
    assert "cookie" in command.stderr
    subprocess.run(["sh", "-c", command.stdout], check=True, capture_output=True, timeout=60)
    assert target.next().body == b"\x00\xff\xfe\n"
    text = run("get", identity, "--request", "--url", service.url).stdout
    assert "x-q: it's $(id)" in text and "second" in text


REPLAY = "/v1/calls/{id}/replay"


def replay(service, identity, changes=None, status=202, headers=None, query=""):
    answer = service("POST", f"/v1/calls/{identity}/replay{query}", changes, headers)
    assert answer.status == status, answer.body
    return check(answer, "post", REPLAY)


def test_a_replay_is_a_new_call_that_names_the_old_and_has_its_content(redial, receiver):
    target, service = receiver(), redial()
    assert service("PUT", "/v1/policies/patient", {"maxAttempts": 7}).status == 201
    identity = service.submit(
        url=f"{target.url}/charge?token=s3cret", json={"amount": 1}, headers={"authorization": "Bearer catfish"},
        policy="patient", labels={"team": "a"}, priority=7, redirects={"max": 2})
    original = service.ended(identity)
    sent = target.next()
    again = service.ended(replay(service, identity)["id"])
    assert again["id"] != identity and again["replayOf"] == identity and "replayOf" not in original
    for name in ("url", "method", "target", "policy", "labels", "redirects", "maxAttempts"):
        assert again[name] == original[name], name
    got = target.next()
    assert (got.method, got.path, got.body) == (sent.method, sent.path, sent.body)
    assert got.headers["authorization"] == "Bearer catfish" and got.headers["idempotency-key"] == again["id"]
    assert got.headers["idempotency-key"] != sent.headers["idempotency-key"]
    # It is there after a restart, in lists, in the archive and after an import.
    service.kill()
    service.start()
    assert [c.get("replayOf") for c in service("GET", "/v1/calls").json["data"]] == [identity, None]
    service.terminate()
    copy = service.store.parent / "copy.db"
    archive = service.store.parent / "archive.jsonl"
    assert run("export", "--store", f"sqlite:{service.store}", "--output", archive).returncode == 0
    assert run("import", "--store", f"sqlite:{copy}", archive).returncode == 0
    with sqlite3.connect(copy) as file:
        specs = [json.loads(row[0]) for row in file.execute("SELECT spec FROM requests ORDER BY id")]
    assert [s.get("replayOf") for s in specs] == [None, identity]


def test_a_replay_has_its_changes_and_everything_else_as_it_was(redial, receiver):
    target, other, service = receiver(), receiver(), redial()
    identity = service.submit(
        url=f"{target.url}/a", body="old", headers={"x-a": "1"}, labels={"team": "a"}, orderingKey="k",
        callback={"url": f"{target.url}/hook"})
    service.ended(identity)
    # The target comes from the URL, as before; the callback is removed.
    call = service.ended(replay(service, identity, {"url": f"{other.url}/b", "callback": None})["id"])
    assert call["target"] == other.url and call["labels"] == {"team": "a"}
    got = other.next()
    assert (got.method, got.path, got.body, got.headers["x-a"]) == ("POST", "/b", b"old", "1")
    call = service.ended(replay(service, identity, {
        "method": "PUT", "json": {"n": 2}, "headers": {"x-b": "2"}, "policy": {"maxAttempts": 3}, "target": "billing",
        "labels": {"team": "b"}, "url": other.url})["id"])
    assert (call["target"], call["labels"], call["maxAttempts"]) == ("billing", {"team": "b"}, 3)
    got = other.next()
    assert (got.method, got.body, got.headers["x-b"], got.headers["x-a"]) == ("PUT", b'{"n": 2}', "2", None)
    empty = service.ended(replay(service, identity, {"body": None, "url": other.url, "callback": None})["id"])
    assert other.next().body == b"" and empty["state"] == "succeeded"
    later = replay(service, identity, {"delay": "1h"})
    assert later["state"] == "scheduled" and later["waitingOn"] in ("startTime", "ordering")
    # The original may be in flight; a large body arrives whole.
    large = service.submit(url=other.url, body="x" * 300_000, delay="1h")
    service.ended(replay(service, large)["id"])
    assert other.next().body == b"x" * 300_000
    plan = replay(service, identity, {"labels": {"c": "d"}}, 200, query="?dryRun=true")
    assert plan["call"]["url"] == f"{target.url}/a" and plan["call"]["labels"] == {"c": "d"}
    waited = replay(service, large, status=200, headers={"prefer": "wait=50"})
    assert waited["state"] == "succeeded"


def test_a_replay_is_warned_of_what_a_submission_is(redial):
    service = redial()
    policy = {"maxAttempts": 50, "backoff": {"strategy": "constant", "initial": "1s", "jitter": "none"}}
    first = service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/", "delay": "1h", "policy": policy}).json
    assert first["warnings"]
    assert replay(service, first["id"], {"delay": "1h"})["warnings"] == first["warnings"]


def test_a_replay_is_checked_as_a_submission_is(redial, receiver):
    target, service = receiver(), redial("--max-body-bytes", "1000")
    identity = service.submit(url=target.url, body="b", headers={"authorization": "x"})
    service.ended(identity)
    for changes, pointer in (
            ({"polcy": {}}, "/polcy"), ({"url": "ftp://x"}, "/url"), ({"url": None}, "/url"), ({"policyName": "x"}, "/policyName"),
            ({"replayOf": identity}, "/replayOf"), ({"body": "a", "json": 1}, "/json"), ({"method": "HEAD"}, "/method"),
            ({"policy": "unknown"}, "/policy"), ({"policy": {"maxAttempts": 0}}, "/policy/maxAttempts"), ([], ""),
            # Hidden fields are not sent to another origin.
            ({"url": "http://localhost:1/"}, "/headers")):
        assert replay(service, identity, changes, 422)["errors"][0]["pointer"] == pointer, changes
    assert replay(service, identity, {"body": "x" * 1001}, 413)["code"] == "bodyTooLarge"
    replay(service, identity, {"url": "http://localhost:1/", "headers": {}, "delay": "1h"})
    key = {"idempotency-key": "once"}
    first = replay(service, identity, {"delay": "1h"}, headers=key)["id"]
    assert replay(service, identity, {"delay": "1h"}, headers=key)["id"] == first
    assert replay(service, identity, {"delay": "2h"}, 422, key)["code"] == "idempotencyKeyReused"
    assert replay(service, first, {"delay": "1h"}, 422, key)["code"] == "idempotencyKeyReused"
    assert replay(service, "call_0000000000000", status=404)["code"] == "callNotFound"
    assert replay(service, identity, status=404, headers={"redial-namespace": "acme"})["code"] == "callNotFound"
    service("DELETE", f"/v1/calls/{identity}/content")
    assert replay(service, identity, status=409)["code"] == "contentErased"
    hooked = service.submit(url=target.url, callback={"url": target.url})
    service.ended(hooked)
    webhook = service("GET", "/v1/calls?kind=webhook").json["data"][0]["id"]
    assert replay(service, webhook, status=409)["code"] == "notReplayable"


def test_a_replay_obeys_the_egress_policy_of_today(redial, receiver):
    target, service = receiver(), redial()
    identity = service.submit(url=target.url, delay="1h")
    service.terminate()
    service.arguments += ["--egress-deny", "127.0.0.0/8"]
    service.start()
    assert replay(service, identity, status=422)["errors"][0]["pointer"] == "/url"


def test_a_replay_takes_the_scope_operate_and_payloads_if_it_could_reveal_the_original(redial, receiver):
    target, service = receiver(), redial()
    locked(service)
    identity = service.submit(url=target.url, body="x", delay="1h")
    # A client that may only submit cannot have another client's request sent again, with its credentials.
    submitter = bearer(make(service, "submit", "payloads")["key"])
    for changes in (None, {"delay": "1h"}, {"body": "y"}):
        assert "operate" in replay(service, identity, changes, 403, submitter)["detail"]
    operator = bearer(make(service, "submit", "operate")["key"])
    assert replay(service, identity, {"delay": "1h", "labels": {"a": "b"}}, headers=operator)["replayOf"] == identity
    for changes in ({"url": target.url}, {"method": "PUT"}, {"headers": {}}, {"body": "y"}, {"json": 1},
                    {"bodyBase64": ""}, {"capture": {"redactHeaders": []}}, {"callback": {"url": target.url}},
                    {"redirects": {"max": 1}}):
        assert "payloads" in replay(service, identity, changes, 403, operator)["detail"]
    assert "payloads" in replay(service, identity, None, 403, operator, "?dryRun=true")["detail"]
    every = bearer(make(service, "submit", "operate", "payloads")["key"])
    assert replay(service, identity, {"body": "y", "delay": "1h"}, headers=every)["replayOf"] == identity
    assert "submit" in replay(service, identity, None, 403, bearer(make(service, "operate", "payloads")["key"]))["detail"]


def test_the_command_replays_with_changes(redial, receiver):
    target, other, service = receiver(), receiver(), redial()
    identity = service.submit(url=target.url, body="old", labels={"a": "b"})
    service.ended(identity)
    target.next()
    done = run("replay", identity, "--url", service.url, "--to", f"{other.url}/x", "-d", "new", "--label", "c=d")
    assert done.returncode == 0 and "succeeded" in done.stdout, done.stderr
    got = other.next()
    assert (got.path, got.body) == ("/x", b"new")
    accepted = run("replay", identity, "--url", service.url, "--delay", "1h", "--no-wait").stdout.strip()
    assert service.get(accepted)["replayOf"] == identity
    assert f"repeats {identity}" in run("get", accepted, "--url", service.url).stdout
    assert run("replay", "nonsense", "--url", service.url).returncode == 2

"""Sensitive calls: nobody sees their payloads, and these are erased when they end, on both stores."""

import contextlib
import json
import pathlib
import re
import sqlite3
from urllib.parse import quote

import pytest
import yaml

from databases import plain_endpoint
from processes import Constants, run, wait_until
from test_events import Stream
from test_traces import spans

QUICK = {"maxAttempts": 2, "backoff": {"strategy": "constant", "initial": "20ms", "jitter": "none"},
         "retryOn": {"statuses": ["500"]}}
# Each is found in one place only.
SECRETS = [f"{word}-4711" for word in ("swordfish", "catfish", "dogfish", "clownfish", "pilotfish", "lionfish")]
QUERY, FIELD, BODY, REPLY, REPLY_FIELD, REASON = SECRETS


def sensitive(target, **more):
    return {"url": f"{target.url}/pay?who={QUERY}", "headers": {"x-mine": FIELD}, "json": {"card": BODY},
            "policy": QUICK, "sensitive": True, **more}


def failing(receiver):
    reply = json.dumps({"error": {"message": f"{REASON} was refused"}, "echo": REPLY}).encode()
    return receiver(lambda request: (500, {"x-reply": REPLY_FIELD, "content-type": "application/json"}, reply))


def found(text):
    text = text if isinstance(text, bytes) else str(text).encode()
    return [secret for secret in SECRETS if secret.encode() in text]


def everything(service, identity):
    """What all paths that show something answer."""
    contract = yaml.safe_load((pathlib.Path(__file__).parents[2] / "api/openapi.yaml").read_text())
    call, endpoint = service.get(identity), service("GET", "/v1/webhook-endpoints").json["data"][0]["id"]
    ids = {"calls": identity, "issues": call["issue"], "webhook-endpoints": endpoint}
    for path, item in contract["paths"].items():
        # An event stream has no end, and is read apart; the other one submits a call.
        if "get" not in item or path in ("/v1/events", "/v1/forward/{url}"):
            continue
        kind = (path + "///").split("/")[2]
        path = path.replace("{key}", quote(call["target"], safe="")).replace("{id}", ids.get(kind, "none"))
        for query in "", "?include=request", "?include=body":
            answer = service("GET", path + query)
            assert answer.status < 500, (path, answer.body)
            yield path + query, answer.body


def of_store(service, cluster):
    """All that the store has, after the service has ended."""
    if cluster:
        # The dump has bytes in hexadecimal form.
        dump = cluster.run("pg_dump", "--data-only", "-h", cluster.folder, "-U", "postgres", "redial").stdout
        return dump + "".join(bytes.fromhex(word).decode(errors="replace") for word in re.findall(r"\\\\x((?:[0-9a-f]{2})+)", dump))
    with contextlib.closing(sqlite3.connect(service.store)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return b"".join(path.read_bytes() for path in service.store.parent.glob("redial.db*"))


@pytest.mark.parametrize("kind", ["file", "database"])
def test_what_a_sensitive_call_carries_is_seen_by_its_target_alone(redial, instances, receiver, tmp_path, kind):
    target, hook, subscriber, collector = failing(receiver), receiver(), receiver(), receiver(lambda _: (200, {}, b"{}"))
    flags = ["--log-level", "debug", "--otlp-endpoint", collector.url, Constants(otlpInterval="50ms")]
    if kind == "file":
        cluster, service = None, redial(*flags)
    else:
        cluster, (service,) = instances(1, *flags)
    if cluster:
        # With a key there would be nothing to find.
        plain_endpoint(cluster, subscriber.url, "call.failed")
        wait_until(lambda: service("GET", "/v1/webhook-endpoints").json["data"], "it knows the endpoint")
    else:
        answer = service("POST", "/v1/webhook-endpoints", {"url": subscriber.url, "events": ["call.failed"]})
        assert answer.status == 201, answer.body
    events = Stream(service)
    descriptor = sensitive(target, callback={"url": hook.url}, labels={"team": "a"}, description="a refund")
    seen = [service("POST", "/v1/calls?dryRun=true", descriptor)]
    waiting = service.submit(**descriptor | {"delay": "1h"})
    shown = service("GET", f"/v1/calls/{waiting}?include=request")
    assert shown.json["request"] == {
        "method": "POST", "url": f"{target.url}/pay", "headers": {}, "body": None, "encoding": None, "size": None,
        "truncated": False, "erasedAt": None, "withheld": "sensitive"}
    seen += [shown, service("GET", f"/v1/calls?url={QUERY}")]
    assert seen[-1].json["data"] == [], "the query cannot be guessed by a search"
    assert [c["id"] for c in service("GET", "/v1/calls?url=/pay").json["data"]] == [waiting]
    # The target got everything, each time.
    answer = service("POST", "/v1/calls", descriptor, {"Prefer": "wait=30", "Idempotency-Key": "k"})
    seen += [answer, service("POST", "/v1/calls", descriptor, {"Idempotency-Key": "k"})]
    call = answer.json
    assert (call["state"], call["sensitive"], call["response"]) == ("failed", True, None), call
    assert call["attemptCount"] == len(target.requests) == 2 and call["url"] == f"{target.url}/pay"
    for request in target.requests:
        assert QUERY in request.path and request.headers["x-mine"] == FIELD and json.loads(request.body) == {"card": BODY}
    identity = call["id"]
    assert service.get(identity)["contentErasedAt"] and service.get(identity)["description"] == "a refund"
    for action in ("retry", "replay"):
        refused = service("POST", f"/v1/calls/{identity}/{action}")
        assert (refused.status, refused.json["code"]) == (409, "contentErased"), refused.body
    for webhook in (hook.next(), subscriber.next()):
        data = json.loads(webhook.body)["data"]
        assert data["id"] == identity and data["sensitive"] and not found(webhook.body)
    for path, body in everything(service, identity):
        assert not found(body), (path, body)
    issue = service("GET", f"/v1/issues/{call['issue']}").json
    assert issue["error"] == "500", issue
    wait_until(lambda: any(s.attributes.get("redial.call.id") == identity for s in spans(collector)), "its spans")
    for command in (["get", identity, "--request"], ["attempts", identity], ["list"], ["get", waiting, "--request"],
                    ["get", waiting, "--curl"], ["issues"], ["status"]):
        done = run(*command, "--server", service.url)
        seen += [done.stdout, done.stderr]
    assert "sensitive" in run("get", waiting, "--server", service.url).stdout
    assert {"call.accepted", "call.attempted"} <= set(events.types())
    events.until("call.failed")
    for one in seen:
        assert not found(getattr(one, "body", one)), one
    assert not found("\n".join(events.lines))
    assert not any(found(request.body) for request in collector.requests)
    # What waits is there, and is found by the same search.
    assert found(of_store(service, cluster) if cluster else b"".join(f.read_bytes() for f in tmp_path.glob("redial.db*")))
    service("POST", f"/v1/calls/{waiting}/cancel")
    service.ended(waiting)
    service.terminate()
    assert not found(service.log.read_bytes())
    assert not found(of_store(service, cluster))


def test_a_crash_leaves_nothing_of_an_ended_call_and_all_of_a_waiting_one(redial, receiver):
    target = failing(receiver)
    service = redial()
    ended, waiting = service.submit(**sensitive(target)), service.submit(**sensitive(target, delay="1h"))
    service.ended(ended)
    service.kill()
    service.start()
    assert service.get(ended)["contentErasedAt"] and service.get(waiting)["contentErasedAt"] is None
    # It still has what it is to send.
    seen = len(target.requests)
    assert service("POST", f"/v1/calls/{waiting}/retry").status == 200
    service.ended(waiting)
    assert json.loads(target.requests[seen].body) == {"card": BODY}
    service.terminate()
    assert run("doctor", "--store", f"sqlite:{service.store}").returncode == 0
    assert not found(of_store(service, None))


def test_an_archive_of_an_unfinished_call_carries_it(redial, receiver, tmp_path):
    target, archive = receiver(), tmp_path / "calls.jsonl"
    service = redial()
    identity = service.submit(**sensitive(target, delay="1h"))
    service.terminate()
    done = run("export", "--store", f"sqlite:{service.store}", "--output", str(archive))
    assert done.returncode == 0, done.stderr
    assert found(archive.read_bytes()) == [QUERY, FIELD]
    for file in tmp_path.glob("redial.db*"):
        file.unlink()
    done = run("import", str(archive), "--store", f"sqlite:{service.store}")
    assert done.returncode == 0, done.stderr
    service.start()
    assert service.get(identity)["sensitive"]
    assert service("POST", f"/v1/calls/{identity}/retry").status == 200
    assert service.ended(identity)["state"] == "succeeded"
    assert json.loads(target.requests[0].body) == {"card": BODY} and target.requests[0].headers["x-mine"] == FIELD


def test_a_target_and_a_rule_make_their_new_calls_sensitive(redial, receiver):
    target, other = receiver(), receiver()
    rules = [{"match": "bank-*", "settings": {"sensitive": True}}]
    service = redial("--target-rules", json.dumps(rules))
    before = service.submit(url=target.url, target="mine", delay="1h")
    assert service("PUT", "/v1/targets/mine", {"sensitive": True}).json["settings"]["sensitive"]
    after = service.submit(url=target.url, target="mine", delay="1h", sensitive=False)
    by_rule = service.submit(url=other.url, target="bank-1", body=BODY)
    assert [service.get(c).get("sensitive") for c in (before, after, by_rule)] == [None, True, True]
    assert service.ended(by_rule)["contentErasedAt"] and other.requests[0].body == BODY.encode()
    # A call stays what it was accepted as.
    assert service("PATCH", "/v1/targets/mine", {"sensitive": None}).json["overrides"] == {}
    assert service.get(after)["sensitive"] and "sensitive" not in service.get(service.submit(url=target.url, target="mine"))


def test_a_replay_cannot_show_what_its_original_hides(redial, receiver):
    target, other = receiver(), receiver()
    service = redial()
    identity = service.submit(**sensitive(target, delay="1h"))
    for change in {"sensitive": False}, {"sensitive": None}, {"url": other.url}, {"callback": {"url": other.url}}:
        refused = service("POST", f"/v1/calls/{identity}/replay", change)
        assert refused.status == 422, (change, refused.body)
        assert refused.json["errors"][0]["pointer"] == f"/{next(iter(change))}"
    again = service("POST", f"/v1/calls/{identity}/replay", {"labels": {"team": "b"}})
    assert again.status == 202 and again.json["sensitive"], again.body
    assert service.ended(again.json["id"])["contentErasedAt"]
    assert json.loads(target.requests[0].body) == {"card": BODY} and not other.requests


def test_a_forwarded_request_can_be_sensitive(redial, receiver):
    target = receiver(lambda request: (200, {}, REPLY.encode()))
    service = redial()
    answer = service("POST", f"/v1/forward/{target.url}/pay?who={QUERY}", BODY,
                     {"Redial-Sensitive": "true", "Redial-Redact": '["/card"]', "x-mine": FIELD, "Prefer": "wait=30"})
    assert (answer.status, answer.json["sensitive"], answer.json["redact"]) == (200, True, ["/card"]), answer.body
    assert not found(answer.body) and target.requests[0].body == BODY.encode()
    refused = service("POST", f"/v1/forward/{target.url}", BODY, {"Redial-Sensitive": "yes"})
    assert refused.status == 422 and refused.json["errors"][0]["header"] == "Redial-Sensitive", refused.body

"""Who did what: each change is recorded, with its actor, before its answer; nothing secret is; age and number remove."""

import contextlib
import http.client
import json
import os
import pwd
import re
import threading

from processes import Client, Constants, run, wait_until
from test_contract import CONTRACT, check
from test_keys import PATH, bearer, locked, make

AUDIT = "/v1/audit"


def records(service, query=""):
    answer = service("GET", f"{AUDIT}{query}")
    return check(answer, "get", AUDIT)["data"]


def words(service, query=""):
    return [(one["action"], one["object"]) for one in reversed(records(service, query))]


def holder(service, *scopes, **more):
    """Requests of whoever has a new key."""
    client, fields = Client(service.port), bearer(make(service, *scopes, **more)["key"])
    return lambda method, path, body=None: client(method, path, body, fields)


def test_each_change_is_recorded_with_its_actor_and_nothing_secret(redial, receiver):
    target = receiver()
    service = redial()
    admin = locked(service)
    tenant = make(service, "admin", namespace="team-a", name="theirs")
    operator = holder(service, "operate", "read", "submit", "payloads", name="ada")
    call = service.submit(url=f"{target.url}/paid", target="orders")
    assert service.ended(call)["state"] == "succeeded"
    for method, path, body in (
            ("PATCH", "/v1/targets/orders", {"maxInFlight": 5}), ("POST", "/v1/targets/orders/pause", None),
            ("POST", "/v1/targets/orders/resume", None), ("POST", f"/v1/calls/{call}/replay", None),
            ("DELETE", f"/v1/calls/{call}/content", None), ("PUT", "/v1/policies/slow", {"maxAttempts": 3}),
            ("PUT", "/v1/policies/slow", {"maxAttempts": 3}), ("PUT", "/v1/policies/slow", {"maxAttempts": 4}),
            ("DELETE", "/v1/policies/slow", None),
            ("POST", "/v1/operations", {"action": "cancel", "filter": {"target": "orders"}})):
        answer = operator(method, path, body)
        assert 200 <= answer.status < 300, (path, answer.body)
    # What is refused, asked for, counted or submitted is no change.
    assert operator("DELETE", f"{PATH}/{tenant['id']}").status == 403
    assert operator("POST", "/v1/operations", {"action": "cancel", "filter": {"target": "orders"}, "dryRun": True}).status == 200
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": f"{target.url}/hook?token=secret-token"}).json
    one = f"/v1/webhook-endpoints/{endpoint['id']}"
    assert service("PUT", one, {"url": f"{target.url}/hook", "description": "new"}).status == 200
    rotated = service("POST", f"{one}/rotate-secret").json
    alert = {"to": {"pagerDuty": "routing-key-of-this-test-0000000"}}
    assert service("PUT", "/v1/alerts/night", alert).status == 201
    secret = service("GET", "/v1/webhook-secret").json["secret"]
    assert service("DELETE", f"{PATH}/{tenant['id']}").status == 200
    assert service("DELETE", f"{PATH}/{tenant['id']}").status == 200

    found = records(service)
    assert {one["action"] for one in found} <= set(CONTRACT["components"]["schemas"]["AuditAction"]["enum"])
    assert [one["id"] for one in found] == sorted((one["id"] for one in found), reverse=True)
    text = service("GET", AUDIT).body.decode()
    for hidden in (admin["key"], tenant["key"], endpoint["secret"], rotated["secret"], secret, "secret-token", "routing-key"):
        assert hidden not in text
    assert words(service, "?actor=ada") == [
        ("target.changed", "orders"), ("target.paused", "orders"), ("target.resumed", "orders"), ("call.replayed", call),
        ("call.erased", call), ("policy.put", "slow"), ("policy.put", "slow"), ("policy.removed", "slow"),
        ("operation.started", records(service, "?action=operation.started")[0]["object"])]
    assert words(service, f"?actor={admin['id']}") == [
        ("key.created", tenant["id"]), ("key.created", records(service, "?action=key.created")[0]["object"]),
        ("endpoint.created", endpoint["id"]), ("endpoint.changed", endpoint["id"]),
        ("endpoint.secretRotated", endpoint["id"]), ("alert.changed", "night"), ("webhookSecret.read", ""),
        ("key.revoked", tenant["id"])]
    assert [(one["actorKind"], one["actor"], one["object"]) for one in records(service, "?actor=anybody")] == [
        ("anybody", None, admin["id"])]
    by = {one["action"]: one for one in reversed(found)}
    assert by["target.changed"]["after"]["overrides"]["maxInFlight"] == 5
    assert (by["target.paused"]["before"]["paused"], by["target.paused"]["after"]["paused"]) == (False, True)
    assert by["call.replayed"]["after"]["id"] != call
    assert by["policy.put"]["before"] == {"version": 1, "policy": {"maxAttempts": 3}}
    assert by["policy.put"]["after"] == {"version": 2, "policy": {"maxAttempts": 4}}
    assert by["policy.removed"]["before"]["version"] == 2 and by["policy.removed"]["after"] is None
    assert by["key.revoked"]["before"] == {"revokedAt": None} and by["key.revoked"]["after"]["revokedAt"]
    assert by["endpoint.changed"]["after"]["description"] == "new"
    assert {one["address"] for one in found} == {"127.0.0.1"}
    assert by["key.revoked"]["actorName"] == "admin" and by["target.paused"]["actorName"] == "ada"


def test_a_list_has_its_own_namespace_filters_and_pages(redial):
    service = redial()
    locked(service)
    tenant = holder(service, "admin", namespace="team-a", name="theirs")
    assert holder(service, "operate", "read")("GET", AUDIT).status == 403
    for name in "abcde":
        assert tenant("PUT", f"/v1/policies/{name}", {"maxAttempts": 2}).status == 201
    assert words(tenant) == [("policy.put", name) for name in "abcde"]
    assert len(records(service)) == 8 and words(service, "?namespace=team-a") == words(tenant)
    assert tenant("GET", f"{AUDIT}?namespace=default").status == 400
    pages, cursor = [], ""
    while cursor is not None:
        page = tenant("GET", f"{AUDIT}?limit=2{cursor and '&cursor=' + cursor}").json
        pages.append([one["object"] for one in page["data"]])
        cursor = page["nextCursor"]
    assert [one for page in pages for one in page] == list("edcba") and max(map(len, pages)) == 2
    middle = records(tenant, "?object=c")[0]
    assert words(tenant, f"?since={middle['at']}&action=policy.put,policy.removed") == [
        ("policy.put", "c"), ("policy.put", "d"), ("policy.put", "e")]
    assert words(tenant, f"?until={middle['at']}") == [("policy.put", "a"), ("policy.put", "b")]
    assert len(records(tenant, "?since=1h")) == 5 and not records(tenant, "?until=1h")
    for query in ("action=policy.made", "since=yesterday", "cursor=2", "limit=0", "page=1"):
        answer = tenant("GET", f"{AUDIT}?{query}")
        assert (answer.status, answer.json["code"]) == (400, "invalidParameter"), query


def test_the_command_shows_a_table_or_lines(redial):
    service = redial(env={"REDIAL_ADMIN_KEY": "the-admin-key-of-this-test"})
    service.credentials = bearer("the-admin-key-of-this-test")
    for number in range(3):
        assert service("PUT", f"/v1/policies/p{number}", {"maxAttempts": 2 + number}).status == 201
    assert service("DELETE", "/v1/policies/p0").status == 204
    server = ("--server", service.url, "--api-key", "the-admin-key-of-this-test")
    table = run("audit", "--limit", "2", *server)
    assert table.returncode == 0, table.stderr
    lines = table.stdout.splitlines()
    assert len(lines) == 4 and lines[1].split()[1:] == ["adminKey", "127.0.0.1", "policy.removed", "p0", "gone"]
    assert 'policy={ "maxAttempts": 4 } version=1' in lines[2] and lines[3].startswith("more: --cursor audit_")
    shown = run("audit", "--json", "--action", "policy.put", "--since", "1h", *server)
    assert [json.loads(line) for line in shown.stdout.splitlines()] == records(service, "?action=policy.put")
    assert run("audit", "--action", "policy.made", *server).returncode == 4


def test_what_is_old_or_too_much_is_removed_and_a_command_is_recorded(redial, tmp_path):
    service = redial(Constants(maxAuditRecords=5))
    for name in "abcdefgh":
        assert service("PUT", f"/v1/policies/{name}", {"maxAttempts": 2}).status == 201
    service.terminate()
    user = pwd.getpwuid(os.getuid()).pw_name
    made = run("keys", "create", "--name", "first", "--scope", "admin", "--store", f"sqlite:{service.store}")
    service = redial(Constants(maxAuditRecords=5))
    service.credentials = bearer(re.search(r"rdl_\S+", made.stdout)[0])
    wait_until(lambda: len(records(service)) == 5, "five records are left")
    assert words(service) == [("policy.put", name) for name in "efgh"] + [
        ("key.created", records(service)[0]["object"])]
    assert (records(service)[0]["actorKind"], records(service)[0]["actor"]) == ("command", user)
    service.terminate()
    service = redial("--audit-retention-time", "1s")
    service.credentials = bearer(re.search(r"rdl_\S+", made.stdout)[0])
    wait_until(lambda: not records(service), "all records are old")


def test_the_address_is_the_clients_behind_a_trusted_proxy(redial, tmp_path):
    (tmp_path / "other").mkdir()
    service = redial("--trusted-proxies", "127.0.0.1,10.0.0.0/8")
    for one, address in ((service, "192.0.2.7"), (redial(folder=tmp_path / "other"), "127.0.0.1")):
        assert one("PUT", "/v1/policies/a", {"maxAttempts": 2}, {
            "x-forwarded-for": "198.51.100.1, 192.0.2.7, 10.1.2.3"}).status == 201
        assert records(one)[0]["address"] == address


def test_a_change_and_its_record_survive_together(redial):
    service = redial()
    for number in range(20):
        assert service("PUT", f"/v1/policies/p{number}", {"maxAttempts": 2}).status == 201
    service.kill()
    service = redial()
    assert words(service) == [("policy.put", f"p{number}") for number in range(20)]
    assert service("POST", "/v1/targets/orders/pause").status == 200
    service.kill()
    service = redial()
    assert words(service)[-1] == ("target.paused", "orders")


def test_what_changes_nothing_is_not_recorded_and_tests_are(redial, receiver):
    target, service = receiver(), redial()
    call = service.submit(url=target.url, delay="1h")
    ended = service.submit(url=target.url)
    assert service.ended(ended)["state"] == "succeeded"
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": f"{target.url}/hook"}).json["id"]
    assert service("PUT", "/v1/alerts/night", {"to": {"endpoint": endpoint}}).status == 201
    replay = (f"/v1/calls/{ended}/replay", None, {"idempotency-key": "a"})
    for path, body, fields in (
            (f"/v1/calls/{call}/cancel", None, {}), (f"/v1/calls/{call}/cancel", None, {}), replay, replay,
            ("/v1/targets/a/pause", None, {}), ("/v1/targets/a/pause", None, {}), ("/v1/targets/a/release", None, {}),
            ("/v1/targets/a/release", None, {}), (f"/v1/webhook-endpoints/{endpoint}/test", None, {}),
            ("/v1/alerts/night/test", None, {})):
        assert 200 <= service("POST", path, body, fields).status < 300, path
    assert service("DELETE", f"/v1/calls/{ended}/content").status == 200
    assert service("DELETE", f"/v1/calls/{ended}/content").status == 200
    # What is refused after it was begun is not recorded, either.
    assert service("POST", f"/v1/calls/{ended}/cancel").status == 409
    assert service("POST", f"/v1/calls/call_1M7YBET2A0000/retry").status == 404
    assert words(service) == [
        ("endpoint.created", endpoint), ("alert.changed", "night"), ("call.cancelled", call), ("call.replayed", ended),
        ("target.paused", "a"), ("target.released", "a"), ("target.released", "a"), ("endpoint.tested", endpoint),
        ("alert.tested", "night"), ("call.erased", ended)]
    assert [one["after"] for one in records(service, "?action=call.cancelled")] == [{"state": "cancelled"}]


def every(service, path):
    """All of a list, page by page."""
    found, cursor = [], ""
    while cursor is not None:
        page = service("GET", f"{path}{'&' if '?' in path else '?'}limit=100{cursor and '&cursor=' + cursor}").json
        found += page["data"]
        cursor = page["nextCursor"]
    return found


def test_a_change_has_a_record_whenever_the_process_dies(redial, receiver):
    service, target = redial(), receiver()
    for number in range(12):
        calls, done = [service.submit(url=target.url, delay="1h") for _ in range(40)], []

        def change():
            client = Client(service.port, waits=False)
            # Until the process is gone.
            with contextlib.suppress(OSError, http.client.HTTPException):
                for place, call in enumerate(calls):
                    client("POST", f"/v1/calls/{call}/cancel")
                    client("POST", f"/v1/targets/t{number}-{place}/pause")
                    client("POST", "/v1/webhook-endpoints", {"url": target.url})
                    done.append(call)
        thread = threading.Thread(target=change)
        thread.start()
        wait_until(lambda: len(done) > number, "some are made")
        service.kill()
        thread.join()
        service.start()
    for path, word, member in (
            ("/v1/calls?state=cancelled", "call.cancelled", "id"), ("/v1/targets", "target.paused", "key"),
            ("/v1/webhook-endpoints", "endpoint.created", "id")):
        changed = {one[member] for one in every(service, path) if one.get("paused", True)}
        assert len(changed) > 10 and changed <= {one["object"] for one in every(service, f"{AUDIT}?action={word}")}, word


def test_instances_record_what_each_serves_once(instances):
    _, cluster = instances(3)
    for number, service in enumerate(cluster):
        assert service("PUT", f"/v1/policies/p{number}", {"maxAttempts": 2}).status == 201
        for target in "abcdefgh":
            assert service("POST", f"/v1/targets/{target}{number}/pause").status == 200
    for service in cluster:
        assert sorted(words(service)) == sorted(
            [("policy.put", f"p{number}") for number in range(3)]
            + [("target.paused", f"{target}{number}") for number in range(3) for target in "abcdefgh"])
        assert {one["address"] for one in records(service)} == {"127.0.0.1"}

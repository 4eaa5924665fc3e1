"""Submissions that go to the owner of their target: stored once, whoever dies, is slow or cannot be reached meanwhile."""

import base64
import concurrent.futures
import contextlib
import hashlib
import hmac
import itertools
import json
import struct
import time

from processes import Client, standing_still, wait_until
from test_replicas import LASTING

PATH = "/v1/calls/forwarded"
NAMES = [f"target{number}" for number in range(12)]


def owners(cluster, services, url):
    """The names of some targets of each instance, in the order of the instances. Each target has had a call."""
    numbers = itertools.count()

    def found():
        calls = [services[0].submit(url=url, target=f"target{next(numbers)}") for _ in NAMES]
        for call in calls:
            services[0].ended(call)
        rows = cluster.query(
            """SELECT t.key, s.address FROM redial.targets t JOIN redial.leases l ON l.shard = t.shard
               JOIN redial.sessions s ON s.id = l.owner WHERE t.key LIKE 'target%' ORDER BY t.key""", "redial")
        of = [[name for name, address in rows if address == service.url] for service in services]
        return all(of) and of
    return wait_until(found, "each instance has a target")


@contextlib.contextmanager
def standing_commits(cluster, service):
    """The commits of an instance wait until this ends; its heartbeat goes on."""
    with cluster.session("redial") as run:
        run("BEGIN")
        locked = run(f"SELECT id FROM redial.sessions WHERE address LIKE '%:{service.port}' FOR UPDATE")
        assert len(locked) == 1
        try:
            yield
        finally:
            run("COMMIT")


def claimed(cluster):
    return cluster.query("SELECT coalesce(sum(cardinality(ids)), 0) FROM redial.claims", "redial")


def executed_once(target, services, identities, since):
    for identity in identities:
        assert services[0].ended(identity)["state"] == "succeeded"
    executed = [request.headers["idempotency-key"] for request in target.requests[since:]]
    assert sorted(executed) == sorted(identities)


def test_the_owner_of_its_target_stores_a_call_in_one_write_and_its_client_sees_no_difference(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING)
    owners(cluster, services, target.url)
    since, identities = len(target.requests), []

    def all_by_the_owners():
        before, states = claimed(cluster), set()
        for name in NAMES:
            for service in services:
                answer = service("POST", "/v1/calls", {"url": target.url, "target": name, "body": "ü"})
                assert answer.status == 202, answer.body
                states.add(answer.json["state"])
                identities.append(answer.json["id"])
        lines = "\n".join(json.dumps({"url": target.url, "target": name}) for name in NAMES * 20)
        answer = services[1]("POST", "/v1/calls/batch", lines, {"content-type": "application/x-ndjson"})
        items = [json.loads(line) for line in answer.body.splitlines()]
        assert {item["status"] for item in items} == {202}, items
        identities.extend(item["call"]["id"] for item in items)
        # None was stored for the owner to find there.
        return states == {"running"} and claimed(cluster) == before
    # Only of an owner that does not answer within a second the calls are stored by the other: on a busy machine.
    wait_until(all_by_the_owners, "all of these calls are stored by their owners")
    executed_once(target, services, identities, since)


def test_what_an_owner_refuses_is_refused_and_repetitions_are_answered_as_by_the_owner(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING)
    name = owners(cluster, services, target.url)[1][0]
    call, key = {"url": target.url, "target": name}, {"idempotency-key": "order-1"}
    first = services[0]("POST", "/v1/calls", call, key)
    again = [service("POST", "/v1/calls", call, key) for service in services]
    assert first.status == 202 and {answer.json["id"] for answer in again} == {first.json["id"]}
    assert {answer.status for answer in again} <= {200, 202}
    assert all(answer.headers["idempotency-status"] for answer in again)
    other = services[0]("POST", "/v1/calls", call | {"priority": 3}, key)
    assert (other.status, other.json["code"]) == (422, "idempotencyKeyReused")


def test_a_call_that_its_slow_owner_and_the_other_instance_store_is_executed_once(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING)
    names = owners(cluster, services, target.url)[1]
    stored = "SELECT count(*) FROM redial.requests"
    since, identities, before = len(target.requests), [], int(cluster.query(stored, "redial")[0][0])
    with standing_commits(cluster, services[1]):
        for name in names:
            answer = services[0]("POST", "/v1/calls", {"url": target.url, "target": name})
            assert (answer.status, answer.json["state"]) == (202, "scheduled"), answer.body
            identities.append(answer.json["id"])
        keyed = {"url": target.url, "target": names[0]}
        answer = services[0]("POST", "/v1/calls", keyed, {"idempotency-key": "order-2"})
        assert answer.status == 202
        identities.append(answer.json["id"])
        assert len(target.requests) == since
    again = services[1]("POST", "/v1/calls", keyed, {"idempotency-key": "order-2"})
    assert again.headers["idempotency-status"] and again.json["id"] == identities[-1]
    executed_once(target, services, identities, since)
    # Both have stored one, and the second was refused.
    assert "violates unique constraint \"requests_pkey\"" in (cluster.folder / "log").read_text()
    assert cluster.query(stored, "redial") == [[str(before + len(identities))]]
    # Nothing was wrong with the store, and the owner goes on.
    assert services[1].ended(services[0].submit(**keyed))["state"] == "succeeded"


def test_a_call_whose_owner_is_killed_before_its_commit_is_stored_by_the_other_instance(instances, receiver):
    target = receiver()
    # The lease of the one that is killed has to end.
    cluster, services = instances(2)
    name = owners(cluster, services, target.url)[1][0]
    since = len(target.requests)
    with standing_commits(cluster, services[1]):
        commits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO commits%'"
        submitted = []
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            def is_waiting():
                # The other instance has stored it if it could not reach the owner in time.
                if not submitted or submitted[-1].done():
                    submitted.append(pool.submit(services[0], "POST", "/v1/calls", {"url": target.url, "target": name}))
                return cluster.query(commits) == [["1"]]
            wait_until(is_waiting, "the owner has a call, and its commit waits")
            services[1].kill()
            answers = [one.result() for one in submitted]
    assert {answer.status for answer in answers} == {202}, answers[-1].body
    executed_once(target, services, [answer.json["id"] for answer in answers], since)


def test_instances_that_cannot_reach_each_other_store_calls_for_each_other(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING, "--peer-url", "http://127.0.0.1:1")
    since, identities = len(target.requests), []
    for name in NAMES:
        for service in services:
            answer = service("POST", "/v1/calls", {"url": target.url, "target": name})
            assert answer.status == 202
            identities.append(answer.json["id"])
    executed_once(target, services, identities, since)


class Forwarded:
    """The request with which one instance forwards a call to another, made by somebody who has the store's secret."""

    def __init__(self, cluster):
        text = cluster.query("SELECT value FROM redial.settings WHERE name = 'peerSecret'", "redial")[0][0]
        self.secret = base64.b64decode(text.strip().removeprefix("whsec_"))

    def body(self, identity, created, spec, payload=b""):
        def sized(data):
            return struct.pack("<q", len(data)) + data
        return struct.pack("<7q", 4, 1, identity, created, 0, 0, 0) + sized(b"") + sized(spec) + sized(payload)

    def fields(self, body, caller="default nobody 1 1"):
        seconds = int(time.time())
        message = f"POST {PATH} {caller}.{seconds}.".encode() + body
        signature = base64.b64encode(hmac.new(self.secret, message, hashlib.sha256).digest()).decode()
        return {"redial-forwarded": "1", "redial-forwarded-caller": caller,
                "redial-forwarded-signature": f"t={seconds},v1,{signature}", "content-type": "application/octet-stream"}


def test_a_forwarded_request_that_is_sent_again_adds_nothing_and_nobody_else_can_send_one(instances, receiver):
    target = receiver()
    cluster, services = instances(1, *LASTING)
    service = services[0]
    call = service.ended(service.submit(url=target.url))
    identity, spec = cluster.query(
        "SELECT id, encode(spec, 'hex') FROM redial.requests", "redial")[0]
    forwarded = Forwarded(cluster)
    kinds = []
    # Of the near future, so that it is not too old while it is on its way.
    for age in (-60, -60, 3600):
        created = int(cluster.query(f"SELECT ((extract(epoch FROM clock_timestamp()) - {age}) * 1000000)::int8")[0][0])
        body = forwarded.body(int(identity), created, bytes.fromhex(spec))
        answer = service("POST", PATH, body, forwarded.fields(body))
        assert answer.status == 200, answer.body
        kinds.append(struct.unpack_from("<q", answer.body, 16)[0])
    # It is stored; it was sent a moment ago; it is too old.
    assert kinds == [0, 3, 3]
    assert len(target.requests) == 1 and service.ended(call["id"])["attempts"] == call["attempts"]
    assert service("POST", PATH, body).status == 404
    damaged = forwarded.fields(body) | {"redial-forwarded-signature": f"t={int(time.time())},v1,AAAA"}
    assert service("POST", PATH, body, damaged).status == 403
    assert service("POST", PATH, body[:-1], forwarded.fields(body[:-1])).status == 400


def test_commands_for_an_instance_that_stands_still_do_not_delay_those_for_others(instances, receiver):
    target = receiver()
    cluster, services = instances(3, *LASTING)
    frozen, healthy = [
        [services[0].submit(url=target.url, target=name, delay="1h") for name in (names * 16)[:16]]
        for names in owners(cluster, services, target.url)[1:]]
    cancel = lambda identity: Client(services[0].port)("POST", f"/v1/calls/{identity}/cancel", {}).status
    with concurrent.futures.ThreadPoolExecutor(len(frozen)) as pool:
        with standing_still(services[1].process):
            waiting = [pool.submit(cancel, identity) for identity in frozen]
            wait_until(lambda: all(one.running() for one in waiting), "all are on their way")
            # Few: the others are waited for ten seconds only.
            for identity in healthy[:4]:
                assert cancel(identity) == 200
            done = [one.result() for one in waiting if one.done()]
            assert done == [], "they wait for the instance that stands still"
        assert {one.result() for one in waiting} <= {200, 503}

"""Submissions that are repeated under their keys, while something else changes."""

import json
import threading

import pytest
from processes import Client, wait_until

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def services(request, redial):
    """One service on a file, or two on one database."""
    return [redial()] if request.param == "SQLite" else request.getfixturevalue("instances")(2)[1]


def items(answer):
    """The items in the answer to a batch, of either form."""
    assert answer.status == 200, answer.body
    lines = answer.headers["content-type"] == LINES["content-type"]
    return [json.loads(line) for line in answer.body.splitlines()] if lines else answer.json["data"]


def purge(service, **filter):
    answer = service(
        "POST", "/v1/operations", {"action": "purge", "filter": {"state": "succeeded"} | filter, "ratePerSecond": 10_000})
    assert answer.status == 202, answer.body


def test_a_repetition_that_waits_for_the_end_says_that_it_is_one(redial, receiver):
    over = threading.Event()
    service, target = redial(), receiver(lambda request: over.wait() and (200, {}, b"ok"))
    call, key, wait = {"url": target.url}, {"idempotency-key": "order-7"}, {"prefer": "wait=20"}
    first = service("POST", "/v1/calls", call, key)
    assert first.status == 202
    # It waits from before the end, the other ones from behind it.
    early = []
    waiting = threading.Thread(target=lambda: early.append(Client(service.port)("POST", "/v1/calls", call, key | wait)))
    waiting.start()
    wait_until(lambda: service.metrics()["redial_waiting_clients"] == 1, "the repetition waits")
    over.set()
    waiting.join()
    for answer in (*early, service("POST", "/v1/calls", call, key | wait)):
        assert (answer.status, answer.json["id"], answer.json["state"]) == (200, first.json["id"], "succeeded")
        assert answer.headers["idempotency-replayed"] == "true" and answer.headers["preference-applied"] == "wait=20"
    for path, body in (("/v1/calls", json.dumps(call)), (f"/v1/calls/{first.json['id']}/replay", "{}"),
                       (f"/v1/forward/{target.url}", "x")):
        fields = JSON | wait | {"idempotency-key": f'"{path}"'}
        new, again = service("POST", path, body, fields), service("POST", path, body, fields)
        assert (new.status, again.status) == (200, 200) and new.json["id"] == again.json["id"]
        assert (new.headers["idempotency-replayed"], again.headers["idempotency-replayed"]) == (None, "true")


def test_what_was_accepted_is_found_again_without_its_policy(services, flaky):
    target, first = flaky(), services[0]
    assert first("PUT", "/v1/policies/brief", {"maxAttempts": 2}).status == 201
    call = {"url": target.url, "policy": "brief"}
    forward = f"/v1/forward/{target.url}", b"x", {"redial-policy": "brief"}
    batch = [call, {"url": "nonsense"}, call]
    lines = "\n".join(json.dumps(item) for item in batch)

    def submissions(service, key="a", more={}):
        keyed = {"idempotency-key": key} | more
        path, body, fields = forward
        return [service("POST", "/v1/calls", call, keyed), service("POST", path, body, fields | keyed | {"idempotency-key": key + "f"})]

    def batches(service, key="b"):
        keyed = {"idempotency-key": key}
        return [items(service("POST", "/v1/calls/batch", json.dumps(batch), JSON | keyed)),
                items(service("POST", "/v1/calls/batch", lines, LINES | keyed | {"idempotency-key": key + "l"}))]

    def knows(service):
        return service("POST", "/v1/calls?dryRun=true", call).status == 200

    for service in services:
        wait_until(lambda: knows(service), "the policy is known")
    alone, together = submissions(first), batches(first)
    assert [answer.status for answer in alone] == [202, 202]
    identities = [answer.json["id"] for answer in alone]
    assert all([item["status"] for item in answer] == [202, 422, 202] for answer in together)
    assert first("DELETE", "/v1/policies/brief").status == 204
    for service in services:
        wait_until(lambda: not knows(service), "the policy is gone")
        for answer, identity in zip(submissions(service), identities):
            assert (answer.status, answer.json["id"]) == (202, identity), answer.body
            assert answer.headers["idempotency-replayed"] == "true"
        for identity in identities:
            service.ended(identity)
        for answer, identity in zip(submissions(service, more={"prefer": "wait=20"}), identities):
            assert (answer.status, answer.json["id"]) == (200, identity), answer.body
            assert answer.headers["idempotency-replayed"] == "true"
        for again, before in zip(batches(service), together):
            assert [item["status"] for item in again] == [202, 422, 202]
            assert all(again[n]["replayed"] and again[n]["call"]["id"] == before[n]["call"]["id"] for n in (0, 2))
            assert again[1]["problem"]["errors"][0]["pointer"] == "/url"
        # What was not accepted under the key is refused as it was, also under another key.
        other = service("POST", "/v1/calls", call | {"priority": 1}, {"idempotency-key": "a"})
        assert (other.status, other.json["errors"][0]["pointer"]) == (422, "/policy")
        assert [answer.status for answer in submissions(service, "c")] == [422, 422]
        assert all({item["status"] for item in answer} == {422} for answer in batches(service, "d"))
        # A key belongs to its namespace.
        assert service("POST", "/v1/calls", call, {"idempotency-key": "a", "redial-namespace": "acme"}).status == 422


def test_a_replay_that_was_accepted_is_found_again_without_its_original(services, flaky):
    target, first = flaky(), services[0]
    original = first.submit(url=f"{target.url}/original")
    first.ended(original)
    key, changes = {"idempotency-key": "a"}, {"url": f"{target.url}/again"}

    def replay(service, changes=changes, fields=key):
        return service("POST", f"/v1/calls/{original}/replay", changes, fields)

    def is_found(service):
        again = replay(service)
        assert (again.status, again.json["id"], again.headers["idempotency-replayed"]) == (202, identity, "true")

    identity = replay(first).json["id"]
    assert first("DELETE", f"/v1/calls/{original}/content").status == 200
    for service in services:
        is_found(service)
        for refused in (replay(service, {}), replay(service, fields={}), replay(service, fields={"idempotency-key": "b"})):
            assert (refused.status, refused.json["code"]) == (409, "contentErased")
    purge(first, url="original")
    wait_until(lambda: first("GET", f"/v1/calls/{original}").status == 404, "the original is removed")
    for service in services:
        is_found(service)
        assert replay(service, {}).status == 404
    first.ended(identity)
    purge(first, url="again")
    wait_until(lambda: replay(first).status == 404, "the replay is removed, too")


@pytest.mark.parametrize("way", ["one", "waiting", "forwarded", "array", "lines"])
def test_a_repetition_is_a_new_call_as_soon_as_the_first_one_is_removed(services, flaky, way):
    target, count = flaky(), 60
    calls = [{"url": f"{target.url}/{number}"} for number in range(count)]

    def submit(client, key):
        """Submits all calls, and returns their ids."""
        if way in ("array", "lines"):
            body = json.dumps(calls) if way == "array" else "\n".join(map(json.dumps, calls))
            kind = JSON if way == "array" else LINES
            answers = items(client("POST", "/v1/calls/batch", body, kind | {"idempotency-key": key}))
            assert {item["status"] for item in answers} == {202}, answers
            return [item["call"]["id"] for item in answers]
        identities = []
        for number, call in enumerate(calls):
            path, body = ("/v1/calls", call) if way != "forwarded" else (f"/v1/forward/{call['url']}", b"x")
            fields = {"idempotency-key": f"{key}-{number}"} | ({"prefer": "wait=20"} if way == "waiting" else {})
            answer = client("POST", path, body, fields)
            assert answer.status in (200, 202), answer.body
            identities.append(answer.json["id"])
        return identities

    def repeat(service, key, before, failures):
        try:
            client = Client(service.port)
            wait_until(lambda: not set(submit(client, key)) & set(before), "all calls are new ones")
        except AssertionError as failure:
            failures.append(failure)

    for round in range(3):
        key, failures = f"round-{round}", []
        before = submit(services[0], key)
        for identity in before:
            services[0].ended(identity)
        repeating = [threading.Thread(target=repeat, args=(services[n % len(services)], key, before, failures)) for n in range(4)]
        for thread in repeating:
            thread.start()
        purge(services[0])
        for thread in repeating:
            thread.join()
        assert not failures, failures[0]

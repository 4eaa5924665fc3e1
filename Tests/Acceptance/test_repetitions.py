"""Submissions that are repeated under their keys, while something else changes."""

import collections
import http.client
import json
import queue
import random
import threading
import time

import pytest
from processes import Client, wait_until
from test_replicas import LASTING

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def services(request, redial):
    """One service on a file, or two on one database."""
    return [redial()] if request.param == "SQLite" else request.getfixturevalue("instances")(2, *LASTING)[1]


def items(answer):
    """The items in the answer to a batch, of either form."""
    assert answer.status == 200, answer.body
    lines = answer.headers["content-type"] == LINES["content-type"]
    return [json.loads(line) for line in answer.body.splitlines()] if lines else answer.json["data"]


def test_a_repetition_may_be_written_in_another_way(redial, receiver):
    service, target = redial(), receiver()
    first = {"url": target.url, "method": "POST", "delay": "1h", "labels": {"a": "1", "b": "é"}, "priority": 3,
             "json": {"z": 1.0, "a": [1e2, {"y": 0, "x": "\u00fc"}]}}
    texts = [
        json.dumps(first), json.dumps(dict(reversed(first.items())), indent=2),
        json.dumps(first | {"labels": {"b": "é", "a": "1"}, "priority": 3.0}, ensure_ascii=False),
        json.dumps(first).replace("1.0", "10e-1").replace("100.0", "100").replace("/", "\\/").replace("method", "m\\u0065thod"),
        json.dumps(first | {"json": {"a": [100, {"x": "ü", "y": -0.0}], "z": 1}})]
    others = [first | {"priority": 4}, first | {"json": {"z": 1, "a": [{"y": 0, "x": "ü"}, 100]}}, first | {"labels": {"a": "1"}},
              json.dumps(first).replace("1.0", "1.0000000000000000000001")]
    original = service.submit(url=target.url, delay="1h")
    for path, form in (("/v1/calls", "{}"), ("/v1/calls/batch", "[{}]"), ("/v1/calls/batch", "{}\n")):
        fields = (LINES if form.endswith("\n") else JSON) | {"idempotency-key": f"{path}{len(form)}"}
        found = set()
        for text in texts:
            text = text.replace("\n", " ") if form.endswith("\n") else text
            answer = service("POST", path, form.replace("{}", text).encode(), fields)
            assert answer.status in (200, 202), (text, answer.body)
            found.add(answer.json["id"] if path == "/v1/calls" else items(answer)[0]["call"]["id"])
        assert len(found) == 1, path
        for other in others:
            text = other if isinstance(other, str) else json.dumps(other)
            answer = service("POST", path, form.replace("{}", text).encode(), fields)
            assert (answer.status if path == "/v1/calls" else items(answer)[0]["status"]) == 422, text
    # The body is the one that came first.
    service("POST", f"/v1/calls/{service('GET', '/v1/calls?limit=1').json['data'][0]['id']}/retry")
    assert target.next().body == json.dumps(first["json"]).encode()
    replays = {service("POST", f"/v1/calls/{original}/replay", text, JSON | {"idempotency-key": "r"}).json["id"]
               for text in ('{"priority": 7, "delay": "2h"}', '{ "delay": "2h", "priority": 7.0 }')}
    assert len(replays) == 1
    forwarded = {service("POST", f"/v1/forward/{target.url}", b'{"a": 1}', {"idempotency-key": "f", "redial-policy": policy}).json["id"]
                 for policy in ('{"maxAttempts": 3, "deadline": "1h"}', '{"deadline": "1h", "maxAttempts": 3.0}')}
    assert len(forwarded) == 1
    # There it is the body that is compared, byte by byte: nobody has said that it is JSON.
    answer = service("POST", f"/v1/forward/{target.url}", b'{"a":1}', {
        "idempotency-key": "f", "redial-policy": '{"maxAttempts": 3, "deadline": "1h"}'})
    assert answer.status == 422 and answer.json["code"] == "idempotencyKeyReused"


def purge(service, **filter):
    answer = service(
        "POST", "/v1/operations", {"action": "purge", "filter": {"state": "succeeded"} | filter, "ratePerSecond": 10_000})
    assert answer.status == 202, answer.body


def test_a_repetition_that_waits_for_the_end_says_that_it_is_one(redial, receiver):
    over = threading.Event()
    service, target = redial(), receiver(lambda request: over.wait() and (200, {}, b"ok"))
    call, key, wait = {"url": target.url}, {"idempotency-key": "order-7"}, {"prefer": "wait=50"}
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
        assert answer.headers["idempotency-status"] == "repeated" and answer.headers["preference-applied"] == "wait=50"
    for path, body in (("/v1/calls", json.dumps(call)), (f"/v1/calls/{first.json['id']}/replay", "{}"),
                       (f"/v1/forward/{target.url}", "x")):
        fields = JSON | wait | {"idempotency-key": f'"{path}"'}
        new, again = service("POST", path, body, fields), service("POST", path, body, fields)
        assert (new.status, again.status) == (200, 200) and new.json["id"] == again.json["id"]
        assert (new.headers["idempotency-status"], again.headers["idempotency-status"]) == (None, "repeated")


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
            assert answer.headers["idempotency-status"] == "repeated"
        for identity in identities:
            service.ended(identity)
        for answer, identity in zip(submissions(service, more={"prefer": "wait=50"}), identities):
            assert (answer.status, answer.json["id"]) == (200, identity), answer.body
            assert answer.headers["idempotency-status"] == "repeated"
        for again, before in zip(batches(service), together):
            assert [item["status"] for item in again] == [202, 422, 202]
            assert all(again[n]["idempotencyStatus"] == "repeated" and again[n]["call"]["id"] == before[n]["call"]["id"] for n in (0, 2))
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
        assert (again.status, again.json["id"], again.headers["idempotency-status"]) == (202, identity, "repeated")

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
            fields = {"idempotency-key": f"{key}-{number}"} | ({"prefer": "wait=50"} if way == "waiting" else {})
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


@pytest.fixture
def moody(receiver):
    """A target that answers with its `mood`, a status."""
    target = receiver(lambda request: (target.mood, {}, b""))
    target.mood = 500
    return target


def reruns_of(call):
    """After how many attempts it was run again under its key."""
    again = [retry for retry in call["retries"] if retry["reason"] == "submitted again under its Idempotency-Key"]
    return [retry["afterAttempt"] for retry in again]


def history(service, identity):
    """The call, and after how many attempts it was run again under its key."""
    call = service.get(identity)
    return call, reruns_of(call)


def test_a_failed_call_runs_again_when_it_is_submitted_again(services, moody):
    call = {"url": moody.url, "policy": {"maxAttempts": 2, "backoff": {"initial": "1ms"}}}
    lines = "\n".join([json.dumps(call)] * 2)
    original = services[0].submit(url=moody.url)
    wait_until(lambda: len(moody.requests) == 1, "the original has begun")
    services[0]("POST", f"/v1/calls/{original}/cancel")

    def ways(service):
        """Each way to submit, and what it says of its calls: status, idempotency status and call."""
        def post(path, body, fields):
            answer = service("POST", path, body, fields)
            return [(answer.status, answer.headers["idempotency-status"], answer.json)]

        def batch(path, body, fields):
            return [(item["status"], item.get("idempotencyStatus"), item["call"])
                    for item in items(service("POST", path, body, fields))]
        policy = {"redial-policy": json.dumps(call["policy"])}
        return [
            lambda: post("/v1/calls", json.dumps(call), JSON | {"idempotency-key": "a"}),
            lambda: post(f"/v1/forward/{moody.url}", b"x", {"idempotency-key": "b"} | policy),
            lambda: post(f"/v1/calls/{original}/replay", json.dumps({"policy": call["policy"]}), JSON | {"idempotency-key": "c"}),
            lambda: batch("/v1/calls/batch", json.dumps([call] * 2), JSON | {"idempotency-key": "d"}),
            lambda: batch("/v1/calls/batch", lines, LINES | {"idempotency-key": "e"}),
        ]

    first, last = services[0], services[-1]
    submitted = [way() for way in ways(first)]
    identities = [shown["id"] for answers in submitted for _, _, shown in answers]
    assert len(set(identities)) == 7
    assert {(status, repetition) for answers in submitted for status, repetition, _ in answers} == {(202, None)}
    assert all(first.ended(identity)["state"] == "failed" for identity in identities)
    # It fails once more, and is then mended.
    for mood, state in ((500, "failed"), (200, "succeeded")):
        moody.mood = mood
        again = [answer for way in ways(last) for answer in way()]
        assert [(status, repetition, shown["id"]) for status, repetition, shown in again] == [
            (202, "rerun", identity) for identity in identities]
        assert all(first.ended(identity)["state"] == state for identity in identities)
    for identity in identities:
        shown, reruns = history(first, identity)
        assert reruns == [2, 4] and shown["attemptCount"] == 5
    again = [answer for way in ways(first) for answer in way()]
    assert {(status, repetition) for status, repetition, _ in again} == {(202, "repeated")}
    assert all(history(first, identity)[0]["attemptCount"] == 5 for identity in identities)


def test_who_waits_for_the_end_gets_that_of_the_new_run(services, moody):
    call, fields = {"url": moody.url, "policy": {"maxAttempts": 1}}, {"idempotency-key": "a", "prefer": "wait=50"}
    first = services[0]("POST", "/v1/calls", call, fields)
    assert (first.status, first.json["state"]) == (200, "failed")
    moody.mood = 201
    again = services[-1]("POST", "/v1/calls", call, fields)
    assert (again.status, again.json["state"], again.json["id"]) == (200, "succeeded", first.json["id"])
    assert again.headers["idempotency-status"] == "rerun" and again.headers["preference-applied"] == "wait=50"


def test_a_cancelled_call_runs_again_when_it_is_submitted_again(services, moody):
    moody.mood = 200
    call, key = {"url": moody.url, "delay": "1h"}, {"idempotency-key": "a"}
    before = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 3000))
    identity = services[0]("POST", "/v1/calls", call, key).json["id"]
    assert services[0]("POST", f"/v1/calls/{identity}/cancel").json["state"] == "cancelled"
    again = services[-1]("POST", "/v1/calls", call, key)
    assert (again.status, again.headers["idempotency-status"], again.json["id"]) == (202, "rerun", identity)
    # It still has its start time; and whoever retries it wants it at once.
    waits = services[0].get(identity)
    assert (waits["state"], waits["waitingOn"], waits["nextAttemptAt"] > before) == ("scheduled", "startTime", True)
    assert services[0]("POST", f"/v1/calls/{identity}/retry").status == 200
    assert services[0].ended(identity)["state"] == "succeeded"


def test_what_a_call_has_caused_does_not_run_it_again(redial, moody, receiver):
    """A handler of failures that submits the failed call again, with the hops of its request, would never end."""
    answers = queue.Queue()

    def handle(request):
        if request.headers.get("redial-hops"):
            answers.put(service("POST", "/v1/calls", call, key | {"redial-hops": request.headers["redial-hops"]}))
        return 200, {}, b""

    handler, service = receiver(handle), redial()
    call = {"url": moody.url, "policy": {"maxAttempts": 1}, "callback": {"url": handler.url, "events": ["call.failed"]}}
    key = {"idempotency-key": "a"}
    identity = service("POST", "/v1/calls", call, key).json["id"]
    answer = answers.get(timeout=60)
    assert (answer.status, answer.headers["idempotency-status"], answer.json["id"]) == (202, "repeated", identity)
    # Somebody else does run it again.
    assert service("POST", "/v1/calls", call, key).headers["idempotency-status"] == "rerun"
    assert answers.get(timeout=60).headers["idempotency-status"] == "repeated"
    assert service.ended(identity)["attemptCount"] == 2


@pytest.mark.parametrize("mood, runs", [(401, True), (503, False), (409, False), (None, True)])
def test_what_may_not_be_executed_twice_runs_again_only_if_no_attempt_was(redial, moody, receiver, mood, runs):
    service, moody.mood = redial(), mood
    url = moody.url if mood else "http://127.0.0.1:1/"
    call = {"url": url, "idempotent": False, "policy": {"maxAttempts": 2, "backoff": {"initial": "1ms"}}}
    submissions = [
        lambda: (lambda answer: (answer.headers["idempotency-status"], answer.json["id"]))(
            service("POST", "/v1/calls", call, {"idempotency-key": "a"})),
        lambda: (lambda item: (item.get("idempotencyStatus"), item["call"]["id"]))(
            items(service("POST", "/v1/calls/batch", json.dumps([call]), JSON | {"idempotency-key": "b"}))[0])]
    for submit in submissions:
        repetition, identity = submit()
        assert repetition is None and service.ended(identity)["state"] == "failed"
        assert submit() == ("rerun" if runs else "notRerun", identity)
        service.ended(identity)
        assert len(history(service, identity)[1]) == runs


@pytest.mark.parametrize("flags, member, status", [
    ((), {"onRepeat": "answer"}, "repeated"), (("--on-repeat", "answer"), {}, "repeated"),
    (("--on-repeat", "answer"), {"onRepeat": "rerun"}, "rerun")])
def test_a_call_and_a_setting_say_whether_a_repetition_runs_it_again(redial, moody, flags, member, status):
    service, policy = redial(*flags), {"maxAttempts": 1}
    call, key = {"url": moody.url, "policy": policy} | member, {"idempotency-key": "a"}
    identity = service("POST", "/v1/calls", call, key).json["id"]
    assert service.ended(identity)["state"] == "failed"
    again = service("POST", "/v1/calls", call, key)
    assert (again.status, again.headers["idempotency-status"], again.json["id"]) == (202, status, identity)
    shown = service("POST", "/v1/calls?dryRun=true", call).json["call"]
    assert shown.get("onRepeat", "rerun") == ("answer" if status == "repeated" else "rerun")
    wrong = service("POST", "/v1/calls", {"url": moody.url, "onRepeat": "fail"})
    assert wrong.json["errors"] == [{"pointer": "/onRepeat", "detail": 'must be "rerun" or "answer"'}]
    fields = {"idempotency-key": "f", "redial-policy": json.dumps(policy), "prefer": "wait=50"}
    fields |= {"redial-on-repeat": member["onRepeat"]} if member else {}
    forwarded = [service("POST", f"/v1/forward/{moody.url}", b"x", fields) for _ in range(2)]
    assert [answer.headers["idempotency-status"] for answer in forwarded] == [None, status]


def test_a_sensitive_call_that_has_failed_is_said_not_to_run_again(redial, moody):
    service, key = redial(), {"idempotency-key": "a"}
    call = {"url": moody.url, "sensitive": True, "policy": {"maxAttempts": 1}}
    identity = service("POST", "/v1/calls", call, key).json["id"]
    service.ended(identity)
    moody.mood = 200
    again = service("POST", "/v1/calls", call, key)
    assert (again.headers["idempotency-status"], again.json["state"], again.json["id"]) == ("notRerun", "failed", identity)
    [item] = items(service("POST", "/v1/calls/batch", json.dumps([call]), JSON | {"idempotency-key": "b"}))
    assert service.ended(item["call"]["id"])["state"] == "succeeded"
    assert len(moody.requests) == 2


def test_what_is_not_to_be_run_again_is_answered_as_it_is(services, moody):
    service, key = services[-1], {"idempotency-key": "a"}
    call = {"url": moody.url, "policy": {"maxAttempts": 1}}
    identity = services[0]("POST", "/v1/calls", call, key).json["id"]
    services[0].ended(identity)
    assert services[0]("DELETE", f"/v1/calls/{identity}/content").status == 200
    again = service("POST", "/v1/calls", call, key)
    assert (again.status, again.headers["idempotency-status"], again.json["id"]) == (202, "notRerun", identity)
    other = service("POST", "/v1/calls", call | {"priority": 1}, key)
    assert (other.status, other.json["code"]) == (422, "idempotencyKeyReused")
    assert len(moody.requests) == 1


def test_of_many_submissions_at_once_one_runs_the_call_again(services, moody):
    call, key = {"url": moody.url, "policy": {"maxAttempts": 1}}, {"idempotency-key": "a"}
    identity = services[0]("POST", "/v1/calls", call, key).json["id"]
    together = threading.Barrier(8)
    for run in range(1, 8):
        assert services[0].ended(identity)["attemptCount"] == run
        # All have found it ended before the first has run it again, or find it running: it does not end meanwhile.
        held = threading.Event()
        moody.answer = lambda request: held.wait(60) and (500, {}, b"")
        found, seen = [], []

        def submit(number):
            client = Client(services[number % len(services)].port)
            together.wait()
            answer = client("POST", "/v1/calls", call, key)
            found.append(answer.headers["idempotency-status"])
            # Whoever finds that another has run it again is answered with the new run, not with the end before it.
            seen.append(answer.json["state"])
        threads = [threading.Thread(target=submit, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        held.set()
        assert sorted(found) == ["repeated"] * 7 + ["rerun"]
        assert "failed" not in seen
    assert services[0].ended(identity)["attemptCount"] == 8
    assert history(services[0], identity)[1] == list(range(1, 8))


def test_whatever_is_killed_each_end_of_a_call_is_followed_by_one_new_run_at_most(instances, moody):
    _, services = instances(3, "--lease-duration", "1s")
    keys, rerun, problems, over = [f"key{n}" for n in range(6)], collections.Counter(), [], threading.Event()
    identities = {}

    def call(key):
        return {"url": moody.url, "target": key, "policy": {"maxAttempts": 1}}

    # A lease of a second is lost whenever a busy machine pauses.
    def accepted(key):
        answer = services[0]("POST", "/v1/calls", call(key), {"idempotency-key": key})
        return answer.status == 202 and answer.json["id"]

    def ended(key):
        answer = services[0]("GET", f"/v1/calls/{identities[key]}")
        return answer.status == 200 and answer.json["finishedAt"] and answer.json
    for key in keys:
        identities[key] = wait_until(lambda: accepted(key), f"{key} is accepted")

    def submit(seed):
        draw = random.Random(seed)
        while not over.is_set():
            key, port = draw.choice(keys), draw.choice(services).port
            try:
                answer = Client(port)("POST", "/v1/calls", call(key), {"idempotency-key": key})
            except (OSError, http.client.HTTPException):
                continue
            if answer.status == 202:
                if answer.json["id"] != identities[key]:
                    problems.append((key, answer.body))
                rerun[key] += answer.headers["idempotency-status"] == "rerun"
            elif answer.status != 503:
                problems.append((answer.status, answer.body))
            over.wait(draw.uniform(0, 0.4))
    threads = [threading.Thread(target=submit, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    draw = random.Random(7)
    for _ in range(6):
        victim = draw.choice(services)
        time.sleep(draw.uniform(0.5, 1.5))
        victim.kill()
        time.sleep(draw.uniform(0, 2))
        victim.start()
    over.set()
    for thread in threads:
        thread.join()
    assert problems == []
    for key in keys:
        shown = wait_until(lambda: ended(key), f"{key} has ended")
        reruns = reruns_of(shown)
        assert shown["state"] == "failed"
        # Those that were acknowledged, and those whose answers the killed instances owe.
        assert rerun[key] <= len(reruns) < 100 and len(set(reruns)) == len(reruns), (key, rerun, reruns)
        assert shown["attemptCount"] > len(reruns)
    assert sum(rerun.values()) > 20, rerun

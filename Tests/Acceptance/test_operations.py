"""Bulk operations: counted first, at a rate, durable, cancellable."""

import contextlib
import json
import sqlite3
import time

from processes import Constants, run, wait_until

ONCE = {"maxAttempts": 1}
JSON = {"content-type": "application/json"}


def begin(service, **request):
    """Begins an operation, by default on every call."""
    answer = service("POST", "/v1/operations", request if "filter" in request else request | {"all": True})
    assert answer.status == 202, answer.body
    assert answer.headers["location"] == f"/v1/operations/{answer.json['id']}"
    return answer.json


def get(service, identity):
    answer = service("GET", f"/v1/operations/{identity}")
    assert answer.status == 200, answer.body
    return answer.json


def over(service, operation):
    """The operation, once it is completed."""
    def completed():
        shown = get(service, operation["id"])
        return shown["state"] == "completed" and shown
    return wait_until(completed, "the operation is completed")


def submit(service, count, **descriptor):
    answer = service("POST", "/v1/calls/batch", [descriptor] * count)
    return [item["call"]["id"] for item in answer.json["data"]]


def count(service, **filter):
    answer = service("POST", "/v1/operations", {"action": "purge", "filter": filter, "dryRun": True})
    assert answer.status == 200, answer.body
    assert answer.json["isComplete"]
    return answer.json["matched"]


def test_failed_calls_are_run_again_once_each_and_others_are_left_alone(redial, receiver):
    # An answer that makes a call fail but is no failure of its target, whose breaker stays closed.
    target = receiver(lambda request: (404, {}, b""))
    service = redial()
    wanted = submit(service, 120, url=target.url, policy=ONCE, labels={"team": "a"})
    others = submit(service, 5, url=target.url, policy=ONCE, labels={"team": "b"})
    for call in wanted + others:
        service.ended(call)
    dry = service("POST", "/v1/operations", {
        "action": "retry", "filter": {"labels": {"team": "a"}, "status": "400-499"}, "dryRun": True}).json
    assert (dry["matched"], dry["isComplete"]) == (120, True) and dry["filter"]["state"] == "failed"
    assert service("GET", "/v1/operations").json["data"] == []
    # They fail again, and do not count as calls that are still to be retried.
    operation = over(service, begin(
        service, action="retry", filter={"labels": {"team": "a"}, "status": "400-499"}, ratePerSecond=10000, by="ada",
        reason="mended"))
    assert (operation["matched"], operation["done"], operation["skipped"]) == (120, 120, 0)
    assert operation["by"] == "ada" and operation["finishedAt"] > operation["createdAt"]
    for call in wanted:
        shown = service.ended(call)
        assert shown["attemptCount"] == 2 and [r["by"] for r in shown["retries"]] == ["ada"]
    assert all(service.get(call)["attemptCount"] == 1 for call in others)
    assert service("GET", "/v1/operations").json["data"] == [operation]


def test_an_operation_keeps_its_pace(redial, receiver):
    service = redial()
    submit(service, 30, url=receiver().url, delay="1h")
    began = time.monotonic()
    operation = over(service, begin(service, action="cancel", ratePerSecond=20))
    assert operation["done"] == 30 and time.monotonic() - began > 1.2
    assert count(service, state="cancelled") == 30


def test_an_operation_goes_on_after_a_kill_and_runs_no_call_twice(redial, receiver):
    target = receiver(lambda request: (404, {}, b""))
    service = redial()
    calls = submit(service, 150, url=target.url, policy=ONCE)
    for call in calls:
        service.ended(call)
    operation = begin(service, action="retry", ratePerSecond=100)

    def goes_on(before):
        # On a busy machine it may even come to its end before this is seen.
        shown = get(service, operation["id"])
        return shown["done"] > before or shown["state"] == "completed"

    for _ in range(3):
        before = get(service, operation["id"])["done"]
        wait_until(lambda: goes_on(before), f"more than {before} are done")
        service.kill()
        service.start()
    shown = over(service, operation)
    # A page whose calls were retried and whose progress was not yet on disk is neither counted nor retried again.
    assert shown["matched"] == 150 and 110 <= shown["done"] <= 150
    for call in calls:
        # An attempt that a kill interrupted was begun, too; the retry itself is one.
        assert len(service.ended(call)["retries"]) == 1
    service.kill()
    service.start()
    assert get(service, operation["id"]) == shown


def replays(service, originals):
    """How many calls repeat each of some calls."""
    found, cursor = [], ""
    while cursor is not None:
        page = service("GET", "/v1/calls?limit=250" + (f"&cursor={cursor}" if cursor else "")).json
        found += [call.get("replayOf") for call in page["data"]]
        cursor = page["nextCursor"]
    return [found.count(original) for original in originals]


def test_failed_calls_are_replayed_once_each_whatever_is_killed(redial, receiver):
    target = receiver(lambda request: (404, {}, b""))
    service = redial()
    calls = submit(service, 60, url=target.url, method="POST", json={"amount": 17}, policy=ONCE, labels={"team": "a"}, target="bank")
    other = service.submit(url=target.url, policy=ONCE)
    # Newer than all others, and in an order that new calls would not have.
    ordered = service.submit(url=target.url, policy=ONCE, target="bank", orderingKey="a")
    for call in [*calls, other, ordered]:
        service.ended(call)
    service("DELETE", f"/v1/calls/{calls[0]}/content")
    filter = {"target": "bank"}
    dry = service("POST", "/v1/operations", {"action": "replay", "filter": filter, "dryRun": True}).json
    assert (dry["matched"], dry["filter"]["state"]) == (61, "failed")
    assert dry["skipped"]["reasons"] == {"contentErased": 1, "ordered": 1}
    # They fail again, and do not count as calls that are still to be replayed.
    operation = begin(service, action="replay", filter=filter, ratePerSecond=40)
    for _ in range(3):
        before = get(service, operation["id"])["done"]
        wait_until(lambda: get(service, operation["id"])["done"] > before or get(service, operation["id"])["finishedAt"],
                   f"more than {before} are done")
        service.kill()
        service.start()
    shown = over(service, operation)
    assert (shown["matched"], shown["done"], shown["skipped"]) == (61, 59, 2)
    assert replays(service, [*calls, other, ordered]) == [0] + [1] * 59 + [0, 0]
    new = next(call for call in service("GET", "/v1/calls?limit=250").json["data"] if call.get("replayOf") == calls[-1])
    assert (new["target"], new["labels"], new["method"]) == ("bank", {"team": "a"}, "POST")
    service.ended(new["id"])
    # An attempt that a kill cut off is made again, under the same key.
    bodies = [json.loads(request.body) for request in target.requests if request.headers["idempotency-key"] == new["id"]]
    assert bodies and all(body == {"amount": 17} for body in bodies)
    assert all(service.get(call)["state"] == "failed" and service.get(call)["attemptCount"] == 1 for call in calls)
    # Another operation replays them again, and it can be stopped.
    operation = begin(service, action="replay", filter=filter | {"createdBefore": service.get(other)["createdAt"]}, ratePerSecond=2)
    wait_until(lambda: get(service, operation["id"])["done"] > 0, "it is under way")
    stopped = service("POST", f"/v1/operations/{operation['id']}/cancel").json
    assert stopped["state"] == "cancelled" and stopped["done"] < 59
    refused = service("POST", "/v1/operations", {"action": "replay", "filter": {"kind": "webhook"}})
    assert refused.status == 422 and refused.json["errors"][0]["pointer"] == "/filter/kind"


def test_a_replay_whose_progress_was_lost_makes_no_call_twice(redial, receiver):
    target = receiver(lambda request: (404, {}, b""))
    service = redial()
    calls = submit(service, 20, url=target.url, policy=ONCE)
    for call in calls:
        service.ended(call)
    operation = over(service, begin(service, action="replay", filter={"state": "failed"}, ratePerSecond=1000))
    assert operation["done"] == 20 and replays(service, calls) == [1] * 20
    service.kill()
    # As it is after a crash between the new calls and the progress.
    with contextlib.closing(sqlite3.connect(service.store)) as store:
        [(content,)] = store.execute("SELECT content FROM documents WHERE kind = 'operation'")
        left = {name: value for name, value in json.loads(content).items() if name not in ("done", "cursor", "finishedAt")}
        store.execute("UPDATE documents SET content = ?, sum = NULL WHERE kind = 'operation'", [json.dumps(left | {"state": 1}).encode()])
        store.commit()
    service.start()
    assert over(service, operation)["done"] == 20
    assert replays(service, calls) == [1] * 20


def test_a_cancelled_operation_stops_and_stays_so(redial, receiver):
    service, url = redial(), receiver().url
    submit(service, 1000, url=url, delay="1h", labels={"team": "a"})
    operation = begin(service, action="cancel", filter={"labels": {"team": "a"}}, ratePerSecond=20)

    def another():
        """An operation of the same pace, from its beginning to its end, a few pages later."""
        submit(service, 6, url=url, delay="1h", labels={"team": "b"})
        done = over(service, begin(service, action="cancel", filter={"labels": {"team": "b"}}, ratePerSecond=20))["done"]
        assert done == 6
    wait_until(lambda: get(service, operation["id"])["done"] > 0, "it is under way")
    answer = service("POST", f"/v1/operations/{operation['id']}/cancel")
    assert answer.status == 200 and answer.json["state"] == "cancelled" and answer.json["finishedAt"]
    assert service("POST", f"/v1/operations/{operation['id']}/cancel").status == 200
    another()
    left = get(service, operation["id"])
    assert left["done"] - answer.json["done"] <= 2 and left["done"] < 1000, "only the page that was under way is finished"
    service.kill()
    service.start()
    another()
    assert get(service, operation["id"])["state"] == "cancelled"
    assert count(service, state="cancelled", labels={"team": "a"}) == left["done"]


def test_waiting_calls_are_released_and_ended_ones_purged(redial, receiver):
    target = receiver()
    service = redial()
    later = submit(service, 40, url=target.url, delay="1h")
    assert over(service, begin(service, action="release", ratePerSecond=1000))["done"] == 40
    for call in later:
        assert service.ended(call)["state"] == "succeeded"
    kept = submit(service, 3, url=target.url, delay="1h")
    assert over(service, begin(service, action="purge", filter={"state": "succeeded"}, ratePerSecond=1000))["done"] == 40
    assert service("GET", f"/v1/calls/{later[0]}").status == 404
    service.kill()
    service.start()
    assert [call["id"] for call in service("GET", "/v1/calls").json["data"]] == kept[::-1]


def test_calls_that_changed_meanwhile_are_skipped(redial, receiver):
    target = receiver(lambda request: (500, {}, b""))
    service = redial()
    calls = submit(service, 10, url=target.url, policy=ONCE)
    for call in calls:
        service.ended(call)
    for call in calls[:4]:
        service("DELETE", f"/v1/calls/{call}/content")
    dry = service("POST", "/v1/operations", {"action": "retry", "dryRun": True, "filter": {"target": target.url}}).json
    assert (dry["matched"], dry["skipped"]) == (10, {"calls": 4, "checked": 10, "reasons": {"contentErased": 4}})
    shown = run("ops", "create", "retry", "--target", target.url, "--dry-run", "--server", service.url).stdout
    assert shown.endswith("; 4 of them would be skipped: 4 erased\n")
    # What needs no payloads is done to all.
    dry = service("POST", "/v1/operations", {
        "action": "purge", "dryRun": True, "filter": {"target": target.url, "state": "failed"}}).json
    assert (dry["matched"], dry["skipped"]) == (10, {"calls": 0, "checked": 10, "reasons": {}})
    operation = over(service, begin(service, action="retry"))
    assert (operation["matched"], operation["done"], operation["skipped"]) == (10, 6, 4)


def test_what_cannot_be_meant_is_refused_and_operations_are_bounded(redial, receiver):
    service = redial(Constants(maxOperations=2))
    for request, pointer in (
        ({}, "/action"), ({"action": "erase"}, "/action"), ({"action": "purge"}, "/filter/state"),
        ({"action": "retry", "filter": {"state": "running"}}, "/filter/state"),
        ({"action": "retry", "filter": {"stat": "failed"}}, "/filter/stat"),
        ({"action": "cancel", "filter": {"labels": {"a": 1}}}, "/filter/labels/a"),
        ({"action": "cancel", "filter": {"labels": {"a=b": "c"}}}, "/filter/labels/a=b"),
        ({"action": "cancel", "all": True, "by": "a\nb"}, "/by"),
        ({"action": "cancel", "all": True, "ratePerSecond": 0}, "/ratePerSecond"),
        ({"action": "cancel", "all": True, "by": ""}, "/by"), ({"action": "cancel", "all": 1}, "/all")):
        answer = service("POST", "/v1/operations", request)
        assert answer.status == 422 and pointer in [e["pointer"] for e in answer.json["errors"]], request
    for member, words in (("state", "an array of strings"), ("attempts", "a number"), ("status", "a number")):
        assert words in service("POST", "/v1/operations", {"action": "cancel", "filter": {member: None}}).json["detail"]
    submit(service, 500, url=receiver().url, delay="1h")
    both = [begin(service, action="cancel", ratePerSecond=1) for _ in range(2)]
    refused = service("POST", "/v1/operations", {"action": "cancel", "all": True})
    assert refused.status == 409 and refused.json["code"] == "tooManyOperations"
    assert service("POST", f"/v1/operations/{both[0]['id']}/cancel").status == 200
    third = begin(service, action="cancel", ratePerSecond=10000)
    assert over(service, third)["done"] > 0
    answer = service("POST", f"/v1/operations/{third['id']}/cancel")
    assert answer.status == 409 and answer.json["code"] == "operationEnded"
    assert service("GET", "/v1/operations/op_0000000000000").status == service("GET", "/v1/operations/x").status == 404


def test_an_operation_without_a_filter_has_to_say_that_it_means_all(redial, receiver):
    service = redial()
    submit(service, 3, url=receiver().url, delay="1h")
    for request in ({"action": "cancel"}, {"action": "cancel", "filter": {}}, {"action": "cancel", "dryRun": True},
                    {"action": "cancel", "filter": {"kind": "call"}}, {"action": "cancel", "all": False},
                    {"action": "cancel", "filter": {"labels": {}}}):
        refused = service("POST", "/v1/operations", request)
        assert refused.status == 422 and refused.json["code"] == "invalidOperation", request
        error = refused.json["errors"][0]
        assert error["pointer"] == "/filter" and '"all": true' in error["detail"], error
        assert "cancel every scheduled call" in error["detail"]
    assert service("GET", "/v1/operations").json["data"] == []
    assert service("POST", "/v1/operations", {"action": "cancel", "all": True, "dryRun": True}).json["matched"] == 3
    refused = run("ops", "create", "cancel", "--url", service.url)
    assert refused.returncode == 4 and "--all" in refused.stderr, refused
    done = run("ops", "create", "cancel", "--all", "--rate", "1000", "--url", service.url)
    assert done.returncode == 0 and "3 of 3 calls done" in done.stdout, done


def test_clients_are_served_while_an_operation_runs(redial, receiver):
    target = receiver()
    service = redial()

    def several_were_served():
        """Whether several submissions are answered one after another before an operation of 2000 calls is completed."""
        for _ in range(4):
            submit(service, 500, url=target.url, delay="1h", labels={"team": "a"})
        operation = begin(service, action="cancel", filter={"labels": {"team": "a"}, "state": "scheduled"}, ratePerSecond=10000)
        served = -1
        while get(service, operation["id"])["state"] != "completed":
            served += 1
            service.submit(url=target.url, labels={"a": "b"})
        assert get(service, operation["id"])["done"] == 2000
        return served >= 10

    # A busy machine may let this process sleep while the operation runs; then it is tried again.
    wait_until(several_were_served, "clients are served beside an operation")

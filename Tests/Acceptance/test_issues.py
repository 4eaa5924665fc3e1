"""What is wrong: listed, acknowledged, resolved, and failed calls run again."""

import json
import threading

import pytest

from processes import HASTY, Constants, breaker, run, wait_until
from test_operations import begin, over
from test_replica_forwarding import owners
from test_replicas import LASTING

ONCE = {"maxAttempts": 1}


def issues(service, query=""):
    answer = service("GET", f"/v1/issues{query}")
    assert answer.status == 200, answer.body
    assert answer.json["isComplete"] and answer.json["nextCursor"] is None
    return answer.json["data"]


def fail(service, url, count, **more):
    calls = [service.submit(url=url, policy=ONCE, **more) for _ in range(count)]
    for call in calls:
        assert service.ended(call)["state"] == "failed"
    return calls


def mark(service, issue, **words):
    answer = service("PATCH", f"/v1/issues/{issue['id']}", words)
    assert answer.status == 200, answer.body
    return answer.json


def test_failures_are_few_errors_until_they_are_run_again(redial, receiver):
    numbers = iter(range(1000))

    def answer(request):
        if request.path == "/unknown":
            return 404, {"content-type": "application/problem+json"}, json.dumps(
                {"title": "Not Found", "detail": f"no order {next(numbers)} for user 6f1c2d3e-0a9b-4c8d-8e7f-001122334455"}
            ).encode()
        return 422, {}, b"card declined\nsee https://example.com"
    target = receiver(answer)
    service = redial()
    unknown = fail(service, f"{target.url}/unknown", 7, target="orders")
    declined = fail(service, f"{target.url}/card", 3, target="orders")
    fail(service, "http://127.0.0.1:1/", 2, target="nobody")
    found = issues(service)
    assert [(one["target"], one["calls"], one["reason"], one["kind"], one["state"]) for one in found] == [
        ("orders", 7, "notRetryable", "failed", "open"), ("orders", 3, "notRetryable", "failed", "open"),
        ("nobody", 2, "attemptsExhausted", "failed", "open")]
    assert found[0]["error"] == "404 no order {n} for user {id}"
    assert found[1]["error"] == "422 card declined"
    assert found[2]["error"].startswith("connectionRefused")
    assert found[0]["lastHours"] == [0] * 23 + [7] and found[0]["example"] == unknown[-1]
    assert found[0]["firstAt"] <= found[0]["lastAt"] and found[0]["mark"] is None
    # The calls name it, and it selects them.
    assert {service.get(call)["issue"] for call in unknown} == {found[0]["id"]}
    for issue, calls in zip(found, (unknown, declined)):
        listed = service("GET", f"/v1/calls?issue={issue['id']}&limit=250").json["data"]
        assert [call["id"] for call in listed] == calls[::-1]
        assert issue["filter"] == {"issue": issue["id"]}
        shown = service("GET", f"/v1/issues/{issue['id']}").json
        assert shown == issue | {"affected": shown["affected"]}
    assert issues(service, "?target=nobody&state=open") == found[2:]
    assert issues(service, "?state=resolved") == []
    # Nothing is lost by a crash, neither a group nor the statement about it.
    known = mark(service, found[1], state="acknowledged", by="ada", reason="the bank knows")
    assert (known["state"], known["mark"]["by"], known["mark"]["reason"]) == ("acknowledged", "ada", "the bank knows")
    service.kill()
    service.start()
    assert issues(service) == [found[0], known, found[2]]
    assert issues(service, "?state=acknowledged") == [known]
    # The cause is gone, and all of an issue run again.
    target.answer = lambda request: (200, {}, b"")
    dry = service("POST", "/v1/operations", {"action": "retry", "filter": found[0]["filter"], "dryRun": True}).json
    assert (dry["matched"], dry["isComplete"]) == (7, True)
    assert over(service, begin(service, action="retry", filter=found[0]["filter"]))["done"] == 7
    assert all(service.ended(call)["state"] == "succeeded" for call in unknown)
    assert [one["id"] for one in issues(service)] == [known["id"], found[2]["id"]]
    assert service("GET", f"/v1/issues/{found[0]['id']}").status == 404
    assert service.get(unknown[0])["issue"] is None
    # One with a statement is shown on, without calls.
    over(service, begin(service, action="retry", filter=known["filter"]))
    for call in declined:
        service.ended(call)
    [gone] = issues(service, "?target=orders")
    assert (gone["id"], gone["calls"], gone["state"]) == (known["id"], 0, "resolved")
    assert gone["error"] == "422 card declined" and gone["mark"] == known["mark"]


def test_a_resolved_issue_opens_with_the_next_failure(redial, receiver):
    target = receiver(lambda request: (404, {}, b"gone"))
    service = redial()
    fail(service, target.url, 2, target="orders")
    [issue] = issues(service)
    assert mark(service, issue, state="resolved")["state"] == "resolved"
    assert issues(service, "?state=open,acknowledged") == []
    fail(service, target.url, 1, target="orders")
    [again] = issues(service, "?state=open")
    assert (again["id"], again["calls"]) == (issue["id"], 3)
    assert mark(service, issue, state="acknowledged", until="8h")["state"] == "acknowledged"
    assert mark(service, issue, state="open") == again | {"mark": None}
    assert issues(service) == [again | {"mark": None}]


def test_an_issue_outlives_its_newest_call_and_keeps_its_words(redial, receiver):
    target = receiver(lambda request: (404, {}, b"no such user"))
    service = redial()
    calls = fail(service, target.url, 3, target="users")
    assert service("DELETE", f"/v1/calls/{calls[-1]}/content").status in (200, 204)
    [issue] = issues(service)
    # The newest says nothing any more, and another one does.
    assert (issue["calls"], issue["error"], issue["example"]) == (3, "404 no such user", calls[-2])
    mark(service, issue, state="acknowledged", by="ada")
    # More of the same are known, too, and so are they when the first ones are gone.
    fail(service, target.url, 1, target="users")
    over(service, begin(service, action="purge", filter={"state": "failed", "target": "users", "createdBefore": service.get(calls[-1])["createdAt"]}))
    [issue] = issues(service)
    assert (issue["state"], issue["error"]) == ("acknowledged", "404 no such user") and 0 < issue["calls"] < 4


@pytest.mark.parametrize("count", [1, 2])
def test_an_issue_says_whom_it_concerns(count, request, receiver):
    service = request.getfixturevalue("redial")() if count == 1 else request.getfixturevalue("instances")(count, *LASTING)[1][-1]
    target = receiver(lambda request: (422, {}, b"card declined"))
    for number in range(5):
        fail(service, f"{target.url}/{'card' if number else f'orders/{number + 4711}'}?token=secret", 1, target="bank",
             labels={"team": "pay" if number < 3 else "shop", "order": str(number)})
    fail(service, f"{target.url}/other", 1, target="other", labels={"team": "pay"})
    [issue] = issues(service, "?target=bank")
    affected = service("GET", f"/v1/issues/{issue['id']}").json["affected"]
    assert (affected["counted"], affected["isComplete"]) == (5, True)
    assert affected["paths"] == [{"path": "/card", "calls": 4}, {"path": "/orders/{n}", "calls": 1}]
    assert affected["labels"][:2] == [{"name": "team", "value": "pay", "calls": 3}, {"name": "team", "value": "shop", "calls": 2}]
    assert affected["labels"][2:] == [{"name": "order", "value": str(number), "calls": 1} for number in range(5)]
    shown = run("issues", "show", issue["id"], "--server", service.url).stdout
    assert "by path, of all 5:\n  4     /card\n  1     /orders/{n}\nby label, of all 5:\n  3     team=pay\n" in shown


def test_of_many_issues_those_in_a_state_and_of_a_target_are_found(redial, receiver):
    target = receiver(lambda request: (404, {}, request.path.encode()))
    service = redial()
    for number, name in enumerate("abcdefgh"):
        fail(service, f"{target.url}/{name * 2}", 2 if number < 7 else 1, target=name)
    for issue in issues(service)[:3]:
        mark(service, issue, state="resolved")
    answer = service("GET", "/v1/issues?limit=2&state=open").json
    assert (len(answer["data"]), answer["isComplete"], answer["nextCursor"]) == (2, True, "2")
    following = service("GET", "/v1/issues?limit=2&state=open&cursor=2").json
    assert following["data"] and not {one["id"] for one in answer["data"]} & {one["id"] for one in following["data"]}
    [one] = service("GET", "/v1/issues?limit=1&target=h").json["data"]
    assert (one["target"], one["calls"]) == ("h", 1)
    assert {one["target"] for one in issues(service, "?state=resolved")}.isdisjoint({one["target"] for one in issues(service, "?state=open")})


def test_wrong_requests_are_refused(redial):
    service = redial()
    for query in ("state=gone", "limit=0", "limit=1001", "target=a&more=1"):
        answer = service("GET", f"/v1/issues?{query}")
        assert (answer.status, answer.json["code"]) == (400, "invalidParameter"), query
    identity = "issue_3fa09c5512d701"
    for path, code in ((identity, "issueNotFound"), ("issue_1", "notFound"), ("issue_3fa09c5512d7ff", "notFound")):
        for method, body in (("GET", None), ("PATCH", {"state": "acknowledged"})):
            answer = service(method, f"/v1/issues/{path}", body)
            assert (answer.status, answer.json["code"]) == (404, code), (method, path)
    answer = service("PATCH", f"/v1/issues/{identity}", {"state": "later"})
    assert (answer.status, answer.json["code"]) == (422, "invalidIssue")
    assert service("GET", "/v1/calls?issue=7").json["code"] == "invalidParameter"


def test_a_target_that_is_held_is_an_issue(redial, receiver):
    target = receiver()
    service = redial(clock=True)
    assert service("POST", "/v1/targets/orders/pause").status == 200
    assert issues(service) == []
    calls = [service.submit(url=target.url, target="orders") for _ in range(3)]
    later = service.submit(url=target.url, target="orders", delay="1h")
    [issue] = issues(service)
    assert (issue["kind"], issue["reason"], issue["error"], issue["target"]) == ("held", "paused", "paused", "orders")
    assert issue["filter"] == {"state": "scheduled", "target": "orders"} and issue["calls"] == 3
    assert issue["firstAt"] == service.get(calls[0])["createdAt"]
    affected = service("GET", f"/v1/issues/{issue['id']}").json["affected"]
    assert (affected["counted"], affected["paths"], affected["labels"]) == (4, [{"path": "/", "calls": 4}], [])
    # One whose time has not come waits for the pause, too.
    listed = service("GET", "/v1/calls?target=orders&state=scheduled").json["data"]
    assert [call["id"] for call in listed] == [later, *calls[::-1]]
    answer = service("PATCH", f"/v1/issues/{issue['id']}", {"state": "resolved"})
    assert (answer.status, answer.json["code"]) == (409, "issueNotResolved")
    assert mark(service, issue, state="acknowledged", until="1h")["state"] == "acknowledged"
    assert [one["state"] for one in issues(service)] == ["acknowledged"]
    assert issues(service, "?state=resolved") == [] and len(issues(service, "?state=open,acknowledged")) == 1
    service.clock.advance(3600)
    assert [one["state"] for one in issues(service)] == ["open"]
    assert service("POST", "/v1/targets/orders/resume").status == 200
    for call in calls:
        service.ended(call)
    assert [one["state"] for one in issues(service, "?target=orders")] == ["resolved"]


def test_late_calls_are_an_issue_of_their_target(redial, receiver):
    held = threading.Event()
    target = receiver(lambda request: (held.wait(60) and 200, {}, b""))
    service = redial(clock=True)
    assert service("PUT", "/v1/targets/orders", {"maxInFlight": 1}).status == 200
    calls = [service.submit(url=target.url, target="orders") for _ in range(4)]
    target.next()
    assert issues(service) == []
    service.clock.advance(61)
    [issue] = issues(service)
    assert (issue["kind"], issue["reason"], issue["calls"], issue["target"]) == ("late", "concurrency", 3, "orders")
    assert issue["filter"] == {"target": "orders", "waitingOn": "concurrency"}
    assert issue["firstAt"] == service.get(calls[1])["createdAt"]
    # Of a target that is held, or down, that is all that is said.
    assert service("POST", "/v1/targets/orders/pause").status == 200
    assert [one["kind"] for one in issues(service)] == ["held"]
    assert service("POST", "/v1/targets/orders/resume").status == 200
    assert [one["id"] for one in issues(service)] == [issue["id"]]
    held.set()


def test_a_target_that_is_down_is_an_issue_also_when_nothing_waits(redial):
    service = redial(*breaker(**HASTY))
    for _ in range(10):
        service.submit(url=f"http://127.0.0.1:1/", target="orders", policy=ONCE)
    [down] = wait_until(lambda: [one for one in issues(service, "?state=open") if one["kind"] == "down"], "it is down")
    assert (down["target"], down["error"], down["reason"]) == ("orders", "connectionRefused", "breaker")
    assert mark(service, down, state="acknowledged", by="ada")["mark"]["by"] == "ada"


def test_each_namespace_has_its_own(redial, receiver):
    target = receiver(lambda request: (404, {}, b"gone"))
    service = redial()
    fail(service, target.url, 1, target="orders")
    [own] = issues(service)
    other = {"redial-namespace": "tenant"}
    answer = service("POST", "/v1/calls", {"url": target.url, "target": "orders", "policy": ONCE}, other)
    identity = answer.json["id"]
    wait_until(
        lambda: service("GET", f"/v1/calls/{identity}", None, other).json["state"] == "failed", "the call fails")
    [theirs] = service("GET", "/v1/issues", None, other).json["data"]
    assert theirs["id"] != own["id"] and theirs["calls"] == 1
    assert issues(service) == [own]
    assert service("GET", f"/v1/issues/{own['id']}", None, other).status == 404
    assert service("GET", f"/v1/calls?issue={own['id']}", None, other).json["data"] == []


def test_every_instance_shows_the_issues_of_all(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING, Constants(lateAfter="1ms"))
    names = [own[0] for own in owners(cluster, services, target.url)]
    target.answer = lambda request: (404, {}, b"gone")
    for name in names:
        fail(services[0], target.url, 1, target=name)
        assert services[0]("POST", f"/v1/targets/{name}/pause").status == 200
        services[1].submit(url=target.url, target=name)
    for service in services:
        wait_until(lambda: len(issues(service)) == 4, "all issues are shown")
        found = issues(service)
        assert sorted(one["target"] for one in found[:2]) == sorted(names)
        assert [(one["kind"], one["calls"]) for one in found] == [("held", 1)] * 2 + [("failed", 1)] * 2
    # Each instance changes the issues of each target.
    for service in services:
        for issue in issues(service):
            words = {"state": "acknowledged", "by": "ada"}
            assert mark(service, issue, **words)["state"] == "acknowledged"
            for other in services:
                assert other("GET", f"/v1/issues/{issue['id']}").json["state"] == "acknowledged"
                assert issues(other, "?state=resolved") == []
            assert mark(service, issue, state="open")["state"] == "open"


def test_the_command_lists_and_marks_issues(redial, receiver):
    target = receiver(lambda request: (404, {}, b"no order 17"))
    service = redial()
    assert run("issues", "--server", service.url).stdout == "Nothing is wrong.\n"
    fail(service, target.url, 2, target="orders")
    [issue] = issues(service)
    shown = run("issues", "--server", service.url).stdout
    assert shown.splitlines()[0].split() == ["issue", "state", "calls", "target", "what", "happened", "last", "error"]
    assert f"{issue['id']}  open   2      orders  failed, notRetryable" in shown and "404 no order {n}" in shown
    answer = run("issues", "acknowledge", issue["id"], "--by", "ada", "--until", "8h", "--server", service.url)
    assert answer.returncode == 0 and "acknowledged" in answer.stdout and "by ada until" in answer.stdout
    assert f"redial ops create retry --issue {issue['id']}" in answer.stdout
    answer = run("ops", "create", "retry", "--issue", issue["id"], "--dry-run", "--server", service.url)
    assert answer.stdout == f"retry would act on 2 calls: failed, issue {issue['id']}\n"
    answer = run("list", "--issue", issue["id"], "--server", service.url)
    assert answer.stdout.count("call_") == 2
    assert run("issues", "resolve", issue["id"], "--server", service.url).stdout.splitlines()[0].endswith("resolved")
    assert run("issues", "--state", "open", "--server", service.url).stdout == "No issue is like that.\n"
    assert run("issues", "reopen", issue["id"], "--server", service.url).stdout.splitlines()[0].endswith("open")
    assert run("issues", "resolve", "issue_1", "--server", service.url).returncode == 2

"""Polling, listing, cancelling and retrying."""

import contextlib
import http.client
import json
import re
import select
import sqlite3
import threading
from urllib.parse import quote

from processes import BOUND, free_port, wait_until

SHAPE = {
    "id", "kind", "state", "failureReason", "issue", "waitingOn", "nextAttemptAt", "url", "method", "target", "labels",
    "createdAt", "finishedAt", "deadlineAt", "attemptCount", "maxAttempts", "policy", "contentErasedAt", "lastStatus",
    "lastError"}


def test_a_call_has_one_shape_from_submit_to_list(redial, flaky):
    service, target = redial(), flaky()
    submitted = service("POST", "/v1/calls", {"url": target.url, "labels": {"team": "payments"}}).json
    assert submitted.keys() == SHAPE | {"retries", "waited", "attempts", "response", "warnings"}
    call = service.ended(submitted["id"])
    assert call.keys() == submitted.keys() - {"warnings"} | {"policyInForce"}
    assert re.fullmatch(r"call_[0-9A-HJKMNP-TV-Z]{13}", call["id"])
    for name in ("createdAt", "finishedAt"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", call[name])
    assert call["labels"] == {"team": "payments"}
    assert call["response"]["body"] == "ok\n" and call["response"]["encoding"] == "utf8"
    listed = service("GET", "/v1/calls").json["data"]
    assert [c.keys() for c in listed] == [SHAPE]


def test_a_list_says_what_the_last_attempt_of_each_call_came_to(redial, flaky, receiver):
    service, target = redial(clock=True), flaky()
    answers = [503, 200]
    recovers = receiver(lambda request: (answers.pop(0), {}, b""))
    once = {"maxAttempts": 1}
    expected = {
        service.submit(url=target.url, delay="1h"): (None, None),
        service.submit(url=target.url): (200, None),
        service.submit(url=target.url + "/?fail=9&status=404"): (404, None),
        service.submit(url=f"http://127.0.0.1:{free_port()}/", policy=once): (None, "connectionRefused"),
    }
    twice = service.submit(url=recovers.url, policy={"backoff": {"initial": "1m", "max": "1m", "jitter": "none"}})
    shown = {}

    def last():
        page = service("GET", "/v1/calls").json["data"]
        shown.update({call["id"]: (call["lastStatus"], call["lastError"]) for call in page})
        return shown

    wait_until(lambda: last()[twice] == (503, None), "its first attempt has ended")
    for identity in list(expected)[1:]:
        service.ended(identity)
    service.advance(61)
    expected[twice] = (200, None)
    service.ended(twice)
    assert last() == expected
    lines = service("GET", "/v1/calls", headers={"accept": "application/x-ndjson"}).body.decode().splitlines()
    assert {call["id"]: (call["lastStatus"], call["lastError"]) for call in map(json.loads, lines)} == expected
    for identity, (status, error) in expected.items():
        call = service.get(identity)
        assert (call["lastStatus"], call["lastError"]) == (status, error)


def test_a_body_that_is_no_text_is_shown_in_base_64(redial, receiver):
    service, target = redial(), receiver(lambda request: (200, {}, b"\xff\x00"))
    response = service.ended(service.submit(url=target.url))["response"]
    assert (response["body"], response["encoding"]) == ("/wA=", "base64")


def test_lists_go_newest_first_in_pages_without_gap_or_double(redial, flaky):
    service, target = redial(), flaky()
    ids = [service.submit(url=f"{target.url}/{n}", delay="1h") for n in range(25)]
    seen, cursor = [], None
    while True:
        page = service("GET", "/v1/calls?limit=4" + (f"&cursor={cursor}" if cursor else "")).json
        seen += [c["id"] for c in page["data"]]
        # Calls that arrive meanwhile are newer than the page, and do not shift it.
        service.submit(url=target.url, delay="1h")
        cursor = page["nextCursor"]
        if cursor is None:
            break
        assert len(page["data"]) == 4
    assert seen == ids[::-1]


def test_lists_filter_by_state_and_target(redial, flaky):
    service, target = redial(), flaky()
    good = service.submit(url=target.url + "/good")
    bad = service.submit(url=target.url + "/bad?sequence=404", target="billing")
    late = service.submit(url=target.url, delay="1h", target="billing")
    for identity in (good, bad):
        service.ended(identity)

    def listed(query):
        return [c["id"] for c in service("GET", "/v1/calls?" + query).json["data"]]

    assert listed("state=succeeded") == [good]
    assert listed("state=failed") == [bad]
    assert listed("state=scheduled") == [late]
    assert listed("target=billing") == [late, bad]
    assert listed("target=billing&state=failed") == [bad]
    assert listed("target=nobody") == []
    for query in ("state=done", "limit=0", "cursor=x", "sort=asc"):
        answer = service("GET", "/v1/calls?" + query)
        assert answer.status == 400 and answer.json["code"] == "invalidParameter", query


def test_cancelling_ends_a_call_in_any_state_but_the_last(redial, flaky):
    service, target = redial(), flaky()
    waiting = service.submit(url=target.url, delay="1h")
    answer = service("POST", f"/v1/calls/{waiting}/cancel")
    assert answer.status == 200 and answer.json["state"] == "cancelled" and answer.json["finishedAt"]

    running = service.submit(url=target.url + "/?delay=10m", policy={"attemptTimeout": "10m"})
    wait_until(lambda: target.hits().get(running), "the attempt is under way")
    answer = service("POST", f"/v1/calls/{running}/cancel")
    assert answer.status == 200 and answer.json["state"] == "cancelled"
    assert answer.json["attempts"][0]["outcome"] == "cancelled"

    for ended in (waiting, running):
        answer = service("POST", f"/v1/calls/{ended}/cancel")
        assert answer.status in (200, 409), answer.body
    done = service.submit(url=target.url)
    service.ended(done)
    answer = service("POST", f"/v1/calls/{done}/cancel")
    assert answer.status == 409 and answer.headers["content-type"] == "application/problem+json"
    assert service.get(done)["state"] == "succeeded"


def test_cancelling_aborts_an_attempt_whose_start_was_written_with_it(redial, receiver):
    over = threading.Event()

    def answer(request):
        if request.path == "/slow":
            over.wait()
        return 200, {}, b""

    service, target = redial(clock=True), receiver(answer)
    rate = {"rate": {"perSecond": 0.001, "burst": 1}}
    assert service("PUT", f"/v1/targets/{quote(target.url, safe='')}", rate).status == 200
    service.ended(service.submit(url=target.url))
    # It waits in memory, for the rate, until the test lets its time come.
    slow = service.submit(url=f"{target.url}/slow", policy={"attemptTimeout": "10m"})
    asked = [http.client.HTTPConnection("127.0.0.1", service.port, timeout=BOUND) for _ in range(2)]
    for connection in asked:
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
    submission = json.dumps({"url": target.url, "delay": "1h"})
    with contextlib.closing(sqlite3.connect(service.store, isolation_level=None)) as other:
        # The next commit waits for this, five seconds at most, and all later writes follow it in one commit.
        other.execute("BEGIN IMMEDIATE")
        asked[0].request("POST", "/v1/calls", submission, {"content-type": "application/json"})
        wait_until(lambda: service.metrics()["redial_backlog_calls"] == 2, "the submission is to be written")
        service.advance(1000)
        wait_until(lambda: service.metrics()["redial_attempts_in_flight"] == 1, "the start is to be written")
        asked[1].request("POST", f"/v1/calls/{slow}/cancel")
        # The engine is asked for these behind the cancellation.
        assert service.metrics()["redial_attempts_in_flight"] == 1
        assert len(target.requests) == 1 and not select.select([c.sock for c in asked], [], [], 0)[0]
        other.execute("ROLLBACK")
    # The target does not answer, so an attempt that was not aborted would go on longer than this may take.
    assert [connection.getresponse().status for connection in asked] == [202, 200]
    call = service.get(slow)
    assert (call["state"], [a["outcome"] for a in call["attempts"]]) == ("cancelled", ["cancelled"])
    over.set()


def test_retrying_runs_a_call_now_or_again(redial, receiver):
    target = receiver(lambda request: (404, {}, b""))
    service = redial()
    failed = service.submit(url=target.url + "/failed")
    service.ended(failed)
    target.answer = lambda request: (200, {}, b"")
    answer = service("POST", f"/v1/calls/{failed}/retry")
    assert answer.status in (200, 202), answer.body
    call = wait_until(lambda: (c := service.get(failed))["state"] == "succeeded" and c, "it succeeds")
    assert [a["status"] for a in call["attempts"]] == [404, 200]
    later = service.submit(url=target.url + "/later", delay="1h")
    assert service("POST", f"/v1/calls/{later}/retry").status in (200, 202)
    assert service.ended(later)["state"] == "succeeded"
    cancelled = service.submit(url=target.url, delay="1h")
    service("POST", f"/v1/calls/{cancelled}/cancel")
    service("POST", f"/v1/calls/{cancelled}/retry")
    wait_until(lambda: service.get(cancelled)["state"] == "succeeded", "the cancelled one runs after all")


def test_what_is_not_there_is_404_and_a_wrong_method_405(redial):
    service = redial()
    unknown = "call_0000000000000"
    for method, path in (
        ("GET", f"/v1/calls/{unknown}"), ("POST", f"/v1/calls/{unknown}/cancel"),
        ("POST", f"/v1/calls/{unknown}/retry"), ("GET", f"/v1/calls/{unknown}/attempts"), ("GET", "/v1/calls/17"),
        ("GET", "/v1/targets/nobody"), ("GET", "/v2"), ("GET", "/index.html")):
        answer = service(method, path)
        assert answer.status == 404 and answer.json["status"] == 404, path
    for method, path, allowed in (
        ("DELETE", "/v1/calls", "POST, GET, HEAD"), ("PUT", f"/v1/calls/{unknown}", "GET, HEAD"),
        ("GET", f"/v1/calls/{unknown}/retry", "POST"), ("POST", "/metrics", "GET, HEAD")):
        answer = service(method, path)
        assert answer.status == 405 and answer.headers["allow"] == allowed, path


def test_targets_are_shown_with_their_breakers(redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url))
    service.ended(service.submit(url=target.url, target="billing/eu"))
    listed = service("GET", "/v1/targets").json["data"]
    assert [t["key"] for t in listed] == ["billing/eu", target.url]
    one = service("GET", "/v1/targets/billing%2Feu").json
    assert one == listed[0]
    assert one["breaker"]["state"] == "closed" and one["inFlight"] == 0


def test_a_client_that_polls_is_told_when_nothing_has_changed(redial, receiver):
    target = receiver()
    service = redial()
    identity = service.submit(url=target.url, delay="1h")
    path = f"/v1/calls/{identity}"
    tag = service("GET", path).headers["etag"]
    same = service("GET", path, headers={"if-none-match": f'"other", {tag}'})
    assert same.status == 304 and same.body == b"" and same.headers["etag"] == tag
    for page in (path, "/", "/openapi.yaml"):
        other = service("GET", page, headers={"if-match": '"other"'})
        assert other.status == 412 and other.json["code"] == "preconditionFailed", other.body
        assert other.headers["content-type"] == "application/problem+json"
    service.kill()
    service.start()
    assert service("GET", path, headers={"if-none-match": tag}).status == 304, "it is the call's, not the process's"
    tags = {tag}
    for method, what in (("POST", "retry"), ("POST", "retry"), ("DELETE", "content")):
        assert service(method, f"{path}/{what}").status == 200
        service.ended(identity)
        changed = service("GET", path, headers={"if-none-match": tag})
        assert changed.status == 200 and changed.headers["etag"] not in tags
        tag = changed.headers["etag"]
        tags.add(tag)
    assert service("GET", path, headers={"if-none-match": tag}).status == 304

"""The stored parts of a call besides its outcome: bodies, manual retries, and their erasure, with restarts in between.
"""

import json
import sqlite3
import threading

from processes import BOUND, run, wait_until
from test_events import Stream

FAST = {"maxAttempts": 2, "backoff": {"strategy": "constant", "initial": "10ms", "jitter": "none"},
        "retryOn": {"statuses": ["500"]}}


def retry(service, identity, body=None, headers=None):
    answer = service("POST", f"/v1/calls/{identity}/retry", body, headers)
    assert answer.status == 200, answer.body
    return answer.json


def attempts(service, identity, query=""):
    answer = service("GET", f"/v1/calls/{identity}/attempts{query}")
    assert answer.status == 200, answer.body
    return answer.json["data"]


def test_bodies_are_shown_only_when_they_are_asked_for(redial, receiver):
    target = receiver(lambda request: (500, {"x-shard": "7"}, b"broken"))
    service = redial()
    identity = service.submit(url=target.url, policy=FAST)
    service.ended(identity)
    for attempt in attempts(service, identity):
        assert attempt["response"] == {
            "status": 500, "headers": {"x-shard": ["7"], "content-length": ["6"]}, "truncated": False}
    assert [a["response"]["body"] for a in attempts(service, identity, "?include=body")] == ["broken"] * 2
    assert service("GET", f"/v1/calls/{identity}/attempts?include=head").status == 400


def test_a_manual_retry_is_a_fact_with_who_and_why_that_outlives_the_process(redial, receiver):
    target = receiver(lambda request: (500, {}, b""))
    service = redial()
    identity = service.submit(url=target.url, policy=FAST)
    assert service.ended(identity)["retries"] == []
    shown = retry(service, identity, {"by": "ada", "reason": "the target was mended"})
    assert [(r["by"], r["reason"], r["afterAttempt"]) for r in shown["retries"]] == [
        ("ada", "the target was mended", 2)]
    service.ended(identity)
    service.kill()
    service.start()
    retry(service, identity, headers={"redial-actor": "night shift"})
    service.ended(identity)
    waiting = service.submit(url=target.url, delay="1h")
    retry(service, waiting)
    call = service.ended(identity)
    assert call["attemptCount"] == 6
    assert [(r["by"], r["reason"], r["afterAttempt"]) for r in call["retries"]] == [
        ("ada", "the target was mended", 2), ("night shift", None, 4)]
    assert call["createdAt"] < call["retries"][0]["at"] < call["retries"][1]["at"] < call["finishedAt"]
    assert service.get(waiting)["retries"][0] | {"at": None} == {
        "at": None, "afterAttempt": 0, "by": None, "reason": None}
    path = f"/v1/calls/{identity}/retry"
    assert service("POST", path, {"by": ""}).json["errors"][0]["pointer"] == "/by"
    assert service("POST", path, {"who": "ada"}).status == service("POST", path, {"reason": "x" * 1025}).status == 422
    assert service("POST", path, "{", {"content-type": "application/json"}).status == 400
    for action in ("retry", "cancel"):
        refused = service("POST", f"/v1/calls/{identity}/{action}", {"by": "a\u0007", "reason": "two\nlines"})
        assert (refused.status, refused.json["code"]) == (422, "invalidAttribution"), refused.body
        assert [e["pointer"] for e in refused.json["errors"]] == ["/by", "/reason"]
    for body in None, {"by": "ada"}:
        refused = service("POST", path, body, {"redial-actor": "a" * 256})
        assert (refused.status, refused.json["errors"][0]["header"]) == (422, "Redial-Actor")
    assert len(service.get(identity)["retries"]) == 2, "a refused retry is none"


def test_of_a_call_that_is_retried_without_end_the_latest_retries_are_kept(redial, receiver):
    service = redial()
    identity = service.submit(url=receiver().url, delay="1h")
    service("POST", f"/v1/calls/{identity}/cancel")
    for number in range(104):
        retry(service, identity, {"reason": f"{number}"})
        service.ended(identity)
    assert [r["reason"] for r in service.get(identity)["retries"]] == [f"{number}" for number in range(4, 104)]


def test_erased_content_is_gone_from_the_api_and_from_the_file(redial, receiver):
    secret, answer = "swordfish" * 500, b"clownfish" * 500
    target = receiver(lambda request: (500, {"x-reply": "pilotfish"}, answer))
    service = redial()
    identity = service.submit(
        url=target.url, body=secret, headers={"authorization": "catfish"}, policy=FAST, labels={"team": "a"},
        description="dogfish")
    other = service.submit(url=target.url, body="salmon" * 500, policy=FAST)
    service.ended(identity), service.ended(other)
    erased = service("DELETE", f"/v1/calls/{identity}/content")
    assert erased.status == 200 and erased.json["contentErasedAt"] and erased.json["response"] is None
    again = service("DELETE", f"/v1/calls/{identity}/content")
    assert again.json["contentErasedAt"] == erased.json["contentErasedAt"], "what is erased stays erased"
    service.kill()
    service.start()
    call = service.get(identity)
    assert call["contentErasedAt"] == erased.json["contentErasedAt"]
    assert (call["state"], call["labels"], call["attemptCount"]) == ("failed", {"team": "a"}, 2)
    assert "description" not in call
    assert [a["status"] for a in call["attempts"]] == [500, 500]
    assert [a["response"] for a in attempts(service, identity, "?include=body")] == [None, None]
    refused = service("POST", f"/v1/calls/{identity}/retry")
    assert refused.status == 409 and refused.json["code"] == "contentErased"
    assert service.get(other)["response"]["body"] == answer.decode() and service.get(other)["contentErasedAt"] is None
    service.terminate()
    assert run("doctor", "--store", f"sqlite:{service.store}").returncode == 0
    with sqlite3.connect(service.store) as file:
        assert file.execute("SELECT count(*) FROM requests WHERE body IS NULL").fetchone() == (1,)
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    assert b"catfish" not in service.store.read_bytes()


def test_only_an_ended_call_can_be_erased(redial, receiver):
    gate = threading.Event()
    target = receiver(lambda request: (gate.wait(BOUND) and 200, {}, b""))
    service = redial(clock=True)
    running, waiting = service.submit(url=target.url), service.submit(url=target.url, delay="2h")
    later = service.submit(url=target.url, delay="1h")
    wait_until(lambda: target.requests, "it runs")
    for identity in (running, waiting, later):
        refused = service("DELETE", f"/v1/calls/{identity}/content")
        assert refused.status == 409 and refused.json["code"] == "callNotEnded"
    gate.set()
    service.ended(running)
    # The refusal has changed nothing: the call goes out when it is due.
    service.advance(3600)
    assert service.ended(later)["state"] == "succeeded"
    service("POST", f"/v1/calls/{waiting}/cancel")
    for identity in (running, waiting, later):
        assert service("DELETE", f"/v1/calls/{identity}/content").status == 200
    assert service("DELETE", "/v1/calls/call_0000000000000/content").status == 404


def test_a_retry_and_an_erasure_at_the_same_time_never_run_a_call_without_its_body(redial, receiver):
    bodies = []
    target = receiver(lambda request: (bodies.append(request.body) or 200, {}, b""))
    service = redial()
    calls = [service.submit(url=target.url, body="b") for _ in range(40)]
    for call in calls:
        service.ended(call)

    def each(method, what):
        for call in calls:
            service(method, f"/v1/calls/{call}/{what}")

    threads = [threading.Thread(target=each, args=a) for a in (("POST", "retry"), ("DELETE", "content"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for call in calls:
        shown = service.ended(call)
        assert shown["contentErasedAt"] or shown["attemptCount"] == 2
    assert set(bodies) == {b"b"}


def test_an_erasure_takes_the_query_of_the_url_and_the_labels_if_asked(redial, receiver):
    target = receiver()
    service = redial()
    hook = f"{target.url}/hook?customer=swordfish"
    url = f"{target.url}/charge?customer=swordfish#tuna"
    events = Stream(service)
    calls = [service.submit(url=url, labels={"customer": "pilotfish"}, callback={"url": hook}) for _ in range(2)]
    for call in calls:
        service.ended(call)
    first = events.until("call.accepted")["eventId"]
    events.close()
    for webhook in service("GET", "/v1/calls?kind=webhook").json["data"]:
        service.ended(webhook["id"])
        service("DELETE", f"/v1/calls/{webhook['id']}/content?labels=true")
    one, other = calls
    kept = service("DELETE", f"/v1/calls/{one}/content").json
    assert (kept["url"], kept["labels"]) == (f"{target.url}/charge", {"customer": "pilotfish"})
    assert service("DELETE", f"/v1/calls/{one}/content?labels=perhaps").status == 400
    assert service("POST", f"/v1/calls/{one}/cancel?labels=true").status == 400
    assert run("erase", "--url", service.url, "--labels", other).returncode == 0
    erased = service.get(other)
    assert (erased["url"], erased["labels"]) == (f"{target.url}/charge", {})
    assert [c["id"] for c in service("GET", "/v1/calls?label=customer=pilotfish").json["data"]] == [one]
    # A call that was erased before loses its labels if that is requested later, and keeps the time.
    again = service("DELETE", f"/v1/calls/{one}/content?labels=true").json
    assert again["labels"] == {} and again["contentErasedAt"] == kept["contentErasedAt"]
    assert service("GET", "/v1/calls?label=customer=pilotfish").json["data"] == []
    # A listener that reconnects for missed events gets no more than that, once the events have heard of the erasure.
    def missed():
        stream = Stream(service, "?kind=call", after=first)
        assert stream.until("call.succeeded")["data"]["url"] == f"{target.url}/charge"
        stream.close()
        return "fish" not in json.dumps(stream.events) and stream.events
    wait_until(missed, "the events are without labels")
    service.terminate()
    assert run("doctor", "--store", f"sqlite:{service.store}").returncode == 0
    with sqlite3.connect(service.store) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    content = service.store.read_bytes()
    for word in (b"swordfish", b"pilotfish", b"tuna"):
        assert word not in content, word

"""Clients receive events as they happen, can reconnect without a gap, and get a reset event if they cannot."""

import http.client
import json
import select
import signal
import socket
import subprocess
import threading

from processes import BINARY, BOUND, HASTY, Constants, breaker, environment, run, wait_until
from test_contract import validator


FITS = validator({"$ref": "#/components/schemas/Event"})


class Stream:
    """Listens to /v1/events; a thread collects the events."""

    def __init__(self, service, query="", after=None, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=BOUND)
        self.connection.request(
            "GET", "/v1/events" + query, headers=(headers or {}) | ({"last-event-id": after} if after else {}))
        self.response = self.connection.getresponse()
        self.events, self.lines, self.last, self.ended = [], [], None, False
        if self.response.status == 200:
            assert self.response.headers["content-type"] == "text/event-stream"
            threading.Thread(target=self.read, daemon=True).start()
            wait_until(lambda: ": connected" in self.lines, "the stream begins")

    def read(self):
        event = {}
        try:
            for raw in self.response:
                line = raw.decode().rstrip("\n")
                self.lines.append(line)
                if not line:
                    self.last = event.get("id", self.last)
                    if "data" in event:
                        value = json.loads(event["data"])
                        assert value["type"] == event["event"]
                        FITS.validate(value)
                        self.events.append(value | {"eventId": event["id"]})
                    event = {}
                elif not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    event[name] = value
        except (OSError, AttributeError, http.client.HTTPException):
            pass  # It was closed, at this end or the other.
        self.ended = True

    def types(self):
        return [e["type"] for e in self.events]

    def until(self, kind):
        wait_until(lambda: kind in self.types(), f"{kind} comes")
        return next(e for e in self.events if e["type"] == kind)

    def close(self):
        self.connection.sock and self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


FAST = {"backoff": {"initial": "10ms", "max": "20ms"}}


def test_a_call_is_told_of_from_its_acceptance_to_its_end(redial, flaky):
    service, target = redial(), flaky()
    stream = Stream(service)
    identity = service.submit(url=target.url + "/?fail=1", policy=FAST, labels={"team": "a"})
    ended = stream.until("call.succeeded")
    assert stream.types() == ["call.accepted", "call.attempted", "call.attempted", "call.succeeded"]
    attempts = [e["attempt"] for e in stream.events if "attempt" in e]
    assert [(a["number"], a["status"]) for a in attempts] == [(1, 503), (2, 200)]
    call = service.get(identity)
    assert ended["data"] == {k: v for k, v in call.items() if k not in ("attempts", "retries", "waited", "response", "policyInForce", "lastStatus", "lastError")}
    assert ended["timestamp"] == call["finishedAt"]
    cancelled = service.submit(url=target.url, delay="1h")
    service("POST", f"/v1/calls/{cancelled}/cancel")
    assert stream.until("call.cancelled")["data"]["id"] == cancelled
    service.submit(url=target.url + "/?sequence=404")
    assert stream.until("call.failed")["data"]["failureReason"] == "notRetryable"


def test_a_targets_breaker_is_told_of_and_a_call_that_it_ends(redial, receiver):
    target = receiver(lambda request: (500, {}, b""))
    service = redial(*breaker(**HASTY, openInterval="300ms"))
    stream = Stream(service)
    service.submit(url=target.url, policy=FAST | {"onTrip": "fail"})
    assert stream.until("call.tripped")["data"]["failureReason"] == "tripped"
    opened = stream.until("target.opened")
    assert opened["data"]["key"] == target.url and opened["data"]["breaker"]["state"] == "open"
    target.answer = lambda request: (200, {}, b"")
    service.submit(url=target.url, policy=FAST)
    stream.until("target.halfOpened")
    assert stream.until("target.closed")["data"]["breaker"] == {"state": "closed", "openUntil": None, "trips": None}


def test_filters_choose_by_what_an_event_shows(redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver()
    wanted = {
        "?type=call.accepted,call.succeeded": lambda e: e["type"] in ("call.accepted", "call.succeeded"),
        "?target=mine": lambda e: e["data"]["target"] == "mine",
        "?label=team=b": lambda e: e["data"]["labels"] == {"team": "b"},
        "?kind=webhook": lambda e: e["data"]["kind"] == "webhook",
        "?attempts=1": lambda e: e["data"]["attemptCount"] >= 1,
    }
    streams = {query: Stream(service, query) for query in wanted}
    service.submit(url=target.url, target="mine", labels={"team": "a"})
    other = service.submit(url=target.url, labels={"team": "b"}, callback={"url": hook.url})
    for query, stream in streams.items():
        stream.until("call.succeeded")
        assert all(wanted[query](e) for e in stream.events), (query, stream.events)
    waiting = Stream(service, "?waitingOn=startTime")
    held = service.submit(url=target.url, delay="1h")
    waiting.until("call.accepted")
    assert {(e["data"]["id"], e["data"]["waitingOn"]) for e in waiting.events} == {(held, "startTime")}
    one = Stream(service, f"?call={held}")
    service("POST", f"/v1/calls/{other}/retry")
    service("POST", f"/v1/calls/{held}/cancel")
    one.until("call.cancelled")
    assert {e["data"]["id"] for e in one.events} == {held}
    for query in ("?type=call.danced", "?call=7", "?label=x", "?kind=x", "?lastEventId=x", "?x=1",
                  "?attempts=0", "?waitingOn=x", "?olderThan=1h", "?nextAttemptBefore=5m", "?state=failed"):
        answer = service("GET", "/v1/events" + query)
        assert (answer.status, answer.json["code"]) == (400, "invalidParameter"), query
    answer = service("GET", "/v1/events", headers={"last-event-id": "zzz"})
    assert answer.status == 400 and answer.json["errors"][0]["header"] == "Last-Event-ID", answer.body
    answer = service("GET", "/v1/calls?url=%ff")
    assert answer.status == 400 and answer.json["errors"][0]["parameter"] == "url", answer.body


def test_a_client_that_comes_back_hears_what_it_missed_and_nothing_twice(redial, flaky):
    service, target = redial(), flaky()
    stream = Stream(service, "?type=call.succeeded")
    first = service.submit(url=target.url)
    stream.until("call.succeeded")
    wait_until(lambda: stream.last == stream.events[-1]["eventId"], "the id is known")
    stream.close()
    missed = [service.submit(url=target.url) for _ in range(5)]
    for identity in missed:
        service.ended(identity)
    for again in (Stream(service, "?type=call.succeeded", after=stream.last),
                  Stream(service, "?type=call.succeeded&lastEventId=" + stream.last)):
        wait_until(lambda: len(again.events) == 5, "what was missed")
        assert {e["data"]["id"] for e in again.events} == set(missed)
        assert first not in {e["data"]["id"] for e in again.events}


def test_an_event_that_is_not_remembered_is_answered_with_a_reset(redial, flaky):
    service, target = redial(Constants(maxEvents=3)), flaky()
    stream = Stream(service)
    beginning = wait_until(lambda: stream.last, "an id")
    for _ in range(3):
        service.ended(service.submit(url=target.url))
    wait_until(lambda: stream.types().count("call.succeeded") == 3, "all of it")
    again = Stream(service, after=beginning)
    assert again.until("reset")["data"] == {"reason": "tooOld"}
    assert again.types()[0] == "reset"
    last = stream.last
    assert service.terminate() == 0
    wait_until(lambda: stream.ended, "the stream ends in order")
    assert ": the service stops" in stream.lines
    service.start()
    again = Stream(service, after=last)
    assert again.until("reset")["data"] == {"reason": "restarted"}
    # From there on it receives all events.
    identity = service.submit(url=target.url)
    assert again.until("call.succeeded")["data"]["id"] == identity


def test_what_nobody_listened_to_is_not_kept_and_that_is_told(redial, flaky):
    service, target = redial(Constants(eventLinger="10ms")), flaky()
    stream = Stream(service)
    service.ended(service.submit(url=target.url))
    stream.until("call.succeeded")
    last = stream.last
    stream.close()
    def is_gone():
        service.ended(service.submit(url=target.url))
        again = Stream(service, "?type=call.succeeded", after=last)
        wait_until(lambda: again.events, "what it gets")
        again.close()
        return again.types() == ["reset"]
    wait_until(is_gone, "the log is dropped")


def test_a_slow_listener_is_told_and_cut_off_and_holds_nobody_up(redial, flaky):
    service, target = redial(Constants(maxOutputBacklogBytes=4096, maxEvents=10)), flaky()
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    slow.connect(("127.0.0.1", service.port))
    slow.settimeout(BOUND)
    slow.sendall(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
    fast = Stream(service, "?type=call.succeeded")
    # Loopback buffers a few megabytes before a reader's slowness shows.
    labels = {f"l{n}": "x" * 250 for n in range(16)}
    def is_behind():
        batch = service("POST", "/v1/calls/batch", [{"url": target.url, "labels": labels, "delay": "1h"}] * 200)
        assert batch.status == 200, batch.body
        return service.metrics()["redial_backlog_calls"] >= 2000
    wait_until(is_behind, "thousands of events")
    identity = service.submit(url=target.url)
    assert fast.until("call.succeeded")["data"]["id"] == identity
    text = b""
    while piece := slow.recv(65536):
        text += piece
        if b"\r\n0\r\n\r\n" in text[-64:] or text.endswith(b"0\r\n\r\n"):
            break
    assert b'"reason":"tooSlow"' in text[-1000:]
    slow.close()


def test_listeners_are_bounded_and_shown_that_the_connection_lives(redial):
    service = redial(Constants(maxEventListeners=2, eventHeartbeat="50ms"))
    first, second = Stream(service), Stream(service)
    refused = Stream(service)
    assert refused.response.status == 503 and refused.response.headers["retry-after"]
    assert json.loads(refused.response.read())["code"] == "tooManyListeners"
    wait_until(lambda: first.lines.count(": heartbeat") >= 2, "heartbeats")
    second.close()
    wait_until(lambda: Stream(service).response.status == 200, "the place is free again")


def test_the_command_follows_filters_and_comes_back(redial, flaky, tmp_path):
    service, target = redial(), flaky()

    def follow(*arguments):
        return subprocess.Popen(
            [BINARY, "events", "--server", service.url, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment())

    followers = [follow("--json", "--count", "3"), follow("--type", "call.attempted", "--count", "1")]
    # A value with the sign that separates it from its name; and several labels, all of which count.
    followers += [follow("--json", "--count", "1", "--label", "link=http://x/?q=1", *more) for more in ((), ("--label", "team=a"))]
    labelled = []
    kept = follow("--follow", "--json", "--type", "call.succeeded", "--count", "9")
    try:
        def heard():
            service.ended(service.submit(url=target.url))
            labelled.append(service.submit(url=target.url, labels={"link": "http://x/?q=1", "team": "a"}))
            return all(f.poll() is not None for f in followers) and select.select([kept.stdout], [], [], 0)[0]
        wait_until(heard, "they end, and the one that goes on has heard of a call")
        first, second, *selected = (f.communicate(timeout=BOUND)[0] for f in followers)
        assert all(json.loads(text)["data"]["id"] in labelled for text in selected), selected
        assert all(json.loads(line)["data"]["id"].startswith("call_") for line in first.splitlines())
        assert len(first.splitlines()) == 3
        assert "call.attempted" in second and "attempt 1: status 200" in second
        assert json.loads(kept.stdout.readline())["type"] == "call.succeeded"
        assert service.terminate() == 0
        service.start()
        def ended():
            service.ended(service.submit(url=target.url))
            return kept.poll() is not None
        wait_until(ended, "it comes back")
        types = [json.loads(line)["type"] for line in kept.stdout]
        assert len(types) == 8, types
    finally:
        for process in [*followers, kept]:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait(BOUND)
    assert run("events", "--url", service.url, "--type", "x").returncode == 4

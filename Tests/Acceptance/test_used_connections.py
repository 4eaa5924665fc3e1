"""What a target sends ends no service, and answers no other call, on connections that served before."""

import select
import signal
import socket
import ssl
import struct
import threading
import time
from urllib.parse import quote

import hpack
import pytest

from processes import BOUND, NO_BREAKER, libcurl, wait_until
from raw_target import (
    CANCEL, CONTINUATION, DATA, HEADERS, INTERNAL_ERROR, PING, REFUSED_STREAM, SETTINGS, WINDOW_UPDATE, RawTarget, found, frame, go_away,
    reset, response, speaking_http2)
from test_target_tls import issuer

QUICK = {"backoff": {"initial": "20ms", "max": "50ms"}, "maxAttempts": 3}
ONCE = {"maxAttempts": 1}


@pytest.fixture
def raw(made):
    def start(script, context=None, host="127.0.0.1"):
        target = RawTarget(script, context, host)
        made.append(target)
        return target
    return start


@pytest.fixture
def secure(tmp_path):
    """A TLS context of a target, and the flag with which a service trusts it."""
    issuer(tmp_path, "server")
    def make(*protocols):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
        if protocols:
            context.set_alpn_protocols(list(protocols))
        return context, f"--ca-file={tmp_path / 'server.pem'}"
    return make


FOLDED = {
    "the first line": "HTTP/1.1 200 OK\r\n X-First: 1\r\nContent-Length: 2\r\n\r\nok",
    "by a tab": "HTTP/1.1 200 OK\r\n\tX-First: 1\r\nContent-Length: 2\r\n\r\nok",
    "only such lines": "HTTP/1.1 200 OK\r\n a\r\n\tb\r\n\r\n",
    "blank lines": "HTTP/1.1 200 OK\r\n \r\nContent-Length: 2\r\n\r\nok",
    "line feeds": "HTTP/1.1 200 OK\n X-First: 1\nContent-Length: 2\n\nok",
    "no body": "HTTP/1.1 204 No Content\r\n X-First: 1\r\n\r\n",
    "an interim answer": "HTTP/1.1 103 Early Hints\r\n Link: x\r\n\r\n" + response("ok"),
    "after an interim answer": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n x: 1\r\nContent-Length: 2\r\n\r\nok",
    "a trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n x: 1\r\n\r\n",
    "a redirect": "HTTP/1.1 302 Found\r\n x: 1\r\nLocation: /fine\r\nContent-Length: 0\r\n\r\n",
    "a later line": "HTTP/1.1 200 OK\r\nX-First: 1\r\n 2\r\n\t3\r\nContent-Length: 2\r\n\r\nok",
    "no name": "HTTP/1.1 200 OK\r\n: 1\r\n x\r\nContent-Length: 2\r\n\r\nok",
    "a length": "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok",
}


def test_a_line_that_begins_with_a_blank_ends_no_service(redial, raw):
    def script(connection):
        while request := connection.request():
            wanted = request.path[1:]
            if wanted == "to-it":
                connection.send("HTTP/1.1 302 Found\r\nLocation: /0\r\nX: 1\r\nContent-Length: 0\r\n\r\n")
            else:
                connection.send(response("fine") if wanted == "fine" else list(FOLDED.values())[int(wanted)])

    target, service = raw(script), redial(*NO_BREAKER)
    def get(path):
        return service.ended(service.submit(
            url=f"{target.url}/{path}", method="GET", policy=ONCE | {"attemptTimeout": "2s"}, redirects={"max": 3}))
    # Each on a handle that has read fields before, and on one that was redirected.
    for place in range(len(FOLDED)):
        assert get("fine")["state"] == "succeeded"
        assert get(place)["finishedAt"], list(FOLDED)[place]
    assert get("to-it")["finishedAt"]
    assert service.process.poll() is None and get("fine")["response"]["body"] == "fine"


def test_the_receiver_of_a_callback_ends_no_service(redial, raw, receiver):
    def script(connection):
        while request := connection.request():
            connection.send(FOLDED["the first line"] if request.path == "/folded" else response("fine"))

    hook, target, service = raw(script), receiver(), redial(*NO_BREAKER)
    for path in ("/fine", "/folded", "/fine", "/folded"):
        service.ended(service.submit(url=target.url, callback={"url": hook.url + path, "events": ["call.succeeded"]}))
        hook.next()
    # Another call of the same process ends as usual.
    assert service.ended(service.submit(url=target.url))["state"] == "succeeded"
    assert service.process.poll() is None


LATE = {
    "a response": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale",
    "two": response("one") + response("two"),
    "a part of one": "HTTP/1.1 200 OK\r\nContent-Le",
    "an interim one": "HTTP/1.1 103 Early Hints\r\n\r\n",
    "one that ends the connection": "HTTP/1.1 408 Request Time-out\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    "the end of chunks": "0\r\n\r\n",
    "the rest of a body": "more of it",
    "an empty line": "\r\n",
    "one byte": "H",
}


def late_target(raw, first, late, context=None, ends=False):
    """Answers `/first`, and sends something else when `tell()` is called; each other request is answered with its path."""
    go, gone = threading.Event(), threading.Event()

    def script(connection):
        while request := connection.request():
            if request.path == "/first":
                connection.send(first)
                assert go.wait(BOUND)
                connection.send(late)
                if ends:
                    connection.sock.shutdown(1)
                gone.set()
            else:
                connection.answer(request.path)

    def tell():
        go.set()
        assert gone.wait(BOUND)
    target = raw(script, context)
    target.tell = tell
    return target


def assert_own_answers(service, target, **more):
    """A call after the first, and another one, are answered as they are meant, and executed once."""
    service.ended(service.submit(url=target.url + "/first", policy=ONCE, **more))
    target.tell()
    for path in ("/second", "/third"):
        call = service.ended(service.submit(url=target.url + path, idempotent=False, policy=QUICK, **more))
        assert (call["state"], call["attemptCount"], call["response"]["body"]) == ("succeeded", 1, path), call
    assert [r.path for r in target.requests] == ["/first", "/second", "/third"]
    # What is behind a good connection stays with it.
    assert [r.connection for r in target.requests] == [0, 1, 1]


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("first", ["HTTP/1.1 204 No Content\r\n\r\n", response("first")], ids=["204", "200"])
def test_bytes_on_an_idle_connection_answer_no_call(redial, raw, first, late):
    service, target = redial(), late_target(raw, first, LATE[late])
    assert_own_answers(service, target)
    assert service.metrics()["redial_connections_abandoned_total"] == 1


def test_bytes_before_the_end_of_an_idle_connection_answer_no_call(redial, raw):
    service = redial()
    for late in LATE.values():
        assert_own_answers(service, late_target(raw, response("first"), late, ends=True))


def test_bytes_on_an_idle_connection_in_tls_answer_no_call(redial, raw, secure):
    context, flag = secure()
    service = redial(flag)
    for late in LATE.values():
        assert_own_answers(service, late_target(raw, response("first"), late, context))


def test_bytes_on_an_idle_connection_answer_no_callback(redial, raw, receiver):
    hook, target, service = late_target(raw, response("first"), LATE["a response"]), receiver(), redial(*NO_BREAKER)
    for path in ("/first", "/second"):
        service.ended(service.submit(url=target.url, callback={"url": hook.url + path, "events": ["call.succeeded"]}))
        count = 1 if path == "/first" else 2
        wait_until(
            lambda: len(service("GET", "/v1/calls?kind=webhook&state=succeeded").json["data"]) == count, "it is delivered")
        if path == "/first":
            hook.tell()
    webhooks = service("GET", "/v1/calls?kind=webhook&state=succeeded").json["data"]
    assert [w["attemptCount"] for w in webhooks] == [1, 1]
    assert [(r.path, r.connection) for r in hook.requests] == [("/first", 0), ("/second", 1)]


# Whether the connection is used again, for each first response.
ENDS = {
    "a length": (True, "GET", "200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "no content": (True, "GET", "204 No Content\r\n\r\n"),
    "no content, of no bytes": (True, "GET", "204 No Content\r\nContent-Length: 0\r\n\r\n"),
    "chunks": (True, "GET", "200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "chunks with a trailer": (True, "GET", "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: 1\r\n\r\n"),
    "not modified": (True, "GET", "304 Not Modified\r\nETag: x\r\n\r\n"),
    "an interim answer": (True, "GET", "103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "a redirect": (True, "GET", "302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
    "line feeds": (True, "GET", "200 OK\nContent-Length: 2\n\nok"),
    "HEAD": (True, "HEAD", "200 OK\r\nX: 1\r\n\r\n"),
    "HEAD, with a length": (True, "HEAD", "200 OK\r\nContent-Length: 5\r\n\r\n"),
    "HEAD, with a length, not found": (True, "HEAD", "404 Not Found\r\nContent-Length: 5\r\n\r\n"),
    "HEAD, in chunks": (True, "HEAD", "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    "not modified, with a length": (True, "GET", "304 Not Modified\r\nContent-Length: 5\r\n\r\n"),
    "not modified, in chunks": (True, "GET", "304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"),
    "POST": (True, "POST", "200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "no content, in chunks": (False, "GET", "204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"),
    # The server must not say so (RFC 9110 section 8.6).
    "no content, with a length": (False, "GET", "204 No Content\r\nContent-Length: 5\r\n\r\n"),
    "HEAD, with two lengths": (False, "HEAD", "200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
    "HEAD, with a length and chunks": (
        False, "HEAD", "200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
    "an interim answer with a length": (
        False, "GET", "103 Early Hints\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "chunks and a length": (
        False, "GET", "200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "two lengths": (False, "GET", "200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
    "a list of lengths": (False, "GET", "200 OK\r\nContent-Length: 2, 2\r\n\r\nok"),
    "two codings": (False, "GET", "200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "a folded coding": (
        False, "GET", "200 OK\r\nContent-Length: 2\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\nok"),
    "a blank before the colon": (
        False, "GET", "200 OK\r\nContent-Length: 2\r\nTransfer-Encoding : chunked\r\n\r\nok"),
    "a lone CR": (False, "GET", "200 OK\r\nContent-Length: 2\r\nX: y\rTransfer-Encoding: chunked\r\n\r\nok"),
    "more than its length": (False, "GET", "200 OK\r\nContent-Length: 2\r\n\r\nok and more"),
    "it says so": (False, "GET", "200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
}


@pytest.mark.parametrize("first", ENDS)
def test_no_request_follows_a_response_whose_end_is_in_doubt(redial, raw, first):
    is_used_again, method, answer = ENDS[first]

    def script(connection):
        while request := connection.request():
            connection.send(f"HTTP/1.1 {answer}" if request.path == "/first" else response(request.path))
    target, service = raw(script), redial()
    more = {"body": "content"} if method == "POST" else {}
    service.ended(service.submit(url=target.url + "/first", method=method, policy=ONCE, **more))
    call = service.ended(service.submit(url=target.url + "/second", policy=ONCE))
    assert call["response"]["body"] == "/second"
    # A libcurl that joins folded lines before it reads them does not doubt it.
    is_used_again |= first == "a folded coding" and libcurl() >= (8, 21)
    assert [r.connection for r in target.requests] == ([0, 0] if is_used_again else [0, 1]), first


def test_no_request_follows_an_answer_that_came_before_the_end_of_its_request(redial, raw):
    size = 8 << 20

    def script(connection):
        while b"\r\n\r\n" not in connection.rest:
            connection.rest += connection.sock.recv(4096)
        head, _, connection.rest = connection.rest.partition(b"\r\n\r\n")
        is_early = b"/first" in head
        connection.send(response("early" if is_early else "second"))
        connection.target.queue.put(connection.number)
        if is_early:
            connection.read(size)
        connection.wait_for_end()
    # More than the system takes before the target reads it.
    target, service = raw(script), redial(f"--max-body-bytes={size}")
    call = service.ended(service.submit(url=target.url + "/first", method="PUT", body="x" * size, policy=ONCE))
    assert call["response"]["body"] == "early"
    assert service.ended(service.submit(url=target.url + "/second", policy=ONCE))["response"]["body"] == "second"
    assert [target.next(), target.next()] == [0, 1]


def test_bytes_that_are_there_before_the_first_request_answer_nothing(redial, raw):
    """A target that speaks first. Whether its bytes or the request come first is chance, and what is sent after the arrival of the
    request looks like its answer; so calls are made until one was late enough."""
    def script(connection):
        connection.send(response("early"))
        connection.request()
    target, service = raw(script), redial(*NO_BREAKER)

    def told():
        call = service.ended(service.submit(url=target.url, policy=ONCE, idempotent=False))
        attempt = call["attempts"][0]
        return attempt["outcome"] == "notSent" and attempt
    attempt = wait_until(told, "a target spoke before the request")
    assert (attempt["status"], attempt["error"]["code"]) == (None, "responseInvalid"), attempt
    # Nothing was sent on that connection, so a call that must not be executed twice is tried again.
    wait_until(lambda: target.connections > len(target.requests), "the connection has ended without a request")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_requests_of_two_credentials_share_no_connection(redial, raw, host):
    def script(connection):
        while connection.request():
            connection.answer("ok")
    target, service = raw(script, host=host), redial()
    for name in ("ada", "bob"):
        credential = {"type": "bearer", "token": name, "origins": [target.url]}
        assert service("PUT", f"/v1/credentials/{name}", credential).status == 201
    more = [{}, {"credential": "ada"}, {"credential": "bob"}, {"headers": {"Authorization": "Basic Y2FybA=="}},
            {"headers": {"authorization": "Basic ZGF2ZQ=="}}, {"headers": {"Cookie": "session=eve"}}]
    for _ in range(2):
        for one in more:
            assert service.ended(service.submit(url=target.url, policy=ONCE, **one))["state"] == "succeeded"
    # Each has its own, and keeps it.
    assert [r.connection for r in target.requests] == 2 * list(range(len(more)))


def test_requests_of_two_namespaces_share_no_connection(redial, raw):
    def script(connection):
        while connection.request():
            connection.answer("ok")
    key = "the-admin-key-of-this-test"
    target, service = raw(script), redial(env={"REDIAL_ADMIN_KEY": key})
    service.credentials = {"authorization": f"Bearer {key}"}
    keys = [key]
    for namespace in ("east", "west"):
        answer = service("POST", "/v1/keys", {"name": "k", "scopes": ["admin"], "namespace": namespace})
        keys.append(answer.json["key"])
    for _ in range(2):
        for key in keys:
            service.credentials = {"authorization": f"Bearer {key}"}
            assert service.ended(service.submit(url=target.url, policy=ONCE))["state"] == "succeeded"
    assert [r.connection for r in target.requests] == [0, 1, 2, 0, 1, 2]


def test_408_on_a_used_connection_does_not_show_that_a_call_was_not_executed(redial, raw):
    def script(connection):
        served = 0
        while connection.request():
            connection.answer("", 408 if served else 200)
            served += 1
    target, service = raw(script), redial(*NO_BREAKER)

    def call(path, idempotent):
        return service.ended(service.submit(url=target.url + path, idempotent=idempotent, policy=QUICK))
    assert call("/0", False)["state"] == "succeeded"
    ended = call("/1", False)
    assert (ended["state"], ended["failureReason"], ended["attemptCount"]) == ("failed", "notRetryable", 1), ended
    assert ended["attempts"][0]["status"] == 408
    # What may be executed twice is tried again, as is what was answered on a fresh connection.
    assert call("/2", True)["attemptCount"] == 3
    other = raw(lambda connection: connection.request() and connection.answer("", 408))
    ended = service.ended(service.submit(url=other.url, idempotent=False, policy=QUICK))
    assert ended["attemptCount"] == 3, ended


REFUSALS = {
    "a refused stream": lambda stream: reset(stream, REFUSED_STREAM),
    "GOAWAY": lambda stream: go_away(stream - 2 if stream > 1 else 0),
    "GOAWAY, with an error": lambda stream: go_away(0, INTERNAL_ERROR),
}


# With its connection's end behind it, libcurl 7.88 does not tell a refused stream from any other.
@pytest.mark.parametrize("refusal, ends", [(r, e) for r in REFUSALS for e in (False, True) if "GOAWAY" in r or not e])
def test_what_an_http2_target_has_not_processed_is_tried_again(redial, raw, secure, refusal, ends):
    context, flag = secure("h2")

    def react(connection, stream):
        connection.send(REFUSALS[refusal](stream) if connection.number == 0 else found(stream))
        if ends and connection.number == 0:
            connection.sock.unwrap()
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    call = service.ended(service.submit(url=target.url, body="x", idempotent=False, policy=QUICK))
    assert (call["state"], call["attemptCount"]) == ("succeeded", 2), call["attempts"]
    assert (call["attempts"][0]["outcome"], call["attempts"][0]["error"]["code"]) == ("notSent", "requestRefused")


@pytest.mark.parametrize("size", [1, 300_000], ids=["small", "in pieces"])
def test_a_request_that_crosses_the_end_of_a_used_connection_costs_no_attempt(redial, raw, secure, size):
    context, flag = secure("h2")

    def react(connection, stream):
        connection.send(go_away(stream - 2) if stream == 3 else found(stream))
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    for connections in (1, 2, 3):
        call = service.ended(service.submit(url=target.url, body="x" * size, idempotent=False, policy={"maxAttempts": 1}))
        assert call["state"] == "succeeded", call["attempts"]
        assert len({request.connection for request in target.requests}) == connections, target.requests


def test_a_target_that_ends_each_connection_is_not_asked_without_end(redial, raw, secure):
    context, flag = secure("h2")

    def react(connection, stream):
        # All but the very first request come after the last that is processed.
        connection.send(found(stream) if target.requests[1:] == [] else go_away(0))
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    service.ended(service.submit(url=target.url, policy=QUICK))
    call = service.ended(service.submit(url=target.url, idempotent=False, policy={"maxAttempts": 1}))
    assert (call["state"], call["attempts"][0]["error"]["code"]) == ("failed", "requestRefused"), call
    assert len(target.requests) == 3, target.requests


def abort(connection):
    """Ends it without a word."""
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.sock.close()


@pytest.mark.parametrize("refusal", [reset(1, REFUSED_STREAM), go_away(0)], ids=["a refused stream", "GOAWAY"])
@pytest.mark.parametrize("protocol", ["h2", "http/1.1"])
def test_what_one_target_refuses_says_nothing_of_the_next(redial, raw, secure, tmp_path, refusal, protocol):
    context, flag = secure("h2")

    def refuse(connection, stream):
        connection.send(frame(HEADERS, stream, b"\x88", flags=4) + frame(PING, 0, bytes(8)))
        # Whoever answers a ping has read what stands before it.
        while (head := connection.read(9)) and head[3] != PING:
            connection.read(int.from_bytes(head[:3], "big"))
        connection.read(8)
        connection.send(refusal)
    first, service = raw(speaking_http2(refuse), context), redial(flag, *NO_BREAKER)
    if protocol == "h2":
        script = speaking_http2(lambda connection, stream: abort(connection))
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")

        def script(connection):
            if connection.request():
                abort(connection)
    second = raw(script, context)
    for number in range(1, 4):
        service.ended(service.submit(url=first.url, policy=ONCE))
        call = service.ended(service.submit(url=second.url, body="x", idempotent=False, policy=QUICK))
        assert (call["state"], call["attempts"][0]["outcome"], len(second.requests)) == ("failed", "maybeSent", number), call


SENTENCES = ["received GOAWAY, error=13, last_stream=0", "recveived GOAWAY, error=0, last_stream=0", "HTTP/2 stream 1 refused by server, try again",
             "REFUSED_STREAM, retrying a fresh connect", "Connection died, retrying a fresh connect", "Downgrades to HTTP/1.1", "Using Stream ID: 9"]


@pytest.mark.parametrize("place", ["field", "URL", "a neighbour's field", "answer"])
def test_what_a_client_or_a_target_writes_is_no_word_of_the_connection(redial, raw, secure, place):
    context, flag = secure("h2")

    def literal(name, value):
        return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value

    def react(connection, stream):
        if stream < 3 and place == "a neighbour's field":
            return connection.send(found(stream))
        if place == "answer":
            # A field that HTTP/2 does not allow is quoted.
            connection.send(frame(HEADERS, stream, literal(b"X A", sentence.encode()) + b"\x88", flags=4))
        connection.send(reset(stream, INTERNAL_ERROR))
    service = redial(flag, *NO_BREAKER)
    for sentence in SENTENCES:
        target = raw(speaking_http2(react), context)
        if place == "a neighbour's field":
            assert service.ended(service.submit(url=target.url, headers={"X-A": sentence}, policy=ONCE))["state"] == "succeeded"
        headers = {"X-A": sentence} if place == "field" else {}
        query = "/?a=" + sentence.replace(" ", "%20") if place == "URL" else "/"
        call = service.ended(service.submit(url=target.url + query, headers=headers, idempotent=False, policy=QUICK))
        assert (call["attemptCount"], call["attempts"][0]["outcome"]) == (1, "maybeSent"), (sentence, call)
        assert len(target.requests) == 1 + (place == "a neighbour's field")


def test_a_target_that_says_goodbye_without_end_stops_no_other(redial, raw, receiver, secure):
    context, flag = secure("h2")

    def react(connection, stream):
        until = time.monotonic() + BOUND
        while time.monotonic() < until:
            connection.send(go_away(1) * 1000)
    target, other, service = raw(speaking_http2(react), context), receiver(), redial(flag, *NO_BREAKER)
    flooded = service.submit(url=target.url, idempotent=False, policy=ONCE | {"attemptTimeout": "50s"})
    target.next()
    for call in [service.submit(url=other.url, policy=ONCE | {"deadline": "20s"}) for _ in range(10)]:
        assert service.ended(call)["state"] == "succeeded"
    assert service.ended(flooded)["attempts"][0]["outcome"] == "maybeSent"


def test_an_answer_that_came_while_the_process_stood_still_counts(redial, receiver):
    gate, answered = threading.Event(), threading.Semaphore(0)

    def answer(request):
        gate.wait(BOUND)
        answered.release()
        return 200, {}, b"own"
    target, service = receiver(answer), redial(*NO_BREAKER)
    calls = burst(service, target.url, 4, attemptTimeout="2s", maxAttempts=3)
    wait_until(lambda: len(target.requests) == 4, "all are in flight")
    service.process.send_signal(signal.SIGSTOP)
    gate.set()
    for _ in range(4):
        assert answered.acquire(timeout=BOUND)
    # Longer than an attempt may take.
    time.sleep(3)
    service.process.send_signal(signal.SIGCONT)
    for call in calls:
        ended = service.ended(call)
        assert (ended["state"], ended["attemptCount"]) == ("succeeded", 1), ended
    assert len(target.requests) == 4


FLOODS = {
    "empty data": lambda stream: frame(DATA, stream) * 1000,
    "settings": lambda stream: frame(SETTINGS, 0) * 1000,
    "window updates": lambda stream: frame(WINDOW_UPDATE, 0, bytes(3) + b"\1") * 1000,
    "unknown frames": lambda stream: frame(66, stream, bytes(100)) * 500,
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_target_that_sends_without_end_stops_no_other(redial, raw, receiver, secure, flood):
    context, flag = secure("h2")

    over = threading.Event()

    def react(connection, stream):
        piece = FLOODS[flood](stream)
        connection.send(frame(HEADERS, stream, b"\x88", flags=4))
        while not over.is_set():
            # What the client says to it is read, so that it goes on.
            while select.select([connection.sock], [], [], 0)[0]:
                if not connection.sock.recv(1 << 16):
                    return
            connection.send(piece)
        abort(connection)
    target, other, service = raw(speaking_http2(react), context), receiver(), redial(flag, *NO_BREAKER)
    flooded = [service.submit(url=target.url, idempotent=False, policy=ONCE | {"attemptTimeout": "10m"}) for _ in range(2)]
    target.next()
    for _ in range(10):
        assert service.ended(service.submit(url=other.url, policy=ONCE))["state"] == "succeeded"
    over.set()
    for call in flooded:
        service.ended(call)


@pytest.mark.parametrize("ends", ["TLS", "a reset"])
def test_the_end_of_a_neighbours_connection_is_not_that_of_a_request(redial, raw, secure, ends):
    context, flag = secure("h2")
    idle = []

    def keep(connection, stream):
        idle.append(connection)
        connection.send(found(stream))

    def react(connection, stream):
        if stream == 1:
            return connection.send(found(stream))
        # libcurl looks through its connections once a second, and reads there what it then says in the name of this request.
        time.sleep(1.2)
        for other in idle:
            other.send(go_away(0))
        time.sleep(0.1)
        connection.sock.unwrap() if ends == "TLS" else abort(connection)
    neighbours = [raw(speaking_http2(keep), context) for _ in range(4)]
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    for one in [*neighbours, target]:
        assert service.ended(service.submit(url=one.url, policy=ONCE))["state"] == "succeeded"
    call = service.ended(service.submit(url=target.url, idempotent=False, policy=QUICK))
    assert (call["state"], call["attempts"][0]["outcome"]) == ("failed", "maybeSent"), call
    assert len(target.requests) == 2, target.requests


@pytest.mark.parametrize("size", [17_000, 40_000, 60_000])
def test_a_long_head_that_ends_its_stream_arrives(redial, raw, secure, size):
    context, flag = secure("h2")

    def react(connection, stream):
        block = b"\x88" + hpack.Encoder().encode([(f"x-{number}", "~" * 900) for number in range(size // 1000)], huffman=False)
        pieces = [block[place:place + 16_000] for place in range(0, len(block), 16_000)]
        frames = [frame(CONTINUATION if number else HEADERS, stream, piece, flags=(0 if number else 1) | (4 if piece is pieces[-1] else 0))
                  for number, piece in enumerate(pieces)]
        connection.send(b"".join(frames))
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    for _ in range(3):
        call = service.ended(service.submit(url=target.url, idempotent=False, policy=ONCE | {"attemptTimeout": "5s"}))
        assert (call["state"], call["response"]["headers"].get("x-0")) == ("succeeded", ["~" * 900]), call["attempts"]


@pytest.mark.parametrize("together", [1, 5])
def test_a_connection_that_has_fallen_silent_is_left(redial, raw, secure, together):
    context, flag = secure("h2")

    def react(connection, stream):
        # As behind a firewall that has forgotten it: what is sent is taken, and nothing comes back.
        if connection.number > 0 or stream == 1:
            connection.send(found(stream))
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    policy = QUICK | {"attemptTimeout": "500ms"}
    assert service.ended(service.submit(url=target.url, policy=policy))["attemptCount"] == 1
    for call in [service.submit(url=target.url, policy=policy) for _ in range(together)]:
        ended = service.ended(call)
        assert (ended["state"], ended["attemptCount"]) == ("succeeded", 2), ended["attempts"]
    assert service.ended(service.submit(url=target.url, policy=policy))["attemptCount"] == 1


def test_a_connection_on_which_others_are_answered_is_kept(redial, raw, secure):
    context, flag = secure("h2")

    def react(connection, stream):
        if stream != 3:
            connection.send(found(stream))
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    service.ended(service.submit(url=target.url, policy=QUICK))
    hanging = service.submit(url=target.url, policy=ONCE | {"attemptTimeout": "5s"})
    wait_until(lambda: len(target.requests) == 2, "the second has arrived")
    service.ended(service.submit(url=target.url, delay="200ms", policy=QUICK))
    assert service.ended(hanging)["attempts"][0]["error"]["code"] == "timeout"
    assert service.ended(service.submit(url=target.url, policy=QUICK))["attemptCount"] == 1
    assert {request.connection for request in target.requests} == {0}


def test_goaway_on_an_idle_connection_costs_nothing(redial, raw, secure):
    context, flag = secure("h2")
    told = threading.Event()

    def react(connection, stream):
        connection.send(found(stream))
        if connection.number == 0:
            connection.send(go_away(stream))
            told.set()
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    service.ended(service.submit(url=target.url, idempotent=False, policy=QUICK))
    assert told.wait(BOUND)
    call = service.ended(service.submit(url=target.url, idempotent=False, policy=QUICK))
    assert call["state"] == "succeeded", call
    assert call["attemptCount"] == 1, call


@pytest.mark.parametrize("apart", [False, True], ids=["at once", "apart"])
@pytest.mark.parametrize("more", [lambda stream: b"", lambda stream: frame(PING, 0, b"12345678")], ids=["alone", "behind a ping"])
def test_an_http2_answer_that_is_there_before_its_request_answers_nothing(redial, raw, secure, more, apart):
    context, flag = secure("h2")
    told = threading.Event()

    def react(connection, stream):
        # The next stream is open to nobody yet (RFC 9113 section 5.1.1).
        early = more(stream) + frame(HEADERS, stream + 2, b"\x8d", flags=0x5) if connection.number == 0 else b""
        for piece in (found(stream), early) if apart else (found(stream) + early,):
            connection.send(piece)
        told.set()
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    service.ended(service.submit(url=target.url, policy=QUICK))
    assert told.wait(BOUND)
    call = service.ended(service.submit(url=target.url, policy=QUICK))
    assert call["state"] == "succeeded" and 404 not in [attempt.get("status") for attempt in call["attempts"]], call


@pytest.mark.parametrize("fault", {
    "an error": lambda stream: reset(stream, INTERNAL_ERROR), "a cancellation": lambda stream: reset(stream, CANCEL),
    "a stream that was begun": lambda stream: go_away(stream), "nothing": lambda stream: b"",
}.items(), ids=lambda fault: fault[0])
def test_what_an_http2_target_may_have_processed_is_not_tried_again(redial, raw, secure, fault):
    context, flag = secure("h2")

    def react(connection, stream):
        connection.send(fault[1](stream))
        connection.sock.unwrap()
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    call = service.ended(service.submit(url=target.url, idempotent=False, policy=QUICK))
    assert (call["state"], call["attempts"][0]["outcome"]) == ("failed", "maybeSent"), call
    assert len(target.requests) == 1


def burst(service, url, count, **more):
    """So many calls at once, of which each begins as soon as it can."""
    answer = service("POST", "/v1/calls/batch", [{"url": url, "policy": ONCE | more} for _ in range(count)])
    return [item["call"]["id"] for item in answer.json["data"]]


@pytest.mark.parametrize("streams", [1, 4, None])
def test_requests_wait_for_a_stream_in_place_of_another_connection(redial, raw, secure, streams):
    context, flag = secure("h2")
    service, targets = redial(flag, *NO_BREAKER), []

    def react(connection, stream):
        time.sleep(0.02)
        connection.send(found(stream))
    for _ in range(2):
        target = raw(speaking_http2(react, streams), context)
        # The second time the target has said how many it takes.
        for _ in range(2):
            for call in burst(service, target.url, 40):
                assert service.ended(call)["state"] == "succeeded"
        # One of those that have waited for 500 ms opens another one.
        assert target.connections <= (10 if streams else 2), target.connections


def test_requests_wait_for_no_stream_of_a_connection_that_they_cannot_use(redial, raw, secure):
    context, flag = secure("h2")
    over = threading.Event()

    def react(connection, stream):
        if connection.number == 0:
            over.wait(BOUND)
        connection.send(found(stream))
    # A stream is waited for half of this.
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER, "--connect-timeout=60s")
    patient = ONCE | {"attemptTimeout": "60s"}
    held = service.submit(url=target.url, policy=patient)
    target.next()
    assert service("PATCH", f"/v1/targets/{quote(target.url, safe='')}", {"tls": {"minVersion": "1.3"}},
                   {"content-type": "application/merge-patch+json"}).status == 200
    begun = time.monotonic()
    assert service.ended(service.submit(url=target.url, policy=patient))["state"] == "succeeded"
    assert time.monotonic() - begun < 20
    over.set()
    assert service.ended(held)["state"] == "succeeded"


def test_the_wait_for_a_stream_is_not_part_of_connecting(redial, raw, secure):
    context, flag = secure("h2")

    script = speaking_http2(lambda connection, stream: connection.send(found(stream)))

    class Slow:
        """A target whose TLS takes long."""

        def wrap_socket(self, *arguments, **more):
            time.sleep(1.2)
            return context.wrap_socket(*arguments, **more)
    target, service = raw(script, Slow()), redial(flag, *NO_BREAKER, "--connect-timeout=2s")
    for call in burst(service, target.url, 20):
        ended = service.ended(call)
        assert ended["state"] == "succeeded", ended


def test_nothing_waits_for_long_for_a_stream_that_is_never_free(redial, raw, secure):
    context, flag = secure("h2")
    over = threading.Event()

    def react(connection, stream):
        over.wait(0 if connection.number else BOUND)
        connection.send(found(stream))
    target, service = raw(speaking_http2(react, streams=1), context), redial(flag, *NO_BREAKER, "--connect-timeout=2s")
    held = service.submit(url=target.url, policy=ONCE | {"attemptTimeout": "50s"})
    target.next()
    for call in burst(service, target.url, 4):
        assert service.ended(call)["state"] == "succeeded"
    over.set()
    assert service.ended(held)["state"] == "succeeded"


class Backends:
    """A context for each new connection to one address, as of machines behind a balancer that differ."""

    def __init__(self, *contexts):
        self.contexts = list(contexts)

    def wrap_socket(self, *arguments, **more):
        context = self.contexts.pop(0) if len(self.contexts) > 1 else self.contexts[0]
        return context.wrap_socket(*arguments, **more)


@pytest.mark.parametrize("chosen", [["http/1.1"], []])
def test_a_busy_connection_of_another_protocol_takes_no_request(redial, raw, secure, chosen):
    (first, flag), (others, _) = secure(*chosen), secure("h2")
    over = threading.Event()

    def react(connection, stream):
        body = f"on {connection.number}".encode()
        connection.send(frame(HEADERS, stream, b"\x88", flags=0x4) + frame(DATA, stream, body, flags=0x1))
    over_http2 = speaking_http2(react)

    def script(connection):
        if connection.number:
            return over_http2(connection)
        while connection.request():
            over.wait(BOUND)
            connection.answer("on 0")
    target, service = raw(script, Backends(first, others)), redial(flag, *NO_BREAKER)
    slow = service.submit(url=target.url, idempotent=False, policy=ONCE)
    target.next()
    calls = [service.ended(service.submit(url=target.url, idempotent=False, policy=ONCE)) for _ in range(12)]
    over.set()
    calls.append(service.ended(slow))
    assert [call["state"] for call in calls] == ["succeeded"] * 13
    assert [call["response"]["body"] == "on 0" for call in calls] == [False] * 12 + [True]


def test_over_http1_each_request_in_flight_has_a_connection(redial, raw, secure):
    context, flag = secure("http/1.1")
    all_there = threading.Barrier(20)

    def script(connection):
        while connection.request():
            all_there.wait(BOUND)
            connection.answer("ok")
    target, service = raw(script, context), redial(flag, *NO_BREAKER)
    for _ in range(2):
        for call in burst(service, target.url, 20):
            assert service.ended(call)["state"] == "succeeded"
    assert target.connections == 20

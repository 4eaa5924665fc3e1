"""The way to a target: what its TLS, its HTTP/2 and its proxy do costs nobody else, and says what it was."""

import collections
import os
import shutil
import socket
import ssl
import struct
import threading
import time
from urllib.parse import quote

import hpack
import pytest

from processes import BOUND, NO_BREAKER, Constants, libcurl, wait_until
from raw_target import (
    CONTINUATION, DATA, HEADERS, NO_ERROR, REFUSED_STREAM, Request, found, frame, http, reset, response, speaking_http2)
from test_target_tls import issuer, openssl
from test_used_connections import ONCE, QUICK, raw, secure  # noqa: F401

HTTP_1_1_REQUIRED = 13


def status(stream, code, *fields, ends=True):
    """A header of HTTP/2, in as many frames as it needs."""
    block = hpack.Encoder().encode([(":status", str(code)), *fields], huffman=False)
    pieces = [block[place:place + 16_000] for place in range(0, len(block), 16_000)]
    return b"".join(
        frame(CONTINUATION if number else HEADERS, stream, piece, flags=(0 if number else int(ends)) | (4 if piece is pieces[-1] else 0))
        for number, piece in enumerate(pieces))


def refusing_bodies(answer):
    """A script: sends `answer(stream)` as soon as a request begins, and gives no room for its body."""
    def script(connection):
        connection.read(24)
        connection.send(frame(4, 0))
        while head := connection.read(9):
            size, kind, flags, stream = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
            connection.read(size)
            if kind == 4 and not flags & 1:
                connection.send(frame(4, 0, flags=1))
            if kind == HEADERS:
                connection.arrived(Request(connection.number, None, None, {}, None))
                connection.send(answer(stream))
    return script


EARLY = {
    "and a reset": lambda stream: status(stream, 413, ("x-why", "size")) + reset(stream, NO_ERROR),
    "with content, and a reset": lambda stream: status(stream, 413, ends=False) + frame(DATA, stream, b"too large", 1) + reset(stream, NO_ERROR),
    "alone": lambda stream: status(stream, 413, ("x-why", "size")),
    "alone, with content": lambda stream: status(stream, 413, ends=False) + frame(DATA, stream, b"too large", 1),
    "with a length": lambda stream: status(stream, 413, ("content-length", "9"), ends=False) + frame(DATA, stream, b"too large", 1),
}


@pytest.mark.parametrize("early", EARLY)
def test_an_http2_answer_before_the_end_of_the_body_is_taken(redial, raw, secure, early):
    context, flag = secure("h2", "http/1.1")

    def script(connection):
        if connection.sock.selected_alpn_protocol() == "h2":
            return refusing_bodies(EARLY[early])(connection)
        connection.read(4)
        connection.send(http(413, body=b"too large"))
        # The client reads it before it learns that nobody reads the rest.
        time.sleep(0.3)
    target, service = raw(script, context), redial(flag, *NO_BREAKER)
    begun = time.monotonic()
    call = service.ended(service.submit(url=target.url, method="PUT", body="x" * 900_000, policy=QUICK | {"attemptTimeout": "20s"}))
    # An older libcurl takes it when it is asked over HTTP/1.1.
    attempts = 2 if "reset" in early and libcurl() < (8, 21) else 1
    assert (call["state"], call["attemptCount"], call["attempts"][-1]["status"]) == ("failed", attempts, 413), call["attempts"]
    assert time.monotonic() - begun < 15


def test_a_target_that_requires_http1_gets_it(redial, raw, secure):
    context, flag = secure("h2", "http/1.1")

    def script(connection):
        if connection.sock.selected_alpn_protocol() == "h2":
            return speaking_http2(lambda connection, stream: connection.send(reset(stream, HTTP_1_1_REQUIRED)))(connection)
        while connection.request():
            connection.answer("by 1.1")
    target, service = raw(script, context), redial(flag, *NO_BREAKER)
    call = service.ended(service.submit(url=target.url, policy=QUICK))
    assert (call["attemptCount"], call["response"]["body"]) == (2, "by 1.1"), call["attempts"]
    # Whether the target has processed it, it does not say (RFC 9113 section 8.7).
    assert (call["attempts"][0]["outcome"], call["attempts"][0]["error"]["code"]) == ("maybeSent", "http1Required")
    assert service.ended(service.submit(url=target.url, policy=QUICK))["attemptCount"] == 1


@pytest.mark.parametrize("size", [70_000, 140_000, 400_000])
def test_a_header_that_is_too_large_fails_no_neighbour(redial, raw, secure, size):
    context, flag = secure("h2", "http/1.1")
    held, head = [], [(f"x-{number}", "~" * 1000) for number in range(size // 1000)]

    def react(connection, stream):
        if stream == 1:
            return connection.send(found(stream))
        held.append((connection, stream))
        if len(held) < 20:
            return
        connection, stream = held[-1]
        connection.send(status(stream, 200, *head))
        for connection, stream in held[:-1]:
            connection.send(found(stream))

    def script(connection):
        if connection.sock.selected_alpn_protocol() == "h2":
            return speaking_http2(react)(connection)
        while request := connection.request():
            fields = [f"{name}: {value}" for name, value in head] if request.path == "/large" else []
            connection.send(http("200", *fields, closes=False))
    target, service = raw(script, context), redial(flag, *NO_BREAKER)
    service.ended(service.submit(url=target.url, policy=ONCE))

    def round():
        held.clear()
        paths = [*["/small"] * 19, "/large"]
        ids = [service.submit(url=target.url + path, idempotent=False, policy=QUICK | {"attemptTimeout": "5s"}) for path in paths]
        return [service.ended(one) for one in ids]
    calls = round()
    if size < 100_000:
        assert all(call["state"] == "succeeded" for call in calls[:-1]), calls
        if calls[-1]["state"] == "succeeded":
            return
    # HTTP/2 cannot go on behind it. What follows has connections of its own.
    for _ in range(2):
        *small, large = round()
        assert all(call["state"] == "succeeded" for call in small), small
        assert large["attempts"][0]["status"] == 200, large
        assert (large["attempts"][0].get("error") or {}).get("code") in (None, "responseHeaderTooLarge"), large


@pytest.mark.parametrize("ends", [False, True], ids=["cut", "ended"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_body_that_ends_with_its_tls_connection_must_be_ended(redial, raw, secure, version, ends):
    context, flag = secure()
    context.maximum_version = version

    def script(connection):
        connection.request()
        connection.send(http("200", body=b'{"charged": 1', length=False))
        if ends:
            connection.sock.unwrap()
    target, service = raw(script, context), redial(flag, *NO_BREAKER)
    call = service.ended(service.submit(url=target.url, policy=ONCE))
    assert call["state"] == ("succeeded" if ends else "failed")


CLIENTS = {"another one": "other", "none": None}


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("shown", CLIENTS)
def test_a_client_certificate_that_is_refused_is_named(redial, raw, secure, tmp_path, version, shown):
    context, flag = secure()
    context.maximum_version = version
    for name in ("client", "other"):
        issuer(tmp_path, name)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(tmp_path / "client.pem")

    def script(connection):
        while connection.request():
            connection.answer("ok")
    target, service = raw(script, context), redial(flag, f"--tls-directory={tmp_path}", *NO_BREAKER)
    if CLIENTS[shown]:
        tls = {"caFile": f"{tmp_path}/server.pem", "certificate": f"{tmp_path}/other.pem", "key": f"{tmp_path}/other.key"}
        assert service("PUT", f"/v1/targets/{quote(target.url, safe='')}", {"tls": tls}).status in (200, 201)
    call = service.ended(service.submit(url=target.url, idempotent=False, policy=QUICK))
    # TLS 1.2 has no word for what is missing.
    code = "tlsFailed" if version == ssl.TLSVersion.TLSv1_2 and not CLIENTS[shown] else "clientCertificateUnusable"
    assert {(a["outcome"], a["error"]["code"]) for a in call["attempts"]} == {("notSent", code)}, call["attempts"]
    # It is tried again: either side may be in the middle of a rotation.
    assert call["attemptCount"] == 3 and not target.requests


def test_files_that_do_not_fit_each_other_for_a_while_end_no_call(redial, raw, secure, tmp_path):
    context, flag = secure()
    for name in ("client", "other"):
        issuer(tmp_path, name)

    def script(connection):
        connection.request()
        connection.send(http(200, body=b"ok"))
    target, service = raw(script, context), redial(flag, f"--tls-directory={tmp_path}")
    names = {"caFile": "used-ca.pem", "certificate": "used.pem", "key": "used.key"}
    kept = {"used-ca.pem": "server.pem", "used.pem": "client.pem", "used.key": "client.key"}
    tls = {member: f"{tmp_path}/{name}" for member, name in names.items()}
    assert service("PUT", f"/v1/targets/{quote(target.url, safe='')}", {"tls": tls}).status in (200, 201)
    for broken, instead in [("used.key", "other.key"), ("used.pem", None), ("used.key", None), ("used-ca.pem", None)]:
        for name, source in kept.items():
            shutil.copy(tmp_path / source, tmp_path / name)
        (tmp_path / broken).unlink()
        if instead:
            shutil.copy(tmp_path / instead, tmp_path / broken)
        call = service.submit(url=target.url, idempotent=False, policy={"backoff": {"initial": "50ms", "max": "50ms"}, "maxAttempts": 200})
        attempt = wait_until(lambda: service.get(call)["attempts"], "it is tried")[0]
        assert attempt["outcome"] == "localFault", str(attempt)
        said = f"Redial cannot call it: {attempt['error']['code']}"
        wait_until(lambda: [one["error"] for one in service("GET", "/v1/issues").json["data"]] == [said], "it is an issue")
        shutil.copy(tmp_path / kept[broken], tmp_path / broken)
        assert service.ended(call)["state"] == "succeeded"
        # It is nobody else's fault.
        assert service.target(target.url)["breaker"]["state"] == "closed"


@pytest.mark.parametrize("extension, code", [([], "certificateWrongHost"), (["-addext", "subjectAltName=IP:127.0.0.1"], None)])
def test_a_certificate_with_a_common_name_alone_is_for_nobody(redial, raw, tmp_path, extension, code):
    openssl(tmp_path, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-keyout", "server.key", "-out", "server.pem", "-subj", "/CN=127.0.0.1", *extension)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")

    def script(connection):
        while connection.request():
            connection.answer("ok")
    target, service = raw(script, context), redial(f"--ca-file={tmp_path / 'server.pem'}", *NO_BREAKER)
    call = service.ended(service.submit(url=target.url, policy=QUICK))
    assert (call["attempts"][0].get("error") or {}).get("code") == code and len(target.requests) == (0 if code else 1), call


def test_a_connection_takes_a_number_of_requests_and_then_another_does(redial, raw):
    def script(connection):
        while connection.request():
            connection.answer("ok")
    target, service = raw(script), redial(*NO_BREAKER)
    service("PUT", f"/v1/targets/{quote(target.url, safe='')}", {"maxInFlight": 1})
    assert service("POST", "/v1/calls/batch", [{"url": target.url, "policy": ONCE} for _ in range(1000)]).status == 200
    assert service("POST", "/v1/calls/batch", [{"url": target.url, "policy": ONCE} for _ in range(100)]).status == 200
    wait_until(lambda: len(target.requests) == 1100, "all have arrived")
    counts = collections.Counter(request.connection for request in target.requests)
    assert counts[0] in range(800, 1001) and counts[0] + counts[1] == 1100, counts


@pytest.mark.parametrize("protocol", ["http/1.1", "h2"])
def test_a_busy_connection_is_left_when_it_is_old(redial, raw, secure, protocol):
    context, flag = secure(protocol)
    gate = threading.Event()

    def react(connection, stream):
        if connection.number == 0 and stream == 3:
            return threading.Thread(target=lambda: gate.wait(BOUND) and connection.send(found(stream)), daemon=True).start()
        connection.send(found(stream))

    def script(connection):
        if protocol == "h2":
            return speaking_http2(react)(connection)
        while connection.request():
            connection.answer("ok")
    target, service = raw(script, context), redial(flag, Constants(maxConnectionAge="2s"), *NO_BREAKER)
    begun = time.monotonic()
    service.ended(service.submit(url=target.url, policy=ONCE))
    held = service.submit(url=target.url, idempotent=False, policy=ONCE) if protocol == "h2" else None
    # Steady traffic: the connection is never idle for long.
    while target.connections < 3:
        assert time.monotonic() < begun + BOUND, "no connection is left"
        assert service.ended(service.submit(url=target.url, idempotent=False, policy=ONCE))["state"] == "succeeded"
    took = time.monotonic() - begun
    # Each is followed by one other, however many requests come, and not before its time.
    numbers = [request.connection for request in target.requests]
    assert numbers == sorted(numbers) and target.connections <= 2 + took / 1.6, (numbers, took)
    for number in range(2):
        times = [request.at for request in target.requests if request.connection == number]
        assert len(times) > 10 and times[-1] - times[0] < 5, times
    gate.set()
    if held:
        assert service.ended(held)["state"] == "succeeded"


def test_many_requests_at_once_leave_an_old_connection_for_one_other(redial, raw, secure):
    context, flag = secure("h2")
    gate = threading.Event()

    def react(connection, stream):
        if connection.number == 0 and stream == 1:
            return threading.Thread(target=lambda: gate.wait(BOUND) and connection.send(found(stream)), daemon=True).start()
        connection.send(found(stream))
    target, service = raw(speaking_http2(react), context), redial(flag, Constants(maxConnectionAge="5s"), *NO_BREAKER)
    held = service.submit(url=target.url, idempotent=False, policy=ONCE)
    wait_until(lambda: target.requests, "it is in flight")
    time.sleep(5.1)
    counts, begun = [], time.monotonic()
    for _ in range(3):
        for call in [service.submit(url=target.url, idempotent=False, policy=ONCE) for _ in range(60)]:
            assert service.ended(call)["state"] == "succeeded"
        counts.append(target.connections)
    # As many as at once at first, and no further one, unless these are old, too.
    assert counts[2] <= counts[0] * (1 + (time.monotonic() - begun) // 4), counts
    gate.set()
    assert service.ended(held)["state"] == "succeeded"


@pytest.mark.parametrize("together", [1, 8])
def test_a_stream_that_is_refused_on_a_used_connection_is_tried_again(redial, raw, secure, together):
    context, flag = secure("h2")
    refused = []

    def react(connection, stream):
        if stream > 1 and len(refused) < together:
            refused.append(stream)
            return connection.send(reset(stream, REFUSED_STREAM))
        connection.send(found(stream))
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    service.ended(service.submit(url=target.url, policy=QUICK))
    # An older libcurl does not tell each of several that are refused at once from the end of their connection.
    told = together == 1 or libcurl() >= (8,)
    for call in [service.submit(url=target.url, body="x", idempotent=not told, policy=QUICK | {"maxAttempts": 20}) for _ in range(together)]:
        ended = service.ended(call)
        assert ended["state"] == "succeeded", ended["attempts"]
        if told:
            assert {(a["outcome"], a["error"]["code"]) for a in ended["attempts"][:-1]} <= {("notSent", "requestRefused")}, ended
    assert refused


def end_only_tls(connection):
    """Says that nothing more comes, and leaves the connection open."""
    try:
        connection.sock.unwrap()
    except OSError:
        pass
    time.sleep(1)


@pytest.mark.parametrize("end", {
    "the connection": lambda connection: connection.sock.close(), "TLS alone": end_only_tls,
    "the connection, by a reset": lambda connection: (
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)), connection.sock.close()),
    "the stream, by an error": lambda connection: connection.send(reset(3, 2)),
    "the connection, by an alert": lambda connection: connection.sock._sslobj and socket.socket(fileno=os.dup(connection.sock.fileno())).send(
        b"\x15\x03\x03\x00\x02\x02\x50"),
}.items(), ids=lambda end: end[0])
def test_what_a_used_http2_connection_may_have_carried_is_not_tried_again(redial, raw, secure, end):
    context, flag = secure("h2")

    def react(connection, stream):
        if stream == 1:
            return connection.send(found(stream))
        end[1](connection)
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER)
    service.ended(service.submit(url=target.url, policy=QUICK))
    call = service.ended(service.submit(url=target.url, body="x", idempotent=False, policy=QUICK | {"attemptTimeout": "5s"}))
    assert (call["state"], call["attempts"][0]["outcome"]) == ("failed", "maybeSent"), call
    assert len(target.requests) == 2


def test_what_one_namespace_meets_changes_the_protocol_for_no_other(redial, raw, secure):
    """A target that speaks HTTP/2 only: one request requires HTTP/1.1 of it."""
    context, flag = secure("h2")
    bad = []

    def react(connection, stream):
        if bad:
            return connection.send(reset(stream, HTTP_1_1_REQUIRED))
        connection.send(found(stream))
    key = "the-admin-key-of-this-test"
    target, service = raw(speaking_http2(react), context), redial(flag, *NO_BREAKER, env={"REDIAL_ADMIN_KEY": key})
    service.credentials = {"authorization": f"Bearer {key}"}
    keys = [service("POST", "/v1/keys", {"name": "k", "scopes": ["admin"], "namespace": one}).json["key"] for one in ("east", "west")]

    def call(key, policy=QUICK):
        service.credentials = {"authorization": f"Bearer {key}"}
        return service.ended(service.submit(url=target.url, idempotent=False, policy=policy))
    bad.append(True)
    assert call(keys[0])["attempts"][0]["error"]["code"] == "http1Required"
    bad.clear()
    assert (call(keys[1])["state"], call(keys[1])["attemptCount"]) == ("succeeded", 1)
    # Nor is it tried in vain for long.
    wait_until(lambda: call(keys[0])["state"] == "succeeded", "it speaks HTTP/2 again")


def test_a_success_before_the_end_of_the_body_is_one_from_the_next_attempt_on(redial, raw, secure):
    context, flag = secure("h2", "http/1.1")
    early = lambda stream: status(stream, 200, ends=False) + frame(DATA, stream, b"charged", 1)

    def script(connection):
        if connection.sock.selected_alpn_protocol() == "h2":
            return refusing_bodies(early)(connection)
        connection.read(4)
        connection.send(http(200, body=b"charged"))
        time.sleep(0.3)
    target, service = raw(script, context), redial(flag, *NO_BREAKER)
    for attempts in (2, 1):
        call = service.ended(service.submit(url=target.url, method="PUT", body="x" * 900_000, policy=QUICK | {"attemptTimeout": "4s"}))
        assert (call["state"], call["attemptCount"]) == ("succeeded", attempts), call["attempts"]

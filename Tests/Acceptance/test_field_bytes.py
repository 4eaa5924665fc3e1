"""Bytes that are not UTF-8, in header fields, and text that is cut within a character: nothing is changed in silence."""

import base64
import http.client
import json

import pytest

from processes import run
from test_contract import check

# ISO-8859-1, UTF-8, neither, the beginning of a character in UTF-8.
VALUES = [b"J\xfcrgen", "Jürgen €".encode(), b"\xff \xfe\x81\xa0x", b"a\xe2\x82", b"plain"]


def is_text(value):
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def received(request, name="x-name"):
    """The values of a field as bytes, which Python decodes as ISO-8859-1."""
    return [value.encode("latin-1") for value in request.headers.get_all(name) or []]


@pytest.mark.parametrize("value", VALUES)
def test_a_forwarded_field_keeps_its_bytes_on_all_ways(redial, receiver, tmp_path, value):
    service, target = redial(clock=True), receiver()
    path = f"/v1/forward/{target.url}/"
    answer = service("POST", path, b"x", {"x-name": value, "redial-delay": "1h", "redial-label": b"name=J\xfcrgen"})
    assert answer.status == 202, answer.body
    identity = answer.json["id"]
    # From the store, after a crash.
    service.kill()
    service.start()
    service.advance(3600)
    call = service.ended(identity)
    assert received(target.next()) == [value]
    text = value.decode() if is_text(value) else value.decode("latin-1")
    assert call["labels"] == {"name": "Jürgen"}
    shown = check(service("GET", f"/v1/calls/{identity}?include=request"), "get", "/v1/calls/{id}")["request"]
    assert shown["headers"]["x-name"] == [text]
    assert shown.get("latin1") == (None if is_text(value) else ["x-name"])
    # A replay, with and without changes, and the call itself once more.
    for changes in ({}, {"priority": 3}):
        replayed = service("POST", f"/v1/calls/{identity}/replay", changes)
        assert replayed.status == 202, replayed.body
        assert received(target.next()) == [value]
    assert service("POST", f"/v1/calls/{identity}/retry").status in (200, 202)
    assert received(target.next()) == [value]
    # An archive, which another store reads.
    waiting = service("POST", path, b"x", {"x-name": value, "redial-delay": "1h"}).json["id"]
    service.terminate()
    archive = run("export", "--store", f"sqlite:{service.store}").stdout
    folder = tmp_path / "other"
    folder.mkdir()
    assert run("import", "--store", f"sqlite:{folder}/redial.db", stdin=archive).returncode == 0
    other = redial(folder=folder)
    assert other("POST", f"/v1/calls/{waiting}/retry").status in (200, 202)
    assert received(target.next()) == [value]


def test_values_of_one_field_that_differ_in_their_coding_are_all_kept(redial, receiver):
    service, target = redial(), receiver(lambda request: (200, {}, b""))
    # One line each, as a client in C would write them.
    client = http.client.HTTPConnection("127.0.0.1", service.port)
    client.putrequest("POST", f"/v1/forward/{target.url}/")
    for value in VALUES:
        client.putheader("x-name", value)
    client.putheader("x-plain", "a")
    client.putheader("content-length", "0")
    client.endheaders()
    identity = json.loads(client.getresponse().read())["id"]
    service.ended(identity)
    assert received(target.next()) == VALUES
    shown = service("GET", f"/v1/calls/{identity}?include=request").json["request"]
    assert shown["latin1"] == ["x-name"]
    assert [value.encode("latin-1") for value in shown["headers"]["x-name"]] == VALUES
    assert shown["headers"]["x-plain"] == ["a"]
    command = run("get", identity, "--curl", "--server", service.url)
    assert command.returncode == 0 and "x-name was sent in ISO-8859-1" in command.stderr


def test_clients_have_no_other_form_for_a_field_in_json(redial, receiver):
    service, target = redial(), receiver()
    for value in ({"latin1": "x"}, [{"latin1": "x"}], {"latin1": 1}, {}):
        answer = service("POST", "/v1/calls", {"url": target.url, "headers": {"x-name": value}})
        assert answer.status == 422 and answer.json["errors"][0]["pointer"] == "/headers/x-name", answer.body
    service.submit(url=target.url, headers={"x-name": "Jürgen"})
    assert received(target.next()) == ["Jürgen".encode()]


@pytest.mark.parametrize("value", VALUES)
def test_a_field_of_a_response_is_shown_so_that_its_bytes_are_known(redial, receiver, value):
    target = receiver(lambda request: (200, {"x-name": value.decode("latin-1")}, b"ok"))
    hook, service = receiver(), redial()
    identity = service.submit(url=target.url, callback={"url": hook.url})
    text = value.decode() if is_text(value) else value.decode("latin-1")
    marked = None if is_text(value) else ["x-name"]
    call = service.ended(identity)
    delivered = json.loads(hook.next().body)["data"]
    attempts = check(service("GET", f"/v1/calls/{identity}/attempts"), "get", "/v1/calls/{id}/attempts")["data"]
    for response in (call["response"], delivered["response"], attempts[0]["response"]):
        assert response["headers"]["x-name"] == [text] and response.get("latin1") == marked


@pytest.mark.parametrize("text", ["é", "€", "😀", "aé"])
def test_a_captured_text_is_cut_after_a_whole_character(redial, receiver, text):
    target, hook, service = receiver(lambda request: (200, {}, text.encode() * 100)), receiver(), redial()
    for limit in (1, 2, 3, 4, 10, 11, 12, 13):
        identity = service.submit(url=target.url, callback={"url": hook.url}, capture={"maxBytes": limit})
        call = service.ended(identity)
        wanted = (text.encode() * 100)[:limit].decode(errors="ignore")
        delivered = json.loads(hook.next().body)["data"]
        [attempt] = service("GET", f"/v1/calls/{identity}/attempts?include=body").json["data"]
        for response in (call["response"], delivered["response"], attempt["response"]):
            assert (response["body"], response["encoding"], response["truncated"]) == (wanted, "utf8", True), limit


@pytest.mark.parametrize("body", [b"ab\xff", b"ab\xc3x" * 2, b"\xff" * 9, b"ab\xe2\x28", b"ab\xed\xa0\x80c", b"abc\xc0\x80"])
def test_cut_bytes_that_are_no_text_are_not_taken_for_one(redial, receiver, body):
    target, service = receiver(lambda request: (200, {}, body + b"?")), redial()
    call = service.ended(service.submit(url=target.url, capture={"maxBytes": len(body)}))
    assert (call["response"]["encoding"], base64.b64decode(call["response"]["body"])) == ("base64", body)

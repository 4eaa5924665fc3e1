"""What was sent is shown to who may see it, and sent again with changes."""

import json
import sqlite3
import subprocess

import pytest

from processes import run
from test_contract import check
from test_keys import bearer, locked, make

CALL = "/v1/calls/{id}"


def shown(service, identity, query="", headers=None):
    answer = service("GET", f"/v1/calls/{identity}?include=request{query}", headers=headers)
    assert answer.status == 200, answer.body
    return check(answer, "get", CALL)["request"]


def test_the_request_is_shown_redacted_and_only_when_it_is_asked_for(redial, receiver):
    target, service = receiver(), redial()
    identity = service.submit(
        url=f"{target.url}/charges?token=s3cret&page=2", method="PUT", body="zwölf €",
        headers={"Authorization": "Bearer catfish", "X-Tag": ["a", "b"], "x-private": "tuna"},
        capture={"redactHeaders": ["x-private"]})
    service.ended(identity)
    service.kill()
    service.start()
    assert "request" not in service.get(identity)
    assert shown(service, identity) == {
        "method": "PUT", "url": f"{target.url}/charges?token=REDACTED&page=2",
        "headers": {"Authorization": ["REDACTED"], "X-Tag": ["a", "b"], "x-private": ["REDACTED"]},
        "body": "zwölf €", "encoding": "utf8", "size": 10, "truncated": False, "erasedAt": None}
    assert shown(service, identity, "&wait=5s")["size"] == 10
    assert service("GET", f"/v1/calls/{identity}?include=body").status == 400
    binary = service.submit(url=target.url, bodyBase64="//4A", delay="1h")
    assert [shown(service, binary)[k] for k in ("body", "encoding", "size")] == ["//4A", "base64", 3]
    plain = service.submit(url=target.url, delay="1h")
    assert [shown(service, plain)[k] for k in ("method", "headers", "body", "size")] == ["GET", {}, "", 0]
    erased = service("DELETE", f"/v1/calls/{identity}/content").json["contentErasedAt"]
    assert shown(service, identity) == {
        "method": "PUT", "url": f"{target.url}/charges", "headers": {}, "body": None, "encoding": None, "size": None,
        "truncated": False, "erasedAt": erased}


@pytest.mark.parametrize("length", [20_000, 1_500_000])
def test_a_large_body_is_read_from_the_store_and_cut_off_with_a_flag(redial, receiver, length):
    target, service = receiver(), redial("--max-body-bytes", "4000000")
    identity = service.submit(url=target.url, body="xyzé" * (length // 5), delay="1h")
    request = shown(service, identity)
    assert request["size"] == length and request["encoding"] == "utf8"
    assert request["truncated"] == (length > 1 << 20)
    assert ("xyzé" * length).startswith(request["body"]) and len(request["body"].encode()) >= min(length, (1 << 20) - 3)


def test_the_request_takes_the_scope_payloads(redial, receiver):
    target, service = receiver(), redial()
    locked(service)
    identity = service.submit(url=target.url, body="x", delay="1h")
    reader = bearer(make(service, "read")["key"])
    refused = service("GET", f"/v1/calls/{identity}?include=request", headers=reader)
    assert refused.status == 403 and "payloads" in refused.json["detail"]
    assert 'scope="payloads"' in refused.headers["www-authenticate"]
    assert service("GET", f"/v1/calls/{identity}", headers=reader).status == 200
    both = bearer(make(service, "read", "payloads")["key"])
    assert shown(service, identity, headers=both)["body"] == "x"
    alone = bearer(make(service, "payloads")["key"])
    assert service("GET", f"/v1/calls/{identity}?include=request", headers=alone).status == 403


def test_the_command_writes_a_request_as_a_curl_command_that_a_shell_takes_as_it_is(redial, receiver):
    target, service = receiver(), redial()
    nasty = "@it's $(touch /tmp/no) `x` \\ \"q\"\nsecond\t{}[1-3]"
    identity = service.submit(
        url=f"{target.url}/a[1-2]?q={{x}}&b=$HOME", method="PATCH", body=nasty,
        headers={"x-q": "it's $(id)", "x-empty": "", "content-type": "text/plain"})
    service.ended(identity)
    sent = target.next()
    command = run("get", identity, "--curl", "--url", service.url)
    assert command.returncode == 0 and command.stderr == ""
    subprocess.run(["sh", "-c", command.stdout], check=True, capture_output=True, timeout=20)
    again = target.next()
    assert (again.method, again.path, again.body) == (sent.method, sent.path, sent.body) == (
        "PATCH", "/a[1-2]?q={x}&b=$HOME", nasty.encode())
    for name in ("x-q", "x-empty", "content-type"):
        assert again.headers[name] == sent.headers[name], name
    binary = service.submit(url=target.url, bodyBase64="AP/+Cg==", headers={"cookie": "a=b"})
    service.ended(binary)
    target.next()
    command = run("get", binary, "--curl", "--url", service.url)
    assert "cookie" in command.stderr
    subprocess.run(["sh", "-c", command.stdout], check=True, capture_output=True, timeout=20)
    assert target.next().body == b"\x00\xff\xfe\n"
    text = run("get", identity, "--request", "--url", service.url).stdout
    assert "x-q: it's $(id)" in text and "second" in text

"""Secrets in URLs and headers: used for attempts, and not shown."""

import json
import re
import sqlite3
from urllib.parse import quote

import pytest

SECRET = "s3cr3t-0815"


def test_secrets_reach_the_target_and_nobody_else(redial, receiver, tmp_path):
    answers = [
        (503, {"set-cookie": f"id={SECRET}", "x-pin": SECRET, "location": f"/next?token={SECRET}&a=1",
               "retry-after": "0"}, b""),
        (200, {"x-plain": "1"}, b"ok")]
    target = receiver(lambda request: answers[int(request.headers.get("redial-attempt") or 2) - 1])
    hook = receiver()
    service = redial("--log-level", "debug")
    descriptor = {
        "url": f"{target.url}/x?a=1&access_token={SECRET}", "headers": {"Authorization": f"Bearer {SECRET}"},
        "capture": {"redactHeaders": ["X-Pin"]}, "policy": {"backoff": {"initial": "20ms"}},
        "callback": {"url": f"{hook.url}/?sig={SECRET}"}}
    seen = [service("POST", "/v1/calls?dryRun=true", descriptor)]
    answer = service("POST", "/v1/calls", descriptor, {"Idempotency-Key": "k"})
    identity = answer.json["id"]
    call = service.ended(identity)
    assert call["state"] == "succeeded" and call["attemptCount"] == 2
    assert call["url"] == f"{target.url}/x?a=1&access_token=REDACTED"
    assert all(r.path.endswith(SECRET) and SECRET in r.headers["authorization"] for r in target.requests)
    webhook = hook.next()
    assert SECRET in webhook.path and SECRET not in webhook.body.decode()
    assert json.loads(webhook.body)["data"]["url"] == call["url"]
    attempts = service("GET", f"/v1/calls/{identity}/attempts")
    headers = attempts.json["data"][0]["response"]["headers"]
    assert headers["set-cookie"] == headers["x-pin"] == ["REDACTED"]
    assert headers["location"] == ["/next?token=REDACTED&a=1"]
    seen += [answer, attempts, service("POST", "/v1/calls", descriptor, {"Idempotency-Key": "k"}),
             service("GET", f"/v1/calls/{identity}"), service("GET", "/v1/calls"), service("GET", "/v1/targets"),
             service("GET", "/metrics"), service("POST", "/v1/calls/batch", [descriptor]),
             service("POST", "/v1/calls", descriptor, {"Prefer": "wait=10"}),
             service("GET", f"/v1/calls/{identity}?wait=1s")]
    for shown in seen:
        assert shown.status < 300 and SECRET not in shown.body.decode(), shown.body
    service.terminate()
    assert SECRET not in service.log.read_text()
    # The response's secret is not even in the store.
    heads = [row[0] for row in sqlite3.connect(service.store).execute(
        "SELECT response_head FROM attempts UNION ALL SELECT past FROM requests") if row[0]]
    assert heads and not any(SECRET.encode() in bytes(head) for head in heads)


def test_the_names_can_be_chosen(redial, receiver):
    target = receiver(lambda request: (200, {"x-mine": "1", "set-cookie": "a"}, b""))
    service = redial("--redact-headers", "X-Mine", "--redact-parameters", "code")
    call = service.ended(service.submit(url=target.url + "/?code=1&token=2"))
    assert call["url"] == target.url + "/?code=REDACTED&token=2"
    assert call["response"]["headers"]["x-mine"] == ["REDACTED"]
    assert call["response"]["headers"]["set-cookie"] == ["a"]


def test_a_response_that_was_inflated_does_not_claim_a_coding(redial, receiver):
    import gzip
    body = gzip.compress(b"hello" * 100)
    target = receiver(lambda request: (200, {"content-encoding": "gzip", "x-a": "1"}, body))
    service = redial()
    call = service.ended(service.submit(url=target.url))
    assert call["response"]["body"] == "hello" * 100
    assert "content-encoding" not in call["response"]["headers"]
    assert "content-length" not in call["response"]["headers"]
    assert call["response"]["headers"]["x-a"] == ["1"]
    # A call that sets the accepted coding itself gets the response unchanged.
    call = service.ended(service.submit(url=target.url, headers={"Accept-Encoding": "gzip"}))
    assert call["response"]["headers"]["content-encoding"] == ["gzip"] and call["response"]["encoding"] == "base64"


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_log_has_nothing_that_a_terminal_acts_on(redial, receiver, form):
    service, target = redial("--log-format", form, "--log-level", "debug"), receiver()
    # Control characters are refused when submitted; characters without a width are not, because words of several
    # scripts need them.
    for active in ("\x85", "\x9b", "\u202e", "\u2028", "\x1b"):
        for more in ({"target": "a" + active}, {"orderingKey": active}, {"labels": {active: "x"}}):
            assert service("POST", "/v1/calls", {"url": target.url} | more).status == 422
        assert service("POST", f"/v1/targets/{quote('a' + active)}/pause").status == 422
    service.ended(service.submit(url=target.url, target="a\u200bb", labels={"a": "\u202e"}))
    assert service("POST", f"/v1/targets/{quote('a' + chr(0x200b) + 'b')}/pause").status == 200
    service.terminate()
    log = service.log.read_text()
    assert log.count(r"a\u200bb") >= 2
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", log)

"""Many calls in one request, and requests that are forwarded as they are."""

import gzip
import http.client
import json

import pytest

from processes import Constants, run

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/x-ndjson"}


def test_each_call_of_a_batch_is_accepted_or_refused_by_itself(redial, flaky):
    service, target = redial(), flaky()
    batch = [{"url": target.url + f"/{n}"} for n in range(5)]
    batch[2] = {"url": "nonsense", "x": 1}
    answer = service("POST", "/v1/calls/batch", batch)
    assert answer.status == 200
    items = answer.json["data"]
    assert [i["status"] for i in items] == [202, 202, 422, 202, 202]
    assert {e["pointer"] for e in items[2]["problem"]["errors"]} == {"/url", "/x"}
    for number, item in enumerate(items):
        if number != 2:
            assert service.ended(item["call"]["id"])["state"] == "succeeded"
            assert item["call"]["url"].endswith(f"/{number}")


def test_lines_are_answered_by_lines(redial, flaky):
    service, target = redial(), flaky()
    lines = "\n".join(["", json.dumps({"url": target.url}), "{", "  ", json.dumps({"url": target.url}) + "\r", ""])
    answer = service("POST", "/v1/calls/batch", lines, LINES)
    assert answer.status == 200 and answer.headers["content-type"] == "application/x-ndjson"
    items = [json.loads(line) for line in answer.body.decode().splitlines()]
    assert [i["status"] for i in items] == [202, 400, 202]


def test_a_batch_repeated_under_its_key_makes_no_second_call(redial, flaky):
    service, target = redial(), flaky()
    batch = [{"url": target.url, "labels": {"n": str(n)}} for n in range(20)]
    first = service("POST", "/v1/calls/batch", batch, JSON | {"idempotency-key": "k"}).json["data"]
    again = service("POST", "/v1/calls/batch", batch, JSON | {"idempotency-key": "k"}).json["data"]
    assert [i["call"]["id"] for i in first] == [i["call"]["id"] for i in again]
    assert all(i["idempotencyStatus"] == "repeated" for i in again) and not any("idempotencyStatus" in i for i in first)
    batch[3]["labels"]["n"] = "other"
    changed = service("POST", "/v1/calls/batch", batch, JSON | {"idempotency-key": "k"}).json["data"]
    assert changed[3]["problem"]["code"] == "idempotencyKeyReused" and changed[4]["status"] == 202
    assert service("POST", "/v1/calls/batch", batch, JSON | {"idempotency-key": "k" * 254}).json["data"][0]["status"] == 400


def test_the_bounds_of_a_batch(redial, flaky):
    service, target = redial(Constants(maxBatch=10)), flaky()
    item = {"url": target.url, "delay": "1h"}
    assert service("POST", "/v1/calls/batch", [item] * 10).status == 200
    for batch, status in (([item] * 11, 413), ([], 422), ({"url": target.url}, 400)):
        assert service("POST", "/v1/calls/batch", batch).status == status
    assert service("POST", "/v1/calls/batch", []).json["detail"] == "The batch has no calls. Send at least one."
    other = service("POST", "/v1/calls/batch", "<a/>", {"content-type": "application/xml"})
    assert other.status == 415 and "application/x-ndjson" in other.json["detail"], other.body
    assert service("POST", "/v1/calls/batch", "[{},", JSON).status == 400
    assert service("POST", "/v1/calls/batch", "[]", {"content-type": "text/plain"}).status == 415
    assert len(service("GET", "/v1/calls?limit=250").json["data"]) == 10


def test_a_request_is_forwarded_as_it_is(redial, receiver):
    service, target = redial(), receiver()
    answer = service(
        "PUT", f"/v1/forward/{target.url}/a%20b//c?x=1&y=%2F", b"\x00\xffbody", {
            "x-one": "1", "content-type": "application/octet-stream", "connection": "keep-alive, x-hop", "x-hop": "no",
            "authorization": "Bearer t", "redial-policy": '{"maxAttempts": 7}', "redial-label": "team=payments",
            "redial-target": "billing", "prefer": "wait=50"})
    assert answer.status == 200 and answer.json["state"] == "succeeded", answer.body
    assert answer.json["maxAttempts"] == 7 and answer.json["target"] == "billing"
    assert answer.json["labels"] == {"team": "payments"}
    request = target.next()
    assert request.method == "PUT" and request.path == "/a%20b//c?x=1&y=%2F" and request.body == b"\x00\xffbody"
    assert request.headers["x-one"] == "1" and request.headers["authorization"] == "Bearer t"
    assert request.headers["content-type"] == "application/octet-stream"
    assert not request.headers["x-hop"] and not request.headers["redial-policy"]
    assert request.headers["idempotency-key"] == answer.json["id"]


@pytest.mark.parametrize("coding, body", [
    ("gzip", gzip.compress(b"hello", mtime=0)), ("gzip", gzip.compress(b"a" * 300_000, mtime=0)), ("zstd", b"any"),
    ("br", b"\x0b\x02\x80hello\x03"), ("aws-chunked", b"5\r\nhello\r\n0\r\n\r\n"), ("gzip", b"damaged"), ("gzip", b""), ("identity", b"x")])
def test_a_forwarded_body_keeps_its_content_coding(redial, receiver, coding, body):
    service, target = redial(), receiver()
    answer = service("POST", f"/v1/forward/{target.url}", body, {
        "content-type": "text/plain", "content-encoding": coding, "prefer": "wait=50"})
    assert answer.status == 200 and answer.json["state"] == "succeeded", answer.body
    request = target.next()
    assert request.headers["content-encoding"] == coding and request.body == body
    # A descriptor is decompressed as before.
    plain = json.dumps({"url": target.url, "method": "POST", "body": "x"}).encode()
    assert service("POST", "/v1/calls", gzip.compress(plain), JSON | {"content-encoding": "gzip"}).status == 202
    request = target.next()
    assert request.headers["content-encoding"] is None and request.body == b"x"


def test_what_cannot_be_forwarded_is_told(redial, flaky):
    service, target = redial(), flaky()
    for url, headers, status in (
        ("nonsense", {}, 422), ("ftp://x/", {}, 422), (target.url, {"redial-nonsense": "1"}, 422),
        (target.url, {"redial-policy": "{"}, 422), (target.url, {"redial-label": "x"}, 422),
        (target.url, {"redial-idempotent": "yes"}, 422), (target.url, {"redial-priority": "high"}, 422),
        (target.url, {"redial-delay": "soon"}, 422), (target.url, {"redial-delay": "1h"}, 202),
    ):
        answer = service("POST", f"/v1/forward/{url}", b"x", headers)
        assert answer.status == status, (url, headers)
        if status == 422:
            [fault] = answer.json["errors"]
            place = fault["header"].lower() if headers else fault["pointer"]
            assert place == next(iter(headers), "/url") and answer.json["detail"].endswith(f" {fault['detail']}."), answer.body
    answer = service("POST", f"/v1/forward/{target.url}", b"x", {"redial-idempotent": "yes"}).json
    assert answer["detail"] == "The field Redial-Idempotent must be true or false (or ?1 or ?0).", answer
    answer = service("POST", f"/v1/forward/{target.url}", b"x", {"redial-policy": '{"deadline": "x"}'}).json
    assert answer["errors"][0]["header"] == "Redial-Policy" and "has deadline, which must be" in answer["detail"], answer


def test_a_url_is_forwarded_however_a_client_or_a_proxy_writes_it(redial, receiver):
    service, target = redial(), receiver()
    host = target.url.removeprefix("http://")
    encoded = host.replace(":", "%3A")
    for written in (f"http:/{host}/a%20b?x=1%2F", f"http%3A//{host}/a%20b?x=1%2F", f"http%3a/{host}/a%20b?x=1%2F",
                    f"http:%2F%2F{host}/a%20b?x=1%2F", f"http%3A%2F%2F{encoded}/a%20b?x=1%2F", f"HTTP:/{host}/a%20b?x=1%2F",
                    f"http%3A%2F%2F{encoded}%2Fa%2520b%3Fx%3D1%252F", f"http%3a%2f{encoded}%2fa%2520b?x=1%2F"):
        answer = service("POST", f"/v1/forward/{written}", b"x", {"prefer": "wait=50"})
        assert answer.status == 200 and answer.json["target"] == target.url, (written, answer.body)
        assert target.next().path == "/a%20b?x=1%2F", written
    # Anything else is refused with an example.
    for written in (host, f"//{host}/", "example.com/a", "ftp://x/", "http", "http:", "http:x", "http%253A%252F%252Fx", "%68ttp://x/"):
        answer = service("POST", f"/v1/forward/{written}", b"x")
        assert answer.status == 422 and answer.json["errors"] == [{
            "pointer": "/url", "detail": "must be the whole URL, as in /v1/forward/https://api.example.com/charges"}], written
    for written in ("http:///x", "http:/", "http%3A%2F%2F", "http:/%zz/", "http:/a..b/"):
        assert service("POST", f"/v1/forward/{written}", b"x").status == 422, written


def test_a_repeated_forward_under_a_key_makes_no_second_call(redial, flaky):
    service, target = redial(), flaky()
    ids = {service("POST", f"/v1/forward/{target.url}", b"x", {"idempotency-key": "f"}).json["id"] for _ in range(3)}
    assert len(ids) == 1
    # The same request, repeated by its client.
    again = service("POST", f"/v1/forward/{target.url}", b"x", {
        "idempotency-key": "f", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
    assert again.status == 202 and again.json["id"] in ids
    assert service("POST", f"/v1/forward/{target.url}/other", b"x", {"idempotency-key": "f"}).status == 422
    assert service("POST", f"/v1/forward/{target.url}", b"y", {"idempotency-key": "f"}).status == 422
    assert service("PUT", f"/v1/forward/{target.url}", b"x", {"idempotency-key": "f"}).status == 422
    assert service("POST", f"/v1/forward/{target.url}", b"x", {
        "idempotency-key": "f", "redial-delay": "1h"}).status == 422


def test_what_a_client_shows_to_redial_goes_no_further(redial, receiver):
    service, target = redial(), receiver()
    path = f"/v1/forward/{target.url}"

    def forwarded(**headers):
        answer = service("POST", path, b"x", {"prefer": "wait=50"} | {k.replace("_", "-"): v for k, v in headers.items()})
        assert answer.status == 200 and answer.json["state"] == "succeeded", answer.body
        return target.next()

    # No key is required: a key that is not Redial's belongs to the target.
    assert forwarded(authorization="Bearer t").headers["authorization"] == "Bearer t"
    assert forwarded(authorization="Bearer t", redial_authorization="Bearer u").headers.get_all("authorization") == [
        "Bearer u"]
    for key in ("bearer rdl_0000000000000_x", "Bearer\trdl_0000000000000_x", "Bearer \t rdl_0000000000000_x"):
        assert forwarded(authorization=key).headers["authorization"] is None, key
    admin = service("POST", "/v1/keys", {"name": "a", "scopes": ["admin"]}).json["key"]
    request = forwarded(authorization=f"Bearer {admin}")
    assert request.headers["authorization"] is None and admin not in str(request.headers)
    request = forwarded(authorization=f"Bearer {admin}", redial_authorization="Basic eDp5")
    assert request.headers.get_all("authorization") == ["Basic eDp5"] and admin not in str(request.headers)
    assert not any(name.lower().startswith("redial-auth") for name in request.headers.keys())
    twice = http.client.HTTPConnection("127.0.0.1", service.port)
    twice.putrequest("POST", path)
    for name, value in (("authorization", f"Bearer {admin}"), ("redial-authorization", "a"),
                        ("redial-authorization", "b"), ("content-length", "0")):
        twice.putheader(name, value)
    twice.endheaders()
    assert twice.getresponse().status == 422
    service.terminate()
    stored = run("export", "--store", f"sqlite:{service.store}").stdout
    assert "Basic eDp5" in stored and admin not in stored and "rdl_" not in stored


def test_the_admin_key_is_not_forwarded(redial, receiver):
    key, target = "k" * 32, receiver()
    service = redial(env={"REDIAL_ADMIN_KEY": key})
    answer = service("POST", f"/v1/forward/{target.url}", b"x", {"prefer": "wait=50", "authorization": f"Bearer {key}"})
    assert answer.status == 200, answer.body
    request = target.next()
    assert request.headers["authorization"] is None and key not in str(request.headers)


def test_what_repeats_a_batch_is_answered_without_bodies_and_holds_up_nobody(redial, flaky):
    service, target = redial(Constants(maxBatch=4000)), flaky()
    batch = [{"url": target.url, "delay": "1h", "body": "x" * 50} for _ in range(3000)]
    batch[0] = {"url": target.url}
    first = service("POST", "/v1/calls/batch", batch, JSON | {"idempotency-key": "k"}).json["data"]
    ended = service.ended(first[0]["call"]["id"])
    assert ended["state"] == "succeeded" and ended["attempts"] and "response" in ended
    # More than may wait among the queries: no query for an accepted call is refused.
    again = service("POST", "/v1/calls/batch", batch, JSON | {"idempotency-key": "k"}).json["data"]
    assert [(i["status"], i["idempotencyStatus"], i["call"]["id"]) for i in again] == [
        (202, "repeated", i["call"]["id"]) for i in first]
    assert again[0]["call"]["state"] == "succeeded"
    assert not any({"attempts", "response"} & set(i["call"]) for i in again)
    lines = "\n".join(json.dumps(item) for item in batch)
    one = service("POST", "/v1/calls/batch", lines, LINES | {"idempotency-key": "l"})
    two = service("POST", "/v1/calls/batch", lines, LINES | {"idempotency-key": "l"})
    ids = [[json.loads(line)["call"]["id"] for line in answer.body.decode().splitlines()] for answer in (one, two)]
    assert ids[0] == ids[1] and len(set(ids[0])) == 3000

"""Which submissions are accepted, which are refused, and why."""

import gzip
import http.client
import json
import random
import socket
import threading
import zlib

import pytest
from processes import BOUND, wait_until


def test_a_url_alone_is_a_call(redial, flaky):
    service, target = redial(), flaky()
    answer = service("POST", "/v1/calls", {"url": target.url + "/a"})
    assert answer.status == 202
    call = answer.json
    assert answer.headers["location"] == f"/v1/calls/{call['id']}"
    assert answer.headers["content-type"] == "application/json"
    assert call["method"] == "GET" and call["target"] == target.url and call["maxAttempts"] is None
    assert service("GET", answer.headers["location"]).json["id"] == call["id"]
    assert service.ended(call["id"])["state"] == "succeeded"


BAD = [
    ({}, "/url"),
    ({"url": "ftp://example.com/"}, "/url"),
    ({"url": "example.com"}, "/url"),
    ({"url": "http://"}, "/url"),
    ({"url": "http://a b/"}, "/url"),
    ({"url": "http://example.com:99999/"}, "/url"),
    ({"url": 7}, "/url"),
    ({"url": "http://x/", "polcy": {}}, "/polcy"),
    ({"url": "http://x/", "policy": {"maxAttemps": 3}}, "/policy/maxAttemps"),
    ({"url": "http://x/", "policy": {"backoff": {"initail": "1s"}}}, "/policy/backoff/initail"),
    ({"url": "http://x/", "policy": {"maxAttempts": 0}}, "/policy/maxAttempts"),
    ({"url": "http://x/", "policy": {"deadline": "15"}}, "/policy/deadline"),
    ({"url": "http://x/", "policy": {"deadline": "-1s"}}, "/policy/deadline"),
    ({"url": "http://x/", "policy": {"backoff": {"jitter": "some"}}}, "/policy/backoff/jitter"),
    ({"url": "http://x/", "policy": {"retryOn": {"statuses": ["1000"]}}}, "/policy/retryOn/statuses/0"),
    ({"url": "http://x/", "policy": "mine"}, "/policy"),
    ({"url": "http://x/", "body": "a", "json": {}}, "/json"),
    ({"url": "http://x/", "bodyBase64": "%%%"}, "/bodyBase64"),
    ({"url": "http://x/", "method": "HEAD", "body": "a"}, "/body"),
    ({"url": "http://x/", "method": "GE T"}, "/method"),
    ({"url": "http://x/", "method": "CONNECT"}, "/method"),
    ({"url": "http://x/", "headers": {"a b": "1"}}, "/headers/a b"),
    ({"url": "http://x/", "headers": {"x": "a\r\nb: c"}}, "/headers/x"),
    ({"url": "http://x/", "headers": {"Content-Length": "3"}}, "/headers/Content-Length"),
    ({"url": "http://x/", "headers": {"x": 1}}, "/headers/x"),
    ({"url": "http://x/", "delay": "soon"}, "/delay"),
    ({"url": "http://x/", "delay": "1s", "startAt": "2030-01-01T00:00:00Z"}, "/startAt"),
    ({"url": "http://x/", "startAt": "tomorrow"}, "/startAt"),
    ({"url": "http://x/", "startAt": "9999-12-31T23:59:59.999Z"}, "/startAt"),
    ({"url": "http://x/", "target": ""}, "/target"),
    ({"url": "http://x/", "labels": {"a": 1}}, "/labels/a"),
    ({"url": "http://x/", "callback": {}}, "/callback/url"),
    ({"url": "http://x/", "callback": {"url": "http://x/", "events": ["call.done"]}}, "/callback/events/0"),
    ({"url": "http://x/", "priority": 10}, "/priority"),
    ({"url": "http://x/", "capture": {"maxBytes": -1}}, "/capture/maxBytes"),
]


def test_each_fault_is_a_problem_that_names_the_member_and_nothing_is_stored(redial):
    service = redial()
    for descriptor, pointer in BAD:
        answer = service("POST", "/v1/calls", descriptor)
        assert answer.status == 422, (descriptor, answer.status, answer.body)
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json
        assert {"type", "title", "status", "detail", "code", "errors"} <= problem.keys()
        assert problem["status"] == 422 and problem["code"] == "invalidDescriptor"
        assert [e["pointer"] for e in problem["errors"]] == [pointer], descriptor
    assert service("GET", "/v1/calls").json == {"data": [], "nextCursor": None}


def test_all_faults_of_a_descriptor_are_told_at_once(redial):
    answer = redial()("POST", "/v1/calls", {"method": "", "delay": 3, "x": 1})
    assert {e["pointer"] for e in answer.json["errors"]} == {"/url", "/method", "/delay", "/x"}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"url": "http://x/"} {}', '{"url": "http://x/",}', "\xff"])
def test_what_is_no_json_object_is_refused(redial, text):
    service = redial()
    answer = service("POST", "/v1/calls", text.encode("latin-1"), {"content-type": "application/json"})
    assert answer.status in (400, 422), answer.body
    assert answer.json["detail"]
    assert service("GET", "/v1/calls").json["data"] == []


def test_media_type_coding_size_and_key_are_checked(redial):
    service = redial("--max-body-bytes", "1000")
    good = json.dumps({"url": "http://127.0.0.1:1/"})
    kind = {"content-type": "application/json; charset=utf-8"}
    for headers, status in (
        ({}, 415), ({"content-type": "text/plain"}, 415), (kind | {"content-encoding": "br"}, 415),
        (kind | {"idempotency-key": ""}, 400), (kind | {"idempotency-key": '"a'}, 400),
        (kind | {"idempotency-key": "a b"}, 400), (kind | {"idempotency-key": "k" * 256}, 400)):
        answer = service("POST", "/v1/calls", good, headers)
        assert answer.status == status, (headers, answer.body)
        assert answer.headers["content-type"] == "application/problem+json"
    answer = service("POST", "/v1/calls", {"url": "http://x/", "body": "x" * 1001})
    assert (answer.status, answer.json["errors"][0]["pointer"]) == (413, "/body")
    answer = service("POST", "/v1/calls", {"url": "http://x/", "body": "x" * 1_000_000})
    assert answer.status == 413 and answer.json["status"] == 413
    assert answer.json["detail"].endswith("Send less, or raise maxBodyBytes."), answer.body
    assert service("POST", "/v1/calls?dry=true", good, kind).status == 400
    assert service("GET", "/v1/calls").json["data"] == []
    assert service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/", "body": "x" * 1000}).status == 202


def test_a_compressed_descriptor_is_the_same_call_and_compressed_answers_are_the_same_answers(redial):
    service = redial()
    plain = json.dumps({"url": "http://127.0.0.1:1/", "delay": "1h", "body": "x" * 5000}).encode()
    kind = {"content-type": "application/json", "idempotency-key": "same"}
    calls = []
    for coding, body in ((None, plain), ("gzip", gzip.compress(plain)), ("deflate", zlib.compress(plain)),
                         ("x-gzip", gzip.compress(plain[:9]) + gzip.compress(plain[9:]))):
        answer = service("POST", "/v1/calls", body, kind | ({"content-encoding": coding} if coding else {}))
        assert answer.status == 202, (coding, answer.body)
        calls.append(answer.json["id"])
    assert len(set(calls)) == 1
    for path in ("/v1/calls", f"/v1/calls/{calls[0]}", "/openapi.yaml", "/metrics"):
        answer = service("GET", path)
        packed = service("GET", path, headers={"accept-encoding": "gzip"})
        assert answer.headers["content-encoding"] is None
        if path in ("/openapi.yaml", "/metrics"):
            assert packed.headers["content-encoding"] == "gzip" and packed.headers["vary"] == "Accept-Encoding"
            assert len(packed.body) < len(answer.body) / 2
        if packed.headers["content-encoding"] == "gzip" and path != "/metrics":
            assert gzip.decompress(packed.body) == answer.body


def test_a_compressed_descriptor_that_cannot_be_inflated_is_refused_and_nothing_is_stored(redial):
    service = redial()
    kind = {"content-type": "application/json"}
    good = gzip.compress(json.dumps({"url": "http://127.0.0.1:1/"}).encode())
    bomb = gzip.compress(b" " * 1_000_000)
    for coding, body, status, code in (
        ("br", good, 415, "unsupportedContentCoding"),
        ("gzip, gzip", gzip.compress(good), 415, "unsupportedContentCoding"),
        ("gzip", good[:-1], 400, "badRequest"), ("gzip", good + b"x", 400, "badRequest"),
        ("deflate", good, 400, "badRequest"), ("gzip", bomb, 413, "badRequest"),
        ("gzip", bomb * 1000, 413, "badRequest")):
        answer = service("POST", "/v1/calls", body, kind | {"content-encoding": coding})
        assert (answer.status, answer.json["code"]) == (status, code), (coding, answer.body)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["accept-encoding"] == ("gzip, deflate" if status == 415 else None)
    assert service("GET", "/v1/calls").json["data"] == []


def test_a_call_is_on_disk_when_its_202_arrives(redial):
    service = redial()
    identity = service.submit(url="http://127.0.0.1:1/", delay="1h", labels={"a": "b"})
    service.kill()
    service.start()
    call = service.get(identity)
    assert (call["state"], call["waitingOn"], call["labels"]) == ("scheduled", "startTime", {"a": "b"})


def test_what_is_no_http_is_answered_and_the_connection_closed(redial):
    service = redial()
    for text, status in ((b"nonsense\r\n\r\n", b"400"), (b"GET / HTTP/1.1\r\n\r\n", b"400"),
                         (b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"414"),
                         (b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n", b"400")):
        with socket.create_connection(("127.0.0.1", service.port), BOUND) as connection:
            connection.sendall(text)
            answer = b""
            while more := connection.recv(65536):
                answer += more
        head, body = answer.split(b"\r\n\r\n", 1)
        assert head.split(b" ")[1] == status, answer
        assert b"application/problem+json" in head and json.loads(body)["status"] == int(status)


def test_chunked_descriptors_are_read(redial, flaky):
    service, target = redial(), flaky()
    text = json.dumps({"url": target.url}).encode()
    chunks = [text[:5], text[5:]]
    answer = service("POST", "/v1/calls", iter(chunks), {"content-type": "application/json"})
    assert answer.status == 202


def test_backpressure_refuses_new_calls_and_keeps_old_ones(redial):
    service = redial("--max-unfinished", "3")
    kept = [service.submit(url="http://127.0.0.1:1/", delay="1h") for _ in range(3)]
    answer = service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/"})
    assert answer.status in (429, 503), answer.body
    assert int(answer.headers["retry-after"]) >= 1
    assert service("POST", f"/v1/calls/{kept[0]}/cancel").status == 200
    one = {"url": "http://127.0.0.1:1/", "delay": "1h"}
    wait_until(lambda: service("POST", "/v1/calls", one).status == 202, "there is room for one more")
    assert all(service.get(k)["state"] == "scheduled" for k in kept[1:])


def test_a_submission_repeated_under_its_key_is_one_call(redial, receiver):
    service, target = redial(), receiver()
    call = json.dumps({"url": target.url, "body": "x"})
    headers = {"content-type": "application/json", "idempotency-key": '"order-7"'}
    first = service("POST", "/v1/calls", call, headers)
    assert first.status == 202 and first.headers["idempotency-status"] is None
    identity = first.json["id"]
    service.ended(identity)
    again = service("POST", "/v1/calls", call, headers | {"idempotency-key": "order-7"})
    assert (again.status, again.json["id"], again.json["state"]) == (202, identity, "succeeded")
    assert again.headers["idempotency-status"] == "repeated" and again.headers["location"] == f"/v1/calls/{identity}"
    other = service("POST", "/v1/calls", json.dumps({"url": target.url}), headers)
    assert (other.status, other.json["code"]) == (422, "idempotencyKeyReused")
    # It survives the process.
    service.kill()
    service.start()
    assert service("POST", "/v1/calls", call, headers).json["id"] == identity
    assert service("POST", "/v1/calls", call, headers | {"idempotency-key": "order-8"}).json["id"] != identity
    assert len(service("GET", "/v1/calls").json["data"]) == 2


def test_a_key_is_forgotten_in_time(redial):
    service = redial("--idempotency-time", "1h", clock=True)
    call, headers = json.dumps({"url": "http://127.0.0.1:1/", "delay": "10h"}), {
        "content-type": "application/json", "idempotency-key": "k"}
    first = service("POST", "/v1/calls", call, headers).json["id"]
    service.advance(3000)
    assert service("POST", "/v1/calls", call, headers).json["id"] == first
    service.advance(600)
    wait_until(lambda: service("POST", "/v1/calls", call, headers).json["id"] != first, "the key is forgotten")


def test_many_submissions_under_one_key_at_once_are_one_call_and_survive_kill_9(redial, flaky):
    service, target = redial(), flaky("--delay", "1ms")
    keys = [f"key-{n}" for n in range(60)]
    told = {key: set() for key in keys}
    lock = threading.Lock()

    answers = []

    def submitted(key):
        try:
            return service(
                "POST", "/v1/calls", json.dumps({"url": f"{target.url}/{key}"}),
                {"content-type": "application/json", "idempotency-key": key})
        except (OSError, http.client.HTTPException):
            return None

    def client(seed):
        order = list(keys)
        random.Random(seed).shuffle(order)
        for key in order:
            answer = wait_until(lambda: submitted(key), f"the submission under {key} is answered")
            answers.append(answer.status)
            with lock:
                told[key].add(answer.json["id"])

    threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    # Each client submits 60; so three times some have been answered and others have not.
    for count in (60, 160, 260):
        wait_until(lambda: len(answers) >= count, f"{count} are answered")
        service.kill()
        service.start()
    for thread in threads:
        thread.join()
    assert answers == [202] * 480
    assert all(len(ids) == 1 for ids in told.values()), told
    wait_until(lambda: service.metrics()["redial_backlog_calls"] == 0, "all calls end")
    assert len(service("GET", "/v1/calls?limit=200").json["data"]) == len(keys)

"""Submissions that try to keep the service busy, or to make it submit more by itself."""

import json
import os
import socket
import threading

import pytest
from processes import Constants, wait_until

MEGABYTE = 1 << 20


def words(count):
    """Different names of four letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["x" + letters[n // 676 % 26] + letters[n // 26 % 26] + letters[n % 26] + str(n // 17576) for n in range(count)]


def processor_seconds(service):
    with open(f"/proc/{service.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def submitted(service, body):
    """The answer to a submission, and the time of the processor that it took, in seconds: nobody else waited longer."""
    before = processor_seconds(service)
    answer = service("POST", "/v1/calls", body, {"content-type": "application/json"})
    return answer, processor_seconds(service) - before


URL = "http://127.0.0.1:9/"


@pytest.mark.parametrize("member, value, pointer", [
    ("capture", {"redactHeaders": words(100_000)}, "/capture/redactHeaders"),
    ("labels", {word: "" for word in words(80_000)}, "/labels"),
    ("headers", {word: "" for word in words(80_000)}, "/headers"),
    ("headers", {"x-many": words(80_000)}, "/headers"),
])
def test_a_list_of_a_megabyte_is_refused_without_comparing_all_with_all(redial, member, value, pointer):
    service = redial()
    body = json.dumps({"url": URL, member: value}, separators=(",", ":"))
    assert len(body) < MEGABYTE
    answer, took = submitted(service, body)
    assert answer.status == 422 and answer.json["errors"][0]["pointer"] == pointer, answer.body[:300]
    assert len(answer.body) < 50_000
    # It takes 0.02 s of the processor. A quadratic comparison took from 6 to 37 seconds.
    assert took < 2


NOT_A_SEGMENT = [".", "..", "%2e", "%2E", "%2e%2E", ".%2e", "%2e."]


@pytest.mark.parametrize("descriptor, pointer", [
    *(({"url": URL, "target": name}, "/target") for name in NOT_A_SEGMENT),
    ({"url": URL, "headers": {"Content-Type": ["text/plain", "text/html"]}}, "/headers/Content-Type"),
    ({"url": URL, "headers": {"content-type": "text/plain", "Content-Type": "text/plain"}}, "/headers/Content-Type"),
    *(({"url": URL, "headers": {"Host": host}}, "/headers/Host")
      for host in ("", "a b", "a/b", "u@a", "a?b", "a#b", "a:b", "a:0", "a:65536", "a,b", "[::1", "exämple.com", ["a", "b"])),
    ({"url": URL, "headers": {"host": "a", "Host": "a"}}, "/headers/Host"),
    *(({"url": f"{scheme}://{host}/"}, "/url") for scheme in ("http", "https") for host in (
        "a..b", ".a", "a..", "..", ".", "x" * 64, "a." + "x" * 64 + ".b", "A..B:8080", ("x" * 63 + ".") * 4 + "a", "x." * 127 + "x")),
    ({"url": URL, "callback": {"url": "https://a..b/"}}, "/callback/url"),
])
def test_what_no_target_can_be_sent_is_refused_at_once(redial, descriptor, pointer):
    service = redial()
    answer = service("POST", "/v1/calls", descriptor)
    assert answer.status == 422 and [e["pointer"] for e in answer.json["errors"]] == [pointer], answer.body


def test_what_only_looks_like_that_is_accepted(redial, receiver):
    service, target = redial(), receiver()
    for name in ("...", "a..b", ".a", "%2e%2e%2e", "%252e", "..%2f"):
        assert service.submit(url=URL, target=name, delay="1h")
    for host in ("x" * 63, "a.", "x" * 63 + ".b", "a_b", "-a", ("x" * 63 + ".") * 3 + "y" * 61, "127.0.0.1", "[::1]"):
        assert service.submit(url=f"http://{host}/", delay="1h")
    for host in ("a", "a:80", "a.b:8080", "[::1]:80", "a:", "A_b.c."):
        service.submit(url=target.url, headers={"Host": host, "Content-Type": "text/plain"}, body="x")
        assert target.next().headers.get_all("host") == [host]


@pytest.mark.parametrize("name", NOT_A_SEGMENT)
def test_nothing_that_has_a_path_is_named_like_a_folder(redial, name):
    service = redial()
    for kind, content in (("policies", {}), ("credentials", {"kind": "bearer", "token": "x"}), ("alerts", {"kind": "down"})):
        answer = service("PUT", f"/v1/{kind}/{name}", content)
        assert answer.status == 404 and "only one or two dots" in answer.json["detail"], (kind, answer.body)
    answer = service("POST", "/v1/calls", {"url": URL, "policy": name})
    assert answer.status == 422 and answer.json["errors"][0]["pointer"] == "/policy", answer.body


def test_faults_by_the_thousand_are_counted_and_the_first_are_told(redial):
    service = redial()
    answer = service("PUT", "/v1/targets/x", {"tls": {"origins": [1] * 20_000}, "nonsense": 1})
    assert answer.status == 422 and len(answer.json["errors"]) == 50
    answer = service("POST", "/v1/calls", {"url": URL, **{f"m{n}": 1 for n in range(5000)}})
    assert answer.status == 422 and len(answer.json["errors"]) == 50 and "4999 more" in answer.json["detail"]


@pytest.mark.parametrize("backoff", [
    {"schedule": ["0s"]}, {"strategy": "constant", "initial": "0s"}, {"strategy": "constant", "initial": "1ms"},
])
def test_a_policy_without_waits_is_judged_at_once(redial, backoff):
    service = redial()
    for policy in ({"backoff": backoff}, {"backoff": backoff, "deadline": "366d"}, {"backoff": backoff, "maxAttempts": 1000}):
        body = json.dumps({"url": URL, "delay": "1h", "policy": policy})
        answer, took = submitted(service, body)
        assert answer.status == 202 and took < 1, (policy, took)
        answer = service("POST", "/v1/policies/preview", {"policy": policy})
        assert answer.status == 200, answer.body
    assert service("PUT", "/v1/policies/p", {"backoff": backoff}).status in (200, 201)


def relay(to):
    """Forwards connections, like a proxy through which the service can reach itself; returns its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def serve():
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", to))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def test_calls_that_submit_calls_end_after_a_few_rounds(redial):
    service = redial(Constants(maxHops=2))
    own = f"http://127.0.0.1:{relay(service.port)}"
    innermost = {"url": f"{own}/v1/calls", "json": {"url": URL}, "policy": {"maxAttempts": 1}}
    call = innermost
    for _ in range(3):
        call = {"url": f"{own}/v1/calls", "json": call, "policy": {"maxAttempts": 1}}
    service.submit(**call)

    def ended():
        calls = service("GET", "/v1/calls?limit=50").json["data"]
        return calls if len(calls) == 3 and all(c["state"] in ("succeeded", "failed") for c in calls) else None

    wait_until(ended, "the third call is refused to submit a fourth")
    states = sorted(c["state"] for c in ended())
    assert states == ["failed", "succeeded", "succeeded"]
    failed = next(c for c in ended() if c["state"] == "failed")
    last = service("GET", f"/v1/calls/{failed['id']}").json["attempts"][-1]
    assert last["status"] == 508


def test_an_attempt_may_be_forwarded_by_another_service(redial, receiver):
    target, service = receiver(), redial()
    answer = service("POST", f"/v1/forward/{target.url}/x", b"y", {"Redial-Call-Id": "call_1", "Redial-Attempt": "2"})
    assert answer.status == 202, answer.body
    got = target.next()
    assert got.headers["redial-hops"] == "2" and got.headers["idempotency-key"] == answer.json["id"]
    assert got.headers["redial-attempt"] == "1"
    for fields in ({"Redial-Hops": "4"}, {"Redial-Hops": "99999999999999999999", "Redial-Call-Id": "a"}):
        status = service("POST", "/v1/calls", {"url": URL, "delay": "1h"}, fields).status
        assert status == (508 if fields["Redial-Hops"] == "4" else 202)
    assert service("POST", "/v1/calls", {"url": URL, "headers": {"Redial-Hops": "0"}}).status == 422

"""The transport of the Go client: it submits the requests of an HTTP client in place of sending them."""

import base64
import json
import os

import pytest

import needs
from client_packages import ADAPTERS, CLIENTS, GO, ClientError, ClientProcess, checked
from processes import free_port

QUICK = {"backoff": {"initial": "10ms", "max": "20ms"}}
ONCE = {"maxAttempts": 1}


@pytest.fixture
def sent(redial, packages, made):
    """A service, and what sends a request through the transport of a client of it."""
    service = redial()
    made.append(client := ClientProcess(packages, "go", url=service.url))
    return service, client.roundTrip


def test_a_request_is_submitted_as_it_is(sent, receiver):
    service, send = sent
    target = receiver()
    fields = {"Content-Type": "text/plain", "Authorization": "Basic abc", "Idempotency-Key": "order-7", "Keep-Alive": "5", "X-B": "é"}
    url = f"{target.url}/a%2Fb?c=d%20e#top"
    accepted = send("PUT", url, headers=fields, body="<ä>", host="shop.example")
    call = json.loads(accepted["body"])
    assert (accepted["status"], accepted["length"]) == (202, len(accepted["body"].encode()))
    assert accepted["headers"]["Redial-Call-Id"] == [call["id"]] and accepted["headers"]["Redial-Call-State"] == [call["state"]]
    assert accepted["headers"]["Location"] == [f"{service.url}/v1/calls/{call['id']}"]
    request = target.next()
    assert (request.method, request.path, request.body.decode()) == ("PUT", "/a%2Fb?c=d%20e", "<ä>")
    assert {name: request.headers[name] for name in ("content-type", "authorization", "idempotency-key", "host")} == {
        "content-type": "text/plain", "authorization": "Basic abc", "idempotency-key": "order-7", "host": "shop.example"}
    assert "keep-alive" not in request.headers
    # The same request is the same call, and another one is refused.
    service.ended(call["id"])
    again = send("PUT", url, headers=fields, body="<ä>", host="shop.example")
    assert again["headers"]["Redial-Call-Id"] == [call["id"]] and len(target.requests) == 1
    with pytest.raises(ClientError) as reused:
        send("PUT", url, headers=fields, body="another", host="shop.example")
    assert (reused.value.kind, getattr(reused.value, "class"), reused.value.status) == (
        "RedialProblem", "IdempotencyKeyReused", 422)


def test_a_quoted_key_is_the_key_in_the_quotes(sent, receiver):
    service, send = sent
    target = receiver()
    send("POST", target.url, headers={"Idempotency-Key": '"a \\"b\\" \\\\"'})
    (call,) = service("GET", "/v1/calls").json["data"]
    found = service("GET", "/v1/calls?idempotencyKey=a%20%22b%22%20%5C").json["data"]
    assert [one["id"] for one in found] == [call["id"]]


def test_requests_without_a_key_are_calls_of_their_own(sent, receiver):
    service, send = sent
    target = receiver()
    ids = {send("GET", target.url)["headers"]["Redial-Call-Id"][0] for _ in range(2)}
    assert len(ids) == 2 and [target.next().method for _ in ids] == ["GET", "GET"]


def test_the_answer_can_be_that_of_the_target(sent, receiver):
    service, send = sent
    binary = bytes(range(256))
    answers = iter([(503, {}, b""), None, (201, {"x-part": "seven", "content-type": "image/x"}, binary)])
    target = receiver(lambda request: next(answers))
    answer = send("POST", target.url, bodyBase64=base64.b64encode(binary).decode(), wait=60, policy=QUICK)
    assert (answer["status"], answer["headers"]["X-Part"], answer["length"]) == (201, ["seven"], 256)
    assert answer["headers"]["Redial-Call-State"] == ["succeeded"]
    assert [request.body for request in target.requests] == [binary] * 3


def test_a_failed_call_has_the_last_answer_or_is_an_error(sent, receiver):
    service, send = sent
    target = receiver(lambda request: (404, {}, b"no such customer"))
    answer = send("GET", target.url, wait=60)
    assert (answer["status"], answer["body"], answer["headers"]["Redial-Call-State"]) == (404, "no such customer", ["failed"])
    with pytest.raises(ClientError) as unanswered:
        send("GET", f"http://127.0.0.1:{free_port()}", wait=60, policy=ONCE)
    assert unanswered.value.kind == "CallWithoutAnswer" and "attemptsExhausted" in unanswered.value.message
    with pytest.raises(ClientError) as refused:
        send("GET", "ftp://a.example", wait=60)
    assert getattr(refused.value, "class") == "InvalidDescriptor"


def test_a_body_that_was_not_kept_is_not_taken_for_all(sent, receiver):
    service, send = sent
    sizes = iter([1 << 20, (1 << 20) + 1])
    target = receiver(lambda request: (200, {}, b"x" * next(sizes)))
    whole, cut = send("GET", target.url, wait=60), send("GET", target.url, wait=60)
    assert (len(whole["body"]), whole["length"], "cut" in whole) == (1 << 20, 1 << 20, False)
    assert (len(cut["body"]), cut["length"], cut["cut"]) == (1 << 20, -1, "unexpected EOF")


def test_a_call_goes_on_after_the_wait_and_after_the_end_of_a_context(sent, receiver):
    service, send = sent
    is_well = []
    target = receiver(lambda request: (200 if is_well else 503, {}, b""))
    policy = {"backoff": {"strategy": "constant", "initial": "20ms"}}
    unfinished = send("GET", target.url, wait=1, policy=policy)
    assert unfinished["status"] == 202 and unfinished["headers"]["Redial-Call-State"][0] in ("scheduled", "running")
    with pytest.raises(ClientError) as ended:
        send("GET", target.url, wait=60, timeout=1, policy=policy)
    # The text depends on whether the client or the context of its request notices first.
    assert "Client.Timeout" in ended.value.message or "deadline exceeded" in ended.value.message
    calls = service("GET", "/v1/calls").json["data"]
    is_well.append(True)
    assert len(calls) == 2 and [service.ended(call["id"])["state"] for call in calls] == ["succeeded"] * 2


def test_a_redirect_is_another_call_unless_the_call_follows_it(sent, receiver):
    service, send = sent
    elsewhere = receiver()
    target = receiver(lambda request: (302, {"location": elsewhere.url}, b""))
    fields = {"Idempotency-Key": "order-9"}
    with pytest.raises(ClientError) as reused:
        send("GET", target.url, headers=fields, wait=60)
    assert reused.value.code == "idempotencyKeyReused"
    assert send("GET", target.url, headers={"Idempotency-Key": "order-10"}, wait=60, redirects={"max": 3})["status"] == 200
    assert len(elsewhere.requests) == 1
    assert send("GET", target.url, wait=60)["status"] == 200 and len(service("GET", "/v1/calls").json["data"]) == 4


def test_the_module_has_the_form_of_go_and_each_public_name_a_comment():
    needs.program("gofmt")
    assert checked("gofmt", "-l", CLIENTS / "go", *ADAPTERS.glob("go*")) == ""
    for folder in (CLIENTS / "go", ADAPTERS / "go"):
        checked("go", "vet", "./...", cwd=folder, env=os.environ | GO)
    checked("go", "test", "-vet=off", "./...", cwd=CLIENTS / "go", env=os.environ | GO)

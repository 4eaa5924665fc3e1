"""The clients in Python, TypeScript and Go when the service, what is before it, or their user makes trouble."""

import itertools
import json
import subprocess
import sys

import pytest

import client_packages
from client_packages import ClientError, ClientProcess
from processes import BOUND, free_port, standing_still, wait_until

pytestmark = pytest.mark.part("clients")

client = client_packages.fixture(client_packages.PACKAGED)
PAGE = {"content-type": "text/html"}


def test_a_proxy_that_lets_nobody_through_is_asked_again(receiver, client):
    # As a proxy answers whose service is just starting: not in the words of the service.
    pages = [(503, PAGE | {"retry-after": "1"}, b"<h1>No server is available</h1>"), (429, PAGE, b"<h1>Too many</h1>")]
    answers = iter([*pages, (202, {}, b'{"id": "call_1"}'), pages[0]])
    proxy = receiver(lambda request: next(answers))
    redial = client(proxy.url)
    assert redial.submit({"url": "https://a.example"})["id"] == "call_1"
    assert len({request.headers["idempotency-key"] for request in proxy.requests}) == 1
    assert proxy.requests[1].at - proxy.requests[0].at >= 1
    # What the service may have done is not sent again.
    with pytest.raises(ClientError) as refused:
        redial.retry("call_1")
    assert (refused.value.kind, refused.value.status, len(proxy.requests)) == ("UnexpectedAnswer", 503, 4)


def test_events_go_on_after_a_restart_behind_a_proxy(receiver, client):
    def event(number):
        return f'id: {number}\ndata: {{"type":"call.failed","data":{number}}}\n\n'.encode()
    down = (502, PAGE, b"<h1>Bad gateway</h1>")
    starts = (503, {"content-type": "application/problem+json"}, b'{"code": "starting", "status": 503}')
    answers = iter([(200, {}, event(1)), starts, down, down, (200, {}, event(2))])
    proxy = receiver(lambda request: next(answers))
    redial = client(proxy.url, attempts=3)
    redial.openEvents()
    assert [redial.nextEvent()["data"], redial.nextEvent()["data"]] == [1, 2]
    assert [request.headers.get("last-event-id") for request in proxy.requests] == [None] + ["1"] * 4
    redial.closeEvents()


def test_events_do_not_rush_a_service_that_is_gone(receiver, client):
    event = (200, {}, b'data: {"type":"call.failed"}\n\n')
    answers = [event]
    service = receiver(lambda request: answers[0])
    redial = client(service.url, attempts=1)
    redial.openEvents()
    redial.nextEvent()
    answers[0] = None
    redial.begin("nextEvent")
    wait_until(lambda: len(service.requests) > 1, "it reconnects")
    answers[0] = event
    redial.finish()
    redial.closeEvents()
    failed = [request.at for request in service.requests[1:]]
    assert len(failed) > 1 and all(after - before > 1 for before, after in itertools.pairwise(failed)), failed


def test_a_wait_with_a_timeout_ends_then_whatever_the_service_does(redial, receiver, client):
    busy = {"type": "x", "title": "x", "status": 503, "code": "starting", "detail": "x"}
    refusal = (503, {"retry-after": "3000", "content-type": "application/problem+json"}, json.dumps(busy).encode())
    service = receiver(lambda request: refusal)
    # Nothing else would end it while a test runs.
    patient = {"timeout": 3600, "maxRetryAfter": 3600}
    with pytest.raises(ClientError) as refused:
        client(service.url, **patient).wait("call_1", timeout=1)
    assert refused.value.code == "starting"
    hanging = redial()
    call = hanging.submit(url=service.url, delay="1h")
    with standing_still(hanging.process), pytest.raises(ClientError) as lost:
        client(hanging.url, **patient).wait(call, timeout=1)
    assert lost.value.kind == "RedialConnectionError"


def test_a_redirect_is_neither_followed_nor_tried_again(receiver, client):
    elsewhere = receiver()
    moved = receiver(lambda request: (301, {"location": elsewhere.url}, b""))
    redial = client(moved.url)
    for request in (lambda: redial.get("call_1"), lambda: redial.openEvents()):
        with pytest.raises(ClientError) as unexpected:
            request()
        assert (unexpected.value.kind, unexpected.value.status) == ("UnexpectedAnswer", 301)
    assert len(moved.requests) == 2 and not elsewhere.requests


def test_an_empty_key_is_refused(receiver, client):
    service = receiver(lambda request: (202, {}, b'{"id": "call_1"}'))
    redial = client(service.url)
    for request in (lambda: redial.submit({}, idempotencyKey=""), lambda: redial.batch([{}], idempotencyKey="")):
        with pytest.raises(ClientError) as refused:
            request()
        assert "an idempotency key has 1 to 255" in refused.value.message
    assert not service.requests


@pytest.mark.parametrize("kind", client_packages.PACKAGED)
def test_a_key_that_no_header_can_have_is_refused_and_not_shown(packages, kind):
    for options, what in (({"apiKey": "se\ncret"}, "the API key"), ({"namespace": "sëcret"}, "the namespace")):
        options["url"] = f"http://127.0.0.1:{free_port()}"
        made = subprocess.run(
            [*map(str, packages.command(kind)), json.dumps(options)], input="", capture_output=True, text=True,
            env=packages.environment(), timeout=BOUND)
        assert made.returncode != 0 and f"{what} has characters that are not printable ASCII" in made.stderr
        assert "cret" not in made.stderr


def test_a_timestamp_of_a_webhook_that_is_no_time_is_refused(receiver, client):
    redial = client(receiver().url)
    for moment, identity in (("9" * 400, "msg_1"), ("9" * 5000, "msg_1"), ("1700000000", "msg_\udcff")):
        headers = {"webhook-id": identity, "webhook-timestamp": moment, "webhook-signature": "v1,AAAA"}
        with pytest.raises(ClientError) as refused:
            redial.verify("whsec_c2VjcmV0", "{}", headers, now=1700000000)
        assert refused.value.kind == "WebhookVerificationError"


def test_many_waits_in_python_neither_fail_nor_keep_others_from_the_service(redial, receiver, packages):
    service, target = redial(), receiver()
    call = service.submit(url=target.url, delay="1h")
    python = (
        "import asyncio, sys, urllib.request, redial_client\n"
        "def all_wait(url):\n"
        "    return b'redial_waiting_clients 150\\n' in urllib.request.urlopen(url + '/metrics').read()\n"
        "async def main(url, call):\n"
        "    redial = redial_client.AsyncRedial(url)\n"
        "    waits = [asyncio.create_task(redial.wait(call)) for _ in range(150)]\n"
        f"    async with asyncio.timeout({BOUND}):\n"
        "        while not await asyncio.to_thread(all_wait, url):\n"
        "            await asyncio.sleep(0.01)\n"
        "    await redial.submit({'url': sys.argv[3]})\n"
        "    await redial.cancel(call)\n"
        "    print({call['state'] for call in await asyncio.gather(*waits)})\n"
        "asyncio.run(main(*sys.argv[1:3]))\n")
    said = client_packages.checked(
        sys.executable, "-c", python, service.url, call, target.url, env=packages.environment())
    assert said == "{'cancelled'}\n"


def test_typescript_takes_a_timeout_without_end(redial, packages, made):
    # A timer in JavaScript with so long a time ends at once.
    made.append(client := ClientProcess(packages, "typescript", url=redial().url, timeout=1e12))
    assert client.list() == []

"""What a target sends ends no service, and answers no other call, on connections that served before."""

import pytest

from processes import NO_BREAKER
from raw_connections import RawTarget, response

ONCE = {"maxAttempts": 1}


@pytest.fixture
def raw(made):
    def start(script, context=None, host="127.0.0.1"):
        target = RawTarget(script, context, host)
        made.append(target)
        return target
    return start


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

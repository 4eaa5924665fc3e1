"""Calls that are submitted and answered one per line, in any number."""

import http.client
import json
import socket
import threading

from processes import BOUND, Client, Constants, wait_until

LINES = {"content-type": "application/x-ndjson"}


class Stream:
    """A batch that is written and read at the same time."""

    def __init__(self, service, headers=None, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", service.port))
        self.socket.settimeout(BOUND)
        fields = {"host": "localhost", "transfer-encoding": "chunked"} | LINES | (headers or {})
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.socket.sendall(f"POST /v1/calls/batch HTTP/1.1\r\n{head}\r\n".encode())
        self.response = None

    def send(self, text):
        text = text.encode() if isinstance(text, str) else text
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(text), text))

    def send_until_stalled(self, text, most, service, metric):
        """Sends a text again and again, up to so many times, until the service reads no more. Returns how often it was sent.

        The service has stalled when the connection takes nothing more, and the metric stays as it is, while another client
        is answered twenty times.
        """
        piece = b"%x\r\n%s\r\n" % (len(text), text)
        self.socket.setblocking(False)
        other = Client(service.port)
        sent, quiet, last = 0, 0, None
        left = b""

        def stalled():
            nonlocal sent, quiet, last, left
            try:
                while sent < most * len(piece):
                    left = left or piece
                    count = self.socket.send(left)
                    left, sent, quiet = left[count:], sent + count, 0
            except BlockingIOError:
                pass
            assert other("GET", "/healthz").status == 200
            value = service.metrics()[metric]
            quiet, last = quiet + 1 if value == last != 0 else 0, value
            return quiet >= 20

        wait_until(stalled, "the service reads no more")
        self.socket.settimeout(BOUND)
        return sent / len(piece)

    def end(self):
        self.socket.sendall(b"0\r\n\r\n")

    def head(self):
        if self.response is None:
            self.response = http.client.HTTPResponse(self.socket, method="POST")
            self.response.begin()
        return self.response

    def line(self):
        return json.loads(self.head().readline())

    def lines(self):
        return [json.loads(line) for line in self.head().read().splitlines()]


def test_each_line_is_answered_while_the_next_has_not_been_sent(redial, flaky):
    service, target = redial(), flaky()
    stream = Stream(service)
    stream.send('\n{"url": "%s/1", ' % target.url)
    stream.send('"labels": {"n": "1"}}\n{"url"')
    first = stream.line()
    assert stream.head().status == 200 and stream.head().headers["content-type"] == "application/x-ndjson"
    assert first["line"] == 2 and first["status"] == 202
    # It is on disk, and in flight, although the batch has not ended.
    assert service.ended(first["call"]["id"])["state"] == "succeeded"
    stream.send(': 1}\n{\n{"url": "%s/3"}' % target.url)
    second, third = stream.line(), stream.line()
    assert [second["line"], second["status"], third["line"], third["status"]] == [3, 422, 4, 400]
    stream.end()
    rest = stream.lines()
    assert [(i["line"], i["status"]) for i in rest] == [(5, 202)]
    # The connection stays open.
    stream.socket.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
    again = http.client.HTTPResponse(stream.socket)
    again.begin()
    assert again.read() == b"ok\n"


def test_more_lines_than_any_batch_may_have(redial, flaky):
    service, target = redial(Constants(maxBatch=50), "--max-body-bytes", "2000"), flaky()
    stream = Stream(service, {"prefer": "return=minimal", "idempotency-key": "bulk"})
    count, items = 10_000, []
    reader = threading.Thread(target=lambda: items.extend(stream.lines()))
    line = json.dumps({"url": target.url, "delay": "1h", "body": "x" * 100}) + "\n"
    stream.send(line)
    stream.head()
    reader.start()
    for _ in range(10):
        stream.send(line * 1000)
    stream.end()
    reader.join(BOUND)
    assert [i["line"] for i in items] == list(range(1, count + 2))
    assert all(i["status"] == 202 and set(i) == {"line", "status", "id"} for i in items)
    assert len({i["id"] for i in items}) == count + 1
    # Repeated, it makes no second call.
    again = Stream(service, {"prefer": "return=minimal", "idempotency-key": "bulk"})
    again.send(line * 100)
    again.end()
    assert [i["id"] for i in again.lines()] == [i["id"] for i in items[:100]]
    assert again.response.headers["preference-applied"] == "return=minimal"


def test_a_line_that_is_too_long_is_answered_and_the_next_is_taken(redial, flaky):
    service, target = redial("--max-body-bytes", "1000"), flaky()
    good = json.dumps({"url": target.url, "delay": "1h"}) + "\n"
    stream = Stream(service)
    # The limit of a descriptor is 128 KiB and some more.
    stream.send(good + "x" * 200_000 + "\n" + good + json.dumps({"url": target.url, "body": "y" * 2000}) + "\n")
    stream.end()
    items = stream.lines()
    assert [(i["line"], i["status"]) for i in items] == [(1, 202), (2, 413), (3, 202), (4, 413)]
    assert items[1]["problem"]["code"] == items[3]["problem"]["code"] == "bodyTooLarge"


def test_a_client_that_does_not_read_is_not_read_from(redial, flaky):
    service, target = redial(Constants(maxBatch=100, writeTimeout="10m")), flaky()
    stream = Stream(service, receive_buffer=4096)
    line = (json.dumps({"url": target.url + "/" + "a" * 1000, "delay": "1h"}) + "\n").encode()
    sent = 10 * stream.send_until_stalled(line * 10, 20_000, service, "redial_calls_accepted_total")
    # Only what the kernel's buffers hold was sent; far from all of it was read.
    assert sent < 100_000
    assert 0 < service.metrics()["redial_calls_accepted_total"] < sent
    stream.socket.close()
    # Other clients are served meanwhile and afterwards.
    assert service("GET", "/healthz").status == 200


def test_what_was_answered_stays_when_the_client_goes(redial, flaky):
    service, target = redial(), flaky()
    stream = Stream(service)
    stream.send((json.dumps({"url": target.url, "delay": "1h"}) + "\n") * 20 + '{"url": "http')
    known = [stream.line()["call"]["id"] for _ in range(20)]
    stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    stream.socket.close()
    service.kill()
    service.start()
    listed = [c["id"] for c in service("GET", "/v1/calls?limit=250").json["data"]]
    assert sorted(listed) == sorted(known)


def test_a_stream_that_breaks_says_so_behind_the_answers(redial, flaky):
    service, target = redial(), flaky()
    stream = Stream(service)
    stream.send((json.dumps({"url": target.url, "delay": "1h"}) + "\n") * 3)
    assert stream.line()["status"] == 202
    stream.socket.sendall(b"nonsense\r\n")
    items = stream.lines()
    assert [i["status"] for i in items] == [202, 202, 400]
    assert items[-1]["line"] is None and items[-1]["problem"]["code"] == "badRequest"
    # A service that stops reads no more, and says so as well.
    stream = Stream(service)
    stream.send(json.dumps({"url": target.url, "delay": "1h"}) + "\n")
    assert stream.line()["status"] == 202
    service.process.terminate()
    last = stream.lines()[-1]
    assert last["line"] is None and last["problem"]["code"] == "draining"
    assert service.process.wait(BOUND) == 0


def test_no_more_lines_are_under_way_than_may_be_whatever_a_piece_brings(redial, flaky):
    service, target = redial(Constants(maxBatch=10, writeTimeout="10m")), flaky()
    # In one piece, and nothing behind it: refused and accepted ones, each answered in order, and the last line has no
    # end.
    good = json.dumps({"url": target.url, "delay": "1h"})
    stream = Stream(service)
    stream.send("x\n" * 8000 + good + "\n" + "x\n" * 100 + good)
    stream.end()
    items = stream.lines()
    assert [(i["line"], i["status"]) for i in items if i["status"] == 202] == [(8001, 202), (8102, 202)]
    assert [i["line"] for i in items] == list(range(1, 8103))
    # For a client that does not read, a piece of refused lines is not answered at once.
    slow = Stream(service, receive_buffer=4096)
    sent = slow.send_until_stalled(b"x\n" * 30_000, 200, service, "redial_calls_refused_total")
    assert sent < 200
    refused = service.metrics()["redial_calls_refused_total"]
    assert refused < 100_000
    slow.socket.close()


def test_what_comes_after_the_last_word_makes_no_call(redial, flaky):
    service, target = redial(), flaky()
    admin = service("POST", "/v1/keys", {"name": "a", "scopes": ["admin"]}).json
    service.credentials = {"authorization": "Bearer " + admin["key"]}
    writer = service("POST", "/v1/keys", {"name": "w", "scopes": ["submit"]}).json
    good = json.dumps({"url": target.url, "delay": "1h"})
    stream = Stream(service, {"authorization": "Bearer " + writer["key"]})
    stream.send(good + "\n" + good)
    assert stream.line()["status"] == 202
    service("DELETE", "/v1/keys/" + writer["id"])
    stream.send("\n" + good + "\n")
    items = stream.lines()
    assert [i["line"] for i in items] == [None] and items[0]["problem"]["code"] == "invalidAPIKey"
    assert service.metrics()["redial_calls_accepted_total"] == 1


def test_a_stream_is_refused_before_it_begins(redial):
    service = redial()
    for headers, body, code in (
        ({}, b"\n \n", "invalidBatch"), ({"idempotency-key": '""'}, b"{}\n", "invalidIdempotencyKey"),
    ):
        answer = service("POST", "/v1/calls/batch", body, LINES | headers)
        assert answer.json["code"] == code, answer.body
    assert service("POST", "/v1/calls/batch?x=1", b"{}\n", LINES).json["code"] == "invalidParameter"
    admin = service("POST", "/v1/keys", {"name": "a", "scopes": ["admin"]}).json
    assert service("POST", "/v1/calls/batch", b"{}\n", LINES).status == 401
    service.credentials = {"authorization": "Bearer " + admin["key"]}
    reader = service("POST", "/v1/keys", {"name": "r", "scopes": ["read"]}).json
    bearer = {"authorization": "Bearer " + reader["key"]}
    assert service("POST", "/v1/calls/batch", b"{}\n", LINES | bearer).status == 403
    # Revoking a key ends the streams that it began.
    writer = service("POST", "/v1/keys", {"name": "w", "scopes": ["submit"]}).json
    stream = Stream(service, {"authorization": "Bearer " + writer["key"]})
    stream.send("{}\n")
    assert stream.line()["status"] == 422
    service("DELETE", "/v1/keys/" + writer["id"])
    stream.send("{}\n")
    assert stream.lines()[-1]["problem"]["code"] == "invalidAPIKey"


def test_all_calls_of_a_filter_are_listed_as_lines(redial, flaky):
    service, target = redial(), flaky()
    batch = [{"url": target.url, "delay": "1h", "labels": {"n": str(n % 2)}} for n in range(1000)]
    ids = [i["call"]["id"] for i in service("POST", "/v1/calls/batch", batch).json["data"]]
    wanted = {"accept": "application/x-ndjson"}
    answer = service("GET", "/v1/calls", headers=wanted)
    assert answer.headers["content-type"] == "application/x-ndjson"
    listed = [json.loads(line) for line in answer.body.splitlines()]
    assert [c["id"] for c in listed] == ids[::-1]
    assert listed[0] == service("GET", "/v1/calls?limit=1").json["data"][0]
    half = service("GET", "/v1/calls?label=n=1&limit=7", headers=wanted)
    assert [json.loads(l)["id"] for l in half.body.splitlines()] == ids[1::2][::-1]
    assert service("GET", "/v1/calls?label=n=9", headers=wanted).body == b""
    assert service("GET", "/v1/calls?limit=0", headers=wanted).status == 400
    json_rather = {"accept": "application/json, application/x-ndjson;q=0.1"}
    assert service("GET", "/v1/calls?limit=1", headers=json_rather).headers["content-type"] == "application/json"
    # A stream that is not read delays no other, and ends when its client leaves.
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect(("127.0.0.1", service.port))
    slow.sendall(b"GET /v1/calls HTTP/1.1\r\nhost: localhost\r\naccept: application/x-ndjson\r\n\r\n")
    assert len(service("GET", "/v1/calls", headers=wanted).body.splitlines()) == 1000
    slow.close()


def test_a_client_that_goes_waits_no_longer(redial, flaky):
    service, target = redial(Constants(maxWaitTime="10m")), flaky()
    call = service.submit(url=target.url, delay="1h")

    def waits():
        return service.metrics()["redial_waiting_clients"]
    asked = [
        b"GET /v1/calls/%s?wait=10m HTTP/1.1\r\nhost: localhost\r\n\r\n" % call.encode(),
        b"POST /v1/calls HTTP/1.1\r\nhost: localhost\r\nprefer: wait=600\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n%s" % ((lambda b: (len(b), b))(
            json.dumps({"url": target.url, "delay": "1h"}).encode())),
    ]
    sockets = []
    for text in asked * 5:
        client = socket.create_connection(("127.0.0.1", service.port), BOUND)
        client.sendall(text)
        sockets.append(client)
    wait_until(lambda: waits() == 10, "all wait")
    for client in sockets[:-1]:
        client.close()
    wait_until(lambda: waits() == 1, "those who went wait no longer")
    # A client that has only ended its side gets the available answers.
    sockets[-1].shutdown(socket.SHUT_WR)
    assert b"202 Accepted" in sockets[-1].recv(4096)
    assert waits() == 0

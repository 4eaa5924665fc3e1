"""What clients make of a hostile target's answers: h11 and h2 in this process, Node over connections, and Redial itself."""

import asyncio
import base64
import dataclasses
import itertools
import json
import re

import h11
import h2.config
import h2.connection
import h2.events
import h2.exceptions
from hostile_frames import SETTINGS, frame


@dataclasses.dataclass
class Reading:
    """What a client has read: no status if it was no response, as one without a status of three digits from 100 on."""
    status: int | None = None
    # By names in lower case.
    fields: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    # Whether the client takes it for a whole response.
    is_complete: bool = False
    error: str | None = None

    def set_status(self, status):
        self.status = status if status is not None and status >= 100 else None

    def __str__(self):
        words = [f"{self.status} {self.fields} {self.body[:100]!r}", "" if self.is_complete else "incomplete", self.error or ""]
        return ", ".join(filter(None, words))


def fields(pairs):
    """Fields as they are compared: RFC 9112 section 5.2 lets a fold be one or more blanks, and bytes that are no ASCII may be shown
    in different ways."""
    found = {}
    for name, value in pairs:
        found.setdefault(name.lower(), []).append(re.sub("[^\0-\x7f]+", "?", re.sub("[ \t]+", " ", value).strip()))
    return found


def h11_reads(exchanges):
    """What h11 makes of a target's side, one reading a request."""
    connection, readings = None, []
    for exchange in exchanges:
        if connection is None:
            connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 22)
        reading = Reading()
        readings.append(reading)
        heading = [("Host", "x")] + ([("Content-Length", str(exchange.content))] if exchange.content else [])
        connection.send(h11.Request(method=exchange.method, target="/", headers=heading))
        if exchange.content:
            connection.send(h11.Data(data=b"x" * exchange.content))
        connection.send(h11.EndOfMessage())
        connection.receive_data(exchange.wire + exchange.surplus)
        has_ended = False
        try:
            while not reading.is_complete:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    # The target ends the connection, sooner or later.
                    if has_ended:
                        break
                    connection.receive_data(b"")
                    has_ended = True
                elif isinstance(event, h11.Response):
                    reading.status = event.status_code
                    reading.fields = fields((n.decode("latin1"), v.decode("latin1")) for n, v in event.headers)
                elif isinstance(event, h11.Data):
                    reading.body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    reading.is_complete = True
                elif event in (h11.PAUSED,) or isinstance(event, h11.ConnectionClosed):
                    break
        except h11.RemoteProtocolError as error:
            reading.error = str(error)
        is_usable = (reading.is_complete and not has_ended and not exchange.closes and not exchange.late
                     and connection.our_state is h11.DONE and connection.their_state is h11.DONE and not connection.trailing_data[0])
        if is_usable:
            connection.start_next_cycle()
        else:
            connection = None
    return readings


def h2_reads(exchanges):
    """What h2 makes of a target's side, each answer on a connection of its own."""
    return [h2_reading(exchange) for exchange in exchanges]


def h2_reading(exchange):
    connection, reading = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="latin1")), Reading()
    connection.initiate_connection()
    connection.receive_data(frame(SETTINGS, 0, 0))
    connection.send_headers(1, [(":method", exchange.method), (":path", "/"), (":scheme", "https"), (":authority", "x")], end_stream=True)
    try:
        # One at a time: h2 forgets the frames that came with a false one.
        for event in (event for coded in exchange.coded(exchange.frames, 1) for event in connection.receive_data(coded)):
            if getattr(event, "stream_id", 1) != 1:
                continue
            if isinstance(event, h2.events.ResponseReceived):
                reading.set_status(int(dict(event.headers)[":status"]))
                reading.fields = fields((name, value) for name, value in event.headers if name[0] != ":")
            elif isinstance(event, h2.events.DataReceived):
                reading.body += event.data
            elif isinstance(event, h2.events.StreamEnded):
                reading.is_complete = True
                break
            elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
                reading.error = f"{type(event).__name__} {event.error_code}"
    except (h2.exceptions.ProtocolError, ValueError, KeyError) as error:
        reading.error = f"{type(error).__name__}: {error}"
    return reading


class Node:
    """Node's http and http2, in a process of its own.

    Some answers over HTTP/2 end Node 20 by an assertion in Http2Session. Then it is started again, and has no reading of those
    that it was asked for.
    """

    def __init__(self, program, script):
        self.program, self.script = program, script
        self.numbers, self.waiting, self.is_ending = itertools.count(), {}, False

    async def start(self):
        await self.spawn()
        self.task = asyncio.ensure_future(self.read())

    async def spawn(self):
        self.process = await asyncio.create_subprocess_exec(
            self.program, str(self.script), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=1 << 26)

    async def read(self):
        while True:
            while line := await self.process.stdout.readline():
                result = json.loads(line)
                future = self.waiting.pop(result["id"], None)
                if future and not future.done():
                    future.set_result(result)
            await self.process.wait()
            if not self.is_ending:
                await self.spawn()
            # Whoever has asked until now, also while the next one started, has asked the one that ended.
            lost, self.waiting = self.waiting, {}
            for future in lost.values():
                if not future.done():
                    future.set_result(None)
            if self.is_ending:
                return

    def say(self, **message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def ask(self, lane, path, exchange):
        number = next(self.numbers)
        self.waiting[number] = asyncio.get_running_loop().create_future()
        self.say(id=number, url=lane.url, path=path, method=exchange.method, content=exchange.content)
        result = await self.waiting[number]
        if result is None:
            return None
        # Node 18 takes a line that begins with a colon for a field without a name.
        pairs = [pair for pair in zip(result["fields"][::2], result["fields"][1::2]) if pair[0] and pair[0][0] != ":"]
        reading = Reading(None, fields(pairs), base64.b64decode(result["body"]), result["complete"] and not result.get("error"),
                          result.get("error"))
        reading.set_status(result["status"])
        return reading

    def forget(self, lane):
        self.say(forget=lane.url)

    async def end(self):
        self.is_ending = True
        self.process.stdin.close()
        await self.task


# A failure that may be retried ends such a call at once, and what it says of the decision shows what it took for the target's wish.
POLICY = {"maxAttempts": 2, "deadline": "10m", "attemptTimeout": "30s", "backoff": {"strategy": "constant", "initial": "1h", "max": "1h"}}


class Service:
    """Calls through Redial, each awaited, on a connection for each lane."""

    def __init__(self, service):
        self.service, self.connections, self.calls = service, {}, {}

    async def ask(self, lane, path, exchange):
        descriptor = {"url": f"{lane.url}{path}", "method": exchange.method, "policy": POLICY, "capture": {"maxBytes": 1 << 20}}
        if exchange.content:
            descriptor["body"] = "x" * exchange.content
        content = json.dumps(descriptor).encode()
        if lane.port not in self.connections:
            self.connections[lane.port] = await asyncio.open_connection("127.0.0.1", self.service.port, limit=1 << 26)
        reader, writer = self.connections[lane.port]
        try:
            writer.write(b"POST /v1/calls HTTP/1.1\r\nHost: 127.0.0.1\r\nPrefer: wait=60\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n" % len(content) + content)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            answer = json.loads(await reader.readexactly(int(re.search(r"(?i)content-length: (\d+)", head)[1])))
        except (OSError, asyncio.IncompleteReadError):
            del self.connections[lane.port]
            raise
        assert head.startswith("HTTP/1.1 200"), (head, answer)
        return self.reading(answer)

    def reading(self, call):
        attempt, response = call["attempts"][-1], call["response"]
        error = (attempt.get("error") or {}).get("code")
        reading = Reading(attempt["status"], error=error)
        reading.because = f"{attempt['decision'].get('reason')}: {attempt['decision'].get('because')}"
        reading.attempts = call["attemptCount"]
        if response:
            reading.fields = fields((name, value) for name, values in response["headers"].items()
                                    for value in (values if isinstance(values, list) else [values]))
            body = response["body"] or ""
            reading.body = base64.b64decode(body) if response.get("encoding") == "base64" else body.encode()
            reading.is_complete = not error and not response["truncated"]
        return reading

    def forget(self, lane):
        pass

"""A target that answers as its exchanges say, on a port of its own: a lane."""

import asyncio
import re

import hpack
from hostile_frames import HEADERS, SETTINGS, frame

# How long a client may take for an answer that was sent, before the target ends the connection. A client that has the whole answer
# by then has it afterwards too, so this decides nothing but how long one waits that takes the answer for unfinished.
PATIENCE = 0.3
BOUND = 30


class Connection(asyncio.Protocol):
    def __init__(self, lane):
        self.lane, self.held, self.awaited = lane, b"", 0

    def connection_made(self, transport):
        self.transport = transport
        self.lane.connections.add(self)

    def connection_lost(self, _):
        self.lane.connections.discard(self)
        self.lane.all_closed()

    def data_received(self, data):
        self.held += data
        while True:
            if self.awaited:
                taken = min(self.awaited, len(self.held))
                self.held, self.awaited = self.held[taken:], self.awaited - taken
                if self.awaited:
                    return
                if self.pending:
                    self.lane.answer(self, *self.pending, None)
            head, found, rest = self.held.partition(b"\r\n\r\n")
            if not found:
                return
            self.held = rest
            step = int(re.match(rb"[A-Z]+ /\d+/(\d+) ", head)[1])
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            self.awaited = int(length[1]) if length else 0
            exchange = self.lane.exchanges[step]
            self.pending = None if exchange.is_early or not self.awaited else (step, exchange)
            if not self.pending:
                self.lane.answer(self, step, exchange, None)


class FrameConnection(Connection):
    """A connection of HTTP/2. Requests have no content."""

    PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    def connection_made(self, transport):
        super().connection_made(transport)
        self.decoder, self.has_begun = hpack.Decoder(), False
        transport.write(frame(SETTINGS, 0, 0))

    def data_received(self, data):
        self.held += data
        if not self.has_begun:
            if len(self.held) < len(self.PREFACE):
                return
            self.held, self.has_begun = self.held[len(self.PREFACE):], True
        while len(self.held) >= 9:
            end = 9 + int.from_bytes(self.held[:3], "big")
            if len(self.held) < end:
                return
            kind, flags, stream, payload = self.held[3], self.held[4], int.from_bytes(self.held[5:9], "big"), self.held[9:end]
            self.held = self.held[end:]
            if kind == SETTINGS and not flags & 1:
                self.transport.write(frame(SETTINGS, 1, 0))
            elif kind == HEADERS:
                # RFC 9113 section 6.2: padding, and a priority of five bytes.
                payload = payload[1:len(payload) - payload[0]] if flags & 8 else payload
                fields = dict(self.decoder.decode(payload[5:] if flags & 32 else payload))
                step = int(fields[":path"].split("/")[2])
                self.lane.answer(self, step, self.lane.exchanges[step], stream)


class Lane:
    """One target, which has one sequence of requests at a time."""

    async def start(self, context=None):
        """With a context for TLS it speaks HTTP/2."""
        made = FrameConnection if context else Connection
        # A client that does nothing with an idle connection does not answer the end of its TLS.
        ends = {"ssl": context, "ssl_shutdown_timeout": 0.005} if context else {}
        server = await asyncio.get_running_loop().create_server(lambda: made(self), "127.0.0.1", 0, backlog=64, **ends)
        self.server = server
        self.port = server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}"
        self.connections, self.closed = set(), asyncio.Event()
        self.exchanges, self.sent, self.requests, self.tasks = [], [], [], set()
        return self

    def begin(self, exchanges):
        self.exchanges = exchanges
        self.sent = [asyncio.Event() for _ in exchanges]
        # How many times each was requested.
        self.requests = [0 for _ in exchanges]

    def answer(self, connection, step, exchange, stream):
        self.requests[step] += 1
        task = asyncio.ensure_future(self.send(connection, step, exchange, stream))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def send(self, connection, step, exchange, stream):
        transport = connection.transport
        pieces = exchange.pieces(stream)
        for piece in pieces:
            transport.write(piece)
            if len(pieces) > 1:
                await asyncio.sleep(0.001)
        if exchange.is_early:
            # What was not read would end the connection with a reset, which takes the answer with it.
            for _ in range(100):
                if not connection.awaited:
                    break
                await asyncio.sleep(0.003)
        for delay, late in exchange.late_pieces(stream):
            await asyncio.sleep(delay)
            if not transport.is_closing():
                transport.write(late)
        if exchange.closes:
            transport.close()
            await self.is_closed(connection)
        self.sent[step].set()

    async def is_closed(self, connection):
        while connection in self.connections:
            self.closed.clear()
            await asyncio.wait_for(self.closed.wait(), BOUND)

    def all_closed(self):
        self.closed.set()

    async def close(self):
        """Ends all connections, so that what comes next begins with none."""
        for connection in list(self.connections):
            connection.transport.close()
            await self.is_closed(connection)

    async def play(self, seed, exchanges, client):
        """Lets a client make the requests of a sequence, each after all that belongs to the one before was sent. Returns its readings."""
        self.begin(exchanges)
        readings = []
        for step, exchange in enumerate(exchanges):
            asked = asyncio.ensure_future(client.ask(self, f"/{seed}/{step}", exchange))
            sent = asyncio.ensure_future(self.sent[step].wait())
            await asyncio.wait({asked, sent}, timeout=BOUND, return_when=asyncio.FIRST_COMPLETED)
            done, _ = await asyncio.wait({asked}, timeout=PATIENCE)
            if not done:
                await self.close()
                done, _ = await asyncio.wait({asked}, timeout=PATIENCE)
            if not done:
                client.forget(self)
            try:
                readings.append(await asyncio.wait_for(asked, BOUND))
            finally:
                if not self.requests[step]:
                    sent.cancel()
            # Its late bytes come before the next request.
            if self.requests[step]:
                await asyncio.wait_for(sent, BOUND)
        client.forget(self)
        await self.close()
        return readings

    async def end(self):
        self.server.close()
        await self.close()

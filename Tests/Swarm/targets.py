"""The targets of a world, and a receiver of webhooks: what each request gets is in its path and drawn from its mark.

A target answers with the mark of its request, and keeps what it saw. What it sends besides its answers says `stale`.
"""

import array
import asyncio
import dataclasses
import fcntl
import gzip
import itertools
import random
import re
import termios
import threading
import time

import hostile_responses

import frames

# A request to a target is for `/KIND/MARK`, a webhook for `/hook/MARK`.
HEAD = re.compile(rb"([!-~]+) (?:http://[^/ ]+)?/([a-z0-9%-]+)/(mark-[a-z0-9-]+x)\S* HTTP/1.1\r\n")


@dataclasses.dataclass
class Hit:
    at: float
    target: int
    kind: str
    mark: str
    head: bytes
    body: bytes = b""
    # The status that was sent; None for no answer.
    status: int | None = None
    ended: float = 0
    # Whether something that belongs to no request was sent before this one was read: it may have crossed it.
    crossed: bool = False
    # Whether its stream was refused.
    refused: bool = False
    # Its connection, and how old that was, in seconds.
    connection: int = 0
    age: float = 0

    @property
    def method(self):
        return self.head.partition(b" ")[0]

    def field(self, name):
        found = re.search(rb"(?i)\r\n" + name.encode() + rb": *([^\r\n]*)", self.head)
        return found and found[1].decode("latin-1")

    @property
    def call(self):
        # The second if the client has set a key of its own.
        return self.field("redial-call-id") or self.field("idempotency-key")

    @property
    def attempt(self):
        return int(self.field("redial-attempt") or 0)

    def __str__(self):
        return f"{self.mark} attempt {self.attempt} at target {self.target} /{self.kind}: {self.status or 'no answer'}"


def response(mark, status=200, body=None, fields=b""):
    body = f"this is {mark}".encode() if body is None else body
    return b"HTTP/1.1 %d X\r\nX-Mark: %s\r\n%sContent-Length: %d\r\n\r\n" % (status, mark.encode(), fields, len(body)) + body


def chunked(mark, status, chunks, fields=b""):
    return b"HTTP/1.1 %d X\r\nX-Mark: %s\r\n%sTransfer-Encoding: chunked\r\n\r\n%s" % (status, mark.encode(), fields, chunks)


# A text that every second cut ends within a character.
TEXT = "ü".encode() * 40


class Late(bytes):
    """What belongs to no request, and so is sent only before the next one is here."""


# In place of something that is sent.
SILENCE = b""
# Of connections.
NUMBERS = itertools.count(1)
STALE = response("stale", body=b"stale")
LATE_408 = b"HTTP/1.1 408 Request Timeout\r\nX-Mark: stale\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def answer(seed, hit, nth):
    """What the `nth` request with a mark gets: pieces to send, each after so many seconds; None ends the connection."""
    chance = random.Random(f"{seed} {hit.mark} {nth}")
    mark, first = hit.mark, nth == 0
    whole = response(mark)
    kinds = {
        "ok": lambda: [(0, whole)],
        "big": lambda: [(0, response(mark, body=f"this is {mark} ".encode() * 9000))],
        "created": lambda: [(0, response(mark, 201))],
        "empty": lambda: [(0, b"HTTP/1.1 204 X\r\nX-Mark: %s\r\n\r\n" % mark.encode())],
        "slow": lambda: [(chance.uniform(0.05, 0.7), whole[:20]), (0.1, whole[20:])],
        # The connection says nothing any more, though it is open: another one would be answered.
        "silent": lambda: [(0, SILENCE)] if first else [(0, whole)],
        "bad end": lambda: [(0, chunked(mark, 200, b"%x\r\nthis is %s\r\nzz\r\n" % (8 + len(mark), mark.encode()))), (0, None)],
        "cut": lambda: [(0, whole[:-3]), (0, None)] if first else [(0, whole)],
        "flaky": lambda: [(0, response(mark, chance.choice([500, 502, 503, 429])) if chance.random() < 0.4 else whole)],
        "busy": lambda: [(0, response(mark, chance.choice([429, 503]), fields=b"Retry-After: 1\r\n") if first else whole)],
        "two waits": lambda: [(0, response(mark, 503, fields=b"Retry-After: 1\r\nRetry-After: 0\r\n") if first else whole)],
        "folded wait": lambda: [(0, response(mark, 503, fields=b"Retry-After:\r\n 1\r\n") if first else whole)],
        "beyond 599": lambda: [(0, response(mark, chance.choice([600, 799, 999])) if first else whole)],
        "trailers": lambda: [(0, chunked(mark, 503, b"4\r\nbusy\r\n0\r\nRetry-After: 7200\r\nRedial-Retry: stop\r\n\r\n") if first else whole)],
        "coding": lambda: [(0, response(mark, 503, fields=b"Content-Encoding: " + chance.choice([b"UTF-8", b"gzip", b"aws-chunked"]) + b"\r\n")
                            if first else whole)],
        "members": lambda: [(0, response(mark, body=gzip.compress(f"this is {mark}".encode()) + chance.choice([b"\0", gzip.compress(b" end")]),
                                         fields=b"Content-Encoding: gzip\r\n"))],
        "conflict": lambda: [[(0, None)], [(0, response(mark, 409))], [(0, whole)]][min(nth, 2)],
        "late": lambda: [(0, b"HTTP/1.1 204 X\r\nX-Mark: %s\r\n\r\n" % mark.encode()), (chance.uniform(0.001, 0.1), Late(STALE * chance.choice([1, 2])))],
        "late 408": lambda: [(0, whole), (chance.uniform(0.001, 0.1), Late(LATE_408)), (0, None)],
        "late chunk": lambda: [(0, b"HTTP/1.1 204 X\r\nX-Mark: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % mark.encode()), (0.03, Late(b"0\r\n\r\n"))],
        "redirect": lambda: [(0, response(mark, 307, b"", b"Location: /ok/%s\r\n" % mark.encode()))],
        "see other": lambda: [(0, response(mark, 303, b"", b"Location: /ok/%s\r\n" % mark.encode()))],
        "blank first": lambda: [(0, whole.replace(b"\r\n", b"\r\n X-First: 1\r\n", 1))],
        "latin": lambda: [(0, response(mark, body=TEXT + mark.encode(), fields=b"X-Name: J\xfcrgen\r\n"))],
        "dead": lambda: [(0, response(mark, chance.choice([500, 503])))],
        "hang": lambda: [],
        "reset": lambda: [(0, None)],
        "refusal": lambda: [(0, response(mark, 404))],
        "echo": lambda: [(0, response(mark, 400, b"no: " + hit.head))],
        "odd": lambda: odd(seed, hit.mark, nth),
        # These are about HTTP/2.
        "refused stream": lambda: [(0, whole)],
        "old": lambda: [(0, whole)],
    }
    return kinds[hit.kind.replace("-", " ")]()


def odd(seed, mark, nth):
    """An answer of the grammar of hostile targets."""
    grammar = hostile_responses.Grammar(f"{seed} {mark}", nth)
    grammar.token = mark
    made = grammar.exchange(is_last=False)
    late = [(delay, Late(piece)) for delay, piece in made.late]
    return [*((0.001, piece) for piece in made.pieces(None)), *late, *([(0, None)] if made.closes else [])]


# How soon after late bytes a request has been sent without knowing of them, in seconds.
CROSSING = 0.005


def has_input(transport):
    """Whether something has arrived that was not read."""
    socket = transport.get_extra_info("socket")
    count = array.array("i", [0])
    return socket.fileno() >= 0 and fcntl.ioctl(socket.fileno(), termios.FIONREAD, count) == 0 and count[0] > 0


class Connection(asyncio.Protocol):
    def __init__(self, targets, target):
        self.targets, self.target, self.held, self.hit, self.missing = targets, target, b"", None, 0
        # When something was sent that belongs to no request.
        self.late, self.is_silent, self.began, self.number = 0, False, time.monotonic(), next(NUMBERS)

    def connection_made(self, transport):
        self.transport = transport
        self.targets.connections.add(transport)

    def connection_lost(self, _):
        self.targets.connections.discard(self.transport)
        if self.hit:
            self.hit.ended = self.hit.ended or time.monotonic()

    def data_received(self, data):
        self.held += data
        while True:
            if self.missing:
                self.hit.body += self.held[:self.missing]
                self.held, self.missing = self.held[self.missing:], max(0, self.missing - len(self.held))
                if self.missing:
                    return
                self.respond()
            head, found, rest = self.held.partition(b"\r\n\r\n")
            if not found:
                return
            self.held = rest
            self.hit = self.targets.hit(self.target, head)
            if not self.hit:
                self.transport.write(response("none", 404))
                continue
            self.hit.connection, self.hit.age = self.number, time.monotonic() - self.began
            self.hit.crossed = self.hit.at - self.late < CROSSING
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            self.missing = int(length[1]) if length else 0
            if not self.missing:
                self.respond()

    def respond(self):
        hit = self.hit
        pieces = self.targets.answer(hit, answer, [(0, response(hit.mark))])
        if hit.method == b"HEAD" and hit.kind not in ("odd", "hang"):
            # Nothing follows the head; what would, belongs to no request.
            pieces = [(delay, piece and piece.partition(b"\r\n\r\n")[0] + b"\r\n\r\n") for delay, piece in pieces[:1]]
        if pieces and pieces[0][1] is SILENCE:
            self.is_silent = True
        if not self.is_silent:
            asyncio.ensure_future(self.send(hit, pieces))

    async def send(self, hit, pieces):
        for number, (delay, piece) in enumerate(pieces):
            if delay:
                await asyncio.sleep(delay)
            if isinstance(piece, Late):
                # Once the next request is here, this would be its answer.
                if self.hit is not hit or self.held or has_input(self.transport):
                    break
                self.late = time.monotonic()
            if piece is None:
                self.transport.close()
                break
            status = re.match(rb"HTTP/1.1 (\d+)", piece)
            if not self.transport.is_closing():
                if hit.status is None and status:
                    hit.status = int(status[1])
                self.transport.write(piece)
            if number + 1 == len(pieces) or pieces[number + 1][1] is None or isinstance(pieces[number + 1][1], Late):
                hit.ended = hit.ended or time.monotonic()


class Negotiated(asyncio.Protocol):
    """A connection within TLS, over which the client has chosen HTTP/2 or HTTP/1.1."""

    def __init__(self, targets, target):
        self.made = lambda kind: kind(targets, target)

    def connection_made(self, transport):
        protocol = transport.get_extra_info("ssl_object").selected_alpn_protocol()
        self.chosen = self.made(frames.Connection if protocol == "h2" else Connection)
        self.chosen.connection_made(transport)

    def connection_lost(self, error):
        self.chosen.connection_lost(error)

    def data_received(self, data):
        self.chosen.data_received(data)


class Targets:
    """Servers on ports of their own, in a thread; the last one receives webhooks."""

    def __init__(self, seed, ports, are_secure, by_name, context):
        """The targets have these ports, and the receiver the last one."""
        self.seed, self.ports, self.are_secure, self.context = seed, ports, [*are_secure, False], context
        # Where they are called: some by a name that may have two addresses, of which one answers.
        self.authorities = [f"{'localhost' if has_name else '127.0.0.1'}:{port}" for port, has_name in zip(ports, [*by_name, False])]
        # For each request on a connection that says nothing any more, how long it had said nothing.
        self.ignored = []
        self.hits, self.strange, self.counts, self.connections, self.are_healed = [], [], {}, set(), False
        self.loop, self.began = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()
        self.began.wait()

    def serve(self):
        async def listen():
            return [await self.loop.create_server(
                lambda number=number, made=Negotiated if is_secure else Connection: made(self, number), "127.0.0.1", port, backlog=512,
                ssl=self.context if is_secure else None) for number, (port, is_secure) in enumerate(zip(self.ports, self.are_secure))]
        asyncio.set_event_loop(self.loop)
        self.servers = self.loop.run_until_complete(listen())
        self.began.set()
        self.loop.run_forever()

    def url(self, target):
        return f"http{'s' if self.are_secure[target] else ''}://{self.authorities[target]}"

    def lead(self, target, port):
        """From now on it is called by a way from this port."""
        self.authorities[target] = f"{self.authorities[target].partition(':')[0]}:{port}"

    def hook(self, mark):
        return f"{self.url(-1)}/hook/{mark}"

    def hit(self, target, head):
        """Notes a request; None if it is one that nobody has submitted."""
        line = HEAD.match(head + b"\r\n")
        if not line:
            self.strange.append(head)
            return None
        self.hits.append(Hit(time.monotonic(), target, line[2].decode(), line[3].decode(), head))
        return self.hits[-1]

    def answer(self, hit, answer, whole):
        """What a request gets: once all is healed, and as a webhook, its whole answer."""
        if hit.kind == "hook" or self.are_healed:
            return whole
        nth = self.counts[hit.mark, hit.kind] = self.counts.get((hit.mark, hit.kind), -1) + 1
        return answer(self.seed, hit, nth)

    def heal(self):
        """From now on all of them deliver; what hangs is cut."""
        def cut():
            self.are_healed = True
            for transport in list(self.connections):
                transport.close()
        self.loop.call_soon_threadsafe(cut)

    def end(self):
        def stop():
            for server in self.servers:
                server.close()
            for transport in list(self.connections):
                transport.abort()
            self.loop.call_soon(self.loop.stop)
        self.loop.call_soon_threadsafe(stop)

"""The targets of a world that speak HTTP/2 within TLS (RFC 9113)."""

import asyncio
import itertools
import random
import ssl
import struct
import subprocess
import time

import hpack
from hostile_frames import AWAY, CODES, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RESET, SETTINGS, WINDOW, block, frame

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# The largest window of a stream; the connection's grows by it too.
LARGEST = (1 << 31) - 1
SILENCE = []
# RFC 9113 sections 7 and 8.7: the request was not processed.
NOT_PROCESSED = [struct.pack(">I", CODES[name]) for name in ("refused", "http/1.1 required")]
NUMBERS = itertools.count(1)


def certificate(folder):
    """A certificate of its own issuer for this machine; the path of both it and its key, and the server's side of TLS."""
    file = folder / "target.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout", folder / "target.key",
                    "-out", file, "-subj", "/CN=target", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, folder / "target.key")
    context.set_alpn_protocols(["h2", "http/1.1"])
    return file, context


def head(mark, status, fields=(), flags=0):
    return HEADERS, END_HEADERS | flags, block([(b":status", b"%d" % status), (b"x-mark", mark.encode()), *fields])


def whole(mark, status=200, body=None, fields=()):
    body = f"this is {mark}".encode() if body is None else body
    pieces = [body[start:start + 16_000] for start in range(0, len(body), 16_000)] or [b""]
    return [head(mark, status, fields), *((DATA, END_STREAM if piece is pieces[-1] else 0, piece) for piece in pieces)]


def answer(seed, hit, nth):
    """Pairs of a wait and the frames after it; None ends the connection once its streams have ended."""
    chance = random.Random(f"{seed} {hit.mark} {nth}")
    mark, first, kind = hit.mark, nth == 0, hit.kind.replace("-", " ")

    def reset(code):
        return [(0, [(RESET, 0, struct.pack(">I", CODES[code]))])]

    def once(*made, **fields):
        return [(0, whole(mark, *made, **fields) if first else whole(mark))]
    kinds = {
        "big": lambda: [(0, whole(mark, body=f"this is {mark} ".encode() * 9000))],
        "created": lambda: [(0, whole(mark, 201))],
        "empty": lambda: [(0, [head(mark, 204, flags=END_STREAM)])],
        "slow": lambda: [(chance.uniform(0.05, 0.7), whole(mark)[:1]), (0.1, whole(mark)[1:])],
        "cut": lambda: [(0, whole(mark)[:1]), (0.01, reset("internal")[0][1])] if first else [(0, whole(mark))],
        "flaky": lambda: [(0, whole(mark, chance.choice([500, 502, 503, 429]) if chance.random() < 0.4 else 200))],
        "busy": lambda: once(503, fields=[(b"retry-after", b"1")]),
        "two waits": lambda: once(503, fields=[(b"retry-after", b"1"), (b"retry-after", b"0")]),
        "folded wait": lambda: once(503, fields=[(b"retry-after", b"1")]),
        "beyond 599": lambda: once(chance.choice([600, 799, 999])),
        "trailers": lambda: [(0, [head(mark, 503), (DATA, 0, b"busy"), (HEADERS, END_HEADERS | END_STREAM, block([(b"retry-after", b"7200")]))])]
        if first else [(0, whole(mark))],
        "coding": lambda: once(503, fields=[(b"content-encoding", chance.choice([b"UTF-8", b"gzip"]))]),
        "conflict": lambda: [reset("internal"), [(0, whole(mark, 409))], [(0, whole(mark))]][min(nth, 2)],
        "redirect": lambda: [(0, whole(mark, 307, b"", [(b"location", b"/ok/" + mark.encode())]))],
        "see other": lambda: [(0, whole(mark, 303, b"", [(b"location", b"/ok/" + mark.encode())]))],
        "latin": lambda: [(0, whole(mark, body="ü".encode() * 40 + mark.encode(), fields=[(b"x-name", b"J\xfcrgen")]))],
        "late 408": lambda: [(0, whole(mark)), (0, None)],
        "dead": lambda: [(0, whole(mark, 503))],
        "hang": lambda: [],
        "reset": lambda: reset("internal"),
        "refusal": lambda: [(0, whole(mark, 404))],
        "refused stream": lambda: reset("refused") if first else [(0, whole(mark))],
        # RFC 9113 section 7: it wants HTTP/1.1, each time.
        "old": lambda: reset("http/1.1 required"),
        "silent": lambda: [(0, SILENCE)] if first else [(0, whole(mark))],
        "echo": lambda: [(0, whole(mark, 400, b"no: " + hit.head))],
        "odd": lambda: reset(chance.choice(["refused", "refused", "http/1.1 required", "enhance your calm"])) if first else [(0, whole(mark))],
    }
    return kinds.get(kind, lambda: [(0, whole(mark))])()

# How long a request has waited in vain when its client gives it up: an attempt may take two seconds.
TRIED = 1.9


class Connection(asyncio.Protocol):
    def __init__(self, owner, target):
        self.owner, self.target, self.held, self.decoder = owner, target, b"", hpack.Decoder()
        self.has_begun, self.hits, self.last, self.is_leaving, self.is_silent, self.began = False, {}, 0, False, False, time.monotonic()
        # What has come since it is silent, and since when its client knows.
        self.waiting, self.known_since = {}, None
        # Of another row of numbers than those of HTTP/1.1.
        self.number = -next(NUMBERS)

    def connection_made(self, transport):
        self.transport = transport
        self.owner.connections.add(transport)
        transport.write(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, LARGEST)) + frame(WINDOW, 0, 0, struct.pack(">I", LARGEST - 65_535)))

    def connection_lost(self, _):
        self.owner.connections.discard(self.transport)
        for hit in self.hits.values():
            hit.ended = hit.ended or time.monotonic()

    def data_received(self, data):
        self.held += data
        if not self.has_begun and len(self.held) >= len(PREFACE):
            self.held, self.has_begun = self.held[len(PREFACE):], True
        while self.has_begun and len(self.held) >= 9 and len(self.held) >= (end := 9 + int.from_bytes(self.held[:3], "big")):
            kind, flags, stream, payload = self.held[3], self.held[4], int.from_bytes(self.held[5:9], "big"), self.held[9:end]
            self.held = self.held[end:]
            self.take(kind, flags, stream, payload)

    def take(self, kind, flags, stream, payload):
        if self.is_silent:
            if kind == HEADERS:
                self.waiting[stream] = time.monotonic()
                if self.known_since:
                    self.owner.ignored.append(time.monotonic() - self.known_since)
            elif kind == RESET and time.monotonic() - self.waiting.get(stream, time.monotonic()) > TRIED:
                # One that was cancelled before tells nothing.
                self.known_since = self.known_since or time.monotonic()
            return
        if kind == SETTINGS and not flags & 1:
            self.transport.write(frame(SETTINGS, 1, 0))
        elif kind == PING and not flags & 1:
            self.transport.write(frame(PING, 1, 0, payload))
        elif kind == HEADERS:
            # RFC 9113 section 6.2: padding, and a priority of five bytes.
            payload = payload[1:len(payload) - payload[0]] if flags & 8 else payload
            fields = self.decoder.decode(payload[5:] if flags & 32 else payload, raw=True)
            named = dict(fields)
            lines = [b"%s %s HTTP/1.1" % (named[b":method"], named[b":path"]), b"Host: " + named[b":authority"]]
            text = b"\r\n".join(lines + [name + b": " + value for name, value in fields if not name.startswith(b":")])
            if self.is_leaving:
                # It has said that it will not process this one.
                return
            self.last = stream
            hit = self.hits[stream] = self.owner.hit(self.target, text)
            if hit:
                hit.connection, hit.age = self.number, time.monotonic() - self.began
            if hit and flags & END_STREAM:
                self.respond(stream, hit)
        elif kind == DATA and self.hits.get(stream):
            hit = self.hits[stream]
            hit.body += payload
            if flags & END_STREAM:
                self.respond(stream, hit)
        elif kind == RESET and self.hits.get(stream):
            self.hits[stream].ended = self.hits[stream].ended or time.monotonic()

    def respond(self, stream, hit):
        pieces = self.owner.answer(hit, answer, [(0, whole(hit.mark))])
        if pieces and pieces[0][1] is SILENCE:
            self.is_silent = True
        if not self.is_silent:
            asyncio.ensure_future(self.send(stream, hit, pieces))

    async def send(self, stream, hit, pieces):
        for delay, frames in pieces:
            await asyncio.sleep(delay)
            if self.transport.is_closing() or hit.ended:
                return
            if frames is None:
                if not self.is_leaving:
                    self.is_leaving = True
                    self.transport.write(frame(AWAY, 0, 0, struct.pack(">II", self.last, 0)))
                continue
            for kind, flags, payload in frames:
                if hit.method == b"HEAD":
                    if kind != HEADERS or flags & END_STREAM and hit.status:
                        continue
                    flags |= END_STREAM
                if kind == HEADERS and hit.status is None:
                    # As `block` writes it.
                    hit.status = int(payload[10:13])
                hit.refused = hit.refused or kind == RESET and payload in NOT_PROCESSED
                self.transport.write(frame(kind, flags, stream, payload))
        if pieces:
            hit.ended = hit.ended or time.monotonic()

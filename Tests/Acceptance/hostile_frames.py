"""Answers of a target that speaks HTTP/2 (RFC 9113), well-formed and not, made from a seed, as `hostile_responses` does for HTTP/1.1."""

import random
import struct

from hostile_responses import FALSE_CODINGS, FIELDS, STATUSES, TRUE_CODINGS, Exchange, content

DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, AWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED, HAS_PRIORITY = 1, 4, 8, 32
OWN, OTHER = -1, -2
# RFC 9113 section 7.
CODES = {"no error": 0, "protocol": 1, "internal": 2, "refused": 7, "cancel": 8, "enhance your calm": 11, "http/1.1 required": 13, "unknown": 99}
BAD_FIELDS = [(b"X-Upper", b"1"), (b"connection", b"close"), (b"keep-alive", b"timeout=5"), (b"transfer-encoding", b"chunked"), (b"x-space", b" a "),
              (b"x-nul", b"a\0b"), (b"x-line", b"a\r\nx-token: stale"), (b"", b"no name"), (b"x y", b"blank"), (b"x:y", b"colon"),
              (b":path", b"/"), (b":status", b"500"), (b"upgrade", b"h2c"), (b"te", b"gzip"), (b"proxy-connection", b"close")]
TRAILERS = [(b"retry-after", b"7200"), (b"redial-retry", b"stop"), (b"redial-retry", b"retry"), (b"x-after", b"1"), (b"x-token", b"stale"),
            (b"content-length", b"1"), (b":status", b"500"), (b"connection", b"close"), (b"X-Upper", b"1"), (b"content-encoding", b"gzip")]


def integer(number, bits):
    """RFC 7541 section 5.1."""
    limit = (1 << bits) - 1
    if number < limit:
        return bytes([number])
    coded, number = [limit], number - limit
    while number >= 128:
        coded.append(number % 128 + 128)
        number //= 128
    return bytes([*coded, number])


def block(pairs):
    """Fields in HPACK, as literals without an index."""
    return b"".join(b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value for name, value in pairs)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class FrameExchange(Exchange):
    """One whose frames are for the stream of its request."""

    def __init__(self, token):
        super().__init__(token)
        self.frames, self.late_frames = [], []

    def pieces(self, stream):
        return [b"".join(self.coded(self.frames, stream))]

    def late_pieces(self, stream):
        return [(0.005, b"".join(self.coded(self.late_frames, stream)))] if self.late_frames else []

    def coded(self, frames, stream):
        numbers = {OWN: stream, OTHER: stream + 2}
        return [frame(kind, flags, numbers.get(number, number), payload.replace(b"STRM", struct.pack(">I", stream)))
                for kind, flags, number, payload in frames]


class FrameGrammar:
    def __init__(self, seed, step):
        self.random = random.Random(f"{seed}/{step}/2")
        self.made = FrameExchange(f"{seed}-{step}")

    def chance(self, share):
        return self.random.random() < share

    def trait(self, name):
        if name not in self.made.traits:
            self.made.traits.append(name)

    def exchange(self, is_last):
        made = self.made
        self.trait("HTTP/2")
        if self.chance(0.08):
            made.method = "HEAD"
            self.trait("HEAD")
        if self.chance(0.04) and self.refused():
            return made
        status = self.random.choice(STATUSES + [204, 304])
        body = b"" if status in (204, 304) or made.method == "HEAD" else self.body()
        if self.chance(0.1):
            self.interim()
        pairs = self.fields(status, body)
        if self.chance(0.04):
            self.noise("before the head")
        self.send(HEADERS, pairs, END_STREAM if not body and self.chance(0.7) else 0)
        if not made.frames[-1][1] & END_STREAM and not self.has_ended():
            self.data(body)
        self.rest()
        if is_last:
            made.closes = True
        return made

    def has_ended(self):
        return any(kind == HEADERS and flags & END_STREAM for kind, flags, *_ in self.made.frames)

    def refused(self):
        """The request was not processed, or the target says so (RFC 9113 section 8.7)."""
        code = self.random.choice(list(CODES))
        kind = self.random.choice(["reset", "away"])
        self.trait(f"{kind}, {code}")
        if kind == "reset":
            self.made.frames.append((RESET, 0, OWN, struct.pack(">I", CODES[code])))
        else:
            self.made.frames.append((AWAY, 0, 0, struct.pack(">II", 0, CODES[code]) + b"away"))
            self.made.closes = True
        return True

    def interim(self):
        self.trait("interim")
        for _ in range(self.random.choice([1, 1, 3])):
            pairs = [(b":status", b"%d" % self.random.choice([100, 102, 103, 103, 199, 101])), (b"x-token", b"stale")]
            self.send(HEADERS, pairs, END_STREAM if self.chance(0.05) else 0)

    def body(self):
        plain = b"token " + self.made.token.encode() + b" " + b"0123456789" * self.random.choice([0, 1, 30, 200])
        self.coding = None
        if not self.chance(0.15):
            return plain
        self.trait("coding")
        is_true = self.chance(0.5)
        name, kind = self.random.choice(TRUE_CODINGS if is_true else FALSE_CODINGS)
        if not is_true:
            self.trait("false coding")
        self.made.decoded, self.coding = plain if is_true else None, name[:2000]
        return content(kind, plain)

    def fields(self, status, body):
        pairs = [(name.lower(), value.strip(b" \t")) for name, _, value in
                 (line.partition(b":") for line in self.random.sample(FIELDS, self.random.choice([0, 1, 2, 4])))]
        pairs = [pair for pair in pairs if pair[0] not in (b"keep-alive", b"upgrade", b"proxy-connection")]
        pairs.insert(0, (b"x-token", self.made.token.encode()))
        if "coding" in self.made.traits:
            pairs.append((b"content-encoding", self.coding))
        if body and self.chance(0.6):
            length = len(body)
            if self.chance(0.06):
                self.trait("false length")
                length = self.random.choice([length - 1, length + 1, 0, length + 100_000])
            pairs.append((b"content-length", b"%d" % length))
        if self.chance(0.05):
            self.trait("bad field")
            pairs.insert(self.random.randrange(len(pairs) + 1), self.random.choice(BAD_FIELDS))
        if self.chance(0.01):
            self.trait("many fields")
            pairs += [(b"x-number-%d" % n, b"%d" % n) for n in range(self.random.choice([90, 300]))]
        first = [(b":status", b"%d" % status)]
        if self.chance(0.03):
            self.trait("bad status")
            first = self.random.choice([[], first * 2, [(b":status", b"20")], [(b":status", b"2000")], [(b":status", b"abc")], [(b":status", b"")],
                                        [(b":status", b"000")], [(b":status", b" 200")], [*first, (b":path", b"/")]])
        if self.chance(0.01):
            self.trait("status last")
            return pairs + first
        return first + pairs

    def send(self, kind, pairs, flags):
        """A head in one frame or several."""
        made, coded = self.made, block(pairs)
        pieces = [coded[start:start + 16_000] for start in range(0, len(coded), 16_000)]
        if self.chance(0.1) and len(coded) > 2:
            self.trait("continuation")
            place = self.random.randrange(1, len(coded))
            pieces = [coded[:place], *([b""] * self.random.choice([0, 0, 1, 10])), coded[place:]]
        first = pieces[0]
        if self.chance(0.05):
            flags, first = flags | PADDED, b"\3" + first + b"\0\0\0"
        for number, piece in enumerate([first, *pieces[1:]]):
            is_end = END_HEADERS if number == len(pieces) - 1 else 0
            made.frames.append((kind, flags | is_end, OWN, piece) if number == 0 else (CONTINUATION, is_end, OWN, piece))
            if not is_end and self.chance(0.02):
                self.trait("frame within the head")
                made.frames.append((PING, 0, 0, b"12345678"))

    def noise(self, where):
        name, *sent = self.random.choice([
            ("ping", PING, 0, 0, b"12345678"), ("short ping", PING, 0, 0, b"1"), ("unknown frame", 0x42, 255, OWN, b"?"),
            ("priority", PRIORITY, 0, OWN, struct.pack(">IB", 0, 1)), ("settings", SETTINGS, 0, 0, b""), ("bad settings", SETTINGS, 0, 0, b"123"),
            ("no window", WINDOW, 0, OWN, struct.pack(">I", 0)), ("window", WINDOW, 0, OWN, struct.pack(">I", 1)),
            ("much window", WINDOW, 0, OWN, struct.pack(">I", 0x7FFFFFFF)), ("push", PUSH, END_HEADERS, OWN, struct.pack(">I", 2) + block([(b":path", b"/")])),
            ("other stream", DATA, END_STREAM, OTHER, b"stale"), ("other head", HEADERS, 5, OTHER, block([(b":status", b"200"), (b"x-token", b"stale")])),
            ("data on 0", DATA, 0, 0, b"stale"), ("padding too long", DATA, PADDED, OWN, b"\xff stale")])
        self.trait(f"{name} {where}")
        self.made.frames.append(tuple(sent))

    def data(self, body):
        made = self.made
        pieces = [body[start:start + size] for size in [self.random.choice([7, 100, 16_000])] for start in range(0, len(body), size)][:60]
        rest = body[sum(map(len, pieces)):]
        pieces = [*pieces, rest] if rest else pieces or [b""]
        for piece in pieces[:-1]:
            made.frames.append((DATA, 0, OWN, piece))
        if self.chance(0.04):
            self.noise("in the content")
        ending = self.random.choices(["data", "empty", "trailers", "reset", "none", "padded"], [60, 10, 15, 6, 4, 5])[0]
        if ending == "padded":
            return made.frames.append((DATA, END_STREAM | PADDED, OWN, b"\5" + pieces[-1] + b"\0" * 5))
        made.frames.append((DATA, END_STREAM if ending == "data" else 0, OWN, pieces[-1]))
        if ending == "empty":
            made.frames.append((DATA, END_STREAM, OWN, b""))
        elif ending == "trailers":
            self.trait("trailers")
            trailers = self.random.sample(TRAILERS, self.random.choice([1, 1, 2]))
            if any(name == b"content-length" for name, _ in trailers):
                self.trait("length in trailers")
            self.send(HEADERS, trailers, END_STREAM if self.chance(0.95) else 0)
            made.closes |= not made.frames[-1][1] & END_STREAM
        elif ending == "reset":
            code = self.random.choice(list(CODES))
            self.trait(f"reset in the content, {code}")
            made.frames.append((RESET, 0, OWN, struct.pack(">I", CODES[code])))
        elif ending == "none":
            self.trait("no end")
            made.closes = True

    def rest(self):
        """What comes after the end of the stream."""
        if not self.chance(0.12):
            return
        name, frames = self.random.choice([
            ("data", [(DATA, END_STREAM, OWN, b"stale")]), ("head", [(HEADERS, 5, OWN, block([(b":status", b"500"), (b"x-token", b"stale")]))]),
            ("reset", [(RESET, 0, OWN, struct.pack(">I", 0))]), ("reset, cancel", [(RESET, 0, OWN, struct.pack(">I", 8))]),
            ("away", [(AWAY, 0, 0, b"STRM" + struct.pack(">I", 0))]), ("away, internal", [(AWAY, 0, 0, b"STRM" + struct.pack(">I", 2))]),
            ("next head", [(HEADERS, 5, OTHER, block([(b":status", b"200"), (b"x-token", b"stale")]))]), ("ping", [(PING, 0, 0, b"12345678")]),
            ("HTTP/1.1", [(ord("P"), 0, 0x0D0A, b"stale")])])
        self.trait(f"{name} behind the end")
        if self.chance(0.5):
            self.made.frames += frames
        else:
            self.trait("late")
            self.made.late_frames = frames


def exchanges(seed):
    """What a target sends to two to four requests over one connection of HTTP/2."""
    count = random.Random(f"{seed}/2").choice([2, 2, 3, 4])
    return [FrameGrammar(seed, step).exchange(is_last=step == count - 1) for step in range(count)]

"""Responses that a target may send, well-formed and not, made from a seed.

`exchanges(seed)` is one target's side of two to four requests, one after the other. The same seed always gives the same bytes. Each
answer carries a token of its own, and what a target sends besides its answer carries `stale`: so it is seen without a parser if a
request gets what belongs to no request or to another.
"""

import dataclasses
import gzip
import random
import zlib


@dataclasses.dataclass
class Exchange:
    token: str
    method: str = "GET"
    # How many bytes of content the request has. The answer is sent as soon as the request's head is there if it is early.
    content: int = 0
    is_early: bool = False
    # Interim responses and the response.
    wire: bytes = b""
    # Where the wire is cut into several writes.
    cuts: tuple = ()
    # What comes with the end of the response, though it does not belong to it.
    surplus: bytes = b""
    # What comes after it, each after so many seconds.
    late: list = dataclasses.field(default_factory=list)
    closes: bool = False
    # The content without its coding, if it has a coding that Redial can remove; None if it has none or a false one.
    decoded: bytes | None = None
    traits: list = dataclasses.field(default_factory=list)

    def pieces(self, _):
        places = [0, *self.cuts, len(self.wire)]
        pieces = [self.wire[start:end] for start, end in zip(places, places[1:])]
        return [*pieces[:-1], pieces[-1] + self.surplus]

    def late_pieces(self, _):
        return self.late


STATUSES = [200] * 12 + [201, 202, 203, 206, 299, 400, 403, 404, 408, 409, 410, 418, 421, 425, 429, 429, 451, 500, 500, 501, 502] \
    + [503] * 8 + [504, 505, 511, 599, 600, 700, 999]
BODILESS = [204, 204, 205, 304]
REASONS = [b" OK"] * 8 + [b" ", b"", b" not\tso", b" J\xfcrgen", b" HTTP/1.1 500 no", b" " + b"long " * 300]
BLANKS = [b" ", b"\t", b"  ", b" \t "]
FIELDS = [
    b"X-Many: 1", b"X-Many: 2", b"x-many:3", b"X-Empty:", b"X-Empty: ", b"X-Wide:  \t wide \t ", b"X-Latin: J\xfcrgen",
    b"X-Text: J\xc3\xbcrgen", b"X-Colon: a: b", b"X-Quote: \"a, b\"", b"x!#$%&'*+-.^_`|~9: token", b"Server: hostile",
    b"Date: Thu, 01 Jan 1970 00:00:00 GMT", b"Content-Type: text/plain", b"Content-Type: application/json; charset=utf-8",
    b"Retry-After: 7200", b"Vary: *", b"Keep-Alive: timeout=1, max=2", b"Upgrade: h2c", b"Trailer: X-After",
    b"Proxy-Connection: close", b"Alt-Svc: h2=\":1\"", b"Strict-Transport-Security: max-age=1", b"X-Long: " + b"y" * 9000]
# Lines that are no fields: RFC 9112 section 5.1 and RFC 9110 section 5.5.
FALSE_LINES = [b"no colon here", b": no name", b"X-Blank : before the colon", b"X Y: two words", b"X-Nul: a\0b", b"X-Return: a\rb",
               b"HTTP/1.1 500 again", b"X-(Sign): x", b"X-\xfc: x", b"X-Control: a\x01b"]
CHUNKED = b"Transfer-Encoding: chunked"
TRAILERS = [b"Retry-After: 7200", b"Redial-Retry: stop", b"Redial-Retry: retry", b"X-After: 1", b"X-Token: stale", b"HTTP/1.1 500: x",
            b"HTTP/1.1 200 OK", b"Content-Length: 1", b"Transfer-Encoding: chunked", b"X-After: 1\r\n folded", b" X-First: blank",
            b"Content-Encoding: gzip", b"Connection: close", b"no colon", b"X-Long: " + b"t" * 3000]
SIZES = [(b"%x", 20), (b"%X", 2), (b"000%x", 2), (b"%x;name", 2), (b"%x;name=\"a\\\"b\"", 2), (b"%x ", 1), (b" %x", 1), (b"0x%x", 1),
         (b"+%x", 1), (b"-%x", 1), (b"ffffffffffffffff%x", 1), (b"%xg", 1), (b"", 1)]


# Values of Content-Encoding, and what was done to the content.
TRUE_CODINGS = [(b"gzip", "gzip"), (b"GZip", "gzip"), (b"x-gzip", "gzip"), (b"deflate", "zlib"), (b"deflate", "deflate"), (b"identity", "plain"),
                (b"identity, gzip", "gzip")]
FALSE_CODINGS = [(b"gzip", "two members"), (b"gzip", "nul"), (b"gzip", "behind"), (b"gzip", "no end"), (b"gzip", "half"), (b"gzip", "plain"),
                 (b"gzip", "nothing"), (b"deflate", "plain"), (b"gzip, gzip", "twice"), (b"gzip,", "gzip"), (b"UTF-8", "plain"), (b"aws-chunked", "plain"),
                 (b"br", "plain"), (b"none", "plain"), (b"", "plain"), (b"gzip, aws-chunked", "gzip"), (b"gzip" * 3000, "plain")]


def content(kind, plain):
    """A content in a coding, or in what a target takes for one."""
    deflate = zlib.compressobj(wbits=-15)
    whole = gzip.compress(plain, mtime=0)
    return {"gzip": whole, "zlib": zlib.compress(plain), "deflate": deflate.compress(plain) + deflate.flush(), "plain": plain,
            "two members": whole + whole, "nul": whole + b"\0", "behind": whole + b"behind", "no end": whole[:-4], "half": whole[:12],
            "nothing": b"", "twice": gzip.compress(whole, mtime=0)}[kind]


class Grammar:
    def __init__(self, seed, step):
        self.random = random.Random(f"{seed}/{step}")
        self.token = f"{seed}-{step}"

    def chance(self, share):
        return self.random.random() < share

    def exchange(self, is_last):
        made = Exchange(self.token)
        self.made, self.end = made, b"\n" if self.chance(0.06) else b"\r\n"
        if self.end == b"\n":
            self.trait("bare LF")
        if self.chance(0.08):
            made.method = "HEAD"
            self.trait("HEAD")
        elif self.chance(0.1):
            made.method, made.content, made.is_early = "POST", self.random.choice([1, 1000, 60_000]), self.chance(0.5)
            if made.is_early:
                self.trait("early")
        status = self.random.choice(BODILESS) if self.chance(0.12) else self.random.choice(STATUSES)
        body = self.body()
        lines = self.fields()
        lines, content = self.framed(status, lines, body)
        made.wire = self.interim() + self.head(status, lines) + content
        self.cut()
        self.rest()
        if is_last:
            made.closes = True
        return made

    def trait(self, name):
        if name not in self.made.traits:
            self.made.traits.append(name)

    def interim(self):
        if not self.chance(0.1):
            return b""
        self.trait("interim")
        sent = b""
        for _ in range(self.random.choice([1, 1, 2, 5, 30])):
            status = self.random.choice([100, 102, 103, 103, 199])
            lines = self.random.sample([b"Link: </a>; rel=preload", b"X-Token: stale", b"Retry-After: 7200", b"Content-Length: 5", CHUNKED],
                                       self.random.choice([0, 0, 1, 2]))
            sent += b"HTTP/1.1 %d Interim" % status + self.end + b"".join(line + self.end for line in lines) + self.end
        return sent

    def fields(self):
        lines = self.random.sample(FIELDS, self.random.choice([0, 0, 1, 2, 4]))
        lines.insert(self.random.randrange(len(lines) + 1), b"X-Token: " + self.token.encode())
        if self.chance(0.05):
            self.trait("false line")
            lines.insert(self.random.randrange(len(lines) + 1), self.random.choice(FALSE_LINES))
        if self.chance(0.08):
            self.trait("fold")
            name, value = self.random.choice([(b"Retry-After", b"7200"), (b"X-Folded", b"one"), (b"X-Folded", b"")])
            folds = b"".join(self.end + self.random.choice(BLANKS) + self.random.choice([b"two", b"", b"a: b", b"X-Token: stale"])
                             for _ in range(self.random.choice([1, 1, 3])))
            if name == b"Retry-After":
                lines.append(name + b":" + self.end + self.random.choice(BLANKS) + value)
            else:
                lines.append(name + b": " + value + folds)
        if self.chance(0.01):
            self.trait("many fields")
            lines += [b"X-Number-%d: %d" % (n, n) for n in range(self.random.choice([90, 150, 400]))]
        if self.chance(0.005):
            self.trait("long head")
            lines += [b"X-Large-%d: " % n + b"z" * 8000 for n in range(10)]
        return lines

    def body(self):
        plain = b"token " + self.token.encode() + b" " + b"0123456789" * self.random.choice([0, 1, 30, 200])
        if not self.chance(0.18):
            return b"" if self.chance(0.2) else plain
        self.trait("coding")
        is_true = self.chance(0.35)
        if not is_true:
            self.trait("false coding")
        self.coding, kind = self.random.choice(TRUE_CODINGS if is_true else FALSE_CODINGS)
        self.made.decoded = plain if is_true else None
        return content(kind, plain)

    def framed(self, status, lines, body):
        made = self.made
        if "coding" in made.traits:
            lines.append(b"Content-Encoding: " + self.coding)
        if status in (204, 304) or made.method == "HEAD":
            kind = self.random.choice(["none", "none", "length", "chunked", "both"])
            lines += {"none": [], "length": [b"Content-Length: 5"], "chunked": [CHUNKED], "both": [CHUNKED, b"Content-Length: 5"]}[kind]
            if kind != "none":
                self.trait(f"no content, {kind}")
            made.decoded = None
            return lines, b""
        kind = self.random.choices(
            ["length", "chunked", "until the end", "short", "lengths", "both", "false length", "false coding of transfer"],
            [45, 28, 8, 5, 5, 3, 3, 3])[0]
        self.trait(kind)
        length = len(body)
        if kind == "length":
            return lines + [b"Content-Length: %d" % length], body
        if kind == "until the end":
            made.closes = True
            return lines + self.random.choice([[], [b"Connection: close"]]), body
        if kind == "short":
            made.closes = True
            return lines + [b"Content-Length: %d" % (length + self.random.choice([1, 7, 100_000]))], body
        if kind == "lengths":
            return lines + self.random.choice([
                [b"Content-Length: %d" % length, b"Content-Length: %d" % length], [b"Content-Length: %d, %d" % (length, length)],
                [b"Content-Length: %d" % length, b"Content-Length: %d" % (length + 1)],
                [b"Content-Length: %d, %d" % (length, length + 1)], [b"Content-Length: 0%d" % length]]), body
        if kind == "false length":
            return lines + [b"Content-Length: " + self.random.choice(
                [b"+%d", b"-%d", b"%d.0", b"0x%x", b"%d bytes", b"99999999999999999999%d", b"\"%d\"", b"%d;"]) % length], body
        if kind == "both":
            lines = lines + [CHUNKED, b"Content-Length: %d" % self.random.choice([length, 0, 5])]
        elif kind == "false coding of transfer":
            lines = lines + [b"Transfer-Encoding: " + self.random.choice(
                [b"identity", b"xchunked", b"chunked, chunked", b"chunked, identity", b"Chunked", b"\"chunked\"", b"chunked;q=1", b""])]
        else:
            lines = lines + [CHUNKED]
        return lines, self.chunks(body)

    def chunks(self, body):
        sent, has_trailers = b"", self.chance(0.3 if body else 0.8)
        while body:
            size = self.random.choice([1, 7, 100, len(body)])
            piece, body = body[:size], body[size:]
            form = self.random.choices(*zip(*SIZES))[0] if self.chance(0.08) else b"%x"
            if form != b"%x":
                self.trait("chunk size")
            sent += (form % len(piece) if b"%" in form else form) + self.end + piece + self.end
            if size == 1 and len(body) > 100:
                continue
        ending = self.random.choices(["whole", "no end", "no last line", "no line end", "more zeros"], [30, 2, 2, 1, 1])[0]
        if ending != "whole":
            self.trait(f"chunks, {ending}")
        if ending == "no end":
            self.made.closes = True
            return sent
        if ending == "no last line":
            self.made.closes = True
            return sent + b"0" + self.end
        if ending == "no line end":
            return sent[:-len(self.end)] + b"0" + self.end + self.end
        trailers = b""
        if has_trailers:
            self.trait("trailers")
            trailers = b"".join(line + self.end for line in self.random.sample(TRAILERS, self.random.choice([1, 1, 2, 4])))
            if b"\n " in trailers:
                self.trait("folded trailer")
        return sent + (b"00000" if ending == "more zeros" else b"0") + self.end + trailers + self.end

    def head(self, status, lines):
        if self.chance(0.04):
            self.trait("blank first")
            lines.insert(0, self.random.choice(BLANKS) + b"X-First: 1")
        if self.chance(0.05):
            self.trait("Connection")
            lines.append(b"Connection: " + self.random.choice([b"close", b"keep-alive", b"close, X-Many", b"Close", b"upgrade"]))
        version, code = b"HTTP/1.1", b"%d" % status
        if self.chance(0.04):
            self.trait("HTTP/1.0")
            version = b"HTTP/1.0"
            self.made.closes = True
        elif self.chance(0.02):
            self.trait("status line")
            version, code = self.random.choice([
                (b"HTTP/1.2", code), (b"HTTP/2", code), (b"HTTP/1", code), (b"http/1.1", code), (b"ICY", code), (b"HTTP/1.1 ", code),
                (version, b"20"), (version, b"2000"), (version, b"2x0"), (version, b"-200"), (version, b"000"), (version, b"099"), (version, b"")])
        before = self.random.choice([self.end, self.end * 2, b" "]) if self.chance(0.01) else b""
        if before:
            self.trait("before the head")
        line = before + version + b" " + code + self.random.choice(REASONS) + self.end
        return line + b"".join(line + self.end for line in lines) + self.end

    def cut(self):
        if self.chance(0.15):
            self.trait("cut")
            self.made.cuts = tuple(sorted(self.random.sample(range(1, len(self.made.wire)), 3)))

    def rest(self):
        """What a target sends behind its answer (RFC 9112 section 9.2: it may be no answer to the next request)."""
        stale = b"HTTP/1.1 200 OK\r\nX-Token: stale\r\nContent-Length: 5\r\n\r\nstale"
        things = [stale, stale, stale * 2, b"HTTP/1.1 408 Request Timeout\r\nX-Token: stale\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                  b"0\r\n\r\n", b"\r\n", b"garbage", b"HTTP/1.1 100 Continue\r\n\r\n", b"stale", b"HTTP/1.1 204 No Content\r\nX-Token: stale\r\n\r\n",
                  b"HTTP/1.1 200 OK\r\nX-Token: stale\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nstale\r\n", b"\0"]
        if self.chance(0.07):
            self.trait("surplus")
            self.made.surplus = self.random.choice(things)
        if self.chance(0.1) and not self.made.closes:
            self.trait("late")
            self.made.late = [(self.random.choice([0.001, 0.005, 0.03]), self.random.choice(things))
                              for _ in range(self.random.choice([1, 1, 2]))]
        if self.chance(0.06):
            self.trait("closes")
            self.made.closes = True


def exchanges(seed):
    """What a target sends to two to four requests."""
    count = random.Random(f"{seed}").choice([2, 2, 3, 4])
    return [Grammar(seed, step).exchange(is_last=step == count - 1) for step in range(count)]

"""What has arrived of a response decides: its status, and the fields of its head, whatever is wrong behind them."""

import base64
import gzip
import ssl
import subprocess
import zlib
from urllib.parse import quote

import pytest

import needs
from processes import BOUND, NO_BREAKER, libcurl, wait_until
from raw_target import RawTarget, answering, chunked, http

TEXT = b"hello from the target"
QUICK = {"backoff": {"initial": "1ms", "max": "1ms"}, "maxAttempts": 2}


@pytest.fixture
def raw(made):
    def start(answer, keeps=False, context=None):
        target = RawTarget(answering(answer if callable(answer) else lambda path: answer, keeps), context)
        made.append(target)
        return target
    return start


def attempts(service, identity):
    return service("GET", f"/v1/calls/{identity}/attempts?include=body").json["data"]


def run(service, target, name, status="200", **options):
    """Runs a call to its end, and returns it with its attempts."""
    options = {"url": f"{target.url}/{name}?{status}", "target": f"{name}-{status}", "policy": QUICK} | options
    identity = service.submit(**options)
    call = service.ended(identity)
    return call, attempts(service, identity)


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def coded(coding, body):
    return lambda status: http(status, f"Content-Encoding: {coding}", "X-Kept: yes", body=body)


packed = gzip.compress(TEXT)
# Name: the response, the body that is shown, its coding if that is kept, and the code of what is wrong.
CODINGS = {
    "gzip": (coded("gzip", packed), TEXT, None, None),
    "capitals": (coded("GZip", packed), TEXT, None, None),
    "x-gzip": (coded("x-gzip", packed), TEXT, None, None),
    "members": (coded("gzip", packed + gzip.compress(b", twice")), TEXT + b", twice", None, None),
    "nul": (coded("gzip", packed + b"\0"), TEXT, None, None),
    "nuls": (coded("gzip", packed + b"\0" * 512), TEXT, None, None),
    "behind": (coded("gzip", packed + b"\r\n<!-- cached -->"), TEXT, None, None),
    "zlib": (coded("deflate", zlib.compress(TEXT)), TEXT, None, None),
    "zlib-behind": (coded("deflate", zlib.compress(TEXT) + b"\r\n"), TEXT, None, None),
    "raw-deflate": (coded("deflate", raw_deflate(TEXT)), TEXT, None, None),
    "twice": (coded("deflate, gzip", gzip.compress(zlib.compress(TEXT))), TEXT, None, None),
    "twice-in-fields": (coded("deflate\r\nContent-Encoding: gzip", gzip.compress(zlib.compress(TEXT))), TEXT, None, None),
    "of-nothing": (coded("gzip", gzip.compress(b"")), b"", None, None),
    "empty": (coded("gzip", b""), b"", ["gzip"], None),
    "unknown": (coded("UTF-8", TEXT), TEXT, ["UTF-8"], None),
    "aws": (coded("aws-chunked", TEXT), TEXT, ["aws-chunked"], None),
    "unasked": (coded("br", TEXT), TEXT, ["br"], None),
    "unknown-of-two": (coded("aws-chunked, gzip", packed), packed, ["aws-chunked, gzip"], None),
    "identity": (coded("identity", TEXT), TEXT, ["identity"], None),
    "nameless": (coded("", TEXT), TEXT, [""], None),
    "false": (coded("gzip", TEXT), TEXT, ["gzip"], "responseCorrupt"),
    "false-deflate": (coded("deflate", TEXT), TEXT, ["deflate"], "responseCorrupt"),
    "half": (coded("gzip", packed[:-10]), packed[:-10], ["gzip"], "responseCorrupt"),
    "checksum": (coded("gzip", packed[:-8] + b"\0" * 8), packed[:-8] + b"\0" * 8, ["gzip"], "responseCorrupt"),
}


@pytest.mark.parametrize("status", ["200", "503"])
def test_a_coding_that_is_not_what_it_says_changes_no_outcome(redial, raw, status):
    target = raw(lambda path: CODINGS[path[1:].partition("?")[0]][0](status), keeps=True)
    service = redial(*NO_BREAKER)
    for name, (_, body, coding, code) in CODINGS.items():
        call, made = run(service, target, name, status)
        if status == "200":
            assert (call["state"], call["attemptCount"]) == ("succeeded", 1), (name, call)
        else:
            assert (call["failureReason"], call["attemptCount"]) == ("attemptsExhausted", 2), (name, call)
            assert made[0]["decision"]["because"] == "status 503 is retryable", (name, made)
        for attempt in made:
            assert (attempt["outcome"], attempt["status"]) == ("answered", int(status)), (name, attempt)
            assert attempt.get("error", {}).get("code") == code, (name, attempt)
            response = attempt["response"]
            shown = response["body"].encode() if response["encoding"] == "utf8" else base64.b64decode(response["body"])
            assert (shown, response["truncated"]) == (body, False), (name, response)
            assert response["headers"].get("content-encoding") == coding, (name, response)
            assert response["headers"]["x-kept"] == ["yes"], (name, response)
    assert len(target.requests) == len(CODINGS) * (1 if status == "200" else 2)


def test_a_compressed_body_costs_no_more_than_what_is_kept_of_it(redial, raw):
    target = raw(http(200, "Content-Encoding: gzip", body=gzip.compress(b"0" * 50_000_000)))
    service = redial()
    call, made = run(service, target, "bomb", capture={"maxBytes": 1000})
    assert (call["state"], call["response"]["body"], call["response"]["truncated"]) == ("succeeded", "0" * 1000, True), call
    assert "content-encoding" not in call["response"]["headers"] and "error" not in made[0]


# What is wrong behind the status, so that the rest of the response is lost or is not whole; and what is said about it.
BROKEN = {
    "long-line": (lambda status: http(status, "X-Long: " + "y" * 70_000, "X-Kept: yes", body=TEXT), "responseHeaderTooLarge"),
    "longer-line": (lambda status: http(status, "X-Long: " + "y" * 110_000, "X-Kept: yes", body=TEXT), "responseHeaderTooLarge"),
    "long-head": (lambda status: http(status, *["X-Long: " + "y" * 1000] * 100, body=TEXT), "responseHeaderTooLarge"),
    "endless-head": (lambda status: http(status, *["X-Long: " + "y" * 1000] * 2000, body=TEXT), "responseHeaderTooLarge"),
    "colon": (lambda status: http(status, "X-Kept: yes", "no colon here", body=TEXT), "responseCorrupt"),
    "colon-first": (lambda status: http(status, "no colon here", body=TEXT), "responseCorrupt"),
    "nul": (lambda status: http(status, "X-Kept: yes", "X-Nul: a\0b", body=TEXT), "responseCorrupt"),
    "length": (lambda status: http(status, "Content-Length: five", body=TEXT, length=False), "responseCorrupt"),
    "two-lengths": (lambda status: http(status, "Content-Length: 5", "Content-Length: 6", body=b"123456", length=False), "responseCorrupt"),
    "list-of-lengths": (lambda status: http(status, "Content-Length: 5, 6", body=b"123456", length=False), "responseCorrupt"),
    "folded-length": (lambda status: http(status, "Content-Length:", " 5", body=b"12345", length=False), "responseCorrupt"),
    "folded-chunked": (lambda status: http(status, "Transfer-Encoding:", " chunked", body=b"1\r\na\r\n0\r\n\r\n", length=False), "responseCorrupt"),
    "blank-length": (lambda status: http(status, "Content-Length : 5", "Content-Length: 6", body=b"123456", length=False), "responseCorrupt"),
    "blank-no-number": (lambda status: http(status, "Content-Length : five", body=TEXT, length=False), "responseCorrupt"),
    "blank-chunked": (lambda status: http(status, "Transfer-Encoding : chunked", body=b"1\r\na\r\n0\r\n\r\n", length=False), "responseCorrupt"),
    "blank-chunked-and-length": (lambda status: http(status, "Content-Length: 2", "Transfer-Encoding\t: chunked", body=b"1\r\na\r\n0\r\n\r\n", length=False), "responseCorrupt"),
    "chunk": (lambda status: chunked(status, end=b"what\r\n"), "responseCorrupt"),
    "chunk-end": (lambda status: chunked(status, end=b"3\r\nabcdef\r\n0\r\n\r\n"), "responseCorrupt"),
    "trailer": (lambda status: chunked(status, end=b"0\r\nno colon here\r\n\r\n"), "responseCorrupt"),
    "transfer-coding": (lambda status: http(status, "Transfer-Encoding: cow", body=TEXT, length=False), "responseCorrupt"),
    "transfer-gzip": (lambda status: http(status, "Transfer-Encoding: gzip", body=TEXT, length=False), "responseCorrupt"),
}


# A libcurl that joins folded lines before it reads them knows what these say.
FOLDS = {"folded-length", "folded-chunked", "folded-coding", "blank-folded"}
# ... and ends the response at such a length, so that the fields behind it are missing.
BAD_LENGTHS = {"two-lengths", "list", "folded-length", "rest-of-a-number"}


def reads_folds():
    return libcurl() >= (8, 21)


def said_of(name):
    return None if name in FOLDS and reads_folds() else BROKEN[name][1]


@pytest.mark.parametrize("status", ["200", "503", "404"])
def test_a_status_decides_whatever_the_target_sends_behind_it(redial, raw, status):
    target = raw(lambda path: BROKEN[path[1:].partition("?")[0]][0](status))
    service = redial(*NO_BREAKER)
    for name in BROKEN:
        call, made = run(service, target, name, status)
        count = 2 if status == "503" else 1
        assert call["attemptCount"] == count, (name, call)
        assert (call["state"], call["failureReason"]) == {
            "200": ("succeeded", None), "503": ("failed", "attemptsExhausted"), "404": ("failed", "notRetryable"),
        }[status], (name, call)
        for attempt in made:
            assert (attempt["outcome"], attempt["status"], attempt["response"]["status"]) == ("answered", int(status), int(status)), (name, attempt)
            if code := said_of(name):
                assert attempt["error"]["code"] == code and attempt["error"]["phase"] == "response", (name, attempt)
                assert attempt["error"]["message"].endswith("."), attempt
            else:
                assert "error" not in attempt and attempt["response"]["body"] in ("12345", "a"), (name, attempt)
        if status != "200":
            assert f"status {status} is" in made[0]["decision"]["because"], (name, made)
    assert len(target.requests) == len(BROKEN) * (2 if status == "503" else 1)


# Fields that do not say where the response ends, so that it ends with its head.
UNCLEAR = {
    "two-lengths": ["Content-Length: 5", "Content-Length: 6"], "list": ["Content-Length: 5, 6"], "folded-length": ["Content-Length: 5", " 6"],
    "folded-coding": ["Transfer-Encoding:", " chunked"], "blank-coding": ["Transfer-Encoding : chunked"], "tab-coding": ["transfer-encoding\t \t: chunked"],
    "blank-and-other": ["Content-Length : 5", "Content-Length: 6"], "blank-no-number": ["Content-Length : 0x5"],
    "blank-coding-and-length": ["Content-Length: 5", "Transfer-Encoding : chunked"], "blank-folded": ["Content-Length :", " 5"],
    "rest-of-a-number": ["Content-Length: 5;"], "too-long": ["Content-Length: " + "9" * 23],
}


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "TLS"])
def test_where_nobody_knows_the_end_all_fields_decide_and_nothing_waits(redial, raw, certificate, is_secure):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    def answer(path):
        name, _, status = path[1:].partition("?")
        return http(status, "X-Before: 1", *UNCLEAR[name], "X-After: 2", "Retry-After: 0", body=b"5\r\nhello\r\n0\r\n\r\n", length=False, closes=False)
    # It leaves the connection open: who waits, waits for the end of the attempt's time.
    target = raw(answer, keeps=True, context=context if is_secure else None)
    service = redial(*NO_BREAKER, f"--tls-directory={certificate.parent}")
    if is_secure:
        trust(service, certificate, target.url)
    for name in UNCLEAR:
        for status in ("200", "503"):
            call, made = run(service, target, name, status, policy=QUICK | {"attemptTimeout": "5s"})
            assert (call["state"], call["attemptCount"]) == {"200": ("succeeded", 1), "503": ("failed", 2)}[status], (name, call)
            is_known = name in FOLDS - BAD_LENGTHS and reads_folds()
            for attempt in made:
                code = attempt.get("error", {}).get("code")
                assert (attempt["outcome"], attempt["status"], code) == ("answered", int(status), None if is_known else "responseCorrupt"), (name, attempt)
                headers = attempt["response"]["headers"]
                after = None if name in BAD_LENGTHS and reads_folds() else ["2"]
                assert (headers["x-before"], headers.get("x-after"), attempt["response"]["truncated"]) == (["1"], after, not is_known), (name, attempt)
    assert len(target.requests) == 3 * len(UNCLEAR)


@pytest.mark.parametrize("field", ["Content-Length : {}", "content-length\t: {}", "CONTENT-LENGTH \t : {}", "Content-Length : {0}, {0}"])
@pytest.mark.parametrize("body, rest", [(TEXT, b""), (TEXT, b"and more"), (b"", b""), (b"", b"and more"), (b"x" * 200_000, b"y" * 200_000)])
def test_a_length_with_a_blank_before_its_colon_is_obeyed(redial, raw, field, body, rest):
    def answer(path):
        head = http(path[1:4], field.format(len(body)), "X-Kept: yes", length=False, closes=False)
        return [head + body[:7], body[7:] + rest] if path.endswith("apart") else head + body + rest

    target, service = raw(answer, keeps=True), redial(*NO_BREAKER)
    for status in ("200", "503"):
        for path in (status, status + "apart"):
            policy = QUICK | {"attemptTimeout": "5s", "maxAttempts": 1}
            identity = service.submit(url=f"{target.url}/{path}", target=path, policy=policy, capture={"maxBytes": 1_000_000})
            assert service.ended(identity)["state"] == {"200": "succeeded", "503": "failed"}[status]
            attempt, = attempts(service, identity)
            assert (attempt["outcome"], attempt["status"], "error" in attempt) == ("answered", int(status), False), attempt
            response = attempt["response"]
            assert (response["body"].encode(), response["truncated"]) == (body, False), (path, len(response["body"]))
            assert response["headers"]["x-kept"] == ["yes"] and "content-length" in response["headers"], response
    assert len(target.requests) == 4
    # What was behind the end answers nothing: each has a connection of its own.
    assert sorted(request.connection for request in target.requests) == [0, 1, 2, 3]


def test_a_response_without_content_needs_no_length_that_others_agree_on(redial, raw):
    """Its end is that of its head, whatever stands there (RFC 9112 section 6.3)."""
    def answer(path):
        return http(path[1:4], *UNCLEAR[path[5:]], "X-After: 2", length=False, closes=False)
    target, service = raw(answer, keeps=True), redial(*NO_BREAKER)
    for name in UNCLEAR:
        for status, method in (("204", "GET"), ("304", "GET"), ("200", "HEAD")):
            identity = service.submit(url=f"{target.url}/{status}/{name}", method=method, policy=QUICK | {"attemptTimeout": "5s"})
            call = service.ended(identity)
            attempt, = attempts(service, identity)
            is_cut = method == "HEAD" and name in BAD_LENGTHS and reads_folds()
            assert (attempt["outcome"], attempt["status"], "error" in attempt) == ("answered", int(status), is_cut), (name, attempt)
            assert is_cut or attempt["response"]["headers"]["x-after"] == ["2"], (name, attempt)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("interim", [
    "100 Continue\r\n Link: x", "103 Early Hints\r\n\tLink: </a>; rel=preload", "102 Processing\r\n a: 1\r\n b: 2\r\nc: 3",
    "103 Early Hints\r\n a: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\n b: 2", "103 Early Hints\r\nX: 1\r\n 2",
    "103 Early Hints\r\nContent-Length: 5, 6", "103 Early Hints\r\nContent-Length : 5", "103 Early Hints\r\nTransfer-Encoding : chunked",
    "100 Continue\r\n: x"])
def test_after_an_interim_head_the_final_response_decides(redial, raw, interim, method):
    def answer(path):
        return f"HTTP/1.1 {interim}\r\n\r\n".encode() + http(path[1:4], "X-Kept: yes", body=TEXT, closes=False)
    target, service = raw(answer, keeps=True), redial(*NO_BREAKER)
    more = {"body": "x"} if method == "POST" else {}
    for status in ("200", "503"):
        identity = service.submit(url=f"{target.url}/{status}", method=method, policy=QUICK | {"maxAttempts": 1}, idempotent=False, **more)
        assert service.ended(identity)["state"] == {"200": "succeeded", "503": "failed"}[status]
        attempt, = attempts(service, identity)
        assert (attempt["outcome"], attempt["status"], "error" in attempt) == ("answered", int(status), False), attempt
        assert attempt["response"]["body"].encode() == TEXT and set(attempt["response"]["headers"]) == {"x-kept", "content-length"}, attempt


def test_of_a_long_head_the_fields_that_fit_are_kept_and_heeded(redial, raw):
    target = raw(http(503, "X-Long: " + "y" * 66_000, "Retry-After: 7200", body=TEXT), keeps=True)
    call, made = run(redial(), target, "long")
    assert made[0]["decision"]["because"] == "Retry-After of 2h is over the policy's maximum", made
    response = made[0]["response"]
    assert set(response["headers"]) == {"retry-after", "content-length", "connection"} and response["body"] == TEXT.decode()
    assert made[0]["error"]["code"] == "responseHeaderTooLarge" and not response["truncated"]


# A response that is not whole, and what is there of its body.
CUT = {
    "length": (lambda status: http(status, "X-Kept: yes", "Retry-After: 0", "Content-Length: 100", body=b"part", length=False), "part"),
    "no-body": (lambda status: http(status, "X-Kept: yes", "Content-Length: 100", length=False), ""),
    "chunked": (lambda status: chunked(status, "X-Kept: yes", chunks=[b"part"], end=b""), "part"),
    "chunk": (lambda status: chunked(status, "X-Kept: yes", chunks=[], end=b"10\r\npart"), "part"),
    "last-chunk": (lambda status: chunked(status, "X-Kept: yes", chunks=[b"part"], end=b"0\r\n"), "part"),
    "gzip": (lambda status: http(status, "X-Kept: yes", "Content-Encoding: gzip", "Content-Length: 9999", body=gzip.compress(TEXT)[:-8], length=False), TEXT.decode()),
    "head": (lambda status: f"HTTP/1.1 {status} Said\r\nX-Kept: yes\r\nX-Ne".encode(), ""),
}


@pytest.mark.parametrize("status", ["200", "204", "205", "503", "404"])
def test_what_has_arrived_of_a_response_that_is_cut_is_shown(redial, raw, status):
    cases = {name: case for name, case in CUT.items() if status != "204" or name == "head"}
    target = raw(lambda path: CUT[path[1:].partition("?")[0]][0](status))
    service = redial(*NO_BREAKER)
    for name, (_, body) in cases.items():
        call, made = run(service, target, name, status)
        outcome, because, count = {
            # A success counts when it is whole: the call may need its body, and a connection that broke may hold next time.
            "200": ("maybeSent", "responseIncomplete is retryable", 2), "204": ("maybeSent", "responseIncomplete is retryable", 2),
            "205": ("maybeSent", "responseIncomplete is retryable", 2),
            "503": ("answered", "status 503 is retryable", 2), "404": ("answered", "status 404 is not retryable", 1)}[status]
        assert (call["state"], call["attemptCount"]) == ("failed", count), (name, call)
        assert made[0]["decision"]["because"].startswith(because), (name, made)
        for attempt in made:
            assert (attempt["outcome"], attempt["status"], attempt["error"]["code"]) == (outcome, int(status), "responseIncomplete"), (name, attempt)
            assert attempt["response"]["headers"]["x-kept"] == ["yes"], (name, attempt)
            assert (attempt["response"]["body"], attempt["response"]["truncated"]) == (body, True), (name, attempt)
        assert call["response"]["status"] == int(status), (name, call)


def test_a_response_that_does_not_end_in_time_has_its_status(redial, raw):
    def stall(path):
        yield http(path[1:4], "X-Kept: yes", "Content-Length: 100", body=b"part", length=False)
        wait_until(lambda: ended, "the call has ended")

    ended = []
    target, service = raw(stall), redial(*NO_BREAKER)
    policy = QUICK | {"attemptTimeout": "1s", "maxAttempts": 1}
    for status, outcome in (("503", "answered"), ("200", "maybeSent")):
        identity = service.submit(url=f"{target.url}/{status}", target=status, policy=policy)
        service.ended(identity)
        attempt, = attempts(service, identity)
        assert (attempt["outcome"], attempt["status"], attempt["error"]["code"]) == (outcome, int(status), "timeout"), attempt
        assert (attempt["response"]["body"], attempt["response"]["truncated"]) == ("part", True), attempt
    ended.append(True)


def test_only_a_head_that_is_not_http_is_an_invalid_response(redial, raw):
    heads = {
        "garbage": b"garbage\r\n\r\n", "09": b"<html>old</html>", "ssh": b"SSH-2.0-OpenSSH_9.2\r\n", "small": b"http/1.1 200 OK\r\n\r\n",
        "word": b"HTTP/x 200 OK\r\n\r\n", "none": b"HTTP/1.1\r\n\r\n", "text": b"HTTP/1.1 okay\r\n\r\n", "short": b"HTTP/1.1 20\r\n\r\n",
        "long": b"HTTP/1.1 2000 OK\r\n\r\n", "low": b"HTTP/1.1 099 OK\r\n\r\n", "blank": b" HTTP/1.1 200 OK\r\n\r\n", "bare": b"HTTP/ 503 No\r\n\r\n",
    }
    target = raw(lambda path: heads[path[1:].partition("?")[0]])
    service = redial(*NO_BREAKER)
    for name in heads:
        call, made = run(service, target, name)
        assert (call["failureReason"], call["attemptCount"]) == ("attemptsExhausted", 2), (name, call)
        for attempt in made:
            assert (attempt["outcome"], attempt["status"], attempt["error"]["code"]) == ("maybeSent", None, "responseInvalid"), (name, attempt)
            assert attempt["response"] is None


def test_nothing_that_a_target_sends_is_a_fault_of_this_side(redial, raw):
    """Each of those above, as an answer to a call that must not be executed twice, and of a webhook's receiver."""
    answers = {f"{kind}-{name}": case[0] for kind, cases in (("coding", CODINGS), ("broken", BROKEN)) for name, case in cases.items()}
    target = raw(lambda path: answers[path[1:].partition("?")[0]]("200"))
    service = redial(*NO_BREAKER)
    for name in answers:
        call, made = run(service, target, name, idempotent=False, method="POST", body="x")
        assert (call["state"], call["attemptCount"]) == ("succeeded", 1), (name, call)
    hooked = {name: service.submit(url=f"{target.url}/coding-gzip", target="hooked", callback={
        "url": f"{target.url}/{name}", "events": ["call.succeeded"]}) for name in answers}
    for identity in hooked.values():
        service.ended(identity)

    def webhooks():
        found = service("GET", "/v1/calls?kind=webhook&limit=200").json["data"]
        return len(found) == len(answers) and all(call["state"] == "succeeded" for call in found) and found

    found = wait_until(webhooks, "all webhooks are delivered")
    assert {call["attemptCount"] for call in found} == {1}


# Fields that would end the call, or change what is shown, if they were those of the head.
TRAILERS = b"Retry-After: 7200\r\nRedial-Retry: stop\r\nX-Trailer: 1\r\nHTTP/1.1 500: x\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\nContent-Length: 4\r\n"


def test_trailers_are_no_fields(redial, raw):
    answers = {
        "with-body": lambda status: chunked(status, "X-Kept: yes", end=b"0\r\n" + TRAILERS + b"\r\n", closes=False),
        "without-body": lambda status: chunked(status, "X-Kept: yes", chunks=[], end=b"0\r\n" + TRAILERS + b"\r\n", closes=False),
        "apart": lambda status: [chunked(status, "X-Kept: yes", end=b"", closes=False), b"0\r\n", TRAILERS, b"\r\n"],
        "interim": lambda status: b"HTTP/1.1 103 Early Hints\r\n" + TRAILERS[:39] + b"\r\n" + http(status, "X-Kept: yes", body=b"body", closes=False),
    }
    target = raw(lambda path: answers[path[1:].partition("?")[0]](path[-3:]), keeps=True)
    service = redial(*NO_BREAKER)
    for name in answers:
        for status in ("200", "503"):
            call, made = run(service, target, name, status)
            assert (call["state"], call["attemptCount"]) == {"200": ("succeeded", 1), "503": ("failed", 2)}[status], (name, call)
            for attempt in made:
                assert (attempt["outcome"], attempt["status"], "error" in attempt) == ("answered", int(status), False), (name, attempt)
                headers = attempt["response"]["headers"]
                assert set(headers) <= {"x-kept", "transfer-encoding", "content-length"} and headers["x-kept"] == ["yes"], (name, headers)
                assert attempt["response"]["body"] == ("" if name == "without-body" else "body"), (name, attempt)
            if status == "503":
                assert made[0]["decision"]["because"] == "status 503 is retryable", (name, made)


SECOND = """
const fs = require("fs"), http2 = require("http2")
const server = http2.createSecureServer({key: fs.readFileSync("secure.key"), cert: fs.readFileSync("secure.pem")})
server.on("stream", (stream, headers) => {
  const [name, status] = headers[":path"].slice(1).split("?")
  stream.on("error", () => {})
  stream.additionalHeaders({":status": 103, "retry-after": "7200", "redial-retry": "stop"})
  if (name === "cut") {
    stream.respond({":status": Number(status), "x-kept": "yes"})
    return stream.write("part", () => stream.session.destroy())
  }
  if (name === "false") return (stream.respond({":status": Number(status), "x-kept": "yes", "content-encoding": "gzip"}), stream.end("body"))
  stream.respond({":status": Number(status), "x-kept": "yes"}, {waitForTrailers: true})
  stream.on("wantTrailers", () => stream.sendTrailers({"retry-after": "7200", "redial-retry": "stop", "content-encoding": "gzip"}))
  stream.end(name === "body" ? "body" : undefined)
})
server.listen(0, "127.0.0.1", () => console.log(server.address().port))
"""


@pytest.fixture
def certificate(tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-keyout",
                    "secure.key", "-out", "secure.pem", "-subj", "/CN=target", "-addext", "subjectAltName=IP:127.0.0.1"],
                   cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "secure.pem"


def trust(service, certificate, url):
    answer = service("PUT", f"/v1/targets/{quote(url, safe='')}", {"tls": {"caFile": str(certificate)}})
    assert answer.status == 200, answer.body


def test_over_tls_the_head_decides_too(redial, raw, certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    answers = {f"cut-{name}": case[0] for name, case in CUT.items()} | {f"broken-{name}": case[0] for name, case in BROKEN.items()}
    target = raw(lambda path: answers[path[1:].partition("?")[0]](path[-3:]), context=context)
    service = redial(*NO_BREAKER, f"--tls-directory={certificate.parent}")
    trust(service, certificate, target.url)
    for name in answers:
        for status in ("200", "503"):
            call, made = run(service, target, name, status)
            is_cut = name.startswith("cut-")
            assert (call["state"], call["attemptCount"]) == (("failed", 2) if is_cut or status == "503" else ("succeeded", 1)), (name, call)
            for attempt in made:
                outcome = "maybeSent" if is_cut and status == "200" else "answered"
                assert (attempt["outcome"], attempt["status"]) == (outcome, int(status)), (name, attempt)
                assert attempt.get("error", {}).get("code") == ("responseIncomplete" if is_cut else said_of(name[7:])), (name, attempt)


@pytest.fixture
def second(tmp_path, certificate):
    """A target that speaks HTTP/2."""
    process = subprocess.Popen([needs.program("node"), "-e", SECOND], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    yield f"https://127.0.0.1:{int(process.stdout.readline())}"
    process.kill()
    process.wait(BOUND)
    process.stdout.close()


def test_over_http2_the_head_decides_too(redial, second, certificate):
    service = redial(*NO_BREAKER, f"--tls-directory={certificate.parent}")
    trust(service, certificate, second)
    for name, body in (("body", "body"), ("nothing", ""), ("false", "body")):
        for status in ("200", "503"):
            identity = service.submit(url=f"{second}/{name}?{status}", target="second", policy=QUICK)
            call = service.ended(identity)
            assert (call["state"], call["attemptCount"]) == {"200": ("succeeded", 1), "503": ("failed", 2)}[status], (name, call)
            for attempt in attempts(service, identity):
                assert (attempt["status"], attempt["exchange"]["httpVersion"]) == (int(status), "2"), attempt
                headers = attempt["response"]["headers"]
                assert headers["x-kept"] == ["yes"] and "retry-after" not in headers and attempt["response"]["body"] == body, attempt
    identity = service.submit(url=f"{second}/cut?503", target="second", policy=QUICK)
    assert service.ended(identity)["failureReason"] == "attemptsExhausted"
    for attempt in attempts(service, identity):
        assert (attempt["outcome"], attempt["status"], attempt["response"]["truncated"]) == ("answered", 503, True), attempt


def test_a_folded_field_is_one_line(redial, raw):
    answers = {
        "wait": http(503, "Retry-After:", " 2"), "tab": http(503, "Retry-After:", "\t2"), "blanks": http(503, "Retry-After:  ", " \t ", "   2  "),
        "empty": http(503, "Retry-After: 2", "  "), "line-feeds": b"HTTP/1.1 503 No\nRetry-After:\n 2\nContent-Length: 0\n\n",
        "late": http(503, "X-One: 1", "Retry-After:", " 2", "X-Two: 2"), "last": http(503, "Content-Length: 0", "Retry-After:", " 2", length=False),
        "date": http(503, "Date: Sun, 06 Nov 1994", " 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994", "\t08:49:39 GMT"),
        "shown": http(200, "X-Long: one", " two", "\tthree", "   X-Four: 4", "Content-Type:", " text/plain", body=TEXT),
    }
    target, service = raw(lambda path: answers[path[1:]], keeps=True), redial(*NO_BREAKER)
    for name in list(answers)[:-1]:
        identity = service.submit(url=f"{target.url}/{name}", target=name, policy=QUICK | {"deadline": "1h"})
        call = wait_until(lambda: (found := service.get(identity))["attempts"] and found, "an attempt has ended")
        decision = call["attempts"][0]["decision"]
        assert (decision["because"], decision["after"]) == ("status 503 with Retry-After of 2s", "2s"), (name, decision)
        headers = attempts(service, identity)[0]["response"]["headers"]
        assert all(name == name.strip() for name in headers), headers
    call = service.ended(service.submit(url=f"{target.url}/shown"))
    assert call["response"]["headers"]["x-long"] == ["one two three X-Four: 4"] and call["response"]["headers"]["content-type"] == ["text/plain"]
    assert call["response"]["body"] == TEXT.decode()


def test_a_line_that_begins_with_a_blank_before_the_first_field_is_ignored(redial, raw):
    target = raw(http(200, " X-First: 1", " Retry-After: 2", "X-Kept: yes", body=TEXT))
    call, made = run(redial(), target, "first")
    assert (call["state"], call["attemptCount"], made[0]["status"]) == ("succeeded", 1, 200), call
    assert "error" not in made[0] and made[0]["response"]["body"] == TEXT.decode(), made
    assert set(made[0]["response"]["headers"]) == {"x-kept", "content-length", "connection"}, made


@pytest.mark.parametrize("fields, wait", [
    (["Retry-After: 5", "Retry-After: 30"], "30s"), (["Retry-After: 30", "Retry-After: 5"], "30s"), (["Retry-After: 1, 20"], "20s"),
    (["Retry-After: 20 ,1"], "20s"), (["Retry-After: 1.5"], "1.5s"), (["Retry-After: soon", "Retry-After: 7"], "7s"),
    (["Retry-After: 7", "Retry-After: -1"], "7s"), (["Retry-After: 3, Sun, 06 Nov 1994 08:49:47 GMT", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], "10s"),
    (["Retry-After: Sun, 06 Nov 1994 08:49:47 GMT, 12", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], "12s"),
    (["Retry-After: Sun, 06 Nov 1994 08:49:47 GMT", "retry-after: Sun, 06 Nov 1994 08:49:57 GMT", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], "20s"),
    (["Retry-After : 9"], "9s")])
def test_of_several_waits_the_longest_counts(redial, raw, fields, wait):
    target, service = raw(http(503, *fields)), redial(*NO_BREAKER)
    identity = service.submit(url=target.url, policy=QUICK | {"deadline": "1h"})
    call = wait_until(lambda: (found := service.get(identity))["attempts"] and found, "an attempt has ended")
    decision = call["attempts"][0]["decision"]
    assert (decision.get("waitingOn"), decision.get("after")) == ("retryAfter", wait), decision


def test_a_redirect_is_followed_whatever_is_wrong_behind_its_head(redial, raw):
    answers = {
        "/false": http(302, "Location: /there", "Content-Encoding: gzip", body=TEXT), "/folded": http(302, "Location:", " /there"),
        "/cut": http(302, "Location: /there", "Content-Length: 99", body=b"part", length=False), "/colon": http(302, "Location: /there", "no colon"),
        "/long": http(302, "Location: /there", "X-Long: " + "y" * 110_000), "/chunk": chunked(307, "Location: /there", end=b"what\r\n"),
        "/trailer": chunked(302, "Location: /there", end=b"0\r\nLocation: /wrong\r\n\r\n"), "/there": http(200, body=TEXT), "/wrong": http(404),
    }
    target, service = raw(lambda path: answers[path]), redial(*NO_BREAKER)
    for name in list(answers)[:-2]:
        call = service.ended(service.submit(url=target.url + name, redirects={"max": 1}))
        assert (call["state"], call["attemptCount"], call["response"]["body"]) == ("succeeded", 1, TEXT.decode()), (name, call)

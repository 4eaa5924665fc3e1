"""The command's output: it contains nothing that a terminal would act on, and is never lost silently."""

import fcntl
import json
import os
import re
import select
import struct
import subprocess
import termios

import pytest

from processes import BINARY, BOUND, environment, free_port, run, wait_until
from terminal import at_terminal

# A control sequence in 7 and in 8 bits, a bell, a delete, a direction override, a line separator.
HOSTILE = "a\x1b[2Jb\x9b1mc\x07d\x7fe\u202ef\u2028g\u200bh\U000e0041i"
ESCAPED = r"a\u001b[2Jb\u009b1mc\u0007d\u007fe\u202ef\u2028g\u200bh\udb40\udc41i"
# One more line and one more tab, where no text may add lines.
FORGED = "\nattempt 9: status 200\t"


def assert_shows_nothing_active(text, but=""):
    """Except for the command's own: its colours, and the progress line that it removes."""
    found = re.search(f"[^\\x20-\\x7e\r\n×{but}]", re.sub("\x1b\\[(\\d+m|K)", "", text))
    assert not found, (found, text)


@pytest.fixture
def hostile(receiver):
    """A server in place of the service, with the worst content in all texts that it may choose."""
    call = {"id": "call_0000000000001", "method": "GET", "url": HOSTILE + FORGED, "state": "failed",
            "failureReason": HOSTILE + FORGED, "attemptCount": 1, "kind": "call",
            "attempts": [{"number": 1, "error": {"code": HOSTILE + FORGED}, "duration": "1ms"}],
            "retries": [{"at": "now", "by": HOSTILE, "reason": HOSTILE + FORGED}]}
    attempt = {"number": 1, "outcome": "answered", "status": 503, "duration": "1ms",
               "error": {"message": HOSTILE + FORGED}, "decision": {"action": "retry", "because": HOSTILE + FORGED},
               "response": {"headers": {"x-" + HOSTILE: [HOSTILE + FORGED]}, "body": HOSTILE + FORGED}}
    endpoint = {"id": "whe_1", "enabled": True, "events": [HOSTILE], "url": HOSTILE + FORGED,
                "description": HOSTILE + FORGED, "targets": [HOSTILE + FORGED], "secrets": []}
    answers = {
        "/v1/calls": {"data": [call], "nextCursor": HOSTILE}, "/v1/calls/call_0000000000001": call,
        "/v1/calls/call_0000000000001/attempts": {"data": [attempt]},
        "/v1/webhook-endpoints": {"data": [endpoint]}, "/v1/webhook-endpoints/whe_1": endpoint,
        "/v1/targets": {"data": [{"key": HOSTILE + FORGED, "breaker": {"state": HOSTILE + FORGED}}]},
        "/v1/operations": {"data": [{"id": "op_1", "by": HOSTILE + FORGED, "reason": HOSTILE + FORGED}]},
        "/v1/policies/x": {"name": "x", "version": 1, "policy": {HOSTILE: HOSTILE},
                           "warnings": [{"code": "a", "detail": HOSTILE + FORGED}]},
        "/v1/keys": {"data": [{"id": "key_1", "name": HOSTILE + FORGED}]},
    }
    problem = {"detail": HOSTILE + FORGED, "errors": [{"pointer": HOSTILE, "detail": HOSTILE + FORGED}]}
    events = [json.dumps({"type": "call.failed", "timestamp": HOSTILE, "data": call}), HOSTILE]

    def answer(request):
        if request.path.startswith("/v1/events"):
            return 200, {}, "".join(f"data: {event}\n\n" for event in events).encode()
        if request.path == "/v1/calls/batch":
            return 200, {}, (json.dumps({"line": 1, "problem": problem}) + "\n").encode()
        if request.path == "/healthz":
            return 200, {}, HOSTILE.encode()
        path = request.path.split("?")[0]
        if path in answers:
            return 200, {}, json.dumps(answers[path]).encode()
        return 422, {}, json.dumps(problem).encode()

    return receiver(answer)


@pytest.mark.parametrize("arguments", [
    ["list"], ["get", "call_0000000000001"], ["attempts", "call_0000000000001", "--body"], ["webhooks", "list"],
    ["webhooks", "show", "whe_1"], ["targets"], ["ops", "list"], ["policies", "show", "x"], ["keys", "list"],
    ["events", "--count", "2"], ["health"], ["batch", "FILE"],
], ids=lambda arguments: arguments[0] + "-" + arguments[-1])
def test_what_others_wrote_is_shown_without_anything_that_a_terminal_acts_on(hostile, tmp_path, arguments):
    (tmp_path / "calls").write_text("{}\n")
    arguments = [tmp_path / "calls" if argument == "FILE" else argument for argument in arguments]
    _, shown = at_terminal(*arguments, "--url", hostile.url)
    assert ESCAPED in shown
    # A body keeps its lines and tabs.
    assert_shows_nothing_active(shown, but="\t" if "--body" in arguments else "")
    assert not re.search(r"^attempt 9", shown, re.M)


def test_json_means_what_the_service_wrote(hostile):
    answer = run("get", "call_0000000000001", "--json", "--url", hostile.url)
    assert json.loads(answer.stdout)["failureReason"] == HOSTILE + FORGED


@pytest.mark.parametrize("arguments", [
    ["list"], ["get", "call_0000000000001"], ["targets"], ["keys", "list"], ["events", "--count", "1"], ["batch", "FILE"],
    ["call", "http://127.0.0.1:1/"],
], ids=lambda arguments: arguments[0])
def test_json_has_nothing_that_a_terminal_acts_on_either(tmp_path, receiver, arguments):
    (tmp_path / "calls").write_text("{}\n")
    # JSON need not escape them, and the service does not.
    problem = json.dumps({"detail": HOSTILE, "id": HOSTILE, "line": 1}, ensure_ascii=False)
    service = receiver(lambda request: (
        200, {}, (f"data: {problem}\n\n" if "events" in request.path else problem + "\n").encode()))
    arguments = [tmp_path / "calls" if argument == "FILE" else argument for argument in arguments]
    _, shown = at_terminal(*arguments, "--json", *(["--no-wait"] if arguments[0] == "call" else []), "--url", service.url)
    assert r"\u009b1mc" in shown and r"\u202ef\u2028g\u200bh\udb40\udc41i" in shown
    assert_shows_nothing_active(shown)


def test_what_is_refused_is_shown_without_anything_that_a_terminal_acts_on():
    for arguments in (["x\x9b1m"], ["call", "--x\u202e"], ["serve", "--listen", "\x9b1m"], ["doctor", "--store", "x\x9b"]):
        _, shown = at_terminal(*arguments)
        assert re.search(r"\\u(009b|202e)", shown), shown
        assert_shows_nothing_active(shown)


def test_output_that_cannot_be_written_is_told(redial):
    service = redial()
    with open("/dev/full", "w") as full:
        for arguments in (["list", "--json", "--url", service.url], ["--help"],
                          ["preview"], ["health", "--url", service.url]):
            answer = subprocess.run(
                [BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), timeout=BOUND)
            assert answer.returncode == 1 and "No space left on device" in answer.stderr, (arguments, answer)


def test_a_reader_that_leaves_ends_the_command_quietly(redial, receiver):
    service = redial()
    reading, writing = os.pipe()
    os.close(reading)
    try:
        answer = subprocess.run(
            [BINARY, "list", "--url", service.url, "--json"], stdout=writing, stderr=subprocess.PIPE,
            env=environment(), timeout=BOUND)
    finally:
        os.close(writing)
    assert answer.returncode == 141 and answer.stderr == b""

    follower = subprocess.Popen(
        [BINARY, "events", "--follow", "--url", service.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment())
    target = receiver()
    try:
        def heard():
            service.submit(url=target.url)
            ready, _, _ = select.select([follower.stdout], [], [], 0.1)
            return ready
        wait_until(heard, "it has heard of a call")
        follower.stdout.close()
        def left():
            service.submit(url=target.url)
            return follower.poll() is not None
        wait_until(left, "it ends with its reader")
        assert follower.returncode == 141 and follower.stderr.read() == b""
    finally:
        if follower.poll() is None:
            follower.kill()
        follower.wait(BOUND)


def test_a_service_outlives_the_reader_of_its_greeting(tmp_path):
    # Its output is a pipe that nobody reads any more.
    port = free_port()
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        [BINARY, "serve", "--listen", f"127.0.0.1:{port}", "--store", f"sqlite:{tmp_path}/it.db"], stdout=writing,
        stderr=subprocess.DEVNULL, env=environment())
    os.close(writing)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: run("health", "--url", url).returncode == 0, "it serves")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(BOUND)


def test_all_is_written_where_the_output_does_not_block_and_its_reader_is_slow(receiver):
    whole = json.dumps({"data": ["x" * 1000] * 1000})
    service = receiver(lambda request: (200, {}, whole.encode()))
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETFL, fcntl.fcntl(writing, fcntl.F_GETFL) | os.O_NONBLOCK)
    process = subprocess.Popen(
        [BINARY, "list", "--json", "--url", service.url], stdout=writing, stderr=subprocess.PIPE, env=environment())
    os.close(writing)
    try:
        def unread():
            return struct.unpack("i", fcntl.ioctl(reading, termios.FIONREAD, bytes(4)))[0]
        # A pipe has room for so much, and the process then waits for its reader.
        wait_until(lambda: unread() > 60_000, "the pipe is full")
        assert process.poll() is None
        with open(reading, "rb") as pipe:
            assert pipe.read().decode() == whole + "\n"
        assert process.wait(BOUND) == 0 and process.stderr.read() == b""
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(BOUND)


def test_following_goes_on_behind_the_last_whole_event_and_through_an_answer_of_503(receiver):
    def event(number):
        return f'id: {number}\ndata: {{"type":"call.failed","number":{number}}}\n\n'.encode()
    # The second connection ends in the middle of event 3, the third is refused as by a service that starts.
    parts = [(200, event(1)), (200, event(2) + b'id: 3\ndata: {"type":"cal'), (503, b'{"detail": "starting"}'),
             (200, event(3)), (200, event(4))]
    left = iter(parts)
    def answer(request):
        status, body = next(left)
        return status, {}, body
    service = receiver(answer)
    followed = run("events", "--follow", "--json", "--count", "4", "--url", service.url)
    assert followed.returncode == 0, followed
    assert [json.loads(line)["number"] for line in followed.stdout.splitlines()] == [1, 2, 3, 4]
    assert [r.headers.get("last-event-id") for r in service.requests] == [None, "1", "2", "2", "3"]
    # The first failure is reported, because the URL may be wrong.
    refused = receiver(lambda request: (503, {}, b'{"detail": "starting"}'))
    assert run("events", "--follow", "--url", refused.url).returncode == 4

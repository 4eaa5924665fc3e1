"""`redial batch`: its output about lines that the service does not answer, and the keys under which it sends them."""

import json
import os
import subprocess

import pytest

from processes import BINARY, BOUND, environment, run


def accepted(line):
    return json.dumps({"line": line, "status": 202, "call": {"id": f"call_{line:013}"}}) + "\n"


def ending(code, status, detail):
    """How the service ends a stream that it cannot continue: a line that belongs to no submitted line."""
    return json.dumps({"line": None, "status": status, "problem": {"code": code, "status": status, "detail": detail}}) + "\n"


@pytest.fixture
def batch(receiver, tmp_path):
    """Runs the command against a service that answers each request with the next of these texts."""
    def start(answers, lines, *flags):
        left = iter(answers)
        service = receiver(lambda request: next(left))
        (tmp_path / "calls.ndjson").write_text("".join(lines))
        return service, run("batch", tmp_path / "calls.ndjson", "--url", service.url, *flags)
    return start


LINES = ["{}\n", "\n"] + ["{}\n"] * 6


def test_a_file_may_begin_with_a_byte_order_mark(redial, tmp_path):
    service = redial()
    call = json.dumps({"url": "http://127.0.0.1:9/", "delay": "1h"})
    mark = "\ufeff"
    for text, accepted, refused in (
            (f"{mark}{call}\n{call}\n", 2, 0), (f"{mark}\r\n{call}\r\n", 1, 0), (f"{mark}{call}", 1, 0),
            # Anywhere else it is no white space.
            (f"{call}\n{mark}{call}\n", 1, 1), (f"{mark}{mark}{call}\n{call}\n", 1, 1)):
        (tmp_path / "calls.ndjson").write_text(text)
        for told in (run("batch", tmp_path / "calls.ndjson", "--server", service.url), run("batch", "--server", service.url, stdin=text),
                     run("batch", "--server", service.url, "-", stdin=text)):
            assert len(told.stdout.split()) == accepted and told.stderr.count("line ") == refused, (text, told)
            assert told.returncode == (1 if refused else 0)
    # A pipe may bring it byte by byte.
    piped = subprocess.Popen(
        [BINARY, "batch", "--server", service.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False, env=environment())
    for byte in (mark + call).encode():
        os.write(piped.stdin.fileno(), bytes([byte]))
    told, _ = piped.communicate(timeout=BOUND)
    assert piped.returncode == 0 and len(told.split()) == 1, told
    (tmp_path / "policy.json").write_text(mark + '{"maxAttempts": 3}')
    assert run("policies", "put", "patient", f"@{tmp_path / 'policy.json'}", "--server", service.url).returncode == 0


def test_a_stream_that_the_service_ends_early_stops_it_at_the_first_line_without_an_answer(batch):
    text = accepted(1) + accepted(2) + ending("draining", 503, "No more lines are read.")
    service, told = batch([(200, {}, text.encode())] * 9, LINES, "--size", "4")
    assert told.returncode == 4 and len(service.requests) == 1
    assert "No more lines are read." in told.stderr and "2 calls were accepted, 0 refused, up to line 3." in told.stderr
    assert "Line 4 is the first without an answer." in told.stderr and "line 4:" not in told.stderr


def test_a_stream_that_ends_behind_all_answers_stops_it_before_the_next_line(batch):
    text = "".join(map(accepted, range(1, 5))) + ending("unauthorized", 401, "The key is revoked.")
    service, told = batch([(200, {}, text.encode())] * 9, LINES, "--size", "4")
    assert told.returncode == 4 and len(service.requests) == 1
    assert "The key is revoked." in told.stderr and "Line 6 is the first without an answer." in told.stderr
    # If no line is left, all were submitted.
    service, told = batch([(200, {}, text.encode())], LINES[:5], "--size", "4")
    assert told.returncode == 0 and len(told.stdout.split()) == 4, told


def test_answers_belong_to_the_lines_that_they_name(batch):
    refusal = json.dumps({"line": 2, "status": 422, "problem": {"detail": "no"}}) + "\n"
    _, told = batch([(200, {}, (refusal + accepted(3) + accepted(1)).encode())], LINES[:4])
    assert told.returncode == 1 and told.stderr == "redial batch: line 3: no\n"
    _, told = batch([(200, {}, (accepted(1) + accepted(3)).encode())], LINES[:4])
    assert told.returncode == 3 and "Line 3 is the first without an answer." in told.stderr
    assert "may have been accepted" in told.stderr
    _, told = batch([(200, {}, b"<html>hello</html>")], LINES[:4])
    assert told.returncode == 3 and "Line 1 is the first without an answer." in told.stderr


def test_after_a_failure_nothing_more_is_read_and_the_last_answered_line_is_told(receiver):
    answers = iter([(200, {}, (accepted(1) + accepted(2)).encode())])
    refusal = (507, {}, b'{"detail": "The disk is full."}')
    service = receiver(lambda request: next(answers, refusal))
    process = subprocess.Popen(
        [BINARY, "batch", "--size", "2", "--url", service.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment())
    sent = 0
    try:
        # An endless input: only a command that stops reading ends.
        with pytest.raises(BrokenPipeError):
            while sent < 1 << 30:
                sent += os.write(process.stdin.fileno(), b"{}\n" * 10_000)
        told = process.stderr.read().decode()
        assert process.wait(BOUND) == 4
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(BOUND)
    assert "The disk is full.\n2 calls were accepted, 0 refused, up to line 2. Line 3 is the first" in told
    assert len(service.requests) == 2 and sent < 16 << 20


def test_under_a_key_a_line_has_the_same_key_whenever_the_file_is_sent(redial, receiver, tmp_path):
    target, service, file = receiver(), redial(), tmp_path / "calls.ndjson"
    lines = [json.dumps({"url": f"{target.url}/{n}", "delay": "1h"}) + "\n" for n in range(1100)]
    lines.insert(700, "\n")
    file.write_text("".join(lines[:600]))
    batch = ["batch", file, "--idempotency-key", "today", "--url", service.url]
    first = run(*batch).stdout.split()
    assert len(set(first)) == 600
    file.write_text("".join(lines))
    whole = run(*batch).stdout.split()
    assert whole[:600] == first and len(set(whole)) == 1100
    assert run(*batch).stdout.split() == whole
    sized = run(*batch, "--size", "10")
    assert sized.returncode == 2 and "--size cannot be given with --idempotency-key" in sized.stderr


def test_blank_lines_do_not_change_the_key_of_a_descriptor(redial, receiver, tmp_path):
    service, target = redial(), receiver()
    descriptors = [json.dumps({"url": target.url, "delay": "1h", "labels": {"n": str(n)}}) for n in range(600)]
    file = tmp_path / "calls.ndjson"

    def submitted(text):
        file.write_text(text)
        told = run("batch", file, "--server", service.url, "--idempotency-key", "night")
        assert told.returncode == 0, told.stderr
        return told.stdout.split()

    first = submitted("\n".join(descriptors))
    assert len(set(first)) == 600
    assert submitted("\n\n" + "\n".join(descriptors)) == first
    assert submitted("\n \n".join(descriptors)) == first

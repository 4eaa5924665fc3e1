"""The examples are a package of their own, built in release as users build them; they run, and the documentation shows
them.
"""

import functools
import http.server
import re
import threading
import time

import pytest
import tenacity
import tenacity_uses

import samples
from processes import ROOT

pytestmark = pytest.mark.part("builds")

EXAMPLE = ROOT / "Tests/Embedding"


@functools.cache
def built():
    # The compiler has crashed over this library in release builds, never in debug builds.
    built = samples.swift("build", "-q", "-c", "release", package=EXAMPLE, seconds=900)
    assert built.returncode == 0, built.stdout[-8000:]


def program(name, *arguments):
    built()
    return samples.swift("run", "--skip-build", "-c", "release", name, *arguments, package=EXAMPLE, seconds=60)


def test_the_example_rides_out_failures_and_says_what_it_cannot():
    ran = program("weather")
    assert ran.returncode == 0, ran.stdout
    answers = [line for line in ran.stdout.splitlines() if line and not line.startswith(" ")]
    events = [line.strip() for line in ran.stdout.splitlines() if line.startswith(" ")]
    assert answers[:2] == ["Bergen: 9 °C", "Oslo: 4 °C"]
    assert all(re.match(r"Svalbard: its line is down; ask again in [0-4]\.", line) for line in answers[2:4]), answers
    assert answers[4:] == ["Atlantis: there is no such station"]
    assert any(line.startswith("Oslo: succeeded at attempt 3") for line in events), events
    assert events.count("Svalbard: breaker closed → open") == 1
    # The second request finds the breaker open, and is not sent.
    assert sum(line.startswith("Svalbard: attempt") and line.endswith("begins") for line in events) == 3


def test_runs_that_succeed_leave_nothing_in_memory():
    """Each kept 710 bytes until its timeout had passed."""
    ran = program("many", "50000")
    assert ran.returncode == 0, ran.stdout
    grown = dict(re.findall(r"^(.*): .* a run, (-?\d+) bytes$", ran.stdout, re.M))
    assert list(grown) == ["by default", "no timeout", "a retrier", "a task group with a sleep"], ran.stdout
    for name in ["by default", "no timeout", "a retrier"]:
        assert int(grown[name]) < 50_000 * 100, ran.stdout


def test_the_page_shows_the_example():
    program = "".join(file.read_text() for file in sorted(EXAMPLE.rglob("*.swift")))
    shown = re.findall(r"^```swift\n(.*?)^```", samples.EXCERPTS.read_text(), re.M | re.S)
    assert shown
    for excerpt in shown:
        assert excerpt in program, f"{samples.EXCERPTS} shows what the example does not have:\n{excerpt}"


class Busy(http.server.BaseHTTPRequestHandler):
    """A server that once answers with Retry-After: 1."""

    asked = 0

    def do_GET(self):
        Busy.asked += 1
        self.send_response(503 if Busy.asked == 1 else 200)
        if Busy.asked == 1:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"here")

    def log_message(self, *arguments):
        pass


def test_the_five_uses_do_what_the_page_says():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        ran = program("uses", f"http://127.0.0.1:{server.server_port}/")
    finally:
        server.shutdown()
    assert ran.returncode == 0, ran.stdout
    version = re.search(r'redialVersion = "(.*)"', (ROOT / "Sources/RedialCore/Version.swift").read_text())[1]
    assert ran.stdout.splitlines()[-8:] == [
        f"version: {version}",
        "try again: attempt 3",
        "try again: refused at attempt 1",
        "bounded: attempt 2",
        "guarded: tripped",
        "guarded: asked",
        "load: here, as late as asked",
        "fallback: stale after 3",
    ], ran.stdout
    assert Busy.asked == 2


def test_the_page_shows_the_five_uses():
    """Redial's column of the table is the code that this test runs."""
    uses = " ".join((EXAMPLE / "Sources/uses/Uses.swift").read_text().split())
    rows = re.findall(r"^\| \*\*(.*?)\*\* \| `(.*?)` \|", (ROOT / "docs/library.md").read_text(), re.M)
    assert len(rows) == 5
    for use, code in rows:
        assert " ".join(code.split()) in uses, (use, code)


class Failing:
    """Fails so many times with an error, then answers with the number of the attempt."""

    def __init__(self, times, error, seconds=0):
        self.times, self.error, self.seconds, self.attempts = times, error, seconds, 0

    def __call__(self):
        self.attempts += 1
        if self.attempts <= self.times:
            time.sleep(self.seconds)
            raise self.error
        return f"attempt {self.attempts}"


def test_tenacity_does_what_the_page_says():
    assert tenacity_uses.try_again(Failing(2, IOError())) == "attempt 3"
    refused = Failing(9, ValueError())
    with pytest.raises(ValueError):
        tenacity_uses.try_again(refused)
    assert refused.attempts == 1
    assert tenacity_uses.bounded(Failing(2, IOError())) == "attempt 3"
    # The bound of 1 s is looked at only after an attempt.
    slow = Failing(9, IOError(), seconds=1.1)
    with pytest.raises(tenacity.RetryError):
        tenacity_uses.bounded(slow)
    assert slow.attempts == 1
    waits = []
    tenacity_uses.load.retry.sleep = waits.append
    assert tenacity_uses.load(Failing(1, tenacity_uses.Busy(7))) == "attempt 2"
    assert waits == [7]
    failing = Failing(9, IOError())
    assert (tenacity_uses.with_fallback(failing), failing.attempts) == ("stale", 3)


def test_the_page_shows_tenacity_as_it_was_run():
    source = " ".join((ROOT / "Tests/Acceptance/tenacity_uses.py").read_text().split())
    cells = [line.rsplit("|", 2)[1] for line in (ROOT / "docs/library.md").read_text().splitlines() if line.startswith("| **")]
    shown = [code for cell in cells for code in re.findall("`(.*?)`", cell)]
    assert (len(cells), len(shown)) == (5, 4)
    for code in shown:
        assert " ".join(code.split()) in source, code
    version = re.search(r"tenacity ([0-9.]+[0-9])", (ROOT / "docs/library.md").read_text())[1]
    assert f"tenacity=={version}\n" in (ROOT / "Tests/Acceptance/requirements.txt").read_text()

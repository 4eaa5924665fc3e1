"""The examples build as a package of their own, in release as users build them, run, and are those that the documentation shows."""

import functools
import re

import samples
from processes import ROOT

EXAMPLE = ROOT / "Tests/Embedding"


@functools.cache
def built():
    # The compiler has crashed over this library in release, and in no debug build.
    built = samples.swift("build", "-q", "-c", "release", package=EXAMPLE, seconds=580)
    assert built.returncode == 0, built.stdout[-8000:]


def program(name):
    built()
    return samples.swift("run", "--skip-build", "-c", "release", name, package=EXAMPLE, seconds=60)


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
    # The second question finds the line down, and is not asked.
    assert sum(line.startswith("Svalbard: attempt") and line.endswith("begins") for line in events) == 3


def test_the_page_shows_the_example():
    program = "".join(file.read_text() for file in sorted(EXAMPLE.rglob("*.swift")))
    shown = re.findall(r"^```swift\n(.*?)^```", samples.EXCERPTS.read_text(), re.M | re.S)
    assert shown
    for excerpt in shown:
        assert excerpt in program, f"{samples.EXCERPTS} shows what the example does not have:\n{excerpt}"

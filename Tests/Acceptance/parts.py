"""The parts of the acceptance tests, and the notes of those that fail.

A test with `@pytest.mark.part("crashes")`, or a file with such a `pytestmark`, is left out unless `--part crashes` asks for that part,
and then the others are. `.ci/run` runs what is in no part and, apart from the others because it compiles, the part "builds".
"""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PARTS = {
    "builds": "programs that embed the library in release, the examples of the documentation, and the integrations",
    "browser": "pages and the dashboard in Chromium",
    "clients": "the clients of other languages when the service fails, their packages, and web frameworks",
    "crashes": "kill -9 at random moments and at each write",
    "database": "a full disk, failover, restore and loss of PostgreSQL, and instances behind a proxy",
    "kubernetes": "the manifests, and what they do to a service",
    "power": "power cuts and failing syncs",
    "prometheus": "Prometheus and the dashboards of Grafana",
    "ratios": "what compares times",
    "schemathesis": "requests that are made from the contract",
}


def addoption(parser):
    parser.addoption("--part", action="append", default=[], choices=[*PARTS], help="the part to run")


def part(item):
    """The part that a test belongs to, or None."""
    if "chromium" in item.fixturenames:
        return "browser"
    mark = item.get_closest_marker("part")
    if mark and mark.args[0] not in PARTS:
        raise pytest.UsageError(f"{item.nodeid}: there is no part {mark.args[0]}")
    return mark and mark.args[0]


def select(config, items):
    wanted = config.getoption("--part")
    chosen = {id(item) for item in items if (part(item) in wanted if wanted else part(item) is None)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = [item for item in items if id(item) in chosen]


def note_failure(item, report):
    """Notes a failed test for the end of the run: what it says, the last lines of the services' logs, and how to repeat it."""
    says = [line[1:].strip() for line in report.longreprtext.splitlines() if line.startswith("E ")][:4]
    if seed := getattr(item, "callspec", None) and item.callspec.params.get("seed"):
        says.append(f"seed {seed}")
    for name, text in report.sections:
        if name.endswith(".log"):
            says += [f"{name}: {line}" for line in text.splitlines()[-2:]]
    # The seed that a test prints.
    says += [line for line in report.capstdout.splitlines() if re.search(r"\bseed\b", line)][:1]
    path = item.path.relative_to(ROOT)
    options = "" if part(item) is None else f" --part {part(item)}"
    subprocess.run(
        [ROOT / "Scripts/failure", item.nodeid.rsplit("/", 1)[-1], f"make acceptance TESTS='{path} -k \"{item.name}\"{options}'"],
        input="\n".join(says), text=True, check=False)

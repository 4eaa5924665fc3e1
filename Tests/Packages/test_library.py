"""The libraries as packages of their own: a program takes them by the URL of a repository, on a system that has a compiler and none of
the headers that the service is built with. What they add to a program is measured.

What is committed is tested. The repositories of swift-log and swift-metrics are stand-ins, which mirrors put in the place of theirs.
"""

import pathlib
import re
import shutil
import subprocess
import time

import pytest

import systems
from processes import ROOT

# What the toolchain needs, as Swift's own instructions for Debian have it, without the headers of other libraries.
COMPILER = "binutils gcc git ca-certificates libc6-dev libstdc++-12-dev libcurl4 libncurses6 libsqlite3-0 libuuid1 libxml2 tzdata"
HEADERS = ["curl.h", "sqlite3.h", "libpq-fe.h", "ssl.h", "zlib.h"]
LIBRARY = ROOT / "Tests/Packages/Library"
OBSERVERS = ROOT / "Tests/Observers"
# The goal: what the library adds to a stripped program.
MOST_ADDED = 2_000_000
BUILD_TIME = 1800


def git(*words, cwd=None):
    subprocess.run(["git", "-c", "user.name=Tests", "-c", "user.email=tests@example.com", *words], cwd=cwd, check=True, capture_output=True)


@pytest.fixture(scope="module")
def machine(bare, tmp_path_factory):
    """A system with a compiler and the repositories."""
    folder = tmp_path_factory.mktemp("machine")
    system = systems.System(bare, folder / "system")
    system.run(f"apt-get -qq install -y --no-install-recommends {COMPILER}", network=True)
    found = [path for name in HEADERS for path in system.path("usr").rglob(name)]
    assert found == []
    clones = folder / "clones"
    clones.mkdir()
    git("clone", "--bare", ROOT, clones / "redial")
    git("update-ref", "refs/heads/main", "HEAD", cwd=clones / "redial")
    git("tag", "-f", "0.1.0", "HEAD", cwd=clones / "redial")
    for name, version in (("swift-log", "1.5.0"), ("swift-metrics", "2.4.0")):
        shutil.copytree(OBSERVERS / "StandIns" / name, clones / name)
        git("init", "-q", cwd=clones / name)
        git("add", "-A", cwd=clones / name)
        git("commit", "-q", "-m", "all", cwd=clones / name)
        git("tag", version, cwd=clones / name)
    system.show(clones, "/clones")
    system.show(pathlib.Path(shutil.which("swift")).resolve().parents[2], "/opt/swift")
    yield system
    system.end()


def swift(machine, package, words):
    """Runs a command of the package manager in the system; its output, and the seconds that it took."""
    begun = time.monotonic()
    output = machine.run(
        f"export PATH=/opt/swift/usr/bin:$PATH LC_ALL=C.UTF-8; cd {package}; swift {words}", seconds=BUILD_TIME)
    return output, time.monotonic() - begun


def sizes(machine, folder, *programs):
    """The bytes of programs once they are stripped."""
    output = machine.run("".join(f"strip -o /tmp/one {folder}/release/{name}; stat -c %s /tmp/one; " for name in programs))
    return [int(line) for line in output.split()]


def ran(machine, program):
    return machine.run(f"LD_LIBRARY_PATH=/opt/swift/usr/lib/swift/linux {program} http://127.0.0.1:9/").strip()


def test_programs_take_the_library_by_its_url_and_grow_by_less_than_two_megabytes(machine):
    shutil.copytree(LIBRARY, machine.path("/library"))
    resolved, seconds = swift(machine, "/library", "package resolve")
    print(f"resolve: {seconds:.0f} s")
    # Without the traits nothing else is fetched.
    assert re.findall(r"^Working copy of (\S+) resolved at (\S+)", resolved, re.M) == [("/clones/redial", "0.1.0")], resolved
    built, seconds = swift(machine, "/library", "build -c release")
    assert "warning:" not in built, built
    print(f"clean release build: {seconds:.0f} s")
    folder = "/library/.build"
    assert ran(machine, f"{folder}/release/core").startswith("retry(after: ")
    assert ran(machine, f"{folder}/release/fetching") == "cannot connect"
    assert "2 attempts" in ran(machine, f"{folder}/release/retrying")
    assert "the connection was refused" in ran(machine, f"{folder}/release/client")
    plain, core, fetching, retrying, client = sizes(machine, folder, "plain", "core", "fetching", "retrying", "client")
    print(f"dynamic: RedialCore {core - plain}, Redial {retrying - fetching}, RedialClient with Redial {client - fetching} bytes more")
    assert 0 < core - plain <= MOST_ADDED and 0 < retrying - fetching <= MOST_ADDED

    # With the run time of Swift inside. The core needs nothing more for it; Foundation's own HTTP is then linked to libcurl.
    folder = "/library/static-core"
    swift(machine, "/library", f"build -c release --static-swift-stdlib --scratch-path {folder} --product plain")
    swift(machine, "/library", f"build -c release --static-swift-stdlib --scratch-path {folder} --product core")
    plain, core = sizes(machine, folder, "plain", "core")
    machine.run("apt-get -qq install -y --no-install-recommends libcurl4-openssl-dev libxml2-dev", network=True)
    folder = "/library/static"
    swift(machine, "/library", f"build -c release --static-swift-stdlib --scratch-path {folder}")
    fetching, retrying, client = sizes(machine, folder, "fetching", "retrying", "client")
    print(f"static: RedialCore {core - plain}, Redial {retrying - fetching}, RedialClient with Redial {client - fetching} bytes more")
    assert 0 < core - plain <= MOST_ADDED and 0 < retrying - fetching <= MOST_ADDED
    assert "2 attempts" in ran(machine, f"{folder}/release/retrying")


def test_a_program_takes_the_observers_by_url(machine):
    manifest = (OBSERVERS / "Package.swift").read_text()
    for old, new in (
        ('.package(name: "redial", path: "../..", ', '.package(url: "file:///clones/redial", branch: "main", '),
        ('.package(path: "StandIns/swift-log")', '.package(url: "https://github.com/apple/swift-log.git", from: "1.5.0")'),
        ('.package(path: "StandIns/swift-metrics")', '.package(url: "https://github.com/apple/swift-metrics.git", from: "2.4.0")'),
    ):
        assert old in manifest, old
        manifest = manifest.replace(old, new)
    folder = machine.path("/observers")
    shutil.copytree(OBSERVERS / "Sources", folder / "Sources")
    (folder / "Package.swift").write_text(manifest)
    for name in ("swift-log", "swift-metrics"):
        swift(machine, "/observers", f"package config set-mirror --original https://github.com/apple/{name}.git --mirror file:///clones/{name}")
    swift(machine, "/observers", "build -c release --product observe")
    output, _ = swift(machine, "/observers", "run -c release --skip-build observe")
    assert "count redial_runs[name=user,result=succeeded] 1" in output and "log debug user: attempt 1 begins" in output

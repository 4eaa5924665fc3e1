"""A program that wraps data keys (`encryptionKeyCommand`) and fails or hangs delays only those who need a new key."""

import pathlib
import threading

import pytest

from processes import Redial, wait_until

# It wraps nothing: it prints what it gets.
PROGRAM = """#!/bin/sh
echo $$ >>{0}/started
[ -e {0}/hang ] && exec sleep 1000
[ -e {0}/closes ] && {{ exec >&-; sleep 1000; exit; }}
[ -e {0}/fail ] && exit 3
exec cat
"""
NEW, OTHER = {"redial-namespace": "new"}, {"redial-namespace": "other"}
CALL = {"url": "http://127.0.0.1:9/", "delay": "10h"}


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request, made, tmp_path, database):
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(tmp_path))
    program.chmod(0o700)
    location = database().url if request.param == "postgresql" else None
    service = Redial(tmp_path, env={"REDIAL_ENCRYPTION_KEY_COMMAND": str(program)}, location=location)
    made.append(service)
    service.folder = tmp_path
    return service.start()


def runs(number):
    """Whether a process still runs. One that nobody has waited for yet is a zombie."""
    try:
        return ") Z " not in pathlib.Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False


def started(service):
    return [int(line) for line in (service.folder / "started").read_text().split()]


@pytest.mark.parametrize("fault", ["hang", "closes", "fail"])
def test_only_who_needs_the_missing_key_waits_or_is_refused(service, fault):
    accepted = wait_until(lambda: (a := service("POST", "/v1/calls", CALL)).status == 202 and a.json["id"], "it accepts calls")
    (service.folder / fault).touch()
    before, refused = len(started(service)), []

    def submit(headers):
        refused.append(service("POST", "/v1/calls", CALL, headers))
    waiting = [threading.Thread(target=submit, args=(headers,)) for headers in (NEW, NEW, NEW)]
    for thread in waiting:
        thread.start()
    wait_until(lambda: len(started(service)) > before, "the program runs")
    # What needs no new key is not delayed, while it hangs and after.
    for _ in range(30):
        assert service("POST", "/v1/calls", CALL).status == 202
        assert service("GET", "/readyz").status == 200
    assert service("PUT", "/v1/policies/p", {"maxAttempts": 3}).status in (200, 201)
    if fault != "fail":
        assert not refused, "the program hung, and somebody was answered"
    for thread in waiting:
        thread.join()
    # On PostgreSQL a client is answered before a commit may be that takes the ten seconds of the program.
    codes = {"storageUnavailable"} if fault == "fail" else {"storageUnavailable", "outcomeUnknown"}
    assert [answer.status for answer in refused] == [503] * 3, refused[0].body
    assert {answer.json["code"] for answer in refused} <= codes, refused[0].body
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)
    wait_until(lambda: not any(map(runs, started(service))), "the programs are gone")
    service.says("keyNotMade")
    # A target's settings are sealed, too; and it works again as soon as the program does.
    (service.folder / fault).unlink()
    assert service("PUT", "/v1/targets/t", {"maxInFlight": 3}, OTHER).status == 200
    made = service("POST", "/v1/calls", CALL, NEW)
    assert made.status == 202, made.body
    service.kill()
    service.start()
    for identity, headers in [(accepted, {}), (made.json["id"], NEW)]:
        assert wait_until(
            lambda: (a := service("GET", f"/v1/calls/{identity}", headers=headers)).status == 200 and a, "it is there").json["url"] == CALL["url"]


def test_a_start_whose_program_hangs_ends_by_itself_and_kills_it(service):
    assert service.terminate() == 0
    (service.folder / "closes").touch()
    service.spawn()
    assert service.process.wait(60) == 3
    assert "did not end within 10 s" in service.log.read_text()
    assert not any(map(runs, started(service)))
    (service.folder / "closes").unlink()
    service.start()

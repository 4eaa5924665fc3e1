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


@pytest.fixture
def pair(made, tmp_path, database):
    """Two instances on one database, each with a program of its own, and half of the shards."""
    cluster, services = database(), []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        program = folder / "program"
        program.write_text(PROGRAM.format(folder))
        program.chmod(0o700)
        service = Redial(folder, env={"REDIAL_ENCRYPTION_KEY_COMMAND": str(program)}, location=cluster.url)
        made.append(service)
        service.folder = folder
        services.append(service.start())

    def owned():
        return sorted(int(count) for count, in cluster.query("SELECT count(*) FROM redial.leases GROUP BY owner", "redial"))
    wait_until(lambda: owned() == [32, 32], "both have shards")
    services[0].owned = owned
    return services


@pytest.mark.parametrize("fault", ["hang", "closes", "fail"])
def test_an_instance_whose_program_fails_gives_away_what_it_cannot_read(pair, receiver, fault):
    (well, lacking), targets = pair, [receiver() for _ in range(12)]

    def submit(headers):
        def accepted(url):
            answer = well("POST", "/v1/calls", {"url": url}, headers)
            return answer.status == 202 and answer.json["id"]
        return [wait_until(lambda: accepted(target.url), "it is accepted") for target in targets]

    def check_succeeded(calls, headers):
        for call in calls:
            wait_until(lambda: well("GET", f"/v1/calls/{call}", headers=headers).json["state"] == "succeeded", f"{call} has succeeded")
    check_succeeded(submit(OTHER), OTHER)
    (lacking.folder / fault).touch()
    calls = submit(NEW)
    # Also what needs no new key is answered, if only with the reason, and not because the store has not answered in time.
    for number in range(40):
        answer = lacking("POST", "/v1/calls", {"url": targets[number % 12].url}, OTHER)
        assert answer.status == 202 or answer.status == 503 and answer.json["code"] != "outcomeUnknown", answer.body
    check_succeeded(calls, NEW)
    lacking.says("keyMissing")
    assert lacking("GET", "/readyz").status == 503
    # As soon as the program works again, it is back.
    (lacking.folder / fault).unlink()
    wait_until(lambda: lacking("GET", "/readyz").status == 200 and well.owned() == [32, 32], "it has shards again")
    check_succeeded(submit(NEW), NEW)
    assert not any("storeFinding" in service.log.read_text() for service in pair)


def test_a_wrong_key_is_not_taken_for_the_right_one(service):
    accepted = wait_until(lambda: (a := service("POST", "/v1/calls", CALL)).status == 202 and a.json["id"], "it accepts calls")
    assert service.terminate() == 0
    program = service.folder / "program"
    right = program.read_text()
    program.write_text("#!/bin/sh\nhead -c 32 /dev/zero | base64\n")
    service.spawn()
    assert service.process.wait(60) == 3
    assert "has printed a wrong key" in service.log.read_text()
    program.write_text(right)
    service.start()
    assert service.get(accepted)["state"] == "scheduled"

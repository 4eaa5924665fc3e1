"""The store's duties for its operator: it keeps what it must, forgets what it may, and reports damage."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import threading

import pytest

from processes import BINARY, BOUND, Constants, environment, run, wait_until


def value(service, name):
    for line in service("GET", "/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.rsplit(" ", 1)[1])
    raise AssertionError(f"/metrics lacks {name}")


def test_finished_calls_go_when_their_time_is_over_and_others_stay(redial, receiver):
    target = receiver()
    service = redial("--retention-time", "1h", "--idempotency-time", "1h", clock=True)
    waiting = service.submit(url=target.url, delay="10h")
    done = [service.submit(url=target.url) for _ in range(20)]
    for identity in done:
        service.ended(identity)
    service.advance(3600)
    for identity in done:
        wait_until(lambda: service("GET", f"/v1/calls/{identity}").status == 404, f"{identity} is gone")
    wait_until(lambda: value(service, "redial_calls_removed_total") == 20, "all are counted")
    assert service.get(waiting)["state"] == "scheduled"
    assert [c["id"] for c in service("GET", "/v1/calls").json["data"]] == [waiting]


def test_large_bodies_and_responses_come_back_as_they_were(redial, receiver):
    text = "All work and no play makes Jack a dull boy. " * 1000
    target = receiver(lambda request: (200, {"content-type": "text/plain"}, text.encode()))
    service = redial()
    call = service.ended(service.submit(url=target.url, method="POST", body=text))
    assert target.next().body.decode() == text
    assert call["response"]["body"] == text
    service.terminate()
    with sqlite3.connect(service.store) as store:
        sizes = store.execute("SELECT length(body), body_size FROM requests").fetchall()
    assert sizes[0][1] == len(text) and sizes[0][0] < len(text) / 10


def test_a_damaged_call_is_told_of_and_stops_nothing_else(redial, receiver):
    target = receiver()
    service = redial()
    key = {"idempotency-key": "k1"}
    descriptor = {"url": target.url, "delay": "1h", "labels": {"order": "17"}, "target": "shop"}
    damaged = service("POST", "/v1/calls", descriptor, key).json["id"]
    whole = service.submit(url=target.url, delay="1h")
    service.terminate()
    with sqlite3.connect(service.store) as store:
        rows = store.execute("SELECT id FROM calls ORDER BY id").fetchall()
        # One byte, so that it is not JSON any more.
        store.execute(
            "UPDATE requests SET spec = CAST(replace(CAST(spec AS TEXT), '\"method\":', '\"method\"!') AS BLOB) WHERE id = ?", rows[0])
        store.execute("UPDATE calls SET due = 1, sum = NULL")
    store.close()
    service.start()
    assert service.ended(whole)["state"] == "succeeded"
    assert value(service, "redial_calls_damaged_total") == 1
    service.says(f'callDamaged callId={damaged} error="{damaged} cannot be read')
    lines = service.log.read_text().count("\n")
    for method, path, body in [
            ("GET", f"/v1/calls/{damaged}", None), ("GET", f"/v1/calls/{damaged}?include=request", None),
            ("GET", f"/v1/calls/{damaged}?wait=20s", None), ("GET", f"/v1/calls/{damaged}/attempts", None),
            ("POST", f"/v1/calls/{damaged}/replay", None), ("POST", f"/v1/calls/{damaged}/cancel", None),
            ("POST", f"/v1/calls/{damaged}/retry", None), ("DELETE", f"/v1/calls/{damaged}/content", None),
            ("POST", "/v1/calls", descriptor)]:
        answer = service(method, path, body, key if body else {})
        assert (answer.status, answer.json["code"]) == (409, "callDamaged"), f"{method} {path}: {answer.body}"
        assert answer.json["call"] == {"id": damaged, "target": "shop", "labels": {"order": "17"}}, answer.body
        assert answer.json["detail"].startswith(f"{damaged} cannot be read: its descriptor is not readable: at byte "), answer.body
    assert service.log.read_text().count("\n") == lines, "asking for it fills the log"
    for query in ("", "?state=failed", "?label=order=17", "?target=shop"):
        listed = {c["id"]: c for c in service("GET", f"/v1/calls{query}").json["data"]}
        assert listed[damaged]["target"] == "shop" and listed[damaged]["labels"] == {"order": "17"}, listed
        assert listed[damaged]["damage"].startswith("its descriptor is not readable: at byte "), listed
        assert "damage" not in listed.get(whole, {})
    report = doctor(service, "--quick")
    found = next(f["examples"][0] for f in report["findings"] if f["check"] == "damaged")
    assert found.count("at byte") == 1 and ": :" not in found, found


def on(service):
    return ("--store", f"sqlite:{service.store}")


def doctor(service, *flags):
    answer = run("doctor", *on(service), "--json", *flags)
    assert answer.returncode in (0, 1), answer
    report = json.loads(answer.stdout)
    assert report["clean"] == (answer.returncode == 0)
    return report


def change(service, sql):
    with sqlite3.connect(service.store) as store:
        store.execute(sql)
    store.close()


def test_doctor_finds_nothing_wrong_with_a_busy_service_or_after_its_death(redial, flaky, receiver):
    service, target, hook = redial("--retention-time", "2s", "--idempotency-time", "1s"), flaky(), receiver()
    stop = threading.Event()

    def load():
        while not stop.is_set():
            service.submit(url=target.url + "/?fail-rate=0.3&delay=5ms", idempotent=True, callback={"url": hook.url},
                           policy={"backoff": {"initial": "5ms"}})

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            report = doctor(service)
            assert report["live"] and report["clean"], report
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    service.kill()
    report = doctor(service)
    assert not report["live"] and report["clean"], report
    service.start()
    text = run("doctor", *on(service))
    assert text.returncode == 0 and "Nothing is wrong" in text.stdout, text


@pytest.mark.parametrize("log", ["write-ahead log", "log of calls", "pages of the log of calls"])
def test_doctor_names_damage_of_a_log_in_the_words_of_the_start(redial, receiver, log):
    service, target = redial(), receiver()
    for _ in range(20):
        service.submit(url=target.url)
    service.kill()
    if log == "write-ahead log":
        path = pathlib.Path(f"{service.store}-wal")
    else:
        path = pathlib.Path(service.store)
        with contextlib.closing(sqlite3.connect(path)) as database:
            root = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'call_log'").fetchone()[0]
            if log == "log of calls":
                database.execute("UPDATE call_log SET changes = zeroblob(length(changes))")
                database.commit()
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    if log == "write-ahead log":
        content[32 + 24 + 100] ^= 1
    if log == "pages of the log of calls":
        content[(root - 1) * 4096:root * 4096] = bytes(4096)
    path.write_bytes(content)
    before = len(service.log.read_text())
    service.spawn()
    assert service.process.wait(BOUND) == 3
    reason = service.log.read_text()[before:]
    report = doctor(service)
    examples = next(f["examples"] for f in report["findings"] if f["check"] == "integrity")
    assert not report["clean"] and any(example in reason for example in examples), f"{reason}\n{report}"
    answer = run("doctor", *on(service))
    assert answer.returncode == 1 and "Something is wrong" in answer.stdout, answer


def test_doctor_names_what_is_wrong_and_metrics_show_what_is_late(redial, receiver):
    target = receiver()
    service = redial(Constants(storeWatchInterval="100ms"))
    identity = service.submit(url=target.url)
    service.ended(identity)
    waiting = service.submit(url=target.url, delay="1h")
    wait_until(lambda: value(service, 'redial_store_findings{check="overdue"}') == 0, "a look at the store")
    wait_until(
        lambda: value(service, 'redial_store_finished_calls{kind="call",state="succeeded"}') == 1, "the kept count")
    # The engine knows when it is due, and checks no earlier: the row is one that it should have found long ago.
    change(service, "UPDATE calls SET due = 1, sum = NULL WHERE state = 0")
    # And it has had the time for it.
    change(service, "UPDATE settings SET value = '1' || substr(value, instr(value, ' ')) WHERE name = 'serviceTime'")
    report = doctor(service)
    findings = {f["check"]: f for f in report["findings"]}
    assert findings["overdue"]["count"] == 1 and waiting in findings["overdue"]["examples"][0], report
    wait_until(lambda: value(service, 'redial_store_findings{check="overdue"}') == 1, "the finding in the metrics")
    service.says("storeFinding")
    service.terminate()
    change(service, "UPDATE calls SET attempts = 7, sum = NULL WHERE state = 5")
    answer = run("doctor", *on(service))
    assert answer.returncode == 1 and f"{identity} has ended with 7 attempts" in answer.stdout, answer
    assert "Something is wrong" in answer.stdout


def test_doctor_says_when_it_cannot_check(tmp_path):
    for content in (None, b"no database"):
        path = tmp_path / "x.db"
        if content:
            path.write_bytes(content)
        answer = run("doctor", "--store", f"sqlite:{path}")
        assert answer.returncode == 2 and str(path) in answer.stderr, answer
    assert os.listdir(tmp_path) == ["x.db"]


def test_a_backup_of_a_running_service_is_a_store_that_runs(redial, receiver, tmp_path):
    target = receiver()
    service = redial()
    done = [service.submit(url=target.url) for _ in range(10)]
    for identity in done:
        service.ended(identity)
    waiting = service.submit(url=target.url, delay="1h")
    folder = tmp_path / "restored"
    folder.mkdir()
    copy = folder / "redial.db"
    answer = run("backup", *on(service), copy)
    assert answer.returncode == 0 and str(copy) in answer.stdout, answer
    assert str(copy.stat().st_size) in answer.stdout
    again = run("backup", *on(service), copy)
    assert again.returncode == 1 and "not overwritten" in again.stderr, again
    after = service.submit(url=target.url)
    secret = run("webhook-secret", *on(service)).stdout
    service.terminate()
    # The secrets in it are encrypted by the key beside the store.
    shutil.copy(f"{service.store}.key", f"{copy}.key")
    restored = redial(folder=folder)
    assert doctor(restored)["clean"]
    for identity in done:
        assert restored.get(identity)["state"] == "succeeded"
    assert restored.get(waiting)["state"] == "scheduled"
    assert restored("GET", f"/v1/calls/{after}").status == 404
    assert run("webhook-secret", *on(restored)).stdout == secret


@pytest.mark.parametrize("command", [["backup"], ["export", "-o"]], ids=["backup", "export"])
def test_a_backup_or_export_that_is_ended_leaves_nothing_under_its_name_and_the_next_one_works(redial, receiver, tmp_path, command):
    service, target, file = redial(), receiver(), tmp_path / "out"
    done = service.submit(url=target.url, method="POST", body=os.urandom(200_000).hex())
    service.ended(done)
    # The signal for a file that is too long ends it in the middle.
    ended = subprocess.run(
        ["prlimit", "--fsize=100000", BINARY, *command, file, *on(service)], capture_output=True, env=environment(),
        timeout=BOUND)
    assert ended.returncode != 0 and not file.exists(), ended
    again = run(*command, file, *on(service))
    assert again.returncode == 0 and file.stat().st_size > 100_000, again
    assert sorted(f.name for f in tmp_path.iterdir() if f.name.startswith("out")) == ["out"]


def test_what_is_exported_is_imported_elsewhere_and_goes_on_there(redial, receiver, tmp_path):
    target = receiver()
    service = redial()
    done = service.submit(url=target.url, body="hello", method="POST")
    service.ended(done)
    waiting = [service.submit(url=target.url + f"/{n}", delay="1h") for n in range(3)]
    exported = run("export", *on(service), "--state", "scheduled")
    assert exported.returncode == 0 and len(exported.stdout.splitlines()) == 3, exported
    assert [json.loads(line)["id"] for line in exported.stdout.splitlines()] == waiting
    everything = tmp_path / "all.ndjson"
    answer = run("export", "--calls", *on(service), "-o", everything)
    assert answer.returncode == 0 and "wrote 4 calls to" in answer.stdout, answer
    assert run("export", *on(service), "-o", everything).returncode == 1, "an export overwrites nothing"
    refused = run("import", *on(service), everything)
    assert refused.returncode == 1 and "in use by another process" in refused.stderr, refused
    service.kill()

    folder = tmp_path / "other"
    folder.mkdir()
    store = ("--store", f"sqlite:{folder}/redial.db")
    lines = everything.read_text().splitlines()
    broken = "\n".join([lines[0], "{nonsense", lines[1], lines[2].replace('"url"', '"uri"')]) + "\n"
    answer = run("import", *store, stdin=broken)
    assert answer.returncode == 1, answer
    assert "imported 2 calls; 0 calls already existed, 2 lines are not valid" in answer.stdout, answer
    assert "line 2: " in answer.stderr and "line 4: " in answer.stderr and "uri" in answer.stderr, answer
    answer = run("import", *store, stdin="")
    assert answer.returncode == 1 and "the archive is empty" in answer.stderr, answer
    answer = run("import", *store, everything)
    assert answer.returncode == 0 and "imported 2 calls; 2 calls already existed" in answer.stdout, answer
    other = redial(folder=folder, clock=True)
    assert other.get(done)["state"] == "succeeded"
    other.advance(3600)
    for identity in waiting:
        assert other.ended(identity)["state"] == "succeeded"
    assert doctor(other)["clean"]


def test_a_call_that_its_process_never_survives_ends(redial, flaky):
    service, target = redial(), flaky()
    identity = service.submit(url=target.url + "/?delay=60s", policy={"deadline": "1h", "attemptTimeout": "5m"})

    def begins(attempt):
        call = service.get(identity)
        assert call["attemptCount"] <= attempt, "an attempt began that nothing asked for"
        return call["state"] == "failed" or call["state"] == "running" and call["attemptCount"] == attempt

    for attempt in range(1, 30):
        wait_until(lambda: begins(attempt), f"attempt {attempt} begins and is counted, or the call ends")
        if service.get(identity)["state"] == "failed":
            break
        service.kill()
        service.start()
    call = service.get(identity)
    assert call["state"] == "failed" and 2 <= call["attemptCount"] <= 20, call
    assert all(a["outcome"] == "interrupted" for a in call["attempts"]), call
    assert doctor(service)["clean"]

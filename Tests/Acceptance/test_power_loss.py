"""The guarantees hold if the machine dies, not only the process: unsynced writes are then lost, torn or kept. The shim
keeps an image of what a disk would have. A failed sync drops its writes, as on Linux: they can be read until the
machine dies, and no later successful sync brings them back. The service ends then, and is started again.
"""

import base64
import json
import os
import pathlib
import sqlite3
import time

import pytest

from crashes import CrashLoop, FLAGS, Target, assert_nothing_lost, rounds_wanted
from faults import Faults
from processes import wait_until

pytestmark = pytest.mark.part("power")


@pytest.fixture
def target(made, tmp_path):
    server = Target(tmp_path, seed=2)
    made.append(server)
    return server


def test_what_was_answered_with_202_outlives_power_cuts_and_failing_syncs(redial, target, tmp_path):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    service = redial(*FLAGS, env=faults.env)
    cuts, exits = [], []

    def cut():
        cuts.append(["lost", "torn", "kept", "torn"][len(cuts) % 4])
        faults.cut_power(cuts[-1], loop.chance)

    loop = CrashLoop(service, target, seed=5, after_kill=cut)

    def during():
        if loop.chance.random() < 0.5:
            return
        before = time.monotonic()
        faults.on("fail-sync")
        time.sleep(loop.chance.uniform(0, 0.1))
        faults.off("fail-sync")
        if service.process.poll() is None:
            return
        # It ended by itself, which interrupts what is in flight as a kill does.
        loop.kills.append((before, time.monotonic()))
        exits.append(service.process.returncode)
        # The power fails before the service is started again, or after.
        if loop.chance.random() < 0.5:
            service.start()
            time.sleep(loop.chance.uniform(0, 0.3))

    load = loop.rounds(rounds_wanted(15), during)
    figures = loop.check(load)
    print("\n" + json.dumps(
        {**figures, "failedSyncs": len(exits), "cuts": {kind: cuts.count(kind) for kind in set(cuts)}}))
    assert_nothing_lost(figures)
    assert exits and set(exits) == {6}, f"the service ended with {exits} when a sync failed"
    assert {"lost", "torn"} <= set(cuts)
    loop.check_store()


def submit_much(service, url, megabytes):
    """Calls with bodies of that size, which cannot be compressed."""
    body = base64.b64encode(os.urandom(90 << 10)).decode()
    return [service.submit(url=f"{url}/{number}", body=body, delay="1h") for number in range(megabytes * 8)]


def test_a_checkpoint_that_cannot_write_is_reported_until_the_whole_log_is_moved(redial, target, tmp_path):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    service = redial(env=faults.env)
    log = pathlib.Path(f"{service.store}-wal")
    answered = submit_much(service, target.url, 2)
    faults.on("fail-file-write")
    # The log can be written, so calls are accepted.
    answered += submit_much(service, target.url, 20)
    assert log.stat().st_size > 18 << 20, "the log was begun again, and what it had is not in the file"
    assert service("GET", "/readyz").status == 200
    assert service.metrics()["redial_store_checkpoint_failing"] == 1
    service.says("checkpointFailed")
    assert service.log.read_text().count("checkpointFailed") == 1, "once, and not with every commit"
    # A read transaction of this moment keeps later pages in the log.
    reader = sqlite3.connect(f"file:{service.store}?mode=ro", uri=True, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM calls").fetchone() == (len(answered),)
    before = pathlib.Path(service.store).stat().st_size
    faults.off("fail-file-write")

    def is_moved_in_part():
        answered.extend(submit_much(service, target.url, 1))
        return pathlib.Path(service.store).stat().st_size > before + (10 << 20)

    wait_until(is_moved_in_part, "what the reader allows is moved")
    answered += submit_much(service, target.url, 2)
    # SQLite does not sync the file until the whole log is moved: nothing is known about the disk yet.
    assert service.metrics()["redial_store_checkpoint_failing"] == 1
    assert "checkpointSucceeded" not in service.log.read_text()
    reader.close()

    def is_moved():
        # The log is checked at each commit.
        answered.extend(submit_much(service, target.url, 1))
        return service.metrics()["redial_store_checkpoint_failing"] == 0

    wait_until(is_moved, "the whole log is moved")
    log_text = service.log.read_text()
    assert (log_text.count("checkpointFailed"), log_text.count("checkpointSucceeded")) == (1, 1)
    service.kill()
    faults.cut_power("lost")
    service.start()
    assert [service("GET", f"/v1/calls/{identity}").status for identity in answered] == [200] * len(answered)
    assert service.terminate() == 0
    with sqlite3.connect(service.store) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_disk_that_lies_about_its_syncs_is_found_out_by_these_tests(redial, target, tmp_path):
    # Without it the test above might never be able to fail.
    faults = Faults(tmp_path, tmp_path / "redial.db")
    service = redial(*FLAGS, env=faults.env)
    faults.on("lying-sync")
    answered = [service.submit(url=f"{target.url}/{number}") for number in range(20)]
    service.kill()
    faults.cut_power("lost")
    service.start()
    assert [service("GET", f"/v1/calls/{identity}").status for identity in answered] == [404] * 20

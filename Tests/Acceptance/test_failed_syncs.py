"""After a sync that failed nothing is trusted that was written since the last one that succeeded: the service ends, and the next one
begins with what it can make durable. Power cuts before, between and behind its writes lose nothing that was answered with 202."""

import base64
import http.client
import os
import pathlib
import random
import sqlite3
import time

import pytest

from faults import Faults
from processes import BOUND, wait_until
from recording import Recording

# Where a build took no notice of its failed syncs, it is killed after so many calls.
PATIENCE = 260
CUTS = int(os.environ.get("REDIAL_POWER_CUTS", 40))
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
SYNC_FAILED = 6


def number_of(identity):
    """The key of a call's row."""
    value = 0
    for character in identity.removeprefix("call_").lower():
        value = value * 32 + ALPHABET.index(character)
    return value


class Client:
    """Submits calls, and notes when each was accepted."""

    def __init__(self, service):
        self.service = service
        self.accepted = []

    def submit(self, kilobytes=90):
        """The status; none when the service is gone."""
        body = base64.b64encode(os.urandom(kilobytes * 750)).decode()
        try:
            answer = self.service("POST", "/v1/calls", {"url": "http://127.0.0.1:9/", "body": body, "delay": "1h"})
        except (OSError, http.client.HTTPException):
            return None
        if answer.status == 202:
            self.accepted.append((time.monotonic(), number_of(answer.json["id"])))
        return answer.status

    def submit_until_gone(self, kilobytes=90):
        """Submits until the service has ended; answers its exit code, or kills it."""
        for _ in range(PATIENCE):
            if self.submit(kilobytes) is None:
                return self.service.process.wait(BOUND)
        self.service.kill()
        return None


def check_cuts(recording, client, folder, since):
    """Every image of the disk is sound, and has what was accepted until then."""
    chance = random.Random(7)
    image = folder / "image.db"
    tried, broken = 0, []
    for at, what, files in recording.cuts(CUTS, chance, since):
        for suffix in ("", "-wal", "-shm", "-journal"):
            pathlib.Path(f"{image}{suffix}").unlink(missing_ok=True)
        for suffix, content in files.items():
            pathlib.Path(f"{image}{suffix}").write_bytes(content)
        tried += 1
        wanted = {number for accepted, number in client.accepted if accepted < at}
        try:
            with sqlite3.connect(image) as database:
                found = {number for (number,) in database.execute("SELECT id FROM calls NOT INDEXED")}
                verdict = database.execute("PRAGMA integrity_check(3)").fetchall()
            if verdict != [("ok",)]:
                broken.append((what, str(verdict)))
            elif wanted - found:
                broken.append((what, f"{len(wanted - found)} of {len(wanted)} calls lost"))
        except sqlite3.DatabaseError as error:
            broken.append((what, str(error)))
    print(f"{tried} power cuts, {len(broken)} of them with a loss")
    assert tried >= CUTS
    assert not broken, f"{len(broken)} of {tried}: {broken[:3]}"


@pytest.mark.parametrize("fault", ["fail-file-sync", "fail-log-sync"])
@pytest.mark.parametrize("has_reader", [False, True], ids=["alone", "with-reader"])
@pytest.mark.parametrize("is_evicted", [False, True], ids=["cached", "evicted"])
def test_a_failed_sync_loses_nothing_at_any_power_cut(redial, tmp_path, made, fault, has_reader, is_evicted):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    recording = Recording(faults)
    service = redial("--log-level", "warning", env=faults.env)
    client = Client(service)
    reader = None
    for _ in range(10):
        assert client.submit() == 202
    if has_reader:
        # It keeps the index of the log, as `redial backup` or a shell would; it holds no snapshot.
        reader = sqlite3.connect(f"file:{service.store}?mode=ro", uri=True, check_same_thread=False)
        assert reader.execute("SELECT count(*) FROM calls").fetchone() == (10,)
    since = time.monotonic()
    faults.on(fault)
    code = client.submit_until_gone()
    faults.off(fault)
    if is_evicted:
        recording.evict()
    service.start()
    # What the log held is moved, and the log begun anew: what was lost is now nowhere else.
    answers = [client.submit() for _ in range(20)]
    time.sleep(0.2)
    answers += [client.submit(10) for _ in range(20)]
    if not (code == SYNC_FAILED and answers == [202] * 40):
        print("the exit code was", code, "and the answers", answers)
    service.kill()
    if reader:
        reader.close()
    check_cuts(recording, client, tmp_path, since)
    assert code == SYNC_FAILED
    assert answers == [202] * 40
    assert "syncFailed" in service.log.read_text()

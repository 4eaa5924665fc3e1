"""After a failed sync nothing that was written since the last successful one is trusted: the service ends, and the next
one begins with what it can make durable. Power cuts before, between and after its writes lose no call that was answered
with 202.
"""

import base64
import http.client
import os
import pathlib
import random
import sqlite3
import struct
import subprocess
import sys
import time

import pytest

from faults import Faults
from recording import Recording

pytestmark = pytest.mark.part("power")

# So many calls cause a checkpoint, after which the log starts again.
PATIENCE = 600
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
    """Submits calls, and records when each was accepted."""

    def __init__(self, service):
        self.service = service
        self.accepted = []

    def submit(self, kilobytes=90):
        """The status; none if the service has ended."""
        body = base64.b64encode(os.urandom(kilobytes * 750)).decode()
        try:
            answer = self.service("POST", "/v1/calls", {"url": "http://127.0.0.1:9/", "body": body, "delay": "1h"})
        except (OSError, http.client.HTTPException):
            return None
        if answer.status == 202:
            self.accepted.append((time.monotonic(), number_of(answer.json["id"])))
        return answer.status

    def submit_until_gone(self, kilobytes=90):
        """Submits until the service has ended; returns its exit code, or kills it if it continues after a failure."""
        for _ in range(PATIENCE):
            if self.submit(kilobytes) is None or "Failed" in self.service.log.read_text():
                break
        try:
            return self.service.process.wait(2)
        except subprocess.TimeoutExpired:
            self.service.kill()
            return None


class Reader:
    """Another process that has the file open, as `redial backup` or a shell would. In this process it would lose its
    locks as soon as one of the files was read and closed.
    """

    CODE = """
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None)
for line in sys.stdin:
    print(database.execute(line).fetchall(), flush=True)
"""

    def __init__(self, store):
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.CODE, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, sql):
        self.process.stdin.write(sql + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.communicate()


def moved_pages(service):
    """How many pages of the log count as moved, by the log's index."""
    with open(f"{service.store}-shm", "rb") as index:
        return struct.unpack_from("=I", index.read(), 96)[0]


def log_salt(service):
    """Changes when the log starts again."""
    with open(f"{service.store}-wal", "rb") as log:
        return log.read(24)[16:]


def check_cuts(recording, client, folder, since):
    """Every image of the disk is sound, and contains all calls that were accepted until then."""
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
    assert tried >= min(CUTS, 40)
    assert not broken, f"{len(broken)} of {tried}: {broken[:3]}"


@pytest.mark.parametrize("fault", ["fail-file-sync", "fail-log-sync"])
@pytest.mark.parametrize("has_reader", [False, True], ids=["alone", "with-reader"])
@pytest.mark.parametrize("is_evicted", [False, True], ids=["cached", "evicted"])
def test_a_failed_sync_loses_nothing_at_any_power_cut(redial, tmp_path, made, fault, has_reader, is_evicted):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    recording = Recording(faults)
    # Without a reserve the log grows to its full length.
    service = redial("--log-level", "warning", "--reserve-bytes", "0", env=faults.env)
    client = Client(service)
    reader = None
    for _ in range(10):
        assert client.submit() == 202
    if has_reader:
        # It keeps the index of the log.
        reader = Reader(service.store)
        made.append(reader)
        for _ in range(100):
            assert client.submit() == 202
        # While it has a read transaction, later pages are not moved: the pages before it count as moved, and the file
        # is not synced.
        reader("BEGIN")
        assert reader("SELECT count(*) FROM calls") == "[(110,)]"
        while moved_pages(service) == 0:
            assert client.submit() == 202
    since = time.monotonic()
    faults.on(fault)
    if has_reader:
        reader("COMMIT")
    code = client.submit_until_gone()
    faults.off(fault)
    if has_reader and fault == "fail-file-sync":
        assert moved_pages(service) > 0
    if is_evicted:
        recording.evict()
    service.start()
    before = log_salt(service)
    answers = [client.submit() for _ in range(20)]
    # The log's pages are moved, and the log starts again: lost pages are then nowhere else.
    while len(answers) < PATIENCE and log_salt(service) == before:
        answers.append(client.submit())
    answers += [client.submit(10) for _ in range(20)]
    assert log_salt(service) != before
    if code != SYNC_FAILED or set(answers) != {202}:
        print("the exit code was", code, "and the answers", set(answers))
    service.kill()
    if reader:
        assert "[(" in reader("SELECT count(*) FROM calls")
        reader.end()
    check_cuts(recording, client, tmp_path, since)
    assert code == SYNC_FAILED
    assert set(answers) == {202}
    service.says("syncFailed")

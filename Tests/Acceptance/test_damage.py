"""One bit, or one block, changes in a store, in its log, in a backup or in an export: it is reported each time, and nothing else is
lost. No call has another content without a word. `REDIAL_DAMAGE_ROUNDS` is the number of changes (40), `REDIAL_CRASH_SEED` their seed.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import sqlite3

import pytest

from processes import Redial, run

pytestmark = pytest.mark.part("damage")

CALLS = 240
ROUNDS = int(os.environ.get("REDIAL_DAMAGE_ROUNDS", 40))
SEED = int(os.environ.get("REDIAL_CRASH_SEED", 1))
# A block of a disk, a page of the store, and what a device writes at a time.
BLOCKS = [512, 4096, 16384]
# The calls that one page of the file has, or leads to: so many may be gone with one bit.
MOST_LOST = CALLS // 2
SUFFIXES = ["", "-wal", "-shm"]


def on(folder):
    return ("--store", f"sqlite:{folder}/redial.db")


def lines(text):
    """The calls of an archive, which has other lines, too."""
    return {json.loads(line)["id"]: line for line in text.splitlines() if '"spec":' in line}


class Images:
    """The files of one service: as it left them when it was killed, and when it stopped; a backup, and an export."""

    def __init__(self, redial, receiver, folder):
        self.folder, target = folder / "images", receiver()
        self.folder.mkdir()
        live = folder / "live"
        live.mkdir()
        service = redial("--reserve-bytes", "0", "--log-level", "error", folder=live)
        for number in range(CALLS):
            more = {} if number % 3 else {"delay": "1h", "labels": {"n": str(number)}, "orderingKey": str(number % 7)}
            answer = service("POST", "/v1/calls", {
                "url": f"{target.url}/{number}", "method": "POST", "body": f"{number:04d}" * random.Random(number).randrange(900), **more},
                {"idempotency-key": f"key-{number}"})
            assert answer.status == 202, answer.body
        assert run("backup", *on(live), self.folder / "backup.db").returncode == 0
        service.kill()
        for suffix in SUFFIXES:
            shutil.copy(f"{live}/redial.db{suffix}", f"{self.folder}/killed.db{suffix}")
        service.start()
        assert service.terminate() == 0
        # Readers that end last leave a log, which has nothing new then.
        with contextlib.closing(sqlite3.connect(f"{live}/redial.db")) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(f"{live}/redial.db", self.folder / "stopped.db")
        (self.folder / "export.jsonl").write_text(run("export", *on(live)).stdout)
        self.wanted = {}
        for name in ("killed", "stopped", "backup"):
            place = self.laid_out(name, folder / f"whole-{name}")
            assert run("import", *on(place), stdin="").returncode == 0
            self.wanted[name] = lines(run("export", *on(place)).stdout)
            assert len(self.wanted[name]) == CALLS, name

    def laid_out(self, name, place):
        """A folder with a store of these files."""
        place.mkdir()
        for suffix in SUFFIXES if name == "killed" else [""]:
            shutil.copy(f"{self.folder}/{name}.db{suffix}", f"{place}/redial.db{suffix}")
        return place


def damage(file, chance):
    """Changes a bit or a block of a file; what was changed, in words."""
    content = bytearray(file.read_bytes())
    if chance.random() < 0.6:
        place, bit = chance.randrange(len(content)), chance.randrange(8)
        content[place] ^= 1 << bit
        what = f"bit {bit} of byte {place} of {len(content)}"
    else:
        size = chance.choice(BLOCKS)
        place = chance.randrange(max(1, len(content) // size)) * size
        end = min(len(content), place + size)
        content[place:end] = chance.choice([bytes(end - place), chance.randbytes(end - place)])
        what = f"{size} bytes at {place} of {len(content)}"
    if file.read_bytes() == content:
        return None
    file.write_bytes(content)
    return what


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def refuses(folder, serves):
    """Whether a store is not opened, with a reason, and unchanged; the index of the log may change, which SQLite makes anew."""
    before = files(folder)
    if serves:
        service = Redial(folder, "--reserve-bytes", "0")
        try:
            service.start()
        except AssertionError:
            pass
        code, reason = service.process.poll(), service.log.read_text()
        if code is None:
            assert service.terminate() == 0
        service.log.unlink()
        is_refused = code == 3
        assert code in (None, 3), reason
    else:
        answer = run("import", *on(folder), stdin="")
        is_refused, reason = answer.returncode == 1, answer.stderr
        assert answer.returncode in (0, 1), answer
    if is_refused:
        assert "redial.db" in reason, reason
        after = files(folder)
        # SQLite meets a damaged page of a table or an index only when it needs it, which may be after the first transaction.
        for name, content in before.items() if "malformed" not in reason else ():
            assert name == "redial.db-shm" or after.get(name) == content, f"a refused start has changed {name}: {reason}"
    return is_refused


class Tally:
    """The results, by the file that was damaged."""

    def __init__(self):
        self.counts = collections.Counter()
        self.silent, self.lost = [], collections.Counter()

    def note(self, name, result, lost=0):
        self.counts[name, result] += 1
        self.lost[name] = max(self.lost[name], lost)


def compare(wanted, found):
    """How many calls are missing, and how many are others."""
    return len(wanted.keys() - found.keys()), sum(wanted.get(identity) != line for identity, line in found.items())


def check_store(images, name, suffix, folder, chance, tally, number):
    """Damages a store's file or its log."""
    subject = name if suffix == "" else "log"
    whole = images.wanted[name]
    place = images.laid_out(name, folder)
    what = damage(pathlib.Path(f"{place}/redial.db{suffix}"), chance)
    if what is None:
        return
    what = f"round {number}, seed {SEED}: {what} of {name}{suffix}"
    saved = files(place)
    is_bit = " of byte " in what
    if refuses(place, serves=chance.random() < 0.1):
        # A start that is refused late, because of the tables, has made the index anew.
        for index, content in saved.items():
            (place / index).write_bytes(content)
        new = folder / "new"
        new.mkdir()
        answer = run("salvage", place / "redial.db", new / "redial.db")
        assert answer.returncode in (0, 1), f"{what}: {answer}"
        lost = len(whole)
        if (new / "redial.db").exists():
            assert bool(answer.stderr) == bool(answer.returncode), f"{what}: {answer}"
            lost, changed = compare(whole, lines(run("export", *on(new)).stdout))
            assert answer.returncode or not lost, f"{what}: {lost} calls are missing without a word"
            assert run("import", *on(new), stdin="").returncode == 0, f"{what}: the new store cannot be opened"
        tally.note(subject, "refused", lost if is_bit else 0)
        tally.counts[subject, "callsLostWithABit" if is_bit else "callsLostWithABlock"] += lost
        if suffix and is_bit:
            assert lost <= MOST_LOST, f"{what}: {lost} calls are lost with one bit: {answer.stderr}"
        return
    answer = run("export", *on(place))
    missing, changed = compare(whole, lines(answer.stdout))
    if answer.returncode == 1:
        named = sum("cannot be read" in line or " lacks its " in line or "is damaged" in line for line in answer.stderr.splitlines())
        assert named, f"{what}: {answer.stderr}"
        assert not is_bit or missing <= MOST_LOST, f"{what}: {missing} are missing, {answer.stderr}"
        return tally.note(subject, "named", missing if is_bit else 0)
    report = run("doctor", *on(place))
    if report.returncode:
        assert report.returncode == 1 and "Something is wrong" in report.stdout or report.returncode == 2, report
        return tally.note(subject, "foundByDoctor", missing)
    assert missing == 0, f"{what}: {missing} calls are missing without a word"
    assert changed == 0, f"{what}: {changed} calls are changed without a word"
    tally.note(subject, "harmless")


def check_export(images, folder, chance, tally, number):
    """Damages an export."""
    file = folder / "export.jsonl"
    shutil.copy(images.folder / "export.jsonl", file)
    whole = lines(file.read_text())
    what = damage(file, chance)
    if what is None:
        return
    answer = run("import", *on(folder), file)
    found = lines(run("export", *on(folder)).stdout) if (folder / "redial.db").exists() else {}
    missing, changed = compare(whole, found)
    # If a call with an ordering key is missing, the next one has its turn.
    assert changed == 0 or answer.returncode, f"round {number}, seed {SEED}: {what}: {changed} calls are changed without a word"
    if missing == 0:
        return tally.note("export", "harmless")
    assert answer.returncode == 1 and "line " in answer.stderr, f"round {number}, seed {SEED}: {what}: {answer}"
    # A damaged line break costs two.
    assert missing <= 2 or " of byte " not in what, f"round {number}, seed {SEED}: {what}: {missing} calls are lost"
    tally.note("export", "named", missing)


def test_damage_is_reported_and_costs_nothing_else(redial, receiver, tmp_path):
    images, chance, tally = Images(redial, receiver, tmp_path), random.Random(SEED), Tally()
    kinds = [("killed", "-wal"), ("killed", ""), ("stopped", ""), ("backup", ""), ("export", None)]
    for number in range(ROUNDS):
        folder = tmp_path / "round"
        name, suffix = kinds[number % len(kinds)]
        if suffix is None:
            folder.mkdir()
            check_export(images, folder, chance, tally, number)
        else:
            check_store(images, name, suffix, folder, chance, tally, number)
        shutil.rmtree(folder)
    print("\n" + json.dumps({f"{name}: {result}": count for (name, result), count in sorted(tally.counts.items())}))
    print(json.dumps({"seed": SEED, "mostLostWithABit": tally.lost}))
    assert tally.counts["log", "refused"] > ROUNDS / 20

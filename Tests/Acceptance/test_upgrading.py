"""docs/upgrading.md, and how docs/operating.md restores a backup, walked through as they are written. This binary is the newer
version on a store of schema 22, and the older one on a store that says that a newer version made it."""

import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import textwrap

import databases
from processes import BINARY, BOUND, ROOT, run
from test_replicas import LASTING

PAGE = (ROOT / "docs/upgrading.md").read_text()
OPERATING = (ROOT / "docs/operating.md").read_text()
OLDEST = 22
# The socket too: otherwise the next connection would start the service.
STOP, START = ("systemctl stop redial.socket redial.service", "systemctl start redial.socket redial.service")
RESTART = "systemctl restart redial"


def commands(section, page=PAGE):
    text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]
    for block in re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.M | re.S):
        yield from textwrap.dedent(block).splitlines()


@contextlib.contextmanager
def opened(store):
    """The file of a store. It is closed at once: whoever is the last to close it removes the files beside it."""
    with contextlib.closing(sqlite3.connect(store)) as database, database:
        yield database


def opened_here(folder):
    """The files of a folder that this process has open."""
    found = []
    for descriptor in pathlib.Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += [file for file in [os.readlink(descriptor)] if file.startswith(f"{folder}/redial.db")]
    return found


def schema(store):
    with opened(store) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


def make_older(store):
    """What a version with the oldest schema would have left: without the tables and columns that came later."""
    # Only the attempts of imported calls are never packed.
    copy, lines = (store.parent.with_name(name) for name in ("calls.db", "calls.jsonl"))
    archive = run("export", "--store", f"sqlite:{store}")
    assert archive.returncode == 0, archive.stderr
    lines.write_text(archive.stdout)
    assert run("import", "--store", f"sqlite:{copy}", lines).returncode == 0
    with opened(copy) as database:
        attempts = database.execute("SELECT * FROM attempts").fetchall()
    with opened(store) as database:
        database.execute("DELETE FROM attempts")
        database.executemany(f"INSERT INTO attempts VALUES ({', '.join('?' * len(attempts[0]))})", attempts)
        assert database.execute("SELECT count(*) FROM call_log").fetchone() == (0,), "a stop empties the log"
        database.execute("DROP TABLE call_log")
        for column in ("breaker_until INTEGER", "breaker_trips INTEGER", "overrides BLOB", "paused INTEGER NOT NULL DEFAULT 0",
                       "tripped INTEGER NOT NULL DEFAULT 0"):
            database.execute(f"ALTER TABLE targets ADD COLUMN {column}")
        database.execute("UPDATE targets SET overrides = CAST(CAST(record AS TEXT) -> '$.controls.overrides' AS BLOB)")
        database.execute("ALTER TABLE targets DROP COLUMN record")
        database.execute("CREATE TABLE policies (name TEXT NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL, "
                         "policy BLOB, PRIMARY KEY (name, version)) STRICT, WITHOUT ROWID")
        database.execute("CREATE TABLE operations (id INTEGER PRIMARY KEY, request BLOB NOT NULL, created_at INTEGER NOT NULL, "
                         "state INTEGER NOT NULL, finished_at INTEGER, matched INTEGER NOT NULL, done INTEGER NOT NULL, "
                         "skipped INTEGER NOT NULL, cursor INTEGER, namespace TEXT NOT NULL DEFAULT 'default') STRICT")
        database.execute("DROP INDEX calls_failed")
        database.execute("ALTER TABLE requests DROP COLUMN past")
        for table, column in (("calls", "sum"), ("requests", "sums"), ("attempts", "sum"), ("attempts", "response_sum"), ("retries", "sum"),
                              ("idempotency_keys", "sum"), ("documents", "sum")):
            database.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        database.execute("CREATE TABLE unfinished_counts (shard INTEGER NOT NULL, namespace INTEGER NOT NULL, count INTEGER NOT NULL, "
                         "PRIMARY KEY (shard, namespace)) STRICT, WITHOUT ROWID")
        database.execute(f"PRAGMA user_version = {OLDEST}")


class Machine:
    """Where the page's commands run: with folders in the place of the system's, and a service in that of systemd's."""

    def __init__(self, service, folder):
        self.service, self.folder = service, folder
        self.stopped = self.starting = lambda: None
        for name in ("bin", "new", "old", "backups"):
            (folder / name).mkdir()
        for name in ("new", "old", "bin"):
            shutil.copy(BINARY, folder / name / "redial")

    def run(self, command):
        if command in (STOP, RESTART):
            assert self.service.terminate() == 0
            self.stopped()
        if command in (START, RESTART):
            self.starting()
            self.service.start()
        if not command.startswith("systemctl "):
            for written, real in (("/var/lib/redial", self.service.store.parent), ("/var/backups", self.folder / "backups"),
                                  ("/usr/local/bin", self.folder / "bin"),
                                  ("-o redial -g redial", f"-o {os.getuid()} -g {os.getgid()}")):
                command = command.replace(written, str(real))
            # Otherwise the test would change these files while a command moves or copies them.
            assert not (files := opened_here(self.service.store.parent)), (command, files)
            clean = {name: value for name, value in os.environ.items() if not name.startswith("REDIAL_")}
            clean |= {"PATH": f"{self.folder}/bin:{clean['PATH']}", "REDIAL_SERVER": self.service.url}
            key = self.service.credentials["authorization"].removeprefix("Bearer ")
            done = subprocess.run(
                ["bash", "-c", command], cwd=self.folder, env=clean | {"REDIAL_API_KEY": key}, capture_output=True, text=True,
                timeout=BOUND)
            assert done.returncode == 0, (command, done.stdout, done.stderr)


def new_key(service, name):
    answer = service("POST", "/v1/keys", {"name": name, "scopes": ["admin"]})
    assert answer.status == 201, answer.body
    return {"authorization": f"Bearer {answer.json['key']}"}


def test_the_steps_with_sqlite_lose_nothing_and_lead_back(redial, receiver, tmp_path):
    target, folder = receiver(), tmp_path / "service"
    folder.mkdir()
    service = redial(folder=folder)
    service.credentials = new_key(service, "before")
    machine, newest = Machine(service, tmp_path), schema(service.store)
    assert newest > OLDEST
    assert service("PUT", "/v1/targets/billing", {"maxInFlight": 3}).status == 200
    ended = service.submit(url=target.url, target="billing")
    service.ended(ended)
    waiting = service.submit(url=target.url, target="billing", delay="1h")

    machine.stopped = lambda: make_older(service.store)
    before = []
    machine.starting = lambda: before.append(schema(service.store))
    steps = list(commands("Upgrade with SQLite"))
    assert RESTART in steps and not {STOP, START} & set(steps)
    for step in steps:
        machine.run(step)
    assert (before, schema(service.store)) == ([OLDEST], newest)
    assert service.get(ended)["state"] == "succeeded" and service.get(waiting)["state"] == "scheduled"
    assert service.target("billing")["settings"]["maxInFlight"] == 3
    since = service.submit(url=target.url, target="billing")
    assert service.ended(since)["state"] == "succeeded"
    # What waited in the copy ends, and a key is made that is not in the copy.
    assert service("POST", f"/v1/calls/{waiting}/retry").status == 200
    assert service.ended(waiting)["state"] == "succeeded"
    later = new_key(service, "after")
    assert len(target.requests) == 3

    # With another version it is tried before anything is restored, and changes nothing.
    machine.stopped = machine.starting = lambda: None
    steps = list(commands("Roll back"))
    assert START in steps
    done = steps.index(STOP)
    machine.run(steps[done])
    assert schema(service.store) == newest
    content = None

    def newer(version):
        nonlocal content
        with opened(service.store) as database:
            database.execute(f"PRAGMA user_version = {version}")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = service.store.read_bytes()

    newer(newest + 1)
    refused = run("serve", "--store", f"sqlite:{service.store}", "--listen", "127.0.0.1:0")
    assert refused.returncode == 3 and "newer version" in refused.stderr, refused
    assert service.store.read_bytes() == content
    # The newer version itself can read it.
    newer(newest)
    for step in steps[done + 1:]:
        machine.run(step)
    assert service.get(ended)["state"] == "succeeded" and service.get(since)["state"] == "succeeded"
    assert service.get(waiting)["state"] == "scheduled", "it waits again, as in the copy"
    assert service.target("billing")["settings"]["maxInFlight"] == 3
    assert service("GET", "/v1/calls", headers=later).status == 401
    assert len(target.requests) == 3 and schema(service.store) == newest
    assert (tmp_path / "backups/newer/redial.db").exists()


def test_a_backup_is_restored_as_the_page_about_operating_says(redial, receiver, tmp_path):
    target, folder = receiver(), tmp_path / "service"
    folder.mkdir()
    service = redial(folder=folder)
    machine = Machine(service, tmp_path)
    service.credentials = new_key(service, "operator")
    before = service.submit(url=target.url, delay="1h")
    machine.run(f"redial backup /var/backups/copy.db --store sqlite:{service.store}")
    since = service.submit(url=target.url, delay="1h")
    steps = list(commands("Backup and restore", OPERATING))
    assert (steps[0], steps[-1]) == (STOP, START)
    for step in steps:
        machine.run(step)
    assert service.get(before)["state"] == "scheduled" and service("GET", f"/v1/calls/{since}").status == 404
    assert service.store.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "backups/before/redial.db").exists()


def test_the_third_way_changes_no_call_and_brings_nothing_else(redial, receiver, tmp_path):
    target, folder = receiver(), tmp_path / "newer"
    folder.mkdir()
    service = redial(folder=folder)
    service.credentials = new_key(service, "before")
    ended = service.submit(url=target.url)
    service.ended(ended)
    waiting = service.submit(url=target.url, delay="1h")
    assert service("PUT", "/v1/policies/patient", {"maxAttempts": 3}).status == 201
    assert service.terminate() == 0
    assert run("export", "--calls", "--store", f"sqlite:{service.store}", "--output", tmp_path / "calls.jsonl").returncode == 0
    assert run("import", "--store", f"sqlite:{tmp_path}/redial.db", tmp_path / "calls.jsonl").returncode == 0
    older = redial()
    # Without a key: it is gone, too.
    assert older.get(ended)["state"] == "succeeded" and older.get(waiting)["state"] == "scheduled"
    assert older("GET", "/v1/policies/patient").status == 404
    assert len(target.requests) == 1


def test_the_steps_with_postgresql_lead_back(instances, receiver, tmp_path):
    target = receiver()
    cluster, services = instances(2, *LASTING)
    ended, waiting = (services[0].submit(url=target.url, **more) for more in ({}, {"delay": "1h"}))
    services[0].ended(ended)
    for service in services:
        assert service.terminate() == 0
    here = {
        "PATH": f"{databases.PROGRAMS[0]}:{os.environ['PATH']}", "PGHOST": str(cluster.folder), "PGUSER": "postgres"}
    (tmp_path / "redial").symlink_to(BINARY)

    def walk(command):
        done = subprocess.run(
            ["bash", "-c", command.replace("/var/backups", str(tmp_path)).replace("redial doctor", f"{tmp_path}/redial doctor")],
            env=here, capture_output=True, text=True, timeout=BOUND)
        assert done.returncode == 0, (command, done.stdout, done.stderr)

    steps = list(commands("Several instances on PostgreSQL"))
    assert [step.split()[0] for step in steps] == ["pg_dump", "createdb", "pg_restore", "redial"]
    walk(steps[0])
    # A newer version has changed the tables, and has accepted a call.
    services[0].start()
    since = services[0].submit(url=target.url)
    services[0].ended(since)
    assert services[0].terminate() == 0
    version = int(cluster.query("SELECT version FROM redial.schema_version", "redial")[0][0])
    cluster.query(f"UPDATE redial.schema_version SET version = {version + 1}", "redial")
    refused = run("serve", "--store", cluster.url, "--listen", "127.0.0.1:0")
    assert refused.returncode == 3 and "newer" in refused.stderr and "Nothing was changed" in refused.stderr, refused
    for step in steps[1:]:
        walk(step)
    older = services[0]
    older.arguments[older.arguments.index(cluster.url)] = cluster.url.replace("/redial?", "/redial_before?")
    older.start()
    assert older.get(ended)["state"] == "succeeded" and older.get(waiting)["state"] == "scheduled"
    assert older("GET", f"/v1/calls/{since}").status == 404
    assert older.ended(older.submit(url=target.url))["state"] == "succeeded"


def test_tables_in_use_are_not_upgraded_and_the_first_new_instance_upgrades_them(instances, receiver):
    target = receiver()
    cluster, (old, new) = instances(2, *LASTING)
    waiting = old.submit(url=target.url, delay="1h")
    assert new.terminate() == 0
    code = (ROOT / "Tests/RedialPostgresTests/UpgradeTests.swift").read_text()
    undone = re.search(r"private static let first = \[\n(.*?)^  \]$", code, re.M | re.S)[1]
    statements = [long or short for long, short in re.findall(r'"""\n(.*?)"""|"([^"]+)"', undone, re.S)]
    # The older instance works with the tables of its version.
    cluster.query("UPDATE redial.schema_version SET version = 1", "redial")
    refused = run("serve", "--store", cluster.url, "--listen", "127.0.0.1:0")
    assert refused.returncode == 3 and "Stop all of them" in refused.stderr, refused
    assert old.terminate() == 0
    cluster.query("SET search_path = redial; " + "; ".join(statements), "redial")
    new.start()
    assert cluster.query("SELECT version FROM redial.schema_version", "redial") == [["8"]]
    assert new.get(waiting)["state"] == "scheduled"
    assert new.ended(new.submit(url=target.url))["state"] == "succeeded"

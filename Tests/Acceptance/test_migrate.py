"""`redial migrate` moves everything from a store into another one: from SQLite to PostgreSQL, and back."""

import contextlib
import json
import random
import re
import signal
import sqlite3
import subprocess
import threading

import pytest

import databases
import processes
from processes import BINARY, BOUND, Redial, environment, run, wait_until
from test_replicas import LASTING

KEY = {"idempotency-key": "order-7"}
HOURLY = {"initial": "1h", "max": "1h"}
# Of random digits, so that it stays large when it is compressed.
LARGE = random.Random(7).randbytes(2_500_000).hex()
TEAM = {"team": "payments", "zero": "a\0b", "mark": "\uf8ff"}


def by_path(request):
    """/down fails, and /hang does not answer while a test runs."""
    if request.path.startswith("/down"):
        return 503, {"x-reason": "down"}, b"no" * 3000
    if request.path.startswith("/hang"):
        threading.Event().wait(600)
    return 200, {}, b"yes"


@pytest.fixture(autouse=True)
def set_secret(monkeypatch, request):
    """The service keeps no webhook secret in its store, so none is moved to where it would need a key."""
    if "database" in request.fixturenames and "encrypted" not in request.fixturenames:
        monkeypatch.setitem(processes.ALWAYS, "REDIAL_WEBHOOK_SECRET", processes.WEBHOOK_SECRET)


def migrate(source, destination, code=0, **options):
    answer = run("migrate", "--from", source, "--to", destination, seconds=120, **options)
    assert answer.returncode == code, answer
    return answer


def keyed(target):
    return {"url": target.url, "delay": "2h", "body": "once"}


def place(service):
    return f"sqlite:{service.store}"


def fill(service, target, policy="gently"):
    """A store with calls in every state, and with all that a service stores besides. Returns the ids of the calls."""
    once = {"backoff": {"initial": "10ms"}}
    answer = service("PUT", f"/v1/policies/{policy}", {"maxAttempts": 3, "backoff": HOURLY})
    assert answer.status == 201, answer.body
    assert service("PUT", "/v1/policies/gone", {"maxAttempts": 2}).status == 201
    assert service("DELETE", "/v1/policies/gone").status == 204
    key = service("POST", "/v1/keys", {"name": "ops", "scopes": ["admin"]})
    assert key.status == 201, key.body
    # From the first key on, every request needs one.
    service.credentials = {"authorization": f"Bearer {key.json['key']}"}
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": target.url + "/hooks", "events": ["call.succeeded"]})
    assert endpoint.status == 201, endpoint.body
    calls = {
        "ended": service.submit(url=target.url + "/a?b=1", target="fine – é", labels=TEAM, body="x" * 20_000, method="POST"),
        "large": service.submit(url=target.url, method="POST", body=LARGE),
        "failed": service.submit(url=target.url + "/down", target="failing", policy=once | {"maxAttempts": 3}),
        "callback": service.submit(
            url=target.url, callback={"url": target.url + "/hooks", "events": ["call.succeeded"]}),
        "later": service.submit(url=target.url, delay="1h", priority=7, labels={"team": "later"}),
        "backoff": service.submit(url=target.url + "/down", target="waiting", policy=policy),
        "cancelled": service.submit(url=target.url, delay="1h"),
    }
    answer = service("POST", "/v1/calls", keyed(target), KEY)
    assert answer.status == 202
    calls["keyed"] = answer.json["id"]
    assert service("POST", f"/v1/calls/{calls['cancelled']}/cancel").status == 200
    for name in ("ended", "large", "failed", "callback"):
        service.ended(calls[name])
    assert service("POST", f"/v1/calls/{calls['failed']}/retry", {"by": "ada", "reason": "again"}).status == 200
    service.ended(calls["failed"])
    # A queue: behind a limit, a pause, and the calls of an ordering key.
    assert service("PUT", "/v1/targets/narrow", {"maxInFlight": 1}).status == 200
    calls |= {f"narrow{n}": service.submit(url=target.url + "/hang", target="narrow") for n in range(3)}
    calls |= {f"paused{n}": service.submit(url=target.url, target="paused", delay="1h") for n in range(2)}
    assert service("POST", "/v1/targets/paused/pause").status == 200
    calls |= {
        f"ordered{n}": service.submit(url=target.url, target="ordered", orderingKey="a", delay="1h") for n in range(3)}
    # A breaker that opens.
    for _ in range(12):
        service.submit(url=target.url + "/down", target="broken", policy={"maxAttempts": 9, "backoff": HOURLY})
    assert service("POST", "/v1/targets/broken/trip").status == 200
    operation = service("POST", "/v1/operations", {"action": "retry", "filter": {"target": "none"}})
    assert operation.status in (201, 202), operation.body
    wait_until(lambda: service("GET", "/v1/operations").json["data"][0]["finishedAt"], "the operation ends")
    wait_until(lambda: service.get(calls["narrow0"])["state"] == "running", "the first call is in flight")
    wait_until(lambda: service.get(calls["backoff"])["attempts"], "the first attempt ends")
    return calls


def shown(service, calls):
    """What a service answers about everything that `fill` made, except for what is in flight."""
    answers = {}
    for name, identity in calls.items():
        if name.startswith("narrow"):
            continue
        answers[name] = service.get(identity)
        answers[name + " attempts"] = service("GET", f"/v1/calls/{identity}/attempts").json
    for path in ("/v1/policies", "/v1/policies/gently", "/v1/webhook-endpoints", "/v1/keys", "/v1/operations",
                 "/v1/calls?label=team=payments", "/v1/calls?state=failed", "/v1/calls?label=zero=a%00b"):
        answer = service("GET", path)
        assert answer.status == 200, (path, answer.body)
        answers[path] = answer.json
    for key in ("narrow", "paused"):
        target = service("GET", f"/v1/targets/{key}").json
        answers[key] = {name: target[name] for name in ("key", "paused", "settings", "overrides") if name in target}
    return answers


@pytest.mark.usefixtures("encrypted")
@pytest.mark.parametrize("ending", ["terminate", "kill"])
def test_all_goes_from_sqlite_to_postgresql_and_back(redial, instances, database, receiver, tmp_path, made, ending):
    target, drain = receiver(by_path), ["--drain-timeout", "100ms", "--max-body-bytes", "8000000"]
    service = redial(*drain)
    calls = fill(service, target)
    before = shown(service, calls)
    getattr(service, ending)()
    stored = service.store.read_bytes()
    cluster = database()
    told = migrate(place(service), cluster.url).stdout
    assert "are equal" in told and re.search(r"^  attempts +\d+$", told, re.M), told
    assert service.store.read_bytes() == stored

    # Nobody takes away what is theirs, and a migration waits for the lease of an instance that was killed.
    lease = LASTING if ending == "terminate" else []
    _, (one, two) = instances(2, *drain, *lease, on=cluster)
    one.credentials = two.credentials = service.credentials
    assert shown(one, calls) == before
    assert shown(two, calls) == before
    check_life(one, two, target, calls)
    before = shown(one, calls)
    for instance in (one, two):
        getattr(instance, ending)()

    folder = tmp_path / "back"
    folder.mkdir()
    again = Redial(folder, *drain)
    again.credentials = service.credentials
    made.append(again)
    migrate(cluster.url, place(again))
    answer = run("doctor", "--store", place(again))
    assert answer.returncode == 0, answer.stdout
    again.start()
    assert shown(again, calls) == before
    check_life(again, again, target, calls)


@pytest.mark.usefixtures("encrypted")
def test_an_export_of_postgresql_has_what_one_of_sqlite_has(redial, instances, database, receiver, tmp_path):
    target, drain = receiver(by_path), ["--drain-timeout", "100ms", "--max-body-bytes", "8000000"]
    service = redial(*drain)
    calls = fill(service, target)
    assert service.terminate() == 0
    cluster = database()
    migrate(place(service), cluster.url)
    for state in ("scheduled", "running", "succeeded", "failed", "cancelled", None):
        chosen = ["--state", state] if state else []
        there, here = (run("export", "--decrypt", "--store", store, *chosen) for store in (cluster.url, place(service)))
        assert there.returncode == here.returncode == 0, (there.stderr, here.stderr)
        assert sorted(there.stdout.splitlines()) == sorted(here.stdout.splitlines()), state
    assert there.stdout == here.stdout
    lines = [line for line in there.stdout.splitlines() if line.startswith('{"id"')]
    assert len(lines) > len(calls) and [line[:40] for line in lines] == sorted(line[:40] for line in lines)

    # Instances work on it meanwhile, and a file has all that was exported, packed attempts, too.
    _, (one,) = instances(1, *drain, *LASTING, on=cluster)
    one.credentials = service.credentials
    ended = one.submit(url=target.url + "/down", target="new", policy={"maxAttempts": 3, "backoff": {"initial": "10ms"}})
    one.ended(ended)
    archive = tmp_path / "calls.jsonl"
    answer = run("export", "--decrypt", "--store", cluster.url, "-o", archive)
    assert answer.returncode == 0 and f"wrote {len(lines) + 1} calls" in answer.stdout, answer
    copy = f"sqlite:{tmp_path}/copy.db"
    answer = run("import", "--store", copy, archive)
    assert answer.returncode == 0 and f"imported {len(lines) + 1} calls" in answer.stdout, answer
    answer = run("doctor", "--store", copy)
    assert answer.returncode == 0, answer.stdout
    again = {line[:40]: line for line in run("export", "--decrypt", "--store", copy).stdout.splitlines()}
    history = json.loads(next(line for start, line in again.items() if ended in start))["attempts"]
    assert [attempt["status"] for attempt in history] == [503] * 3
    assert all(attempt["responseBody"] for attempt in history)


def test_an_archive_that_is_another_or_has_more_is_named(redial, tmp_path):
    service = redial()
    service.submit(url="http://127.0.0.1:1/", delay="1h")
    assert service.terminate() == 0
    lines = run("export", "--store", place(service)).stdout.splitlines()
    new = tmp_path / "new.db"

    def imported(lines, code, *words):
        answer = run("import", "--store", f"sqlite:{new}", stdin="\n".join(lines) + "\n")
        assert answer.returncode == code and all(word in answer.stderr + answer.stdout for word in words), answer

    imported(['{"archive":2}'] + lines[1:], 1, "format 2", "Nothing of this archive was imported")
    assert not new.exists()
    imported(lines[1:-1], 1, "was cut off")
    imported(lines + lines, 0, "0 lines are not valid")
    imported(lines + lines[:2], 1, "was cut off")
    imported(lines[:-1] + lines, 1, "the archive before it has no end")
    imported(lines + lines[-2:-1], 1, "behind the end of the archive")


def test_a_store_that_is_only_partly_filled_is_not_taken_for_a_whole_one(redial, database, receiver, tmp_path):
    service, cluster = redial(), database()
    many(service, receiver().url, 500)
    tables(cluster, tmp_path)
    interrupt(service, cluster)
    part = tmp_path / "part:of.db"
    with contextlib.closing(sqlite3.connect(service.store)) as source, contextlib.closing(sqlite3.connect(part)) as copy:
        source.backup(copy)
        copy.execute("INSERT INTO settings VALUES ('migration', '{}')")
        copy.commit()
    for command in (["export", "--store", cluster.url], ["backup", tmp_path / "b.jsonl", "--store", cluster.url],
                    ["salvage", cluster.url, tmp_path / "new.db"], ["export", "--store", f"sqlite:{part}"],
                    ["salvage", part, tmp_path / "new.db"]):
        answer = run(*command)
        assert answer.returncode == 1 and "only partly filled" in answer.stderr, answer
    assert not (tmp_path / "new.db").exists() and not (tmp_path / "b.jsonl").exists()


def test_a_migration_notices_that_its_source_is_not_locked_any_more(redial, database, receiver, tmp_path):
    service, first, second = redial(), database(), database()
    many(service, receiver().url, 500)
    migrate(place(service), first.url)
    tables(second, tmp_path)
    with locked(second, "live", "EXCLUSIVE"):
        process = subprocess.Popen(
            [BINARY, "migrate", "--from", first.url, "--to", second.url], env=environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        wait_until(lambda: waits(second), "it is in the middle")
        held = "SELECT pid FROM pg_locks WHERE mode = 'ExclusiveLock' AND relation = 'redial.sessions'::regclass AND granted"
        assert first.query(f"SELECT pg_terminate_backend(pid) FROM ({held}) h", "redial") == [["t"]]
    told, error = process.communicate(timeout=BOUND)
    assert process.returncode == 1 and "equal" not in told and error and has_mark(second), (told, error)


def test_a_salvage_reads_around_a_damaged_page_of_a_database(redial, database, receiver, tmp_path):
    service, cluster = redial(), database()
    many(service, receiver().url, 1000)
    migrate(place(service), cluster.url)
    cluster.query("CHECKPOINT", "redial")
    file, data = cluster.query(
        "SELECT pg_relation_filepath('redial.requests'), current_setting('data_directory')", "redial")[0]
    cluster.stop()
    with open(f"{data}/{file}", "r+b") as pages:
        pages.seek(3 * 8192)
        pages.write(b"\xff" * 8192)
    cluster.start()
    new = tmp_path / "new.db"
    answer = run("salvage", cluster.url, f"sqlite:{new}")
    found = re.search(r"wrote (\d+) calls", answer.stdout)
    assert answer.returncode == 1 and found and 900 <= int(found[1]) < 1000, answer
    assert answer.stderr.count("\n") == 1000 - int(found[1]), answer.stderr
    assert run("doctor", "--store", f"sqlite:{new}").returncode == 0
    refused = run("backup", tmp_path / "b.jsonl", "--store", cluster.url)
    assert refused.returncode == 1 and not (tmp_path / "b.jsonl").exists(), refused


@pytest.mark.usefixtures("encrypted")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_of_postgresql_is_a_whole_store_of_one_moment(redial, instances, database, receiver, tmp_path, kind):
    target, drain = receiver(by_path), ["--drain-timeout", "100ms", "--max-body-bytes", "8000000"]
    service = redial(*drain)
    calls = fill(service, target)
    before = shown(service, calls)
    assert service.terminate() == 0
    cluster = database()
    migrate(place(service), cluster.url)
    archive, again = tmp_path / "backup.jsonl", tmp_path / "again.jsonl"
    assert run("backup", archive, "--compact", "--store", cluster.url).returncode == 2
    answer = run("backup", archive, "--store", cluster.url)
    assert answer.returncode == 0 and "other entries" in answer.stdout, answer
    assert archive.stat().st_mode & 0o777 == 0o600
    assert run("backup", archive, "--store", cluster.url).returncode == 1, "a backup overwrites nothing"
    # The same as of the file from which the database was filled.
    whole = run("export", "--decrypt", "--store", cluster.url).stdout
    assert whole == run("export", "--decrypt", "--store", place(service)).stdout
    other = database().url if kind == "postgresql" else f"sqlite:{tmp_path}/copy.db"
    # Cut off, it is imported as far as it goes, and that is said; and then the rest.
    lines = archive.read_text().splitlines()
    answer = run("import", "--store", other, stdin="\n".join(lines[:-2]) + "\n")
    assert answer.returncode == 1 and "was cut off" in answer.stderr, answer
    answer = run("import", "--store", other, archive)
    assert answer.returncode == 0 and "imported 1 calls, and 0 other entries" in answer.stdout, answer
    assert run("export", "--decrypt", "--store", other).stdout == whole
    assert run("doctor", "--store", other).returncode == 0
    # A line that is missing in the middle.
    answer = run("import", "--store", other, stdin="\n".join(lines[:3] + lines[4:]) + "\n")
    assert answer.returncode == 1 and "were written, and there are" in answer.stderr, answer
    # Of a policy that the store has, no version of another store is added.
    lines = whole.splitlines()
    for number, line in enumerate(lines):
        if line.startswith('{"document":"policy"') and "gently@1" in line:
            entry = json.loads(line)
            del entry["checksum"]
            lines[number] = json.dumps(entry | {"id": entry["id"].replace("@1", "@7")})
    answer = run("import", "--store", other, stdin="\n".join(lines) + "\n")
    assert answer.returncode == 0 and "imported 0 calls, and 0 other entries" in answer.stdout, answer
    assert run("export", "--decrypt", "--store", other).stdout == whole
    if kind == "postgresql":
        return
    folder = tmp_path / "restored"
    folder.mkdir()
    (tmp_path / "copy.db").rename(folder / "redial.db")
    restored = redial(*drain, folder=folder)
    restored.credentials = service.credentials
    assert shown(restored, calls) == before
    check_life(restored, restored, target, calls)


@pytest.mark.usefixtures("encrypted")
def test_an_import_into_postgresql_has_all_calls_and_they_go_on(redial, instances, database, receiver, tmp_path):
    target, drain = receiver(by_path), ["--drain-timeout", "100ms", "--max-body-bytes", "8000000"]
    service = redial(*drain)
    calls = fill(service, target)
    soon = service.submit(url=target.url, delay="1s", target="soon")
    assert service.terminate() == 0
    archive, cluster = tmp_path / "calls.jsonl", database()
    exported = run("export", "--decrypt", "--calls", "--store", place(service), "-o", archive)
    assert exported.returncode == 0, exported
    lines = archive.read_text().splitlines()
    # In two parts, the first of them twice, and with a line that is no call.
    part = tmp_path / "part.jsonl"
    part.write_text("\n".join(lines[: len(lines) // 2]) + "\n{nonsense\n")
    for imported in (len(lines) // 2, 0):
        answer = run("import", "--store", cluster.url, part)
        assert answer.returncode == 1 and f"imported {imported} calls" in answer.stdout, answer
    answer = run("import", "--store", cluster.url, archive)
    assert answer.returncode == 0 and f"imported {len(lines) - len(lines) // 2} calls" in answer.stdout, answer
    again = run("export", "--decrypt", "--calls", "--store", cluster.url)
    assert again.returncode == 0 and again.stdout.splitlines() == lines
    assert run("doctor", "--store", cluster.url).returncode == 0

    _, (one,) = instances(1, *drain, *LASTING, on=cluster)
    assert one.ended(soon)["state"] == "succeeded"
    assert one.get(calls["ended"])["state"] == "succeeded"
    repeated = one("POST", "/v1/calls", keyed(target), KEY)
    assert repeated.json["id"] == calls["keyed"], repeated.body
    refused = run("import", "--store", cluster.url, archive)
    assert refused.returncode == 1 and "in use by instances" in refused.stderr, refused


def test_an_export_reports_a_damaged_call_of_postgresql_and_goes_on(redial, database, receiver, tmp_path):
    service = redial()
    url = receiver().url
    ids = [service.submit(url=url, delay="1h") for _ in range(3)]
    many(service, url, 4500)
    cluster = database()
    migrate(place(service), cluster.url)
    cluster.query("UPDATE redial.requests SET spec = 'nonsense' WHERE id = (SELECT min(id) FROM redial.live)", "redial")
    answer = run("export", "--calls", "--store", cluster.url)
    assert answer.returncode == 1 and ids[0] in answer.stderr and "not readable" in answer.stderr, answer
    lines = answer.stdout.splitlines()
    exported = [json.loads(line)["id"] for line in lines]
    # More than one page.
    assert exported[:2] == ids[1:] and len(set(exported)) == 4502 and exported == sorted(exported)
    other = f"sqlite:{tmp_path}/other.db"
    refused = migrate(cluster.url, other, 1)
    assert ids[0] in refused.stderr and "cannot be read" in refused.stderr, refused
    # All others are moved by a salvage, into a store of either kind.
    new = f"sqlite:{tmp_path}/new.db"
    answer = run("salvage", cluster.url, new)
    assert answer.returncode == 1 and "wrote 4502 calls" in answer.stdout and ids[0] in answer.stderr, answer
    assert run("doctor", "--store", new).returncode == 0
    assert run("export", "--calls", "--store", new).stdout.splitlines() == lines
    answer = run("salvage", new, cluster.url)
    assert answer.returncode == 2 and "redial migrate" in answer.stderr, answer
    assert run("salvage", cluster.url, new).returncode == 1, "it is not empty"


def check_life(one, two, target, calls):
    """Calls go on, and keys, limits, pauses and orders count as before."""
    repeated = two("POST", "/v1/calls", keyed(target), KEY)
    assert repeated.json["id"] == calls["keyed"], repeated.body
    other = two("POST", "/v1/calls", keyed(target) | {"body": "other"}, KEY)
    assert other.status == 422, other.body
    # What was in flight when the service ended is recorded, and repeated by one instance.
    wait_until(lambda: one.get(calls["narrow0"])["attempts"], "the interrupted attempt is recorded")
    assert one.get(calls["narrow0"])["attempts"][0]["outcome"] == "interrupted"
    assert sum(one.get(calls[f"narrow{n}"])["state"] == "running" for n in range(3)) <= 1
    for name in ("paused0", "ordered1"):
        assert one.get(calls[name])["state"] == "scheduled"
    assert two.ended(one.submit(url=target.url, target="fine – é"))["state"] == "succeeded"
    assert one("GET", "/v1/targets/broken").json["breaker"]["state"] != "closed"
    # A large body is whole.
    while not target.arrived.empty():
        target.next()
    assert one("POST", f"/v1/calls/{calls['large']}/retry").status == 200
    wait_until(lambda: target.next().body == LARGE.encode(), "the large body arrives")
    one.ended(calls["large"])


def many(service, url, count=4000):
    """Calls that wait, in a store that no service uses."""
    for start in range(0, count, 500):
        calls = [{"url": url, "delay": "1h", "method": "POST", "body": str(n) * 50, "labels": {"n": str(n % 9)}}
                 for n in range(start, start + 500)]
        assert service("POST", "/v1/calls/batch", calls).status == 200
    assert service.terminate() == 0


def has_mark(cluster):
    there = cluster.query("SELECT to_regclass('redial.settings')", "redial")[0][0]
    return there and cluster.query("SELECT 1 FROM redial.settings WHERE name = 'migration'", "redial") != []


def is_filled(cluster):
    there = cluster.query("SELECT to_regclass('redial.live')", "redial")[0][0]
    return there and not has_mark(cluster) and cluster.query("SELECT count(*) FROM redial.live", "redial") != [["0"]]


def is_file_filled(path):
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
            marks = file.execute("SELECT 1 FROM settings WHERE name = 'migration'").fetchall()
            return not marks and file.execute("SELECT count(*) FROM calls").fetchone() != (0,)
    except sqlite3.OperationalError:
        return False  # There is no file yet, or it has no tables.


def migrate_with_kills(source, destination, chance, is_done, check=lambda: None):
    """Kills the command at random moments, and runs it again until it comes to its end."""
    for _ in range(12):
        process = subprocess.Popen(
            [BINARY, "migrate", "--from", source, "--to", destination], env=environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            process.wait(chance.uniform(0.02, 0.5))
        except subprocess.TimeoutExpired:
            process.kill()
        if process.wait(BOUND) == 0:
            return
        assert process.returncode == -signal.SIGKILL, process.stderr.read()
        check()
        # It may have ended its work a moment before.
        if is_done():
            return
    migrate(source, destination)


@pytest.mark.parametrize("seed", range(2))
def test_a_migration_that_is_killed_goes_on_where_it_stopped(redial, database, receiver, tmp_path, seed):
    service, cluster, chance = redial(), database(), random.Random(seed)
    many(service, receiver().url)

    def check():
        if has_mark(cluster):
            refused = run("serve", "--store", cluster.url, "--listen", "127.0.0.1:0")
            assert refused.returncode == 3 and "only partly filled" in refused.stderr, refused

    migrate_with_kills(place(service), cluster.url, chance, lambda: is_filled(cluster), check)
    assert not has_mark(cluster)
    back = f"{tmp_path}/back.db"
    migrate_with_kills(cluster.url, f"sqlite:{back}", chance, lambda: is_file_filled(back))
    first, second = (run("export", "--store", f"sqlite:{store}").stdout for store in (service.store, back))
    assert first == second and len(first.splitlines()) > 4000
    assert run("doctor", "--store", f"sqlite:{back}").returncode == 0


def test_what_cannot_be_moved_is_refused_with_the_reason(redial, instances, database, receiver, tmp_path):
    service, cluster = redial(), database()
    service.submit(url=receiver().url, delay="1h")
    file, other = place(service), f"sqlite:{tmp_path}/other.db"

    def refused(source, destination, *words):
        told = migrate(source, destination, 1)
        assert all(word in told.stderr for word in words) and not told.stdout, told

    for options in (["--from", file], ["--to", file], []):
        answer = run("migrate", *options)
        assert answer.returncode == 2 and "is missing" in answer.stderr
    assert run("migrate", "--from", "mysql://x", "--to", file).returncode == 1
    refused(file, cluster.url, "in use by another process")
    refused(cluster.url, other, "There are no tables of Redial")
    refused(f"sqlite:{tmp_path}/none.db", cluster.url, "There is no store at")
    assert service.terminate() == 0
    refused(file, file, "in use by another process")
    assert run("keys", "create", "--scope", "admin", "--name", "a", "--store", other).returncode == 0
    refused(file, other, "is not empty: it has API keys, endpoints, policies and other documents")
    _, (one,) = instances(1, *LASTING, on=cluster)
    refused(file, cluster.url, "in use by instances of Redial")
    refused(cluster.url, f"sqlite:{tmp_path}/new.db", "in use by instances of Redial")
    assert one.terminate() == 0
    assert run("keys", "create", "--scope", "admin", "--name", "a", "--store", cluster.url).returncode == 0
    refused(file, cluster.url, "is not empty: it has API keys, endpoints, policies and other documents")
    refused("postgresql://redial:hidden-word@127.0.0.1:1/redial", other, "Could not connect")
    assert "hidden-word" not in migrate("postgresql://redial:hidden-word@127.0.0.1:1/redial", other, 1).stderr


@contextlib.contextmanager
def locked(cluster, table, mode):
    """Stops whoever wants to use a table."""
    process = subprocess.Popen(
        [f"{databases.PROGRAMS[0]}/psql", "-X", "-q", "-h", cluster.folder, "-U", "postgres", "-d", "redial", "-c",
         f"BEGIN; LOCK TABLE redial.{table} IN {mode} MODE; SELECT pg_sleep(600)"],
        cwd=cluster.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **cluster.user)
    sleeping = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    try:
        wait_until(lambda: cluster.query("SELECT 1 " + sleeping), "the table is locked")
        yield
    finally:
        cluster.query("SELECT pg_terminate_backend(pid) " + sleeping)
        process.wait(BOUND)


def waits(cluster):
    return cluster.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'") != []


def tables(cluster, tmp_path):
    """Makes the tables, which stay empty."""
    folder = tmp_path / "first"
    folder.mkdir()
    service = Redial(folder, location=cluster.url).start()
    assert service.terminate() == 0
    cluster.query("DELETE FROM redial.settings; DELETE FROM redial.versions", "redial")


def begin(source, destination):
    return subprocess.Popen(
        [BINARY, "migrate", "--from", source, "--to", destination], env=environment(), stdout=subprocess.DEVNULL)


def interrupt(service, cluster):
    """Kills a migration in the middle."""
    with locked(cluster, "live", "EXCLUSIVE"):
        process = begin(place(service), cluster.url)
        wait_until(lambda: waits(cluster), "it is in the middle")
        process.kill()
        process.wait(BOUND)


def test_a_store_that_was_used_after_an_interruption_is_not_mixed_with_what_is_there(
        redial, database, receiver, tmp_path):
    service, cluster = redial(), database()
    many(service, receiver().url, 500)
    tables(cluster, tmp_path)
    interrupt(service, cluster)
    service.start()
    assert service.terminate() == 0
    told = migrate(place(service), cluster.url, 1)
    assert "was in use since its migration into" in told.stderr and "Begin again" in told.stderr
    other = tmp_path / "other"
    other.mkdir()
    another = Redial(other).start()
    assert another.terminate() == 0
    assert "has a part of" in migrate(place(another), cluster.url, 1).stderr


def test_no_service_starts_on_either_store_while_a_migration_runs(redial, database, receiver, tmp_path):
    service, cluster = redial(), database()
    many(service, receiver().url, 500)
    tables(cluster, tmp_path)

    def refused(store, word):
        answer = run("serve", "--store", store, "--listen", "127.0.0.1:0")
        assert answer.returncode == 3 and word in answer.stderr, answer

    with locked(cluster, "live", "EXCLUSIVE"):
        process = begin(place(service), cluster.url)
        wait_until(lambda: waits(cluster), "it is in the middle")
        refused(place(service), "in use by another process")
        refused(cluster.url, "only partly filled")
    assert process.wait(BOUND) == 0
    with locked(cluster, "statistics", "ACCESS EXCLUSIVE"):
        process = begin(cluster.url, f"sqlite:{tmp_path}/back.db")
        wait_until(lambda: waits(cluster), "it is in the middle")
        refused(cluster.url, "is copying")
        refused(f"sqlite:{tmp_path}/back.db", "in use by another process")
    assert process.wait(BOUND) == 0

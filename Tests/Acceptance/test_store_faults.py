"""A store that cannot be written: new calls are refused, accepted ones are kept, and the service recovers by itself."""

import base64
import contextlib
import http.client
import os
import pathlib
import sqlite3
import threading
import time

import pytest

from faults import Faults, SmallDisk
from processes import BOUND, run, wait_until

QUICK = {"backoff": {"initial": "20ms", "max": "200ms"}}


@contextlib.contextmanager
def opened(store):
    """The file of a store. It is closed at once: it may be on a disk that is to be unmounted."""
    with contextlib.closing(sqlite3.connect(store)) as database, database:
        yield database


def check_refusal(answer, status, code):
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json["code"] == code
    assert answer.json["detail"]


def live_through(service, receiver, begin, end, status, code):
    """A call in flight and a waiting one survive a fault that begins and ends, without help."""
    answered, go = threading.Event(), threading.Event()

    def answer(request):
        if request.path == "/slow":
            go.wait(BOUND)
            answered.set()
        return 200, {}, b"done"

    target = receiver(answer)
    slow = service.submit(url=f"{target.url}/slow", policy=QUICK | {"attemptTimeout": "10m"})
    waiting = service.submit(url=f"{target.url}/waiting", delay="10m", policy=QUICK)
    wait_until(lambda: any(r.path == "/slow" for r in target.requests), "the slow call is under way")
    begin()
    late = []

    def refusal():
        """The first one. What is accepted before finds room in the spare space of the log."""
        answer = service("POST", "/v1/calls", {"url": f"{target.url}/late", "policy": QUICK})
        if answer.status != 202:
            return answer
        late.append(answer.json["id"])
    check_refusal(wait_until(refusal, "a call is refused"), status, code)
    # The end of the one and the due time of the other fall into the fault.
    go.set()
    assert answered.wait(BOUND)
    service.advance(600)
    for _ in range(100):
        # A failed write is repeated meanwhile, and more than once.
        service.advance(1)
        assert service("GET", "/readyz").status == 503
        answer = service("POST", "/v1/calls", {"url": target.url})
        assert answer.status in (503, 507), f"{answer.status} while nothing can be written: {answer.body}"
        assert int(answer.headers["retry-after"]) > 0
    unready = service("GET", "/readyz")
    assert (unready.status, unready.json["code"]) == (503, "notReady")
    # The person on call learns what to repair.
    assert ("The disk is full." in unready.json["detail"]) == (status == 507), unready.body
    assert service("GET", "/healthz").status == 200
    assert service.metrics()["redial_store_failing"] == 1
    assert service.get(slow)["state"] == "running"
    assert service.get(waiting)["state"] == "scheduled"
    assert service("GET", "/v1/calls").status == 200
    end()
    wait_until(lambda: service("GET", "/readyz").status == 200, "the service is ready again")
    for identity in (slow, waiting):
        call = service.ended(identity)
        assert call["state"] == "succeeded" and call["attemptCount"] == 1, call
    for identity in late:
        assert service.ended(identity)["state"] == "succeeded"
    # None of the refused ones.
    assert sorted(r.path for r in target.requests if r.path != "/late") == ["/slow", "/waiting"]
    assert {r.headers["idempotency-key"] for r in target.requests if r.path == "/late"} == set(late)
    assert service.ended(service.submit(url=f"{target.url}/after"))["state"] == "succeeded"
    assert service.metrics()["redial_store_failing"] == 0
    assert service.terminate() == 0
    with opened(service.store) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("SELECT count(*) FROM calls").fetchone() == (3 + len(late),)


@pytest.mark.parametrize("fault, status, code", [
    ("fail-write", 503, "storageUnavailable"),
    ("full-disk", 507, "storageFull"),
])
def test_a_fault_of_the_disk_costs_nothing_that_was_accepted(redial, receiver, tmp_path, fault, status, code):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    service = redial(env=faults.env, clock=True)
    live_through(service, receiver, lambda: faults.on(fault), lambda: faults.off(fault), status, code)


@pytest.mark.parametrize("fault", ["fail-sync", "fail-log-sync"])
def test_a_failed_sync_ends_the_service_and_the_next_start_makes_it_good(redial, receiver, tmp_path, fault):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    service = redial(env=faults.env)
    # The first attempts are still in flight when the service ends.
    go = threading.Event()
    target = receiver(lambda request: (go.wait(BOUND), (200, {}, b"done"))[1])
    accepted = [service.submit(url=f"{target.url}/{number}", policy=QUICK) for number in range(3)]
    key = {"idempotency-key": '"once"'}
    faults.on(fault)
    # The answer may be a refusal, or none: never a 202.
    try:
        assert service("POST", "/v1/calls", {"url": f"{target.url}/late"}, key).status == 503
    except (OSError, http.client.HTTPException):
        pass
    assert service.process.wait(BOUND) == 6
    text = service.log.read_text()
    assert text.count("syncFailed") == 1 and "redial.db" in text and "Start Redial again" in text, text
    go.set()
    # The service's first data must be durable as well.
    service.spawn()
    assert service.process.wait(BOUND) == 3
    assert "the data that is on the disk" in service.log.read_text()[len(text):]
    faults.off(fault)
    service.start()
    # Only the key shows whether it was written: it is accepted once.
    again = service("POST", "/v1/calls", {"url": f"{target.url}/late"}, key)
    assert again.status in (200, 202), again.body
    for identity in [*accepted, again.json["id"]]:
        assert service.ended(identity)["state"] == "succeeded"
    assert service.terminate() == 0


@pytest.fixture
def small_disk(made, tmp_path):
    disk = SmallDisk(tmp_path / "disk", 4)
    made.append(disk)
    return disk


def test_a_full_disk_costs_nothing_that_was_accepted(redial, receiver, small_disk):
    # As if all of the reserve were used up, too.
    service = redial("--reserve-bytes", "0", folder=small_disk.path, clock=True)
    # The log has spare space, which the first calls use up.
    live_through(service, receiver, small_disk.fill, small_disk.free, 507, "storageFull")


def fill_by_calls(service, url, kilobytes=60):
    """Submits until a call is refused; the ids of the accepted ones."""
    accepted = []
    for number in range(20000):
        body = base64.b64encode(os.urandom(kilobytes << 10)).decode()
        answer = service("POST", "/v1/calls", {"url": f"{url}/{number}", "body": body, "policy": QUICK})
        if answer.status != 202:
            check_refusal(answer, 507, "storageFull")
            return accepted
        accepted.append(answer.json["id"])
    pytest.fail("the disk was never full")


def needed(store):
    """The bytes that the tables need once the log of calls is moved into them; None before that."""
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", BOUND, uri=True)) as database:
        logged, pages, free, size = (database.execute(query).fetchone()[0] for query in (
            "SELECT count(*) FROM call_log", "PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA page_size"))
        return None if logged else (pages - free) * size


def expire_until(service, began, condition, what):
    """Lets an hour pass for the first of the calls that were made since then. The others follow in the order in which they were
    made, but sooner: a busy machine may have needed minutes to make them."""
    spent = time.monotonic() - began
    service.advance(3600 - spent)

    def met():
        service.advance(spent / 300)
        return condition()
    wait_until(met, what)


# Small calls are logged before they are written to the tables. On a slow disk pages are added to the write-ahead log faster than
# they are moved out of it.
@pytest.mark.parametrize("kilobytes, is_slow", [(60, False), (60, True), (10, False)])
def test_a_disk_that_the_store_itself_has_filled_gets_room_by_retention(
        redial, receiver, made, tmp_path, kilobytes, is_slow):
    size, reserve = 24 << 20, 6 << 20
    disk = SmallDisk(tmp_path / "disk", size >> 20)
    made.append(disk)
    faults = Faults(tmp_path, disk.path / "redial.db")
    service = redial(
        "--reserve-bytes", reserve, "--retention-time", "1h", "--idempotency-time", "1h", folder=disk.path, clock=True,
        env=faults.env)
    file = disk.path / "redial.db-reserve"
    assert file.stat().st_blocks * 512 >= reserve
    go = threading.Event()

    def answer(request):
        if request.path == "/slow":
            go.wait(10 * BOUND)
        return 200, {}, b"done"

    target, began = receiver(answer), time.monotonic()
    slow = service.submit(url=f"{target.url}/slow", policy=QUICK | {"attemptTimeout": "10m"})
    accepted = []

    def has_no_room():
        # Otherwise the reserve is taken again as soon as all else is given back: an eighth more must be free.
        used = needed(service.store)
        # Others than the store's are not given back.
        others = sum(path.stat().st_blocks * 512 for path in disk.path.iterdir()
                     if path.name not in ("redial.db", "redial.db-wal", "redial.db-reserve"))
        return used and size < used + others + reserve * 9 // 8 and file.stat().st_blocks == 0

    def is_ready():
        return service("GET", "/readyz").status == 200
    if is_slow:
        faults.on("slow-file-write")
        accepted += fill_by_calls(service, target.url, kilobytes)
        faults.off("slow-file-write")
    while not has_no_room():
        accepted += fill_by_calls(service, target.url, kilobytes)
        wait_until(lambda: is_ready() or has_no_room(), "it has room for more calls, or for none", 3 * BOUND)
    assert len(accepted) > 50 and file.stat().st_blocks == 0
    # The outcomes of accepted calls are written to the reserve's space.
    go.set()
    assert service.ended(slow)["state"] == "succeeded"
    check_refusal(service("POST", "/v1/calls", {"url": target.url}), 507, "storageFull")
    assert service("GET", f"/v1/calls/{accepted[0]}").status == 200
    # Nobody intervenes.
    expire_until(service, began, is_ready, "there is room again")
    wait_until(lambda: service("GET", f"/v1/calls/{accepted[0]}").status == 404, "retention has removed it")

    # More calls expire meanwhile, and the removal of some may need the reserve again for a moment.
    def submitted():
        answer = service("POST", "/v1/calls", {"url": f"{target.url}/after", "body": "x" * 1000, "policy": QUICK})
        if answer.status == 202:
            return answer.json["id"]
        check_refusal(answer, 507, "storageFull")
    wait_until(lambda: file.stat().st_blocks * 512 >= reserve, "the reserve is taken again")
    more = [wait_until(submitted, "a call is accepted again") for _ in range(20)]
    assert [service.ended(identity)["state"] for identity in more] == ["succeeded"] * 20

    def has_reserve():
        text = service.log.read_text()
        return text.count("reserveReleased") == text.count("reserveTaken") > 0

    wait_until(has_reserve, "what was released for the removal is taken again")
    assert service.terminate() == 0
    with opened(service.store) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("later", [0, 0.3, 1])
def test_a_service_that_is_killed_on_a_full_disk_starts_and_gets_room(redial, receiver, made, tmp_path, later):
    disk = SmallDisk(tmp_path / "disk", 24)
    made.append(disk)
    service = redial(
        "--reserve-bytes", 6 << 20, "--retention-time", "1h", "--idempotency-time", "1h", folder=disk.path, clock=True)
    target, began = receiver(), time.monotonic()
    accepted = fill_by_calls(service, target.url)
    # At any moment while it moves its logs, which may make room for the reserve and little else.
    time.sleep(later)
    service.kill()
    # Another program took the rest of the reserve.
    disk.fill()
    file = disk.path / "redial.db-reserve"
    had_reserve = file.stat().st_blocks > 0
    if not had_reserve:
        disk.free()
    service.start()
    assert service("GET", f"/v1/calls/{accepted[0]}").status in (200, 404)
    if had_reserve:
        disk.free()
    wait_until(lambda: needed(service.store) is not None, "the log is moved")
    expire_until(service, began, lambda: service("GET", "/readyz").status == 200, "there is room again")

    # More calls expire meanwhile, and the removal of some may need the reserve again for a moment.
    def submitted():
        answer = service("POST", "/v1/calls", {"url": f"{target.url}/after"})
        if answer.status == 202:
            return answer.json["id"]
        check_refusal(answer, 507, "storageFull")
    assert service.ended(wait_until(submitted, "a call is accepted again"))["state"] == "succeeded"
    assert service.terminate() == 0


def check_start_fails(folder, *words):
    """It does not start, says why, and does not change the file."""
    file = folder / "redial.db"
    before = file.read_bytes()
    done = run("serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{file}", "--reserve-bytes", "0")
    assert done.returncode == 3, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    assert file.read_bytes() == before


def stopped_store(redial, receiver, folder):
    """A store with some calls, of a service that has stopped."""
    service = redial("--reserve-bytes", "0", folder=folder)
    target = receiver()
    for number in range(20):
        service.submit(url=f"{target.url}/{number}", body="x" * 3000)
    wait_until(lambda: service.metrics()["redial_backlog_calls"] == 0, "all calls end")
    assert service.terminate() == 0
    return service


def test_a_store_that_is_read_only_is_not_served(redial, receiver, small_disk):
    stopped_store(redial, receiver, small_disk.path)
    small_disk.remount("ro")
    check_start_fails(small_disk.path, "ead-only", "redial.db")
    small_disk.remount("rw")


def test_a_store_of_a_newer_version_is_not_touched(redial, receiver, tmp_path):
    service = stopped_store(redial, receiver, tmp_path)
    with opened(service.store) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("PRAGMA user_version = 9999")
    check_start_fails(tmp_path, "newer version", "9999")


def test_a_new_store_that_finds_no_room_is_made_when_there_is(redial, receiver, small_disk):
    (small_disk.path / "redial.db").touch()
    small_disk.fill()
    check_start_fails(small_disk.path, "redial.db", "full")
    small_disk.free()
    service = redial("--reserve-bytes", "0", folder=small_disk.path)
    assert service.ended(service.submit(url=receiver().url))["state"] == "succeeded"
    assert service.terminate() == 0


def test_a_file_that_is_no_store_is_not_touched(tmp_path):
    (tmp_path / "redial.db").write_bytes(b"not a database, but somebody's notes\n" * 300)
    check_start_fails(tmp_path, "redial.db", "backup")


def test_a_store_whose_pages_are_damaged_says_so_and_loses_nothing_in_silence(redial, receiver, tmp_path):
    service = stopped_store(redial, receiver, tmp_path)
    file = pathlib.Path(service.store)
    with opened(file) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(file.read_bytes())
    # Everything except the first page, which names the tables.
    for start in range(4096, len(content), 4096):
        content[start:start + 64] = b"\xa5" * 64
    file.write_bytes(content)
    check_start_fails(tmp_path, "redial.db", "malformed", "backup")

"""The service's counts of ends and attempts, across restarts."""

import contextlib
import sqlite3
import time

from processes import run, wait_until
from test_contract import check
from test_keys import bearer, locked, make

PATH = "/v1/statistics"
FAST = {"maxAttempts": 2, "backoff": {"strategy": "constant", "initial": "10ms", "jitter": "none"},
        "retryOn": {"statuses": ["500"]}}


def windows(service, headers=None):
    answer = service("GET", PATH, headers=headers)
    assert answer.status == 200, answer.body
    return {window["window"]: window for window in check(answer, "get", PATH)["data"]}


def ends(window):
    return tuple(window["calls"][name] for name in ("succeeded", "failed", "cancelled"))


def work(service, target, headers=None):
    """Three calls succeed, one after two attempts; one fails after two; one is cancelled."""
    for path in ("/200", "/200", "/once"):
        service.ended(service.submit(url=target.url + path, policy=FAST, callback={"url": target.url + "/200"}))
    service.ended(service.submit(url=target.url + "/500", policy=FAST))
    waiting = service.submit(url=target.url, delay="1h")
    service("POST", f"/v1/calls/{waiting}/cancel")


def answering(receiver):
    seen = []

    def answer(request):
        if request.path == "/once":
            seen.append(request)
            return (500 if len(seen) % 2 else 200, {}, b"")
        return (int(request.path[1:] or 200), {}, b"")
    return receiver(answer)


def test_ends_and_attempts_are_counted_at_once_and_across_restarts(redial, receiver):
    target, service = answering(receiver), redial(clock=True)
    assert [ends(window) for window in windows(service).values()] == [(0, 0, 0)] * 3
    assert windows(service)["15m"]["latency"] is None and windows(service)["15m"]["calls"]["successRate"] is None
    work(service, target)
    for name, steps, step in (("15m", 15, "1m"), ("24h", 24, "1h"), ("7d", 28, "6h")):
        window = windows(service)[name]
        assert ends(window) == (3, 1, 1) and window["calls"]["successRate"] == 0.75
        assert window["calls"]["retried"] == 1
        # Webhooks are left out.
        assert window["attempts"] == {"succeeded": 3, "failed": 3} and window["latency"]["p99"]
        assert len(window["steps"]) == steps and window["step"] == step
        assert sum(step["calls"]["succeeded"] for step in window["steps"]) == 3
        # All of them may be in the last minute but one.
        assert sum(step["calls"]["failed"] for step in window["steps"][-2:]) == 1
    service.terminate()
    service.start()
    assert [ends(window) for window in windows(service).values()] == [(3, 1, 1)] * 3
    work(service, target)
    assert [ends(window) for window in windows(service).values()] == [(6, 2, 2)] * 3
    assert windows(service)["7d"]["attempts"] == {"succeeded": 6, "failed": 6}
    shown = run("statistics", "--url", service.url).stdout
    assert "75.0 %" in shown and "24h" in shown and len(shown.splitlines()) == 4
    # Written counts survive a kill of the process.
    service.advance(60)
    wait_until(lambda: stored(service) >= 1, "it is written")
    wait_until(lambda: written(service) == (6, 2, 2), "all of it is written")
    service.kill()
    service.start()
    assert [ends(window) for window in windows(service).values()] == [(6, 2, 2)] * 3
    service.terminate()
    assert run("doctor", "--store", f"sqlite:{service.store}").returncode == 0


def query(service, sql):
    with contextlib.closing(sqlite3.connect(service.store)) as file:
        return file.execute(sql).fetchone()[0]


def stored(service):
    return query(service, "SELECT count(*) FROM statistics WHERE step = 3600")


def written(service):
    """How many calls have succeeded, failed and were cancelled, as it is stored."""
    return tuple(
        query(service, f"SELECT sum(json_extract(counts, '$[{place}]')) FROM statistics WHERE step = 3600")
        for place in range(3))


def test_statistics_are_of_a_namespace_and_take_the_scope_read(redial, receiver):
    target, service = answering(receiver), redial()
    locked(service)
    acme = bearer(make(service, "submit", "read", namespace="acme")["key"])
    call = service("POST", "/v1/calls", {"url": target.url}, acme).json["id"]
    wait_until(lambda: service("GET", f"/v1/calls/{call}", headers=acme).json["finishedAt"], "it ends")
    assert ends(windows(service, acme)["24h"]) == (1, 0, 0)
    assert ends(windows(service)["24h"]) == (0, 0, 0)
    refused = service("GET", PATH, headers=bearer(make(service, "submit")["key"]))
    assert refused.status == 403 and "read" in refused.json["detail"]
    service.terminate()
    service.start()
    assert ends(windows(service, acme)["24h"]) == (1, 0, 0)


def test_the_table_of_statistics_stays_small(redial, receiver):
    target, service = answering(receiver), redial()
    service.ended(service.submit(url=target.url))
    service.terminate()
    with contextlib.closing(sqlite3.connect(service.store)) as file:
        counts = file.execute("SELECT counts FROM statistics LIMIT 1").fetchone()[0]
        # As if the service had run for a month: a row for each minute and each hour.
        now = file.execute("SELECT max(start) FROM statistics WHERE step = 60").fetchone()[0]
        for step, number in ((60, 30 * 1440), (3600, 30 * 24)):
            start = now // (step * 1_000_000) * step * 1_000_000
            file.executemany(
                "INSERT OR IGNORE INTO statistics VALUES (0, ?, ?, ?)",
                ((step, start - index * step * 1_000_000, counts) for index in range(number)))
        file.commit()
    service.start()
    assert ends(windows(service)["7d"])[0] == sum(s["calls"]["succeeded"] for s in windows(service)["7d"]["steps"])
    # The minutes that have begun since the first call ended have nothing.
    before = time.time() // 60 * 60
    found, now = ends(windows(service)["15m"]), now // 1_000_000
    assert found in [(15 - int(minute - now) // 60, 0, 0) for minute in (before, time.time() // 60 * 60)]
    service.ended(service.submit(url=target.url))
    service.terminate()
    assert query(service, "SELECT count(*) FROM statistics WHERE step = 60") <= 122
    assert query(service, "SELECT count(*) FROM statistics WHERE step = 3600") <= 194


def test_the_backlog_is_an_average_that_outlives_the_service(redial, receiver):
    service = redial(clock=True)
    assert [window["backlog"] for window in windows(service).values()] == [0, 0, 0]
    assert service("POST", "/v1/targets/held/pause").status == 200
    for _ in range(6):
        service.submit(url="http://127.0.0.1:1/", target="held")
    # One that is not due waits for nobody.
    service.submit(url="http://127.0.0.1:1/", target="held", delay="1h")
    windows(service)
    service.advance(10)
    shown = windows(service)
    # Six calls for ten seconds and a little, of almost a quarter of an hour.
    assert 60 / 900 <= shown["15m"]["backlog"] < 6
    assert max(step["backlog"] for step in shown["15m"]["steps"]) >= 60 / 60 / 2
    assert 0 < shown["7d"]["backlog"] <= shown["24h"]["backlog"] < shown["15m"]["backlog"]
    service.terminate()
    service.start()
    assert windows(service)["15m"]["backlog"] >= 60 / 900
    assert run("statistics", "--url", service.url).stdout.split()[:2] == ["last", "backlog"]

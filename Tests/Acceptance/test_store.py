"""What the store does for its operator: it keeps what it must, forgets what it may, and says what it finds damaged."""

import sqlite3

from processes import run, wait_until


def value(service, name):
    for line in service("GET", "/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.rsplit(" ", 1)[1])
    raise AssertionError(f"/metrics lacks {name}")


def test_finished_calls_go_when_their_time_is_over_and_others_stay(redial, receiver):
    target = receiver()
    service = redial("--retention-time", "1s", "--idempotency-time", "1s")
    waiting = service.submit(url=target.url, delay="1h")
    done = [service.submit(url=target.url) for _ in range(20)]
    for identity in done:
        service.ended(identity)
    for identity in done:
        wait_until(lambda: service("GET", f"/v1/calls/{identity}").status == 404, f"{identity} is gone")
    assert value(service, "redial_calls_removed_total") == 20
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
    damaged, whole = (service.submit(url=target.url, delay="8s") for _ in range(2))
    service.terminate()
    with sqlite3.connect(service.store) as store:
        rows = store.execute("SELECT id FROM calls ORDER BY id").fetchall()
        store.execute("UPDATE requests SET spec = x'7b' WHERE id = ?", rows[0])
        store.execute("UPDATE calls SET due = 1")
    store.close()
    service.start()
    assert service.ended(whole)["state"] == "succeeded"
    assert value(service, "redial_calls_damaged_total") == 1
    assert f"{damaged} cannot be read" in service.log.read_text()
    answer = service("GET", f"/v1/calls/{damaged}")
    assert answer.status == 503, answer.body
    assert damaged in [c["id"] for c in service("GET", "/v1/calls").json["data"]]

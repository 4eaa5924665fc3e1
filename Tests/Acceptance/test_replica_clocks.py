"""Instances whose machines' clocks are wrong by minutes: nothing runs early, late or twice at a time."""

import calendar
import datetime
import threading
import time

import pytest

from faults import Faults
from processes import wait_until
from test_replicas import LASTING, spread

TEN_MINUTES = 600
DELAY = 3
AHEAD = 1.2


def test_instances_with_wrong_clocks_keep_the_time_of_the_database(tmp_path, instances, receiver):
    lock, running, overlapping, arrivals = threading.Lock(), set(), [], {}

    def answer(request):
        with lock:
            arrivals.setdefault(request.path, []).append(time.monotonic())
            if request.headers["target"] in running:
                overlapping.append(request.path)
            running.add(request.headers["target"])
        time.sleep(0.02)
        with lock:
            running.discard(request.headers["target"])
        return 200, {}, b""

    target = receiver(answer)
    faults = [Faults(tmp_path / f"clock{number}", "none") for number in range(3)]
    for fault, ahead in zip(faults, (TEN_MINUTES, -TEN_MINUTES, 0)):
        fault.ahead("clock", ahead)
    cluster, services = instances(3, each=lambda number: {"env": faults[number].env})
    offsets = [service.metrics()["redial_clock_offset_seconds"] for service in services]
    assert all(abs(o - w) < TEN_MINUTES / 2 for o, w in zip(offsets, (TEN_MINUTES, -TEN_MINUTES, 0))), offsets
    # Commands to owners with other clocks are taken for genuine.
    for call in spread(target.url, 6):
        for service in services:
            answered = service("PUT", f"/v1/targets/{call['target']}", {"maxInFlight": 1})
            assert answered.status == 200, answered.body
    submitted, number = {}, 0
    for service in services:
        for call in spread(target.url, 6):
            for delay in (0, DELAY):
                number += 1
                before = time.monotonic()
                identity = service.submit(
                    url=f"{target.url}/{number}", target=call["target"], headers={"target": call["target"]},
                    delay=f"{delay}s", policy={"deadline": "1h", "maxAttempts": 1})
                submitted[identity] = (f"/{number}", before + delay)
    # A key counts at all of them, and expires by one clock.
    again = [service("POST", "/v1/calls", {"url": f"{target.url}/key"}, {"idempotency-key": "k"}) for service in services]
    assert len({a.json["id"] for a in again}) == 1, [a.body for a in again]
    # A lease ends by one clock, too.
    services.pop(0).kill()
    wait_until(lambda: cluster.query(
        "SELECT count(DISTINCT owner), count(*) FROM redial.leases WHERE owner IS NOT NULL", "redial") == [["2", "64"]],
        "the others have its shards")
    for identity, (path, due) in submitted.items():
        call = services[0].ended(identity)
        # An attempt that was interrupted may not have arrived.
        first = min(arrivals.get(path, [due]))
        assert call["state"] == "succeeded" and path in arrivals or call["attempts"][0]["outcome"] == "interrupted", call
        # How far a clock may be from the database's before the alert RedialClockError.
        assert first >= due - 0.5, f"{path} ran {due - first} s early"
        assert abs(parsed(call["createdAt"]) - time.time()) < TEN_MINUTES / 2, call["createdAt"]
    assert not overlapping


@pytest.mark.parametrize("dies", [False, True], ids=["", "the owner dies"])
def test_calls_of_one_key_run_in_the_order_of_their_answers_although_a_clock_is_ahead(tmp_path, instances, receiver, dies):
    running, released = threading.Event(), threading.Event()

    def answer(request):
        running.set()
        released.wait()
        return 200, {}, b""

    target = receiver(answer)
    faults = [Faults(tmp_path / f"clock{number}", "none") for number in range(2)]
    lease = () if dies else LASTING
    cluster, services = instances(2, *lease, each=lambda number: {"env": faults[number].env})
    try:
        services[0].submit(url=f"{target.url}/first", target="t", orderingKey="k")
        running.wait()
        faults[1].ahead("suspended", AHEAD)
        calls = [
            services[number % 2].submit(url=f"{target.url}/{number}", target="t", orderingKey="k") for number in range(12)]
        if dies:
            address = cluster.query(
                "SELECT s.address FROM redial.targets t JOIN redial.leases l ON l.shard = t.shard JOIN redial.sessions s "
                "ON s.id = l.owner WHERE t.key = 't'", "redial")[0][0]
            owner = next(service for service in services if address.endswith(f":{service.port}"))
            services.remove(owner)
            owner.kill()
    finally:
        released.set()
    for identity in calls:
        assert services[0].ended(identity)["state"] == "succeeded"
    assert [r.path for r in target.requests if r.path != "/first"] == [f"/{number}" for number in range(12)]


def test_a_clock_that_runs_ahead_goes_back_to_the_time_of_the_database_without_a_step(tmp_path, instances, receiver):
    target = receiver()
    faults = Faults(tmp_path, "none")
    _, (service,) = instances(1, env=faults.env)
    faults.ahead("suspended", AHEAD)

    def shown():
        """How far the times that it shows are ahead, and its own bound for that."""
        before = time.time()
        created = datetime.datetime.fromisoformat(service.get(service.submit(url=target.url))["createdAt"]).timestamp()
        times.append(created)
        return created - before, service.metrics()["redial_clock_error_seconds"]

    times = []
    wait_until(lambda: max(shown()) < AHEAD / 4, "the time is that of the database")
    assert times == sorted(times)


def parsed(text):
    return calendar.timegm(time.strptime(text.split(".")[0], "%Y-%m-%dT%H:%M:%S"))

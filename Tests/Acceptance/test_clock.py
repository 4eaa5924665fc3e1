"""The wall clock is only shown to people: however it is set, nothing runs before its time, or long after it."""

import time

from faults import Faults
from processes import wait_until

HOUR = 3600


def start(redial, receiver, tmp_path):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    return faults, redial(env=faults.env), receiver()


def test_a_wall_clock_that_jumps_forward_and_back_moves_no_call(redial, receiver, tmp_path):
    faults, service, target = start(redial, receiver, tmp_path)
    jumps = [HOUR, -HOUR, 30 * 24 * HOUR, -30 * 24 * HOUR]
    calls = {}
    begun = time.monotonic()
    for number in range(12):
        calls[service.submit(url=f"{target.url}/{number}", delay="4s")] = number
    for jump in jumps:
        time.sleep(0.2)
        faults.ahead("clock", jump)
        assert abs(service.metrics()["redial_clock_offset_seconds"] - jump) < 1
    early = [r.path for r in target.requests]
    assert time.monotonic() - begun < 4 and not early, early
    ended = [service.ended(identity, 10) for identity in calls]
    assert time.monotonic() - begun < 9
    # Shown times continue, whatever happened to the wall clock.
    for call in ended:
        assert call["state"] == "succeeded"
        assert ended[0]["createdAt"] <= call["createdAt"] < call["attempts"][0]["startedAt"] < call["finishedAt"]
    # Times and ids continue, even after a restart with the clock a month back.
    last = max(calls)
    assert service.terminate() == 0
    service.start()
    again = service.submit(url=f"{target.url}/again")
    assert again > last
    assert service.ended(again)["state"] == "succeeded"


def test_what_falls_due_while_the_machine_is_suspended_runs_when_it_wakes(redial, receiver, tmp_path):
    faults, service, target = start(redial, receiver, tmp_path)
    identity = service.submit(url=target.url, delay="30m")
    later = service.submit(url=target.url, delay="2h")
    time.sleep(0.5)
    assert not target.requests
    faults.ahead("suspended", HOUR * 0.6)
    assert service.ended(identity, 10)["state"] == "succeeded"
    wait_until(lambda: len(target.requests) == 1, "it ran once")
    assert service.get(later)["state"] == "scheduled"

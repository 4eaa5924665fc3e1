"""The wall clock is only shown to people: however it is set, nothing runs before its time, or long after it."""

import time

from faults import Faults

HOUR = 3600


def answer(request):
    # Takes longer than the precision of the times that are shown.
    time.sleep(0.005)
    return 200, {}, b""


def start(redial, receiver, tmp_path, **options):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    return faults, redial(env=faults.env, **options), receiver(answer)


def test_a_wall_clock_that_jumps_forward_and_back_moves_no_call(redial, receiver, tmp_path):
    faults, service, target = start(redial, receiver, tmp_path, clock=True)
    calls = [service.submit(url=f"{target.url}/{number}", delay="10h") for number in range(12)]

    def none_has_run():
        """A call from its submission to its end: whatever was due at its start has begun before it."""
        assert service.ended(service.submit(url=f"{target.url}/between"))["state"] == "succeeded"
        assert {request.path for request in target.requests} == {"/between"}

    for jump in (HOUR, -HOUR, 30 * 24 * HOUR, -30 * 24 * HOUR):
        faults.ahead("clock", jump)
        assert abs(service.metrics()["redial_clock_offset_seconds"] - jump) < 60
        none_has_run()
    service.advance(9 * HOUR)
    none_has_run()
    # They run when their time has come, and not when the wall clock says so, which is a month late.
    service.advance(HOUR)
    ended = [service.ended(identity) for identity in calls]
    # Shown times continue, whatever happened to the wall clock.
    for call in ended:
        assert call["state"] == "succeeded"
        assert ended[0]["createdAt"] <= call["createdAt"] < call["attempts"][0]["startedAt"] < call["finishedAt"]
    # Times and ids continue, even after a restart with the clock a month back.
    last = service.submit(url=f"{target.url}/last")
    assert service.ended(last)["state"] == "succeeded" and last > max(calls)
    assert service.terminate() == 0
    service.start()
    again = service.submit(url=f"{target.url}/again")
    assert again > last
    assert service.ended(again)["state"] == "succeeded"


def test_what_falls_due_while_the_machine_is_suspended_runs_when_it_wakes(redial, receiver, tmp_path):
    # Without the test clock, which wakes the service all the time. So this takes the few seconds after which it looks.
    faults, service, target = start(redial, receiver, tmp_path)
    identity = service.submit(url=f"{target.url}/soon", delay="30m")
    later = service.submit(url=f"{target.url}/later", delay="2h")
    service.ended(service.submit(url=f"{target.url}/now"))
    assert [request.path for request in target.requests] == ["/now"]
    faults.ahead("suspended", HOUR * 0.6)
    assert service.ended(identity)["state"] == "succeeded"
    assert [request.path for request in target.requests] == ["/now", "/soon"]
    assert service.get(later)["state"] == "scheduled"

"""The observers for swift-log and swift-metrics compile, with stand-ins for these two, and report events."""

import pytest

import samples
from processes import ROOT

pytestmark = pytest.mark.part("builds")

PACKAGE = ROOT / "Tests/Observers"


def test_the_observers_say_what_happens():
    env = {"REDIAL_STAND_INS": "1"}
    built = samples.swift("build", "-q", "-c", "release", package=PACKAGE, seconds=900, env=env)
    assert built.returncode == 0, built.stdout[-8000:]
    ran = samples.swift("run", "--skip-build", "-c", "release", "observe", package=PACKAGE, seconds=60, env=env)
    assert ran.returncode == 0, ran.stdout
    lines = ran.stdout.splitlines()
    counts = [line for line in lines if line.startswith("count ")]
    assert counts == [
        "count redial_attempts[name=user,result=failed] 1",
        "count redial_attempts[name=user,result=failed] 1",
        "count redial_attempts[name=user,result=succeeded] 1",
        "count redial_runs[name=user,result=succeeded] 1",
        "count redial_breaker_changes[name=user,to=open] 1",
        "count redial_runs[name=user,result=gaveUp] 1",
    ], ran.stdout
    assert [line for line in lines if line.startswith("time ")] == ["time redial_waits[name=user,reason=backoff] 1000000"] * 2
    log = [line for line in lines if line.startswith("log ")]
    assert log[0] == "log debug user: attempt 1 begins | retry.attempt=1 retry.name=user"
    assert sum(line.startswith("log info user: attempt ") and "retry.error=Broken" in line for line in log) == 2
    assert sum(line.startswith("log warning ") for line in log) == 2
    assert log[-1].endswith("retry.attempts=0 retry.name=user retry.reason=tripped")

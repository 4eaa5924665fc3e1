"""A loaded service that is killed again and again loses no call, and repeats only attempts that were in flight at a
kill. `REDIAL_CRASH_ROUNDS` is the number of kills (20), `REDIAL_CRASH_SEED` the seed of their moments. The
campaign runs it with the binary that ships.
"""

import json
import os
import time

import pytest

from crashes import FLAGS, CrashLoop, Target, assert_nothing_lost, rounds_wanted

pytestmark = pytest.mark.part("crashes")


@pytest.fixture
def target(made, tmp_path):
    server = Target(tmp_path, seed=1)
    made.append(server)
    return server


def test_nothing_is_lost_and_nothing_done_twice_over_kills_at_random_moments(redial, target):
    begun = time.monotonic()
    loop = CrashLoop(redial(*FLAGS), target, seed=int(os.environ.get("REDIAL_CRASH_SEED", 1)))
    rounds = rounds_wanted(20)
    load = loop.rounds(rounds)
    figures = loop.check(load)
    print("\n" + json.dumps({"rounds": rounds, **figures, "seconds": round(time.monotonic() - begun, 1)}))
    assert_nothing_lost(figures)
    assert figures["interrupted"] > 0, "no attempt was under way at any kill"
    loop.check_store()

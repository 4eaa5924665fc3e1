"""Three instances on one database are killed, stopped, cut off and restarted, and the database is restarted and fails over to
a synchronous standby: no call is lost, none runs twice at a time, and only attempts that were in flight are repeated.

`REDIAL_CRASH_ROUNDS` is the number of disturbances (4), `REDIAL_CRASH_SEED` the seed of their moments, and
`REDIAL_CRASH_HISTORY` the file that gets a line of JSON for everything that happened (see `History`).
"""

import json
import os
import time

import pytest

from crashes import FLAGS, Target, rounds_wanted
from databases import replicated
from networks import Network
from processes import Redial, wait_until
from replica_crashes import History, ReplicaCrashes, assert_nothing_lost

pytestmark = pytest.mark.part("crashes")

INSTANCES = 3


def test_nothing_is_lost_and_nothing_runs_twice_at_a_time_whatever_is_disturbed(made, tmp_path, database):
    begun = time.monotonic()
    seed = int(os.environ.get("REDIAL_CRASH_SEED", 1))
    cluster, target = database(), Target(tmp_path, seed=seed)
    history = History(os.environ.get("REDIAL_CRASH_HISTORY", tmp_path / "history.jsonl"))
    made += [target, history]

    def replicate(primary):
        made.append(replicated(primary))
        return made[-1]

    services, networks = [], []
    for number in range(INSTANCES):
        networks.append(Network(cluster))
        folder = tmp_path / f"instance{number}"
        folder.mkdir()
        services.append(Redial(folder, *FLAGS, location=networks[-1].url))
        made += [networks[-1], services[-1]]
    for service in services:
        service.start()
    wait_until(lambda: cluster.query(
        "SELECT count(DISTINCT owner) FROM redial.leases WHERE owner IS NOT NULL", "redial") == [[str(INSTANCES)]],
        "all instances have shards")
    loop = ReplicaCrashes(cluster, services, networks, target, history, seed, replicate)
    rounds = rounds_wanted(4)
    load = loop.rounds(rounds)
    figures = loop.check(load)
    print("\n" + json.dumps({"rounds": rounds, **figures, "seconds": round(time.monotonic() - begun, 1)}))
    assert_nothing_lost(figures)
    loop.check_tables()

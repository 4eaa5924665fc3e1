"""Instances that share a database are replaced one after the other, under load, as a rolling deploy does; and one joins."""

import threading
import time

import pytest

from crashes import FLAGS, Target
from processes import Client, wait_until
from replica_crashes import History, Load, ReplicaCrashes, assert_nothing_lost
from test_replicas import LASTING, spread

pytestmark = pytest.mark.part("database")


class Upstreams(Load):
    """Clients that ask another instance only if one has closed the connection, as a proxy does for them."""

    def submit(self, connections, service, number, descriptor):
        client = connections.setdefault(service.port, Client(service.port))
        try:
            return client("POST", "/v1/calls", descriptor, {"idempotency-key": f"\"load-{number}\""})
        except ConnectionError:
            time.sleep(0.01)
            return None


def test_a_rolling_deploy_refuses_nothing_and_runs_nothing_twice(made, tmp_path, instances):
    target = Target(tmp_path, seed=1)
    history = History(tmp_path / "history.jsonl")
    made += [target, history]
    cluster, services = instances(3, *FLAGS)
    checker = ReplicaCrashes(cluster, services, [], target, history, seed=1)
    load = Upstreams(services, target, history)

    def goes_on():
        wanted = len(load.acknowledged) + 50
        wait_until(lambda: len(load.acknowledged) >= wanted, "calls are accepted")

    try:
        goes_on()
        for service in services:
            assert service.terminate() == 0
            goes_on()
            service.start()
            wait_until(lambda: service("GET", "/readyz").status == 200, "it has a share")
            goes_on()
    finally:
        load.stop()
    figures = checker.check(load)
    assert_nothing_lost(figures)
    # Attempts in flight end before their instance does.
    assert (figures["interrupted"], figures["duplicates"]) == (0, 0), figures
    checker.check_tables()


def test_an_instance_that_joins_gets_its_share_and_idle_shards_first(instances, receiver):
    answered = threading.Event()
    target = receiver(lambda request: (answered.wait(60) and 200, {}, b""))
    cluster, (first,) = instances(1, *LASTING)
    calls = [first.submit(**call, policy={"attemptTimeout": "10m"}) for call in spread(target.url)]
    for _ in calls:
        target.next()
    owners = ("SELECT DISTINCT l.owner FROM redial.leases l JOIN redial.targets t ON t.shard = l.shard "
              "WHERE t.key LIKE '%target%'")
    before = cluster.query(owners, "redial")
    _, (second,) = instances(1, *LASTING, on=cluster)
    shares = "SELECT count(*) FROM redial.leases WHERE owner IS NOT NULL GROUP BY owner"
    wait_until(lambda: cluster.query(shares, "redial") == [["32"], ["32"]], "both have even shares")
    # The shards with attempts in flight, and only these, had a reason to stay.
    assert len(before) == 1 and cluster.query(owners, "redial") == before
    answered.set()
    for identity in calls:
        assert [a["outcome"] for a in second.ended(identity)["attempts"]] == ["answered"]
    assert len(target.requests) == len(calls)

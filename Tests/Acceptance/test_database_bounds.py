"""What clients see when the database has no room, no connection left, or is far away, and afterwards."""

import concurrent.futures
import http.client
import pathlib
import random
import tempfile

import pytest

from crashes import FLAGS, Target
from databases import Database
from faults import SmallDisk
from networks import Network
from processes import Client, run, wait_until
from replica_crashes import History, Load, ReplicaCrashes, assert_nothing_lost
from test_replicas import LASTING, spread

pytestmark = pytest.mark.part("database")

ROOM = 16 << 10
# How long a client waits for an answer, in seconds.
PATIENCE = 2


def submit(service, url):
    """Submits a call with a body that cannot be compressed. Returns None if nobody knows yet whether it was accepted."""
    client = Client(service.port)
    client.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE)
    try:
        return client("POST", "/v1/calls", {"url": url, "target": "t", "body": random.randbytes(ROOM).hex()})
    except TimeoutError:
        return None


@pytest.mark.parametrize("full", ["files", "log"])
def test_while_the_databases_disk_is_full_calls_are_refused_and_none_is_lost(made, instances, receiver, full):
    target = receiver()
    # The user postgres cannot look into the test's own folder.
    place = pathlib.Path(tempfile.mkdtemp(prefix="redialdisk", dir="/tmp"))
    place.chmod(0o755)
    disk = SmallDisk(place / "disk", 128)
    made.append(disk)
    cluster = Database(**{full: disk.path}, max_wal_size="64MB", wal_recycle="off")
    made.append(cluster)
    _, services = instances(2, on=cluster.start())
    accepted = [s.submit(url=target.url, delay="1s") for s in services for _ in range(5)]
    disk.fill()
    refusals = {}

    def are_refused():
        for service in services:
            answer = submit(service, target.url)
            if answer is None:
                # It may have been made when the server ended.
                continue
            if answer.status == 202:
                # There was still room in files that the server has already.
                accepted.append(answer.json["id"])
                continue
            assert answer.status in (503, 507), answer.body
            assert int(answer.headers["retry-after"]) >= 1, answer.status
            refusals.setdefault(service, []).append(answer.status)
        return all(len(refusals.get(service, ())) >= 20 for service in services)

    wait_until(are_refused, "calls are refused")
    if full == "files":
        # The server goes on, and says why.
        assert any(507 in statuses for statuses in refusals.values()), refusals
        assert any("Free space on the database server's disk" in s.log.read_text() for s in services)
    disk.free()
    # A server that cannot write its log ends.
    cluster.revive()
    for service in services:
        wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
        accepted.append(service.submit(url=target.url))
    for identity in accepted:
        assert services[0].ended(identity)["state"] == "succeeded"
    assert len(target.requests) >= len(accepted)


@pytest.fixture
def limited(database):
    """A cluster with a role of which the connections are counted, as they are not of a superuser's."""
    cluster = database()
    cluster.query("CREATE ROLE limited LOGIN")
    cluster.query("GRANT CREATE ON DATABASE redial TO limited")
    return cluster, f"postgresql://limited@/redial?host={cluster.folder}"


def test_without_a_connection_left_an_instance_does_not_start_and_says_why(limited, tmp_path):
    cluster, url = limited
    cluster.query("ALTER ROLE limited CONNECTION LIMIT 0")
    ended = run("serve", "--listen", "127.0.0.1:0", "--store", url)
    assert ended.returncode != 0
    assert "too many connections for role" in ended.stderr and "Raise the connection limit" in ended.stderr, ended.stderr


def test_an_instance_that_gets_no_connection_any_more_refuses_calls_until_it_gets_one(limited, instances, receiver):
    target, (cluster, url) = receiver(), limited
    _, (service,) = instances(1, on=cluster, each=lambda number: {"location": url})
    accepted = [service.submit(url=target.url, delay="1s") for _ in range(5)]
    cluster.query("ALTER ROLE limited CONNECTION LIMIT 0")
    cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'")

    def is_refused():
        answer = service("POST", "/v1/calls", {"url": target.url})
        if answer.status == 202:
            accepted.append(answer.json["id"])
            return False
        assert (answer.status, int(answer.headers["retry-after"]) >= 1) == (503, True), answer.body
        return True

    wait_until(is_refused, "calls are refused")
    wait_until(lambda: "Raise the connection limit" in service.log.read_text(), "the log says what to do")
    cluster.query("ALTER ROLE limited CONNECTION LIMIT -1")
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    accepted.append(service.submit(url=target.url))
    for identity in accepted:
        assert service.ended(identity)["state"] == "succeeded"


def test_a_database_that_is_far_away_makes_calls_slow_and_nothing_else(made, instances, database, receiver):
    target, cluster = receiver(), database()
    ways = [Network(cluster) for _ in range(2)]
    made += ways
    _, services = instances(2, *FLAGS, *LASTING, on=cluster, each=lambda number: {"location": ways[number].url})
    sessions, ends = "SELECT id FROM redial.sessions ORDER BY id", "SELECT max(expires_at), min(expires_at) FROM redial.beats"
    before = cluster.query(sessions, "redial")
    for way in ways:
        # 100 ms for a way and back.
        way.tell("slow", 0.05)
    last_end = int(cluster.query(ends, "redial")[0][0])
    down = services[0].submit(url=f"{target.url}/later", delay="1s")
    work = [(service, call) for call in spread(target.url, 8) for service in services]
    with concurrent.futures.ThreadPoolExecutor(len(work)) as pool:
        calls = list(pool.map(lambda pair: (pair[0], pair[0].submit(**pair[1])), work))
        # Started and ended by the owner, whoever that is.
        for call in pool.map(lambda pair: pair[0].ended(pair[1]), calls):
            assert (call["state"], [a["number"] for a in call["attempts"]]) == ("succeeded", [1])
        change = lambda pair: pair[0]("PUT", f"/v1/targets/{pair[1]['target']}", {"maxInFlight": 3}).status
        assert set(pool.map(change, work[:4])) == {200}
    assert services[1].ended(down)["state"] == "succeeded"
    assert len(target.requests) == len(work) + 1
    wait_until(lambda: int(cluster.query(ends, "redial")[0][1]) > last_end, "both leases are renewed")
    assert cluster.query(sessions, "redial") == before
    assert not any("leaseLost" in service.log.read_text() for service in services)


def test_a_snapshot_that_is_held_and_tables_that_nobody_vacuums_break_nothing(made, tmp_path, database, instances):
    cluster, target = database(), Target(tmp_path, seed=1)
    history = History(tmp_path / "history.jsonl")
    made += [target, history]
    _, services = instances(2, *FLAGS, *LASTING, on=cluster)
    for (table,) in cluster.query(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'redial'::regnamespace", "redial"):
        cluster.query(f"ALTER TABLE redial.{table} SET (autovacuum_enabled = false)", "redial")
    checker = ReplicaCrashes(cluster, services, [], target, history, seed=1)
    with cluster.session("redial") as session:
        session("BEGIN ISOLATION LEVEL REPEATABLE READ")
        session("SELECT count(*) FROM redial.live")
        load = Load(services, target, history)
        try:
            wait_until(lambda: len(load.acknowledged) >= 500, "calls are accepted")
        finally:
            load.stop()
        figures = checker.check(load)
        # What ended is still there, for the snapshot.
        dead = "SELECT sum(n_dead_tup) FROM pg_stat_user_tables"
        wait_until(lambda: int(cluster.query(dead, "redial")[0][0]) > len(load.acknowledged), "it is counted")
        assert session("SELECT count(*) FROM redial.live") == session("SELECT count(*) FROM redial.done") == ["0"]
    assert_nothing_lost(figures)
    checker.check_tables()

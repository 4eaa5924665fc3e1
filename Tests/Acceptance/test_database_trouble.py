"""What clients see while the database of an instance is in trouble, and afterwards."""

import concurrent.futures
import subprocess

import pytest

from databases import PROGRAMS
from networks import Network
from processes import BOUND, wait_until
from test_events import Stream
from test_replicas import LASTING


def test_while_the_database_is_away_calls_are_refused_and_accepted_ones_go_on_when_it_is_back(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1)
    accepted = [service.submit(url=target.url, delay="1s") for _ in range(5)]
    cluster.stop("immediate")

    def is_refused_without_a_lease():
        is_over = "leaseLost" in service.log.read_text()
        answer = service("POST", "/v1/calls", {"url": target.url})
        if answer.status == 202:
            # It was committed before the stop was noticed: so it counts.
            accepted.append(answer.json["id"])
            return False
        assert (answer.status, answer.json["status"]) == (503, 503), answer.body
        assert int(answer.headers["retry-after"]) >= 1
        return is_over
    # So long that the session is over when the database is back.
    wait_until(is_refused_without_a_lease, "the lease is over, and calls are refused")
    assert service("GET", "/readyz").status == 503 and service("GET", "/healthz").status == 200
    assert service("GET", f"/v1/calls/{accepted[0]}").status == 503
    cluster.start()
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    accepted.append(service.submit(url=target.url))
    for identity in accepted:
        assert service.ended(identity)["state"] == "succeeded"


def test_a_key_whose_submission_was_in_doubt_makes_one_call(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1, *LASTING)
    cluster.stop("immediate")
    submit = lambda: service("POST", "/v1/calls", {"url": target.url}, {"idempotency-key": "in-doubt"})
    assert submit().status == 503
    cluster.start()
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    answers = [submit() for _ in range(3)]
    assert all(answer.status in (200, 202) for answer in answers), [answer.body for answer in answers]
    assert len({answer.json["id"] for answer in answers}) == 1
    service.ended(answers[0].json["id"])
    assert len(target.requests) == 1


def test_a_submission_that_is_in_doubt_while_the_database_is_away_gets_an_answer(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1, *LASTING)
    # It keeps the commit open until the server stops.
    holder = subprocess.Popen(
        [f"{PROGRAMS[0]}/psql", "-X", "-q", "-h", cluster.folder, "-U", "postgres", "-d", "redial", "-c",
         "BEGIN; LOCK redial.requests IN EXCLUSIVE MODE; SELECT pg_sleep(600)"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'redial'"
    try:
        wait_until(lambda: cluster.query(
            "SELECT count(*) FROM pg_locks WHERE mode = 'ExclusiveLock' AND granted AND relation IS NOT NULL")
            != [["0"]], "the table is locked")
        submit = lambda: service("POST", "/v1/calls", {"url": target.url}, {"idempotency-key": "doubted"})
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(submit)
            wait_until(lambda: cluster.query(waiting) == [["1"]], "the commit waits")
            cluster.stop("immediate")
            doubted = answer.result(BOUND)
    finally:
        holder.kill()
        holder.wait(BOUND)
    assert (doubted.status, doubted.json["code"]) == (503, "outcomeUnknown"), doubted.body
    assert int(doubted.headers["retry-after"]) >= 1
    cluster.start()
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    again = submit()
    assert again.status in (200, 202), again.body
    assert service.ended(again.json["id"])["state"] == "succeeded"
    assert len(target.requests) == 1


# In the statements of heartbeats. The lane's process is in the table of them.
HEARTBEATS = "beats|sessions|versions|quiet_until|LISTEN|pg_notify"


@pytest.fixture
def unread(database, instances):
    """Starts an instance. Its readers then lose their connections and get no others; its lane and its heartbeat keep theirs."""
    cluster = database()
    cluster.query("CREATE ROLE limited LOGIN")
    cluster.query("GRANT CREATE ON DATABASE redial TO limited")
    _, (service,) = instances(1, on=cluster, each=lambda number: {
        "location": f"postgresql://limited@/redial?host={cluster.folder}"})

    def end_readers(call):
        cluster.query("ALTER ROLE limited CONNECTION LIMIT 0")

        def are_ended():
            cluster.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited' "
                f"AND query !~ '{HEARTBEATS}' AND pid NOT IN (SELECT backend FROM redial.beats)", "redial")
            return cluster.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'limited'") == [["2"]]
        wait_until(are_ended, "only two connections are left")
        assert service("GET", f"/v1/calls/{call}").status == 503
    return cluster, service, end_readers


def test_what_was_accepted_or_done_is_answered_so_although_it_cannot_be_read(unread, receiver):
    target, (cluster, service, end_readers) = receiver(), unread
    ended = service.ended(service.submit(url=target.url))["id"]
    cancelled, retried = (service.submit(url=target.url, delay="1h") for _ in range(2))
    end_readers(ended)
    accepted = service("POST", "/v1/calls", {"url": target.url}, {"prefer": "wait=10"})
    assert (accepted.status, accepted.json["attempts"]) == (202, []), accepted.body
    done = {
        cancelled: service("POST", f"/v1/calls/{cancelled}/cancel"), retried: service("POST", f"/v1/calls/{retried}/retry"),
        ended: service("DELETE", f"/v1/calls/{ended}/content?labels=true")}
    for identity, answer in done.items():
        assert (answer.status, answer.json["id"]) == (202, identity), answer.body
        assert answer.headers["location"] == f"/v1/calls/{identity}"
    assert done[cancelled].json["state"] == "cancelled" and done[cancelled].json["finishedAt"]
    assert done[ended].json["contentErasedAt"]
    cluster.query("ALTER ROLE limited CONNECTION LIMIT -1")
    wait_until(lambda: service("GET", f"/v1/calls/{ended}").status == 200, "it can be read again")
    ends = {identity: service.ended(identity)["state"] for identity in (accepted.json["id"], cancelled, retried)}
    assert list(ends.values()) == ["succeeded", "cancelled", "succeeded"]
    assert service.get(ended)["contentErasedAt"] == done[ended].json["contentErasedAt"]
    assert len(target.requests) == 3


def test_a_listener_is_told_that_it_misses_what_cannot_be_read(unread, receiver):
    target, (cluster, service, end_readers) = receiver(), unread
    ended = service.ended(service.submit(url=target.url))["id"]
    stream = Stream(service)
    end_readers(ended)
    missed = service.submit(url=target.url)
    assert stream.until("reset")["data"] == {"reason": "storeUnavailable"}
    cluster.query("ALTER ROLE limited CONNECTION LIMIT -1")
    wait_until(lambda: service("GET", f"/v1/calls/{ended}").status == 200, "it can be read again")
    assert service.ended(missed)["state"] == "succeeded"
    # It hears again, and may go on after the gap.
    later = service.submit(url=target.url)
    event = lambda events, kind: next((e for e in events if (e["type"], e["data"].get("id")) == (kind, later)), None)
    wait_until(lambda: event(stream.events, "call.succeeded"), "it hears of the end")
    again = Stream(service, after=event(stream.events, "call.accepted")["eventId"])
    wait_until(lambda: event(again.events, "call.succeeded"), "it hears of the end again")
    assert "reset" not in again.types()


def test_a_submission_that_a_silent_database_is_storing_gets_an_answer(made, instances, database, receiver):
    target, cluster = receiver(), database()
    way = Network(cluster)
    made.append(way)
    _, (service,) = instances(1, on=cluster, each=lambda number: {"location": way.url})
    submit = lambda: service("POST", "/v1/calls", {"url": target.url}, {"idempotency-key": "silent"})
    way.tell("cut")
    doubted = submit()
    assert (doubted.status, doubted.json["code"]) == (503, "outcomeUnknown"), doubted.body
    assert int(doubted.headers["retry-after"]) >= 1
    # The lane still waits for its answer.
    assert "storeFailed" not in service.log.read_text()
    way.tell("heal")
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    again = submit()
    assert again.status in (200, 202), again.body
    assert service.ended(again.json["id"])["state"] == "succeeded"
    assert len(target.requests) == 1


def test_a_change_that_a_silent_database_should_store_gets_an_answer(made, instances, database):
    cluster = database()
    way = Network(cluster)
    made.append(way)
    _, (service,) = instances(1, *LASTING, on=cluster, each=lambda number: {"location": way.url})
    put = lambda name: service("PUT", f"/v1/policies/{name}", {"maxAttempts": 2})
    assert put("before").status in (200, 201)
    way.tell("cut")
    # It may have been sent before the silence was noticed.
    assert put("sent").json["code"] in ("outcomeUnknown", "storageUnavailable")
    assert service("POST", "/v1/calls", {"url": "http://127.0.0.1:9"}).json["code"] == "outcomeUnknown"
    behind = put("behind")
    assert (behind.status, behind.json["code"]) == (503, "storageUnavailable"), behind.body
    assert "not made" in behind.json["detail"]
    # The lane still waits for its answer, and the change for the lane.
    assert "storeFailed" not in service.log.read_text()
    way.tell("heal")
    wait_until(lambda: put("after").status in (200, 201), "changes are made again")
    # Documents are shown as soon as the lease is renewed, on a connection of its own.
    wait_until(lambda: service("GET", "/v1/policies/before").status == 200, "documents are shown again")
    assert service("GET", "/v1/policies/behind").status == 404

"""A standby takes over from the database of two instances: what they do, and what is lost."""

import concurrent.futures
import threading
import time

import pytest

from crashes import FLAGS, Target
from networks import Network
from processes import Client, Redial, wait_until
from replica_crashes import History, Load, ReplicaCrashes, assert_nothing_lost
from test_lost_commits import told
from test_replica_doctor import doctor
from test_replicas import spread

pytestmark = pytest.mark.part("database")


def test_after_a_failover_to_a_synchronous_standby_nothing_is_lost(made, tmp_path, servers, instances):
    pair, target = servers(synchronous=True), Target(tmp_path, seed=1)
    history = History(tmp_path / "history.jsonl")
    made += [target, history]
    _, services = instances(2, *FLAGS, on=pair)
    checker = ReplicaCrashes(pair, services, [], target, history, seed=1)
    load = Load(services, target, history)
    try:
        wait_until(lambda: len(load.acknowledged) >= 100, "calls are accepted")
        began = time.monotonic()
        pair.fail_over()
        checker.disturbances.append((began, time.monotonic()))
        wanted = len(load.acknowledged) + 100
        wait_until(lambda: len(load.acknowledged) >= wanted, "calls are accepted again")
    finally:
        load.stop()
    assert_nothing_lost(checker.check(load))
    checker.check_tables()
    for service in services:
        assert not told(service) and "noStandby" not in service.log.read_text()
    assert not {w["subject"] for w in doctor(pair)["warnings"]} & {"lostCommits"}


def test_what_an_asynchronous_standby_lacks_is_found_and_told_and_the_rest_stands(servers, instances, receiver):
    target = receiver()
    pair = servers(synchronous=False)
    _, services = instances(2, on=pair)

    def submit(name, number, **more):
        descriptor = {"url": f"{target.url}/{name}{number}", "target": f"{name}{number}", **more}
        return services[number % 2]("POST", "/v1/calls", descriptor, {"idempotency-key": f"{name}-{number}"})

    def ended(name, numbers):
        answers = {number: submit(name, number) for number in numbers}
        assert {a.status for a in answers.values()} == {202}, [a.body for a in answers.values()]
        calls = {number: services[1 - number % 2].ended(a.json["id"]) for number, a in answers.items()}
        assert {c["state"] for c in calls.values()} == {"succeeded"}
        return {number: call["id"] for number, call in calls.items()}

    def requests(name):
        return sorted(r.path for r in target.requests if r.path.startswith(f"/{name}"))

    kept = ended("kept", range(10))
    assert services[0]("POST", "/v1/targets/waiting0/pause").json["paused"]
    waiting = submit("waiting", 0).json["id"]
    pair.catch_up()
    pair.standby.cut()
    # More targets than PostgreSQL takes numbers from a sequence in advance: the new server gives the same numbers to others.
    lost = ended("lost", range(40))
    assert services[1]("POST", "/v1/targets/waiting0/resume").status == 200
    assert services[1].ended(waiting)["state"] == "succeeded"
    pair.fail_over()
    for service in services:
        wait_until(lambda: told(service), "the loss is told")
        service.says("leaseLost")
        wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    for number, identity in kept.items():
        again = submit("kept", number)
        assert (again.json["id"], again.json["state"]) == (identity, "succeeded"), again.body
    assert all(s("GET", f"/v1/calls/{identity}").status == 404 for s in services for identity in lost.values())
    # Targets that nobody knew are given their numbers before those that the instances know from the server before.
    ended("new", range(40))
    anew = ended("lost", range(40))
    assert not set(anew.values()) & set(lost.values())
    for service in services:
        for name in ("new", "lost"):
            for number in range(40):
                key = f"{name}{number}"
                found = service("GET", f"/v1/calls?target={key}").json["data"]
                assert [(c["target"], c["state"]) for c in found] == [(key, "succeeded")], (key, found)
    # The target is paused again, because its start was lost; and so was the end of the call.
    wait_until(lambda: services[0].get(waiting)["state"] in ("scheduled", "queued"), "the call waits again")
    assert services[0]("GET", "/v1/targets/waiting0").json["paused"]
    assert services[0]("POST", "/v1/targets/waiting0/resume").status == 200
    assert services[1].ended(waiting)["state"] == "succeeded"
    assert requests("kept") == sorted(f"/kept{number}" for number in range(10))
    assert requests("new") == sorted(f"/new{number}" for number in range(40))
    assert requests("lost") == sorted(2 * [f"/lost{number}" for number in range(40)])
    assert requests("waiting") == 2 * ["/waiting0"]


def test_a_commit_that_no_synchronous_standby_has_is_not_taken_for_made(made, tmp_path, servers, receiver):
    target, pair = receiver(), servers(synchronous=True)
    ways = [Network(pair.primary) for _ in range(2)]
    made += ways
    services = []
    for number, way in enumerate(ways):
        (tmp_path / f"{number}").mkdir()
        services.append(Redial(tmp_path / f"{number}", location=way.url).start())
        made.append(services[-1])

    def submit(service, key):
        return Client(service.port)("POST", "/v1/calls", {"url": target.url}, {"idempotency-key": key})

    def count(what):
        return int(pair.query(f"SELECT count(*) FROM {what}", "redial")[0][0])

    waiting = "pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'redial'"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number in range(100):
            pair.catch_up()
            before = count("redial.requests")
            pair.standby.stop()
            answers = [pool.submit(submit, services[0], f"k{number}")]
            wait_until(lambda: count(waiting), "a commit waits for a standby")
            if count(f"{waiting} AND query LIKE 'DELETE FROM keys%'"):
                break
            # It was other work, behind which the submission waits.
            pair.standby.start()
            services[0].ended(answers[0].result().json["id"])
        ways[0].tell("drop")
        wait_until(lambda: count("pg_stat_activity WHERE application_name = 'redial' AND state = 'active' "
                                 "AND query LIKE '%SET conn = conn + 1%'"),
                   "the instance asks by a new connection whether it was made")
        # The server has it, and shows it to nobody as long as no standby has it.
        assert count("redial.requests") == before
        answers.append(pool.submit(submit, services[1], f"k{number}"))
        pair.primary.stop("immediate")
        pair.standby.start()
        pair.primary = pair.standby.promote()
        pair.primary.change(synchronous_standby_names="")
        for way in ways:
            way.lead_to(pair.primary)
        answers = [a.result() for a in answers]
    for service in services:
        wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    answers += [submit(service, f"k{number}") for service in services]
    accepted = {a.json["id"] for a in answers if a.status in (200, 202)}
    assert len(accepted) == 1 and {a.status for a in answers} <= {200, 202, 503}
    assert services[1].ended(accepted.pop())["state"] == "succeeded"
    assert len(target.requests) == 1 + number


def test_leases_are_renewed_while_the_synchronous_standby_is_away(servers, instances, receiver):
    answered = threading.Event()
    target, pair = receiver(lambda request: (answered.wait(60) and 200, {}, b"")), servers(synchronous=True)
    _, services = instances(2, "--lease-duration", "4s", on=pair)
    calls = [services[0].submit(**call, policy={"attemptTimeout": "10m"}) for call in spread(target.url)]
    for _ in calls:
        target.next()
    ends = "SELECT min(expires_at) FROM redial.beats"
    pair.standby.stop()
    begun = int(pair.query(ends, "redial")[0][0])
    # Two leases later.
    wait_until(lambda: int(pair.query(ends, "redial")[0][0]) > begun + 8_000_000, "the leases are renewed")
    pair.standby.start()
    answered.set()
    for identity in calls:
        call = services[1].ended(identity)
        assert [a["outcome"] for a in call["attempts"]] == ["answered"], call
    assert len(target.requests) == len(calls)
    assert not any("leaseLost" in service.log.read_text() for service in services)

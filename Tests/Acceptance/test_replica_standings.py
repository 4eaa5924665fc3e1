"""Several instances: why a call waits for its target, told by one that does not run it."""

import pytest

from processes import Constants, wait_until
from test_replica_forwarding import owners
from test_replicas import LASTING


def reasons(services, identity):
    return [(call["waitingOn"], call["nextAttemptAt"]) for call in (service.get(identity) for service in services)]


def listed(service, name):
    return {call["waitingOn"] for call in service("GET", f"/v1/calls?target={name}&state=scheduled").json["data"]}


def test_every_instance_says_that_a_target_is_paused_or_tripped(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING)
    for own in owners(cluster, services, target.url):
        name = own[0]
        for command, back, reason in (("pause", "resume", "paused"), ("trip", "reset", "breaker")):
            assert services[0]("POST", f"/v1/targets/{name}/{command}").status == 200
            call = services[0].submit(url=target.url, target=name)
            assert reasons(services, call) == [(reason, None)] * 2
            assert [listed(service, name) for service in services] == [{reason}] * 2
            for service in services:
                for query in (f"target={name}&waitingOn={reason}", f"waitingOn={reason}"):
                    assert [one["id"] for one in service("GET", f"/v1/calls?{query}").json["data"]] == [call]
                assert service("GET", f"/v1/calls?target={name}&waitingOn=concurrency").json["data"] == []
            assert services[1]("POST", f"/v1/targets/{name}/{back}").status == 200
            assert services[1].ended(call)["state"] == "succeeded"
            assert reasons(services, call) == [(None, None)] * 2


def test_every_instance_says_until_when_a_breaker_is_open(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING)
    names = [own[0] for own in owners(cluster, services, target.url)]
    target.answer = lambda request: (500, {}, b"")
    for name in names:
        breaker = {"consecutiveFailures": 2, "failureTime": "0s", "significance": 1, "openInterval": "1h"}
        assert services[0]("PUT", f"/v1/targets/{name}", {"breaker": breaker}).status == 200
        for _ in range(2):
            services[0].submit(url=target.url, target=name, policy={"maxAttempts": 1})
        wait_until(lambda: services[0].target(name)["breaker"]["state"] == "open", "the breaker opens")
        until = services[0].target(name)["breaker"]["openUntil"]
        call = services[0].submit(url=target.url, target=name)
        assert reasons(services, call) == [("breaker", until)] * 2
        for service in services:
            for query in ("waitingOn=breaker", "nextAttemptBefore=2h"):
                assert [one["id"] for one in service("GET", f"/v1/calls?target={name}&{query}").json["data"]] == [call]
            assert service("GET", f"/v1/calls?target={name}&nextAttemptBefore={until}").json["data"] == []


def test_an_outage_that_is_over_is_kept_by_the_next_owner_of_its_target(instances, receiver):
    answers = [200]
    target = receiver(lambda request: (answers[0], {}, b""))
    cluster, services = instances(2, *LASTING)
    names = [own[0] for own in owners(cluster, services, target.url)]
    answers[0] = 500
    for name in names:
        breaker = {"consecutiveFailures": 2, "failureTime": "0s", "significance": 1, "openInterval": "1h"}
        assert services[0]("PATCH", f"/v1/targets/{name}", {"breaker": breaker}).status == 200
        for _ in range(2):
            services[0].submit(url=target.url, target=name, policy={"maxAttempts": 1})
        wait_until(lambda: services[0].target(name)["outage"], "it is down")
        assert services[0].target(name)["pastOutages"] == []
    answers[0] = 200
    for name in names:
        assert services[1]("POST", f"/v1/targets/{name}/reset").status == 200
    past = [wait_until(lambda: services[1].target(name)["pastOutages"], "its outage is over") for name in names]
    assert [[one["cause"] for one in outages] for outages in past] == [["status 500"]] * len(names)
    assert services.pop().terminate() == 0

    def kept(name):
        answer = services[0]("GET", f"/v1/targets/{name}")
        return answer.status == 200 and answer.json["pastOutages"]
    for name, outages in zip(names, past):
        assert wait_until(lambda: kept(name), "another owner has it") == outages


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_a_target_that_asked_for_a_pause_has_it_from_its_next_owner_too(instances, receiver, end):
    target = receiver()
    # The lease of an instance that is killed has to end.
    lease = LASTING if end == "terminate" else []
    cluster, services = instances(2, Constants(maxRetryAfterPause="1h"), *lease)
    name = owners(cluster, services, target.url)[1][0]
    target.answer = lambda request: (503, {"retry-after": "3600"}, b"")
    told = services[0].submit(url=target.url, target=name)
    wait_until(lambda: services[0].get(told)["attempts"], "the attempt is stored")
    until = services[0]("GET", f"/v1/targets/{name}").json["heldUntil"]
    waiting, before = services[0].submit(url=target.url, target=name), len(target.requests)
    assert reasons(services, waiting) == [("retryAfter", until)] * 2
    target.answer = lambda request: (200, {}, b"")
    getattr(services[1], end)()
    owned = "SELECT count(*) FROM redial.leases l JOIN redial.sessions s ON s.id = l.owner WHERE s.address LIKE '%:{}'"
    wait_until(lambda: cluster.query(owned.format(services[0].port), "redial") == [["64"]], "the other has all shards")
    wait_until(lambda: services[0]("GET", f"/v1/targets/{name}").status == 200, "the other knows the target")
    last = services[0].submit(url=target.url, target=name)
    assert services[0]("GET", f"/v1/targets/{name}").json["heldUntil"] == until
    assert reasons(services[:1], last) == [("retryAfter", until)] and len(target.requests) == before
    assert services[0]("POST", f"/v1/targets/{name}/release").json["heldUntil"] is None
    for call in (waiting, last):
        assert services[0].ended(call)["state"] == "succeeded"

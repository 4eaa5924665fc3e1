"""A client that listens to one instance hears what all instances do, or gets a reset if it has missed something."""

import json

from processes import wait_until
from test_events import FAST, Stream
from test_replicas import LASTING


def met(services, target, headers=None):
    """Waits until the instances send each other events, as they go on to do while nobody listens for some minutes."""
    for service in services:
        wait_until(lambda: len(service("GET", "/v1/instances", None, headers).json["data"]) == len(services),
                   "they know each other")
    streams, rounds = [Stream(service, headers=headers) for service in services], []

    def all_heard():
        # So many targets that each instance has some.
        answers = [services[0]("POST", "/v1/calls", {"url": target.url, "target": f"before{number}"}, headers)
                   for number in range(40)]
        assert {answer.status for answer in answers} == {202}, answers[0].body
        rounds.append({answer.json["id"] for answer in answers})
        heard = set.intersection(*({e["data"].get("id") for e in s.events if e["type"] == "call.succeeded"} for s in streams))
        return any(calls <= heard for calls in rounds)
    wait_until(all_heard, "all hear of the calls of all")
    for stream in streams:
        stream.close()
    return services


def told(stream):
    """The events, except those of the calls by which the instances have met."""
    return [e for e in stream.events if not e["data"].get("target", "").startswith("before")]


def spread(url, count=12):
    return [{"url": url, "target": f"target{number}", "policy": FAST} for number in range(count)]


def finished(stream):
    return sorted(e["data"]["id"] for e in told(stream) if e["type"] == "call.succeeded")


def test_each_listener_hears_of_every_call_once_wherever_it_runs(instances, receiver):
    target, hook = receiver(), receiver()
    services = met(instances(3, *LASTING)[1], target)
    streams = [Stream(service) for service in services]
    chosen = Stream(services[0], "?target=target3")
    hooks = Stream(services[1], "?kind=webhook")
    labelled = Stream(services[2], "?label=team=b&type=call.succeeded")
    calls = [{**call, "labels": {"team": "b"}, "callback": {"url": hook.url}} for call in spread(target.url)]
    ids = sorted(services[number % 3].submit(**call) for number, call in enumerate(calls))
    for stream in [*streams, labelled]:
        wait_until(lambda: finished(stream) == ids, "it has heard of all ends")
    for stream in streams:
        wait_until(lambda: len(told(stream)) == 3 * len(ids), "it has heard of all")
        for identity in ids:
            mine = [e["type"] for e in told(stream) if e["data"].get("id") == identity]
            assert sorted(mine) == ["call.accepted", "call.attempted", "call.succeeded"]
        assert "reset" not in stream.types()
    wait_until(lambda: len(finished(hooks)) == len(ids), "it has heard of all webhooks")
    wait_until(lambda: len(chosen.events) == 3, "it has heard of the call to one target")
    assert {e["data"]["target"] for e in chosen.events} == {"target3"}
    assert {e["data"]["kind"] for e in hooks.events} == {"webhook"}


def test_a_listener_that_comes_back_to_the_same_instance_has_missed_nothing(instances, receiver):
    target = receiver()
    services = met(instances(2, *LASTING)[1], target)
    first = Stream(services[0])
    services[1].submit(**spread(target.url)[0])
    wait_until(lambda: finished(first), "it has heard of the call")
    wait_until(lambda: first.last == first.events[-1]["eventId"], "the last event is complete")
    first.close()
    ids = sorted(services[1].submit(**call) for call in spread(target.url))
    for identity in ids:
        services[0].ended(identity)
    again = Stream(services[0], after=first.last)
    wait_until(lambda: set(ids) <= set(finished(again)), "it has heard of all ends")
    assert "reset" not in again.types()
    # The positions of one instance mean nothing to another.
    elsewhere = Stream(services[1], after=first.last)
    assert elsewhere.until("reset")["data"] == {"reason": "restarted"}


def test_a_listener_is_told_when_an_instance_dies_or_comes_and_hears_all_that_follows(instances, receiver):
    target = receiver()
    # Somebody has to wait until it is over.
    services = met(instances(2, "--lease-duration", "10s")[1], target)
    stream = Stream(services[0])

    def all_heard():
        ids = sorted(services[0].submit(**call) for call in spread(target.url))
        wait_until(lambda: set(ids) <= set(finished(stream)), "it has heard of all ends")

    all_heard()
    assert "reset" not in stream.types()
    services[1].kill()
    assert stream.until("reset")["data"] == {"reason": "instanceChanged"}
    wait_until(lambda: services[0]("GET", "/v1/instances").json["data"][0]["shards"] == 64, "it has all shards")
    all_heard()
    told = stream.types().count("reset")
    services[1].start()
    wait_until(lambda: stream.types().count("reset") > told, "it is told that an instance has come")
    wait_until(lambda: all(i["shards"] > 0 for i in services[0]("GET", "/v1/instances").json["data"])
               and len(services[0]("GET", "/v1/instances").json["data"]) == 2, "both have shards")
    all_heard()


def test_an_instance_that_was_killed_and_started_again_at_once_is_heard_once(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING)
    met(services, target)
    services[1].kill()
    services[1].start()
    # Its earlier session has most of its shards for as long as the lease lasts.
    own = f"""SELECT t.key FROM redial.targets t JOIN redial.leases l ON l.shard = t.shard WHERE t.key LIKE 'before%' AND l.owner = (
        SELECT b.session FROM redial.beats b JOIN redial.sessions s ON s.id = b.session WHERE s.address = '{services[1].url}'
        ORDER BY b.expires_at DESC LIMIT 1)"""
    sessions = f"SELECT count(*) FROM redial.sessions WHERE address = '{services[1].url}'"
    names = wait_until(lambda: cluster.query(sessions, "redial") == [["2"]] and cluster.query(own, "redial"), "it has targets")
    stream = Stream(services[0])
    ends = lambda call: sum(e["type"] == "call.succeeded" and e["data"]["id"] == call for e in stream.events)

    def heard():
        call = services[0].submit(url=target.url, target=names[0][0])
        wait_until(lambda: ends(call), "it hears of the end")
        return call
    # What a second stream brings comes with a later event at the latest.
    calls = [heard() for _ in range(10)]
    assert cluster.query(sessions, "redial") == [["2"]]
    assert [ends(call) for call in calls[:-1]] == [1] * 9


def test_erased_content_leaves_the_kept_events_of_all_instances(instances, receiver):
    target = receiver()
    services = met(instances(2, *LASTING)[1], target)
    streams = [Stream(service) for service in services]
    ids = [services[0].submit(url=f"{target.url}/{n}?name=secret", target=f"t{n}") for n in range(6)]
    for stream in streams:
        wait_until(lambda: finished(stream) == sorted(ids), "it has heard of all ends")
    for identity in ids:
        assert services[0]("DELETE", f"/v1/calls/{identity}/content").status == 200

    def kept(service):
        # From the first event on: its own listener has that position.
        stream = streams[services.index(service)]
        again = Stream(service, after=stream.events[0]["eventId"])
        wait_until(lambda: finished(again) == sorted(ids), "it has heard of all ends again")
        again.close()
        return json.dumps(again.events)

    for service in services:
        wait_until(lambda: "secret" not in kept(service), "nothing of it is kept")


def test_tenants_hear_of_their_own_calls_alone(instances, receiver):
    target = receiver()
    admin = {"authorization": "Bearer admin-key-of-the-tests"}
    _, services = instances(2, *LASTING, env={"REDIAL_ADMIN_KEY": "admin-key-of-the-tests"})
    for name in ("one", "other"):
        met(services, target, admin | {"redial-namespace": name})
    one, other = (Stream(services[0], headers=admin | {"redial-namespace": name}) for name in ("one", "other"))
    ids = []
    for call in spread(target.url):
        answer = services[1]("POST", "/v1/calls", call, admin | {"redial-namespace": "one"})
        assert answer.status == 202, answer.body
        ids.append(answer.json["id"])
    wait_until(lambda: finished(one) == sorted(ids), "it has heard of all ends")
    assert told(other) == []
    # The stream that instances use is not there for clients.
    assert services[0]("GET", "/v1/events/own", None, admin).status == 404
    forged = {"redial-forwarded": "1", "redial-forwarded-caller": "one admin 1 1",
              "redial-forwarded-signature": "t=1,v1,AAAA"}
    assert services[0]("GET", "/v1/events/own", None, forged).status == 403

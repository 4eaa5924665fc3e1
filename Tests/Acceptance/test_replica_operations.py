"""Bulk operations on several instances: each call is acted on once and counted once, whoever leads."""

import re
import signal

import pytest

from processes import wait_until
from test_replicas import LASTING

CALLS = 40
# The calls that an operation works on at a time, at ten times that rate.
PAGE = 2


@pytest.fixture
def failed(instances, receiver, database):
    """Instances on a slow disk, so that a page of calls has nearly always begun, and calls that have failed."""
    def start(*flags):
        target = receiver(lambda request: (404, {}, b""))
        cluster, services = instances(2, *flags, on=database(commit_delay="50000", commit_siblings="0"))
        answer = services[0]("POST", "/v1/calls/batch", [
            {"url": target.url, "target": f"t{number % 9}", "policy": {"maxAttempts": 1}} for number in range(CALLS)])
        calls = [item["call"]["id"] for item in answer.json["data"]]
        for identity in calls:
            services[0].ended(identity)
        return cluster, services, calls
    return start


def leader(service):
    """The URL of the instance that leads, once the service knows it."""
    return wait_until(
        lambda: next((i["url"] for i in service("GET", "/v1/instances").json["data"] if i["leads"]), None), "one leads")


def begin(service):
    answer = service("POST", "/v1/operations", {"action": "retry", "all": True, "ratePerSecond": 10 * PAGE})
    assert answer.status == 202, answer.body
    return answer.json["id"]


def shown(service, operation):
    """The operation, once a leader can be asked for it."""
    def answered():
        answer = service("GET", f"/v1/operations/{operation}")
        return answer.status == 200 and answer.json
    return wait_until(answered, "a leader shows the operation")


def goes_on(service, operation):
    before = shown(service, operation)["done"]

    def more():
        # On a busy machine it may even come to its end before this is seen.
        now = shown(service, operation)
        return now["done"] > before or now["state"] == "completed"
    wait_until(more, "it goes on")


def completed(service, operation):
    def over():
        now = shown(service, operation)
        return now["state"] == "completed" and now
    return wait_until(over, "it is completed")


def retries(service, calls):
    """How many calls were retried how often by hand."""
    counts = [len(service.ended(identity).get("retries", [])) for identity in calls]
    return {count: counts.count(count) for count in counts}


def ends(services, operation):
    """How often it was said that the operation has ended, which is written a moment after anybody can see it."""
    def said():
        return sum(len(re.findall(f"bulkOperationEnded.*{operation}", s.log.read_text())) for s in services)
    return wait_until(said, "the log says that it has ended")


def test_an_operation_stays_with_its_leader_when_instances_come(failed, instances):
    cluster, services, calls = failed(*LASTING)
    first = leader(services[0])
    operation = begin(services[1])
    goes_on(services[1], operation)
    _, more = instances(2, *LASTING, on=cluster)
    assert {leader(service) for service in services + more} == {first}
    over = completed(more[1], operation)
    assert (over["matched"], over["done"], over["skipped"]) == (CALLS, CALLS, 0)
    assert retries(more[0], calls) == {1: CALLS}
    assert ends(services + more, operation) == 1


def test_what_other_instances_have_purged_is_counted_as_done(instances, receiver):
    _, services = instances(2, *LASTING)
    target = receiver()
    calls = [services[0].submit(url=target.url, target=f"target{number}") for number in range(24)]
    for call in calls:
        services[0].ended(call)
    answer = services[0]("POST", "/v1/operations", {"action": "purge", "filter": {"state": "succeeded"}, "ratePerSecond": 1000})
    assert answer.status == 202, answer.body
    over = completed(services[0], answer.json["id"])
    assert (over["matched"], over["done"], over["skipped"]) == (len(calls), len(calls), 0)
    assert services[1]("GET", "/v1/calls").json["data"] == []


def test_calls_are_replayed_once_whoever_leads(failed, instances):
    cluster, services, calls = failed()
    last = services[1]
    answer = last("POST", "/v1/operations", {"action": "replay", "all": True, "ratePerSecond": 10 * PAGE})
    assert answer.status == 202, answer.body
    operation = answer.json["id"]
    goes_on(last, operation)
    url = leader(last)
    killed = next(service for service in services if service.url == url)
    _, (another,) = instances(1, on=cluster)
    killed.kill()
    over = completed(another, operation)
    assert (over["matched"], over["done"], over["skipped"]) == (CALLS, CALLS, 0)
    made = [call.get("replayOf") for call in another("GET", "/v1/calls?limit=250").json["data"]]
    assert {original: made.count(original) for original in calls} == dict.fromkeys(calls, 1)


def test_a_leader_that_stops_finishes_and_counts_its_page_before_another_continues(failed, instances):
    cluster, services, calls = failed(*LASTING)
    last = services[1]
    operation = begin(last)
    goes_on(last, operation)
    # One after another leads, and stops.
    for _ in range(2):
        url = leader(last)
        stopped = next(service for service in services if service.url == url)
        if stopped is last:
            break
        _, (another,) = instances(1, *LASTING, on=cluster)
        assert stopped.terminate() == 0
        services.append(another)
        last = another
        wait_until(lambda: leader(last) != url, "another leads")
    over = completed(last, operation)
    assert (over["matched"], over["done"], over["skipped"]) == (CALLS, CALLS, 0)
    assert retries(last, calls) == {1: CALLS}
    assert ends(services, operation) == 1


@pytest.mark.parametrize("stands_still", [True, False])
def test_an_operation_whose_leader_is_cut_off_or_killed_retries_no_call_twice(failed, stands_still):
    _, services, calls = failed("--lease-duration", "5s")
    first, second = sorted(services, key=lambda service: service.url != leader(service))
    operation = begin(second)
    goes_on(second, operation)
    first.process.send_signal(signal.SIGSTOP if stands_still else signal.SIGKILL)
    wait_until(lambda: leader(second) == second.url, "the other leads")
    goes_on(second, operation)
    if stands_still:
        # It leads no more, and learns that in the middle of a page.
        first.process.send_signal(signal.SIGCONT)
    over = completed(second, operation)
    # Of the page that had begun some calls may have been retried and not been counted.
    assert over["matched"] == CALLS and CALLS - PAGE <= over["done"] <= CALLS
    assert over["done"] + over["skipped"] <= CALLS
    assert retries(second, calls) == {1: CALLS}
    assert ends((first, second), operation) == 1

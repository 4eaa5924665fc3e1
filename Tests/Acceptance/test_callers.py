"""One caller of a target, or one target of an origin, whose answers hang does not take the places of the others."""

import threading

import pytest

from processes import BOUND

# Long enough that no attempt ends while the test runs.
PATIENT = {"maxAttempts": 1, "attemptTimeout": "10m"}


@pytest.fixture
def target(receiver):
    """Answers at once, except on paths that begin with /hangs: there it waits for the end of the test."""
    over = threading.Event()

    def answer(request):
        if request.path.startswith("/hangs"):
            over.wait(10 * BOUND)
        return 200, {}, b"ok"
    yield receiver(answer)
    over.set()


def answered(service, **descriptor):
    answer = service("POST", "/v1/calls", {"policy": PATIENT, **descriptor}, {"prefer": "wait=60"})
    return answer.status == 200 and answer.json["state"] == "succeeded"


def test_a_caller_whose_answers_hang_leaves_places_to_the_others(redial, target):
    service = redial()
    hanging = []
    for number in range(100):
        hanging.append(service.submit(url=f"{target.url}/hangs/{number}", policy=PATIENT))
        assert answered(service, url=f"{target.url}/works/{number}"), number
    in_flight = service.target(target.url)["inFlight"]
    assert 32 <= in_flight <= 48, in_flight
    assert service.get(hanging[-1])["waitingOn"] == "concurrency"


def test_targets_that_hang_at_one_origin_leave_connections_to_another(redial, target):
    service = redial("--max-connections-per-origin", "40")
    hanging = []
    for number in range(100):
        hanging.append(service.submit(url=f"{target.url}/hangs", target=f"customer-{number % 20}", policy=PATIENT))
        assert answered(service, url=f"{target.url}/works", target="works"), number
    in_flight = sum(service.target(f"customer-{number}")["inFlight"] for number in range(20))
    assert 15 <= in_flight <= 30, in_flight
    call = service.get(hanging[-1])
    # While it waits, no time of an attempt passes.
    assert (call["state"], call["waitingOn"], call["attemptCount"]) == ("scheduled", "connections", 0), call

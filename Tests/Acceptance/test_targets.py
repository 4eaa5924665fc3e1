"""Operators' control of targets, over real sockets, with restarts in between."""

import concurrent.futures
import json
import threading
from urllib.parse import quote

import pytest

from processes import BOUND, Client, run, wait_until

FAST = {"backoff": {"initial": "20ms", "max": "20ms", "jitter": "none"}}


def put(service, target, settings):
    answer = service("PUT", f"/v1/targets/{quote(target, safe='')}", settings)
    assert answer.status == 200, answer.body
    return answer.json


def post(service, target, what):
    answer = service("POST", f"/v1/targets/{quote(target, safe='')}/{what}")
    assert answer.status == 200, answer.body
    return answer.json


def settled(service, target, ran):
    """Runs a call of another target, so that what may run has begun before; then only these paths were requested."""
    assert service.ended(service.submit(url=f"{target.url}/other", target="other"))["state"] == "succeeded"
    assert [request.path for request in target.requests if request.path != "/other"] == ran


def test_settings_take_effect_at_once_and_outlive_the_process(redial, receiver):
    target = receiver()
    service = redial(clock=True)
    shown = put(service, target.url, {"rate": {"perSecond": 0.001, "burst": 1}, "maxInFlight": 3})
    assert shown["settings"]["rate"] == {"perSecond": 0.001, "burst": 1} and shown["settings"]["maxInFlight"] == 3
    assert shown["settings"]["breaker"]["openInterval"] == "500ms"
    service.kill()
    service.start()
    assert service.target(target.url)["settings"] == shown["settings"]
    calls = [service.submit(url=f"{target.url}/{n}") for n in range(11)]
    ran = []
    for n, call in enumerate(calls):
        if n:
            assert service.get(call)["waitingOn"] == "rateLimit", service.get(call)
            # The interval is 1000 s.
            service.advance(900)
            settled(service, target, ran)
            service.advance(100)
        assert service.ended(call)["state"] == "succeeded"
        ran.append(f"/{n}")
        settled(service, target, ran)
    put(service, target.url, {})
    assert service.target(target.url)["settings"]["rate"]["perSecond"] is None


def patch(service, target, change, kind="application/merge-patch+json"):
    return service("PATCH", f"/v1/targets/{quote(target, safe='')}", json.dumps(change), {"content-type": kind})


def test_a_patch_changes_one_setting_and_leaves_the_rest(redial, receiver):
    target, service = receiver(), redial()
    put(service, target.url, {"rate": {"perSecond": 0.001, "burst": 1}, "maxInFlight": 3, "slowStart": "7s"})
    service.ended(service.submit(url=target.url))
    waiting = service.submit(url=target.url)
    assert service.get(waiting)["waitingOn"] == "rateLimit"
    before = service.target(target.url)
    for nothing, kind in (({}, "application/merge-patch+json"), ({"slowStart": "7s"}, "application/json; charset=utf-8")):
        assert patch(service, target.url, nothing, kind).json["overrides"] == before["overrides"]
    # It is effective at once.
    changed = patch(service, target.url, {"rate": {"perSecond": 1000}, "slowStart": None, "pace": "fixed"})
    overrides = {"rate": {"perSecond": 1000, "burst": 1}, "maxInFlight": 3, "pace": "fixed"}
    assert (changed.status, changed.json["overrides"]) == (200, overrides), changed.body
    assert changed.json["settings"]["slowStart"] == "10s" and set(changed.json) == set(before)
    assert service.ended(waiting)["state"] == "succeeded"
    for wrong, pointer in (({"maxInFlite": None}, "/maxInFlite"), ({"maxInFlight": 1, "rate": {"burst": 0}}, "/rate/burst"),
                           ({"tls": {"caFile": "/etc/passwd"}}, "/tls/caFile"), ([1], "")):
        refused = patch(service, target.url, wrong)
        assert (refused.status, refused.json["code"]) == (422, "invalidTargetSettings"), refused.body
        assert [error["pointer"] for error in refused.json["errors"]] == [pointer]
    assert patch(service, target.url, {}, "text/plain").status == 415
    service.kill()
    service.start()
    assert service.target(target.url)["overrides"] == overrides
    assert patch(service, target.url, None).json["overrides"] == {}
    # A target without a call can be set up, as with PUT.
    assert patch(service, "new", {"maxInFlight": 2}).json["overrides"] == {"maxInFlight": 2}


def test_an_unknown_target_is_explained(redial):
    service = redial()
    meant = "This may be https://api.example.com: GET /v1/targets/https%3A%2F%2Fapi.example.com."
    for key in ("https://api.example.com/charges", "api.example.com", "https:/api.example.com"):
        answer = service("GET", f"/v1/targets/{quote(key, safe='')}")
        assert (answer.status, answer.json["code"]) == (404, "targetNotFound") and f'"{key}"' in answer.json["detail"]
        assert answer.json["detail"].endswith(meant), answer.json
    assert "GET /v1/targets lists" in service("GET", "/v1/targets/billing").json["detail"]
    plain = service("GET", "/v1/targets/https://api.example.com")
    assert (plain.status, plain.json["code"]) == (404, "notFound") and "/v1/targets/https%3A%2F%2F" in plain.json["detail"]
    shown = run("targets", "api.example.com", "--url", service.url)
    assert shown.returncode == 4 and meant in shown.stderr, shown


# Settings of a target that patches at the same time change, each its own.
FIELDS = [
    ("maxInFlight",), ("rate", "perSecond"), ("rate", "burst"), ("breaker", "probes"), ("breaker", "minCalls"),
    ("breaker", "consecutiveFailures"), ("retryBudget", "minPerSecond")]


def found(overrides, field):
    for name in field:
        overrides = overrides[name]
    return overrides


def patch_at_once(services, target, rounds=20):
    """As many clients as there are settings, each with a connection to each service, patch the same target."""

    def change(number):
        clients = [Client(service.port) for service in services]
        for turn in range(1, rounds + 1):
            value = turn
            for name in reversed(FIELDS[number]):
                value = {name: value}
            answer = patch(clients[(number + turn) % len(clients)], target, value)
            assert answer.status == 200, answer.body
            assert found(answer.json["overrides"], FIELDS[number]) == turn

    with concurrent.futures.ThreadPoolExecutor(len(FIELDS)) as pool:
        for done in [pool.submit(change, number) for number in range(len(FIELDS))]:
            done.result()
    for service in services:
        overrides = service.target(target)["overrides"]
        assert [found(overrides, field) for field in FIELDS] == [rounds] * len(FIELDS), overrides


def test_patches_at_once_all_hold_also_after_a_restart(redial):
    service = redial()
    patch_at_once([service], "billing")
    before = service.target("billing")["overrides"]
    service.kill()
    service.start()
    assert service.target("billing")["overrides"] == before


def test_a_paused_target_is_left_alone_over_a_restart_until_it_is_resumed(redial, receiver):
    target = receiver()
    service = redial(clock=True)
    assert post(service, target.url, "pause")["paused"]
    call = service.submit(url=f"{target.url}/early")
    assert service.get(call)["waitingOn"] == "paused" and service.get(call)["nextAttemptAt"] is None
    service.kill()
    service.start()
    late = service.submit(url=f"{target.url}/late")
    service.advance(3600)
    settled(service, target, [])
    assert service.get(call)["waitingOn"] == service.get(late)["waitingOn"] == "paused"
    assert not post(service, target.url, "resume")["paused"]
    assert service.ended(call)["state"] == service.ended(late)["state"] == "succeeded"


def test_a_tripped_target_is_left_alone_over_a_restart_until_it_is_reset(redial, receiver):
    target = receiver()
    service = redial(clock=True)
    tripped = post(service, target.url, "trip")
    assert tripped["tripped"] and tripped["breaker"]["state"] == "open"
    call = service.submit(url=target.url)
    failing = service.submit(url=target.url, policy={"onTrip": "fail"})
    assert service.ended(failing)["failureReason"] == "tripped"
    service.kill()
    service.start()
    assert service.target(target.url)["tripped"]
    assert service.get(call)["waitingOn"] == "breaker"
    service.advance(3600)
    settled(service, target, [])
    assert service.get(call)["waitingOn"] == "breaker"
    assert post(service, target.url, "reset")["breaker"]["state"] == "closed"
    assert service.ended(call)["state"] == "succeeded"


def test_retry_after_holds_the_other_calls_and_a_release_lets_them_go(redial, receiver):
    target = receiver(lambda request: (503, {"retry-after": "60"}, b""))
    service = redial()
    told = service.submit(url=target.url)
    wait_until(lambda: service.target(target.url)["heldUntil"], "the target is held")
    target.answer = lambda request: (200, {}, b"")
    other = service.submit(url=target.url)
    waiting = service.get(other)
    assert waiting["waitingOn"] == "retryAfter" and waiting["nextAttemptAt"] == service.target(target.url)["heldUntil"]
    assert service.get(told)["waitingOn"] == "retryAfter"
    assert len(target.requests) == 1
    assert post(service, target.url, "release")["heldUntil"] is None
    assert service.ended(other)["state"] == "succeeded"


@pytest.mark.parametrize("end", ["kill", "terminate"])
def test_a_target_that_asked_for_a_pause_has_it_from_the_next_process_too(redial, receiver, end):
    target = receiver(lambda request: (503, {"retry-after": "60"}, b""))
    service = redial()
    told = service.submit(url=target.url)
    # The pause is on disk with the attempt that got it.
    wait_until(lambda: service.get(told)["attempts"], "the first attempt is on disk")
    until = service.target(target.url)["heldUntil"]
    target.answer = lambda request: (200, {}, b"")
    getattr(service, end)()
    service.start()
    other = service.submit(url=target.url)
    waiting = service.get(other)
    assert (waiting["waitingOn"], waiting["nextAttemptAt"]) == ("retryAfter", until)
    assert service.target(target.url)["heldUntil"] == until and len(target.requests) == 1
    assert post(service, target.url, "release")["heldUntil"] is None
    assert service.ended(other)["state"] == "succeeded"
    # The next process does not find it again.
    getattr(service, end)()
    service.start()
    assert service.ended(service.submit(url=target.url))["state"] == "succeeded"


def test_calls_of_one_ordering_key_run_one_at_a_time_in_order_also_over_a_kill(redial, receiver):
    over = threading.Event()

    def answer(request):
        if request.path == "/10":
            over.wait(BOUND)
        # Every third call fails at first, and must not let the next one overtake it.
        seen = sum(other.path == request.path for other in target.requests)
        return (500 if int(request.path[1:]) % 3 == 0 and seen < 2 else 200, {}, b"")

    target = receiver(answer)
    service = redial()
    calls = [service.submit(url=f"{target.url}/{n}", orderingKey="account", policy=FAST) for n in range(30)]
    free = service.submit(url=f"{target.url}/1000")
    assert service.get(calls[-1])["waitingOn"] == "ordering"
    # The process ends while one is in flight, and others wait.
    wait_until(lambda: any(request.path == "/10" for request in target.requests), "some have run")
    assert service("POST", f"/v1/calls/{calls[20]}/cancel").status == 200
    service.kill()
    over.set()
    service.start()
    for n, call in enumerate(calls):
        assert service.ended(call)["state"] == ("cancelled" if n == 20 else "succeeded"), n
    assert service.ended(free)["state"] == "succeeded"
    first = []
    for request in target.requests:
        if request.path not in first and request.path != "/1000":
            first.append(request.path)
    assert first == [f"/{n}" for n in range(30) if n != 20]


def test_an_urgent_call_overtakes_those_that_wait(redial, receiver):
    target = receiver()
    service = redial()
    post(service, target.url, "pause")
    put(service, target.url, {"maxInFlight": 1})
    lazy = [service.submit(url=f"{target.url}/lazy/{n}", priority=1) for n in range(5)]
    urgent = service.submit(url=f"{target.url}/urgent", priority=9)
    post(service, target.url, "resume")
    for call in [*lazy, urgent]:
        service.ended(call)
    assert [request.path for request in target.requests][0] == "/urgent"

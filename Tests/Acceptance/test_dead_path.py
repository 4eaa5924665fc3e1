"""A path that always fails holds no call to another: over real sockets, where the clock stands still unless the test moves it."""

import json
import threading
from urllib.parse import quote

import pytest

from processes import breaker, run, wait_until

# The breaker opens after five calls, and its interval is never over.
FLAGS = breaker(consecutiveFailures=5, failureTime="0s", openInterval="1000s", maxOpenInterval="1d")
SLOW = {"backoff": {"initial": "1h", "max": "1h", "jitter": "none"}, "deadline": "7d"}
MARKS = {
    "path": lambda caller: {"path": f"/{caller}"},
    "credential": lambda caller: {"path": "/all", "headers": {"authorization": f"Bearer {caller}"}},
    "label": lambda caller: {"path": "/all", "labels": {"tenant": caller}, "headers": {"x-caller": caller}},
}


SHOWN = {"path": "/dead", "credential": "one authorization", "label": "tenant=dead"}


@pytest.fixture
def dead():
    """What the dead caller is answered."""
    return {"status": 503}


@pytest.fixture
def origin(receiver, dead):
    """Answers 503 to the dead caller, and 200 to others."""
    def answer(request):
        said = " ".join([request.path, *request.headers.values()])
        return (dead["status"], {}, b"") if "dead" in said else (200, {}, b"")
    return receiver(answer)


def submit(service, origin, mark, caller):
    call = MARKS[mark](caller)
    return service.submit(url=origin.url + call.pop("path"), policy=SLOW, **call)


@pytest.mark.parametrize("mark", MARKS)
def test_a_dead_caller_holds_no_other(redial, origin, dead, mark):
    service = redial(*FLAGS, clock=True)
    for _ in range(40):
        submit(service, origin, mark, "dead")
    wait_until(lambda: service.target(origin.url)["breaker"]["state"] == "open", "the breaker opens")
    # Not a moment passes for the service, and the call gets through.
    assert service.ended(submit(service, origin, mark, "well"))["attemptCount"] == 1
    wait_until(lambda: service.target(origin.url)["breaker"]["state"] == "closed", "the breaker closes")
    # Those that fail do not open it again, and the target is not down.
    for _ in range(10):
        submit(service, origin, mark, "dead")
    before = len(origin.requests)
    service.advance(3600)
    # The pace may let them go one after the other.
    wait_until(lambda: service.advance(1) or len(origin.requests) >= before + 10, "what fails goes on by its own backoff")
    service.ended(submit(service, origin, mark, "well"))
    target = service.target(origin.url)
    assert target["breaker"]["state"] == "closed" and target["state"] != "down"
    # It is shown as what it is, everywhere in the same words.
    for _ in range(10):
        submit(service, origin, mark, "dead")
    said = f"{SHOWN[mark]} fails, the rest works: status 503"
    listed = lambda: [one for one in service("GET", "/v1/issues").json["data"] if one["kind"] == "failing"]
    [issue] = wait_until(lambda: (all := listed()) and all[0]["calls"] >= 5 and all, "there is an issue of it")
    assert (issue["error"], issue["state"], issue["reason"]) == (said, "open", "backoff")
    assert issue["calls"] <= 60 and issue["filter"]["target"] == origin.url, issue
    if mark == "path":
        assert issue["filter"]["url"] == "/dead"
    elif mark == "label":
        assert issue["filter"]["labels"] == {"tenant": "dead"}
    for command in (["issues"], ["issues", "show", issue["id"]], ["status"]):
        assert said in run(*command, "--server", service.url).stdout, command
    overview = json.loads(run("status", "--server", service.url, "--json").stdout)
    assert [one["failing"] for one in overview["targets"] if one["target"] == origin.url] == [[said]]
    # It is over when it works again.
    dead["status"] = 200
    service.advance(3600)
    wait_until(lambda: not listed(), "the issue is over")


def test_a_breaker_that_is_turned_off_while_it_is_open_holds_nothing(redial, receiver):
    target = receiver(lambda request: (503, {}, b""))
    service = redial(*FLAGS, clock=True)
    for _ in range(40):
        service.submit(url=target.url, policy=SLOW)
    wait_until(lambda: service.target(target.url)["breaker"]["state"] == "open", "the breaker opens")
    waiting = [service.submit(url=target.url, policy=SLOW) for _ in range(20)]
    assert service.get(waiting[0])["waitingOn"] == "breaker"
    off = json.dumps({"breaker": {"consecutiveFailures": 0}})
    service("PATCH", f"/v1/targets/{quote(target.url, safe='')}", off, {"content-type": "application/merge-patch+json"})
    # Not a moment passes for the service.
    for identity in waiting:
        wait_until(lambda identity=identity: service.get(identity)["attemptCount"] == 1, "it is tried")
    assert service.target(target.url)["breaker"]["state"] == "closed"


# What holds calls, by the target's own settings and by hand, and what lets them go.
HOLDS = {
    "maxInFlight": ({"maxInFlight": 1}, {"maxInFlight": None}),
    "rate": ({"rate": {"perSecond": 0.001, "burst": 1}}, {"rate": None}),
    "rate, more": ({"rate": {"perSecond": 0.001, "burst": 1}}, {"rate": {"perSecond": 1000, "burst": 100}}),
}


def patch(service, target, change):
    answer = service("PATCH", f"/v1/targets/{quote(target.url, safe='')}", json.dumps(change),
                     {"content-type": "application/merge-patch+json"})
    assert answer.status == 200, answer.body


@pytest.mark.parametrize("setting", [*HOLDS, "pause", "trip"])
def test_what_is_taken_back_holds_nothing_that_waits(redial, receiver, setting):
    gate = threading.Event()
    target = receiver(lambda request: gate.wait(60) and (200, {}, b"") if request.path == "/first" else (200, {}, b""))
    service = redial(clock=True)
    action = {"pause": "resume", "trip": "reset"}.get(setting)
    if action:
        service("POST", f"/v1/targets/{quote(target.url, safe='')}/{setting}")
    else:
        patch(service, target, HOLDS[setting][0])
        service.submit(url=target.url + "/first")
        wait_until(lambda: service.target(target.url)["inFlight"] == 1, "the first is in flight")
    waiting = [service.submit(url=target.url) for _ in range(20)]
    assert all(service.get(one)["attemptCount"] == 0 for one in waiting)
    # Only the test could let time pass.
    if action:
        service("POST", f"/v1/targets/{quote(target.url, safe='')}/{action}")
    else:
        patch(service, target, HOLDS[setting][1])
    for one in waiting:
        assert service.ended(one)["state"] == "succeeded"
    gate.set()

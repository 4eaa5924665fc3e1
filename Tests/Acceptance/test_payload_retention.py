"""Payloads are erased before the rest of their calls, on both stores; settings that contradict each other are refused."""

import pytest

from processes import TestClock, run, wait_until
from test_events import Stream
from test_sensitive import of_store

SECRETS = ["swordfish-1", "catfish-2", "dogfish-3", "clownfish-4"]
HOUR = 3600


@pytest.mark.parametrize("kind", ["file", "database"])
def test_payloads_go_first_and_the_history_stays(redial, instances, receiver, tmp_path, kind):
    query, field, body, reply = SECRETS
    target = receiver(lambda request: (400, {"x-reply": "1"}, reply.encode()))
    flags = ["--payload-retention-time", "1h", "--retention-time", "2d", "--idempotency-time", "1d"]
    if kind == "file":
        cluster, service = None, redial(*flags, clock=True)
        services, clock = [service], service.clock
    else:
        clock = TestClock(tmp_path / "clock")
        cluster, services = instances(2, *flags, env={"REDIAL_TEST_CLOCK": str(clock.file)})
        service = services[0]
    events = Stream(service)
    calls = [service.submit(url=f"{target.url}/{n}?who={query}", headers={"x-mine": field}, body=body, labels={"team": "a"},
                            description="a refund") for n in range(20)]
    waiting = service.submit(url=target.url, body="tuna", delay="200h")
    before = [service.ended(call) for call in calls]
    assert all(call["response"]["body"] == reply and call["contentErasedAt"] is None for call in before)
    events.until("call.failed")
    clock.advance(2 * HOUR)
    wait_until(lambda: all(service.get(call)["contentErasedAt"] for call in calls), "their payloads are erased")
    for old in before:
        call = service.get(old["id"])
        assert call["url"] == old["url"].split("?")[0] and call["response"] is None
        kept = "state", "failureReason", "issue", "createdAt", "finishedAt", "attempts", "labels", "description", "target"
        assert {name: call[name] for name in kept} == {name: old[name] for name in kept}
    assert service("POST", f"/v1/calls/{calls[0]}/retry").json["code"] == "contentErased"
    assert len(service("GET", "/v1/calls?state=failed").json["data"]) == len(calls)
    # Who connects now gets no old payloads either.
    for one in services:
        listener = Stream(one, after=events.events[0]["eventId"])
        wait_until(lambda: "call.failed" in listener.types() or "reset" in listener.types(), "it has what was before")
        assert query not in "\n".join(listener.lines)
        listener.close()
    # A call that ends later has its own time.
    late = service.submit(url=target.url, body="salmon")
    assert service.ended(late)["contentErasedAt"] is None
    clock.advance(2 * HOUR)
    wait_until(lambda: service.get(late)["contentErasedAt"], "its payloads are erased too")
    assert service.get(waiting)["contentErasedAt"] is None
    clock.advance(44.5 * HOUR)
    wait_until(lambda: service("GET", f"/v1/calls/{calls[-1]}").status == 404, "the calls are removed")
    for one in services:
        one.terminate()
    stored = of_store(service, cluster)
    stored = stored if isinstance(stored, bytes) else stored.encode()
    assert not [secret for secret in SECRETS if secret.encode() in stored] and b"tuna" in stored


def test_a_time_that_is_longer_than_that_of_the_call_is_refused(tmp_path):
    for flags, words in (
            (["--payload-retention-time", "8d"], "payloadRetentionTime: 8d is longer than retentionTime, 7d"),
            (["--payload-retention-time", "59s"], "a duration of at least 1m")):
        done = run("serve", "--store", f"sqlite:{tmp_path}/redial.db", *flags)
        assert done.returncode == 2 and words in done.stderr, done.stderr

"""Registered endpoints receive events of calls and targets, signed, each through a target of its own."""

import contextlib
import json
import re
import sqlite3
import threading

import jsonschema
import pytest
from standardwebhooks import Webhook
from svix.webhooks import Webhook as SvixWebhook

from faults import Faults
from processes import BOUND, HASTY, NO_BREAKER, ROOT, Constants, breaker, run, target_defaults, wait_until
from test_contract import CONTRACT, check
from test_events import Stream
from test_replicas import LASTING

SCHEMA = json.loads((ROOT / "api/webhooks.schema.json").read_text())
FITS = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
PATH = "/v1/webhook-endpoints"
FAST = {"backoff": {"initial": "10ms", "max": "20ms"}}


def register(service, url, **more):
    answer = service("POST", PATH, {"url": url} | more)
    endpoint = check(answer, "post", PATH)
    assert answer.status == 201 and answer.headers["location"] == f"{PATH}/{endpoint['id']}"
    return endpoint


def show(service, identity):
    return check(service("GET", f"{PATH}/{identity}"), "get", PATH + "/{id}")


def verified(request, secret):
    """The payload, which both libraries verify as ours."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    payload = Webhook(secret).verify(request.body, headers)
    assert SvixWebhook(secret).verify(request.body, headers) == payload
    FITS.validate(payload)
    return payload


def test_an_endpoint_is_told_of_calls_and_targets_and_verifies_with_its_own_secret(redial, flaky, receiver):
    failing, hook, target = receiver(lambda request: (500, {}, b"")), receiver(), flaky()
    service = redial(*breaker(**HASTY, openInterval="200ms"))
    endpoint = register(service, hook.url + "/hooks", description="all of it")
    secret = endpoint["secret"]
    identity = service.submit(url=target.url, labels={"a": "b"})
    payload = verified(hook.next(), secret)
    call = service.ended(identity)
    assert (payload["type"], payload["timestamp"]) == ("call.succeeded", call["finishedAt"])
    assert payload["data"] == {k: v for k, v in call.items() if k not in ("attempts", "retries", "waited", "response", "policyInForce", "lastStatus", "lastError")}
    cancelled = service.submit(url=target.url, delay="1h")
    service("POST", f"/v1/calls/{cancelled}/cancel")
    payload = verified(hook.next(), secret)
    assert (payload["type"], payload["data"]["id"]) == ("call.cancelled", cancelled)

    service.submit(url=failing.url, policy=FAST | {"onTrip": "fail"})
    told = {p["type"]: p for p in (verified(hook.next(), secret) for _ in range(3))}
    assert told["call.tripped"]["data"]["failureReason"] == "tripped"
    assert told["target.opened"]["data"]["key"] == failing.url
    assert told["target.opened"]["data"]["breaker"]["state"] == "open"
    assert told["target.down"]["data"]["outage"]["cause"] == "status 500"
    failing.answer = lambda request: (200, {}, b"")
    service.submit(url=failing.url, policy=FAST)
    told = {verified(hook.next(), secret)["type"] for _ in range(3)}
    assert told == {"target.halfOpened", "target.closed", "call.succeeded"}


def test_an_endpoint_and_a_listener_are_told_what_an_operator_does_to_a_target(redial, receiver):
    service, hook = redial(), receiver()
    secret = register(service, hook.url, events=["target.controlled"])["secret"]
    stream = Stream(service)
    told = []
    for action, paused in (("pause", True), ("resume", False), ("release", False)):
        assert service("POST", f"/v1/targets/billing/{action}").status == 200
        told.append(verified(hook.next(), secret))
        assert told[-1]["type"] == "target.controlled"
        assert told[-1]["data"] == {
            "key": "billing", "breaker": {"state": "closed", "openUntil": None, "trips": None}, "action": action,
            "paused": paused}
    wait_until(lambda: len(stream.events) == 3, "the listener hears them, too")
    assert [event["data"] for event in stream.events] == [payload["data"] for payload in told]


def test_neither_an_endpoint_nor_a_listener_is_told_of_secrets_in_a_url(redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver()
    register(service, hook.url)
    stream = Stream(service)
    service.submit(url=target.url + "/?token=hunter2&fail=1", policy=FAST)
    told = json.loads(hook.next().body)["data"]["url"]
    assert told == target.url + "/?token=REDACTED&fail=1"
    assert {e["data"]["url"] for e in stream.events + [stream.until("call.succeeded")]} == {told}


def test_secrets_in_the_url_of_an_endpoint_are_not_shown_and_stay_when_what_is_shown_is_sent_back(redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver()
    made = register(service, f"{hook.url}/in?a=1&token=s3cret")
    shown = f"{hook.url}/in?a=1&token=REDACTED"
    listener = Stream(service, "?type=endpoint.disabled")
    assert made["url"] == shown
    assert show(service, made["id"])["url"] == service("GET", PATH).json["data"][0]["url"] == shown
    for command in ("disable", "enable"):
        done = run("webhooks", command, made["id"], "--url", service.url)
        assert done.returncode == 0 and "s3cret" not in done.stdout, done.stderr
    assert service("POST", f"{PATH}/{made['id']}/rotate-secret", {}).json["url"] == shown
    service.submit(url=target.url)
    assert hook.next().path == "/in?a=1&token=s3cret"
    # Another URL is another one, whatever it is.
    assert service("PUT", f"{PATH}/{made['id']}", {"url": f"{hook.url}/out?token=t0ken"}).json["url"].endswith("token=REDACTED")
    hook.answer = lambda request: (410, {}, b"")
    service.submit(url=target.url)
    assert hook.next().path == "/out?token=t0ken"
    assert listener.until("endpoint.disabled")["data"]["url"] == f"{hook.url}/out?token=REDACTED"


def test_an_endpoint_is_told_only_of_what_it_asked_for(redial, flaky, receiver):
    service, target = redial(), flaky()
    failures, mine, everything = receiver(), receiver(), receiver()
    register(service, failures.url, events=["call.failed"])
    register(service, mine.url, targets=["mine"])
    register(service, everything.url)
    bad = service.submit(url=target.url + "/?sequence=404")
    good = service.submit(url=target.url, target="mine")
    assert {json.loads(everything.next().body)["data"]["id"] for _ in range(2)} == {bad, good}
    assert json.loads(failures.next().body)["data"]["id"] == bad
    assert json.loads(mine.next().body)["data"]["id"] == good
    # Nothing else arrived, not even after a further event.
    last = service.submit(url=target.url, target="other")
    assert json.loads(everything.next().body)["data"]["id"] == last
    assert (len(failures.requests), len(mine.requests)) == (1, 1)


def test_secrets_are_shown_once_rotated_with_overlap_and_both_sign_meanwhile(redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver()
    endpoint = register(service, hook.url)
    path, old = f"{PATH}/{endpoint['id']}", endpoint["secret"]
    shown = show(service, endpoint["id"])
    assert shown == {k: v for k, v in endpoint.items() if k != "secret"}
    rotated = check(service("POST", path + "/rotate-secret", {"overlap": "1h"}), "post", PATH + "/{id}/rotate-secret")
    new = rotated["secret"]
    assert new != old and [s["id"] for s in rotated["secrets"]] == ["2", "1"]
    assert rotated["secrets"][0]["expiresAt"] is None and rotated["secrets"][1]["expiresAt"]
    for _ in range(2):
        service.submit(url=target.url)
        request = hook.next()
        assert re.fullmatch(r"v1,\S+ v1,\S+", request.headers["webhook-signature"])
        verified(request, old)
        verified(request, new)
        # The overlap survives the process.
        assert service.terminate() == 0
        service.start()
    # Without overlap, the old secrets are invalid at once.
    last = service("POST", path + "/rotate-secret", {"overlap": "0s"}).json["secret"]
    service.submit(url=target.url)
    request = hook.next()
    verified(request, last)
    for secret in (old, new):
        for library in (Webhook, SvixWebhook):
            with pytest.raises(Exception, match="(?i)signature"):
                library(secret).verify(request.body, {k.lower(): v for k, v in request.headers.items()})
    assert [s["id"] for s in show(service, endpoint["id"])["secrets"]] == ["3"]
    for secret in (old, new, last):
        assert secret not in service.log.read_text()
        assert secret not in service("GET", PATH).body.decode()


def test_endpoints_change_and_go_and_stay_so_over_restarts(redial, flaky, receiver):
    service, target, first, second = redial(), flaky(), receiver(), receiver()
    kept, gone = register(service, first.url), register(service, second.url)
    assert service("DELETE", f"{PATH}/{gone['id']}").status == 204
    check(service("DELETE", f"{PATH}/{gone['id']}"), "delete", PATH + "/{id}")
    changed = check(
        service("PUT", f"{PATH}/{kept['id']}", {"url": second.url, "events": ["call.failed"], "description": "x"}),
        "put", PATH + "/{id}")
    service.kill()
    service.start()
    listed = check(service("GET", PATH), "get", PATH)["data"]
    assert listed == [changed] and changed["events"] == ["call.failed"]
    service.submit(url=target.url)
    failed = service.submit(url=target.url + "/?sequence=404")
    payload = verified(second.next(), kept["secret"])
    assert (payload["type"], payload["data"]["id"]) == ("call.failed", failed)
    assert len(second.requests) == 1 and not first.requests
    service("PUT", f"{PATH}/{kept['id']}", {"url": second.url, "enabled": False})
    service.ended(service.submit(url=target.url))
    shown = show(service, kept["id"])
    assert (shown["enabled"], shown["disabledReason"]) == (False, "byRequest")
    assert service("POST", f"{PATH}/{kept['id']}/test").json["code"] == "webhookEndpointDisabled"
    service("PUT", f"{PATH}/{kept['id']}", {"url": second.url})
    told = service.submit(url=target.url)
    assert json.loads(second.next().body)["data"]["id"] == told


def test_what_cannot_be_an_endpoint_is_told(redial):
    service = redial(Constants(maxWebhookEndpoints=1))
    for body, pointer in (
            ({}, "/url"), ({"url": "x"}, "/url"), ({"url": "http://169.254.169.254/"}, "/url"),
            ({"url": "http://a/", "events": []}, "/events"), ({"url": "http://a/", "events": ["x"]}, "/events/0"),
            ({"url": "http://a/", "targets": [""]}, "/targets/0"), ({"url": "http://a/", "evnts": []}, "/evnts")):
        answer = service("POST", PATH, body)
        assert answer.status == 422 and answer.json["errors"][0]["pointer"] == pointer, (body, answer.body)
    identity = register(service, "http://a/")["id"]
    assert service("POST", PATH, {"url": "http://a/"}).json["code"] == "tooManyWebhookEndpoints"
    assert service("POST", f"{PATH}/{identity}/rotate-secret", {"overlap": "31d"}).status == 422


def test_the_delivery_log_shows_each_webhook_and_delivers_it_again(redial, flaky, receiver):
    hook = receiver(lambda request: (410, {}, b""))
    service, target = redial(), flaky()
    endpoint = register(service, hook.url)
    path = f"{PATH}/{endpoint['id']}/deliveries"
    hook.answer = lambda request: (200, {}, b"")
    test = check(service("POST", f"{PATH}/{endpoint['id']}/test"), "post", PATH + "/{id}/test")
    payload = verified(hook.next(), endpoint["secret"])
    assert payload["type"] == "webhook.test" and payload["data"] == {"endpoint": endpoint["id"]}
    service.submit(url=target.url)
    first = hook.next()
    page = check(service("GET", path), "get", PATH + "/{id}/deliveries")["data"]
    assert [d["labels"]["event"] for d in page] == ["call.succeeded", "webhook.test"]
    assert page[1]["id"] == test["id"] and page[0]["kind"] == "webhook"
    assert len(service("GET", path + "?limit=1").json["data"]) == 1
    service.ended(page[0]["id"])
    attempts = service("GET", f"/v1/calls/{page[0]['id']}/attempts").json["data"]
    assert [a["status"] for a in attempts] == [200]
    service.terminate()
    service.start()
    assert service("POST", f"/v1/calls/{page[0]['id']}/retry").status == 200
    again = hook.next()
    assert again.body == first.body and again.headers["webhook-id"] == first.headers["webhook-id"]
    verified(again, endpoint["secret"])
    # A filter by another target, or for calls that are not webhooks, would show nothing.
    assert service("GET", path + "?target=x").status == 400


def test_an_endpoint_that_fails_for_too_long_is_disabled_and_others_are_told(redial, flaky, receiver):
    bad, good, target = receiver(lambda request: (500, {"retry-after": "0"}, b"")), receiver(), flaky()
    service = redial(Constants(webhookDisableAfter="300ms"), *NO_BREAKER)
    watcher = register(service, good.url, events=["endpoint.disabled"])
    failing = register(service, bad.url)
    first = service.submit(url=target.url)
    bad.next()
    wait_until(lambda: show(service, failing["id"])["failingSince"], "it is noted")

    def is_disabled():
        for delivery in service("GET", f"{PATH}/{failing['id']}/deliveries").json["data"]:
            service("POST", f"/v1/calls/{delivery['id']}/retry")
        return not show(service, failing["id"])["enabled"]
    wait_until(is_disabled, "it is disabled")
    payload = verified(good.next(), watcher["secret"])
    assert (payload["type"], payload["data"]["id"], payload["data"]["disabledReason"]) == (
        "endpoint.disabled", failing["id"], "failing")
    service.says("webhookEndpointDisabled")
    # It gets no events now, nor after a restart; its remaining webhooks are paused until it is enabled.
    wait_until(lambda: service.target("webhook:" + failing["id"])["inFlight"] == 0, "nothing is under way")
    seen = len(bad.requests)
    assert service.terminate() == 0
    service.start()
    service.ended(service.submit(url=target.url))
    assert show(service, failing["id"])["disabledReason"] == "failing" and len(bad.requests) == seen
    bad.answer = lambda request: (200, {}, b"")
    enabled = service("PUT", f"{PATH}/{failing['id']}", {"url": bad.url}).json
    assert enabled["enabled"] and enabled["failingSince"] is None
    service("POST", "/v1/targets/webhook%3A" + failing["id"] + "/release")
    def got():
        for delivery in service("GET", f"{PATH}/{failing['id']}/deliveries?state=scheduled").json["data"]:
            service("POST", f"/v1/calls/{delivery['id']}/retry")
        return any(json.loads(r.body)["data"].get("id") == first for r in bad.requests[seen:])
    wait_until(got, "what was held back")


def test_an_endpoint_that_is_gone_says_so_and_is_disabled(redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver(lambda request: (410, {}, b""))
    endpoint = register(service, hook.url)
    service.submit(url=target.url)
    wait_until(lambda: show(service, endpoint["id"])["disabledReason"] == "gone", "it is disabled")


def test_webhooks_that_were_held_back_go_to_the_url_that_the_endpoint_was_given(redial, flaky, receiver):
    old, new, target = receiver(lambda request: (503, {"retry-after": "3600"}, b"")), receiver(), flaky()
    service = redial()
    endpoint = register(service, old.url + "/old?token=hunter2")
    path, waiting = f"{PATH}/{endpoint['id']}", f"{PATH}/{endpoint['id']}/deliveries?state=scheduled"
    calls = [service.submit(url=target.url) for _ in range(3)]
    deliveries = wait_until(
        lambda: (page := service("GET", waiting).json["data"]) and len(page) == 3 and page, "all are held back")
    # One is delivered again, and the answer disables the endpoint.
    old.answer = lambda request: (410, {}, b"")
    def is_gone():
        service("POST", f"/v1/targets/webhook%3A{endpoint['id']}/release")
        service("POST", f"/v1/calls/{deliveries[0]['id']}/retry")
        return show(service, endpoint["id"])["disabledReason"] == "gone"
    wait_until(is_gone, "it is disabled")
    wait_until(lambda: service.target("webhook:" + endpoint["id"])["inFlight"] == 0, "nothing is under way")
    seen = len(old.requests)
    assert service("PUT", path, {"url": new.url + "/new"}).json["enabled"]
    def got():
        service("POST", f"/v1/targets/webhook%3A{endpoint['id']}/release")
        for delivery in service("GET", path + "/deliveries").json["data"]:
            if delivery["state"] != "succeeded":
                service("POST", f"/v1/calls/{delivery['id']}/retry")
        return {json.loads(r.body)["data"]["id"] for r in new.requests} == set(calls)
    wait_until(got, "all arrive at the new URL")
    assert {r.path for r in new.requests} == {"/new"} and len(old.requests) == seen
    verified(new.requests[0], endpoint["secret"])
    shown = show(service, endpoint["id"])
    assert shown["enabled"] and shown["failingSince"] is None
    # What is shown of a webhook is how it was made.
    assert service.get(deliveries[0]["id"])["url"] == old.url + "/old?token=REDACTED"


@pytest.mark.parametrize("status", [200, 410, 500])
def test_an_answer_of_an_earlier_url_says_nothing_about_the_endpoint(redial, flaky, receiver, status):
    held = threading.Event()
    def hang(request):
        held.wait(BOUND)
        return status, {}, b""
    service, old, target = redial(), receiver(hang), flaky()
    new = receiver(lambda request: (500 if status == 200 else 200, {}, b""))
    endpoint = register(service, old.url)["id"]
    service.submit(url=target.url)
    old.next()
    [first] = service("GET", f"{PATH}/{endpoint}/deliveries").json["data"]
    changed = service("PUT", f"{PATH}/{endpoint}", {"url": new.url}).json
    assert changed["enabled"] and changed["failingSince"] is None
    if status == 200:
        # It must not clear what the current URL has done.
        service.submit(url=target.url)
        new.next()
        changed = wait_until(
            lambda: (shown := show(service, endpoint))["failingSince"] and shown, "the failure is noted")
    held.set()
    wait_until(lambda: service.get(first["id"])["attempts"], "the answer has arrived")
    # The store makes this change after those that came before.
    assert service("PUT", "/v1/policies/last", {"maxAttempts": 2}).status == 201
    assert show(service, endpoint) == changed


@pytest.mark.parametrize("enabled", [False, True])
def test_an_endpoint_is_disabled_and_enabled_also_while_the_engine_waits_for_the_store(
        redial, tmp_path, flaky, receiver, enabled):
    faults = Faults(tmp_path, tmp_path / "redial.db")
    service = redial(env=faults.env)
    hook, target = receiver(lambda request: (503, {}, b"")), flaky()
    endpoint = register(service, hook.url)["id"]
    path, key = f"{PATH}/{endpoint}", f"webhook:{endpoint}"
    service.ended(service.submit(url=target.url))
    hook.next()
    if enabled:
        service("PUT", path, {"url": hook.url, "enabled": False})
        wait_until(lambda: service.target(key)["paused"], "it is paused at first")
    # The store fails for a moment, so the engine refuses commands until it tries again, some time later.
    faults.on("fail-write")
    assert service("POST", "/v1/calls", {"url": target.url}).status == 503
    faults.off("fail-write")
    changed = service("PUT", path, {"url": hook.url, "enabled": enabled})
    assert changed.status == 200 and changed.json["enabled"] == enabled, changed.body
    wait_until(lambda: service.target(key)["paused"] is not enabled, "the target is as the endpoint")
    wait_until(lambda: service("GET", "/readyz").status == 200, "the service is ready again")
    hook.answer = lambda request: (200, {}, b"")
    if enabled:
        service("POST", f"/v1/targets/webhook%3A{endpoint}/release")
        wait_until(lambda: service("GET", f"{path}/deliveries?state=succeeded").json["data"], "what waited is delivered")


def test_nothing_goes_to_an_endpoint_that_is_disabled_or_whose_target_is_paused(redial, flaky, receiver):
    service, target = redial(), flaky()
    hook = receiver(lambda request: (503, {}, b""))
    endpoint = register(service, hook.url)["id"]
    path, key = f"{PATH}/{endpoint}", f"/v1/targets/webhook%3A{endpoint}"
    service.ended(service.submit(url=target.url))
    hook.next()

    def enable(enabled):
        assert service("PUT", path, {"url": hook.url, "enabled": enabled}).json["enabled"] == enabled

    def paused():
        return service("GET", key).json["paused"]
    enable(False)
    wait_until(paused, "it is held back")
    # Whoever resumes the target does not enable its endpoint, nor does a start.
    assert service("POST", key + "/resume").json["paused"]
    service.kill()
    service.start()
    wait_until(paused, "it is held back as before")
    waiting = service("GET", f"{path}/deliveries").json["data"][0]
    assert waiting["state"] == "scheduled"
    # One that was paused by hand stays so until it is resumed by hand.
    assert service("POST", key + "/pause").json["paused"]
    enable(True)
    assert service("GET", path).json["enabled"] and paused()
    hook.answer = lambda request: (200, {}, b"")
    assert not service("POST", key + "/resume").json["paused"]
    service("POST", key + "/release")
    assert service.ended(waiting["id"])["state"] == "succeeded"


def test_bad_receivers_delay_neither_calls_nor_each_other(redial, flaky, receiver):
    hold = threading.Event()
    def hang(request):
        hold.wait()
        return 200, {}, b""
    service, target = redial(*target_defaults(maxInFlight=2)), flaky()
    stuck, down, good = receiver(hang), receiver(lambda request: None), receiver()
    try:
        key, *_ = [f"webhook:{register(service, url)['id']}" for url in (stuck.url, down.url, good.url)]
        calls = [service.submit(url=target.url) for _ in range(30)]
        for identity in calls:
            assert service.ended(identity)["state"] == "succeeded"
        assert {json.loads(good.next().body)["data"]["id"] for _ in calls} == set(calls)
        wait_until(lambda: len(stuck.requests) >= 2, "the one that hangs has as many as it may")
        # Another call and its webhook come after all that was due.
        last = service.submit(url=target.url)
        assert json.loads(good.next().body)["data"]["id"] == last
        # On a busy machine an attempt may time out, and another take its place.
        assert service.target(key)["inFlight"] <= 2
    finally:
        hold.set()


def test_webhooks_and_their_event_are_committed_together(redial, flaky, receiver):
    service, target = redial(), flaky()
    hook = receiver(lambda request: (503, {"retry-after": "1"}, b""))
    endpoint = register(service, hook.url)
    calls = [service.submit(url=target.url) for _ in range(20)]
    for identity in calls:
        service.ended(identity)
    service.kill()
    hook.answer = lambda request: (200, {}, b"")
    service.start()
    page = service("GET", f"{PATH}/{endpoint['id']}/deliveries").json["data"]
    assert len(page) == len(calls)
    told = set()
    wait_until(lambda: told.update(json.loads(hook.next().body)["data"]["id"] for _ in "1") or told == set(calls),
               "each is told")


def test_an_endpoint_is_told_of_a_call_that_ends_while_the_service_starts(redial, receiver):
    hold = threading.Event()
    service, hook = redial(clock=True), receiver()
    target = receiver(lambda request: (200, {}, b"") if hold.wait() else None)
    secret = register(service, hook.url)["secret"]
    try:
        identity = service.submit(url=target.url, policy={"deadline": "1h"})
        target.next()
        service.kill()
        service.advance(3600)
        service.start()
        payload = verified(hook.next(), secret)
        assert (payload["type"], payload["data"]["id"]) == ("call.failed", identity)
        assert payload["data"]["failureReason"] == "deadlineExceeded"
    finally:
        hold.set()


def test_the_schema_of_payloads_says_what_the_contract_says():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    schemas = CONTRACT["components"]["schemas"]
    shared = [name for name in SCHEMA["$defs"] if name in schemas]
    assert {"Call", "CallSummary", "TargetEvent", "WebhookEndpoint"} <= set(shared)
    for name in shared:
        moved = json.loads(json.dumps(schemas[name]).replace("#/components/schemas/", "#/$defs/"))
        assert SCHEMA["$defs"][name] == moved, name
    types = {t for d in SCHEMA["$defs"].values() for t in d.get("properties", {}).get("type", {}).get("enum", [])}
    assert set(schemas["WebhookEventType"]["enum"]) <= types


@pytest.mark.usefixtures("encrypted")
def test_a_test_reaches_an_endpoint_whose_breaker_is_open(instances, receiver, flaky):
    hook, target = receiver(), flaky()
    _, services = instances(2, *LASTING)
    endpoint = register(services[0], hook.url)
    key = f"webhook%3A{endpoint['id']}"
    assert services[0]("POST", f"/v1/targets/{key}/trip").status == 200
    waits = services[0].submit(url=target.url)
    services[0].ended(waits)
    for service in services:
        test = service("POST", f"{PATH}/{endpoint['id']}/test")
        assert test.status == 202, test.body
        assert verified(hook.next(), endpoint["secret"])["type"] == "webhook.test"
        assert service.ended(test.json["id"])["state"] == "succeeded"
    assert len(hook.requests) == 2
    assert services[1]("POST", f"/v1/targets/{key}/reset").status == 200
    assert verified(hook.next(), endpoint["secret"])["type"] == "call.succeeded"


def test_a_test_does_not_wait_behind_webhooks_that_hang(redial, receiver, flaky):
    released = threading.Event()

    def answer(request):
        if json.loads(request.body)["type"] != "webhook.test":
            released.wait(60)
        return 200, {}, b""

    hook, target, service = receiver(answer), flaky(), redial()
    endpoint = register(service, hook.url)
    key = f"webhook%3A{endpoint['id']}"
    assert service("PATCH", f"/v1/targets/{key}", {"maxInFlight": 1}).status == 200
    try:
        for _ in range(2):
            service.ended(service.submit(url=target.url))
        assert verified(hook.next(), endpoint["secret"])["type"] == "call.succeeded"
        test = service("POST", f"{PATH}/{endpoint['id']}/test")
        assert test.status == 202, test.body
        assert verified(hook.next(), endpoint["secret"])["type"] == "webhook.test"
        assert service.ended(test.json["id"])["state"] == "succeeded"
    finally:
        released.set()

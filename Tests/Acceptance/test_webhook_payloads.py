"""Each event's real deliveries, to endpoints and to callbacks, match api/webhooks.schema.json for that event."""

import json

import jsonschema

from processes import wait_until
from test_contract import CONTRACT
from test_pace import target_path
from test_webhook_endpoints import FAST, PATH, SCHEMA, register


def schema_of(name):
    return jsonschema.Draft202012Validator(
        {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}, format_checker=jsonschema.FormatChecker())


def types_of(name):
    return set(SCHEMA["$defs"][name]["properties"]["type"]["enum"])


TO_ENDPOINTS = ("CallEventToEndpoint", "TargetChanged", "EndpointDisabled", "Test")


def test_every_event_is_delivered_as_its_schema_says(redial, flaky, receiver):
    service, target, failing = redial(), flaky(), receiver(lambda request: (500, {}, b""))
    breaker = {"consecutiveFailures": 1, "failureTime": "0s", "openInterval": "100ms"}
    assert service("PUT", target_path(failing), {"breaker": breaker}).status == 200
    gone, hook, callback = receiver(lambda request: (410, {}, b"")), receiver(), receiver()
    watcher = register(service, hook.url, description="all of it")
    register(service, gone.url, events=["call.cancelled"])
    assert service("POST", f"{PATH}/{watcher['id']}/test").status in (200, 202)
    assert service("POST", f"{target_path(failing)}/resume").status == 200
    back = {"url": callback.url}
    service.submit(url=target.url + "/?fail=1", callback=back, policy=FAST, labels={"a": "b"})
    service.submit(url=target.url + "/?sequence=404", callback=back)
    service("POST", f"/v1/calls/{service.submit(url=target.url, delay='1h')}/cancel")
    service.submit(url=failing.url, policy=FAST | {"onTrip": "fail"}, callback=back)
    wait_until(lambda: service.target(failing.url)["breaker"]["state"] != "closed", "its breaker opens")
    failing.answer = lambda request: (200, {}, b"")
    service.submit(url=failing.url, policy=FAST)
    wanted = {"hook": set().union(*(types_of(name) for name in TO_ENDPOINTS)), "callback": types_of("CallEnded")}
    assert set(CONTRACT["components"]["schemas"]["WebhookEventType"]["enum"]) <= wanted["hook"]

    def seen(receiver):
        return [json.loads(request.body) for request in list(receiver.requests)]
    wait_until(lambda: {p["type"] for p in seen(hook)} >= wanted["hook"], "the endpoint is told of each event")
    wait_until(lambda: {p["type"] for p in seen(callback)} >= wanted["callback"], "the callback is told of each event")
    for payloads, names in ((seen(hook), TO_ENDPOINTS), (seen(callback), ("CallEnded",))):
        for payload in payloads:
            [name] = [name for name in names if payload["type"] in types_of(name)]
            schema_of(name).validate(payload)
            # A schema that accepted everything would show nothing.
            for wrong in (payload | {"x": 1}, payload | {"data": payload["data"] | {"x": 1}},
                          {k: v for k, v in payload.items() if k != "timestamp"}):
                assert not schema_of(name).is_valid(wrong), (name, wrong)
            for other in set(TO_ENDPOINTS) - {name, "CallEventToEndpoint" if name == "CallEnded" else None}:
                assert not schema_of(other).is_valid(payload), (name, other)

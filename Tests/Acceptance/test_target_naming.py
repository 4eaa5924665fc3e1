"""Who may name a target, and that no client names the target of a webhook."""

import json

import pytest

from processes import Client, run, wait_until

ADMIN = "the-admin-key-of-this-test"


def bearer(key):
    return {"authorization": f"Bearer {key}"}


def key_of(service, *scopes, **more):
    answer = service("POST", "/v1/keys", {"name": "k", "scopes": list(scopes)} | more, bearer(ADMIN))
    assert answer.status == 201, answer.body
    return bearer(answer.json["key"])


def ways_in(service, url, target, headers):
    """Every way to submit a call that names a target: the fault of each, or None if it was accepted."""
    descriptor = {"url": url, "target": target}
    client = Client(service.port)

    def fault(problem):
        if "errors" not in problem:
            return None
        place = problem["errors"][0]
        return place["pointer"] if "pointer" in place else {"Redial-Target": "/target"}[place["header"]], place["detail"]

    yield fault(client("POST", "/v1/calls", descriptor, headers).json)
    yield fault(client("POST", "/v1/calls?dryRun=true", descriptor, headers).json)
    array = client("POST", "/v1/calls/batch", [descriptor], headers).json["data"][0]
    yield fault(array.get("problem", array))
    lines = client("POST", "/v1/calls/batch", json.dumps(descriptor) + "\n",
                   headers | {"content-type": "application/x-ndjson"}).json
    yield fault(lines.get("problem", lines))
    yield fault(client("POST", f"/v1/forward/{url}", None, headers | {"redial-target": target}).json)


@pytest.mark.parametrize("lane", ["webhook:whe_0000000000000", "webhook:https://hooks.example.com", "webhook:"])
def test_nobody_names_a_webhooks_lane(redial, flaky, lane):
    service, target = redial(env={"REDIAL_ADMIN_KEY": ADMIN}), flaky()
    submitter = key_of(service, "submit")
    tenant = key_of(service, "submit", "operate", namespace="acme")
    for headers in (bearer(ADMIN), submitter, tenant):
        for fault in ways_in(service, target.url, lane, headers):
            assert fault and fault[0] == "/target" and "webhook:" in fault[1], (headers, fault)
    refused = run("call", "--server", service.url, "--target", lane, "--api-key", ADMIN, target.url)
    assert refused.returncode == 4 and "webhook:" in refused.stderr
    assert service("GET", "/v1/calls", headers=bearer(ADMIN)).json["data"] == []


def test_without_keys_nobody_names_a_webhooks_lane_either(redial, flaky):
    service, target = redial("--target-naming", "anyone"), flaky()
    assert all(fault and fault[0] == "/target" for fault in ways_in(service, target.url, "webhook:whe_1", {}))
    # The same word elsewhere in a name has no special meaning.
    assert not any(ways_in(service, target.url, "my-webhook:1", {}))


def test_a_call_of_an_older_store_that_names_a_lane_ends_without_an_attempt(redial, receiver, tmp_path):
    """Earlier versions accepted such calls; an archive may still contain one."""
    service, target, hook = redial(), receiver(), receiver()
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": hook.url}).json
    waiting = [service.submit(url=target.url, delay="1h", **more) for more in ({}, {"orderingKey": "k"})]
    service.terminate()
    store, archive = ("--store", f"sqlite:{service.store}"), tmp_path / "calls.ndjson"
    assert run("export", "--calls", *store, "-o", archive).returncode == 0
    lines = [json.loads(line) for line in archive.read_text().splitlines()]
    assert {line["id"] for line in lines} == set(waiting)
    lane = f"webhook:{endpoint['id']}"
    for number, line in enumerate(lines):
        line["spec"]["target"] = lane
        line["id"] = f"call_000000000000{number + 1}"
        del line["checksum"]
    imported = run("import", *store, stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert imported.returncode == 0, imported.stderr
    service.start()
    for line in lines:
        assert service.get(line["id"])["target"] == lane
        assert service("POST", f"/v1/calls/{line['id']}/retry").status in (200, 202)
        call = service.ended(line["id"])
        assert (call["state"], call["failureReason"], call["attemptCount"]) == ("failed", "blocked", 0), json.dumps(call)
        # Nor is it retried.
        service("POST", f"/v1/calls/{line['id']}/retry")
        assert service.ended(line["id"])["failureReason"] == "blocked"
    assert target.requests == []
    # The endpoint gets these ends from the same target, whose breaker is as closed as before.
    wait_until(lambda: len(hook.requests) >= 2, "the endpoint hears of it")
    assert service.target(lane)["breaker"]["state"] == "closed"


def test_with_keys_only_operators_name_targets(redial, flaky):
    service, target = redial(env={"REDIAL_ADMIN_KEY": ADMIN}), flaky()
    submitter, operator = key_of(service, "submit"), key_of(service, "submit", "operate")
    for name in ("billing", "http://127.0.0.1:9"):
        for fault in ways_in(service, target.url, name, submitter):
            assert fault and fault[0] == "/target" and "targetNaming" in fault[1]
        for headers in (operator, bearer(ADMIN)):
            assert not any(ways_in(service, target.url, name, headers))
    # A name that changes nothing is allowed.
    assert not any(ways_in(service, target.url, target.url, submitter))
    assert not any(ways_in(service, target.url.upper().replace("HTTP", "http") + "/x", target.url, submitter))


def test_a_setting_says_who_may_name_targets(redial, flaky):
    service, target = redial("--target-naming", "anyone", env={"REDIAL_ADMIN_KEY": ADMIN}), flaky()
    submitter = key_of(service, "submit")
    assert not any(ways_in(service, target.url, "billing", submitter))
    service.terminate()
    service.arguments[service.arguments.index("anyone")] = "nobody"
    service.start()
    for headers in (submitter, bearer(ADMIN)):
        assert all(fault and fault[0] == "/target" for fault in ways_in(service, target.url, "billing", headers))
        assert not any(ways_in(service, target.url, target.url, headers))


def test_without_keys_anyone_groups_calls_by_a_name(redial, flaky):
    service, target = redial(), flaky()
    assert not any(ways_in(service, target.url, "billing", {}))
    assert service.target("billing")


def test_other_spellings_of_a_host_are_no_way_around_its_pause(redial, flaky):
    service, target = redial(), flaky()
    port = target.port
    assert service("POST", f"/v1/targets/http:%2F%2F127.0.0.1:{port}/pause").status == 200
    for host in ("127.0.0.1", "127.0.0.1.", "127.1", "0x7f.1", "2130706433", "0177.0.0.1"):
        call = service.get(service.submit(url=f"http://{host}:{port}/"))
        assert (call["target"], call["waitingOn"]) == (target.url, "paused"), host
    names = {service.get(service.submit(url=f"http://{host}:{port}/", delay="1h"))["target"] for host in (
        "localhost", "localhost.", "LOCALHOST.")}
    assert names == {f"http://localhost:{port}"}

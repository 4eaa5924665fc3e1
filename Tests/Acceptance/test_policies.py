"""Policies that are stored under names, over real sockets, with restarts in between."""

import concurrent.futures

from processes import Constants, run

FAST = {"maxAttempts": 2, "backoff": {"strategy": "constant", "initial": "10ms", "jitter": "none"},
        "retryOn": {"statuses": ["500"]}}
PATIENT = FAST | {"maxAttempts": 4}
JSON = {"content-type": "application/json"}


def put(service, name, policy, **conditions):
    headers = {name.replace("_", "-"): value for name, value in conditions.items()}
    return service("PUT", f"/v1/policies/{name}", policy, JSON | headers)


def get(service, name, query=""):
    return service("GET", f"/v1/policies/{name}{query}")


def test_a_policy_is_kept_with_its_versions_over_a_kill(redial):
    service = redial()
    first = put(service, "fast", FAST)
    assert first.status == 201 and first.headers["etag"] == '"1"'
    assert first.headers["location"] == "/v1/policies/fast"
    second = put(service, "fast", PATIENT)
    assert second.status == 200 and second.json["version"] == 2 and second.json["policy"] == PATIENT
    assert put(service, "fast", PATIENT).json["version"] == 2, "the same again makes no version"
    put(service, "other", {})
    service.kill()
    service.start()
    shown = get(service, "fast")
    assert shown.json == second.json and shown.headers["etag"] == '"2"'
    assert [version["version"] for version in shown.json["versions"]] == [1, 2]
    assert get(service, "fast", "?version=1").json["policy"] == FAST
    assert get(service, "fast", "?version=3").status == 404
    listed = service("GET", "/v1/policies").json["data"]
    assert [(policy["name"], policy["version"]) for policy in listed] == [("fast", 2), ("other", 1)]
    assert service("GET", "/v1/policies/fast", headers={"if-none-match": '"2"'}).status == 304


def test_a_call_keeps_the_policy_that_it_was_accepted_with(redial, receiver):
    target = receiver(lambda request: (500, {}, b""))
    service = redial()
    put(service, "fast", FAST)
    # While the breaker is open, the policy changes and is removed, and the service dies.
    key = target.url.replace("/", "%2F")
    assert service("POST", f"/v1/targets/{key}/pause").status == 200
    old = service.submit(url=target.url, policy="fast")
    put(service, "fast", PATIENT)
    new = service.submit(url=target.url, policy="fast")
    pinned = service.submit(url=target.url, policy="fast@1")
    assert service("DELETE", "/v1/policies/fast").status == 204
    service.kill()
    service.start()
    assert service("POST", f"/v1/targets/{key}/resume").status == 200
    calls = [service.ended(call) for call in (old, new, pinned)]
    assert [call["attemptCount"] for call in calls] == [2, 4, 2]
    assert [call["policy"] for call in calls] == ["fast@1", "fast@2", "fast@1"]
    assert service.ended(service.submit(url=target.url, policy=FAST))["policy"] is None


def test_a_removed_name_goes_on_counting_so_that_no_version_means_two_things(redial, receiver):
    service = redial()
    put(service, "fast", FAST)
    put(service, "fast", PATIENT)
    assert service("DELETE", "/v1/policies/fast").status == 204
    assert service("DELETE", "/v1/policies/fast").status == get(service, "fast").status == 404
    service.kill()
    service.start()
    assert get(service, "fast").status == 404
    again = put(service, "fast", FAST)
    assert again.status == 201 and again.json["version"] == 4 and len(again.json["versions"]) == 1
    refused = service("POST", "/v1/calls", {"url": receiver().url, "policy": "fast@2"})
    assert refused.status == 422 and refused.json["errors"][0]["pointer"] == "/policy"


def test_of_two_authors_one_learns_that_the_policy_has_changed(redial):
    service = redial()
    refused = [put(service, "fast", FAST, if_match='"1"')]
    assert refused[0].status == 412, "there is nothing to match"
    assert put(service, "fast", FAST, if_none_match="*").status == 201
    refused += [put(service, "fast", PATIENT, if_none_match="*"), put(service, "fast", PATIENT, if_match='"7"')]
    assert [answer.status for answer in refused] == [412] * 3
    assert [answer.json["errors"][0]["header"] for answer in refused] == ["If-Match", "If-None-Match", "If-Match"]

    def author(number):
        return put(service, "fast", FAST | {"maxAttempts": number}, if_match='"1"').status

    with concurrent.futures.ThreadPoolExecutor(8) as authors:
        answers = list(authors.map(author, range(10, 26)))
    assert sorted(answers) == [200] + [412] * 15
    assert get(service, "fast").json["version"] == 2
    assert service("DELETE", "/v1/policies/fast", headers={"if-match": '"1"'}).status == 412
    assert service("DELETE", "/v1/policies/fast", headers={"if-match": '"2"'}).status == 204


def test_what_is_no_policy_is_refused_and_what_is_seldom_meant_is_said(redial):
    service = redial()
    refused = put(service, "bad", {"maxAttempts": 0, "backof": {}})
    assert refused.status == 422 and refused.json["code"] == "invalidPolicy"
    assert {error["pointer"] for error in refused.json["errors"]} == {"/maxAttempts", "/backof"}
    assert put(service, "bad", '"fast"').status == put(service, "bad", "[]").status == 422
    assert get(service, "bad").status == 404
    warned = put(service, "odd", {"backoff": {"jitter": "none"}, "attemptTimeout": "1h", "deadline": "1m"})
    assert {"noJitter", "timeoutBeyondDeadline"} <= {warning["code"] for warning in warned.json["warnings"]}
    assert put(service, "preview", {}).status == 405
    reserved = put(service, "default", {})
    assert reserved.status == 404 and "reserved" in reserved.json["detail"], reserved.body
    missing = service("GET", "/v1/policies/odd?version=99")
    assert missing.json["detail"] == "The policy odd has no version 99; only 1 is kept.", missing.body
    refused = service("POST", "/v1/calls", {"url": "http://x/", "policy": "bad name"}).json["detail"]
    assert "PUT" not in refused and "letters" in refused, refused
    assert put(service, "a@b", {}).status == put(service, "x" * 65, {}).status == 404


def test_a_named_policy_can_be_previewed_planned_and_forwarded_with(redial, receiver):
    target = receiver(lambda request: (500, {}, b""))
    service = redial()
    put(service, "fast", FAST)
    for count in (2, 3):
        # The same bytes mean another policy after it has changed.
        put(service, "fast", FAST | {"maxAttempts": count})
        plan = service("POST", "/v1/policies/preview", {"policy": "fast"}).json
        assert len(plan["attempts"]) == plan["policy"]["maxAttempts"] == count
        dry = service("POST", "/v1/calls?dryRun=true", {"url": target.url, "policy": "fast"}).json
        assert dry["call"]["policy"]["maxAttempts"] == count and dry["call"]["policyName"] == f"fast@{count - 1}"
        sent = service("POST", f"/v1/forward/{target.url}", b"", {"redial-policy": "fast"})
        assert service.ended(sent.json["id"])["attemptCount"] == count
    assert service("POST", "/v1/policies/preview", {"policy": "none"}).status == 422
    assert service("POST", "/v1/calls", {"url": target.url, "policyName": "fast@1"}).status == 422


def test_policies_are_bounded_in_number_and_in_versions(redial):
    service = redial(Constants(maxPolicies=2, maxPolicyVersions=3))
    for count in range(1, 6):
        shown = put(service, "a", {"maxAttempts": count}).json
    assert [version["version"] for version in shown["versions"]] == [3, 4, 5]
    put(service, "b", {})
    assert put(service, "c", {}).json["code"] == "tooManyPolicies"
    service.kill()
    service.start()
    assert [version["version"] for version in get(service, "a").json["versions"]] == [3, 4, 5]
    assert put(service, "c", {}).status == 409
    # Names come and go endlessly; the memory for them does not grow.
    for number in range(5):
        assert service("DELETE", "/v1/policies/b").status == (204 if number == 0 else 404)
        assert put(service, f"n{number}", {}).status == 201
        assert service("DELETE", f"/v1/policies/n{number}").status == 204
    service.terminate()
    assert run("doctor", "--store", f"sqlite:{service.store}").returncode == 0

"""The service behaves as api/openapi.yaml says."""

import re
import sys
from json import dumps
from urllib.parse import urljoin

import jsonschema
import pytest
import yaml
from openapi_spec_validator import validate

from processes import ROOT, Constants, wait_until

sys.path.insert(0, str(ROOT / "Scripts"))
import contract  # noqa: E402

PATH = ROOT / "api/openapi.yaml"
CONTRACT = yaml.load(PATH.read_text(), yaml.CSafeLoader)


def validator(schema):
    return jsonschema.Draft202012Validator(
        schema | {"components": CONTRACT["components"]}, format_checker=jsonschema.FormatChecker())


def resolve(node):
    while "$ref" in node:
        found = CONTRACT
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def check(answer, method, path):
    """The contract lists this answer for the operation."""
    operation = CONTRACT["paths"][path][method]
    assert str(answer.status) in operation["responses"], f"{method} {path} answered {answer.status}: {answer.body}"
    expected = resolve(operation["responses"][str(answer.status)])
    for name, header in expected.get("headers", {}).items():
        if resolve(header).get("required"):
            assert answer.headers[name], f"{method} {path} {answer.status} lacks {name}"
    if "content" not in expected:
        assert not answer.body, f"{method} {path} {answer.status} says something"
        return None
    kind = answer.headers["content-type"].split(";")[0]
    assert kind in expected["content"], f"{method} {path} {answer.status} is {kind}"
    value = answer.json if kind in ("application/json", "application/problem+json") else answer.body.decode()
    if kind == "application/yaml":
        value = yaml.safe_load(value)
    validator(expected["content"][kind]["schema"]).validate(value)
    if kind == "application/problem+json":
        # A program that reads the contract knows every possible code.
        assert f"`{value['code']}`" in expected["description"], f"{method} {path} {answer.status}: {value['code']}"
    return value


def ask_of_credentials(ask):
    """Asks for credentials, of each answer that they can have."""
    all, one = "/v1/credentials", "/v1/credentials/{name}"
    json, text = {"content-type": "application/json"}, {"content-type": "text/plain"}
    example = CONTRACT["paths"][one]["put"]["requestBody"]["content"]["application/json"]["example"]
    for name in "a", "a", "b":
        ask("put", one, example, name=name)
    # The next one of another name is one too many.
    ask("put", one, example, name="c")
    for body, headers in (({}, None), ("{", json), ("{}", text), (" " * 200_000, json)):
        ask("put", one, body, headers, name="a")
    ask("put", one, example, name="%20")
    ask("put", one, example, name="a", query="?x=1")
    ask("get", all)
    ask("get", all, query="?x=1")
    for method in "get", "delete":
        ask(method, one, name="d")
        ask(method, one, name="a", query="?x=1")
    ask("get", one, name="a")
    ask("delete", one, name="a")


def ask_of_alerts(ask, service, url):
    """Asks for alerts, and an issue that one reports, of each answer that they can have."""
    alerts, alert, test, one = "/v1/alerts", "/v1/alerts/{name}", "/v1/alerts/{name}/test", "/v1/issues/{id}"
    json, text = {"content-type": "application/json"}, {"content-type": "text/plain"}

    def example(path, method):
        return CONTRACT["paths"][path][method]["requestBody"]["content"]["application/json"]["example"]
    ask("put", alert, example(alert, "put"), name="a")
    own = {"to": {"slack": url}, "kinds": ["held"], "targets": ["held"], "after": "0s"}
    ask("put", alert, own, name="a")
    endpoint = ask("post", "/v1/webhook-endpoints", {"url": url})["id"]
    ask("put", alert, own | {"to": {"endpoint": endpoint}}, name="b")
    ask("delete", "/v1/webhook-endpoints/{id}", id=endpoint)
    ask("put", alert, own, name="c")
    ask("get", alerts)
    ask("get", alert, name="b")
    ask("post", test, name="a")
    ask("post", test, name="b")
    ask("patch", alert, example(alert, "patch"), name="a")
    ask("patch", alert, {"silenced": False}, name="a")
    ask("post", "/v1/targets/{key}/pause", key="held")
    ask("post", "/v1/calls", {"url": url, "target": "held"})
    found = ask("get", "/v1/issues", query="?state=open&target=held")["data"][0]["id"]
    ask("get", one, id=found)
    ask("patch", one, example(one, "patch"), id=found)
    for body, headers in (({}, None), ("{", json), ("{}", text), (" " * 200_000, json)):
        ask("patch", alert, body, headers, name="a")
    for body, headers in (({}, None), ("{", json), ("{}", text), (" " * 200_000, json)):
        ask("put", alert, body, headers, name="d")
    ask("put", alert, own, name="%20")
    ask("get", alerts, query="?x=1")
    for method, path in (("get", alert), ("post", test), ("delete", alert)):
        ask(method, path, name="d")
        ask(method, path, name="a", query="?x=1")
    ask("patch", alert, {"silenced": True}, name="d")
    ask("patch", one, {"state": "resolved"}, id=found)
    ask("post", "/v1/targets/{key}/resume", key="held")
    wait_until(lambda: ask("get", one, id=found)["state"] == "resolved", "it is over")
    ask("delete", alert, name="a")


def test_the_document_is_valid_openapi_and_is_what_the_service_serves(redial):
    validate(CONTRACT)
    answer = redial()("GET", "/openapi.yaml")
    assert answer.body == PATH.read_bytes()
    assert answer.headers["content-type"] == "application/yaml"
    assert CONTRACT["info"]["version"] in (ROOT / "Sources/RedialCore/Version.swift").read_text()


def test_the_list_of_pages_leads_to_what_is_there(redial):
    service = redial()
    answer = service("GET", "/llms.txt")
    text = answer.body.decode()
    assert text == (ROOT / "docs/llms.txt").read_text() and answer.headers["content-type"] == "text/plain; charset=utf-8"
    # The form of llms.txt: a title, a summary in a quote, and sections of entries with a line each.
    head, *sections = text.split("\n## ")
    assert re.fullmatch(r"# Redial\n\n> [^\n]+\n\n[^\n#]+\n", head)
    for section in sections:
        assert re.fullmatch(r"[^\n]+\n\n(- (\[[^\]]+\]\([^)]+\)|`[^`]+`(, `[^`]+`)*): [^\n]+\n?)+", section), section
    links = re.findall(r"\]\((.*?)\)", text)
    assert "openapi.yaml" in links
    for link in links:
        assert service("GET", urljoin("/llms.txt", link)).status == 200, link
    pages = re.findall(r"`([^`]+\.\w+)`", text)
    assert {page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").glob("*.md")} - {"docs/README.md"} <= set(pages)
    assert [page for page in pages if not (ROOT / page).exists()] == []


def test_every_example_fits_its_schema():
    count = 0

    def walk(node):
        nonlocal count
        if isinstance(node, dict):
            if "schema" in node:
                examples = [resolve(e)["value"] for e in node.get("examples", {}).values()]
                examples += [node["example"]] if "example" in node else []
                for example in examples:
                    validator(node["schema"]).validate(example)
                    count += 1
            if isinstance(node.get("examples"), list):
                for example in node["examples"]:
                    validator({k: v for k, v in node.items() if k != "examples"}).validate(example)
                    count += 1
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(CONTRACT)
    assert count >= 10


def test_what_is_declared_replaces_all_but_the_prose():
    """Scripts/generate writes the declared schemas; test_client_packages.py compares what it makes."""
    def woven(members, schema):
        file = {"components": {"schemas": {"A": {"description": "It.", "type": "object", "properties": members}}}}
        declaration = {"path": "A", "source": "Declared", "schema": schema, "isDescribed": True}
        made = contract.woven(file, [declaration])
        text = contract.text_of(made, [declaration])
        assert contract.text_of(yaml.safe_load(text), [declaration]) == text
        assert "    # Declared in Declared.\n    A:\n" in text
        return yaml.safe_load(text)["components"]["schemas"]["A"]
    declared = {"type": "object", "required": ["b"], "properties": {
        "b": {"type": "integer", "maximum": 7}, "c": {"$ref": "#/components/schemas/A"}}}
    old = {"gone": {"type": "string"}, "b": {"type": "string", "description": "A b.", "examples": [3], "minimum": 1}}
    assert woven(old, declared) == {"description": "It.", "type": "object", "required": ["b"], "properties": {
        "b": {"description": "A b.", "type": "integer", "maximum": 7, "examples": [3]}, "c": {"$ref": "#/components/schemas/A"}}}
    with pytest.raises(contract.Undescribed, match="^api/openapi.yaml: write .* below components/schemas/A/properties/b$"):
        woven({}, declared)
    operation = {"operationId": "f", "parameters": [{"name": "a", "description": "It.", "schema": {"type": "string"}}]}
    file = {"paths": {"/": {"get": operation}}, "components": {"schemas": {}}}
    found, lacking = ({"path": path, "source": "Declared", "schema": {"type": "integer"}} for path in ("f?a", "f?b"))
    assert "operationId: f  # Parameters declared in Declared.\n" in contract.text_of(contract.woven(file, [found]), [found]) + "\n"
    assert operation["parameters"][0]["schema"] == {"type": "integer"}
    with pytest.raises(contract.Undescribed, match="write the parameter `b` of f, with"):
        contract.woven(file, [lacking])


def test_every_answer_in_json_has_an_example():
    lacking = []
    for path, item in CONTRACT["paths"].items():
        for method in ("get", "post", "put", "patch", "delete"):
            for status, answer in item.get(method, {}).get("responses", {}).items():
                for kind, content in resolve(answer).get("content", {}).items():
                    if kind in ("application/json", "application/problem+json") and not {"example", "examples"} & set(content):
                        lacking.append(f"{method} {path} {status} {kind}")
    assert not lacking, lacking


def test_every_operation_answers_as_documented(redial, flaky):
    service, target = redial("--max-body-bytes", "10000", Constants(
        maxPolicies=2, maxOperations=1, maxAlerts=2, maxCredentials=2, alertInterval="20ms"), clock=True), flaky()
    seen = set()

    def ask(method, template, body=None, headers=None, query="", **values):
        path = re.sub(r"\{(\w+)\}", lambda m: values[m[1]], template)
        answer = service(method.upper(), path + query, body, headers)
        seen.add((method, template, str(answer.status)))
        return check(answer, method, template)

    for example in CONTRACT["paths"]["/v1/calls"]["post"]["requestBody"]["content"]["application/json"][
            "examples"].values():
        ask("post", "/v1/calls", example["value"] | {"url": target.url, "delay": "1h"} | {"callback": {"url": target.url}})
    call = ask("post", "/v1/calls", {"url": target.url + "/?fail=1", "labels": {"a": "b"}})
    identity = call["id"]
    ask("get", "/v1/calls/{id}", id=identity)
    wait_until(lambda: ask("get", "/v1/calls/{id}", id=identity)["state"] == "succeeded", "it ends")
    ask("get", "/v1/calls/{id}/attempts", id=identity)
    waiting = ask("post", "/v1/calls", {"url": target.url, "delay": "1h"})
    ask("post", "/v1/calls/{id}/cancel", id=waiting["id"])
    ask("post", "/v1/calls/{id}/retry", id=waiting["id"])
    running = ask("post", "/v1/calls", {"url": target.url + "/?delay=20s"})
    wait_until(lambda: target.hits().get(running["id"]), "it runs")
    ask("post", "/v1/calls/{id}/retry", id=running["id"])
    ask("post", "/v1/calls/{id}/cancel", id=identity)
    ask("get", "/v1/calls")
    ask("get", "/v1/calls", query="?label=" + "a" * 9000)
    ask("get", "/v1/calls", query="?limit=1&state=succeeded")
    ask("get", "/v1/statistics")
    ask("get", "/v1/statistics", query="?x=1")
    ask("get", "/v1/instances")
    ask("get", "/v1/instances", query="?x=1")
    ask("get", "/v1/targets")
    ask("get", "/v1/targets/{key}", key=target.url.replace("/", "%2F"))
    ask("get", "/v1/targets/{key}", key="nobody")
    json = {"content-type": "application/json"}
    ask("post", "/v1/calls", {"url": target.url}, json | {"prefer": "wait=50"})
    ask("post", "/v1/calls", {"url": target.url}, query="?dryRun=true")
    ask("get", "/v1/calls/{id}", id=identity, query="?wait=1s")
    ask("post", "/v1/calls/batch", [{"url": target.url}, {}])
    ask("post", "/v1/calls/batch", '{"url": 1}\n', {"content-type": "application/x-ndjson"})
    ask("post", "/v1/calls/batch", [])
    ask("post", "/v1/calls/batch", "{", json)
    ask("post", "/v1/calls/batch", "[]", {"content-type": "text/plain"})
    ask("post", "/v1/calls/batch", [{}] * 1001)
    ask("post", "/v1/forward/{url}", b"x", url=target.url)
    ask("post", "/v1/forward/{url}", b"x", {"prefer": "wait=50"}, url=target.url)
    ask("post", "/v1/forward/{url}", b"x", {"idempotency-key": ""}, url=target.url)
    ask("post", "/v1/forward/{url}", b"x" * 200_000, url=target.url)
    ask("post", "/v1/forward/{url}", b"x", url="nonsense")
    path = "/v1/policies/preview"
    for example in CONTRACT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["examples"].values():
        ask("post", path, example["value"])
        ask("post", path, example["value"], {"content-type": "application/json", "accept": "image/svg+xml"})
    ask("post", path, "{", {"content-type": "application/json"})
    ask("post", path, "{}", {"content-type": "text/plain"})
    ask("post", path, {"policy": {"maxAttempts": 0}, "x": 1})
    ask("post", path, " " * 200_000, {"content-type": "application/json"})
    tag = service("GET", f"/v1/calls/{identity}").headers["etag"]
    ask("get", "/v1/calls/{id}", headers={"if-none-match": tag}, id=identity)
    again, content = "/v1/calls/{id}/retry", "/v1/calls/{id}/content"
    for method, path in (("post", again), ("post", "/v1/calls/{id}/cancel"), ("delete", content)):
        ask(method, path, "{", json, id=identity)
        ask(method, path, "{}", {"content-type": "text/plain"}, id=identity)
        ask(method, path, {"by": 1}, id=identity)
        ask(method, path, " " * 200_000, json, id=identity)
    ask("delete", content, id=ask("post", "/v1/calls", {"url": target.url, "delay": "1h"})["id"])
    ask("delete", content, query="?x=1", id=identity)
    ask("delete", content, id="call_0000000000000")
    ask("get", "/v1/calls/{id}/attempts", query="?include=body", id=identity)
    anew = "/v1/calls/{id}/replay"
    for example in CONTRACT["paths"][anew]["post"]["requestBody"]["content"]["application/json"]["examples"].values():
        ask("post", anew, example["value"] | ({"url": target.url} if "url" in example["value"] else {}), id=identity)
    ask("post", anew, id=identity)
    ask("post", anew, headers={"prefer": "wait=50"}, id=identity)
    ask("post", anew, query="?dryRun=true", id=identity)
    ask("post", anew, "{", json, id=identity)
    ask("post", anew, {"polcy": 1}, id=identity)
    ask("post", anew, {"body": "x" * 10001}, id=identity)
    ask("post", anew, "{}", {"content-type": "text/plain"}, id=identity)
    ask("post", anew, id="call_0000000000000")
    ask("get", "/v1/calls/{id}", query="?include=request", id=identity)
    ask("delete", content, id=identity)
    ask("post", again, id=identity)
    ask("post", anew, id=identity)
    ask("get", "/v1/webhook-secret")
    ask("get", "/v1/webhook-secret", query="?x=1")
    operations, one, stop = "/v1/operations", "/v1/operations/{id}", "/v1/operations/{id}/cancel"
    for example in CONTRACT["paths"][operations]["post"]["requestBody"]["content"]["application/json"][
            "examples"].values():
        begun = ask("post", operations, example["value"])
        if "id" in begun:
            wait_until(lambda: ask("get", one, id=begun["id"])["state"] == "completed", "it is completed")
            ask("post", stop, id=begun["id"])
    replay = {"action": "replay", "filter": {"state": ["failed", "succeeded"]}, "ratePerSecond": 1}
    ask("post", operations, replay | {"dryRun": True})
    ask("post", stop, id=ask("post", operations, replay)["id"])
    slow = ask("post", operations, {"action": "cancel", "ratePerSecond": 1, "all": True})
    ask("post", operations, {"action": "cancel", "all": True})
    ask("get", operations)
    issue = "/v1/issues/{id}"
    failed = ask("post", "/v1/calls", {"url": "http://127.0.0.1:1", "policy": {"maxAttempts": 1}})
    of = service.ended(failed["id"])["issue"]
    ask("get", "/v1/audit", query="?action=key.created,key.revoked&since=1h&limit=5")
    ask("get", "/v1/audit", query="?since=yesterday")
    ask("get", "/v1/issues")
    ask("get", "/v1/issues", query="?limit=0")
    ask("get", issue, id=of)
    ask("get", issue, query="?x=1", id=of)
    ask("get", issue, id="issue_00000000000101")
    ask("patch", issue, CONTRACT["paths"][issue]["patch"]["requestBody"]["content"]["application/json"]["example"], id=of)
    ask("patch", issue, {"state": "gone"}, id=of)
    ask("patch", issue, "{", json, id=of)
    ask("patch", issue, "{}", {"content-type": "text/plain"}, id=of)
    ask("patch", issue, " " * 200_000, json, id=of)
    ask("patch", issue, {"state": "open"}, id="issue_00000000000101")
    # Late calls wait for a breaker.
    ask("patch", issue, {"state": "resolved"}, id="issue_00000000000184")
    ask("post", stop, id=slow["id"])
    ask("post", operations, "{", json)
    ask("post", operations, "{}", {"content-type": "text/plain"})
    ask("post", operations, {"action": "purge"})
    ask("post", operations, " " * 200_000, json)
    ask("get", operations, query="?x=1")
    for method, path in (("get", one), ("post", stop)):
        ask(method, path, id="op_0000000000000")
        ask(method, path, id=slow["id"], query="?x=1")
    policy = "/v1/policies/{name}"
    example = CONTRACT["paths"][policy]["put"]["requestBody"]["content"]["application/json"]["example"]
    ask("put", policy, example, name="a")
    ask("put", policy, {}, name="a")
    ask("put", policy, {}, json | {"if-match": '"1"'}, name="a")
    ask("put", policy, {}, query="?x=1", name="a")
    ask("put", policy, "{", json, name="a")
    ask("put", policy, "{}", {"content-type": "text/plain"}, name="a")
    ask("put", policy, " " * 20_000, json, name="a")
    ask("put", policy, {"maxAttempts": 0}, name="a")
    ask("put", policy, {}, name="b")
    ask("put", policy, {}, name="c")
    ask("get", "/v1/policies")
    ask("get", "/v1/policies", query="?x=1")
    ask("get", policy, name="a")
    ask("get", policy, headers={"if-none-match": '"2"'}, name="a")
    ask("get", policy, query="?version=0", name="a")
    ask("post", "/v1/calls", {"url": target.url, "policy": "a@1"})
    ask("delete", policy, headers={"if-match": '"7"'}, name="a")
    ask("delete", policy, query="?x=1", name="a")
    ask("delete", policy, name="a")
    for method in ("get", "put", "delete"):
        ask(method, policy, name="%20" if method == "put" else "a")
    for path in ("/", "/healthz", "/readyz", "/metrics", "/openapi.yaml", "/llms.txt"):
        ask("get", path)
    for method, path in (
        ("get", "/v1/calls/{id}"), ("get", "/v1/calls/{id}/attempts"), ("post", "/v1/calls/{id}/cancel"),
        ("post", "/v1/calls/{id}/retry")):
        ask(method, path, id="call_0000000000000")
        ask(method, path, id=identity, query="?x=1")
    for path in ("/v1/calls", "/v1/targets", "/v1/events"):
        ask("get", path, query="?x=1")
    # Its answer does not end; test_events.py reads it.
    assert service("HEAD", "/v1/events").headers["content-type"] == "text/event-stream"
    seen.add(("get", "/v1/events", "200"))
    ask("get", "/v1/targets/{key}", key="a", query="?x=1")
    controls = [f"/v1/targets/{{key}}/{name}" for name in ("pause", "resume", "trip", "reset", "release")]
    for path in controls:
        ask("post", path, key="a")
        ask("post", path, key="a", query="?x=1")
        ask("post", path, key="%01")
    settings = "/v1/targets/{key}"
    for method in ("put", "patch"):
        for kind, content in CONTRACT["paths"][settings][method]["requestBody"]["content"].items():
            ask(method, settings, dumps(content["example"]), {"content-type": kind}, key="a")
        ask(method, settings, {"limit": 1}, key="a")
        ask(method, settings, "{", {"content-type": "application/json"}, key="a")
        ask(method, settings, "{}", {"content-type": "text/plain"}, key="a")
        ask(method, settings, "{" + " " * 500_000 + "}", {"content-type": "application/json"}, key="a")
    endpoints, endpoint = "/v1/webhook-endpoints", "/v1/webhook-endpoints/{id}"
    json = {"content-type": "application/json"}
    example = CONTRACT["paths"][endpoints]["post"]["requestBody"]["content"]["application/json"]["example"]
    one = ask("post", endpoints, example)["id"]
    ask("get", endpoints)
    ask("get", endpoint, id=one)
    ask("put", endpoint, example, id=one)
    ask("post", endpoint + "/rotate-secret", {"overlap": "24h"}, id=one)
    ask("post", endpoint + "/rotate-secret", id=one)
    ask("post", endpoint + "/test", id=one)
    ask("get", endpoint + "/deliveries", id=one)
    for method, path, template in (("post", endpoints, {}), ("put", endpoint, {"id": one}),
                                   ("post", endpoint + "/rotate-secret", {"id": one})):
        ask(method, path, "{", json, **template)
        ask(method, path, "{}", {"content-type": "text/plain"}, **template)
        ask(method, path, {"x": 1}, **template)
        ask(method, path, " " * 200_000, json, **template)
    for method, path in (("get", endpoints), ("get", endpoint), ("delete", endpoint), ("post", endpoint + "/test"),
                         ("get", endpoint + "/deliveries")):
        ask(method, path, query="?x=1", id=one)
    for method, path in (("get", endpoint), ("delete", endpoint), ("post", endpoint + "/test"),
                         ("get", endpoint + "/deliveries"), ("post", endpoint + "/rotate-secret")):
        ask(method, path, id="whe_0")
    ask("put", endpoint, example, id="whe_0")
    ask("put", endpoint, example | {"enabled": False}, id=one)
    ask("post", endpoint + "/test", id=one)
    ask("delete", endpoint, id=one)
    ask("post", "/v1/calls", {"polcy": {}})
    ask("post", "/v1/calls", "{", {"content-type": "application/json"})
    ask("post", "/v1/calls", "{}", {"content-type": "text/plain"})
    ask("post", "/v1/calls", {"url": target.url, "body": "x" * 10001})
    ask("post", "/v1/calls", {"url": target.url}, {"content-type": "application/json", "idempotency-key": "x"}, query="")
    ask("post", "/v1/calls", {"url": target.url}, {"content-type": "application/json", "idempotency-key": "x"}, query="")

    ask_of_alerts(ask, service, target.url)

    ask_of_credentials(ask)

    keys, key = "/v1/keys", "/v1/keys/{id}"
    example = CONTRACT["paths"][keys]["post"]["requestBody"]["content"]["application/json"]["example"]
    ask("get", keys)
    ask("get", keys, query="?x=1")
    ask("post", keys, example)
    ask("post", keys, "{", json)
    ask("post", keys, "{}", {"content-type": "text/plain"})
    ask("post", keys, {"x": 1})
    ask("post", keys, " " * 200_000, json)
    ask("delete", key, id="key_0")
    ask("delete", key, id="key_0", query="?x=1")
    admin = ask("post", keys, example | {"scopes": ["admin"]})
    service.credentials = {"authorization": "Bearer " + admin["key"]}
    ask("delete", key, id=ask("post", keys, example)["id"])

    # Answers that this test cannot cause: a failing disk, a stopping service, too many queries, ten thousand targets.
    # test_keys.py tests the scopes of each operation; test_hostile_submissions.py has calls that submit themselves.
    elsewhere = {"401", "403", "429", "503", "507", "508"}
    documented = {
        (method, path, status) for path, item in CONTRACT["paths"].items() for method in ("get", "post", "put", "patch", "delete")
        if method in item for status in item[method]["responses"] if status not in elsewhere}
    documented -= {("post", path, "409") for path in controls} | {("put", settings, "409"), ("patch", settings, "409"), ("post", endpoints, "409")}
    # Only while the database has no connection for readers, as in test_database_trouble.py.
    documented -= {(method, f"/v1/calls/{{id}}/{name}", "202")
                   for method, name in (("post", "cancel"), ("post", "retry"), ("delete", "content"))}
    # test_secrets_without_key.py has no key for the store.
    documented -= {("get", "/v1/webhook-secret", "409"), ("put", endpoint, "409"), ("post", endpoint + "/rotate-secret", "409")}
    # test_store.py asks for a call that is damaged.
    documented -= {("get", "/v1/calls/{id}", "409"), ("get", "/v1/calls/{id}/attempts", "409"), ("post", "/v1/calls", "409"),
                   ("post", "/v1/forward/{url}", "409")}
    # test_unreadable.py removes a key that is damaged.
    documented -= {("delete", key, "204")}
    assert documented == seen


def codes_of_the_pages():
    """The statuses of each code that docs/problems*.md explains."""
    rows = [
        re.match(r"\| `(\w+)` \| ([\d, ]+) \|", line)
        for page in sorted((ROOT / "docs").glob("problems*.md")) for line in page.read_text().splitlines()]
    return {row[1]: row[2].split(", ") for row in rows if row}


def test_the_codes_of_problems_are_those_that_are_declared():
    known = codes_of_the_pages()
    assert set(known) == set(CONTRACT["components"]["schemas"]["ProblemCode"]["enum"]) and len(known) > 80
    # One answer may be that of several statuses.
    answers = {}
    for operation in (entry for item in CONTRACT["paths"].values() for entry in item.values() if isinstance(entry, dict)):
        for status, answer in operation["responses"].items():
            answer = resolve(answer)
            if "application/problem+json" in answer.get("content", {}):
                answers.setdefault(answer["description"], set()).add(status)
    # Words of the prose that are no codes: settings, members, parameters.
    others = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text(), re.M)) | {
        "admin", "call", "default", "errors", "key", "limit"}
    said = set()
    for text, statuses in answers.items():
        codes = {word for word in re.findall(r"`([a-z]\w*)`", text) if word not in others}
        assert codes and codes <= set(known), (text, codes - set(known))
        for code in codes:
            assert statuses & set(known[code]), (text, code)
        assert statuses <= {status for code in codes for status in known[code]}, text
        said |= codes
    # These the introduction has, since every operation may answer so; and no client sees the others.
    everywhere = {"crossSiteRequest", "hostNotAllowed", "hostEmpty", "invalidNamespace", "otherNamespace", "methodNotAllowed"}
    instances = {"notAPeer", "invalidForward", "forwardedTooLate", "callInMemory"}
    assert all(f"`{code}`" in CONTRACT["info"]["description"] for code in everywhere)
    assert set(known) - said - everywhere == instances


def test_each_change_may_find_the_disk_full():
    """All but what changes nothing, and a batch, which says it of each call."""
    without = {operation["operationId"] for paths in CONTRACT["paths"].values() for method, operation in paths.items()
               if method in ("post", "put", "patch", "delete") and "507" not in operation["responses"]}
    assert without == {"submitBatch", "previewPolicy"}


def test_webhooks_are_as_documented(redial, flaky, receiver):
    import json
    service, target, hook = redial(), flaky(), receiver()
    service.submit(url=target.url + "/?fail=1", callback={"url": hook.url}, policy={"backoff": {"initial": "10ms"}})
    request = hook.next()
    operation = CONTRACT["webhooks"]["callEnded"]["post"]
    for parameter in operation["parameters"]:
        validator(parameter["schema"]).validate(request.headers[parameter["name"]])
    validator(operation["requestBody"]["content"]["application/json"]["schema"]).validate(json.loads(request.body))


@pytest.mark.parametrize("path", ["docs/calls-in-detail.md", "api/openapi.yaml"])
def test_the_limits_that_people_are_told_hold(path, redial):
    assert "65536" in (ROOT / path).read_text()
    service = redial()
    assert service("POST", "/v1/calls", {"url": "http://x/", "policy": {"maxAttempts": 1001}}).status == 422
    assert service("POST", "/v1/calls", {"url": "http://x/", "capture": {"maxBytes": 1048577}}).status == 422


def test_each_operation_refuses_a_damaged_compressed_body_as_the_contract_says(redial):
    service = redial()
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    for path, operations in CONTRACT["paths"].items():
        for method in operations.keys() & {"get", "post", "put", "patch", "delete"}:
            # A forwarded body is passed on as it came.
            if "400" in operations[method]["responses"] and "{url}" not in path:
                answer = service(method.upper(), re.sub(r"\{\w+\}", "x", path), b"damaged", headers)
                assert answer.status == 400 and check(answer, method, path)["code"] == "badRequest", (method, path, answer.body)

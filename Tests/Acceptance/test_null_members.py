"""In a body that creates or changes something, null is the same as leaving a member out."""

import copy

import pytest

from processes import Constants
from test_contract import CONTRACT, resolve

# Null removes there: members of the original call, and settings of a target.
PATCHES = {"replayCall", "changeTarget"}
# Null is a value of these: the body `null`.
VALUES = {("json",)}
# Null is no limit there, whatever the defaults are.
LIMITS = {("rate", "perSecond"), ("retryBudget", "minPerSecond")}
# What costs much otherwise.
LIGHT = {"previewPolicy": {"limit": 1}}


def requests():
    """Each operation with a body of JSON: its method, path and schema, and an example."""
    for path, item in CONTRACT["paths"].items():
        for method in ("post", "put", "patch"):
            operation = item.get(method, {})
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            # The elements of a batch are like a single call.
            if content and operation["operationId"] not in PATCHES and resolve(content["schema"]).get("type") != "array":
                examples = [content.get("example"), *(e["value"] for e in content.get("examples", {}).values())]
                example = next((example for example in examples if isinstance(example, dict)), {})
                example = example | LIGHT.get(operation["operationId"], {})
                yield pytest.param(method.upper(), path, content["schema"], example, id=operation["operationId"])


def optional(schema, way=()):
    """The place of each member that may be left out."""
    schema = resolve(schema)
    for part in schema.get("oneOf", []) + schema.get("anyOf", []):
        yield from optional(part, way)
    for name, member in schema.get("properties", {}).items():
        if name not in schema.get("required", []):
            yield (*way, name)
        yield from optional(member, (*way, name))


def with_member(body, way, *value):
    """The body with a value at a place; without one there if there is no value."""
    body = copy.deepcopy(body)
    *parents, name = way
    place = body
    for parent in parents:
        if not isinstance(place.get(parent), dict):
            place[parent] = {}
        place = place[parent]
    place.pop(name, None)
    if value:
        place[name] = value[0]
    return body


@pytest.mark.parametrize("method, path, schema, example", list(requests()))
def test_null_is_the_same_as_nothing(redial, method, path, schema, example):
    service = redial(Constants(maxWebhookEndpoints=1000))
    call = service.submit(url="http://127.0.0.1:9/", delay="1h")
    url = path.replace("{key}", "t").replace("{name}", "n")
    url = url.replace("{id}", call if path.startswith("/v1/calls/") else "none")

    def answer(body):
        # Whether it is done depends on what is stored; whether it is read does not.
        given = service(method, url, body)
        return given.status in (400, 422), sorted(str(error) for error in (given.json or {}).get("errors", []))

    # So that it exists before.
    answer(example)
    places = [way for way in dict.fromkeys(optional(schema)) if way not in VALUES]
    assert places
    for way in places:
        if way[:-1] == ("filter",):
            # A condition that is null by mistake would select more than was meant.
            given = service(method, url, with_member(example, way, None))
            assert given.status == 422 and f"/filter/{way[-1]}" in [error["pointer"] for error in given.json["errors"]], way
        elif way not in LIMITS:
            assert answer(with_member(example, way, None)) == answer(with_member(example, way)), way

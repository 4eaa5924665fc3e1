"""Which web pages of other origins may use the API, tested with raw requests and with headless Chromium."""

import re
import subprocess

import pytest

from processes import BINARY, ROOT, environment
from test_contract import CONTRACT
from test_dashboard import chromium  # noqa: F401 (fixture)
from test_proxies import ask, blocks

KEY = "k" * 32
OWN = {"authorization": f"Bearer {KEY}"}
APP = "https://app.example.com"
STRANGERS = [
    "https://app.example.com:8443", "http://app.example.com", "https://evil.example.com", "https://app.example.com.evil.test",
    "null", "https://APP.example.com", "https://app.example.com/", ""]


def names(field):
    return {name.strip().lower() for name in field.split(",")}


def preflight(service, path, method, origin=APP, fields="authorization,content-type", **more):
    asked = {"origin": origin, "access-control-request-method": method, "sec-fetch-site": "cross-site",
             "sec-fetch-mode": "cors"} | more
    return ask(service.port, "OPTIONS", path, None, asked | ({"access-control-request-headers": fields} if fields else {}))


@pytest.fixture
def service(redial):
    return redial("--cors-origins", f"{APP}, http://localhost:3000", env={"REDIAL_ADMIN_KEY": KEY})


def test_a_preflight_is_answered_without_a_key_with_what_the_api_needs(service):
    for path, item in CONTRACT["paths"].items():
        if "{url}" in path:
            continue
        for method in {"get", "post", "put", "patch", "delete"} & set(item):
            status, headers, body = preflight(service, re.sub(r"\{id\}", "call_0000000000000" if "/calls/" in path else "op_0000000000000" if "/operations/" in path else "whe_0", path).replace("{key}", "x").replace("{name}", "x"), method.upper())
            assert (status, body) == (204, b""), (path, method)
            assert headers["access-control-allow-origin"] == APP
            assert method in names(headers["access-control-allow-methods"]), path
            assert {"origin", "access-control-request-method", "access-control-request-headers"} <= names(headers["vary"])
            assert int(headers["access-control-max-age"]) > 0
            assert headers["access-control-allow-credentials"] is None
            # Every request field in the contract, and the fields for the whole API.
            wanted = {p["name"].lower() for p in parameters(item, method) if p["in"] == "header"}
            wanted |= {"authorization", "content-type", "redial-namespace"}
            assert wanted <= names(headers["access-control-allow-headers"]), (path, method)
    # Patterns of a page that tries to add its own list.
    assert "x-evil" not in names(preflight(service, "/v1/calls", "POST", fields="x-evil")[1]["access-control-allow-headers"])


def parameters(item, method):
    for parameter in item.get("parameters", []) + item[method].get("parameters", []):
        if "$ref" in parameter:
            parameter = CONTRACT["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
        yield parameter


def test_what_is_forwarded_may_have_any_method_and_any_field(service, receiver):
    target = receiver()
    path = f"/v1/forward/{target.url}/x"
    for method in ("PATCH", "OPTIONS", "REPORT"):
        status, headers, _ = preflight(service, path, method, fields="authorization,x-tenant,redial-label")
        assert status == 204 and headers["access-control-allow-methods"] == method
        assert names(headers["access-control-allow-headers"]) == {"authorization", "x-tenant", "redial-label"}
    for fields in ("x-a\"<", "x-a:b", "a" * 5000):
        assert "x-a" not in preflight(service, path, "PATCH", fields=fields)[1]["access-control-allow-headers"]
    assert target.requests == []
    # OPTIONS that is not a preflight is forwarded.
    assert ask(service.port, "OPTIONS", path, None, OWN)[0] == 202
    assert target.next().method == "OPTIONS"


def test_a_page_of_an_allowed_origin_uses_the_api_with_a_key(service, receiver):
    target = receiver()
    page = {"origin": APP, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    status, headers, _ = ask(service.port, "POST", "/v1/calls", {"url": target.url}, OWN | page | {"idempotency-key": "a"})
    assert status == 202 and headers["access-control-allow-origin"] == APP
    for method, path, body, more, expected in (
            ("POST", "/v1/calls", {"url": target.url}, OWN | {"idempotency-key": "a"}, 202),
            ("GET", "/v1/calls", None, OWN, 200), ("GET", "/v1/calls", None, {}, 401),
            ("GET", "/v1/calls", None, {"authorization": "Bearer wrong"}, 401), ("GET", "/v1/nothing", None, OWN, 404),
            ("POST", "/v1/calls", {"url": 7}, OWN, 422), ("POST", f"/v1/forward/{target.url}", None, OWN, 202),
            ("POST", "/v1/calls/batch", b'{"url": "%s"}\n' % target.url.encode(),
             OWN | {"content-type": "application/x-ndjson"}, 200),
            ("HEAD", "/v1/events", None, OWN, 200), ("GET", "/openapi.yaml", None, {}, 200), ("GET", "/readyz", None, {}, 200)):
        status, headers, content = ask(service.port, method, path, body, more | page)
        assert status == expected, (method, path, content)
        assert headers["access-control-allow-origin"] == APP and "origin" in names(", ".join(headers.get_all("vary")))
        exposed = names(headers["access-control-expose-headers"])
        assert {"location", "content-location", "idempotency-status", "retry-after", "ratelimit", "ratelimit-policy",
                "etag", "preference-applied"} <= exposed
        assert headers["access-control-allow-credentials"] is None
    # A page can read every answer field in the contract.
    told = {name.lower() for item in CONTRACT["paths"].values() for operation in item.values() if isinstance(operation, dict)
            for response in operation.get("responses", {}).values() for name in resolved(response).get("headers", {})}
    # Cache-Control can always be read; the server itself sends Accept-Encoding, with a coding that it does not support.
    assert told - {"cache-control", "accept-encoding"} <= exposed, told - exposed


def resolved(response):
    return CONTRACT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]] if "$ref" in response else response


def test_no_other_origin_gains_anything(service, redial, tmp_path, receiver):
    target = receiver()
    for origin in STRANGERS:
        status, headers, _ = preflight(service, "/v1/calls", "POST", origin)
        assert status == 403 and headers["access-control-allow-origin"] is None, origin
        assert names(headers["vary"]) == {"origin"}
        status, headers, body = ask(service.port, "POST", "/v1/calls", {"url": target.url}, OWN | {"origin": origin})
        assert status == 403 and b"crossSiteRequest" in body and headers["access-control-allow-origin"] is None, origin
        assert origin.encode() in body, body
    # Requests that browsers send without asking have no Origin, from any page.
    assert ask(service.port, "GET", "/v1/calls", None, OWN | {"sec-fetch-site": "cross-site"})[0] == 403
    plain = ask(service.port, "GET", "/v1/calls", None, OWN)
    assert plain[0] == 200 and plain[1]["access-control-allow-origin"] is None and "origin" in names(plain[1]["vary"])
    # Without a key the owner of the script is unknown; without the setting nothing is allowed.
    for name, flags in (("open", ["--cors-origins", APP]), ("off", [])):
        (tmp_path / name).mkdir()
        other = redial(*flags, folder=tmp_path / name)
        for more in ({}, OWN):
            status, headers, body = ask(other.port, "POST", "/v1/calls", {"url": target.url}, more | {"origin": APP})
            assert status == 403 and b"crossSiteRequest" in body, name
        if name == "off":
            assert preflight(other, "/v1/calls", "POST")[0] == 403
            assert ask(other.port, "GET", "/v1/calls")[1]["vary"] is None
        else:
            other.says("corsWithoutKey")
    assert target.requests == []


@pytest.mark.parametrize("value", [
    "*", "null", "app.example.com", "https://app.example.com/", "https://app.example.com/x", "https://*.example.com",
    "https://app.example.com:443", "http://a:80", "ftp://a", "https://", "https://a_b/c"])
def test_only_exact_origins_can_be_set(value):
    refused = subprocess.run([BINARY, "serve", "--print-config", "--cors-origins", value], capture_output=True, text=True, env=environment())
    assert refused.returncode == 2 and "corsOrigins" in refused.stderr


def test_in_chromium_a_page_of_an_allowed_origin_submits_and_reads_and_another_cannot(chromium, redial, receiver):  # noqa: F811
    pages = receiver(lambda request: (200, {"content-type": "text/html"}, b"<!doctype html><title>app</title>"))
    target = receiver()
    other = pages.url.replace("127.0.0.1", "localhost")
    service = redial("--cors-origins", pages.url, env={"REDIAL_ADMIN_KEY": KEY})
    # The example of docs/proxies.md, with this key and these addresses.
    example = blocks("js")[0]
    for shown, real in (("https://example.com/redial", service.url), ("rdl_…", KEY), ("https://api.example.com/charges", target.url),
                        ("console.log(answer.status, answer.headers.get(\"location\"));",
                         "return [answer.status, answer.headers.get('location'), answer.headers.get('idempotency-status')];")):
        assert example.count(shown) == 1, shown
        example = example.replace(shown, real)
    example = f"async () => {{ {example} }}"
    context = chromium.new_context()
    page = context.new_page()
    page.goto(pages.url)
    status, location, replayed = page.evaluate(example)
    assert status == 202 and location.startswith("/v1/calls/call_") and replayed is None
    assert target.next().path == "/"
    assert page.evaluate(example)[2] == "repeated"
    ended = page.evaluate(
        """async ([url, key]) => { const answer = await fetch(url, {headers: {authorization: key}}); return (await answer.json()).url; }""",
        [service.url + location, f"Bearer {KEY}"])
    assert ended == target.url
    problem = page.evaluate(
        """async url => { const answer = await fetch(url + "/v1/calls"); return [answer.status, (await answer.json()).code]; }""", service.url)
    assert problem == [401, "missingAPIKey"]
    patched = page.evaluate(
        """async ([url, key]) => (await fetch(url, {method: "PATCH", body: "x", headers: {authorization: key, "x-tenant": "a"}})).status""",
        [f"{service.url}/v1/forward/{target.url}/p", f"Bearer {KEY}"])
    assert patched == 202
    request = target.next()
    assert (request.method, request.headers["x-tenant"], request.headers["authorization"]) == ("PATCH", "a", None)
    page.goto(other)
    before = len(service("GET", "/v1/calls", headers=OWN).json["data"])
    assert page.evaluate(f"async () => {{ try {{ await ({example})(); return 'read'; }} catch (error) {{ return error.name; }} }}") == "TypeError"
    assert len(service("GET", "/v1/calls", headers=OWN).json["data"]) == before
    context.close()

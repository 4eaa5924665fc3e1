"""What a web page of another origin can make the service do: with raw requests, and in headless Chromium."""

import http.client
import json
import socket
import subprocess

import pytest
from playwright.sync_api import expect

import browsers
from processes import BINARY, BOUND, ROOT, environment, free_port, wait_until

KEY = "k" * 32


def ask(port, method, path, body=None, headers=None, host=None):
    """One request on its own connection, with the given Host field and others."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", f"127.0.0.1:{port}" if host is None else host)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body or b"")))
    connection.endheaders(body)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read() or b"null") if "json" in (
        response.headers["content-type"] or "") else None, response.headers
    connection.close()
    return answer


def calls(service):
    return service("GET", "/v1/calls").json["data"]


# The requests of a page of another origin in today's browsers, in older ones, and in those without these fields.
STRANGERS = [
    {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "http://attacker.test"},
    {"origin": "null"}, {"origin": "http://127.0.0.1:1"}, {"sec-fetch-site": "cross-site", "origin": "http://attacker.test"},
]


def test_a_name_that_was_rebound_is_not_answered(redial, receiver, tmp_path):
    service, target = redial(), receiver()
    for host in ("attacker.test", f"attacker.test:{service.port}", f"127.0.0.1.attacker.test:{service.port}"):
        for method, path in (
                ("GET", "/v1/webhook-secret"), ("GET", "/v1/calls"), ("POST", "/v1/calls"), ("GET", "/"),
                ("POST", "/v1/targets/x/pause"), ("GET", f"/v1/forward/{target.url}"), ("GET", "/metrics"),
                ("POST", "/v1/calls/batch"), ("GET", "/nothing")):
            body = json.dumps({"url": target.url}).encode() if method == "POST" else None
            for kind in ("application/json", "application/x-ndjson"):
                status, problem, _ = ask(service.port, method, path, body, {"content-type": kind}, host)
                assert (status, problem["code"]) == (421, "hostNotAllowed"), (host, method, path)
                assert "allowedHosts" in problem["detail"] and host in problem["detail"], problem
        # A health check may use any name.
        assert [ask(service.port, "GET", p, host=host)[0] for p in ("/healthz", "/readyz")] == [200, 200]
    status, problem, _ = ask(service.port, "GET", "/v1/calls", host="")
    assert (status, problem["code"]) == (400, "hostEmpty")
    (tmp_path / "any").mkdir()
    assert ask(redial("--allowed-hosts", "*", folder=tmp_path / "any").port, "GET", "/v1/calls", host="")[0] == 200
    # The host of an absolute target replaces the field.
    status, problem, _ = ask(service.port, "GET", "http://attacker.test/v1/webhook-secret")
    assert (status, problem["code"]) == (421, "hostNotAllowed")
    for host in ("localhost", f"localhost:{service.port}", "127.0.0.1", "[::1]:80", "x.localhost", "192.0.2.1:8080"):
        assert ask(service.port, "GET", "/v1/webhook-secret", host=host)[0] == 200, host
    assert calls(service) == [] and target.requests == []


def test_names_that_are_allowed_are_answered_and_with_a_key_any(redial):
    service = redial("--allowed-hosts", "redial,*.example.com")
    for host, status in (("redial:8080", 200), ("a.example.com", 200), ("example.com", 421), ("attacker.test", 421)):
        assert ask(service.port, "GET", "/v1/calls", host=host)[0] == status
    service.end()
    service = redial(env={"REDIAL_ADMIN_KEY": KEY})
    key = {"authorization": f"Bearer {KEY}"}
    assert ask(service.port, "GET", "/v1/calls", headers=key, host="redial.example.com")[0] == 200
    assert ask(service.port, "GET", "/v1/calls", host="redial.example.com")[0] == 401
    refused = subprocess.run(
        [BINARY, "serve", "--allowed-hosts", "http://redial:8080"], capture_output=True, text=True, env=environment())
    assert refused.returncode == 2 and "allowedHosts" in refused.stderr


@pytest.mark.parametrize("key", [None, KEY])
def test_a_page_of_another_origin_is_refused(redial, receiver, key):
    service, target = redial(env={"REDIAL_ADMIN_KEY": key} if key else None), receiver()
    own = {"authorization": f"Bearer {key}"} if key else {}
    service.credentials = own
    body = json.dumps({"url": target.url}).encode()
    for stranger in STRANGERS:
        for method, path, more in (
                ("GET", "/v1/webhook-secret", {}), ("GET", "/v1/calls", {}), ("GET", "/v1/events", {}),
                ("POST", "/v1/calls", {"content-type": "application/json"}), ("GET", "/metrics", {}),
                ("POST", "/v1/calls/batch", {"content-type": "application/x-ndjson"}),
                ("POST", f"/v1/forward/{target.url}", {"content-type": "text/plain"}),
                ("GET", f"/v1/forward/{target.url}", {"prefer": "wait=1"}), ("OPTIONS", f"/v1/forward/{target.url}", {}),
                ("POST", "/v1/targets/x/pause", {}), ("DELETE", "/v1/policies/x", {}), ("GET", "/", {})):
            content = body if "content-type" in more else None
            status, problem, _ = ask(service.port, method, path, content, own | more | stranger)
            assert (status, problem["code"]) == (403, "crossSiteRequest"), (stranger, method, path)
        assert ask(service.port, "GET", "/healthz", headers=stranger)[0] == 200
        assert ask(service.port, "GET", "/readyz", headers=own | stranger)[0] == 200
    # Its own page, in browsers that send either field.
    for page in ({"sec-fetch-site": "same-origin", "origin": f"http://127.0.0.1:{service.port}"},
                 {"origin": f"http://127.0.0.1:{service.port}"}, {"sec-fetch-site": "none"}, {}):
        assert ask(service.port, "GET", "/v1/calls", headers=own | page)[0] == 200
    # A link to the page or the contract may be anywhere; a frame or a script of it may not.
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert ask(service.port, "GET", "/", headers=link)[0] == 200
    assert ask(service.port, "GET", "/openapi.yaml", headers=own | link)[0] == 200
    assert ask(service.port, "GET", "/v1/calls", headers=own | link)[0] == 403
    assert ask(service.port, "GET", "/", headers=link | {"sec-fetch-dest": "iframe"})[0] == 403
    assert calls(service) == [] and target.requests == []


def test_a_get_is_forwarded_only_with_a_field_that_no_page_can_send(redial, receiver):
    service, target = redial(), receiver()
    path = f"/v1/forward/{target.url}/x"
    for method in ("GET", "HEAD"):
        for ambient in ({}, {"sec-fetch-site": "none"}, {"prefer": "safe"}, {"referer": "http://attacker.test/"},
                        {"authorization": "Basic YTpi"}, {"cookie": "a=b"}, {"content-type": "text/plain"}):
            status, problem, _ = ask(service.port, method, path, headers=ambient)
            assert status == 403 and (method == "HEAD" or problem["code"] == "forwardNotDeliberate"), ambient
    for number, mark in enumerate((
            {"prefer": "respond-async"}, {"prefer": "wait=1"}, {"idempotency-key": "k"}, {"redial-priority": "5"})):
        assert ask(service.port, "GET", path, headers=mark)[0] in (200, 202), mark
        assert target.next().path == "/x"
    assert ask(service.port, "POST", path, b"x")[0] == 202
    assert target.next().method == "POST"
    assert ask(service.port, "PUT", path, b"x")[0] == 202
    assert target.next().method == "PUT" and len(target.requests) == 6


def test_a_get_with_a_key_is_forwarded_without_more(redial, receiver):
    service, target = redial(env={"REDIAL_ADMIN_KEY": KEY}), receiver()
    assert ask(service.port, "GET", f"/v1/forward/{target.url}", headers={"authorization": f"Bearer {KEY}"})[0] == 202
    assert "authorization" not in target.next().headers


def test_a_cookie_is_not_forwarded_unless_it_is_meant(redial, receiver):
    service, target = redial(), receiver()
    path = f"/v1/forward/{target.url}"
    ask(service.port, "POST", path, b"x", {"Cookie": "session=of-another-program"})
    assert "cookie" not in target.next().headers
    ask(service.port, "POST", path, b"x", {"cookie": "session=ambient", "Redial-Cookie": "session=meant"})
    assert target.next().headers.get_all("cookie") == ["session=meant"]
    for call in calls(service):
        assert "ambient" not in json.dumps(call)
    twice = b"x"
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=BOUND)
    connection.putrequest("POST", path)
    for value in ("a=1", "b=2"):
        connection.putheader("Redial-Cookie", value)
    connection.putheader("Content-Length", "1")
    connection.endheaders(twice)
    assert connection.getresponse().status == 422


def test_a_unix_socket_is_out_of_a_pages_reach(made, tmp_path, redial, receiver):
    target, path = receiver(), tmp_path / "s"
    service = subprocess.Popen(
        [BINARY, "serve", "--listen", f"unix:{path}", "--store", f"sqlite:{tmp_path}/u.db"], env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def listens():
            with socket.socket(socket.AF_UNIX) as s:
                return s.connect_ex(str(path)) == 0
        wait_until(listens, "it listens")

        def ask_there(head):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(path))
                s.sendall((head + "\r\nConnection: close\r\n\r\n").encode())
                return int(s.makefile("rb").readline().split()[1])

        wait_until(lambda: ask_there("GET /v1/calls HTTP/1.1\r\nHost: anything.example") == 200, "it has started, and answers")
        assert ask_there(f"GET /v1/forward/{target.url} HTTP/1.1\r\nHost: anything.example") == 202
        assert target.next().method == "GET"
        # Behind a proxy, browsers still say where a request comes from.
        assert ask_there("GET /v1/calls HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: cross-site") == 403
    finally:
        service.kill()
        service.wait(BOUND)


def test_answers_keep_pages_from_sniffing_embedding_and_framing(redial):
    service = redial()
    for method, path in (("GET", "/"), ("GET", "/v1/calls"), ("GET", "/nothing"), ("GET", "/healthz"), ("POST", "/")):
        headers = ask(service.port, method, path)[2]
        assert headers.get_all("x-content-type-options") == ["nosniff"], path
        assert headers.get_all("cross-origin-resource-policy") == ["same-origin"], path
        assert not any(name.lower().startswith("access-control-") for name in headers), path
    assert "frame-ancestors 'none'" in ask(service.port, "GET", "/")[2]["content-security-policy"]


def test_the_containers_are_reached_by_the_name_that_compose_gives_them(redial):
    compose = (ROOT / "docker/compose.yaml").read_text()
    assert "REDIAL_ALLOWED_HOSTS: redial\n" in compose
    service = redial(env={"REDIAL_ALLOWED_HOSTS": "redial"})
    assert ask(service.port, "GET", "/v1/calls", host="redial:8080")[0] == 200


# MARK: Chromium

class Attacker:
    """Another web server, under any name: serves one page, and records all other requests."""

    def __init__(self, receiver, page):
        self.page = page
        self.server = receiver(self.answer)
        self.port = self.server.port

    def answer(self, request):
        if request.path == "/page":
            return 200, {"content-type": "text/html"}, self.page.encode()
        return 200, {"content-type": "text/plain"}, b"hit"

    def hits(self):
        return [r for r in self.server.requests if r.path.startswith("/hit")]


@pytest.fixture(scope="module")
def chromium():
    with browsers.chromium("--host-resolver-rules=MAP *.test 127.0.0.1") as browser:
        yield browser


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    context.set_default_timeout(BOUND * 1000)
    yield context.new_page()
    context.close()


TRY = """async ([base, method, path, mode, type]) => {
  try {
    const headers = type ? {"content-type": type} : {};
    const answer = await fetch(base + path, {method, mode, headers, body: method === "POST" && type ? "{}" : undefined});
    return [answer.type, answer.status, (await answer.text()).slice(0, 60)];
  } catch (error) { return ["failed"]; }
}"""


def test_chromium_a_rebound_name_reads_and_submits_nothing(page, redial, receiver):
    service, target = redial(), receiver()
    base = f"http://attacker.test:{service.port}"
    # The page was loaded from the name while it still had another address: here, from the service's own refusal.
    page.goto(base + "/nothing")
    for method, path, kind in (
            ("GET", "/v1/webhook-secret", None), ("GET", "/v1/calls", None), ("POST", "/v1/calls", "application/json"),
            ("POST", "/v1/targets/x/pause", None), ("GET", f"/v1/forward/{target.url}/hit", None)):
        answer = page.evaluate(TRY, [base, method, path, "same-origin", kind])
        assert answer[:2] == ["basic", 421] and "whsec_" not in answer[2], (path, answer)
    assert calls(service) == [] and target.requests == []


@pytest.mark.parametrize("name", ["attacker.test", "127.0.0.1", "localhost"])
@pytest.mark.parametrize("service_name", ["127.0.0.1", "localhost"])
def test_chromium_no_page_of_another_origin_has_an_effect(page, redial, receiver, name, service_name):
    service = redial()
    base = f"http://{service_name}:{service.port}"
    attacker = Attacker(receiver, "<!doctype html><title>x</title><body></body>")
    hit = f"/v1/forward/http://127.0.0.1:{attacker.port}/hit"
    service.submit(url=f"http://127.0.0.1:{attacker.port}/first", target="K")
    page.goto(f"http://{name}:{attacker.port}/page")
    page.evaluate(
        """([base, hit]) => {
          const make = (tag, fields) => Object.assign(document.createElement(tag), fields);
          document.body.append(
            make("img", {src: base + hit + "?img"}), make("script", {src: base + hit + "?script"}),
            make("iframe", {src: base + hit + "?iframe"}), make("link", {rel: "stylesheet", href: base + hit + "?style"}),
            make("link", {rel: "prefetch", href: base + hit + "?prefetch"}),
            make("img", {referrerPolicy: "no-referrer", src: base + hit + "?noreferrer"}));
          navigator.sendBeacon(base + hit + "?beacon", "x");
          navigator.sendBeacon(base + "/v1/targets/K/pause");
          // A form sends the page away; in a frame it does not.
          for (const [name, action, method] of [
              ["a", hit + "?form", "POST"], ["b", hit + "?form", "GET"], ["c", "/v1/targets/K/pause", "POST"]]) {
            const form = make("form", {action: base + action, method, target: name, enctype: "text/plain"});
            document.body.append(make("iframe", {name}), form);
            form.submit();
          }
        }""", [base, hit])
    # Six files, two beacons, three forms.
    refused = lambda: service.metrics()['redial_http_responses_total{class="4xx"}']
    wait_until(lambda: refused() == 11, "all of it is refused")
    for method, path, mode, kind in (
            ("GET", hit, "no-cors", None), ("HEAD", hit, "no-cors", None), ("POST", hit, "no-cors", "text/plain"),
            ("POST", hit, "cors", "text/plain"), ("GET", hit, "cors", None), ("PUT", hit, "cors", None),
            ("POST", "/v1/targets/K/pause", "no-cors", None), ("POST", "/v1/calls", "cors", "application/json"),
            ("GET", "/v1/webhook-secret", "cors", None), ("GET", "/v1/webhook-secret", "no-cors", None)):
        answer = page.evaluate(TRY, [base, method, path, mode, kind])
        # Nothing can be read: an opaque answer has no status and no text.
        assert answer == ["failed"] or answer == ["opaque", 0, ""], (method, path, mode, answer)
    page.goto(f"{base}{hit}?typed")
    assert "forwardNotDeliberate" in page.content()
    page.goto(f"http://{name}:{attacker.port}/page")
    page.evaluate("url => { location.href = url }", f"{base}{hit}?navigation")
    page.wait_for_url("**/v1/forward/**")
    assert "crossSiteRequest" in page.content()
    assert len(calls(service)) == 1
    assert service.target("K")["paused"] is False
    assert service("POST", "/v1/calls", {"url": f"http://127.0.0.1:{attacker.port}/last", "target": "K"}).status == 202
    wait_until(lambda: [r for r in attacker.server.requests if r.path == "/last"], "the target is not paused")
    assert attacker.hits() == [], [r.path for r in attacker.hits()]


def test_chromium_a_navigation_passes_on_no_cookie_of_another_program(page, redial, receiver):
    service = redial()
    attacker = Attacker(receiver, "")
    # Cookies ignore ports: another program on this machine has set one.
    page.context.add_cookies([{
        "name": "session", "value": "secret", "domain": "127.0.0.1", "path": "/", "httpOnly": True}])
    page.goto(f"{service.url}/v1/forward/http://127.0.0.1:{attacker.port}/hit")
    # Even where one of the service's own pages would forward.
    page.goto(service.url)
    answer = page.evaluate(
        """async path => (await fetch(path, {headers: {prefer: "wait=50"}})).status""",
        f"/v1/forward/http://127.0.0.1:{attacker.port}/hit")
    assert answer == 200 and len(attacker.hits()) == 1
    assert "cookie" not in attacker.hits()[0].headers


def test_chromium_a_link_to_the_dashboard_loads_it_and_it_works(page, redial, receiver):
    service = redial()
    attacker = Attacker(receiver, f'<a id="link" href="{service.url}/">there</a><iframe src="{service.url}/"></iframe>')
    page.goto(f"http://attacker.test:{attacker.port}/page")
    page.click("#link")
    page.wait_for_url(service.url + "/**")
    # Not `wait_for_function`: where the text is not there at once, it evaluates a string, which the page forbids.
    expect(page.locator("#status")).to_have_text("Live", timeout=BOUND * 1000)
    answer = page.evaluate(
        """async url => (await fetch("/v1/calls", {method: "POST", headers: {"content-type": "application/json"},
             body: JSON.stringify({url})})).status""", f"http://127.0.0.1:{attacker.port}/hit")
    assert answer == 202
    wait_until(attacker.hits, "the dashboard's own call is made")

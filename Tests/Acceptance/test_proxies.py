"""Behind a reverse proxy: whose X-Forwarded fields are used and how, and the examples of docs/proxies.md."""

import http.client
import json
import re
import socket
import ssl
import subprocess
from urllib.parse import quote

import pytest
import yaml
from playwright.sync_api import expect

import needs
from processes import BINARY, BOUND, ROOT, Redial, environment, free_port, wait_until
from test_contract import CONTRACT
from test_dashboard import chromium, page  # noqa: F401 (fixtures)
from test_target_tls import issuer

expect.set_options(timeout=BOUND * 1000)

PAGE = (ROOT / "docs/proxies.md").read_text()
KEY = "k" * 32
FORWARDED = {
    "x-forwarded-proto": "https", "x-forwarded-host": "example.com:8443", "x-forwarded-prefix": "/redial"}
BASE = "https://example.com:8443/redial"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


class Nginx:
    """nginx with one configuration of the http level, in the foreground and in its own folder."""

    def __init__(self, folder, configuration):
        folder.mkdir()
        places = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/nginx.log;"
            f"events {{ worker_connections 256; }} http {{ access_log off; {places}\n{configuration} }}")
        program = needs.program("nginx")
        self.port = int(re.search(r"listen (?:127\.0\.0\.1:)?(\d+);", configuration)[1])
        self.process = subprocess.Popen(
            [program, "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "nginx.log"], stdin=subprocess.DEVNULL)

        def listens():
            assert self.process.poll() is None, (folder / "nginx.log").read_text()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0
        wait_until(listens, "nginx listens")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/redial"

    def end(self):
        self.process.kill()
        self.process.wait(BOUND)


@pytest.fixture
def nginx(made, tmp_path):
    """The page's nginx, in front of a service."""
    def start(upstream, tls=""):
        configuration = blocks("nginx")[0].replace("listen 80;", f"listen 80;\n{tls}")
        for shown, real in (("listen 80;", f"listen 127.0.0.1:{free_port()};"), ("127.0.0.1:8080", upstream)):
            assert configuration.count(shown) == 1, shown
            configuration = configuration.replace(shown, real)
        made.append(Nginx(tmp_path / "nginx", configuration))
        return made[-1]
    return start


def ask(port, method, path, body=None, headers=None):
    """One request on its own connection; header fields as a list, which may contain repetitions."""
    connection = port if isinstance(port, http.client.HTTPConnection) else http.client.HTTPConnection(
        "127.0.0.1", port, timeout=BOUND)
    fields = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
    connection.putrequest(method, path, skip_host="host" in dict(fields))
    content = json.dumps(body).encode() if isinstance(body, (dict, list)) else body or b""
    if isinstance(body, (dict, list)):
        connection.putheader("content-type", "application/json")
    for name, value in fields:
        connection.putheader(name, value)
    connection.putheader("content-length", str(len(content)))
    connection.endheaders(content)
    answer = connection.getresponse()
    result = answer.status, answer.headers, answer.read()
    connection.close()
    return result


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=BOUND)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(BOUND)
        self.sock.connect(self.path)


def location(service, headers, target="http://127.0.0.1:9"):
    status, fields, body = ask(service.port, "POST", "/v1/calls", {"url": target, "delay": "1h"}, headers)
    assert status == 202, body
    return fields["location"].removesuffix("/v1/calls/" + json.loads(body)["id"])


def test_every_link_leads_to_where_the_client_of_a_trusted_proxy_can_follow(redial, flaky):
    service, target = redial("--trusted-proxies", "192.0.2.1, 127.0.0.0/8", "--allowed-hosts", "example.com"), flaky()
    assert location(service, FORWARDED) == BASE
    made = [
        ("POST", "/v1/calls", {"url": target.url, "delay": "1h"}, {"idempotency-key": "a"}),
        ("POST", "/v1/calls", {"url": target.url, "delay": "1h"}, {"idempotency-key": "a"}),
        ("POST", f"/v1/forward/{target.url}", None, {"redial-delay": "1h"}),
        ("POST", "/v1/operations", {"action": "cancel", "all": True}, {}),
        ("PUT", "/v1/policies/a", {"maxAttempts": 2}, {}),
        ("POST", "/v1/webhook-endpoints", {"url": target.url}, {}),
    ]
    for method, path, body, more in made:
        status, headers, content = ask(service.port, method, path, body, FORWARDED | more)
        assert status in (201, 202), content
        link = headers["location"]
        assert link.startswith(BASE + "/v1/"), link
        assert ask(service.port, "GET", link.removeprefix(BASE))[0] == 200
    waited = ask(service.port, "POST", "/v1/calls", {"url": target.url}, FORWARDED | {"prefer": "wait=50"})
    assert waited[0] == 200 and waited[1]["content-location"].startswith(BASE + "/v1/calls/call_")
    kept = ask(service.port, "GET", "/v1/calls", None, FORWARDED)
    assert kept[1]["location"] is None


def test_the_contract_names_the_server_as_the_client_sees_it(redial):
    service = redial("--trusted-proxies", "127.0.0.1", "--allowed-hosts", "example.com")
    whole = ask(service.port, "GET", "/openapi.yaml", None, FORWARDED)[2]
    document = yaml.safe_load(whole)
    assert [server["url"] for server in document["servers"]] == [BASE]
    document["servers"] = CONTRACT["servers"]
    assert document == CONTRACT
    prefixed = yaml.safe_load(ask(service.port, "GET", "/openapi.yaml", None, {"x-forwarded-prefix": "/a/b/"})[2])
    assert prefixed["servers"][0]["url"] == "/a/b"
    assert ask(service.port, "GET", "/openapi.yaml")[2] == (ROOT / "api/openapi.yaml").read_bytes()


@pytest.mark.parametrize("flags", [[], ["--trusted-proxies", "192.0.2.0/24,::1,unix"]])
def test_what_others_say_of_where_they_were_is_ignored(redial, flags):
    service = redial(*flags)
    assert location(service, FORWARDED) == ""
    assert ask(service.port, "GET", "/v1/calls", None, FORWARDED)[0] == 200


def test_of_a_trusted_proxy_only_what_can_be_an_address_is_believed(redial):
    service = redial("--trusted-proxies", "127.0.0.1", "--allowed-hosts", "*")
    known = [("x-forwarded-proto", "https"), ("x-forwarded-host", "example.com")]
    for prefix, shown in (
            ("/redial", "/redial"), ("/redial/", "/redial"), ("/a/b-c.d_e~f", "/a/b-c.d_e~f"), ("/", ""), ("redial", ""),
            ("//evil.test", ""), ("/a//b", ""), ("/a/../b", ""), ("/./a", ""), ("/a b", "/a"), ("/a\"><b>", ""), ("/a?b", ""),
            ("https://evil.test", ""), ("/" + "a" * 600, ""), ("/a, /b", "/a/b")):
        assert location(service, [("x-forwarded-prefix", prefix)]) == shown, prefix
        assert location(service, [*known, ("x-forwarded-prefix", prefix)]) == "https://example.com" + shown, prefix
    for host, shown in (
            ("example.com:8443", "https://example.com:8443"), ("[2001:db8::1]:80", "https://[2001:db8::1]:80"),
            ("evil.test, example.com", "https://example.com"), ("example.com/evil", ""), ("a@evil.test", ""), ("", ""),
            ("example.com:x", ""), ("example.com:", ""), ("[evil]", ""), ("x" * 600, "")):
        assert location(service, [known[0], ("x-forwarded-host", host)]) == shown, host
    for scheme, shown in (("HTTPS", "https://example.com"), ("http", "http://example.com"), ("javascript", ""),
                          ("http,https", "https://example.com"), ("", "")):
        assert location(service, [("x-forwarded-proto", scheme), known[1]]) == shown, scheme
    # Proxies on the way, each with its own field line: the nearest adds the last.
    several = [("x-forwarded-host", "evil.test"), ("x-forwarded-host", "example.com"), known[0],
               ("x-forwarded-prefix", "/outer"), ("x-forwarded-prefix", "/inner")]
    assert location(service, several) == "https://example.com/outer/inner"


def test_by_a_unix_domain_socket_the_word_unix_trusts(made, tmp_path):
    for number, (trusted, shown) in enumerate((("unix", BASE), ("127.0.0.1", ""), ("", ""))):
        folder = tmp_path / str(number)
        folder.mkdir()
        service = Redial(folder, "--trusted-proxies", trusted, "--allowed-hosts", "example.com")
        path = folder / "redial.sock"
        service.arguments[service.arguments.index("--listen") + 1] = f"unix:{path}"
        made.append(service)
        service.spawn()
        wait_until(lambda: path.exists() and "listens on" in service.log.read_text(), "it listens")
        status, headers, body = ask(
            UnixConnection(path), "POST", "/v1/calls", {"url": "http://127.0.0.1:9", "delay": "1h"}, FORWARDED)
        assert status == 202 and headers["location"] == f"{shown}/v1/calls/{json.loads(body)['id']}"
        # Through a trusted proxy a browser may have used any name; on a socket any name is answered otherwise.
        rebound = ask(UnixConnection(path), "GET", "/v1/calls", None, FORWARDED | {"x-forwarded-host": "attacker.test"})
        assert rebound[0] == (421 if trusted == "unix" else 200)
        rebound = ask(UnixConnection(path), "GET", "/v1/calls", None, FORWARDED | {"host": "attacker.test"})
        assert rebound[0] == (421 if trusted == "unix" else 200)


def test_without_a_key_the_forwarded_host_has_to_be_allowed_as_well(redial):
    service = redial("--trusted-proxies", "127.0.0.1", "--allowed-hosts", "redial,example.com")

    def status(path="/v1/calls", **fields):
        return ask(service.port, "GET", path, None, {k.replace("_", "-"): v for k, v in fields.items()})[0]
    assert status(x_forwarded_host="example.com") == 200
    assert status(host="redial:8080", x_forwarded_host="example.com:8443") == 200
    assert status(x_forwarded_host="attacker.test") == 421
    assert status(host="attacker.test", x_forwarded_host="example.com") == 421
    assert status("/healthz", x_forwarded_host="attacker.test") == 200
    # The service's own page, behind a proxy that replaces Host: old browsers and plain http have only the origin.
    assert status(x_forwarded_host="example.com", origin="http://example.com") == 200
    assert status(x_forwarded_host="example.com", origin="http://attacker.test") == 403
    assert status(x_forwarded_host="example.com", host="redial", origin="http://redial") == 403
    # A proxy that is not trusted does not change the meaning of Host.
    other = Redial(service.store.parent, "--allowed-hosts", "example.com")
    service.end()
    other.start()
    try:
        assert ask(other.port, "GET", "/v1/calls", None, {"host": "attacker.test", "x-forwarded-host": "example.com"})[0] == 421
        assert ask(other.port, "GET", "/v1/calls", None, {"x-forwarded-host": "attacker.test"})[0] == 200
    finally:
        other.end()


def test_what_a_trusted_proxy_says_to_redial_is_not_forwarded(redial, receiver):
    for trusted, arrives in (("127.0.0.1", False), ("192.0.2.1", True)):
        # The service that ends may leave a call, which the next one runs at once.
        target = receiver()
        service = redial("--trusted-proxies", trusted, "--allowed-hosts", "example.com")
        assert ask(service.port, "POST", f"/v1/forward/{target.url}", b"x", FORWARDED | {"x-forwarded-for": "192.0.2.7"})[0] == 202
        headers = target.next().headers
        assert headers["x-forwarded-for"] == "192.0.2.7"
        assert [headers[name] for name in FORWARDED] == (list(FORWARDED.values()) if arrives else [None] * 3)
        service.end()


@pytest.mark.parametrize("value", ["localhost", "10.0.0.1/8", "10.0.0.0/33", "*", "[::1]", "127.1", "unix:/run/x"])
def test_what_is_no_address_is_refused_as_a_proxy(value):
    refused = subprocess.run(
        [BINARY, "serve", "--print-config", "--trusted-proxies", value], capture_output=True, text=True, env=environment())
    assert refused.returncode == 2 and "trustedProxies" in refused.stderr and value in refused.stderr


def test_the_nginx_of_the_page_serves_the_api_below_a_path(redial, nginx, receiver):
    service, target = redial("--trusted-proxies", "127.0.0.1", env={"REDIAL_ADMIN_KEY": KEY}), receiver()
    front = nginx(f"127.0.0.1:{service.port}")
    key = {"authorization": f"Bearer {KEY}"}
    # A client's own fields do not arrive.
    status, headers, body = ask(
        front.port, "POST", "/redial/v1/calls", {"url": target.url + "/a"},
        key | {"x-forwarded-prefix": "/evil", "x-forwarded-host": "evil.test", "x-forwarded-proto": "https"})
    assert status == 202 and headers["location"] == f"{front.url}/v1/calls/{json.loads(body)['id']}", headers
    assert target.next().path == "/a"
    status, _, body = ask(front.port, "GET", headers["location"].removeprefix(f"http://127.0.0.1:{front.port}"), None, key)
    assert status == 200 and json.loads(body)["url"] == target.url + "/a"
    # Keys of targets have encoded slashes, and forwarded URLs two of them.
    path = "/redial/v1/targets/" + quote(target.url, safe="")
    assert json.loads(ask(front.port, "GET", path, None, key)[2])["key"] == target.url
    assert ask(front.port, "PUT", f"/redial/v1/forward/{target.url}/b//c%2Fd?e=f", b"x", key)[0] == 202
    assert target.next().path == "/b//c%2Fd?e=f"
    document = yaml.safe_load(ask(front.port, "GET", "/redial/openapi.yaml")[2])
    assert document["servers"][0]["url"] == front.url
    assert [ask(front.port, "GET", "/redial/" + path)[0] for path in ("healthz", "readyz", "v1/calls")] == [200, 200, 401]
    lines = b"".join(b'{"url": "%s"}\n' % target.url.encode() for _ in range(2000))
    status, _, body = ask(front.port, "POST", "/redial/v1/calls/batch", lines, key | {"content-type": "application/x-ndjson"})
    assert status == 200 and body.count(b'"status":202') == 2000
    moved = ask(front.port, "GET", "/redial")
    assert moved[0] == 301 and moved[1]["location"] == front.url + "/"


def test_with_the_pages_lines_for_tls_nginx_serves_https_and_links_lead_there(redial, nginx, tmp_path):
    service = redial("--trusted-proxies", "127.0.0.1", env={"REDIAL_ADMIN_KEY": KEY})
    issuer(tmp_path, "redial")
    port = free_port()
    tls = blocks("nginx")[1]
    for shown, real in (("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"), ("/etc/ssl/redial.pem", tmp_path / "redial.pem"),
                        ("/etc/ssl/private/redial.key", tmp_path / "redial.key")):
        assert tls.count(shown) == 1, shown
        tls = tls.replace(shown, str(real))
    nginx(f"127.0.0.1:{service.port}", tls)
    trust = ssl.create_default_context(cafile=tmp_path / "redial.pem")
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=BOUND, context=trust)
    status, headers, body = ask(
        connection, "POST", "/redial/v1/calls", {"url": "http://127.0.0.1:9", "delay": "1h"},
        {"authorization": f"Bearer {KEY}"})
    assert status == 202, body
    assert headers["location"] == f"https://127.0.0.1:{port}/redial/v1/calls/{json.loads(body)['id']}"


def test_the_nginx_of_the_page_does_not_send_a_submission_again(nginx, receiver):
    # The connection ends at its second request, without an answer.
    peer = receiver(lambda request: (200, {}, b"") if request.path == "/healthz" else None)
    front = nginx(f"127.0.0.1:{peer.port}")
    assert ask(front.port, "GET", "/redial/healthz")[0] == 200
    assert ask(front.port, "PUT", "/redial/v1/forward/http://127.0.0.1:9/x")[0] == 502
    assert [request.method for request in peer.requests] == ["GET", "PUT"]


def test_in_chromium_the_dashboard_works_below_a_path_and_leaves_it_for_nothing(page, redial, nginx, flaky):  # noqa: F811
    service, target = redial("--trusted-proxies", "127.0.0.1", env={"REDIAL_ADMIN_KEY": KEY}), flaky()
    front = nginx(f"127.0.0.1:{service.port}")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.tolerated += ["401"]
    page.goto(front.url)
    page.get_by_label("API key").fill(KEY)
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    expect(page.locator("#status")).to_have_text("Live")
    page.goto(front.url + "/#calls")
    page.get_by_text("Submit a call", exact=True).click()
    page.get_by_label("Call a URL").fill(target.url + "/hello?fail=2")
    page.locator("#submit-form button").click()
    expect(page.locator("#timeline .attempt")).to_have_count(3)
    expect(page.locator("#call-facts")).to_contain_text("succeeded")
    page.goto(front.url + "/#targets")
    row = page.locator("#target-table tbody tr")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused")
    row.get_by_role("link").click()
    expect(page.locator("#target-title")).to_have_text(target.url)
    for view in ("overview", "operations", "policy", "outage", "webhooks"):
        page.goto(f"{front.url}/#{view}")
        expect(page.locator(f"#view-{view}")).to_be_visible()
    expect(page.locator("#problem")).to_be_hidden()
    ours = [url for url in asked if url.startswith("http")]
    assert len(ours) > 10 and all(url.startswith(front.url) for url in ours), ours


def test_the_page_is_short_and_what_it_names_is_there():
    assert len(PAGE.encode()) < 15_000
    assert "](proxies.md)" in (ROOT / "docs/README.md").read_text()
    known = set(re.findall(r"^\| `(\w+)` \| .* \| .* \|", (ROOT / "docs/settings.md").read_text(), re.M))
    named = set(re.findall(r"\b(trustedProxies|allowedHosts|corsOrigins|listen)\b", PAGE))
    assert len(named) == 4 and named <= known
    for link in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
    for flags in re.findall(r"^redial serve (.*)$", PAGE, re.M):
        shown = subprocess.run(
            [BINARY, "serve", "--print-config", *flags.split()], capture_output=True, text=True, env=environment())
        assert shown.returncode == 0, (flags, shown.stderr)
    yaml.safe_load(blocks("yaml")[0])

"""The configurations of docs/signing-in.md: Apache with a real OpenID provider, and Caddy in front of what oauth2-proxy answers."""

import http.client
import http.cookies
import pathlib
import re
import subprocess
import urllib.parse

import pytest

import needs
from processes import BOUND, ROOT, free_port, wait_until
from test_keys import bearer

pytestmark = pytest.mark.part("signing-in")

PAGE = (ROOT / "docs/signing-in.md").read_text()
MODULES = pathlib.Path("/usr/lib/apache2/modules")
FORGED = {"x-forwarded-user": "root", "X-Forwarded-Groups": "admins"}


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.S)[1]


def flags():
    """Those of the page, as the shell reads them."""
    [scopes] = re.findall(r"--group-scopes '(.*?)'", block("sh"))
    assert "--trusted-user-header X-Forwarded-User" in block("sh")
    return "--trusted-proxies", "127.0.0.1", "--trusted-user-header", "X-Forwarded-User", "--group-scopes", scopes


class Front:
    """A proxy's process, and a browser that has its cookies."""

    def __init__(self, port, command, log, env=None):
        self.port, self.cookies = port, {}
        with open(log, "wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=env)

        def listens():
            assert self.process.poll() is None, log.read_text()
            try:
                self("GET", "/healthz")
            except OSError:
                return False
            return True
        wait_until(listens, "the proxy listens")

    def __call__(self, method, path, headers=None, body=None):
        return self.ask(f"http://localhost:{self.port}{path}", method, headers, body)

    def ask(self, url, method="GET", headers=None, body=None):
        """One request, with the cookies of the host and port."""
        place = urllib.parse.urlsplit(url)
        jar = self.cookies.setdefault(place.netloc, {})
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=BOUND)
        cookie = {"cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
        connection.request(method, place.path + (f"?{place.query}" if place.query else ""), body, cookie | (headers or {}))
        answer = connection.getresponse()
        answer.content = answer.read()
        connection.close()
        for line in answer.headers.get_all("set-cookie") or []:
            for name, morsel in http.cookies.SimpleCookie(line).items():
                jar[name] = morsel.value
        return answer

    def end(self):
        self.process.terminate()
        self.process.wait(BOUND)


@pytest.fixture
def apache(made, tmp_path):
    """The page's Apache, with the provider at this address."""
    def start(service, issuer):
        program, port = needs.program("apache2"), free_port()
        if not (MODULES / "mod_auth_openidc.so").exists():
            needs.leave_out("libapache2-mod-auth-openidc")
        text = block("apache")
        for name in ("client-secret", "passphrase"):
            (tmp_path / name).write_text("a-secret-of-this-test")
            assert f"/etc/apache2/redial-{name}" in text
            text = text.replace(f"/etc/apache2/redial-{name}", str(tmp_path / name))
        for old, new in (("*:443", f"*:{port}"), ("https://login.example.com", issuer), ("https://redial.example.com", f"http://localhost:{port}"),
                         ("redial.example.com", "localhost"), ("127.0.0.1:8080", f"127.0.0.1:{service.port}"), ("profile groups", "profile")):
            assert old in text, old
            text = text.replace(old, new)
        modules = ["mpm_event", "authn_core", "authz_core", "authz_user", "headers", "proxy", "proxy_http", "auth_openidc"]
        loads = "".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so\n" for name in modules)
        (tmp_path / "apache.conf").write_text(
            f"ServerRoot {tmp_path}\nDefaultRuntimeDir {tmp_path}\nPidFile {tmp_path}/pid\nErrorLog {tmp_path}/error.log\n"
            f"Listen 127.0.0.1:{port}\nServerName localhost\n{loads}<IfModule mpm_event_module>\nStartServers 1\n</IfModule>\n"
            f"User www-data\nGroup www-data\n{text}")
        made.append(Front(port, [program, "-f", tmp_path / "apache.conf", "-DFOREGROUND"], tmp_path / "apache.log"))
        return made[-1]
    return start


@pytest.fixture
def caddy(made, tmp_path):
    """The page's Caddy, in front of a service and of what stands for oauth2-proxy."""
    def start(service, oauth):
        port, text = free_port(), block("caddyfile")
        for old, new in (("redial.example.com {", f"http://localhost:{port} {{"), ("127.0.0.1:8080", f"127.0.0.1:{service.port}"),
                         ("127.0.0.1:4180", f"127.0.0.1:{oauth.port}")):
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / "Caddyfile").write_text("{\n  admin off\n  auto_https off\n}\n" + text)
        made.append(Front(
            port, [needs.program("caddy"), "run", "--config", tmp_path / "Caddyfile", "--adapter", "caddyfile"], tmp_path / "caddy.log",
            env={"HOME": str(tmp_path), "PATH": needs.PLACES}))
        return made[-1]
    return start


def provider(users):
    """A real provider of OpenID Connect, in a thread."""
    import oidc_provider_mock
    return oidc_provider_mock.run_server_in_thread(user_claims=[
        oidc_provider_mock.User(sub=name, claims={"email": f"{name}@example.com", "groups": groups}) for name, groups in users.items()])


def sign_in(front, name, path="/v1/calls"):
    """What a browser does: it is sent to the provider, says who it is, and is sent back."""
    # The dashboard's own requests get 401, and no page of the provider.
    assert front("GET", path, {"accept": "*/*", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}).status == 401
    sent = front("GET", path, {"accept": "text/html", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"})
    assert sent.status == 302, (sent.status, sent.content)
    where = sent.headers["location"]
    answered = front.ask(where, "POST", {"content-type": "application/x-www-form-urlencoded"}, f"sub={name}")
    assert answered.status in (302, 303), answered.content
    back = front.ask(answered.headers["location"])
    assert back.status == 302, (back.status, back.content)
    return front.ask(urllib.parse.urljoin(answered.headers["location"], back.headers["location"]))


def check_session(front, person, key):
    """What holds of whoever has signed in, behind each proxy."""
    seen = front("GET", "/v1/calls")
    assert (seen.status, seen.headers["redial-user"]) == (200, person)
    # What a client says of itself does not arrive.
    forged = front("GET", "/v1/calls", FORGED)
    assert (forged.status, forged.headers["redial-user"]) == (200, person)
    assert front("GET", "/v1/audit", FORGED).status == 403
    # The browser adds the cookie to what a page of another site sends.
    assert front("POST", "/v1/targets/orders/pause", {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}).status == 403
    assert front("POST", "/v1/targets/orders/pause", {"origin": "https://evil.example"}).status == 403
    # A program has a key.
    cookies, front.cookies = front.cookies, {}
    program = front("GET", "/v1/calls", bearer(key) | FORGED)
    assert program.status == 200 and "redial-user" not in program.headers
    assert front("GET", "/v1/calls", bearer("rdl_0000000000000_" + "x" * 43) | FORGED).status == 401
    front.cookies = cookies


def test_apache_signs_in_at_a_real_provider(redial, apache):
    service = redial(*flags(), "--admin-key", "the-admin-key-of-this-test")
    service.credentials = bearer("the-admin-key-of-this-test")
    key = service("POST", "/v1/keys", {"name": "program", "scopes": ["read"]}).json["key"]
    with provider({"ada": ["staff", "ops"], "bob": ["staff"]}) as server:
        front = apache(service, f"http://localhost:{server.server_port}")
        seen = sign_in(front, "ada")
        assert (seen.status, seen.headers["redial-user"]) == (200, "ada@example.com"), seen.content
        check_session(front, "ada@example.com", key)
        own = {"origin": f"http://localhost:{front.port}", "sec-fetch-site": "same-origin"}
        assert front("POST", "/v1/targets/https%3A%2F%2Fapi.example.com/pause", own).status == 200
        front.cookies = {}
        assert sign_in(front, "bob").headers["redial-user"] == "bob@example.com"
        # Everybody may read, and groups do more.
        assert front("POST", "/v1/targets/orders/pause", own).status == 403
    last = service("GET", "/v1/audit").json["data"][0]
    assert (last["actorKind"], last["actor"], last["action"], last["object"]) == (
        "person", "ada@example.com", "target.paused", "https://api.example.com")


def test_caddy_asks_who_it_is(redial, receiver, caddy):
    def answer(request):
        if request.path.partition("?")[0] != "/oauth2/auth":
            return 200, {}, b"the page to sign in"
        name = request.headers.get("cookie", "").partition("_oauth2_proxy=")[2]
        # It leaves out the field of the groups if there are none.
        groups = {"ada": {"x-auth-request-groups": "staff,ops"}, "bob": {}}.get(name)
        if name == "nobody":
            return 202, {}, b""
        return (401, {}, b"") if groups is None else (202, {"x-auth-request-email": f"{name}@example.com"} | groups, b"")
    service = redial(*flags(), "--admin-key", "the-admin-key-of-this-test")
    service.credentials = bearer("the-admin-key-of-this-test")
    key = service("POST", "/v1/keys", {"name": "program", "scopes": ["read"]}).json["key"]
    front = caddy(service, receiver(answer))
    sent = front("GET", "/v1/calls?limit=2", FORGED)
    assert sent.status == 302 and sent.headers["location"].startswith("/oauth2/sign_in?rd=/v1/calls"), sent.content
    assert front("GET", sent.headers["location"]).content == b"the page to sign in"
    # Somebody of whom it says nothing is nobody.
    front.cookies = {f"localhost:{front.port}": {"_oauth2_proxy": "nobody"}}
    assert front("GET", "/v1/calls", FORGED).status == 403
    for name in ("ada", "bob"):
        front.cookies = {f"localhost:{front.port}": {"_oauth2_proxy": name}}
        check_session(front, f"{name}@example.com", key)
    own = {"origin": f"http://localhost:{front.port}", "sec-fetch-site": "same-origin"}
    assert front("POST", "/v1/targets/orders/pause", own).status == 403
    front.cookies = {f"localhost:{front.port}": {"_oauth2_proxy": "ada"}}
    assert front("POST", "/v1/targets/https%3A%2F%2Fapi.example.com/pause", own).status == 200
    last = service("GET", "/v1/audit").json["data"][0]
    assert (last["actor"], last["action"], last["object"]) == ("ada@example.com", "target.paused", "https://api.example.com")

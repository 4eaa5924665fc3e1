"""Permissions: keys, scopes and quotas; and nothing is open by mistake."""

import concurrent.futures
import http.client
import json
import re
import select
import socket
import threading

import pytest

from processes import BOUND, Client, Constants, free_port, run, wait_until
from test_contract import CONTRACT, check
from test_events import Stream

PATH = "/v1/keys"
ADMIN = "the-admin-key-of-this-test"
OPERATIONS = [
    (method, path) for path, item in CONTRACT["paths"].items() for method in ("get", "post", "put", "patch", "delete")
    if method in item]
# The routes of each scope, deliberately listed here again.
SCOPES = {
    "submit": {("post", "/v1/calls"), ("post", "/v1/calls/batch"), ("post", "/v1/forward/{url}"),
               ("post", "/v1/calls/{id}/replay")},
    "operate": {
        ("put", "/v1/targets/{key}"), ("patch", "/v1/targets/{key}"), ("patch", "/v1/issues/{id}"),
        ("patch", "/v1/alerts/{name}"), ("delete", "/v1/calls/{id}/content"), ("put", "/v1/policies/{name}"),
        ("delete", "/v1/policies/{name}")} | {("post", p) for _, p in OPERATIONS if re.match(
        r"/v1/calls/\{id\}/(?!replay)|/v1/targets/\{key\}/|/v1/operations", p)},
    "metrics": {("get", "/metrics")},
    "admin": {o for o in OPERATIONS if o[1].startswith(PATH)} | {
        o for o in OPERATIONS if o[1].startswith("/v1/webhook-endpoints") and o[0] != "get"} | {
        ("get", "/v1/audit"), ("get", "/v1/webhook-secret"), ("put", "/v1/alerts/{name}"), ("delete", "/v1/alerts/{name}"),
        ("put", "/v1/credentials/{name}"), ("delete", "/v1/credentials/{name}"),
        ("post", "/v1/alerts/{name}/test")},
    None: {("get", "/healthz"), ("get", "/"), ("get", "/openapi.yaml"), ("get", "/llms.txt")},
}
# The dashboard is a page without data: it asks for a key, and requests everything that it shows with that key. The
# contract and the list of pages are the same for everybody.
OPEN = {"/healthz", "/", "/openapi.yaml", "/llms.txt"}
SCOPES["read"] = set(OPERATIONS) - set().union(*SCOPES.values())


def bearer(key):
    return {"authorization": f"Bearer {key}"}


def make(service, *scopes, **more):
    answer = service("POST", PATH, {"name": "+".join(scopes), "scopes": list(scopes)} | more)
    assert answer.status == 201 and answer.headers["cache-control"] == "no-store", answer.body
    return check(answer, "post", PATH)


def locked(service):
    """An admin's key, which the test's own requests use from then on."""
    admin = make(service, "admin")
    service.credentials = bearer(admin["key"])
    return admin


def path_of(template):
    return template.replace("{id}", "call_0000000000000" if "/calls/" in template else "op_0000000000000" if "/operations/" in template else "x_0").replace(
        "{key}", "nobody").replace("{name}", "nobody").replace("{url}", "http://127.0.0.1:9/")


def test_with_a_key_everything_takes_one_but_health_the_contract_and_the_dashboard(redial):
    service = redial()
    assert service("GET", "/v1/calls").status == 200
    locked(service)
    anonymous = Client(service.port)
    for method, path in OPERATIONS:
        for headers, code in (({}, "missingAPIKey"), (bearer("rdl_0000000000000_" + "x" * 43), "invalidAPIKey"),
                              (bearer("nonsense"), "invalidAPIKey"), ({"authorization": "Basic eDp5"}, "missingAPIKey")):
            answer = anonymous(method.upper(), path_of(path), None, headers)
            if path in OPEN:
                assert answer.status == 200
                continue
            if path == "/readyz" and not headers:
                assert (answer.status, answer.body) == (200, b"ready\n")
                continue
            assert (answer.status, answer.json["code"]) == (401, code), (method, path)
            check(answer, method, path)
            assert answer.headers["www-authenticate"].startswith('Bearer realm="redial"')
    for path in ("//", "/v1/nothing"):
        assert anonymous("GET", path).status == 401
    for path in OPEN:
        assert anonymous("PUT", path).status == 401


def test_readiness_without_a_key_does_not_say_why_it_fails_and_with_one_it_does(redial, tmp_path):
    """A process whose store another has taken over is not ready; both ways to ask agree before and after."""
    service = redial(env={"REDIAL_ADMIN_KEY": ADMIN})
    admin = bearer(ADMIN)
    submitter = bearer(service("POST", PATH, {"name": "s", "scopes": ["submit"]}, admin).json["key"])
    reader = bearer(service("POST", PATH, {"name": "r", "scopes": ["read"]}, admin).json["key"])
    bare = service("GET", "/readyz")
    assert (bare.status, check(bare, "get", "/readyz")) == (200, "ready\n")
    assert service("HEAD", "/readyz").status == 200
    # A route that names a namespace does not act in one here.
    assert service("GET", "/readyz", headers={"redial-namespace": "acme"}).status == 200
    for key in (admin, reader):
        answer = service("GET", "/readyz", headers=key)
        assert (answer.status, check(answer, "get", "/readyz")) == (200, "ready\n")
    refused = service("GET", "/readyz", headers=submitter)
    assert refused.status == 403 and check(refused, "get", "/readyz")["code"] == "insufficientScope"
    (tmp_path / "redial.db.lock").unlink()
    other = tmp_path / "other"
    other.mkdir()
    (other / "redial.db").symlink_to(service.store)
    redial(folder=other, env={"REDIAL_ADMIN_KEY": ADMIN})
    # It notices when it writes.
    assert service("POST", "/v1/calls", {"url": "http://127.0.0.1:9/"}, admin).json["code"] == "leaseLost"
    bare = service("GET", "/readyz")
    assert (bare.status, bare.body, bare.headers["content-type"]) == (503, b"", None)
    assert int(bare.headers["retry-after"]) > 0
    answer = service("GET", "/readyz", headers=reader)
    assert answer.status == 503 and check(answer, "get", "/readyz")["code"] == "notReady"
    assert service("GET", "/readyz", headers=submitter).status == 403
    assert service("GET", "/healthz").body == b"ok\n"


@pytest.mark.parametrize("scope", ["submit", "read", "payloads", "operate", "metrics", "admin"])
def test_a_scope_is_good_for_its_operations_and_no_others(redial, scope):
    service = redial()
    locked(service)
    key = bearer(make(service, scope)["key"])
    client = Client(service.port)
    for method, path in OPERATIONS:
        if (method, path) == ("get", "/v1/events"):
            method = "head"
        answer = client(method.upper(), path_of(path), None, key)
        method = "get" if method == "head" else method
        needed = next(s for s, operations in SCOPES.items() if (method, path) in operations)
        if path.endswith("/replay") and scope == "submit":
            needed = "operate"  # as well
        if needed in (None, scope) or scope == "admin":
            assert answer.status not in (401, 403), (method, path)
        else:
            assert answer.status == 403, (method, path)
            if answer.body:
                assert check(answer, method, path)["code"] == "insufficientScope"
            assert f'error="insufficient_scope", scope="{needed}"' in answer.headers["www-authenticate"]


def test_an_operation_that_makes_new_calls_takes_the_scopes_of_both(redial):
    service = redial()
    locked(service)
    client = Client(service.port)
    for scopes, needed in ((("operate",), "submit"), (("submit",), "operate"), (("operate", "submit"), None)):
        key = bearer(make(service, *scopes)["key"])
        for dry in (True, False):
            answer = client("POST", "/v1/operations", {"action": "replay", "all": True, "dryRun": dry}, key)
            shown = check(answer, "post", "/v1/operations")
            if needed is None:
                assert answer.status == (200 if dry else 202), shown
            else:
                assert (answer.status, shown["code"]) == (403, "insufficientScope")
                assert f'scope="{needed}"' in answer.headers["www-authenticate"]


def test_keys_are_kept_hashed_and_hold_over_restarts_until_they_are_revoked(redial, flaky):
    service, target = redial(), flaky()
    admin = locked(service)
    made = make(service, "submit", "read")
    key = bearer(made["key"])
    assert service("POST", "/v1/calls", {"url": target.url}, key).status == 202
    service.kill()
    secret = made["key"].split("_", 2)[2]
    for file in service.store.parent.glob("redial.db*"):
        content = file.read_bytes()
        assert secret.encode() not in content and admin["key"].encode() not in content
    assert secret not in service.log.read_text()
    service.start()
    assert service("GET", "/v1/calls", headers=key).status == 200
    listed = check(service("GET", PATH), "get", PATH)["data"]
    assert listed == [{k: v for k, v in entry.items() if k != "key"} for entry in (admin, made)]
    stream = Stream(service, headers=key)
    revoked = check(service("DELETE", f"{PATH}/{made['id']}"), "delete", PATH + "/{id}")
    assert revoked["revokedAt"]
    wait_until(lambda: stream.ended, "its stream ends")
    for _ in range(2):
        assert service("GET", "/v1/calls", headers=key).json["code"] == "invalidAPIKey"
        service.terminate()
        service.start()
    # If all keys are revoked, nobody is admitted, rather than everybody.
    service("DELETE", f"{PATH}/{admin['id']}")
    assert service("GET", PATH).status == 401
    assert Client(service.port)("GET", PATH).status == 401


def test_one_key_is_not_another(redial):
    service = redial()
    locked(service)
    one, other = (make(service, "read")["key"] for _ in "12")
    for wrong in (one[:-1], one + "x", one[:18] + other[18:], one.lower(), one[:-1] + ("A" if one[-1] != "A" else "B")):
        assert service("GET", "/v1/calls", headers=bearer(wrong)).status == 401, wrong
    assert service("GET", "/v1/calls", headers={"authorization": "bearer  " + one}).status == 200
    other = service("GET", "/v1/calls", headers={"authorization": "Basic YTpi"})
    assert other.status == 401 and "scheme is not Bearer" in other.json["detail"] and "YTpi" not in other.body.decode()


def test_the_first_key_must_be_able_to_make_others(redial):
    service = redial()
    answer = service("POST", PATH, {"name": "x", "scopes": ["read"]})
    assert (answer.status, answer.json["code"]) == (409, "firstKeyMustBeAdmin")
    assert service("GET", PATH).status == 200


def test_a_quota_is_told_with_each_answer_and_kept_to(redial):
    service = redial()
    locked(service)
    limited = bearer(make(service, "read", quota=3)["key"])
    free = bearer(make(service, "read")["key"])
    left = []
    for _ in range(3):
        answer = service("GET", "/v1/calls", headers=limited)
        assert answer.status == 200 and answer.headers["ratelimit-policy"] == '"key";q=3;w=60'
        left.append(int(re.fullmatch(r'"key";r=(\d+);t=\d+', answer.headers["ratelimit"])[1]))
    assert left == [2, 1, 0]
    for method, path in OPERATIONS:
        needed = next(s for s, operations in SCOPES.items() if (method, path) in operations)
        answer = service(method.upper(), path_of(path), None, limited)
        if path in OPEN:
            assert answer.status == 200
        elif needed in ("read", None):
            assert check(answer, method, path)["code"] == "quotaExceeded"
            assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert service("GET", "/v1/calls", headers=free).status == 200
    assert service("GET", "/v1/calls", headers=free).headers["ratelimit"] is None


def test_a_service_for_other_machines_wants_a_key_or_to_be_told_so(tmp_path, made):
    from processes import Redial
    store = f"sqlite:{tmp_path}/redial.db"
    port = free_port()
    for host in ("0.0.0.0", "[::]"):
        answer = run("serve", "--listen", f"{host}:{port}", "--store", store)
        assert answer.returncode == 3 and "allowUnauthenticated" in answer.stderr and "redial keys create" in answer.stderr

    def serve(*flags, env=None):
        service = Redial(tmp_path, *flags, env=env)
        service.arguments[service.arguments.index("--listen") + 1] = f"0.0.0.0:{port}"
        made.append(service)
        return service.start()

    service = serve("--allow-unauthenticated", "true")
    assert service("GET", "/v1/calls").status == 200
    service.says("warning unauthenticated")
    assert service.log.read_text().count("warning unauthenticated") == 1
    service.terminate()
    admin = "k" * 32
    service = serve(env={"REDIAL_ADMIN_KEY": admin})
    assert service("GET", "/v1/calls").status == 401
    service.says("warning unauthenticated")
    assert service.log.read_text().count("warning unauthenticated") == 1
    assert service("GET", "/v1/calls", headers=bearer(admin)).status == 200
    assert service("GET", "/v1/calls", headers=bearer(admin + "x")).status == 401
    assert admin not in run("serve", "--print-config", env={"REDIAL_ADMIN_KEY": admin}).stdout
    service.terminate()
    made_key = run("keys", "create", "--scope", "admin", "--store", store, "--name", "first").stdout.strip()
    assert re.fullmatch(r"rdl_[0-9A-Z]{13}_[\w.-]{43}", made_key)
    service = serve()
    assert service("GET", "/v1/calls").status == 401
    assert service("GET", "/v1/calls", headers=bearer(made_key)).status == 200
    assert "postgresql://" in run("keys", "--help").stdout


def test_the_command_makes_lists_revokes_and_shows_keys(redial, flaky):
    service, target = redial(), flaky()
    url = ["--url", service.url]
    admin = run("keys", "create", "--scope", "admin", *url, "--name", "me").stdout.strip()
    assert run("list", *url).returncode == 4
    env = {"REDIAL_API_KEY": admin}
    assert run("list", *url, env=env).returncode == 0
    assert run("health", *url).returncode == 0
    created = run("keys", "create", *url, "--name", "ci", "--scope", "submit,read", "--quota", "100", "--json", env=env)
    key = json.loads(created.stdout)
    assert (key["scopes"], key["quota"]) == (["submit", "read"], 100)
    assert run("call", *url, "--key", key["key"], target.url).returncode == 0
    listed = run("keys", "list", *url, env=env).stdout
    assert "submit,read" in listed and "100/min" in listed and key["key"] not in listed and admin not in listed
    refused = run("keys", "list", *url, "--key", key["key"])
    assert refused.returncode == 4 and "admin" in refused.stderr
    assert "revoked" in run("keys", "revoke", key["id"], *url, env=env).stdout
    assert run("list", *url, "--key", key["key"]).returncode == 4
    service.terminate()
    store = ["--store", f"sqlite:{service.store}"]
    assert key["id"] in run("keys", "list", *store).stdout
    first = run("keys", "list", *store).stdout.splitlines()[1].split()[0]
    assert "revoked" in run("keys", "revoke", first, *store).stdout
    assert run("keys", "revoke", "key_0", *store).returncode == 4
    for wrong in (["create"], ["create", "--name", "x"], ["create", "--name", "x", "--scope", "y"], ["dance"], ["revoke"],
                  ["create", "--name", "x", "--quota", "0"]):
        assert run("keys", *wrong, *url).returncode == 2, wrong


def test_of_two_who_make_the_first_key_one_is_told_that_it_needs_one(redial):
    service = redial()
    for _ in range(5):
        answers, gate = [], threading.Barrier(8)

        def first(service=service, answers=answers, gate=gate):
            client = Client(service.port)
            client("GET", "/healthz")
            gate.wait()
            answers.append(client("POST", PATH, {"name": "first", "scopes": ["admin"]}))

        threads = [threading.Thread(target=first) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(BOUND)
        assert sorted(a.status for a in answers) == [201] + [401] * 7
        assert all(a.json["code"] == "missingAPIKey" for a in answers if a.status == 401)
        winner = next(a.json for a in answers if a.status == 201)
        assert len(service("GET", PATH, headers=bearer(winner["key"])).json["data"]) == 1
        service.terminate()
        for file in service.store.parent.glob(f"{service.store.name}*"):
            file.unlink()
        service.start()


def test_the_command_warns_of_a_key_that_anybody_on_the_way_can_read():
    for url, expected in (
        ("http://redial.invalid:1", True), ("http://127.0.0.1:1", False), ("http://[::1]:1/", False),
        ("http://localhost:1", False), ("http://127.9.8.7:1", False), ("http://me:pw@127.0.0.1:1", False),
        # Names that begin like an address, and user names that look like one.
        ("http://127.evil.invalid:1", True), ("http://localhost.evil.invalid:1", True),
        ("http://127.0.0.1@redial.invalid:1", True), ("http://localhost:1@redial.invalid:1/", True),
        ("http://127.0.0.1:x@y@redial.invalid:1", True), ("http://redial.invalid:1?@127.0.0.1", True),
        ("http://[::1]@redial.invalid:1", True), ("http://[::ffff:1.2.3.4]:1", True),
    ):
        answer = run("list", "--url", url, env={"REDIAL_API_KEY": "k" * 32})
        assert ("warning: the API key goes unencrypted" in answer.stderr) == expected, answer.stderr
        assert "k" * 32 not in answer.stderr


def test_what_was_begun_without_a_key_ends_when_the_first_is_made(redial, flaky):
    service, target = redial(), flaky()
    listener = Stream(service)
    lines = http.client.HTTPConnection("127.0.0.1", service.port, timeout=BOUND)
    lines.putrequest("POST", "/v1/calls/batch")
    lines.putheader("content-type", "application/x-ndjson")
    lines.putheader("transfer-encoding", "chunked")
    lines.endheaders()
    line = json.dumps({"url": target.url}).encode() + b"\n"

    def send():
        lines.send(b"%x\r\n%s\r\n" % (len(line), line))

    send()
    answer = lines.getresponse()
    assert json.loads(answer.readline())["status"] == 202
    locked(service)
    wait_until(lambda: listener.ended, "nobody listens without a key")
    assert ": an API key is needed from now on" in listener.lines
    send()
    refused = json.loads(answer.readline())
    assert (refused["line"], refused["status"], refused["problem"]["code"]) == (None, 401, "missingAPIKey")
    assert len(service("GET", "/v1/calls").json["data"]) == 1


def test_who_waits_gets_no_result_when_the_key_is_revoked_and_learns_what_was_accepted(redial, receiver):
    held = threading.Event()

    def hold(request):
        held.wait(BOUND)
        return 200, {}, b"a result"
    service, target = redial(), receiver(hold)
    locked(service)
    call, key = service.submit(url=target.url), make(service, "submit", "read")
    ask = lambda method, path, body, fields: Client(service.port)(method, path, body, bearer(key["key"]) | fields)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        polled = pool.submit(ask, "GET", f"/v1/calls/{call}?wait=50s", None, {})
        submitted = pool.submit(ask, "POST", "/v1/calls", {"url": target.url}, {"prefer": "wait=50"})
        wait_until(lambda: service.metrics()["redial_waiting_clients"] == 2, "both wait")
        assert service("DELETE", f"{PATH}/{key['id']}").status == 200
        refused, accepted = polled.result(BOUND), submitted.result(BOUND)
    held.set()
    check(refused, "get", "/v1/calls/{id}")
    assert (refused.status, refused.json["code"]) == (401, "invalidAPIKey")
    assert (accepted.status, accepted.json["response"]) == (202, None)
    assert {service.ended(identity)["state"] for identity in (call, accepted.json["id"])} == {"succeeded"}


def test_a_list_by_lines_breaks_off_when_the_key_is_revoked(redial, flaky):
    service, target = redial(), flaky()
    locked(service)
    # More than connections buffer, so that most of it is unread when the key is revoked.
    labels = {f"n{n}": "x" * 250 for n in range(16)}
    for _ in range(30):
        batch = [{"url": target.url, "delay": "1h", "labels": labels}] * 100
        assert service("POST", "/v1/calls/batch", batch).status == 200
    key = make(service, "read")
    listing = socket.socket()
    listing.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listing.settimeout(BOUND)
    listing.connect(("127.0.0.1", service.port))
    listing.sendall(
        f"GET /v1/calls?limit=50 HTTP/1.1\r\nhost: x\r\naccept: application/x-ndjson\r\n"
        f"authorization: Bearer {key['key']}\r\n\r\n".encode())
    assert listing.recv(100).startswith(b"HTTP/1.1 200")
    assert service("DELETE", f"{PATH}/{key['id']}").status == 200
    count = 0
    with pytest.raises(ConnectionResetError):
        while piece := listing.recv(1 << 16):
            count += len(piece)
        raise AssertionError(f"the list was read to its end, {count} bytes")


def test_a_stream_costs_what_it_would_without_one(redial, flaky):
    service, target = redial(Constants(maxBatch=10)), flaky()
    admin = service("POST", "/v1/keys", {"name": "a", "scopes": ["admin"]}).json
    service.credentials = {"authorization": "Bearer " + admin["key"]}
    made = service("POST", "/v1/keys", {"name": "q", "scopes": ["submit", "read"], "quota": 4})
    assert made.status == 201, made.body
    bearer = {"authorization": "Bearer " + made.json["key"], "content-type": "application/x-ndjson"}
    lines = (json.dumps({"url": target.url, "delay": "1h"}) + "\n") * 100
    answer = service("POST", "/v1/calls/batch", lines, bearer)
    items = [json.loads(line) for line in answer.body.decode().splitlines()]
    assert [i["status"] for i in items] == [202] * 40 + [429]
    last = items[-1]
    assert last["line"] is None and last["problem"]["code"] == "quotaExceeded"
    assert last["headers"]["ratelimit"].startswith('"key";r=0;t=') and int(last["headers"]["retry-after"]) <= 60
    assert service("POST", "/v1/calls/batch", lines, bearer).status == 429
    assert service.metrics()["redial_calls_accepted_total"] == 40
    # A list as lines pays for each page, and waits for quota; it does not end early.
    made = service("POST", "/v1/keys", {"name": "r", "scopes": ["read"], "quota": 2})
    reader = {"authorization": "Bearer " + made.json["key"]}
    with socket.create_connection(("127.0.0.1", service.port), BOUND) as client:
        client.sendall((
            "GET /v1/calls?limit=10 HTTP/1.1\r\nhost: a\r\naccept: application/x-ndjson\r\n"
            f"authorization: {reader['authorization']}\r\n\r\n").encode())
        got = b""
        while got.count(b'"id":"call_') < 20:
            piece = client.recv(65536)
            assert piece, got
            got += piece
        assert service("GET", "/v1/calls", headers=reader).json["code"] == "quotaExceeded"
        # There is neither more of it nor its end.
        assert not select.select([client], [], [], 0)[0]
    assert got.startswith(b"HTTP/1.1 200") and got.count(b'"id":"call_') == 20

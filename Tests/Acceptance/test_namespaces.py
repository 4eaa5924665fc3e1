"""A key of one namespace can neither see, change, infer nor delay anything of another."""

import json
import re
import threading
import time

import pytest

from standardwebhooks import Webhook, WebhookVerificationError

from processes import Client, Constants, breaker, run, wait_until
from test_contract import CONTRACT, check
from test_events import Stream

KEYS = "/v1/keys"
ADMIN = "the-admin-key-of-this-test"
JSON = {"content-type": "application/json"}
ONCE = {"maxAttempts": 1}


def bearer(key):
    return {"authorization": f"Bearer {key}"}


class Tenant:
    """A client with one key."""

    def __init__(self, service, namespace, *scopes, **more):
        self.service, self.namespace = service, namespace
        answer = service("POST", KEYS, {"name": "k", "scopes": list(scopes) or ["admin"], "namespace": namespace} | more)
        assert answer.status == 201, answer.body
        made = check(answer, "post", KEYS)
        assert made["namespace"] == namespace
        self.id, self.key = made["id"], made["key"]

    def __call__(self, method, path, body=None, headers=None):
        return self.service(method, path, body, bearer(self.key) | (headers or {}))

    def submit(self, **descriptor):
        answer = self("POST", "/v1/calls", descriptor)
        assert answer.status == 202, answer.body
        return answer.json["id"]

    def ended(self, identity):
        def ended():
            call = self("GET", f"/v1/calls/{identity}").json
            return call["finishedAt"] and call
        return wait_until(ended, f"{identity} ends")

    def data(self, path):
        answer = self("GET", path)
        assert answer.status == 200, answer.body
        return answer.json["data"]


@pytest.fixture
def operated(redial):
    """A service with an admin key, which the test's own requests use."""
    def start(*flags):
        service = redial(*flags, Constants(alertInterval="20ms"), env={"REDIAL_ADMIN_KEY": ADMIN})
        service.credentials = bearer(ADMIN)
        return service
    return start


def escaped(key):
    return key.replace("/", "%2F")


# How each route treats resources of another namespace. A new route needs its line here.
BY_ID = {  # Answered as if the resource did not exist.
    ("get", "/v1/calls/{id}"), ("get", "/v1/calls/{id}/attempts"), ("post", "/v1/calls/{id}/cancel"),
    ("post", "/v1/calls/{id}/retry"), ("post", "/v1/calls/{id}/replay"), ("delete", "/v1/calls/{id}/content"),
    ("get", "/v1/operations/{id}"), ("post", "/v1/operations/{id}/cancel"), ("get", "/v1/issues/{id}"), ("patch", "/v1/issues/{id}"),
    ("get", "/v1/webhook-endpoints/{id}"), ("put", "/v1/webhook-endpoints/{id}"),
    ("delete", "/v1/webhook-endpoints/{id}"), ("post", "/v1/webhook-endpoints/{id}/rotate-secret"),
    ("post", "/v1/webhook-endpoints/{id}/test"), ("get", "/v1/webhook-endpoints/{id}/deliveries"),
    ("delete", "/v1/keys/{id}"), ("get", "/v1/targets/{key}"),
    ("get", "/v1/policies/{name}"), ("delete", "/v1/policies/{name}"), ("get", "/v1/credentials/{name}"),
    ("delete", "/v1/credentials/{name}"), ("get", "/v1/alerts/{name}"), ("patch", "/v1/alerts/{name}"),
    ("delete", "/v1/alerts/{name}"), ("post", "/v1/alerts/{name}/test"),
}
LISTS = {  # Each namespace has its own.
    ("get", "/v1/calls"), ("get", "/v1/targets"), ("get", "/v1/policies"), ("get", "/v1/credentials"), ("get", "/v1/operations"), ("get", "/v1/issues"),
    ("get", "/v1/alerts"), ("get", "/v1/webhook-endpoints"), ("get", "/v1/keys"),
    ("get", "/v1/audit"),
}
OWN = {  # New resources belong to the client's namespace: the tests below.
    ("post", "/v1/calls"), ("post", "/v1/calls/batch"), ("post", "/v1/forward/{url}"), ("post", "/v1/operations"),
    ("post", "/v1/webhook-endpoints"), ("post", "/v1/keys"), ("put", "/v1/policies/{name}"), ("put", "/v1/credentials/{name}"), ("put", "/v1/alerts/{name}"),
    ("get", "/v1/events"),
    ("put", "/v1/targets/{key}"), ("patch", "/v1/targets/{key}"), ("post", "/v1/targets/{key}/pause"), ("post", "/v1/targets/{key}/resume"),
    ("post", "/v1/targets/{key}/trip"), ("post", "/v1/targets/{key}/reset"), ("post", "/v1/targets/{key}/release"),
    ("post", "/v1/policies/preview"), ("get", "/v1/webhook-secret"),
    ("get", "/v1/statistics"),
}
OPERATORS = {("get", "/metrics"), ("get", "/v1/instances")}
NOBODYS = {("get", "/"), ("get", "/healthz"), ("get", "/readyz"), ("get", "/openapi.yaml"), ("get", "/llms.txt")}


def test_every_route_of_the_contract_has_an_isolation_decision():
    routes = {
        (method, path) for path, item in CONTRACT["paths"].items()
        for method in ("get", "post", "put", "patch", "delete") if method in item}
    decided = [BY_ID, LISTS, OWN, OPERATORS, NOBODYS]
    assert routes == set().union(*decided)
    assert sum(map(len, decided)) == len(routes)


def fill(tenant, url, hook):
    """One resource of each kind."""
    assert tenant("PUT", "/v1/policies/fast", ONCE | {"attemptTimeout": "5s"}).status == 201
    credential = {"type": "bearer", "token": "x", "origins": [url]}
    assert tenant("PUT", "/v1/credentials/shop", credential).status == 201
    endpoint = tenant("POST", "/v1/webhook-endpoints", {"url": hook}).json["id"]
    operation = tenant("POST", "/v1/operations", {"action": "retry", "all": True}).json["id"]
    wait_until(lambda: tenant("GET", f"/v1/operations/{operation}").json["state"] == "completed", "it is over")
    issue = tenant.ended(tenant.submit(url=url + "/?sequence=404", policy=ONCE))["issue"]
    assert tenant("POST", f"/v1/targets/{escaped(url)}/pause").status == 200
    waiting = tenant.submit(url=url, policy="fast", labels={"team": "a"})
    alert = {"to": {"slack": hook}, "kinds": ["held"], "after": "0s"}
    assert tenant("PUT", "/v1/alerts/oncall", alert).status == 201
    return {"/calls/": waiting, "/webhook-endpoints/": endpoint, "/operations/": operation, "/keys/": tenant.id,
            "/targets/": escaped(url), "/policies/": "fast", "/credentials/": "shop", "/issues/": issue, "/alerts/": "oncall"}


UNKNOWN = {"/calls/": "call_0000000000001", "/webhook-endpoints/": "whe_0000000000001",
           "/operations/": "op_0000000000001", "/keys/": "key_0000000000001", "/targets/": "nobody",
           "/policies/": "nobody", "/credentials/": "nobody", "/issues/": "issue_00000000000101", "/alerts/": "nobody"}
BODIES = {"/v1/webhook-endpoints/{id}": {"url": "http://127.0.0.1:9/"}, "/v1/issues/{id}": {"state": "acknowledged"},
          "/v1/alerts/{name}": {"silenced": True}}


def path_of(template, things):
    kind = next(k for k in things if k in template)
    return re.sub(r"\{\w+\}", things[kind], template)


def test_what_is_anothers_is_answered_as_what_is_not_there(operated, flaky, receiver):
    service, target, hook = operated(), flaky(), receiver()
    a, b, idle = Tenant(service, "a"), Tenant(service, "b"), Tenant(service, "default")
    theirs = fill(a, target.url, hook.url)
    for _ in range(2):
        for stranger in (b, idle):
            for method, template in sorted(BY_ID):
                if stranger is idle and template.startswith(KEYS):
                    continue  # Clients that manage the keys of all.
                answers = []
                for things in (theirs, UNKNOWN):
                    path = path_of(template, things)
                    answer = stranger(method.upper(), path, BODIES.get(template) if method in ("put", "patch") else None)
                    assert answer.status == 404, (method, path, answer.body)
                    body = check(answer, method, template)
                    # Except for the text of the request itself.
                    shown = next(v for k, v in things.items() if k in template).replace("%2F", "/")
                    answers.append((
                        json.dumps(body).replace(shown, "X"), sorted(k for k in answer.headers if k != "date")))
                assert answers[0] == answers[1], (method, template)
            for method, path in LISTS:
                if path == "/v1/audit" and stranger is idle:
                    # An operator sees what all did.
                    assert {e["namespace"] for e in stranger.data(path)} >= {"a"}
                    continue
                own = [stranger.id] if path == KEYS else []
                listed = [e.get("id") or e.get("key") or e.get("name") for e in stranger.data(path)]
                if path == KEYS and stranger is idle:
                    own = sorted([a.id, b.id, idle.id])
                    listed.sort()
                assert listed == own, (stranger.namespace, path)
            call = stranger("GET", f"/v1/calls/{theirs['/calls/']}?wait=20s")
            assert call.status == 404, "nobody waits for what is not there"
            assert stranger.data("/v1/calls?label=team=a") == []
            assert stranger.data(f"/v1/calls?target={target.url}") == []
            assert stranger.data(f"/v1/calls?target=a%1F{target.url}") == []
            counted = stranger("POST", "/v1/operations", {"action": "cancel", "all": True, "dryRun": True})
            assert counted.json["matched"] == 0 and counted.json["isComplete"]
            assert stranger("POST", "/v1/calls", {"url": target.url, "policy": "fast"}).status == 422
            assert stranger("POST", "/v1/calls", {"url": target.url, "credential": "shop"}).status == 422
            assert stranger("POST", "/v1/policies/preview", {"policy": "fast"}).status == 422
        # And its owner still has everything, also after a kill.
        shown = a("GET", f"/v1/calls/{theirs['/calls/']}").json
        assert (shown["target"], shown["policy"], shown["state"]) == (target.url, "fast@1", "scheduled")
        assert "namespace" not in shown
        assert [t["key"] for t in a.data("/v1/targets") if not t["key"].startswith("webhook:")] == [target.url]
        assert a("GET", f"/v1/targets/{escaped(target.url)}").json["paused"]
        for path in LISTS:
            assert a.data(path[1]), path
        service.kill()
        service.start()
    assert a("POST", f"/v1/targets/{escaped(target.url)}/resume").status == 200
    assert a.ended(theirs["/calls/"])["state"] == "succeeded"


def test_one_origin_in_two_namespaces_is_two_targets_with_limits_of_their_own(operated, receiver):
    answers = {"status": 500}
    target = receiver(lambda request: (answers["status"], {}, b""))
    service = operated(*breaker(consecutiveFailures=2, failureTime="0s", openInterval="1h"))
    a, b = Tenant(service, "a"), Tenant(service, "b")
    path = f"/v1/targets/{escaped(target.url)}"
    for _ in range(2):
        a.ended(a.submit(url=target.url, policy=ONCE))
    assert a("GET", path).json["breaker"]["state"] == "open"
    answers["status"] = 200
    waiting = a.submit(url=target.url, policy=ONCE)
    assert b.ended(b.submit(url=target.url, policy=ONCE))["state"] == "succeeded"
    assert b("GET", path).json["breaker"]["state"] == "closed"
    assert b("PUT", path, {"maxInFlight": 3}).json["settings"]["maxInFlight"] == 3
    assert a("GET", path).json["settings"]["maxInFlight"] != 3
    for _ in range(2):
        service.kill()
        service.start()
        assert a("GET", path).json["breaker"]["state"] == "open"
        assert a("GET", f"/v1/calls/{waiting}").json["waitingOn"] == "breaker"
        assert b("GET", path).json["settings"]["maxInFlight"] == 3
    assert a("POST", f"{path}/reset").status == 200
    assert a.ended(waiting)["state"] == "succeeded"


def test_the_same_idempotency_key_is_two_in_two_namespaces(operated, flaky):
    service, target = operated(), flaky()
    a, b = Tenant(service, "a"), Tenant(service, "b")
    key = {"idempotency-key": "order-1"}
    first = a("POST", "/v1/calls", {"url": target.url}, key)
    other = b("POST", "/v1/calls", {"url": target.url, "method": "PUT"}, key)
    assert (first.status, other.status) == (202, 202) and other.headers["idempotency-status"] is None
    for _ in range(2):
        again = a("POST", "/v1/calls", {"url": target.url}, key)
        assert again.json["id"] == first.json["id"] and again.headers["idempotency-status"] == "repeated"
        reused = b("POST", "/v1/calls", {"url": target.url}, key)
        assert reused.status == 422 and "order-1" in reused.json["detail"] and "\x1f" not in reused.json["detail"]
        service.kill()
        service.start()
    batch = [t("POST", "/v1/calls/batch", [{"url": target.url}], key).json["data"][0] for t in (a, b)]
    assert not any(item.get("idempotencyStatus") for item in batch) and batch[0]["call"]["id"] != batch[1]["call"]["id"]
    forwarded = [t("POST", f"/v1/forward/{target.url}", None, key | {"redial-target": "x"}).status for t in (a, b)]
    assert forwarded == [422, 422], "each knows its key for another request"


def test_bulk_operations_touch_their_own_calls_only(operated, flaky):
    service, target = operated(), flaky()
    tenants = [Tenant(service, name) for name in ("a", "b")]
    calls = {t: [t.submit(url=target.url, delay="1h", labels={"team": "x"}) for _ in range(5)] for t in tenants}
    for request in ({"action": "cancel", "all": True}, {"action": "cancel", "filter": {"labels": {"team": "x"}}}):
        operation = tenants[0]("POST", "/v1/operations", request).json["id"]
        done = wait_until(
            lambda: (o := tenants[0]("GET", f"/v1/operations/{operation}").json)["state"] == "completed" and o, "done")
        assert done["matched"] == (5 if "labels" not in done["filter"] else 0)
        assert "namespace" not in json.dumps(done)
    states = [{t("GET", f"/v1/calls/{c}").json["state"] for c in calls[t]} for t in tenants]
    assert states == [{"cancelled"}, {"scheduled"}]


def test_events_and_their_numbers_are_of_one_namespace(operated, flaky):
    service, target = operated(), flaky()
    a, b = Tenant(service, "a"), Tenant(service, "b")
    streams = {t: Stream(service, headers=bearer(t.key)) for t in (a, b)}
    first = b.submit(url=target.url)
    streams[b].until("call.succeeded")
    for _ in range(50):
        a.submit(url=target.url)
    wait_until(lambda: streams[a].types().count("call.succeeded") == 50, "a hears of its own")
    second = b.submit(url=target.url)
    wait_until(lambda: streams[b].types().count("call.succeeded") == 2, "b hears of its own")
    events = streams[b].events
    assert {e["data"]["id"] for e in events} == {first, second}
    numbers = [int(e["eventId"].split("-")[1]) for e in events]
    assert numbers == list(range(numbers[0], numbers[0] + 6)), "nobody can count what happens elsewhere"
    # A client that reconnects gets its missed events, and nothing else, by an id of its own or of another namespace.
    for after in (events[2]["eventId"], streams[a].events[2]["eventId"]):
        again = Stream(service, headers=bearer(b.key), after=after)
        wait_until(lambda: len(again.events) >= 3, "the rest comes")
        assert {e["data"]["id"] for e in again.events} <= {first, second}
    qualified = Stream(service, f"?target=a%1F{target.url}", headers=bearer(b.key))
    a.submit(url=target.url)
    b.ended(b.submit(url=target.url))
    assert qualified.events == []


def test_webhooks_tell_of_one_namespace(operated, flaky, receiver):
    service, target, hook = operated(), flaky(), receiver()
    a, b = Tenant(service, "a"), Tenant(service, "b")
    made = {t: t("POST", "/v1/webhook-endpoints", {"url": f"{hook.url}/{t.namespace}"}).json for t in (a, b)}
    service.kill()
    service.start()
    for tenant in (a, b):
        identity = tenant.submit(url=target.url)
        request = hook.next()
        assert request.path == f"/{tenant.namespace}" and json.loads(request.body)["data"]["id"] == identity
    for tenant, stranger in ((a, b), (b, a)):
        path = f"/v1/webhook-endpoints/{made[tenant]['id']}"
        wait_until(lambda: [d["state"] for d in tenant.data(f"{path}/deliveries")] == ["succeeded"], "it is delivered")
        delivery = tenant.data(f"{path}/deliveries")[0]
        assert delivery["target"] == f"webhook:{made[tenant]['id']}"
        assert stranger("GET", f"/v1/calls/{delivery['id']}").status == 404
        assert len(tenant.data("/v1/calls?kind=webhook")) == 1
    assert len(hook.requests) == 2


def test_who_acts_where_and_who_manages_whose_keys(operated, redial, flaky, tmp_path):
    service, target = operated(), flaky()
    operator, plain = Tenant(service, "default"), Tenant(service, "default", "read", "submit")
    a, b = Tenant(service, "a"), Tenant(service, "b")
    # A key acts in its own namespace, whatever the field says.
    for tenant in (operator, plain, a):
        for other in ("b", "nobodys"):
            answer = tenant("GET", "/v1/calls", headers={"redial-namespace": other})
            problem = check(answer, "get", "/v1/calls")
            assert answer.status == 403 and problem["code"] == "otherNamespace"
            assert f"this one's is {tenant.namespace}. Use a key of {other}, or the adminKey." in problem["detail"]
        assert tenant("GET", "/v1/calls", headers={"redial-namespace": tenant.namespace}).status == 200
    for wrong in ("A", "a b", "", "x" * 64):
        answer = service("GET", "/v1/calls", headers={"redial-namespace": wrong})
        assert (answer.status, check(answer, "get", "/v1/calls")["code"]) == (400, "invalidNamespace"), wrong
    # The admin key acts in the namespace that it selects.
    identity = a.submit(url=target.url)
    assert service("GET", f"/v1/calls/{identity}").status == 404
    assert service("GET", f"/v1/calls/{identity}", headers={"redial-namespace": "a"}).status == 200
    forwarded = service("POST", f"/v1/forward/{target.url}", None, {"redial-namespace": "a"})
    assert forwarded.status == 202 and a("GET", f"/v1/calls/{forwarded.json['id']}").status == 200
    # Keys.
    everybody = sorted([operator.id, plain.id, a.id, b.id])
    assert sorted(k["id"] for k in service("GET", KEYS).json["data"]) == everybody
    assert sorted(k["id"] for k in operator.data(KEYS)) == everybody
    inside = service("GET", KEYS, headers={"redial-namespace": "a"}).json["data"]
    assert [k["id"] for k in inside] == [a.id] == [k["id"] for k in a.data(KEYS)]
    made = check(a("POST", KEYS, {"name": "mine", "scopes": ["read"]}), "post", KEYS)
    assert made["namespace"] == "a"
    refused = a("POST", KEYS, {"name": "theirs", "scopes": ["read"], "namespace": "b"})
    assert refused.status == 403 and check(refused, "post", KEYS)["code"] == "otherNamespace"
    assert a("POST", KEYS, {"name": "x", "scopes": ["read"], "namespace": "A"}).status == 422
    assert a("DELETE", f"{KEYS}/{b.id}").status == 404
    assert operator("DELETE", f"{KEYS}/{b.id}").status == 200
    assert b("GET", "/v1/calls").status == 401
    # The metrics cover all namespaces.
    scraper, foreign = Tenant(service, "default", "metrics"), Tenant(service, "a", "metrics")
    for tenant, status in ((a, 403), (plain, 403), (foreign, 403), (scraper, 200), (operator, 200), (service, 200)):
        answer = tenant("GET", "/metrics")
        assert answer.status == status
        text = check(answer, "get", "/metrics")
    assert f'redial_target_waiting_calls{{target="{target.url}",namespace="a"}}' in text
    # Without keys a client acts in the namespace that it selects; and the first key must be able to make others.
    open_door = redial(folder=make_folder(tmp_path))
    assert open_door("POST", KEYS, {"name": "x", "scopes": ["admin"], "namespace": "a"}).status == 409
    made = open_door("POST", "/v1/calls", {"url": target.url}, {"redial-namespace": "a"}).json["id"]
    assert open_door("GET", f"/v1/calls/{made}").status == 404
    assert open_door("GET", f"/v1/calls/{made}", headers={"redial-namespace": "a"}).status == 200


def test_the_contract_has_the_header_field_wherever_a_namespace_matters():
    for path, item in CONTRACT["paths"].items():
        named = {"$ref": "#/components/parameters/Namespace"} in item.get("parameters", [])
        assert named == path.startswith("/v1/"), path


def make_folder(path):
    folder = path / "open"
    folder.mkdir()
    return folder


def test_commands_act_in_a_namespace_and_archives_keep_it(operated, redial, flaky, tmp_path):
    service, target = operated(), flaky()
    door = ["--url", service.url]
    env = {"REDIAL_API_KEY": ADMIN}
    made = run("keys", "create", "--name", "x", "--namespace", "acme", "--scope", "admin", "--json", *door, env=env)
    key = json.loads(made.stdout)
    assert key["namespace"] == "acme", made.stderr
    assert "acme" in run("keys", "list", *door, env=env).stdout
    identity = run("call", target.url, "--no-wait", *door, env={"REDIAL_API_KEY": key["key"]}).stdout.split()[0]
    seen = [run("list", "--json", *door, *more, env=env | extra).stdout
            for more, extra in (([], {}), (["--namespace", "acme"], {}), ([], {"REDIAL_NAMESPACE": "acme"}))]
    assert [identity in text for text in seen] == [False, True, True], seen
    wait_until(lambda: service("GET", f"/v1/calls/{identity}", headers={"redial-namespace": "acme"}).json["finishedAt"],
               "it ends")
    service.terminate()
    archive = run("export", "--calls", "--store", f"sqlite:{service.store}")
    assert '"namespace":"acme"' in archive.stdout
    second = make_folder(tmp_path)
    (tmp_path / "calls.ndjson").write_text(archive.stdout)
    imported = run("import", str(tmp_path / "calls.ndjson"), "--store", f"sqlite:{second}/redial.db")
    assert imported.returncode == 0, imported.stderr
    doctor = run("doctor", "--store", f"sqlite:{second}/redial.db")
    assert doctor.returncode == 0, doctor.stdout
    moved = redial(folder=second)
    assert moved("GET", f"/v1/calls/{identity}").status == 404
    shown = moved("GET", f"/v1/calls/{identity}", headers={"redial-namespace": "acme"})
    assert shown.status == 200 and shown.json["target"] == target.url


def test_a_flood_to_many_targets_keeps_nobody_else_waiting(operated, receiver):
    gate = threading.Event()
    order = []

    def answer(request):
        order.append(request.path)
        if request.path.startswith("/slow"):
            gate.wait(60)
        return 200, {}, b""

    target = receiver(answer)
    # None of the flood's targets answers in time; this test is about sharing between namespaces.
    service = operated("--max-in-flight", "20", Constants(unprovenShare=1))
    a, b, c = (Tenant(service, name) for name in "abc")
    flood = [{"url": f"{target.url}/slow/{n}", "target": f"t{n % 100}", "policy": {"attemptTimeout": "30s"}}
             for n in range(300)]
    assert a("POST", "/v1/calls/batch", flood).status == 200
    wait_until(lambda: len(order) >= 10, "the flood has what it may have")
    for tenant in (b, c):
        assert tenant.ended(tenant.submit(url=f"{target.url}/quick"))["state"] == "succeeded"
    begun = [path for path in order if path.startswith("/slow")]
    assert len(begun) == 10, "half of what may be under way, and the rest waits"
    unfinished = len(a.data("/v1/calls?state=scheduled&limit=250")) + len(a.data("/v1/calls?state=running"))
    assert unfinished >= 250 and not gate.is_set()
    gate.set()
    # If all want more than there is, the namespaces alternate: b's ten calls are not behind a's hundreds.
    del order[:]
    assert b("POST", "/v1/calls/batch", [{"url": f"{target.url}/b/{n}"} for n in range(10)]).status == 200
    wait_until(lambda: sum(p.startswith("/b/") for p in order) == 10, "b has had its turns")
    wait_until(lambda: not a.data("/v1/calls?state=scheduled"), "the flood is over")


def test_a_full_backlog_is_its_namespaces_own(operated, flaky):
    service, target = operated("--max-unfinished", "40"), flaky()
    a, b = Tenant(service, "a"), Tenant(service, "b")
    later = {"url": target.url, "delay": "1h"}
    statuses = [a("POST", "/v1/calls", later).status for _ in range(25)]
    assert statuses == [202] * 20 + [503] * 5
    refused = a("POST", "/v1/calls", later)
    assert refused.headers["retry-after"] == "30"
    problem = check(refused, "post", "/v1/calls")
    assert problem["code"] == "namespaceBacklogFull" and "namespaceShare of maxUnfinished" in problem["detail"]
    item = a("POST", "/v1/calls/batch", [later]).json["data"][0]
    assert item["status"] == 503
    for _ in range(2):
        assert b.ended(b.submit(url=target.url))["state"] == "succeeded"
        service.kill()
        service.start()
        assert a("POST", "/v1/calls", later).status == 503, "the share holds over a restart"
    assert b("POST", "/v1/calls", later).status == 202


def test_each_namespace_signs_what_its_calls_tell_by_a_secret_of_its_own(operated, flaky, receiver):
    """A webhook that one namespace sends to the receiver of another cannot be taken for the other's."""
    service, target, hook = operated(), flaky(), receiver()
    acme, other = Tenant(service, "acme"), Tenant(service, "other")

    def secret(caller):
        answer = caller("GET", "/v1/webhook-secret")
        assert answer.headers["cache-control"] == "no-store"
        return check(answer, "get", "/v1/webhook-secret")

    secrets = {who["namespace"]: who["secret"] for who in (secret(service), secret(acme), secret(other))}
    assert set(secrets) == {"default", "acme", "other"} and len(set(secrets.values())) == 3
    for namespace, expected in secrets.items():
        shown = run("webhook-secret", "--store", f"sqlite:{service.store}", "--namespace", namespace)
        assert shown.stdout.strip() == expected
    assert run("webhook-secret", "--store", f"sqlite:{service.store}", "--namespace", "No").returncode == 2
    for caller, namespace in ((service, "default"), (acme, "acme"), (other, "other")):
        caller.submit(url=target.url, callback={"url": hook.url})
        request = hook.next()
        for name, text in secrets.items():
            if name == namespace:
                assert Webhook(text).verify(request.body, dict(request.headers))["type"] == "call.succeeded"
            else:
                with pytest.raises(WebhookVerificationError):
                    Webhook(text).verify(request.body, dict(request.headers))
    reader = Tenant(service, "acme", "read", "submit", "operate")
    assert reader("GET", "/v1/webhook-secret").status == 403


def test_a_delivery_to_an_endpoint_that_was_deleted_is_never_sent(operated, flaky, receiver):
    service, target, hook = operated(), flaky(), receiver()
    acme = Tenant(service, "acme")
    endpoint = acme("POST", "/v1/webhook-endpoints", {"url": hook.url, "events": ["call.succeeded"]}).json["id"]
    key = f"webhook:{endpoint}"
    assert acme("POST", f"/v1/targets/{key}/pause").status == 200
    acme.ended(acme.submit(url=target.url))
    wait_until(lambda: acme.data("/v1/calls?kind=webhook"), "the delivery waits")
    assert acme("DELETE", f"/v1/webhook-endpoints/{endpoint}").status == 204
    assert acme("POST", f"/v1/targets/{key}/resume").status == 200
    identity = acme.data("/v1/calls?kind=webhook")[0]["id"]
    assert acme("GET", f"/v1/targets/{key}").json["paused"], "nobody can let it go"
    shown = acme("GET", f"/v1/calls/{identity}").json
    assert (shown["state"], shown["waitingOn"], shown["attempts"]) == ("scheduled", "paused", [])
    assert not hook.requests

"""People whom a proxy has signed in: their groups have scopes, what they do has their names, and nobody else can be one."""

import http.client
import json

from processes import free_port, run
from test_audit import records
from test_keys import bearer, make

PROXY = ("--trusted-proxies", "127.0.0.1", "--allowed-hosts", "redial.example.com", "--trusted-user-header", "X-Forwarded-User", "--group-scopes")
FLAGS = (
    *PROXY, "ops=read,operate; cn=admins=admin;*=metrics")
ADA = {"x-forwarded-user": "ada@example.com", "x-forwarded-groups": "staff, ops"}
EVE = {"x-forwarded-user": "eve@example.com"}
# Fields that proxies which sign people in add, besides.
SIGNED_IN = {
    "x-forwarded-access-token": "t", "x-forwarded-email": "e", "x-forwarded-preferred-username": "u", "x-auth-request-user": "u",
    "x-auth-request-access-token": "t", "x-auth-request-email": "e", "oidc_claim_sub": "s", "oidc_access_token": "t"}
# What a browser sends with the proxy's cookie, for a page of another site and for the dashboard.
OTHER = {"sec-fetch-site": "cross-site", "origin": "https://evil.example"}
OWN = {"sec-fetch-site": "same-origin", "origin": "https://redial.example.com", "host": "redial.example.com"}


def test_groups_have_scopes_and_what_people_do_has_their_names(redial, receiver):
    service = redial(*FLAGS, "--admin-key", "the-admin-key-of-this-test")
    admin = {"authorization": "Bearer the-admin-key-of-this-test"}
    target = receiver(lambda request: (500, {}, b""))
    answer = service("POST", "/v1/calls", {"url": target.url, "target": "orders", "policy": {"maxAttempts": 1}}, admin)
    call = answer.json["id"]
    service.credentials = admin
    assert service.ended(call)["state"] == "failed"
    service.credentials = {}
    shown = service("GET", "/v1/calls", None, ADA)
    assert shown.status == 200 and shown.headers["redial-user"] == "ada@example.com"
    assert "redial-user" not in service("GET", "/v1/calls", None, admin).headers
    # Nobody can speak for another.
    retried = service("POST", f"/v1/calls/{call}/retry", {"by": "bob", "reason": "mended"}, ADA | {"redial-actor": "bob"})
    assert retried.status == 200, retried.body
    assert service("GET", f"/v1/calls/{call}", None, ADA).json["retries"][0]["by"] == "ada@example.com"
    assert service("POST", "/v1/targets/orders/pause", None, ADA | OWN).status == 200
    operation = service("POST", "/v1/operations", {"action": "cancel", "filter": {"target": "orders"}, "by": "bob"}, ADA)
    assert operation.json["by"] == "ada@example.com"
    for person, method, path, missing in ((ADA, "POST", "/v1/calls", "submit"), (ADA, "GET", "/v1/audit", "admin"),
                                          (EVE, "GET", "/v1/calls", "read")):
        refused = service(method, path, {"url": target.url} if method == "POST" else None, person)
        assert (refused.status, refused.json["code"]) == (403, "insufficientScope")
        assert person["x-forwarded-user"] in refused.json["detail"] and missing in refused.json["detail"]
    assert service("GET", "/metrics", None, EVE).status == 200
    bob = {"x-forwarded-user": "bob", "x-forwarded-groups": "staff,cn=admins"}
    assert service("GET", "/v1/audit", None, bob).status == 200
    service.credentials = admin
    assert [(one["action"], one["actorKind"], one["actor"]) for one in reversed(records(service))] == [
        ("call.retried", "person", "ada@example.com"), ("target.paused", "person", "ada@example.com"),
        ("operation.started", "person", "ada@example.com")]
    service.credentials = {}
    # An operator chooses a namespace as the admin key does; others act in default.
    assert service("GET", "/v1/calls", None, bob | {"redial-namespace": "team-a"}).json["data"] == []
    assert service("GET", "/v1/calls", None, ADA | {"redial-namespace": "team-a"}).json["code"] == "otherNamespace"


def test_only_a_trusted_proxy_names_a_person_and_once(redial):
    service = redial(*(flag.replace("127.0.0.1", "127.0.0.2") for flag in FLAGS))

    def ask(source, path, fields):
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10, source_address=(source, 0))
        connection.putrequest("GET", path)
        for name, value in fields:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, json.loads(body)["code"] if answer.status >= 400 else None

    ada = list(ADA.items())
    assert ask("127.0.0.2", "/v1/calls", ada) == (200, None)
    for path in ("/v1/calls", "/healthz", "/", "/no/such"):
        assert ask("127.0.0.1", path, ada) == (403, "untrustedUser"), path
        assert ask("127.0.0.1", path, [("x-forwarded-user", "")]) == (403, "untrustedUser"), path
    assert ask("127.0.0.2", "/v1/calls", [("X-Forwarded-User", "root"), *ada]) == (403, "untrustedUser")
    assert ask("127.0.0.2", "/v1/calls", [("x-forwarded-user", "a" * 256)]) == (403, "untrustedUser")
    # Without the field, or with an empty one, nobody has signed in; the groups alone are nobody.
    for fields in ([], [("x-forwarded-user", "")], [("x-forwarded-groups", "ops")]):
        for source in ("127.0.0.1", "127.0.0.2"):
            if not fields or fields[0][0] == "x-forwarded-groups" or source == "127.0.0.2":
                assert ask(source, "/v1/calls", fields) == (401, "missingAPIKey")
    assert ask("127.0.0.1", "/healthz", []) == (200, None)


def test_a_person_in_no_group_is_told_which_groups_it_has(redial):
    service = redial("--trusted-proxies", "127.0.0.1", "--trusted-user-header", "Remote-User",
                     "--trusted-groups-header", "Remote-Groups", "--group-scopes", "ops=read")
    for groups, words in (({"remote-groups": "staff,dev"}, "staff, dev"), ({}, "no group")):
        refused = service("GET", "/v1/calls", None, {"remote-user": "ada"} | groups)
        assert (refused.status, refused.json["code"]) == (403, "userNotAdmitted")
        assert words in refused.json["detail"] and "ada" in refused.json["detail"]
    assert service("GET", "/v1/calls", None, {"remote-user": "ada", "remote-groups": "ops"}).status == 200


def test_pages_of_other_sites_cannot_use_the_session_of_the_proxy(redial, receiver):
    target = receiver()
    service = redial(*PROXY, "ops=submit,operate,read", "--cors-origins", "https://app.example.com")
    forward = f"/v1/forward/{target.url}/"
    for fields in ({"sec-fetch-site": "cross-site", "origin": "https://evil.example"}, {"sec-fetch-site": "same-site"},
                   {"origin": "https://evil.example"}, {"origin": "null"},
                   # One that may use the API with a key of its own has no key here.
                   {"sec-fetch-site": "cross-site", "origin": "https://app.example.com"}):
        for method, path in (("GET", "/v1/calls"), ("POST", "/v1/targets/orders/pause"), ("POST", forward)):
            refused = service(method, path, None, ADA | {"host": "redial.example.com"} | fields)
            assert (refused.status, refused.json["code"]) == (403, "crossSiteRequest"), fields
    # A link or an old browser's image sends neither field.
    refused = service("GET", forward, None, ADA)
    assert (refused.status, refused.json["code"]) == (403, "forwardNotDeliberate")
    for fields in (OWN, {"host": "redial.example.com", "x-forwarded-host": "redial.example.com"}):
        assert service("POST", "/v1/targets/orders/pause", None, ADA | fields).status == 200
    # A page that has rebound its name to the proxy's machine could say of itself who has signed in.
    for fields in ({"host": "evil.example"}, {"host": "redial.example.com", "x-forwarded-host": "evil.example"}):
        refused = service("POST", "/v1/targets/orders/pause", None, ADA | fields | {"sec-fetch-site": "same-origin"})
        assert (refused.status, refused.json["code"]) == (421, "hostNotAllowed"), refused.body
    assert not target.requests
    # The dashboard may be linked to.
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert service("GET", "/", None, ADA | link).status == 200


def test_a_key_counts_whoever_has_signed_in_and_targets_learn_of_nobody(redial, receiver):
    target = receiver()
    service = redial(*PROXY, "ops=admin")
    key = make(lambda method, path, body: service(method, path, body, ADA), "submit", "read", name="program")
    both = ADA | bearer(key["key"])
    assert service("POST", "/v1/targets/orders/pause", None, both).json["code"] == "insufficientScope"
    assert "redial-user" not in service("GET", "/v1/calls", None, both).headers
    # What the proxy itself puts there is no key.
    for other in ("Bearer eyJhbGciOiJSUzI1NiJ9.e30.x", "Basic YTpi"):
        assert service("GET", "/v1/calls", None, ADA | {"authorization": other}).headers["redial-user"] == ADA["x-forwarded-user"]
    service.credentials = ADA
    answer = service("POST", f"/v1/forward/{target.url}/x", None, {"prefer": "wait=10", "authorization": "Bearer of-the-proxy", "x-kept": "k"} | SIGNED_IN)
    assert answer.status in (200, 202), answer.body
    assert len(target.requests) == 1
    sent = {name.lower() for name in target.requests[0].headers}
    assert not sent & {"x-forwarded-user", "x-forwarded-groups", "authorization", *SIGNED_IN} and "x-kept" in sent


def test_it_does_not_start_if_nobody_could_sign_in(tmp_path):
    for flags, missing in ((("--trusted-user-header", "X-User", "--group-scopes", "a=read"), "trustedProxies"),
                           (("--trusted-user-header", "X-User", "--trusted-proxies", "127.0.0.1"), "groupScopes"),
                           (("--trusted-user-header", "Authorization"), "trustedUserHeader"),
                           (("--trusted-user-header", "X User"), "trustedUserHeader"),
                           (("--group-scopes", "a=reed"), "groupScopes"), (("--group-scopes", "a=read;a=admin"), "groupScopes")):
        ended = run("serve", "--listen", f"127.0.0.1:{free_port()}", "--store", f"sqlite:{tmp_path / 'x.db'}", *flags)
        assert ended.returncode != 0 and missing in ended.stderr, ended.stderr


def test_a_person_is_the_same_at_each_instance(instances):
    _, cluster = instances(2, *FLAGS)
    for number, service in enumerate(cluster):
        for target in "abcd":
            assert service("POST", f"/v1/targets/{target}{number}/pause", None, ADA).status == 200
        assert service("PUT", f"/v1/policies/p{number}", {"maxAttempts": 2}, ADA).status == 201
    bob = {"x-forwarded-user": "bob", "x-forwarded-groups": "cn=admins"}
    found = cluster[0]("GET", "/v1/audit", None, bob).json["data"]
    assert len(found) == 10 and {one["actor"] for one in found} == {ADA["x-forwarded-user"]}

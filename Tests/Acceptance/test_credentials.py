"""Credentials apart from calls: used by name, never shown, sent to their origins alone; and the tokens of OAuth 2."""

import base64
import gzip
import hashlib
import html
import json
import subprocess
import threading
import time
import urllib.parse

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

import processes
from processes import wait_until

SECRET = "s3cr3t-of-this-test"


def put(redial, name, **credential):
    answer = redial("PUT", f"/v1/credentials/{name}", credential)
    assert answer.status in (200, 201), answer.body
    assert SECRET not in answer.body.decode()
    return answer.json


def bearer(target, **more):
    return {"type": "bearer", "token": SECRET, "origins": [target.url]} | more


def test_a_call_names_what_proves_who_sends_it(redial, receiver):
    target, service = receiver(), redial()
    put(service, "token", **bearer(target))
    put(service, "login", type="basic", username="ada", password=SECRET, origins=[target.url])
    put(service, "field", type="header", header="X-Api-Key", value=SECRET, origins=[target.url])
    put(service, "parameter", type="query", parameter="api_key", value=SECRET + "&", origins=[target.url])
    for name, path in [("token", "/"), ("login", "/"), ("field", "/"), ("parameter", "/a?b=c#d"), ("parameter", "/")]:
        call = service.ended(service.submit(
            url=target.url + path, credential=name, headers={"authorization": "stale", "x-api-key": "stale"}))
        assert (call["state"], call["credential"], call["url"]) == ("succeeded", name, target.url + path)
        assert SECRET not in json.dumps(call)
    sent = target.requests
    assert [r.headers["authorization"] for r in sent[:2]] == [
        f"Bearer {SECRET}", "Basic " + base64.b64encode(f"ada:{SECRET}".encode()).decode()]
    assert (sent[2].headers["x-api-key"], sent[2].headers["authorization"]) == (SECRET, "stale")
    assert [r.path for r in sent[3:]] == [f"/a?b=c&api_key={SECRET}%26", f"/?api_key={SECRET}%26"]
    assert SECRET not in service.log.read_text()


def test_nobody_reads_a_secret_again(redial, receiver):
    target, service = receiver(), redial()
    made = put(service, "token", **bearer(target, description="of the shop"))
    assert made == service("GET", "/v1/credentials/token").json
    assert made["description"] == "of the shop" and "token" not in made and made["origins"] == [target.url]
    listed = service("GET", "/v1/credentials")
    assert listed.json["data"] == [made] and SECRET not in listed.body.decode()
    changed = put(service, "token", **bearer(target, token=SECRET + "2"))
    assert changed["createdAt"] == made["createdAt"] and changed["changedAt"] > made["changedAt"]
    service.kill()
    service.start()
    service.ended(service.submit(url=target.url, credential="token"))
    assert target.next().headers["authorization"] == f"Bearer {SECRET}2"
    assert service("DELETE", "/v1/credentials/token").status == 204
    assert service("DELETE", "/v1/credentials/token").json["code"] == "credentialNotFound"


@pytest.mark.parametrize("credential, pointer, clause", [
    ({"type": "bearer", "token": "x"}, "/origins", "at least one origin"),
    ({"type": "bearer", "origins": ["https://a.example"]}, "/token", "is required"),
    ({"type": "bearer", "token": "a\nb", "origins": ["https://a.example"]}, "/token", "control characters"),
    ({"type": "bearer", "token": "x", "password": "y", "origins": ["https://a.example"]}, "/password", "not a member"),
    ({"type": "bearer", "token": "x", "origins": ["https://a.example/path"]}, "/origins/0", "must be an origin"),
    ({"type": "nonsense", "token": "x", "origins": ["https://a.example"]}, "/type", "must be one of"),
    ({"type": "basic", "username": "a:b", "password": "x", "origins": ["https://a.example"]}, "/username", "colon"),
    ({"type": "header", "header": "Content-Length", "value": "1", "origins": ["https://a.example"]}, "/header", "set by"),
    ({"type": "oauth2", "tokenURL": "ftp://x", "clientID": "a", "clientSecret": "b", "origins": ["https://a.example"]},
     "/tokenURL", ""),
    ({"type": "oauth2", "tokenURL": "http://169.254.169.254/token", "clientID": "a", "clientSecret": "b",
      "origins": ["https://a.example"]}, "/tokenURL", "egress policy refuses"),
    ({"type": "oauth2", "tokenURL": "https://a.example/token", "clientID": "a", "origins": ["https://a.example"]},
     "/clientSecret", "is required"),
    ({"type": "oauth2", "tokenURL": "https://a.example/token", "clientID": "a", "privateKey": "-----BEGIN x",
      "origins": ["https://a.example"]}, "/privateKey", "cannot be used for RS256"),
    ({"type": "standardWebhooks", "secret": "short", "origins": ["https://a.example"]}, "/secret", "must be whsec_"),
    ({"type": "github", "secret": "x", "previousSecret": "y", "origins": ["https://a.example"]}, "/previousSecret",
     "not a member"),
])
def test_a_credential_that_cannot_work_is_refused(redial, credential, pointer, clause):
    answer = redial()("PUT", "/v1/credentials/wrong", credential)
    assert (answer.status, answer.json["code"]) == (422, "invalidCredential"), answer.body
    [fault] = answer.json["errors"]
    assert fault["pointer"] == pointer and clause in fault["detail"]


def test_a_credential_goes_to_its_origins_alone(redial, receiver):
    other = receiver()
    target = receiver(lambda request: (307, {"location": other.url + "/x"}, b"") if request.path == "/moved" else
                      (307, {"location": "/there"}, b"") if request.path == "/near" else (200, {}, b""))
    service = redial()
    put(service, "token", **bearer(target))
    put(service, "field", type="header", header="X-Odd", value=SECRET, origins=[target.url, other.url])
    refused = service("POST", "/v1/calls", {"url": other.url, "credential": "token"})
    assert refused.status == 422 and refused.json["errors"][0]["pointer"] == "/credential"
    assert f"may not be sent to {other.url}" in refused.json["errors"][0]["detail"]
    unknown = service("POST", "/v1/calls", {"url": other.url, "credential": "nobody"})
    assert "does not exist" in unknown.json["errors"][0]["detail"]
    # Also to an origin that may see it, a redirect does not carry it: the server has chosen that.
    for name in "token", "field":
        service.ended(service.submit(url=target.url + "/moved", credential=name, redirects={"max": 2}))
        arrived = other.next().headers
        assert arrived["authorization"] is None and arrived["x-odd"] is None
    service.ended(service.submit(url=target.url + "/near", credential="token", redirects={"max": 2}))
    assert target.requests[-1].headers["authorization"] == f"Bearer {SECRET}"


def test_a_credential_goes_to_the_host_of_its_origin_alone(redial, receiver):
    """Another one behind the same front end is another receiver (RFC 9110 section 7.2)."""
    target, service = receiver(), redial()
    put(service, "token", **bearer(target))
    sign = {"type": "github", "secret": SECRET}
    for more, host in [({"credential": "token"}, target.url[7:]), ({"sign": sign}, target.url[7:]), ({}, "evil.example")]:
        service.ended(service.submit(url=target.url, headers={"Host": "evil.example"}, **more))
        assert target.next().headers["host"] == host, more


ECHOES = {
    "as it was sent": lambda secret, pair: secret,
    "in base 64": lambda secret, pair: base64.b64encode(pair).decode(),
    "in base 64 for URLs": lambda secret, pair: base64.urlsafe_b64encode(secret.encode()).decode().rstrip("="),
    "percent-encoded": lambda secret, pair: urllib.parse.quote(secret, safe=""),
    "percent-encoded in part, with small digits": lambda secret, pair: urllib.parse.quote(secret).replace("%2B", "%2b"),
    "as HTML": lambda secret, pair: html.escape(secret),
    "all of it percent-encoded": lambda secret, pair: "".join(f"%{byte:02x}" for byte in secret.encode()),
    "with code points": lambda secret, pair: "".join(f"\\u{byte:04x}" if chr(byte) in "/+" else chr(byte) for byte in secret.encode()),
    "in base 64, percent-encoded": lambda secret, pair: urllib.parse.quote(base64.b64encode(pair).decode(), safe=""),
    "escaped": lambda secret, pair: secret.replace("/", "\\/"),
    "in JSON": lambda secret, pair: json.dumps(secret)[1:-1],
    "often": lambda secret, pair: f"{secret}{secret} {secret}",
}


@pytest.mark.parametrize("type", ["bearer", "basic", "header", "query"])
def test_what_an_answer_echoes_of_a_credential_is_struck(redial, receiver, type):
    secret = 's3cr3t/of"this?test+and/more'
    values = {
        "bearer": {"token": secret}, "basic": {"username": "ada", "password": secret},
        "header": {"header": "X-Api-Key", "value": secret}, "query": {"parameter": "key", "value": secret},
    }[type]
    pair = f"ada:{secret}".encode() if type == "basic" else secret.encode()
    cut = "bad token: " + secret[:-3]

    def answer(request):
        name = urllib.parse.unquote(request.path.split("?")[0][1:])
        echo = f"bad token: {secret}, it said" if name == "cut" else f"bad token: {ECHOES[name](secret, pair)}, it said"
        return 400, {"X-Echo": ECHOES[name](secret, pair) if name != "cut" else "", "Content-Type": "text/plain"}, echo.encode()
    target, service = receiver(answer), redial(env={"REDIAL_ADMIN_KEY": "k" * 20})
    service.credentials = {"authorization": "Bearer " + "k" * 20}
    put(service, "one", type=type, origins=[target.url], **values)
    texts = [service("GET", "/v1/calls").body.decode()]
    for name in [*ECHOES, "cut"]:
        capture = {"maxBytes": len(cut)} if name == "cut" else {"maxBytes": 1000}
        call = service.ended(service.submit(
            url=f"{target.url}/{urllib.parse.quote(name)}", credential="one", capture=capture, policy={"maxAttempts": 1}))
        text = json.dumps(call, ensure_ascii=False)
        assert "REDACTED" in call["response"]["body"] and call["response"]["body"].startswith("bad token: "), call["response"]
        texts.append(text)
    for path in ("/v1/issues", "/v1/calls?state=failed", "/v1/events?follow=false"):
        texts.append(service("GET", path).body.decode())
    for part in [secret[:12], secret.replace("/", "\\/")[:12], urllib.parse.quote(secret, safe="")[:14], base64.b64encode(pair).decode()[:20]]:
        for text in texts:
            assert part not in text and part.lower() not in text, (part, text)
    service.kill()
    stored = b"".join(path.read_bytes() for path in service.store.parent.glob(service.store.name + "*") if not path.name.endswith(".key"))
    assert secret.encode() not in stored and base64.b64encode(pair) not in stored and secret[:12].encode() not in stored


def test_trace_is_not_sent_with_a_credential(redial, receiver):
    """It is answered with what was sent (RFC 9110 section 9.3.8)."""
    target, service = receiver(), redial()
    put(service, "token", **bearer(target))
    answer = service("POST", "/v1/calls", {"url": target.url, "method": "TRACE", "credential": "token"})
    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/credential")
    service("PUT", f"/v1/targets/{urllib.parse.quote(target.url, safe='')}", {"credential": "token"})
    call = service.ended(service.submit(url=target.url, method="TRACE"))
    assert (call["state"], call["attempts"][0]["error"]["code"]) == ("failed", "traceWithCredential") and not target.requests


def test_a_target_and_a_rule_name_one_for_their_calls(redial, receiver):
    target, other = receiver(), receiver()
    rules = json.dumps([{"match": "127.0.0.1", "settings": {"credential": "ruled"}}])
    service = redial("--target-rules", rules)
    put(service, "token", **bearer(target))
    put(service, "ruled", **bearer(target, token=SECRET + "-ruled"))
    service.ended(service.submit(url=target.url))
    assert target.next().headers["authorization"] == f"Bearer {SECRET}-ruled"
    key = urllib.parse.quote(target.url, safe="")
    answer = service("PUT", f"/v1/targets/{key}", {"credential": "token"})
    assert answer.status == 200 and answer.json["overrides"]["credential"] == "token", answer.body
    service.ended(service.submit(url=target.url))
    assert target.next().headers["authorization"] == f"Bearer {SECRET}"
    # Calls of the rule's targets to other origins go without.
    assert service.ended(service.submit(url=other.url))["state"] == "succeeded"
    assert other.next().headers["authorization"] is None


def test_a_credential_that_is_gone_costs_no_attempt(redial, receiver):
    target, service = receiver(), redial()
    put(service, "token", **bearer(target))
    identity = service.submit(
        url=target.url, credential="token", delay="1s", policy={"maxAttempts": 1, "backoff": {"initial": "10ms", "max": "50ms"}})
    assert service("DELETE", "/v1/credentials/token").status == 204

    def failed():
        attempts = service("GET", f"/v1/calls/{identity}/attempts").json["data"]
        return len(attempts) >= 3 and attempts
    attempts = processes.wait_until(failed, "attempts without a credential")
    assert {(a["outcome"], a["error"]["code"]) for a in attempts} == {("localFault", "credentialUnavailable")}
    assert "does not exist" in attempts[0]["error"]["message"]
    put(service, "token", **bearer(target))
    call = service.ended(identity)
    assert call["state"] == "succeeded" and call["attemptCount"] > 3
    assert len(target.requests) == 1
    service.kill()
    checked = processes.run("doctor", "--store", f"sqlite:{service.store}")
    assert checked.returncode == 0, checked.stdout


def test_only_who_may_administer_changes_credentials_and_each_namespace_has_its_own(redial, receiver):
    target, service = receiver(), redial()
    admin = service("POST", "/v1/keys", {"name": "root", "scopes": ["admin"]}).json["key"]
    service.credentials = {"authorization": f"Bearer {admin}"}

    def key(scopes, **more):
        made = service("POST", "/v1/keys", {"name": "k", "scopes": scopes} | more).json["key"]
        return {"authorization": f"Bearer {made}"}
    operator, tenant = key(["operate", "read", "submit"]), key(["admin"], namespace="team")
    put(service, "token", **bearer(target))
    assert service("PUT", "/v1/credentials/token", bearer(target), operator).status == 403
    assert service("DELETE", "/v1/credentials/token", None, operator).status == 403
    assert service("POST", "/v1/calls", {"url": target.url, "credential": "token"}, operator).status == 202
    assert target.next().headers["authorization"] == f"Bearer {SECRET}"
    assert service("GET", "/v1/credentials/token", None, tenant).status == 404
    assert "does not exist" in service("POST", "/v1/calls", {"url": target.url, "credential": "token"}, tenant).body.decode()


# MARK: AWS


def verified(request, url, service):
    """Whether botocore makes the same signature of a request that arrived."""
    fields = {n.lower(): v for n, v in request.headers.items()}
    signed = fields["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    again = AWSRequest(method=request.method, url=url + request.path, data=request.body,
                       headers={n: fields[n] for n in signed})
    again.context["timestamp"] = fields["x-amz-date"]
    assert fields["x-amz-content-sha256"] == hashlib.sha256(request.body).hexdigest()
    kind = S3SigV4Auth if service == "s3" else SigV4Auth
    auth = kind(Credentials("AKID", SECRET, "of-session"), service, "eu-central-1")
    canonical = auth.canonical_request(again)
    signature = auth.signature(auth.string_to_sign(again, canonical), again)
    assert fields["authorization"].endswith("Signature=" + signature), canonical
    return "host" in signed and "x-amz-security-token" in signed


def test_requests_to_aws_are_signed_as_botocore_signs_them(redial, receiver):
    def answer(request):
        """The first call of each service is tried five times, the others twice."""
        return (200 if request.headers["redial-attempt"] == ("5" if request.path == "/" else "2") else 503, {}, b"")
    target, service = receiver(answer), redial()
    for name in "execute-api", "s3":
        put(service, name, type="awsSigV4", accessKeyID="AKID", secretAccessKey=SECRET, sessionToken="of-session",
            region="eu-central-1", service=name, origins=[target.url])
    large = base64.b64encode(bytes(range(256)) * 800).decode()
    calls = [{"path": "/"}, {"path": "/plain/path/"}, {"path": "/q?b=2&a=1&a=0&c"}, {"path": "/q?a=x%20y"},
             {"path": "/a%20b/c"}, {"path": "/post", "json": {"a": [1, 2]}}, {"path": "/put", "method": "PUT", "body": ""},
             {"path": "/large", "method": "PUT", "bodyBase64": large},
             {"path": "/h", "headers": {"X-Amz-Meta-Note": "a  b", "Content-Type": "text/plain"}, "body": "x"}]
    for name in "execute-api", "s3":
        for call in calls:
            call = dict(call)
            service.ended(service.submit(
                url=target.url + call.pop("path"), credential=name, policy={"backoff": {"initial": "10ms", "max": "100ms"}}, **call))
    assert len(target.requests) == 2 * (5 + 2 * (len(calls) - 1))
    for at, request in enumerate(target.requests):
        assert verified(request, target.url, "s3" if at >= len(target.requests) // 2 else "execute-api"), request.path


# MARK: Tokens


class TokenEndpoint:
    """Gives tokens, and writes down the forms it gets."""

    def __init__(self, receiver, answer=None, lifetime=3600):
        self.lifetime, self.given, self.forms = lifetime, 0, []
        self.answer = answer
        self.receiver = receiver(self.serve)
        self.url = self.receiver.url + "/token"

    def serve(self, request):
        self.forms.append((urllib.parse.parse_qs(request.body.decode(), strict_parsing=True), request.headers))
        if self.answer and (answer := self.answer(request)):
            return answer
        self.given += 1
        return 200, {"content-type": "application/json"}, json.dumps(
            {"access_token": f"token-{self.given}", "token_type": "bearer", "expires_in": self.lifetime}).encode()


def oauth(target, endpoint, **more):
    return {"type": "oauth2", "tokenURL": endpoint.url, "clientID": "shop:1", "clientSecret": SECRET + "%",
            "origins": [target.url]} | more


def test_a_thousand_calls_fetch_one_token(redial, receiver):
    target = receiver()
    endpoint = TokenEndpoint(receiver, lambda request: time.sleep(0.5))
    service = redial()
    put(service, "shop", **oauth(target, endpoint, scope="write read", audience="api", resource="urn:x"))
    assert service("GET", "/v1/credentials/shop").json["accessToken"] == {"state": "none"}
    lines = "\n".join(json.dumps({"url": f"{target.url}/{n}", "credential": "shop"}) for n in range(1000))
    answer = service("POST", "/v1/calls/batch", lines, {"content-type": "application/x-ndjson"})
    assert answer.status == 200, answer.body
    processes.wait_until(lambda: len(target.requests) >= 1000, "all calls arrive")
    assert {r.headers["authorization"] for r in target.requests} == {"Bearer token-1"}
    [(form, headers)] = endpoint.forms
    assert form == {"grant_type": ["client_credentials"], "scope": ["write read"], "audience": ["api"], "resource": ["urn:x"]}
    name, _, secret = base64.b64decode(headers["authorization"].split()[1]).decode().partition(":")
    assert (urllib.parse.unquote(name), urllib.parse.unquote(secret)) == ("shop:1", SECRET + "%")
    assert service("GET", "/v1/credentials/shop").json["accessToken"]["state"] == "valid"


def test_a_client_says_who_it_is_in_the_form_or_by_an_assertion(redial, receiver, tmp_path):
    target, endpoint, service = receiver(), TokenEndpoint(receiver), redial()
    put(service, "posted", **oauth(target, endpoint, clientAuthentication="post"))
    service.ended(service.submit(url=target.url, credential="posted"))
    form, headers = endpoint.forms[-1]
    assert (form["client_id"], form["client_secret"]) == (["shop:1"], [SECRET + "%"]) and headers["authorization"] is None
    kinds = {"RS256": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
             "ES256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]}
    for algorithm, options in kinds.items():
        key, public = tmp_path / f"{algorithm}.pem", tmp_path / f"{algorithm}.pub"
        subprocess.run(["openssl", "genpkey", *options, "-out", key], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
        put(service, algorithm, **(oauth(target, endpoint, privateKey=key.read_text(), algorithm=algorithm, keyID="k1")))
        service.ended(service.submit(url=target.url, credential=algorithm))
        form, _ = endpoint.forms[-1]
        assert form["client_assertion_type"] == ["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"]
        assert "client_secret" not in form
        head, claims, signature = (decoded(part) for part in form["client_assertion"][0].split("."))
        assert json.loads(head) == {"alg": algorithm, "typ": "JWT", "kid": "k1"}
        claims = json.loads(claims)
        assert (claims["iss"], claims["sub"], claims["aud"]) == ("shop:1", "shop:1", endpoint.url)
        assert 0 < claims["exp"] - time.time() <= 120 and claims["jti"]
        if algorithm == "ES256":
            signature = der(signature)
        (tmp_path / "signature").write_bytes(signature)
        (tmp_path / "signed").write_text(form["client_assertion"][0].rpartition(".")[0])
        subprocess.run(["openssl", "dgst", "-sha256", "-verify", public, "-signature", tmp_path / "signature",
                        tmp_path / "signed"], check=True, capture_output=True)


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def der(signature):
    """The ASN.1 of an ECDSA signature that is two numbers."""
    def number(raw):
        raw = raw.lstrip(b"\0") or b"\0"
        raw = b"\0" + raw if raw[0] & 0x80 else raw
        return b"\x02" + bytes([len(raw)]) + raw
    both = number(signature[:32]) + number(signature[32:])
    return b"\x30" + bytes([len(both)]) + both


def test_a_token_is_renewed_before_it_expires(redial, receiver):
    target, endpoint, service = receiver(), TokenEndpoint(receiver, lifetime=4), redial()
    put(service, "shop", **oauth(target, endpoint))
    service.ended(service.submit(url=target.url, credential="shop"))

    def renewed():
        service.ended(service.submit(url=target.url, credential="shop"))
        return endpoint.given >= 3
    processes.wait_until(renewed, "the token is renewed")
    seen = [r.headers["authorization"] for r in target.requests]
    assert seen == sorted(seen, key=lambda text: int(text.rpartition("-")[2])) and seen[0] == "Bearer token-1"


def test_after_a_refused_token_the_next_attempt_has_another_at_once(redial, receiver):
    refused = {"Bearer token-1"}
    target = receiver(lambda request: (401 if request.headers["authorization"] in refused else 200, {}, b""))
    endpoint, service = TokenEndpoint(receiver), redial()
    put(service, "shop", **oauth(target, endpoint))
    call = service.ended(service.submit(url=target.url, credential="shop", json={"a": 1}))
    assert (call["state"], call["attemptCount"]) == ("succeeded", 2)
    assert [(a["status"], a.get("error", {}).get("code")) for a in call["attempts"]] == [(401, "tokenRefused"), (200, None)]
    assert [(r.headers["authorization"], r.body, r.headers["redial-attempt"]) for r in target.requests] == [
        ("Bearer token-1", b'{"a": 1}', "1"), ("Bearer token-2", b'{"a": 1}', "2")]
    # A target that refuses every token is asked for no more.
    refused |= {"Bearer token-2", "Bearer token-3"}
    for _ in range(2):
        call = service.ended(service.submit(url=target.url, credential="shop"))
        assert (call["state"], call["attempts"][-1]["status"]) == ("failed", 401) and call["attemptCount"] <= 2
    assert endpoint.given <= 3


def test_a_call_cannot_have_its_credential_hidden_in_the_answer(redial, receiver):
    def echo(request):
        text = ("x" * 100 + request.headers["authorization"]).encode()
        if "accept-encoding" in request.headers and "br" in request.headers["accept-encoding"]:
            return 200, {"content-encoding": "br"}, text
        if "range" in request.headers:
            return 206, {"content-range": "bytes 0-119/200"}, text[:120]
        return (200, {"content-encoding": "gzip"}, gzip.compress(text)) if "coded" in request.path else (200, {"content-encoding": "zstd"}, text)
    target, service = receiver(echo), redial()
    put(service, "known", **bearer(target, token="known-token-0123456789"))
    shown = {}
    for name, headers in {"gzip": {"accept-encoding": "gzip"}, "br": {"accept-encoding": "br"}, "range": {"range": "bytes=0-119"}, "zstd": {}}.items():
        url = target.url + ("/coded" if name == "gzip" else "/")
        shown[name] = service.ended(service.submit(url=url, credential="known", headers=headers))["response"]["body"]
    assert shown == {"gzip": "x" * 100 + "Bearer REDACTED", "br": "REDACTED", "range": "REDACTED", "zstd": "REDACTED"}, shown


def test_a_token_that_was_accepted_and_is_revoked_again_is_replaced_again(redial, receiver):
    valid = {"Bearer token-1"}
    target = receiver(lambda request: (200 if request.headers["authorization"] in valid else 401, {}, b""))
    other = receiver(lambda request: (401, {}, b""))
    endpoint, service = TokenEndpoint(receiver), redial()
    put(service, "shop", **(oauth(target, endpoint) | {"origins": [target.url, other.url]}))
    for number in range(1, 4):
        assert service.ended(service.submit(url=target.url, credential="shop"))["state"] == "succeeded"
        valid.clear()
        valid.add(f"Bearer token-{number + 1}")
    assert endpoint.given == 3
    # One that refuses all costs its own calls alone.
    for _ in range(3):
        assert service.ended(service.submit(url=other.url, credential="shop"))["attempts"][-1]["status"] == 401
    valid.add(f"Bearer token-{endpoint.given}")
    valid.add(f"Bearer token-{endpoint.given + 1}")
    assert service.ended(service.submit(url=target.url, credential="shop"))["state"] == "succeeded"
    assert endpoint.given <= 5


def test_a_call_that_may_not_be_repeated_ends_with_the_401_that_refuses_its_token(redial, receiver):
    target = receiver(lambda request: (401 if request.headers["authorization"] == "Bearer token-1" else 200, {}, b""))
    endpoint, service = TokenEndpoint(receiver), redial()
    put(service, "shop", **oauth(target, endpoint))
    call = service.ended(service.submit(url=target.url, credential="shop", idempotent=False))
    assert (call["state"], call["attemptCount"], len(target.requests)) == ("failed", 1, 1)
    # The next call has another token.
    assert service.ended(service.submit(url=target.url, credential="shop", idempotent=False))["state"] == "succeeded"
    once = service.submit(url=target.url, credential="shop", policy={"maxAttempts": 1})
    assert service.ended(once)["attemptCount"] == 1


@pytest.mark.parametrize("answer, clause", [
    (lambda _: (401, {}, b'{"error": "invalid_client", "error_description": "wrong secret"}'),
     "it answered 401 (invalid_client: wrong secret)"),
    (lambda r: (307, {"location": f"http://{r.headers['host']}/elsewhere"}, b""), "redirects are not followed"),
    (lambda _: (200, {}, b"<html>"), "no usable"),
    (lambda _: (200, {}, b'{"access_token": "a\\nb"}'), "no usable"),
    (lambda _: (200, {}, b'{"access_token": "x", "token_type": "mac"}'), 'of the type "mac"'),
    (lambda _: (200, {}, b'{"access_token": "x", "expires_in": 0}'), "has expired"),
    (lambda _: None, "No token could be had"),
])
def test_a_token_endpoint_that_fails_is_no_fault_of_the_target(redial, receiver, answer, clause):
    """Nothing is charged: the call has one attempt, which reaches the target once there is a token."""
    broken = [True]
    target = receiver()
    endpoint = TokenEndpoint(receiver, lambda request: answer(request) if broken[0] else None)
    if answer(type("Request", (), {"headers": {"host": "x"}})) is None:
        # It hangs up.
        endpoint.receiver.answer = lambda request: None if broken[0] else endpoint.serve(request)
    service = redial()
    put(service, "shop", **oauth(target, endpoint))
    identity = service.submit(url=target.url, credential="shop",
                              policy={"maxAttempts": 1, "backoff": {"initial": "10ms", "max": "200ms"}})

    def failed():
        attempts = service("GET", f"/v1/calls/{identity}/attempts").json["data"]
        return len(attempts) >= 2 and attempts
    attempts = processes.wait_until(failed, "attempts without a token")
    assert all(a["outcome"] == "localFault" and clause in a["error"]["message"] for a in attempts), attempts
    assert SECRET not in json.dumps(attempts)
    token = service("GET", "/v1/credentials/shop").json["accessToken"]
    assert token["state"] in ("failing", "fetching"), token
    assert service.target(target.url)["breaker"]["state"] == "closed" and not target.requests
    # While its breaker is open, attempts ask it for nothing.
    assert len(endpoint.receiver.requests) < len(attempts) or len(attempts) < 4
    broken[0] = False
    assert service.ended(identity)["state"] == "succeeded"
    assert len(target.requests) == 1
    service.says("tokenNotFetched")
    assert SECRET not in service.log.read_text()


@pytest.mark.parametrize("shown", ["basic", "post"])
def test_what_a_token_endpoint_echoes_is_struck(redial, receiver, shown):
    target = receiver()
    def echo(request):
        said = request.headers.get("authorization", "") + " " + urllib.parse.unquote_plus(request.body.decode())
        return 401, {}, json.dumps({"error": "invalid_client", "error_description": said}).encode()
    endpoint, service = receiver(echo), redial()
    put(service, "oauth", type="oauth2", tokenURL=endpoint.url, clientID="me", clientSecret=SECRET,
        clientAuthentication=shown, origins=[target.url])
    call = service.submit(url=target.url, credential="oauth", policy={"deadline": "30s"})
    attempt = wait_until(lambda: service.get(call)["attempts"], "it was tried")[0]
    assert "invalid_client" in attempt["error"]["message"] and "REDACTED" in attempt["error"]["message"], attempt
    coded = base64.b64encode(f"me:{SECRET}".encode()).decode()[:20]
    for text in [json.dumps(attempt), service("GET", "/v1/credentials").body.decode(), service.log.read_text(),
                 service("GET", "/v1/issues").body.decode()]:
        assert SECRET not in text and coded not in text


def test_a_token_endpoint_that_says_nothing_holds_nobody_for_long(redial, receiver):
    gate = threading.Event()
    target, endpoint = receiver(), TokenEndpoint(receiver, lambda request: gate.wait(60) and None)
    service = redial()
    put(service, "shop", **oauth(target, endpoint))
    # An attempt waits for no longer than it may take, and a fetch takes ten seconds at most.
    short = service.submit(url=target.url, credential="shop", policy={"attemptTimeout": "1s"})

    def timed_out():
        return service("GET", f"/v1/calls/{short}/attempts").json["data"]
    attempt = processes.wait_until(timed_out, "the attempt is given up")[0]
    assert (attempt["outcome"], attempt["error"]["code"]) == ("localFault", "credentialUnavailable")
    identity = service.submit(url=target.url, credential="shop", policy={"maxAttempts": 1})
    # A call without it passes meanwhile.
    assert service.ended(service.submit(url=target.url))["state"] == "succeeded"

    def failed():
        return service("GET", f"/v1/calls/{identity}/attempts").json["data"]
    attempt = processes.wait_until(failed, "the fetch is given up")[0]
    assert attempt["outcome"] == "localFault" and "No token could be had" in attempt["error"]["message"], attempt
    gate.set()
    for waited in identity, short:
        assert service.ended(waited)["state"] == "succeeded"


def test_a_call_whose_token_was_refused_waits_for_an_endpoint_that_is_down(redial, receiver):
    target = receiver(lambda request: (401, {}, b"go away"))
    endpoint = TokenEndpoint(receiver, lambda request: (500, {}, b"") if endpoint.given else None)
    service = redial()
    put(service, "shop", **oauth(target, endpoint))
    call = service.submit(url=target.url, credential="shop", policy={"deadline": "2s"})
    call = service.ended(call)
    codes = [attempt["error"]["code"] for attempt in call["attempts"]]
    assert (call["state"], codes[0]) == ("failed", "tokenRefused") and set(codes[1:]) == {"credentialUnavailable"}, codes
    assert len(target.requests) == 1


def test_a_token_endpoint_obeys_the_egress_policy_when_it_is_called(redial, receiver, tmp_path):
    target, endpoint = receiver(), TokenEndpoint(receiver)
    service = redial()
    put(service, "shop", **oauth(target, endpoint))
    service.kill()
    strict = redial("--egress-deny", f"127.0.0.1:{endpoint.receiver.port}")
    identity = strict.submit(url=target.url, credential="shop", policy={"backoff": {"initial": "10ms"}})

    def failed():
        return strict("GET", f"/v1/calls/{identity}/attempts").json["data"]
    [attempt, *_] = processes.wait_until(failed, "an attempt")
    assert attempt["outcome"] == "localFault" and "egress policy" in attempt["error"]["message"], attempt
    assert not endpoint.receiver.requests and not target.requests


def test_calls_that_wait_for_a_token_can_be_cancelled_and_outlive_a_stop(redial, receiver):
    gate = threading.Event()
    target, endpoint = receiver(), None
    endpoint = TokenEndpoint(receiver, lambda request: gate.wait(30) and None)
    service = redial()
    put(service, "shop", **oauth(target, endpoint))
    first, second = (service.submit(url=target.url, credential="shop") for _ in range(2))
    processes.wait_until(lambda: endpoint.forms, "the endpoint is asked")
    processes.wait_until(lambda: service.get(second)["state"] == "running", "it runs")
    assert service("POST", f"/v1/calls/{second}/cancel").status == 200
    assert service.ended(second)["state"] == "cancelled"
    service.kill()
    gate.set()
    service.start()
    assert service.ended(first)["state"] == "succeeded"
    assert len(target.requests) == 1


# MARK: Several instances


def key_file(folder):
    """A file with a key that encrypts."""
    path = folder / "key"
    path.write_text(base64.b64encode(b"k" * 32).decode() + "\n")
    path.chmod(0o600)
    return str(path)


def test_instances_share_credentials_and_one_token(instances, receiver, tmp_path):
    target = receiver(lambda request: (401 if request.headers["authorization"] == "Bearer token-1" else 200, {}, b""))
    endpoint = TokenEndpoint(receiver, lambda request: time.sleep(0.3))
    cluster, services = instances(2, "--encryption-key-file", key_file(tmp_path))
    put(services[0], "shop", **oauth(target, endpoint))

    def known():
        return all(s("GET", "/v1/credentials/shop").status == 200 for s in services)
    processes.wait_until(known, "both know the credential")
    # Targets of both instances.
    calls = [service.submit(url=target.url, credential="shop", target=f"t{n}") for n in range(40) for service in services]
    for identity in calls:
        assert services[0].ended(identity)["state"] == "succeeded"
    # The first token is refused, and one of them fetches another for both.
    assert endpoint.given == 2, endpoint.given
    assert {r.headers["authorization"] for r in target.requests} == {"Bearer token-1", "Bearer token-2"}
    stored = str(cluster.query("SELECT kind || ' ' || encode(content, 'escape') FROM redial.documents", "redial"))
    assert "credential " in stored and "accessToken " in stored
    assert SECRET not in stored and "token-2" not in stored


def test_without_a_key_no_database_gets_a_secret(instances, receiver):
    target = receiver()
    _, (service,) = instances(1)
    answer = service("PUT", "/v1/credentials/token", bearer(target))
    assert (answer.status, answer.json["code"]) == (409, "noEncryptionKey") and "encryptionKeyFile" in answer.json["detail"]
    sign = {"type": "github", "secret": SECRET}
    for method, path, body in [("POST", "/v1/calls", {"url": target.url, "sign": sign}), ("PUT", "/v1/targets/a", {"sign": sign}),
                               ("PATCH", "/v1/targets/a", {"sign": sign})]:
        answer = service(method, path, body)
        assert answer.status == 422 and "encryptionKeyFile" in answer.json["errors"][0]["detail"], answer.body

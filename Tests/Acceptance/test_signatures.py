"""Each attempt is signed when it is made: verified as receivers do, at the first attempt and the fifth, also a day later."""

import base64
import hashlib
import hmac
import json
import subprocess
import time

import pytest
import standardwebhooks
import svix

import processes

KEY = base64.b64encode(b"k" * 32).decode()
OLD = base64.b64encode(b"o" * 32).decode()
BODY = '{"order": "ä", "items": [1, 2]}'
TOLERANCE = 300


def lower(request):
    return {name.lower(): value for name, value in request.headers.items()}


def is_fresh(seconds, now):
    return abs(now - int(seconds)) < TOLERANCE


def standard(request, secret):
    standardwebhooks.Webhook(secret).verify(request.body, lower(request))


def as_svix(request, secret):
    fields = lower(request)
    svix.Webhook(secret).verify(
        request.body, {name.replace("webhook-", "svix-"): value for name, value in fields.items()})


def openssl(message, secret):
    """The HMAC-SHA256 that openssl computes, in base 16."""
    done = subprocess.run(["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:" + secret.encode().hex()],
                          input=message, capture_output=True, check=True)
    return done.stdout.decode().rpartition("= ")[2].strip()


def as_github(request, secret):
    assert lower(request)["x-hub-signature-256"] == "sha256=" + openssl(request.body, secret)


def as_stripe(request, secret):
    parts = [part.split("=", 1) for part in lower(request)["stripe-signature"].split(",")]
    seconds = dict(parts)["t"]
    assert is_fresh(seconds, time.time())
    assert openssl(seconds.encode() + b"." + request.body, secret) in [v for k, v in parts if k == "v1"]


def as_slack(request, secret):
    fields = lower(request)
    seconds = fields["x-slack-request-timestamp"]
    assert is_fresh(seconds, time.time())
    assert fields["x-slack-signature"] == "v0=" + openssl(b"v0:" + seconds.encode() + b":" + request.body, secret)


def as_own(request, secret):
    wanted = base64.b64encode(hmac.digest(secret.encode(), request.body, "sha256")).decode()
    assert "sha256:" + wanted in lower(request)["x-own-signature"].split(",")


WHSEC, WHSEC_OLD = "whsec_" + KEY, "whsec_" + OLD
SCHEMES = {
    "standardwebhooks": ({"type": "standardWebhooks", "secret": WHSEC}, standard, [WHSEC]),
    "svix": ({"type": "standardWebhooks", "secret": WHSEC, "previousSecret": WHSEC_OLD}, as_svix, [WHSEC, WHSEC_OLD]),
    "github": ({"type": "github", "secret": "it's a secret"}, as_github, ["it's a secret"]),
    "stripe": ({"type": "stripe", "secret": WHSEC, "previousSecret": "former-secret"}, as_stripe, [WHSEC, "former-secret"]),
    "slack": ({"type": "slack", "secret": "of slack"}, as_slack, ["of slack"]),
    "own": ({"type": "hmacSHA256", "secret": "present-secret", "previousSecret": "former-secret", "header": "X-Own-Signature",
             "prefix": "sha256:", "encoding": "base64"}, as_own, ["present-secret", "former-secret"]),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_the_first_and_the_fifth_attempt_verify(redial, receiver, name):
    content, verify, secrets = SCHEMES[name]
    target = receiver(lambda request: (200 if request.headers["redial-attempt"] == "5" else 503, {}, b""))
    service = redial()
    given = {"body": BODY, "method": "POST", "policy": {"backoff": {"initial": "10ms", "max": "300ms"}}}
    call = service.ended(service.submit(url=target.url + "/given", sign=content, **given))
    assert (call["state"], call["attemptCount"]) == ("succeeded", 5)
    stored = service("PUT", "/v1/credentials/hooks", content | {"origins": [target.url]})
    assert stored.status == 201, stored.body
    service.ended(service.submit(url=target.url + "/stored", sign="hooks", **given))
    assert len(target.requests) == 10
    for request in target.requests:
        for secret in secrets:
            verify(request, secret)
        request.body += b" "
        with pytest.raises(Exception):
            verify(request, secrets[0])
    shown = json.dumps(service("GET", f"/v1/calls/{call['id']}").json) + stored.body.decode()
    asked = service("GET", f"/v1/calls/{call['id']}/request").body.decode()
    for secret in secrets:
        assert secret not in shown + asked + service.log.read_text()


def test_a_retry_on_the_second_day_is_signed_anew(redial, receiver):
    """The receiver's tolerance is five minutes; the signature has the wall clock's time, and the message its id."""
    target = receiver(lambda request: (200 if request.headers["redial-attempt"] == "2" else 503, {}, b""))
    service = redial(clock=True)
    identity = service.submit(url=target.url, body=BODY, sign={"type": "standardWebhooks", "secret": WHSEC},
                              policy={"backoff": {"strategy": "constant", "initial": "26h", "max": "26h", "jitter": "none"}, "deadline": "72h"})
    first = target.next()
    standard(first, WHSEC)
    # Its answer has been heeded before a day passes.
    processes.wait_until(lambda: service.get(identity)["state"] == "scheduled", "it waits for its retry")
    service.advance(26 * 3600 + 60)
    second = target.next()
    assert service.ended(identity)["state"] == "succeeded"
    standard(second, WHSEC)
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == "msg_" + identity.removeprefix("call_")


def test_ed25519_verifies_with_the_public_key_alone(redial, receiver, tmp_path):
    key, public = tmp_path / "key.pem", tmp_path / "public.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ED25519", "-out", key], check=True)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    raw = subprocess.run(["openssl", "pkey", "-in", key, "-outform", "DER"], check=True, capture_output=True).stdout
    target, service = receiver(), redial()
    secret = "whsk_" + base64.b64encode(raw[-32:]).decode()
    service.ended(service.submit(url=target.url, body=BODY, sign={"type": "standardWebhooks", "secret": secret}))
    request = target.next()
    fields = lower(request)
    version, _, signature = fields["webhook-signature"].partition(",")
    assert version == "v1a"
    signed, text = tmp_path / "signature", tmp_path / "signed"
    signed.write_bytes(base64.b64decode(signature))
    for body, verdict in [(request.body, 0), (request.body + b" ", 1)]:
        text.write_bytes(f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + body)
        done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in", text,
                               "-sigfile", signed], capture_output=True)
        assert done.returncode == verdict, done.stderr


def test_a_large_body_is_signed_while_it_is_only_in_the_store(redial, receiver):
    target = receiver(lambda request: (200 if request.headers["redial-attempt"] == "2" else 503, {}, b""))
    service = redial("--max-body-bytes", "8388608")
    large = base64.b64encode(bytes(range(256)) * 12_000).decode()
    service.kill()
    service.start()
    call = service.ended(service.submit(
        url=target.url, method="PUT", bodyBase64=large, sign={"type": "github", "secret": "s"},
        policy={"backoff": {"initial": "10ms"}}))
    assert call["state"] == "succeeded"
    for request in target.requests:
        assert hashlib.sha256(request.body).digest() == hashlib.sha256(base64.b64decode(large)).digest()
        as_github(request, "s")


def test_a_target_signs_what_its_calls_do_not(redial, receiver):
    target, service = receiver(), redial()
    key = target.url.replace(":", "%3A").replace("/", "%2F")
    answer = service("PUT", f"/v1/targets/{key}", {"sign": {"type": "github", "secret": "of the target"}})
    assert answer.status == 200 and answer.json["overrides"]["sign"] == {"type": "github"}, answer.body
    service.kill()
    service.start()
    service.ended(service.submit(url=target.url, body=BODY))
    as_github(target.next(), "of the target")
    service.ended(service.submit(url=target.url, body=BODY, sign={"type": "slack", "secret": "of the call"}))
    request = target.next()
    as_slack(request, "of the call")
    assert request.headers["x-hub-signature-256"] is None
    # Whoever may name the target of a call gets nothing signed that goes elsewhere.
    other = receiver()
    service.ended(service.submit(url=other.url, target=target.url, body=BODY))
    assert other.next().headers["x-hub-signature-256"] is None
    named = service("PUT", "/v1/targets/orders", {"sign": {"type": "github", "secret": "of nobody"}})
    assert named.status == 422 and "name of a credential" in named.json["errors"][0]["detail"], named.body
    assert service("PATCH", f"/v1/targets/{key}", {"sign": None}).status == 200
    service.ended(service.submit(url=target.url, body=BODY))
    assert target.next().headers["x-hub-signature-256"] is None


@pytest.mark.parametrize("sign, pointer, clause", [
    ({"type": "bearer", "secret": "x"}, "/sign/secret", "is not a member of the type"),
    ({"type": "github", "secret": "x", "token": "x"}, "/sign/token", "is not a member of sign"),
    ({"type": "github"}, "/sign/secret", "is required"),
    ({"secret": "x"}, "/sign/type", "is required"),
    (7, "/sign", "must be the name of a credential, or an object"),
    ("nobody", "/sign", "does not exist"),
    ("token", "/sign", "does not sign"),
])
def test_a_signature_that_cannot_be_made_is_refused(redial, receiver, sign, pointer, clause):
    target, service = receiver(), redial()
    service("PUT", "/v1/credentials/token", {"type": "bearer", "token": "x", "origins": [target.url]})
    answer = service("POST", "/v1/calls", {"url": target.url, "sign": sign})
    assert answer.status == 422, answer.body
    assert any(f["pointer"] == pointer and clause in f["detail"] for f in answer.json["errors"]), answer.body


def test_no_secret_is_in_the_files_of_a_store_that_nobody_has_set_up(redial, receiver, tmp_path):
    """Nor of one whose process was killed: a key was made beside it, and the log said so, once."""
    target, service = receiver(), redial()
    secrets = [f"seen-nowhere-{n}" for n in range(3)]
    service("PUT", "/v1/credentials/token", {"type": "bearer", "token": secrets[0], "origins": [target.url]})
    key = target.url.replace(":", "%3A").replace("/", "%2F")
    assert service("PUT", f"/v1/targets/{key}", {"sign": {"type": "github", "secret": secrets[1]}}).status == 200
    waiting = service.submit(url=target.url, delay="1h", sign={"type": "github", "secret": secrets[2]})
    ended = service.submit(url=target.url, sign={"type": "github", "secret": secrets[2]})
    service.ended(ended)
    service.kill()
    service.start()
    assert service.get(waiting)["state"] == "scheduled"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "redial.db" for path in files)
    for path in files:
        content = path.read_bytes()
        assert not any(secret.encode() in content for secret in secrets), path
    keys = [path for path in files if "key" in path.name]
    assert len(keys) == 1 and keys[0].stat().st_mode & 0o777 == 0o600, files
    assert service.log.read_text().count("keyFileMade") == 1
    # The secrets work after the start.
    service.ended(service.submit(url=target.url + "/a", body="x"))
    as_github(target.requests[-1], secrets[1])


def test_settings_neither_sign_for_all_nor_show_secrets(redial, receiver):
    target = receiver()
    sign = {"sign": {"type": "github", "secret": "of the rule"}}
    for defaults in (sign, {"credential": "shop"}):
        refused = processes.run("serve", "--target-defaults", json.dumps(defaults))
        assert refused.returncode != 0 and "set for one target, or by a rule" in refused.stderr
    rules = ["--target-rules", json.dumps([{"match": "127.0.0.1", "settings": sign}])]
    assert "of the rule" not in processes.run("serve", *rules, "--print-config").stdout
    service = redial(*rules)
    service.ended(service.submit(url=target.url, body=BODY))
    as_github(target.next(), "of the rule")

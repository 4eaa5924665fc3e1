"""Secrets on PostgreSQL without a key to encrypt them: none is stored, and what would need one is refused."""

import json
import re

import pytest
from standardwebhooks import Webhook

from databases import plain_endpoint, store_plain
from processes import WEBHOOK_SECRET, run, wait_until
from test_contract import check
from test_encryption import key_file
from test_replicas import LASTING

NO_SECRET = {"REDIAL_WEBHOOK_SECRET": ""}
TOKEN = "known-token-of-a-chat"


def stored(cluster):
    """All that the database has, as text."""
    dump = cluster.run("pg_dump", "--data-only", "-h", cluster.folder, "-U", "postgres", "redial").stdout
    return dump + "".join(bytes.fromhex(word).decode(errors="replace") for word in re.findall(r"\\\\x((?:[0-9a-f]{2})+)", dump))


def refused(answer, method, path, other=""):
    check(answer, method, path)
    assert (answer.status, answer.json["code"]) == (409, "noEncryptionKey"), answer.body
    assert "encryptionKeyFile" in answer.json["detail"] and other in answer.json["detail"]


def test_no_secret_is_stored_and_what_needs_one_is_refused(instances, receiver):
    target = receiver()
    cluster, services = instances(2, *LASTING, env=NO_SECRET)
    hook = f"{target.url}/{TOKEN}"
    call = {"url": target.url, "method": "POST", "body": "x", "callback": {"url": hook}}
    for service in services:
        ended = service.submit(url=target.url, target=f"t{service.port}")
        assert service.ended(ended)["state"] == "succeeded"
        for path in ("/v1/calls", "/v1/calls?dryRun=true"):
            refused(service("POST", path, call), "post", "/v1/calls", "webhookSecret")
        # In a batch that one alone.
        batch = [{"url": target.url}, call]
        answer = service("POST", "/v1/calls/batch", batch)
        lines = service(
            "POST", "/v1/calls/batch", "\n".join(map(json.dumps, batch)).encode(), {"content-type": "application/x-ndjson"})
        for items in (answer.json["data"], [json.loads(line) for line in lines.body.splitlines()]):
            assert "call_" in json.dumps(items[0]) and "noEncryptionKey" in json.dumps(items[1]), items
        forwarded = service("POST", f"/v1/forward/{target.url}/", headers={"redial-callback": hook})
        refused(forwarded, "post", "/v1/forward/{url}", "webhookSecret")
        refused(service("POST", f"/v1/calls/{ended}/replay", {"callback": {"url": hook}}), "post", "/v1/calls/{id}/replay", "webhookSecret")
        refused(service("GET", "/v1/webhook-secret"), "get", "/v1/webhook-secret", "webhookSecret")
        refused(service("POST", "/v1/webhook-endpoints", {"url": hook}), "post", "/v1/webhook-endpoints")
        refused(service("PUT", "/v1/webhook-endpoints/whe_0", {"url": hook}), "put", "/v1/webhook-endpoints/{id}")
        refused(service("POST", "/v1/webhook-endpoints/whe_0/rotate-secret"), "post", "/v1/webhook-endpoints/{id}/rotate-secret")
        for to in ({"slack": hook}, {"teams": hook}, {"pagerDuty": "R0" + "a1" * 15}):
            refused(service("PUT", "/v1/alerts/oncall", {"to": to}), "put", "/v1/alerts/{name}")
        credential = {"type": "bearer", "token": TOKEN, "origins": [target.url]}
        refused(service("PUT", "/v1/credentials/shop", credential), "put", "/v1/credentials/{name}")
        signed = service("POST", "/v1/calls", {"url": target.url, "sign": {"type": "github", "secret": TOKEN}})
        assert signed.status == 422 and "encryptionKeyFile" in signed.body.decode()
    told = run("webhook-secret", "--store", cluster.url)
    assert told.returncode != 0 and "encryptionKeyFile" in told.stderr and "webhookSecret" in told.stderr, told
    told = run("webhook-secret", "--server", services[0].url)
    assert told.returncode != 0 and "encryptionKeyFile" in told.stderr, told
    assert cluster.query("SELECT 1 FROM redial.settings WHERE name = 'webhookSecret'", "redial") == []
    assert TOKEN not in stored(cluster)
    assert not re.search(r"\breadable", run("doctor", "--store", cluster.url).stdout)
    assert target.requests and not any(TOKEN in request.path for request in target.requests)


def test_a_secret_that_is_set_signs_callbacks_and_is_stored_nowhere(instances, receiver):
    target, hook = receiver(), receiver()
    cluster, (service,) = instances(1)
    service.submit(url=target.url, callback={"url": hook.url})
    request = hook.next()
    Webhook(WEBHOOK_SECRET).verify(request.body, dict(request.headers.items()))
    assert run("webhook-secret", "--server", service.url).stdout.strip() == WEBHOOK_SECRET
    assert WEBHOOK_SECRET.removeprefix("whsec_") not in stored(cluster)
    # It is taken away: what was accepted waits for it, and goes unsigned nowhere.
    waiting = service.submit(url=target.url, callback={"url": hook.url + "/later"}, delay="1h")
    assert service.terminate() == 0
    set_before, service.env = service.env, service.env | NO_SECRET
    service.start()
    assert service("POST", f"/v1/calls/{waiting}/retry").status == 200
    service.ended(waiting)

    def failed():
        webhooks = service("GET", "/v1/calls?kind=webhook&state=scheduled").json["data"]
        return [a for w in webhooks for a in service("GET", f"/v1/calls/{w['id']}/attempts").json["data"]]
    (attempt, *_) = wait_until(failed, "the webhook was tried")
    assert (attempt["outcome"], attempt["error"]["code"]) == ("localFault", "noWebhookSecret"), attempt
    assert "webhookSecret" in attempt["error"]["message"] and len(hook.requests) == 1
    (webhook,) = service("GET", "/v1/calls?kind=webhook&state=scheduled").json["data"]
    assert service.terminate() == 0
    service.env = set_before
    service.start()
    # It waits for its next try, unless that has just begun.
    service("POST", f"/v1/calls/{webhook['id']}/retry")
    request = hook.next()
    assert request.path == "/later"
    Webhook(WEBHOOK_SECRET).verify(request.body, dict(request.headers.items()))


def test_what_an_earlier_version_stored_goes_on_and_is_encrypted_with_a_key(instances, database, receiver, tmp_path):
    target, hook, chat = receiver(), receiver(), receiver()
    cluster = database()
    assert run("make-tables", "--store", cluster.url).returncode == 0
    secret = WEBHOOK_SECRET.replace("c2Vj", "b2xk")
    cluster.query(f"INSERT INTO redial.settings VALUES ('webhookSecret', '{secret}')", "redial")
    endpoint, own = plain_endpoint(cluster, hook.url + "/all", "call.succeeded")
    store_plain(cluster, "alert", "default/oncall", {
        "name": "oncall", "createdAt": 1_795_863_679_755_822, "channel": "slack", "address": f"{chat.url}/{TOKEN}"})
    _, (service,) = instances(1, on=cluster, env=NO_SECRET)
    service.submit(url=target.url, callback={"url": hook.url + "/one"})
    for request in (hook.next(), hook.next()):
        Webhook(own if request.path == "/all" else secret).verify(request.body, dict(request.headers.items()))
    assert service("PATCH", "/v1/alerts/oncall", {"silenced": True}).json["silence"]
    assert service("GET", "/v1/alerts/oncall").json["silence"]
    assert service("POST", "/v1/alerts/oncall/test").status == 202 and chat.next().path.endswith(TOKEN)
    rotate = f"/v1/webhook-endpoints/{endpoint}/rotate-secret"
    refused(service("POST", rotate), "post", "/v1/webhook-endpoints/{id}/rotate-secret")
    checked = run("doctor", "--store", cluster.url)
    assert checked.returncode == 0 and "3 secrets are from an earlier version" in checked.stdout, checked
    assert service.terminate() == 0
    service.env = service.env | key_file(tmp_path)
    service.start()
    assert service("GET", "/v1/webhook-secret").json["secret"] == secret
    assert service("GET", "/v1/alerts/oncall").json["silence"] and service("POST", rotate).status == 200
    dump = stored(cluster)
    # The messages that were sent before are calls, which `redial rekey` encrypts.
    assert not [word for word in (secret, own) if word.removeprefix("whsec_") in dump]


@pytest.mark.parametrize("command", ["migrate", "import"])
def test_secrets_are_not_moved_to_where_no_key_can_encrypt_them(redial, database, receiver, tmp_path, command):
    service, cluster, url = redial(), database(), receiver().url
    assert service("POST", "/v1/webhook-endpoints", {"url": url}).status == 201
    service.submit(url=url, delay="1h")
    assert service.terminate() == 0
    archive, source = tmp_path / "archive.jsonl", f"sqlite:{service.store}"
    assert run("export", "-o", archive, "--store", source).returncode == 0

    def move(env=None):
        if command == "migrate":
            return run("migrate", "--from", source, "--to", cluster.url, env=env)
        return run("import", "--store", cluster.url, archive, env=env)
    answer = move()
    assert answer.returncode == 1 and "signs webhooks was not stored" in answer.stderr, answer
    assert "encryptionKeyFile" in answer.stderr
    for table in ("live", "documents", "settings"):
        assert cluster.query(f"SELECT * FROM redial.{table}", "redial") == [], table
    # The key of the database is one of its own: the file's has it beside it.
    if command == "import":
        assert move(key_file(tmp_path)).returncode == 0
        assert cluster.query("SELECT count(*) FROM redial.live", "redial") == [["1"]]

"""What `redial call` can say about a call, and the forms of policies and labels in all commands."""

import datetime
import json
import re

from processes import run, wait_until

LATER = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")


def submitted(service, *arguments):
    """The call that the command submits, as the service shows it with its request."""
    answer = run("call", "--server", service.url, "--no-wait", *arguments)
    assert answer.returncode == 0, answer
    shown = service("GET", f"/v1/calls/{answer.stdout.strip()}?include=request")
    assert shown.status == 200, shown.body
    return shown.json


def test_order_priority_and_start_reach_the_service_also_with_a_replay(redial, receiver):
    peer = receiver(lambda request: (202, {}, b'{"id": "call_0000000000001"}'))
    options = ("--priority", "9", "--ordering-key", "customer-7", "--start-at", LATER, "--idempotency-key", "order-17")
    members = {"priority": 9, "orderingKey": "customer-7", "startAt": LATER}
    for command, operand, more in (("call", "http://127.0.0.1:1/", {"url": "http://127.0.0.1:1/"}),
                                   ("replay", "call_0000000000001", {})):
        answer = run(command, operand, *options, "--no-wait", "--server", peer.url)
        assert answer.returncode == 0, answer
        request = peer.next()
        assert json.loads(request.body) == members | more
        assert request.headers["idempotency-key"] == "order-17"
    service = redial()
    call = submitted(service, *options, "http://127.0.0.1:1/")
    assert call["state"] == "scheduled" and call["nextAttemptAt"].startswith(LATER[:-1]), call
    assert (call["priority"], call["orderingKey"]) == (9, "customer-7")
    again = run("replay", call["id"], "--priority", "0", "--delay", "1h", "--no-wait", "--server", service.url)
    assert again.returncode == 0 and service.get(again.stdout.strip())["replayOf"] == call["id"], again
    for wrong in ("10", "-1", "high"):
        answer = run("call", "--priority", wrong, "http://127.0.0.1:1/", "--server", service.url)
        assert answer.returncode == 2 and "from 0 to 9" in answer.stderr, answer
    both = run("call", "--delay", "1h", "--start-at", LATER, "http://127.0.0.1:1/", "--server", service.url)
    assert both.returncode == 4 and "startAt" in both.stderr, both


def test_each_option_of_a_call_reaches_the_service(receiver):
    peer = receiver(lambda request: (202, {}, b'{"id": "call_0000000000001"}'))
    # Each with what the descriptor has for it.
    options = {
        "--method": ("PUT", {"method": "PUT"}), "--header": ("A: b", {"headers": {"A": ["b"]}}), "--data": ("[1]", {"json": [1]}),
        "--not-idempotent": (None, {"idempotent": False}), "--policy": ("patient", {"policy": "patient"}),
        "--credential": ("shop", {"credential": "shop"}), "--sign": ("hooks", {"sign": "hooks"}), "--delay": ("1h", {"delay": "1h"}),
        "--start-at": (LATER, {"startAt": LATER}), "--target": ("a", {"target": "a"}), "--priority": ("7", {"priority": 7}),
        "--ordering-key": ("a", {"orderingKey": "a"}), "--on-repeat": ("answer", {"onRepeat": "answer"}), "--sensitive": (None, {"sensitive": True}),
        "--redact": ("/a", {"redact": ["/a"]}), "--description": ("a", {"description": "a"}), "--label": ("a=b", {"labels": {"a": "b"}}),
        "--callback": ("http://127.0.0.1:1/", {"callback": {"url": "http://127.0.0.1:1/"}})}
    others = {"--idempotency-key", "--no-wait", "--timeout", "--json", "--server", "--api-key", "--namespace"}
    known = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", run("call", "--help").stdout, re.M))
    assert known == options.keys() | others
    for name, (value, member) in options.items():
        given = [name] if value is None else [name, value]
        answer = run("call", *given, "--no-wait", "--server", peer.url, "http://127.0.0.1:1/")
        assert answer.returncode == 0, answer
        assert json.loads(peer.next().body) == {"url": "http://127.0.0.1:1/"} | member, name


def test_credentials_prove_and_sign_what_the_command_submits(redial, receiver):
    target, service = receiver(), redial()
    for name, credential in (("shop", {"type": "bearer", "token": "t"}), ("hooks", {"type": "github", "secret": "s"})):
        assert service("PUT", f"/v1/credentials/{name}", credential | {"origins": [target.url]}).status == 201
    call = submitted(service, "--credential", "shop", "--sign", "hooks", "-d", "{}", target.url)
    assert call["credential"] == "shop"
    service.ended(call["id"])
    again = run("replay", call["id"], "--credential", "shop", "--sign", "hooks", "--no-wait", "--server", service.url)
    assert again.returncode == 0, again
    for sent in target.next(), target.next():
        assert sent.headers["authorization"] == "Bearer t" and sent.headers["x-hub-signature-256"].startswith("sha256=")
    elsewhere = run("call", "--credential", "shop", "http://127.0.0.1:1/", "--server", service.url)
    assert elsewhere.returncode == 4 and "may not be sent to http://127.0.0.1:1" in elsewhere.stderr, elsewhere


def test_the_same_call_under_the_same_key_is_submitted_once(redial):
    service = redial()
    options = ("--idempotency-key", "order-17", "--start-at", LATER, "http://127.0.0.1:1/")
    first, second = submitted(service, *options), submitted(service, *options)
    assert first["id"] == second["id"]
    assert first["id"] in run("list", "--idempotency-key", "order-17", "--server", service.url).stdout
    service("POST", f"/v1/calls/{first['id']}/cancel")
    wait_until(lambda: service.get(first["id"])["state"] == "cancelled", "the call is cancelled")
    again = run("call", "--timeout", "1s", *options, "--server", service.url)
    assert again.stdout.startswith(f"runs again: {first['id']} was submitted before"), again
    again = run("call", "--timeout", "1s", *options, "--server", service.url)
    assert again.stdout.startswith(f"repeated: {first['id']} was submitted before"), again
    reused = run("call", "--no-wait", "--priority", "9", *options, "--server", service.url)
    assert reused.returncode == 4 and 'under the key "order-17"' in reused.stderr, reused


def test_a_policy_is_json_or_the_name_of_a_stored_one(redial):
    service = redial()
    assert service("PUT", "/v1/policies/patient", {"maxAttempts": 7}).status == 201
    for policy, most, name in (("patient", 7, "patient@1"), ("patient@1", 7, "patient@1"), ('"patient"', 7, "patient@1"),
                               ('{"maxAttempts": 3}', 3, None)):
        call = submitted(service, "--policy", policy, "--delay", "1h", "http://127.0.0.1:1/")
        assert (call["maxAttempts"], call["policy"]) == (most, name), policy
    for wrong in ('{"maxAttempts": ', '"patient', "", "[1"):
        answer = run("call", "--policy", wrong, "http://127.0.0.1:1/", "--server", service.url)
        assert answer.returncode == 2 and "neither JSON nor the name" in answer.stderr, answer
    unknown = run("call", "--policy", "hasty", "http://127.0.0.1:1/", "--server", service.url)
    assert unknown.returncode == 4 and '"hasty", which does not exist' in unknown.stderr, unknown


def test_a_label_has_the_same_form_in_every_command(redial, receiver):
    service, target = redial(), receiver()
    url = ("--server", service.url)
    call = submitted(service, "--label", "team=a", "--label", "link=http://x/?q=1", "--label", "sum=1:2", target.url)
    assert call["labels"] == {"team": "a", "link": "http://x/?q=1", "sum": "1:2"}
    service.ended(call["id"])
    for label in ("team=a", "link=http://x/?q=1", "sum=1:2"):
        assert call["id"] in run("list", "--state", "succeeded", "--label", label, *url).stdout, label
        counted = run("ops", "create", "retry", "--dry-run", "--state", "succeeded", "--label", label, "--json", *url)
        assert json.loads(counted.stdout)["matched"] == 1, label
    for other in (["team=b"], ["team=a", "sum=3"]):
        labels = [part for label in other for part in ("--label", label)]
        assert call["id"] not in run("list", *labels, *url).stdout
    assert call["id"] in run("list", "--label", "team=a", "--label", "sum=1:2", *url).stdout
    named = service("POST", "/v1/calls", {"url": target.url, "labels": {"a=b": "c"}})
    assert named.json["errors"][0]["detail"] == "must have no = in its name: a label is written as NAME=VALUE"
    for command in (["list"], ["events"], ["call", target.url], ["replay", call["id"]], ["ops", "create", "retry"]):
        for text in ("team", "team:a", "=a"):
            answer = run(*command, "--label", text, *url)
            assert answer.returncode == 2 and f'"{text}" is not NAME=VALUE' in answer.stderr, (command, answer)
        assert "--label NAME=VALUE" in run(command[0], "--help").stdout, command

"""Members of JSON bodies that nobody sees, and everything around them that people do see."""

import json

from processes import run
from test_events import Stream

CARD, PIN = "4111-1111", "pin-0815"
QUICK = {"maxAttempts": 2, "backoff": {"strategy": "constant", "initial": "20ms", "jitter": "none"},
         "retryOn": {"statuses": ["500"]}}
REQUEST = '{"order": 7, "card": {"number": "%s", "n\\u0075mber": "%s"}, "items": [{"pin": "%s"}, {"pin": "%s", "n": 1}]}' % (
    CARD, CARD, PIN, PIN)
SHOWN = ('{"order": 7, "card": {"number": "[redacted]", "n\\u0075mber": "[redacted]"}, '
         '"items": [{"pin": "[redacted]"}, {"pin": "[redacted]", "n": 1}]}')
REDACT = ["/card/number", "/items/*/pin"]


def shows(value):
    text = value if isinstance(value, str) else value.body.decode()
    return CARD in text or PIN in text


def test_members_that_are_named_reach_the_target_alone(redial, receiver):
    answer = json.dumps({"message": "no such card", "card": {"number": CARD}, "items": [{"pin": PIN}]}).encode()
    target = receiver(lambda request: (500, {"content-type": "text/plain"}, answer))
    hook = receiver()
    service = redial("--log-level", "debug")
    events = Stream(service)
    identity = service.submit(url=target.url, body=REQUEST, redact=REDACT, policy=QUICK, callback={"url": hook.url})
    call = service.ended(identity)
    assert [r.body.decode() for r in target.requests] == [REQUEST] * 2
    hidden = {"message": "no such card", "card": {"number": "[redacted]"}, "items": [{"pin": "[redacted]"}]}
    assert json.loads(call["response"]["body"]) == hidden and call["redact"] == REDACT
    shown = service("GET", f"/v1/calls/{identity}?include=request")
    assert shown.json["request"]["body"] == SHOWN and shown.json["request"]["withheld"] is None
    attempts = service("GET", f"/v1/calls/{identity}/attempts?include=body")
    assert [json.loads(a["response"]["body"]) for a in attempts.json["data"]] == [hidden] * 2
    webhook = hook.next()
    assert json.loads(json.loads(webhook.body)["data"]["response"]["body"]) == hidden
    issue = service("GET", f"/v1/issues/{call['issue']}")
    assert issue.json["error"] == "500 no such card"
    events.until("call.failed")
    command = [run(*words, "--server", service.url).stdout
               for words in (["get", identity, "--request"], ["get", identity, "--curl"], ["attempts", identity, "--body"])]
    assert "[redacted]" in command[0]
    again = service("POST", f"/v1/calls/{identity}/retry")
    service.ended(identity)
    assert [r.body.decode() for r in target.requests] == [REQUEST] * 4, "what is stored stays as it is"
    replay = service("POST", f"/v1/calls/{identity}/replay", {"redact": ["/order"]})
    assert replay.json["redact"] == REDACT + ["/order"], "a replay hides what its original hides"
    for one in (shown, attempts, issue, again, replay, webhook.body.decode(), "\n".join(events.lines), *command):
        assert not shows(one), one
    service.terminate()
    assert not shows(service.log.read_text())


def test_a_member_with_the_error_is_hidden_in_the_issue_too(redial, receiver):
    target = receiver(lambda request: (500, {}, json.dumps({"message": f"card {CARD} is unknown"}).encode()))
    service = redial()
    call = service.ended(service.submit(url=target.url, redact=["/message"], policy=QUICK))
    issue = service("GET", f"/v1/issues/{call['issue']}")
    assert issue.json["error"] == "500 [redacted]" and not shows(issue)


def test_a_body_in_which_nobody_can_tell_what_to_hide_is_withheld(redial, receiver):
    bodies = [f'{{"card": {{"number": "{CARD}"', f"number={CARD}", f'{{"a": 1}} {{"card": {{"number": "{CARD}"}}}}']
    target = receiver(lambda request: (200, {}, request.body))
    service = redial()
    for body in bodies:
        call = service.ended(service.submit(url=target.url, body=body, redact=REDACT))
        shown = service("GET", f"/v1/calls/{call['id']}?include=request")
        request, response = shown.json["request"], shown.json["response"]
        assert (request["body"], request["withheld"], request["erasedAt"]) == (None, "redact", None)
        assert (response["body"], response["withheld"]) == ("", "redact") and not shows(shown)
        assert "not shown" in run("get", call["id"], "--request", "--server", service.url).stdout
    # A whole one of which only a part is kept.
    whole = json.dumps({"card": {"number": CARD}, "more": "x" * 500})
    call = service.ended(service.submit(url=target.url, body=whole, redact=REDACT, capture={"maxBytes": 100}))
    assert call["response"]["truncated"] and call["response"]["withheld"] == "redact"
    assert "withheld" not in service.ended(service.submit(url=target.url, redact=REDACT))["response"], "an empty one hides nothing"


def test_a_target_and_a_rule_name_members_too(redial, receiver):
    target = receiver(lambda request: (200, {}, request.body))
    rules = [{"match": "127.0.0.1", "settings": {"redact": ["/b"]}}]
    service = redial("--target-rules", json.dumps(rules))
    body = {"a": 1, "b": 2, "c": 3}
    call = service.ended(service.submit(url=target.url, json=body, redact=["/a"]))
    assert call["redact"] == ["/a", "/b"]
    assert json.loads(call["response"]["body"]) == {"a": "[redacted]", "b": "[redacted]", "c": 3}
    key = call["target"].replace("/", "%2F")
    assert service("PUT", f"/v1/targets/{key}", {"redact": ["/c"]}).json["settings"]["redact"] == ["/c"]
    assert service.ended(service.submit(url=target.url, json=body))["redact"] == ["/c"]
    assert service.get(call["id"])["redact"] == ["/a", "/b"]
    for wrong in ["card"], ["/a~2"], ["/" + "x" * 255], [f"/{n}" for n in range(21)], "/a":
        refused = service("POST", "/v1/calls", {"url": target.url, "redact": wrong})
        assert refused.status == 422 and refused.json["errors"][0]["pointer"].startswith("/redact"), refused.body
        assert service("PUT", f"/v1/targets/{key}", {"redact": wrong}).status == 422


def test_the_command_says_it_too(redial, receiver):
    target = receiver()
    service = redial()
    done = run("call", target.url, "--data", '{"a": 1}', "--sensitive", "--redact", "/a", "--redact", "/b", "--json",
               "--server", service.url)
    call = json.loads(done.stdout)
    assert (call["sensitive"], call["redact"], call["state"]) == (True, ["/a", "/b"], "succeeded"), done.stderr
    assert json.loads(target.requests[0].body) == {"a": 1}
    shown = run("get", call["id"], "--request", "--server", service.url).stdout
    assert "sensitive: its payloads are not shown" in shown and "erased" in shown

"""Alerts without Prometheus: one message when an issue begins and one at its end, whatever happens to the service."""

import contextlib
import json
import re
import sqlite3

import pytest

from processes import HASTY, Constants, breaker, free_port, run, wait_until
from test_events import FAST
from test_replica_forwarding import owners
from test_replica_operations import leader
from test_replicas import LASTING
from test_webhook_endpoints import verified
from test_webhook_payloads import schema_of

SOON = Constants(alertInterval="20ms")
ONCE = {"maxAttempts": 1}


def put(service, to, name="oncall", **more):
    answer = service("PUT", f"/v1/alerts/{name}", {"to": to} | more)
    assert answer.status in (200, 201), answer.body
    return answer.json


def issues(service, query="?state=open"):
    answer = service("GET", f"/v1/issues{query}")
    assert answer.status == 200, answer.body
    assert answer.json["nextCursor"] is None
    return answer.json["data"]


def messages(service, name="oncall"):
    """What an alert has sent to a chat, the newest first."""
    return service("GET", f"/v1/calls?kind=webhook&target=webhook:alert:{name}").json["data"]


def held(service, target):
    """The target is held, and a call waits for it."""
    assert service("POST", f"/v1/targets/{target}/pause").status == 200
    return service.submit(url="http://127.0.0.1:1/", target=target)


def over(service):
    """The message that it is over; its time passes at once."""
    def ended():
        service.advance(20)
        newest = next(iter(messages(service)), None)
        return newest and newest["labels"]["event"] == "alert.ended" and newest
    return wait_until(ended, "it is over")


def test_an_outage_is_reported_once_at_each_end_whenever_the_service_dies(redial, receiver):
    chat, port = receiver(), free_port()
    service = redial(SOON, *breaker(**HASTY), clock=True)
    shown = put(service, {"slack": f"{chat.url}/services/secret"}, kinds=["down"], after="2m")
    assert shown["to"] == {"slack": f"{chat.url}/…"} and shown["after"] == "2m" and shown["problem"] is None
    calls = [service.submit(url=f"http://127.0.0.1:{port}/", target="payments") for _ in range(3)]
    wait_until(lambda: service.target("payments")["state"] == "down", "it is down")
    service.advance(100)
    assert messages(service) == []
    # What is true counts from its beginning, also after a crash.
    service.kill()
    service.start()
    service.advance(30)
    text = json.loads(chat.next().body)["text"]
    # The calls may be tried just then.
    assert re.match(r":red_circle: \*payments is down for 2m\w*: connection refused\.( (1 call waits|[23] calls wait)\.)?\*", text)
    assert text.endswith("More: `redial targets payments`")
    [issue] = issues(service)
    assert (issue["kind"], issue["target"], issue["error"]) == ("down", "payments", "connectionRefused")
    assert issue["calls"] in (0, 1, 2, 3) and issue["id"] in text
    # Like every call it would be sent again if its attempt were cut off.
    sent = wait_until(lambda: [call for call in messages(service) if call["state"] == "succeeded"], "it is delivered")[0]
    assert sent["labels"].keys() == {"event", "alert", "notice"} and sent["labels"]["event"] == "alert.opened"
    for _ in range(2):
        service.kill()
        service.start()
        service.advance(60)
        wait_until(lambda: service.target("payments") and service.target("payments")["state"] == "down", "it is down")
    # The target comes back, and so do its calls.
    receiver(port=port)
    for call in calls:
        wait_until(lambda: service.advance(30) or service.get(call)["state"] == "succeeded", "it is delivered")
    ended = over(service)
    text = json.loads(chat.next().body)["text"]
    assert text.startswith(":large_green_circle: *Over after ") and "payments works again" in text
    assert ended["labels"]["notice"] == sent["labels"]["notice"]
    assert len(messages(service)) == len(chat.requests) == 2 and issues(service, "?state=open,acknowledged") == []


def test_failed_calls_are_reported_once_for_each_error(redial, receiver):
    chat, target = receiver(), receiver(lambda request: (404, {}, b"no order 17"))
    service = redial(SOON, clock=True)
    put(service, {"teams": f"{chat.url}/workflow"}, kinds=["failed"], after="0s")
    # An attempt that fails is no failed call.
    flaky = iter([503, 503])
    retried = receiver(lambda request: (next(flaky, 200), {}, b""))
    assert service.ended(service.submit(url=retried.url, policy=FAST))["state"] == "succeeded"
    for _ in range(5):
        service.ended(service.submit(url=target.url, target="orders", policy=ONCE))
    card = json.loads(chat.next().body)["attachments"][0]["content"]
    assert card["type"] == "AdaptiveCard" and "404 no order {n}" in card["body"][0]["text"]
    [issue] = issues(service)
    assert f"redial issues show {issue['id']}" in card["body"][1]["text"].replace("\\", "")
    # Somebody is done with it: it is over.
    assert service("PATCH", f"/v1/issues/{issue['id']}", {"state": "resolved"}).status == 200
    over(service)
    assert "Over after " in json.loads(chat.next().body)["attachments"][0]["content"]["body"][0]["text"]
    assert len(chat.requests) == 2


def test_pager_duty_sees_one_alert_from_its_trigger_to_its_end(redial, receiver):
    pager = receiver(lambda request: (202, {}, b"{}"))
    service = redial(SOON, clock=True)
    shown = put(service, {"pagerDuty": "R0123", "url": f"{pager.url}/v2/enqueue"}, kinds=["held"], after="0s")
    assert shown["to"] == {"pagerDuty": "…", "url": f"{pager.url}/v2/enqueue"}
    held(service, "orders")
    events = [json.loads(pager.next().body)]
    [issue] = issues(service)
    words = {"state": "acknowledged", "until": "8h", "by": "ada", "reason": "moved"}
    known = service("PATCH", f"/v1/issues/{issue['id']}", words).json
    assert known["state"] == "acknowledged" and known["mark"]["by"] == "ada"
    assert service("GET", f"/v1/issues/{issue['id']}").json["mark"] == known["mark"]
    events.append(json.loads(pager.next().body))
    # Nobody is notified again until the acknowledgement ends, and then once more.
    service.advance(8 * 3600 + 60)
    events.append(json.loads(pager.next().body))
    assert service("POST", "/v1/targets/orders/resume").status == 200
    over(service)
    events.append(json.loads(pager.next().body))
    assert [event["event_action"] for event in events] == ["trigger", "acknowledge", "trigger", "resolve"]
    assert {event["dedup_key"] for event in events} == {call["labels"]["notice"] for call in messages(service)}
    assert len(messages(service)) == 4
    assert {event["routing_key"] for event in events} == {"R0123"}
    assert events[2]["payload"]["summary"].startswith("Still open after 8h1m: Somebody has paused orders.")
    # What somebody knows of is not reported when it comes again.
    assert service("PATCH", f"/v1/issues/{issue['id']}", words).status == 200
    held(service, "orders")
    held(service, "billing")
    assert "billing" in json.loads(pager.next().body)["payload"]["summary"]
    assert len(messages(service)) == len(pager.requests) == 5


def test_pager_duty_is_notified_when_all_of_several_are_acknowledged(redial, receiver):
    pager = receiver(lambda request: (202, {}, b"{}"))
    service = redial(SOON)
    for number in range(6):
        held(service, f"t{number}")
    put(service, {"pagerDuty": "R0123", "url": f"{pager.url}/v2/enqueue"}, kinds=["held"], after="0s")
    trigger = json.loads(pager.next().body)
    found = issues(service)
    assert len(found) == 6 and trigger["event_action"] == "trigger"
    for issue in found:
        assert len(pager.requests) == 1
        assert service("PATCH", f"/v1/issues/{issue['id']}", {"state": "acknowledged"}).status == 200
    event = json.loads(pager.next().body)
    assert (event["event_action"], event["dedup_key"]) == ("acknowledge", trigger["dedup_key"])


def test_a_silence_keeps_messages_back_until_it_ends(redial, receiver):
    hook = receiver()
    service = redial(SOON, clock=True)
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": hook.url, "events": ["call.failed"]}).json
    put(service, {"endpoint": endpoint["id"]}, kinds=["held"], after="0s")
    silenced = service("PATCH", "/v1/alerts/oncall", {"silenced": True, "until": "2h", "by": "ada"}).json
    assert silenced["silence"]["by"] == "ada"
    held(service, "orders")
    assert [one["kind"] for one in issues(service)] == ["held"]
    service.advance(60)
    assert messages(service) == []
    service.advance(2 * 3600)
    request = hook.next()
    verified(request, endpoint["secret"])
    event = json.loads(request.body)
    schema_of("AlertTold").validate(event)
    assert event["type"] == "alert.opened" and event["data"]["issue"] == issues(service)[0]["id"] and event["data"]["notifiedAt"]
    assert service("GET", "/v1/alerts/oncall").json["silence"] is None
    # Without its endpoint it can notify nobody, and says so.
    assert service("DELETE", f"/v1/webhook-endpoints/{endpoint['id']}").status == 204
    assert endpoint["id"] in service("GET", "/v1/alerts/oncall").json["problem"]
    assert service("POST", "/v1/alerts/oncall/test").status == 409
    answer = service("PUT", "/v1/alerts/other", {"to": {"endpoint": endpoint["id"]}})
    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/to/endpoint")
    # Where it leads now, the end is sent.
    put(service, {"slack": hook.url}, kinds=["held"], after="0s")
    assert service("POST", "/v1/targets/orders/resume").status == 200
    over(service)
    assert ":large_green_circle:" in json.loads(hook.next().body)["text"]
    assert service("DELETE", "/v1/alerts/oncall").status == 204


@pytest.mark.usefixtures("encrypted")
def test_instances_tell_once_whoever_runs_the_calls(instances, receiver):
    chat, target = receiver(), receiver()
    cluster, services = instances(2, *LASTING, SOON)
    names = [own[0] for own in owners(cluster, services, target.url)]
    put(services[1], {"slack": chat.url}, kinds=["held"], after="0s")
    for name in names:
        held(services[0], name)
    wait_until(lambda: len(chat.requests) == 2, "both are sent")
    for service in services:
        assert sorted(one["target"] for one in issues(service)) == sorted(names)
    # Like every call it would be sent again if its attempt were cut off.
    wait_until(lambda: [sent["state"] for sent in messages(services[1])] == ["succeeded"] * 2, "they are delivered")
    # One dies, and the other takes its targets over: it finds what was sent, and sends the ends alone.
    services[0].kill()
    for name in names:
        wait_until(lambda: services[1]("POST", f"/v1/targets/{name}/resume").status == 200, "it is taken over", 180)
    # It has to be over for half a minute.
    wait_until(lambda: len(chat.requests) == 4, "both are over", 180)
    assert issues(services[1]) == []
    texts = [json.loads(request.body)["text"] for request in chat.requests]
    assert [text.split()[0] for text in texts] == [":red_circle:"] * 2 + [":large_green_circle:"] * 2
    assert len({sent["labels"]["notice"] for sent in messages(services[1])}) == 2


@pytest.mark.usefixtures("encrypted")
def test_what_begins_at_several_instances_is_one_message(instances, receiver):
    chat = receiver()
    _, services = instances(3, *LASTING, Constants(alertInterval="1s"))
    for number in range(60):
        held(services[number % 3], f"t{number:02}")
    put(services[1], {"slack": chat.url}, kinds=["held"], after="0s")
    assert "*60 targets are held, and calls wait for them: paused. Among them: t00, t01, t02" in json.loads(chat.next().body)["text"]
    held(services[2], "later")
    assert "Somebody has paused later." in json.loads(chat.next().body)["text"]
    for service in services:
        assert len(issues(service)) == 61
    # It is over when all are resumed, whoever runs their calls.
    for number in range(60):
        assert services[number % 2]("POST", f"/v1/targets/t{number:02}/resume").status == 200
    assert "none of them is there any more" in json.loads(chat.next(90).body)["text"] and len(chat.requests) == 3


@pytest.mark.usefixtures("encrypted")
def test_an_instance_that_the_leader_does_not_reach_tells_of_its_own_targets(instances, receiver):
    chat, target = receiver(), receiver()
    cluster, services = instances(1, *LASTING, SOON)
    cluster, more = instances(1, *LASTING, SOON, "--peer-url", "http://127.0.0.1:1", on=cluster)
    lone = more[0]
    assert leader(services[0]) == services[0].url
    put(services[0], {"slack": chat.url}, kinds=["held"], after="0s")
    for number in range(20):
        lone.ended(lone.submit(url=target.url, target=f"target{number}"))
    own = [name for [name] in cluster.query(
        """SELECT t.key FROM redial.targets t JOIN redial.leases l ON l.shard = t.shard JOIN redial.sessions s ON s.id = l.owner
           WHERE t.key LIKE 'target%' AND s.address = 'http://127.0.0.1:1'""", "redial")]
    assert own
    for name in own:
        held(lone, name)
    texts = [json.loads(chat.next().body)["text"] for _ in own]
    assert sorted(re.search("paused ([a-z0-9]+)", text)[1] for text in texts) == sorted(own)


def test_the_command_makes_and_silences_alerts(redial, receiver, tmp_path):
    chat = receiver()
    service = redial(SOON)
    (tmp_path / "url").write_text(f"{chat.url}/services/secret\n")

    def type(*words):
        done = run("alerts", *words, "--server", service.url)
        assert done.returncode == 0, done
        return done.stdout
    assert type() == "There is no alert; `redial alerts set NAME --slack URL` makes one.\n"
    shown = type("set", "oncall", "--slack", f"@{tmp_path / 'url'}", "--after", "0s", "--kind", "held,late")
    assert shown.splitlines()[:2] == [f"oncall  to slack {chat.url}/…", "kinds: held, late"]
    assert f"slack {chat.url}/…" in type() and "secret" not in type()
    assert f"POST {chat.url}/\n" in type("test", "oncall")
    assert "A test of the alert oncall" in json.loads(chat.next().body)["text"]
    # The destination stays.
    assert "after: 1m" in type("set", "oncall", "--after", "1m") and type("set", "oncall", "--after", "0s")
    assert "by ada: quiet" in type("silence", "oncall", "--until", "1h", "--by", "ada", "--reason", "quiet")
    assert "silent" not in type("unsilence", "oncall")
    held(service, "orders")
    assert "Somebody has paused orders" in json.loads(chat.next().body)["text"]
    assert "redial list --kind webhook --target webhook:alert:oncall\n" in type("show", "oncall")
    assert type("delete", "oncall") == "oncall is deleted\n"
    done = run("alerts", "show", "oncall", "--server", service.url)
    assert done.returncode == 4 and "No alert has the name oncall" in done.stderr


@pytest.mark.parametrize("channel", ["slack", "teams", "pagerDuty"])
def test_where_messages_go_is_in_no_call_and_in_no_file(redial, receiver, tmp_path, channel):
    secret, path = "T0-4711-swordfish", "/services/T0-4711-swordfish"
    # It says what it got, as a proxy's error page does.
    chat = receiver(lambda request: (400, {}, f"no {request.path} {request.body.decode()}".encode()))
    service = redial(SOON)
    to = {channel: secret, "url": f"{chat.url}/v2/enqueue"} if channel == "pagerDuty" else {channel: f"{chat.url}{path}"}
    put(service, to, kinds=["held"], after="0s")
    held(service, "a")
    got = chat.next()
    assert got.path == ("/v2/enqueue" if channel == "pagerDuty" else path)
    if channel == "pagerDuty":
        assert json.loads(got.body)["routing_key"] == secret
    [sent] = messages(service)
    test = service("POST", "/v1/alerts/oncall/test").json
    for call in [sent["id"], test["id"]]:
        path = f"/v1/calls/{call}/attempts?include=body"
        [attempt, *_] = wait_until(lambda: service("GET", path).json["data"], "it is tried")
        assert attempt["status"] == 400 and "REDACTED" in attempt["response"]["body"], attempt
        shown = service("GET", f"/v1/calls/{call}?include=request")
        assert shown.json["url"] == f"{chat.url}/"
        assert secret.encode() not in shown.body + service("GET", path).body
    backup, export = tmp_path / "backup.db", tmp_path / "export"
    assert run("backup", "--store", f"sqlite:{service.store}", str(backup)).returncode == 0
    service.end()
    export.write_text(run("export", "--store", f"sqlite:{service.store}").stdout)
    # An archive has the documents themselves.
    export.write_text("".join(line for line in export.read_text().splitlines(True) if '"document":"alert"' not in line))
    files = [path for path in {*service.store.parent.iterdir(), *tmp_path.rglob("*")} if path.is_file()]
    assert len(files) > 3 and backup in files and export.stat().st_size > 1000
    assert [str(path) for path in files if secret.encode() in path.read_bytes()] == []


def test_a_message_goes_where_its_alert_leads_now_and_nowhere_if_that_is_gone(redial, receiver):
    old, new = receiver(lambda request: (503, {}, b"")), receiver()
    service = redial(SOON)
    put(service, {"slack": f"{old.url}/old"}, kinds=["held"], after="0s")
    held(service, "a")
    old.next()
    put(service, {"slack": f"{new.url}/new"}, kinds=["held"], after="0s")
    [sent] = messages(service)
    assert service("POST", f"/v1/calls/{sent['id']}/retry").status == 200
    assert service.ended(sent["id"])["state"] == "succeeded" and new.next().path == "/new"
    # In the shape of where it goes, whatever that was when it was made.
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": f"{new.url}/hook"}).json
    for to, member in (({"pagerDuty": "R0", "url": f"{new.url}/pager"}, "routing_key"), ({"teams": f"{new.url}/teams"}, "attachments"),
                       ({"endpoint": endpoint["id"]}, "type")):
        put(service, to, kinds=["held"], after="0s")
        assert service("POST", f"/v1/calls/{sent['id']}/retry").status == 200
        assert member in json.loads(new.next().body), to
        service.ended(sent["id"])
    put(service, {"slack": f"{new.url}/new"}, kinds=["held"], after="0s")
    assert service("DELETE", "/v1/alerts/oncall").status == 204
    assert service("POST", f"/v1/calls/{sent['id']}/retry").status == 200
    def last():
        attempt = service("GET", f"/v1/calls/{sent['id']}/attempts").json["data"][-1]
        return attempt["outcome"] == "localFault" and attempt
    assert wait_until(last, "it is tried")["error"]["code"] == "alertGone"
    # Another one of the same name does not get it.
    put(service, {"slack": f"{new.url}/others"}, kinds=["stuck"], after="0s")
    count = len(service("GET", f"/v1/calls/{sent['id']}/attempts").json["data"])
    assert service("POST", f"/v1/calls/{sent['id']}/retry").status in (200, 409)
    attempts = wait_until(lambda: service("GET", f"/v1/calls/{sent['id']}/attempts").json["data"][count:], "it is tried")
    assert attempts[-1]["error"]["code"] == "alertGone"
    assert len(new.requests) == 4


def test_many_targets_that_are_held_at_once_are_one_message(redial, receiver):
    chat, service = receiver(), redial(Constants(alertInterval="1s"))
    for number in range(200):
        held(service, f"t{number:03}")
    put(service, {"slack": f"{chat.url}/x"}, kinds=["held"], after="0s")
    text = json.loads(chat.next().body)["text"]
    assert "*200 targets are held, and calls wait for them: paused. Among them: t0" in text
    # No other message goes out before that of what comes later.
    held(service, "later")
    assert "Somebody has paused later." in json.loads(chat.next().body)["text"]
    assert len(chat.requests) == len(messages(service)) == 2 and len(issues(service, "?limit=1000")) == 201


def test_a_target_that_says_something_else_each_time_mutes_no_alert(redial, receiver):
    words = ["".join(chr(97 + (number // 26 ** place) % 26) for place in range(4)) for number in range(1200)]
    chatty = receiver(lambda request: (404, {}, b"no such thing: " + request.body))
    other, chat = receiver(lambda request: (404, {}, b"another error")), receiver()
    service = redial(SOON)
    for start in range(0, 1200, 400):
        batch = [{"url": chatty.url, "target": "chatty", "body": word, "method": "POST", "policy": ONCE} for word in words[start:start + 400]]
        assert service("POST", "/v1/calls/batch", batch).status == 200

    def failed():
        issues = service("GET", "/v1/issues?limit=200").json
        return sum(one["calls"] for one in issues["data"]) == 1200 and issues
    issues = wait_until(failed, "they have failed")
    assert issues["isComplete"] and len(issues["data"]) == 51, len(issues["data"])
    others = [one for one in issues["data"] if one["error"] == "other errors of this target"]
    assert [one["calls"] for one in others] == [1150]
    shown = service("GET", f"/v1/issues/{others[0]['id']}")
    assert shown.status == 200 and shown.json["calls"] == 1150
    put(service, {"slack": f"{chat.url}/x"}, kinds=["failed"], after="0s")
    service.ended(service.submit(url=other.url, target="other", policy=ONCE))
    assert wait_until(lambda: [r for r in chat.requests if b"another error" in r.body or b"groups of calls" in r.body], "it is told")


def test_an_alert_of_an_earlier_version_watches_for_the_same_and_says_what_is_gone(redial, receiver):
    service, target = redial(), receiver()
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": target.url, "events": ["call.failed"]}).json["id"]
    service.terminate()
    stored = {"namespace": "default", "createdAt": 1, "channel": "endpoint", "address": endpoint}
    with contextlib.closing(sqlite3.connect(service.store)) as database, database:
        for name, words in (("oncall", ["deadlinesMissed"]), ("old", ["targetDown", "deadlinesMissed", "callsFailed"])):
            document = json.dumps(stored | {"name": name, "conditions": words}).encode()
            database.execute("INSERT INTO documents (kind, id, content) VALUES ('alert', ?, ?)", (f"default/{name}", document))
    service.start()
    shown = service("GET", "/v1/alerts/oncall").json
    assert shown["kinds"] == [] and "watches for nothing" in shown["problem"], shown
    shown = service("GET", "/v1/alerts/old").json
    assert shown["kinds"] == ["down", "failed"] and shown["problem"] is None, shown
    assert put(service, {"endpoint": endpoint}, kinds=["down"])["problem"] is None

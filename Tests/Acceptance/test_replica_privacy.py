"""What a target hides by its own settings is hidden whichever instance accepts the call, on PostgreSQL."""

import json
from urllib.parse import quote

import pytest

from processes import run, standing_still, wait_until
from test_events import Stream
from test_sensitive import of_store

# Both instances run some of them.
TARGETS = [f"t{number}" for number in range(4)]
SECRET, FIELD = "swordfish-4711", "catfish-4711"
SETTINGS = {"sensitive": {"sensitive": True}, "redact": {"redact": ["/card"]}}
QUICK = {"maxAttempts": 1, "retryOn": {"statuses": []}}


def echo(request):
    return 400, {"content-type": "application/json", "x-reply": FIELD}, request.body or b"{}"


def descriptor(url, target, kind, **more):
    """A call of its target; one of another kind than `plain` is never forwarded to the owner of its target."""
    body = {"card": SECRET, "more": "x" * 100_000 if kind == "large" else "y"}
    key = {"orderingKey": "a"} if kind == "ordered" else {}
    return {"url": f"{url}/pay", "json": body, "target": target, "policy": QUICK, **key, **more}


def configure(services, settings):
    """At each instance: who passes a change on to the owner of the target knows it when it answers, as the owner does."""
    for target in TARGETS:
        for service in services:
            answer = service("PUT", f"/v1/targets/{target}", settings)
            assert answer.status == 200, answer.body


def submit(service, url, setting, **more):
    """A call of each kind to each target: the answers, and the ids."""
    calls = [(target, kind) for target in TARGETS for kind in ("ordered", "large", "plain")]
    answers = [service("POST", "/v1/calls", descriptor(url, target, kind, labels={"by": service.url}, **more))
               for target, kind in calls]
    many = [descriptor(url, target, kind, **more) for target, kind in calls if kind != "large"]
    answers.append(service("POST", "/v1/calls/batch", many))
    for target in TARGETS:
        fields = {"Redial-Target": target, "Redial-Ordering-Key": "b", "content-type": "application/json",
                  "Redial-Policy": json.dumps(QUICK)} | ({"Redial-Delay": more["delay"]} if "delay" in more else {})
        answers.append(service("POST", f"/v1/forward/{url}/pay", json.dumps({"card": SECRET}), fields))
    assert {answer.status for answer in answers} <= {200, 202, 207}, [a.body for a in answers if a.status not in (200, 202, 207)]
    found = [call["id"] for answer in answers for call in shown(answer.json)]
    assert len(found) == len(set(found)) == 6 * len(TARGETS), answers[-1].body
    return answers, found


def shown(answer):
    """The calls in an answer to a submission."""
    return [item["call"] for item in answer["data"]] if "data" in answer else [answer]


def look(services, calls, setting):
    """All that the instances show of the calls."""
    for service in services:
        for identity in calls:
            answer = service("GET", f"/v1/calls/{identity}?include=request")
            assert answer.status == 200 and answer.json.get("sensitive", False) == (setting == "sensitive"), answer.body
            assert answer.json.get("redact", []) == SETTINGS[setting].get("redact", []), answer.body
            yield answer.body
            yield service("GET", f"/v1/calls/{identity}/attempts?include=body").body
        # The issues are gathered from all instances, also from one that says nothing.
        issues = [("/v1/issues", {})] if len(services) > 1 else []
        for path, fields in ("/v1/calls?limit=200", {}), ("/v1/calls", {"accept": "application/x-ndjson"}), *issues:
            yield service("GET", path, headers=fields).body


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_a_target_hides_is_hidden_whoever_accepts_the_call(instances, receiver, setting):
    target = receiver(echo)
    cluster, services = instances(2, "--log-level", "debug")
    configure(services, SETTINGS[setting])
    events = [Stream(service) for service in services]
    hidden = [SECRET] + [FIELD] * (setting == "sensitive")

    def check(texts):
        for text in texts:
            text = text.decode(errors="replace") if isinstance(text, bytes) else text
            assert not any(secret in text for secret in hidden), text[:2000]

    answers, calls = [], []
    for service in services:
        some = submit(service, target.url, setting, delay="1h")
        answers, calls = answers + some[0], calls + some[1]
    check(answer.body for answer in answers)
    check(look(services, calls, setting))
    # Nobody has made an attempt yet. Those of one key run one after the other.
    for identity in calls:
        assert services[0]("POST", f"/v1/calls/{identity}/retry").status == 200
    for identity in calls:
        call = services[1].ended(identity)
        assert call["state"] == "failed" and (call["contentErasedAt"] is None) == (setting == "redact"), call
    assert len(target.requests) == len(calls) and all(json.loads(r.body)["card"] == SECRET for r in target.requests)
    check(look(services, calls, setting))
    with standing_still(services[1].process):
        # Some of these targets are of the instance that says nothing.
        many = [descriptor(target.url, name, "plain") for name in TARGETS]
        answer = services[0]("POST", "/v1/calls/batch", many)
        silent = [call["id"] for call in shown(answer.json)]
        check([answer.body, *look(services[:1], silent, setting)])
    for identity in silent:
        services[0].ended(identity)
    check(look(services, silent, setting))
    check("\n".join(stream.lines) for stream in events)
    # What is not set any more does not count for new calls, and the documents are gone.
    configure(services, {})
    assert cluster.query("SELECT count(*) FROM redial.documents WHERE kind = 'targetPrivacy'", "redial")[0][0] in (0, "0")
    for service in services:
        for name in TARGETS:
            identity = service.submit(**descriptor(target.url, name, "ordered"))
            assert "sensitive" not in service.ended(identity)
            assert SECRET in service("GET", f"/v1/calls/{identity}?include=request").json["request"]["body"]
            assert services[0]("DELETE", f"/v1/calls/{identity}/content").status in (200, 204)
    for service in services:
        service.terminate()
        check([service.log.read_bytes()])
    if setting == "sensitive":
        check([of_store(services[0], cluster)])


def test_an_answer_hides_what_only_the_owner_knows_to_be_hidden(instances, receiver):
    """The instance that passes a call on answers with what the owner says of it."""
    target = receiver(echo)
    cluster, services = instances(2)
    owner, other = services
    for name in TARGETS:
        assert owner("PUT", f"/v1/targets/{name}", {"sensitive": True}).status == 200
        answers = [other("POST", "/v1/calls", descriptor(target.url, name, "plain", delay="1h") | {"url": f"{target.url}/pay?card={SECRET}"})
                   for _ in range(3)]
        for answer in answers:
            assert answer.status == 202 and answer.json["sensitive"] and SECRET not in answer.body.decode(), answer.body


@pytest.mark.usefixtures("encrypted")
def test_what_targets_hide_goes_to_another_store_with_them(redial, instances, database, receiver, tmp_path):
    target, archive = receiver(echo), tmp_path / "all.jsonl"
    service = redial()
    for name in TARGETS:
        assert service("PUT", f"/v1/targets/{name}", SETTINGS["sensitive"]).status == 200
    service.terminate()
    cluster = database()
    done = run("migrate", "--from", f"sqlite:{service.store}", "--to", cluster.url, seconds=120)
    assert done.returncode == 0, done.stderr
    # Each owner tells the others when it takes a target over.
    _, services = instances(2, on=cluster)
    wait_until(lambda: len(cluster.query(
        "SELECT id FROM redial.documents WHERE kind = 'targetPrivacy'", "redial")) == len(TARGETS), "all are told")
    # Whoever passes on a change reads what there is.
    configure(services, SETTINGS["sensitive"])
    for one in services:
        for name in TARGETS:
            call = one.ended(one.submit(**descriptor(target.url, name, "ordered")))
            assert call["sensitive"] and call["contentErasedAt"], call
    for one in services:
        one.terminate()
    # They follow from the targets: the archive has these alone.
    done = run("export", "--decrypt", "--store", cluster.url, "--output", archive)
    assert done.returncode == 0, done.stderr
    lines = archive.read_text()
    assert "targetPrivacy" not in lines and lines.count('"sensitive":true') >= len(TARGETS)

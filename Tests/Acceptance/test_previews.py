"""The effects of a policy: previews, through the API and the command."""

import http.client
import json
import threading
import xml.etree.ElementTree as ElementTree

from processes import BOUND, Client, run as command, wait_until

SVG = "{http://www.w3.org/2000/svg}"


def picture(answer):
    assert answer.status == 200 and answer.headers["content-type"] == "image/svg+xml"
    return ElementTree.fromstring(answer.body)


def test_a_preview_has_the_schedule_of_the_policy(redial):
    service = redial()
    policy = {"maxAttempts": 4, "deadline": "1h", "backoff": {"initial": "1s", "multiplier": 2, "jitter": "none"}}
    plan = service("POST", "/v1/policies/preview", {"policy": policy, "attemptDuration": "100ms"}).json
    assert [a["startsAfter"]["p50"] for a in plan["attempts"]] == ["0s", "1.1s", "3.2s", "7.3s"]
    assert [w["code"] for w in plan["warnings"]] == ["attemptsEndEarly", "noJitter"]
    assert plan["policy"]["maxAttempts"] == 4 and plan["policy"]["attemptTimeout"] == "30s"
    # Its answer contains a policy that can be submitted unchanged.
    assert service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/", "policy": plan["policy"]}).status == 202
    chart = picture(service("POST", "/v1/policies/preview", {"policy": policy}, {
        "content-type": "application/json", "accept": "image/svg+xml"}))
    # A bar for each attempt, and one in the legend.
    assert len([r for r in chart.iter(f"{SVG}rect") if r.get("class") == "spread"]) == 4 + 1


def test_every_fault_of_a_policy_is_named(redial):
    answer = redial()("POST", "/v1/policies/preview", {"policy": {"maxAttempts": 0, "backof": {}}, "limit": 0})
    assert answer.status == 422 and answer.json["code"] == "invalidPolicy"
    assert [e["pointer"] for e in answer.json["errors"]] == ["/policy/maxAttempts", "/policy/backof", "/limit"]


def test_the_command_previews_without_a_service(tmp_path):
    chart = tmp_path / "chart.svg"
    run = command(
        "preview", "--policy", '{"maxAttempts": 3, "backoff": {"initial": "1s", "jitter": "none"}}', "--svg", str(chart))
    assert run.returncode == 0 and "noJitter" in run.stdout, run.stderr
    assert [line.split()[0] for line in run.stdout.splitlines()[2:5]] == ["1", "2", "3"]
    ElementTree.parse(chart)
    run = command("preview", "--json", "--limit", "2")
    assert len(json.loads(run.stdout)["attempts"]) == 2
    for arguments in (["--limit", "x"], ["--policy", "{"], ["--svg", str(tmp_path / "no/where.svg")]):
        run = command("preview", *arguments)
        assert run.returncode == 2 and run.stderr and not run.stdout, arguments


def test_lists_and_long_polls_are_answered_while_many_previews_wait(redial, receiver):
    accepted, more = 16, 30
    service, release = redial(), threading.Event()
    target = receiver(lambda request: (release.wait(BOUND), (200, {}, b""))[1])
    # Each takes a processor for a good part of a second.
    preview = {"policy": {"backoff": {"jitter": "full", "initial": "1s"}, "deadline": "7d"}, "limit": 50}
    identity = service.submit(url=target.url)
    answers = []

    def ask():
        client = Client(service.port)
        # All of them wait for one processor.
        client.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=5 * BOUND)
        answers.append(client("POST", "/v1/policies/preview", preview))
    askers = [threading.Thread(target=ask, daemon=True) for _ in range(accepted + more)]
    for asker in askers:
        asker.start()
    wait_until(lambda: any(a.status == 503 for a in answers), "no more can wait")
    for _ in range(10):
        assert service("GET", "/v1/calls").status == 200
    release.set()
    assert service("GET", f"/v1/calls/{identity}?wait=50s").json["state"] == "succeeded"
    # They did not wait until all previews were made.
    assert any(asker.is_alive() for asker in askers), "the previews take longer"
    for asker in askers:
        asker.join(5 * BOUND)
    assert {a.status for a in answers} <= {200, 503} and len(answers) == accepted + more
    assert sum(a.status == 200 for a in answers) >= accepted
    refused = next(a for a in answers if a.status == 503)
    assert refused.json["code"] == "tooManyPreviews" and int(refused.headers["retry-after"]) > 0

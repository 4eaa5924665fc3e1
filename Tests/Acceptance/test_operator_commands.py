"""The commands for operators, as processes: tables for people, JSON for scripts, exit codes, colours and progress."""

import json
import re

import pytest
import yaml

from processes import ROOT, run, wait_until
from terminal import Terminal, at_terminal

ESCAPE = "\x1b["

# The API operations of each command; operations without a command are for other programs.
COMMANDS = {
    "call": {"submitCall", "getCall"}, "batch": {"submitBatch"}, "get": {"getCall"}, "attempts": {"listAttempts"},
    "list": {"listCalls"}, "cancel": {"cancelCall"}, "retry": {"retryCall"}, "erase": {"eraseContent"}, "replay": {"replayCall"},
    "statistics": {"getStatistics"}, "instances": {"listInstances"},
    "issues": {"listIssues", "getIssue", "changeIssue"},
    "alerts": {"listAlerts", "getAlert", "putAlert", "silenceAlert", "deleteAlert", "testAlert"},
    "ops": {"listOperations", "beginOperation", "getOperation", "cancelOperation"},
    "targets": {"listTargets", "getTarget", "changeTarget", "pauseTarget", "resumeTarget", "tripTarget", "resetTarget",
                "releaseTarget"},
    "policies": {"listPolicies", "getPolicy", "putPolicy", "removePolicy"},
    "credentials": {"listCredentials", "getCredential", "putCredential", "deleteCredential"}, "audit": {"listAudit"},
    "preview": {"previewPolicy"}, "events": {"followEvents"},
    "webhooks": {"listWebhookEndpoints", "createWebhookEndpoint", "getWebhookEndpoint", "replaceWebhookEndpoint",
                 "deleteWebhookEndpoint", "rotateWebhookSecret", "testWebhookEndpoint", "listWebhookDeliveries"},
    "webhook-secret": {"getWebhookSecret"}, "keys": {"listKeys", "createKey", "revokeKey"}, "health": {"getHealth"},
}
FOR_PROGRAMS = {"configureTarget", "forward", "getReadiness", "getMetrics", "getContract", "getPageList", "dashboard"}


def test_there_is_a_command_for_everything_that_the_api_has():
    contract = yaml.safe_load((ROOT / "api/openapi.yaml").read_text())
    operations = {
        operation["operationId"] for path in contract["paths"].values() for method, operation in path.items()
        if isinstance(operation, dict)}
    covered = set().union(*COMMANDS.values())
    assert operations - covered - FOR_PROGRAMS == set()
    overview = run("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", overview, re.M), command


def ok(service, *arguments, **more):
    answer = run(*arguments, "--url", service.url, **more)
    assert answer.returncode == 0 and not answer.stderr, answer
    assert ESCAPE not in answer.stdout
    return answer.stdout


def test_policies_are_stored_shown_and_deleted(redial, tmp_path):
    service = redial()
    assert "No policy is stored" in ok(service, "policies", "list")
    assert ok(service, "policies", "put", "patient", '{"maxAttempts": 5, "deadline": "3d"}').startswith(
        "stored as patient@1\n")
    (tmp_path / "policy.json").write_text('{"maxAttempts": 6, "backoff": {"jitter": "none"}}')
    stored = ok(service, "policies", "put", "patient", f"@{tmp_path}/policy.json", "--if-version", "1")
    assert stored.startswith("stored as patient@2\n") and "warning noJitter: " in stored
    stale = run("policies", "put", "patient", "{}", "--if-version", "1", "--url", service.url)
    assert stale.returncode == 4 and "version 2" in stale.stderr
    taken = run("policies", "put", "patient", "{}", "--if-version", "0", "--url", service.url)
    assert taken.returncode == 4
    assert ok(service, "policies", "put", "hasty", "-", stdin='{"maxAttempts": 2}').startswith("stored as hasty@1")
    table = ok(service, "policies", "list").splitlines()
    assert table[0].split() == ["name", "version", "since"]
    assert [line.split()[:2] for line in table[1:]] == [["hasty", "1"], ["patient", "2"]]
    assert '"maxAttempts": 6' in ok(service, "policies", "show", "patient")
    assert '"maxAttempts": 5' in ok(service, "policies", "show", "patient", "--version", "1")
    versions = ok(service, "policies", "versions", "patient").splitlines()
    assert [line.split()[0] for line in versions] == ["version", "2", "1"] and "current" in versions[1]
    assert json.loads(ok(service, "policies", "show", "patient", "--json"))["versions"][1]["version"] == 2
    assert "patient is deleted" in ok(service, "policies", "delete", "patient")
    gone = run("policies", "show", "patient", "--url", service.url)
    assert gone.returncode == 4 and "patient" in gone.stderr
    for wrong in (["policies", "put", "x"], ["policies", "put", "x", "{nonsense"], ["policies", "dance"]):
        assert run(*wrong, "--url", service.url).returncode == 2, wrong


def failed_calls(service, target, count, **more):
    calls = [service.submit(url=target.url, policy={"maxAttempts": 1}, **more) for _ in range(count)]
    for call in calls:
        service.ended(call)
    return calls


def test_operations_are_counted_begun_watched_and_cancelled(redial, receiver):
    target, service = receiver(lambda request: (404, {}, b"")), redial()
    calls = failed_calls(service, target, 12, labels={"team": "a"})
    assert "There are no operations" in ok(service, "ops", "list")
    filter = ["--label", "team=a", "--status", "400-499"]
    counted = ok(service, "ops", "create", "retry", *filter, "--dry-run")
    assert counted == "retry would act on 12 calls: failed, team=a, status 400-499\n"
    assert json.loads(ok(service, "ops", "create", "retry", *filter, "--dry-run", "--json"))["matched"] == 12
    done = ok(service, "ops", "create", "retry", *filter, "--by", "ada", "--reason", "mended", "--rate", "1000")
    identity = re.fullmatch(r"accepted as (op_\w+)\n\1  retry  completed: 12 of 12 calls done\n", done)[1]
    assert all(service.ended(call)["retries"][0]["by"] == "ada" for call in calls)
    assert "run again" in ok(service, "get", calls[0]) and "by ada: mended" in ok(service, "get", calls[0])
    assert ok(service, "ops", "show", identity) == done.split("\n", 1)[1]
    table = ok(service, "ops", "list").splitlines()
    assert table[0].split() == ["operation", "action", "state", "done", "of", "by", "reason"]
    assert table[1].split() == [identity, "retry", "completed", "12", "12", "ada", "mended"]

    for _ in range(50):
        service.submit(url=target.url, delay="1h")
    slow = ok(service, "ops", "create", "cancel", "--all", "--rate", "1", "--no-wait").strip()
    late = run("ops", "watch", slow, "--timeout", "300ms", "--url", service.url)
    assert late.returncode == 5 and slow in late.stderr
    assert "cancelled" in ok(service, "ops", "cancel", slow)
    assert run("ops", "watch", slow, "--url", service.url).returncode == 1
    assert json.loads(ok(service, "ops", "show", slow, "--json"))["state"] == "cancelled"
    purge = run("ops", "create", "purge", "--url", service.url)
    assert purge.returncode == 4 and "/filter/state" in purge.stderr
    for wrong in (["ops", "show", "op_1"], ["ops", "create"], ["ops", "create", "retry", "--rate", "0"]):
        assert run(*wrong, "--url", service.url).returncode == 2, wrong


def test_an_operation_shows_its_progress_and_asks_first_at_a_terminal(redial, receiver):
    service = redial()
    for _ in range(30):
        service.submit(url=receiver().url, delay="1h")
    url = ["--url", service.url]
    terminal = Terminal("ops", "create", "cancel", "--all", "--rate", "20", *url)
    terminal.until(r"would act on 30 calls: scheduled\. Go on\? \[y/N\] ")
    terminal.type("n\n")
    assert terminal.end() == 1 and "nothing was done" in terminal.text
    assert service("GET", "/v1/operations").json["data"] == []
    # Slow enough for a busy machine to show a part of it.
    terminal = Terminal("ops", "create", "cancel", "--all", "--rate", "6", *url)
    terminal.until(r"\[y/N\] ")
    terminal.type("y\n")
    terminal.until(r"\r\x1b\[K█+░+ \d+ %  \d+ of 30 calls")
    assert terminal.end() == 0
    # The line is removed at the end, and the outcome in its colour remains.
    assert re.search(r"\r\x1b\[K(op_\w+)  cancel  \x1b\[32mcompleted\x1b\[0m: 30 of 30 calls done\r\n$", terminal.text)


def test_webhook_endpoints_are_registered_tried_and_switched_off(redial, receiver):
    hook, target, service = receiver(), receiver(), redial()
    assert "No endpoint is registered" in ok(service, "webhooks", "list")
    made = ok(service, "webhooks", "create", hook.url, "--event", "call.succeeded,call.failed", "--description", "mine")
    identity = re.match(r"whe_\w+", made)[0]
    secret = re.search(r"^whsec_\S+$", made, re.M)[0]
    assert "call.succeeded, call.failed" in made
    assert secret not in ok(service, "webhooks", "show", identity)
    row = ok(service, "webhooks", "list").splitlines()[1].split()
    assert row[:4] == [identity, "enabled", "2", hook.url]
    rotated = ok(service, "webhooks", "rotate", identity, "--overlap", "1h")
    assert re.search(r"^whsec_\S+$", rotated, re.M)[0] != secret and "signs until" in rotated
    trial = json.loads(ok(service, "webhooks", "test", identity, "--json"))["id"]
    service.ended(trial)
    service.ended(service.submit(url=target.url))
    wait_until(lambda: len(hook.requests) == 2, "the webhooks arrive")
    def deliveries():
        return ok(service, "webhooks", "deliveries", identity, "--state", "succeeded").splitlines()
    wait_until(lambda: len(deliveries()) == 2, "both deliveries have succeeded")
    assert trial in deliveries()[1]
    ok(service, "webhooks", "redeliver", trial)
    wait_until(lambda: len(hook.requests) == 3, "it is delivered again")
    assert "disabled" in ok(service, "webhooks", "disable", identity)
    shown = json.loads(ok(service, "webhooks", "show", identity, "--json"))
    assert (shown["enabled"], shown["description"], shown["disabledReason"]) == (False, "mine", "byRequest")
    assert shown["events"] == ["call.succeeded", "call.failed"]
    assert run("webhooks", "test", identity, "--url", service.url).returncode == 4
    assert "enabled" in ok(service, "webhooks", "enable", identity)
    assert "is deleted" in ok(service, "webhooks", "delete", identity)
    for wrong in (["webhooks", "show"], ["webhooks", "redeliver", "x"], ["webhooks", "list", "x"]):
        assert run(*wrong, "--url", service.url).returncode == 2, wrong


def test_a_batch_is_submitted_once_and_faulty_lines_are_told(redial, receiver, tmp_path):
    target, service = receiver(), redial()
    lines = [json.dumps({"url": f"{target.url}/{n}", "delay": "1h"}) for n in range(25)]
    lines[7] = '{"uri": "http://x/"}'
    lines.insert(3, "")
    file = tmp_path / "calls.ndjson"
    file.write_text("\n".join(lines))
    batch = ["batch", file, "--idempotency-key", "today", "--url", service.url]
    first = run(*batch)
    assert first.returncode == 1 and "line 9: /uri" in first.stderr, first
    identities = first.stdout.split()
    assert len(identities) == 24 and len(service("GET", "/v1/calls?limit=250").json["data"]) == 24
    assert run(*batch).stdout.split() == identities
    assert len(service("GET", "/v1/calls?limit=250").json["data"]) == 24
    fine = run("batch", "--url", service.url, "--json", stdin=lines[0] + "\n")
    assert fine.returncode == 0 and json.loads(fine.stdout)["call"]["state"] == "scheduled"
    assert run("batch", "--url", service.url, stdin="").returncode == 2


def test_attempts_are_told_at_length_and_content_is_erased(redial, receiver):
    answers = iter([503, 200])
    target = receiver(lambda request: (next(answers, 200), {"x-trace": "7"}, b"the body"))
    service = redial()
    call = service.submit(url=target.url, policy={"backoff": {"initial": "10ms"}}, labels={"team": "a"})
    service.ended(call)
    told = ok(service, "attempts", call, "--body")
    assert told.count("attempt ") == 2 and "jitter × " in told and "x-trace: 7" in told and "the body" in told
    assert "the body" not in ok(service, "attempts", call)
    assert len(json.loads(ok(service, "attempts", call, "--json"))["data"]) == 2
    assert call in ok(service, "list", "--label", "team=a", "--status", "200")
    assert call not in ok(service, "list", "--label", "team=b")
    assert "by ada: again" in ok(service, "retry", call, "--by", "ada", "--reason", "again") or service.ended(call)
    service.ended(call)
    assert call in ok(service, "erase", call)
    assert service.get(call)["contentErasedAt"]


def test_colours_are_for_terminals_whose_readers_want_them(redial, flaky):
    service, target = redial(), flaky()
    call = service.submit(url=target.url + "/?fail=1", policy={"backoff": {"initial": "10ms"}})
    service.ended(call)
    url = ["--url", service.url]
    for arguments, coloured in (
        (["get", call], "\x1b[32msucceeded\x1b[0m after 2 attempts"), (["list"], "\x1b[32msucceeded\x1b[0m"),
        (["targets"], "\x1b[32mup\x1b[0m"), (["attempts", call], "\x1b[33mstatus 503\x1b[0m"),
    ):
        code, shown = at_terminal(*arguments, *url)
        assert code == 0 and coloured in shown, shown
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            code, plain = at_terminal(*arguments, *url, env=env)
            assert code == 0 and ESCAPE not in plain
            # Only the colours differ: the columns stay in place.
            assert re.sub(r"\x1b\[\d+m", "", shown) == plain
        assert run(*arguments, *url).stdout.replace("\n", "\r\n") == plain
        code, as_json = at_terminal(*arguments, "--json", *url)
        assert code == 0 and json.loads(as_json)


@pytest.mark.parametrize("command", ["export", "import", "backup", "migrate"])
def test_long_work_on_a_store_shows_how_far_it_is(redial, receiver, tmp_path, command):
    target, service = receiver(), redial()
    descriptors = [{"url": target.url, "delay": "1h", "method": "POST", "body": "x" * 2000}] * 200
    for _ in range(10):
        assert service("POST", "/v1/calls/batch", descriptors).status == 200
    store = ["--store", f"sqlite:{service.store}"]
    archive, other = tmp_path / "all.ndjson", ["--store", f"sqlite:{tmp_path}/other.db"]
    if command == "migrate":
        assert service.terminate() == 0
    if command == "import":
        assert run("export", *store, "-o", archive).returncode == 0
    arguments, pattern = {
        "export": (["export", *store, "-o", archive], r"\r\x1b\[K\d+ calls exported"),
        "import": (["import", *other, archive], r"\r\x1b\[K█*░* \d+ %  \d+ lines read"),
        "backup": (["backup", *store, tmp_path / "copy.db"], r"\r\x1b\[K█*░* \d+ %  \d+ of \d+ MiB"),
        "migrate": (["migrate", "--from", store[1], "--to", other[1]], r"\r\x1b\[K█*░* \d+ %  (moving|comparing) [^\r]+"),
    }[command]
    code, shown = at_terminal(*arguments)
    assert code == 0 and re.search(pattern, shown), shown
    told = r"moved \d+ [^\r]*\r\n.*are equal\." if command == "migrate" else r"(wrote|imported) \d+ [^\r\n]*"
    # A backup says, too, that it needs the key beside the store.
    assert re.search(rf"\r\x1b\[K{told}\r\n(left out the key file [^\r\n]*\r\n)?$", shown, re.S), shown

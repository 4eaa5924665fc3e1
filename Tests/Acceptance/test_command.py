"""The command, as a process: output for people, JSON for scripts, exit codes."""

import json
import re
import socket

from processes import run, wait_until

COMMANDS = ["serve", "call", "get", "list", "cancel", "retry", "flaky", "webhook-secret", "health", "version"]


def test_help_is_everywhere_and_mistakes_are_told():
    overview = run("--help")
    assert overview.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", overview.stdout, re.M)
        answer = run(command, "--help")
        assert answer.returncode == 0 and "Usage: redial " + command in answer.stdout and not answer.stderr
        answer = run(command, "--no-such-option")
        assert answer.returncode == 2 and "--no-such-option" in answer.stderr and not answer.stdout
    for arguments in ([], ["dance"], ["get"], ["call", "a", "b"], ["get", "17"], ["call", "http://x/", "--timeout"]):
        answer = run(*arguments)
        assert answer.returncode == 2 and answer.stderr, arguments
    assert re.fullmatch(r"redial \d+\.\d+\.\d+\n", run("version").stdout)


def test_call_shows_its_attempts_and_says_by_its_exit_code_how_it_ended(redial, flaky):
    service, target = redial(), flaky()
    quick = ["--url", service.url, "--policy", '{"backoff": {"initial": "20ms"}}']
    good = run("call", *quick, target.url + "/?fail=2")
    assert good.returncode == 0, good
    lines = good.stdout.splitlines()
    assert re.fullmatch(r"accepted as call_\w{13}", lines[0])
    assert [l.split(" in ")[0] for l in lines[1:4]] == [
        "attempt 1: status 503", "attempt 2: status 503", "attempt 3: status 200"]
    assert lines[4:] == ["succeeded after 3 attempts"]

    bad = run("call", *quick, target.url + "/?sequence=404")
    assert bad.returncode == 1 and bad.stdout.splitlines()[-1] == "failed after 1 attempt: notRetryable"
    as_json = run("call", *quick, "--json", "-d", "hello", "-H", "x-a: b", "--label", "a=b", target.url)
    call = json.loads(as_json.stdout)
    assert (call["state"], call["method"], call["labels"]) == ("succeeded", "POST", {"a": "b"})
    slow = run("call", *quick, "--timeout", "300ms", target.url + "/?delay=10s")
    assert slow.returncode == 5
    refused = run("call", *quick, "ftp://example.com")
    assert refused.returncode == 4 and "/url" in refused.stderr
    fast = run("call", *quick, "--no-wait", target.url)
    assert fast.returncode == 0 and re.fullmatch(r"call_\w{13}\n", fast.stdout)


def test_get_list_cancel_and_retry(redial, flaky):
    service, target = redial(), flaky()
    identity = service.submit(url=target.url, delay="1h")
    url = ["--url", service.url]
    shown = run("get", *url, identity)
    assert shown.returncode == 0 and identity in shown.stdout and "startTime" in shown.stdout
    assert identity in run("list", *url).stdout
    assert json.loads(run("list", *url, "--json").stdout)["data"][0]["id"] == identity
    assert run("cancel", *url, identity).returncode == 0
    assert service.get(identity)["state"] == "cancelled"
    assert run("retry", *url, identity).returncode == 0
    assert service.ended(identity)["state"] in ("succeeded", "cancelled")
    unknown = run("get", *url, "call_0000000000000")
    assert unknown.returncode == 4 and "call_0000000000000" in unknown.stderr
    # The environment says where the service is, too; the flags and the variable have older names.
    for name in ("REDIAL_SERVER", "REDIAL_URL"):
        assert run("list", env={name: service.url}).returncode == 0, name
    assert run("list", "--server", service.url, env={"REDIAL_SERVER": "http://127.0.0.1:1"}).returncode == 0
    both = run("list", "--server", service.url, "--url", service.url)
    assert both.returncode == 2 and "--server is given twice" in both.stderr


def test_the_service_and_the_key_have_one_name_each_in_the_help(redial):
    for command in ("call", "get", "list", "ops", "keys", "health", "webhook-secret"):
        text = run(command, "--help").stdout
        assert "--server URL" in text and "--api-key KEY" in text, command
        assert not re.search(r"--url\b|--key\b|REDIAL_URL", text), command
    assert not re.search(r"--url\b|--key\b", "".join(run("completion", shell).stdout for shell in ("bash", "zsh", "fish")))
    key = "0123456789abcdef"
    service = redial("--admin-key", key)
    for flag in ("--api-key", "--key"):
        assert run("list", "--server", service.url, flag, key).returncode == 0, flag
    refused = run("list", "--server", service.url)
    assert refused.returncode == 4 and "redial --api-key" in refused.stderr


def test_data_that_is_json_is_sent_as_json(redial, receiver, tmp_path):
    service, target = redial(), receiver()
    file = tmp_path / "order.json"
    file.write_text('{"amount": 1.50, "items": [1,  2]}')
    for data, more, body, kind in (
        ('{"a":  1}', [], b'{"a":  1}', "application/json"), ("[]", [], b"[]", "application/json"),
        (f"@{file}", [], b'{"amount": 1.50, "items": [1,  2]}', "application/json"),
        ("a=1&b=2", [], b"a=1&b=2", None), ("{a: 1}", [], b"{a: 1}", None),
        ('{"a": 1}', ["-H", "content-type: application/vnd.x+json"], b'{"a": 1}', "application/vnd.x+json")):
        sent = run("call", "--server", service.url, "-d", data, *more, target.url)
        assert sent.returncode == 0, sent
        request = target.next()
        assert (request.method, request.body) == ("POST", body), data
        assert request.headers.get("content-type") == kind, data


def test_a_cancelled_call_does_not_announce_an_attempt(redial, receiver):
    service, target = redial(), receiver(lambda request: (503, {}, b""))
    call = service.submit(url=target.url, policy={"backoff": {"strategy": "constant", "initial": "1h", "max": "1h"},
                                                  "deadline": "5h"})
    wait_until(lambda: service.get(call)["attempts"], "it was attempted")
    url = ["--server", service.url]
    assert "next in" in run("get", call, *url).stdout and "next in" in run("attempts", call, *url).stdout
    cancelled = run("cancel", call, *url).stdout
    for text in (cancelled, run("get", call, *url).stdout, run("attempts", call, *url).stdout):
        assert "next in" not in text and "attempt 1: status 503 in " in text and ", no more (cancelled)" in text, text


def test_the_webhook_secret_is_read_or_asked_for_and_no_store_is_made(redial, tmp_path):
    missing = tmp_path / "nowhere" / "redial.db"
    for path in (missing, tmp_path / "redial.db"):
        answer = run("webhook-secret", "--store", f"sqlite:{path}")
        assert answer.returncode == 3 and f"no store at {path}" in answer.stderr and not answer.stdout, answer
    assert list(tmp_path.iterdir()) == []
    key = "0123456789abcdef"
    service = redial("--admin-key", key)
    kept = run("webhook-secret", "--store", f"sqlite:{service.store}").stdout
    assert kept.startswith("whsec_")
    asked = ["webhook-secret", "--server", service.url]
    assert run(*asked, "--api-key", key).stdout == kept
    assert run(*asked, env={"REDIAL_API_KEY": key}).stdout == kept
    other = run("webhook-secret", "--store", f"sqlite:{service.store}", "--namespace", "acme").stdout
    assert run(*asked, "--api-key", key, "--namespace", "acme").stdout == other != kept
    reader = run("keys", "create", "--name", "r", "--scope", "read", "--server", service.url, "--api-key", key)
    assert run(*asked, "--api-key", reader.stdout.strip()).returncode == 4
    assert run(*asked, "--store", f"sqlite:{service.store}").returncode == 2
    # A store that nobody has served yet has no secret, and gets none from being asked.
    fresh = tmp_path / "fresh.db"
    assert run("keys", "create", "--name", "a", "--store", f"sqlite:{fresh}").returncode == 0
    for _ in range(2):
        answer = run("webhook-secret", "--store", f"sqlite:{fresh}")
        assert answer.returncode == 3 and "no webhook secret yet" in answer.stderr, answer


def test_a_service_that_is_not_there_is_told(redial):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{s.getsockname()[1]}"
    for arguments in (["list"], ["call", "http://x/"], ["health"]):
        answer = run(*arguments, "--url", url)
        assert answer.returncode == 3 and url in answer.stderr
    service = redial()
    assert run("health", "--url", service.url).returncode == 0
    assert run("health", env={"REDIAL_LISTEN": f"0.0.0.0:{service.port}"}).returncode == 0


def test_print_config_shows_each_value_and_where_it_came_from(tmp_path):
    config = tmp_path / "redial.json"
    config.write_text('{"maxHeld": 30, "drainTimeout": "9s", "logFormat": "json"}')
    answer = run(
        "serve", "--print-config", "--max-in-flight", "7", "--config", config,
        env={"REDIAL_DRAIN_TIMEOUT": "3s", "REDIAL_MAX_IN_FLIGHT": "8"})
    assert answer.returncode == 0
    lines = answer.stdout.splitlines()
    for line in (
        "maxInFlight = 7  # flag --max-in-flight", "drainTimeout = 3s  # environment REDIAL_DRAIN_TIMEOUT",
        f"maxHeld = 30  # file {config}", f"logFormat = json  # file {config}", "loops = 1  # default"):
        assert line in lines


def test_settings_that_cannot_be_are_told(tmp_path, redial):
    for arguments, env, words in (
        (["--listen", "nowhere"], {}, "nowhere"), (["--max-in-flight", "0"], {}, "maxInFlight"),
        ([], {"REDIAL_LSTEN": "x"}, "REDIAL_LSTEN"), (["--config", "/no/such/file"], {}, "/no/such/file"),
        (["--store", "mysql://x"], {}, "mysql://x"), (["--webhook-secret", "abc"], {}, "webhookSecret")):
        answer = run("serve", *arguments, env=env)
        assert answer.returncode in (2, 3) and words in answer.stderr, answer
    service = redial()
    answer = run("serve", "--listen", f"127.0.0.1:{service.port}", "--store", f"sqlite:{tmp_path}/other.db")
    assert answer.returncode == 3 and "already in use" in answer.stderr.lower()
    answer = run("serve", "--listen", "127.0.0.1:0", "--store", "sqlite:/proc/nowhere/redial.db")
    assert answer.returncode == 3 and "/proc/nowhere" in answer.stderr


def test_flaky_misbehaves_as_told(flaky):
    from processes import Client
    server = flaky("--fail-rate", "0.5", "--seed", "3")
    client = Client(server.port)
    first = [client("GET", f"/{n}").status for n in range(60)]
    assert 15 < first.count(503) < 45
    client("POST", "/_flaky/reset")
    assert [client("GET", f"/{n}").status for n in range(60)] == first, "the same seed, the same chance"
    server = flaky()
    client = Client(server.port)
    key = {"idempotency-key": "k"}
    assert [client("GET", "/?fail=2&retry-after=3", headers=key).status for _ in range(3)] == [503, 503, 200]
    assert client("GET", "/x?fail=1&status=429&retry-after=3").headers["retry-after"] == "3"
    assert [client("GET", "/seq?sequence=500,404,200").status for _ in range(4)] == [500, 404, 200, 200]
    try:
        client("GET", "/r?reset-rate=1")
        raise AssertionError("no reset")
    except ConnectionResetError:
        pass
    assert client("GET", "/?fail=x").status == 400
    assert server.hits()["k"] == 3

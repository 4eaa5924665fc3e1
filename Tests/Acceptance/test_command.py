"""The command, as a process: output for people, JSON for scripts, exit codes."""

import json
import re

from processes import ROOT, Client, Redial, free_port, run, wait_until

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


def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(redial):
    for arguments, meant in (
        (["lst"], "list"), (["cancle", "x"], "cancel"), (["list", "--stae", "failed"], "--state"), (["keys", "lits"], "list"),
        (["ops", "wacth", "x"], "watch")):
        answer = run(*arguments)
        assert answer.returncode == 2 and f"did you mean {meant}?" in answer.stderr, answer
    assert "did you mean" not in run("dance").stderr + run("keys", "dance").stderr
    # These list what there is if nothing else is asked for.
    service = redial()
    for command in ("keys", "policies", "webhooks", "ops"):
        answer = run(command, "--server", service.url)
        assert (answer.returncode, answer.stdout) == (0, run(command, "list", "--server", service.url).stdout), answer


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
    slow = run("call", *quick, "--timeout", "300ms", target.url + "/?delay=10m")
    assert slow.returncode == 5
    refused = run("call", *quick, "ftp://example.com")
    # The only fault is in the detail; several have a line each.
    assert refused.returncode == 4 and refused.stderr.count("/url") == 1 and refused.stderr.count("\n") == 1, refused
    faults = run("call", *quick[:2], "--policy", '{"x": 1, "y": 2}', target.url).stderr.splitlines()
    assert "and 1 more" in faults[0] and faults[1:] == [
        f"  /policy/{name} is not a member of policy" for name in "xy"], faults
    placed = run("list", "--url", quick[1], "--namespace", "No!")
    assert placed.returncode == 4 and "The field Redial-Namespace must" in placed.stderr, placed
    fast = run("call", *quick, "--no-wait", target.url)
    assert fast.returncode == 0 and re.fullmatch(r"call_\w{13}\n", fast.stdout)


def test_a_page_of_attempts_does_not_end_the_call(redial, flaky):
    service, target = redial(), flaky()
    call = service.submit(url=target.url + "/x?fail=2", policy={"backoff": {"initial": "1ms"}})
    service.ended(call)
    first = run("attempts", call, "--limit", "1", "--server", service.url).stdout
    assert "attempt 1: status 503" in first and "next in" in first and "no more" not in first, first
    rest = run("attempts", call, "--cursor", "1", "--server", service.url).stdout
    assert "attempt 3: status 200" in rest, rest


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
    # The environment can also have the service's URL; the flags have older names.
    assert run("list", env={"REDIAL_SERVER": service.url}).returncode == 0
    assert run("list", "--server", service.url, env={"REDIAL_SERVER": "http://127.0.0.1:1"}).returncode == 0
    both = run("list", "--server", service.url, "--url", service.url)
    assert both.returncode == 2 and "--server is given twice" in both.stderr


def test_the_service_and_the_key_have_one_name_each_in_the_help(redial):
    for command in ("call", "get", "list", "ops", "keys", "health", "webhook-secret"):
        text = run(command, "--help").stdout
        assert "--server URL" in text and "--api-key KEY" in text, command
        assert not re.search(r"--url\b|--key\b", text), command
    assert not re.search(r"(--|-l )(url|key)\b", "".join(run("completion", shell).stdout for shell in ("bash", "zsh", "fish")))
    key = "0123456789abcdef"
    service = redial("--admin-key", key)
    for flag in ("--api-key", "--key"):
        assert run("list", "--server", service.url, flag, key).returncode == 0, flag
    refused = run("list", "--server", service.url)
    assert refused.returncode == 4 and "For `redial`, set REDIAL_API_KEY" in refused.stderr


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
    # The service of the environment is asked too, unless a store is named.
    theirs = {"REDIAL_SERVER": service.url, "REDIAL_API_KEY": key}
    assert run("webhook-secret", env=theirs).stdout == kept
    (tmp_path / "another").mkdir()
    another = redial(folder=tmp_path / "another")
    mine = run("webhook-secret", "--store", f"sqlite:{another.store}", env=theirs).stdout
    assert mine.startswith("whsec_") and mine != kept
    (tmp_path / "redial.json").write_text(json.dumps({"store": f"sqlite:{another.store}"}))
    assert run("webhook-secret", "--config", tmp_path / "redial.json", env=theirs).stdout == mine
    # A store that no service has used has no secret, and the question does not create one.
    fresh = tmp_path / "fresh.db"
    assert run("keys", "create", "--scope", "admin", "--name", "a", "--store", f"sqlite:{fresh}").returncode == 0
    for _ in range(2):
        answer = run("webhook-secret", "--store", f"sqlite:{fresh}")
        assert answer.returncode == 3 and "no webhook secret yet" in answer.stderr, answer


def test_a_service_that_is_not_there_is_told(redial):
    url = f"http://127.0.0.1:{free_port()}"
    for arguments in (["list"], ["call", "http://x/"], ["health"]):
        answer = run(*arguments, "--url", url)
        assert answer.returncode == 3 and url in answer.stderr
    service = redial()
    assert run("health", "--url", service.url).returncode == 0
    assert run("health", env={"REDIAL_LISTEN": f"0.0.0.0:{service.port}"}).returncode == 0


def test_print_config_shows_each_value_and_where_it_came_from(tmp_path):
    config = tmp_path / "redial.json"
    config.write_text('{"maxUnfinished": 30, "drainTimeout": "9s", "log": {"format": "json"}}')
    answer = run(
        "serve", "--print-config", "--max-in-flight", "7", "--config", config,
        env={"REDIAL_DRAIN_TIMEOUT": "3s", "REDIAL_MAX_IN_FLIGHT": "8"})
    assert answer.returncode == 0
    lines = answer.stdout.splitlines()
    for line in (
        "calls.maxInFlight = 7  # flag --max-in-flight", "server.drainTimeout = 3s  # environment REDIAL_DRAIN_TIMEOUT",
        f"calls.maxUnfinished = 30  # file {config}", f"log.format = json  # file {config}", "server.loops = 1  # default"):
        assert line in lines
    groups = [line.partition(".")[0] for line in lines]
    assert len(set(groups)) == sum(a != b for a, b in zip(groups, [None] + groups)), "each group in one place"
    config.write_text('{"logFormat": "text", "log": {"format": "json"}}')
    answer = run("serve", "--print-config", "--config", config)
    assert answer.returncode == 2 and "logFormat and log.format" in answer.stderr, answer


def documented_settings():
    """The help of each setting: flag, form, variable, default."""
    found = re.findall(r"^  (--\S+) (.+)\n      .* \[(REDIAL_\w+); (.*)\]$", run("serve", "--help-all").stdout, re.M)
    return [(flag, form, variable, "" if default == "none" else default) for flag, form, variable, default in found]


def test_the_help_of_serve_is_short_and_all_of_it_is_grouped():
    short, whole = run("serve", "--help").stdout, run("serve", "--help-all").stdout
    assert len(re.findall(r"\[REDIAL_\w+;", short)) == 15
    assert "--help-all" in short and "--listen" in short and "--loops" not in short
    headings = re.findall(r'^.* \("(\w+)" in the config file\):$', whole, re.M)
    assert len(headings) == len(set(headings)) and {"server", "store", "targets", "egress", "log"} <= set(headings)
    assert len(documented_settings()) == len(run("serve", "--print-config").stdout.splitlines()) == 53
    # Options with one help show it for both.
    assert run("list", "--help").stdout == run("list", "--help-all").stdout


# Variables in the help and the pages that are not settings, with a value.
OTHER_VARIABLES = {"REDIAL_CONFIG": "", "REDIAL_SERVER": "http://127.0.0.1:1",
                   "REDIAL_API_KEY": "rdl_0123456789abcdef", "REDIAL_NAMESPACE": "default"}
# Those of the tests, which the service does not know.
TEST_VARIABLES = {"REDIAL_CRASH_ROUNDS", "REDIAL_KILL_STEP"}


def documentation():
    return "".join(page.read_text() for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])


def test_every_documented_flag_and_variable_is_taken(tmp_path):
    values = {"--admin-key": "0123456789abcdef", "--webhook-secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
              "--otlp-headers": "a=b", "--target-rules": "[]"}
    settings = documented_settings()
    for flag, form, variable, default in settings:
        value = values.get(flag, default)
        for arguments, env, origin in (([flag, value], {}, f"flag {flag}"), ([], {variable: value}, f"environment {variable}")):
            answer = run("serve", "--print-config", *arguments, env=env)
            assert answer.returncode == 0, answer
            assert [line for line in answer.stdout.splitlines() if line.endswith(f"  # {origin}")], (flag, origin)
    # All of them at once, and those that are not settings, do no harm.
    config = tmp_path / "redial.json"
    config.write_text("{}")
    everything = {variable: values.get(flag, default) for flag, _, variable, default in settings}
    everything |= OTHER_VARIABLES | {"REDIAL_CONFIG": str(config)}
    told = set()
    for command in re.findall(r"^  ([a-z-]+)  ", run("--help").stdout, re.M):
        answer = run(command, "--help-all", env=everything)
        assert answer.returncode == 0, answer
        told |= set(re.findall(r"REDIAL_[A-Z_]+[A-Z]", answer.stdout))
        # Each flag, with a value if the help shows one; those of serve were tried above.
        for flag, form in re.findall(r"^  (?:-\w, )?(--[a-z-]+)( \S+)?", answer.stdout.partition("Exit codes")[0], re.M):
            if command == "serve":
                continue
            taken = run(command, flag, *(["1"] if form else []), "--help")
            assert taken.returncode == 0, (command, flag, taken.stderr)
    readme = set(re.findall(r"`(REDIAL_[A-Z_]+[A-Z])", documentation())) - TEST_VARIABLES - {"REDIAL_PORT"}
    assert told | readme <= set(everything), (told | readme) - set(everything)
    store = f"sqlite:{tmp_path}/redial.db"
    for arguments in (["serve", "--print-config"], ["keys", "create", "--scope", "admin", "--name", "a", "--store", store],
                      ["keys", "list", "--store", store], ["doctor", "--store", store],
                      ["export", "--store", store], ["backup", "--store", store, f"{tmp_path}/copy.db"],
                      ["webhook-secret", "--store", store]):
        answer = run(*arguments, env=everything)
        assert answer.returncode == 0, answer


def test_a_kubernetes_service_of_the_same_name_is_in_nobodys_way(redial, tmp_path):
    links = {}
    for name in ("REDIAL", "REDIAL_POSTGRES", "REDIAL_MAX"):
        links |= {
            f"{name}_SERVICE_HOST": "10.96.0.7", f"{name}_SERVICE_PORT": "8080", f"{name}_SERVICE_PORT_HTTP": "8080",
            f"{name}_PORT": "tcp://10.96.0.7:8080", f"{name}_PORT_8080_TCP": "tcp://10.96.0.7:8080",
            f"{name}_PORT_8080_TCP_PROTO": "tcp", f"{name}_PORT_8080_TCP_PORT": "8080",
            f"{name}_PORT_8080_TCP_ADDR": "10.96.0.7"}
    store = f"sqlite:{tmp_path}/redial.db"
    for arguments in (["serve", "--print-config"], ["keys", "create", "--scope", "admin", "--name", "a", "--store", store],
                      ["doctor", "--store", store]):
        answer = run(*arguments, env=links)
        assert answer.returncode == 0, answer
    for wrong in ({"REDIAL_PORT": "8080"}, {"REDIAL_LISTEN_PORT": "8080"}, {"REDIAL_MIN_T_L_S": "1.3"},
                  {"REDIAL_SERVICE_HSOT": "10.96.0.7"}):
        answer = run("serve", "--print-config", env=links | wrong)
        assert answer.returncode == 2 and next(iter(wrong)) in answer.stderr, answer


def test_settings_that_cannot_be_are_told(tmp_path, redial):
    for arguments, env, words in (
        (["--listen", "nowhere"], {}, "nowhere"), (["--max-in-flight", "0"], {}, "maxInFlight"),
        ([], {"REDIAL_LSTEN": "x"}, "REDIAL_LSTEN"), (["--config", "/no/such/file"], {}, "/no/such/file"),
        (["--store", "mysql://x"], {}, "mysql://x"), (["--webhook-secret", "abc"], {}, "webhookSecret"),
        (["--drain-timeout", "3 days"], {}, '"3 days" (flag --drain-timeout) is not valid; expected a duration above 0s, such as 500ms')):
        answer = run("serve", *arguments, env=env)
        assert answer.returncode in (2, 3) and words in answer.stderr, answer
    service = redial()
    answer = run("serve", "--listen", f"127.0.0.1:{service.port}", "--store", f"sqlite:{tmp_path}/other.db")
    assert answer.returncode == 3 and "already in use" in answer.stderr.lower()
    answer = run("serve", "--listen", "127.0.0.1:0", "--store", "sqlite:/proc/nowhere/redial.db")
    assert answer.returncode == 3 and "/proc/nowhere" in answer.stderr


def test_the_greeting_shows_commands_to_try_only_where_they_work(tmp_path, made):
    hint, key = "Try, in another terminal", {"REDIAL_ADMIN_KEY": "0123456789abcdef"}
    for number, (listen, flags, env, shown) in enumerate((
            ("127.0.0.1:0", [], {}, True), (f"unix:{tmp_path}/redial.sock", [], {}, True), ("127.0.0.1:0", [], key, False),
            ("0.0.0.0:0", ["--allow-unauthenticated", "true"], {}, False), ("0.0.0.0:0", [], key, False))):
        (folder := tmp_path / str(number)).mkdir()
        service = Redial(folder, *flags, env=env)
        service.arguments[service.arguments.index("--listen") + 1] = listen
        made.append(service)
        service.spawn()
        # The greeting is one write, so with the place of the data all of it is there.
        text = wait_until(lambda: "Data is in" in (text := service.log.read_text()) and text, "it has started")
        assert (hint in text, "redial flaky" in text) == (shown, shown), text
        assert ("The dashboard is at" in text) == ("unix:" not in listen), text
        service.terminate()


def test_flaky_misbehaves_as_told(flaky):
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


def test_no_credential_of_a_setting_is_shown(redial, tmp_path):
    hidden = "s3cret"
    env = {"REDIAL_PROXY": f"http://ada:{hidden}@127.0.0.1:1", "REDIAL_OTLP_HEADERS": f"authorization={hidden}",
           "REDIAL_ADMIN_KEY": hidden * 4, "REDIAL_OTLP_ENDPOINT": f"http://127.0.0.1:1/?key={hidden}"}
    shown = run("serve", "--print-config", env=env)
    assert shown.returncode == 0 and "proxy = http://REDACTED@127.0.0.1:1  # environment" in shown.stdout
    told = [shown.stdout, run("serve", "--help", env=env).stdout]
    for variable, value in (
            ("REDIAL_OTLP_ENDPOINT", f"http://ada:{hidden}@127.0.0.1:1"), ("REDIAL_PROXY", f"htp://ada:{hidden}@127.0.0.1:1"),
            ("REDIAL_PROXY", f"ada:{hidden}@127.0.0.1:1"), ("REDIAL_STORE", f"mysql://ada:{hidden}@127.0.0.1/x"),
            ("REDIAL_EGRESS_ALLOW", f"http://ada:{hidden}@127.0.0.1/"), ("REDIAL_LISTEN", f"http://ada:{hidden}@127.0.0.1")):
        refused = run("serve", env={variable: value})
        assert refused.returncode in (2, 3), (variable, refused)
        told.append(refused.stdout + refused.stderr)
    assert "proxy" in told[3] and "socks5h" in told[3] and "htp://REDACTED@127.0.0.1:1" in told[3]
    told.append(run("list", "--url", f"http://ada:{hidden}@127.0.0.1:1").stderr)
    service = redial("--log-level", "debug", env=env)
    service.credentials = {"authorization": f"Bearer {hidden * 4}"}
    call = service.submit(url="http://a.example/", policy={"maxAttempts": 1})
    told += [json.dumps(service.ended(call)), service("GET", "/metrics").body.decode()]
    service.terminate()
    told.append(service.log.read_text())
    assert not [text for text in told if hidden in text or "ada" in text.replace("metadata", "").replace("adapt", "")]

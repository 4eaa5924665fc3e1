"""Examples outside of the pages are accepted as they stand: those of help, error texts, manifests, compose files and units."""

import json
import re
import shlex
import subprocess

import pytest

import modules
from processes import BINARY, ROOT, environment, wait_until

COMMANDS = re.findall(r"^  ([a-z-]+)  ", subprocess.run(
    [BINARY, "--help"], capture_output=True, text=True, env=environment(), check=True).stdout, re.M)
# What people start and apply, with what its comments say.
FILES = sorted(path for folder in ("docker", "packaging/systemd", "packaging/debian") for path in (ROOT / folder).rglob("*")
               if path.is_file() and "grafana" not in path.parts) + [ROOT / "packaging/redial.json"]
SETTINGS = re.findall(r"REDIAL_[A-Z_]+", subprocess.run(
    [BINARY, "serve", "--help-all"], capture_output=True, text=True, env=environment(), check=True).stdout)


def help_of(command):
    done = subprocess.run([BINARY, command, "--help-all"], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def objects(text):
    """The JSON objects in a text."""
    found, decoder, at = [], json.JSONDecoder(strict=False), text.find('{"')
    while at >= 0:
        try:
            _, end = decoder.raw_decode(text, at)
            found.append(text[at:end])
        except ValueError:
            end = at + 1
        at = text.find('{"', end)
    return found


def examples_of_messages():
    """The JSON objects in the texts of the program, without those that it writes as bytes."""
    found = set()
    for file in modules.files():
        if "Generated" not in file.parts:
            code = re.sub(r"^\s*//.*$", "", file.read_text(), flags=re.M)
            for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"(?!\.utf8)', code):
                found.update(objects(text.replace('\\"', '"').replace("\\n", "\n")))
    return sorted(found)


def config(text, folder):
    file = folder / "redial.json"
    file.write_text(text)
    return [BINARY, "serve", "--config", file, "--print-config"]


# How each example of a message is used: as a request, with ids of what is there, as a key, or as an option of a command.
KEY = '{"name": "ci", "scopes": ["submit"]}'
CALL = {"url": "https://api.example.com/", "delay": "1h"}
REQUESTS = {
    # Before the call of the issue is retried.
    '{"state": "acknowledged"}': ("PATCH", "/v1/issues/{issue}", None),
    '{"slack": "https://hooks.slack.com/services/…"}': ("PUT", "/v1/alerts/a", lambda it: {"to": it}),
    '{"silenced": true, "until": "8h"}': ("PATCH", "/v1/alerts/a", None),
    '{"to": {"slack": "https://…"}}': ("PUT", "/v1/alerts/b", None),
    '{"slack": "https://…"}': ("PUT", "/v1/alerts/c", lambda it: {"to": it}),
    '{"state": "failed"}': ("POST", "/v1/operations", lambda it: {"action": "retry", "filter": it, "dryRun": True}),
    '{"by": "ada", "reason": "fixed"}': ("POST", "/v1/calls/{ended}/retry", None),
    '{"type": "github", "secret": "…"}': ("POST", "/v1/calls", lambda it: CALL | {"sign": it}),
    '{"type": "bearer", "token": "…", "origins": ["https://…"]}': ("PUT", "/v1/credentials/a", None),
    '{"type": "bearer", "token": "...", "origins": ["https://api.example.com"]}': ("PUT", "/v1/credentials/b", None),
    '{"action": "retry", "filter": {"target": "billing"}}': ("POST", "/v1/operations", lambda it: it | {"dryRun": True}),
    '{"maxAttempts": 5}': ("PUT", "/v1/policies/a", None),
    '{"url": "https://example.com/hooks"}': ("POST", "/v1/webhook-endpoints", None),
    '{"overlap": "24h"}': ("POST", "/v1/webhook-endpoints/{endpoint}/rotate-secret", None),
    '{"url": "https://example.com/"}': ("POST", "/v1/calls", None),
    '{"max": 5}': ("POST", "/v1/calls", lambda it: CALL | {"redirects": it}),
    '{"policy": {"maxAttempts": 5}}': ("POST", "/v1/policies/preview", None),
    '{"maxInFlight": 10}': ("PUT", "/v1/targets/a", None),
    '{"network": true}': ("POST", "/v1/calls", lambda it: CALL | {"policy": {"retryOn": it}}),
}
OPTIONS = {
    '{"rate": {"perSecond": 10}}': lambda text, folder: [BINARY, "serve", "--target-defaults", text, "--print-config"],
    '{"store": {"retentionTime": "3d"}, "calls": {"maxInFlight": 1000}}': config,
}
def examples_of_help():
    return {example for command in COMMANDS for example in objects(help_of(command))}


def test_every_example_of_a_message_is_tried_below():
    tried = {*REQUESTS, *OPTIONS, KEY}
    assert [text for text in examples_of_messages() if "\\(" not in text and text not in tried] == []
    assert [text for text in examples_of_help() if text not in tried and text.replace("...", "…") not in tried] == []


@pytest.fixture
def furnished(encrypted, redial, flaky):
    """A service with what the examples need, and its ids."""
    service = redial()
    ended = service.submit(url=f"{flaky().url}/hello?fail=1&status=400", policy={"maxAttempts": 1})
    service.ended(ended)
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": "https://example.com/a", "events": ["call.failed"]})
    (issue,) = wait_until(lambda: service("GET", "/v1/issues").json["data"], "the issue")
    return service, {"ended": ended, "endpoint": endpoint.json["id"], "issue": issue["id"]}


def test_the_examples_of_error_texts_are_accepted(furnished):
    service, ids = furnished
    for text, (method, path, use) in REQUESTS.items():
        value = json.loads(text.replace("https://…", "https://example.com").replace("…", "abcdefghijklmnop0123456789abcdef"))
        answer = service(method, path.format(**ids), use(value) if use else value)
        assert answer.status in (200, 201, 202), (text, answer.status, answer.body)


def test_the_example_of_a_key_is_accepted(redial):
    service = redial()
    admin = service("POST", "/v1/keys", {"name": "first", "scopes": ["admin"]}).json["key"]
    answer = service("POST", "/v1/keys", json.loads(KEY), {"authorization": f"Bearer {admin}"})
    assert answer.status == 201, answer.body


def test_the_examples_of_help_are_accepted(tmp_path):
    for text, command in OPTIONS.items():
        done = subprocess.run(command(text, tmp_path), capture_output=True, text=True, env=environment())
        assert done.returncode == 0, (text, done.stderr)


def named_commands():
    """All `redial …` in the program's texts, in help, and in the files, each with where it stands."""
    for file in [*modules.files(), *FILES]:
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        for found in re.findall(r"`redial ([^`\n]+)`", text):
            yield str(file.relative_to(ROOT)), found
        if file in FILES:
            for found in re.findall(r"(?:^ExecStart\w*=/usr/bin/|exec redial |run .* redial |^#   )redial ([^\n|&>]+)", text, re.M):
                yield str(file.relative_to(ROOT)), found
    for command in COMMANDS:
        for found in re.findall(r"`redial ([^`\n]+)`", help_of(command)):
            yield f"redial {command} --help", found


def test_every_command_that_is_named_exists_with_its_options():
    wrong = []
    for where, line in named_commands():
        words = [word for word in shlex.split(line.replace("…", "")) if not re.search(r"\\\(|^\$", word)]
        if not words or words[0] in ("COMMAND", "--help", "--version"):
            continue
        if words[0] not in COMMANDS:
            wrong.append((where, line))
            continue
        known = help_of(words[0])
        # A word in small letters before the first option or name is what the command does: `keys create`.
        done = [word for word in words[1:3] if re.fullmatch(r"[a-z][a-z-]+", word)][:1]
        options = [word.partition("=")[0] for word in words if word.startswith("--") and word != "--help-all"]
        wrong += [(where, line) for word in done + options if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known)]
    assert wrong == []


def test_every_variable_of_the_files_is_a_setting():
    """Of the service, or one that the commands read: the key and the server."""
    known = {*SETTINGS, "REDIAL_API_KEY", "REDIAL_SERVER"}
    unknown = {(file.name, name) for file in FILES if file.suffix not in (".db", ".png") for name in
               re.findall(r"\bREDIAL_[A-Z_]+\b", file.read_text(errors="replace")) if name not in known}
    assert unknown == set()


def test_the_config_of_the_packages_is_read(tmp_path):
    done = subprocess.run(config((ROOT / "packaging/redial.json").read_text(), tmp_path), capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr


def test_the_calls_in_comments_of_the_files_are_accepted(redial):
    service = redial()
    found = [(file.name, text) for file in FILES for text in objects(file.read_text(errors="replace")) if '"url"' in text]
    assert len(found) >= 2
    for name, text in found:
        answer = service("POST", "/v1/calls", json.loads(text) | {"delay": "1h"})
        assert answer.status == 202, (name, text, answer.body)

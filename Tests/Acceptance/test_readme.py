"""The examples of the README and the pages work as shown."""

import os
import re
import subprocess

import pytest

from processes import BINARY, ROOT, Client, environment

README = (ROOT / "README.md").read_text()
PAGES = "".join(page.read_text() for page in sorted((ROOT / "docs").glob("*.md")))


def blocks(language, text=PAGES):
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def commands(block):
    """The commands of a console block, each with its shown output."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def shape(text):
    """A text without the parts that differ from one run to the next."""
    text = re.sub(r"call_[0-9A-Z]{13}", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r"\b[\d.]+(us|ms|s)\b", "SPAN", text)
    return text


def test_the_try_in_thirty_seconds(redial, flaky):
    service, server = redial(), flaky()
    root = ROOT / "README.md"
    tried = [entry for block in blocks("console", README)[1:3] for entry in commands(block)]
    assert len(tried) == 5, f"the try in {root} has changed; so must this test"
    for command, output in tried:
        command = (
            command.replace(".build/release/redial", BINARY).replace("127.0.0.1:9090", f"127.0.0.1:{server.port}")
            .replace("127.0.0.1:8080", f"127.0.0.1:{service.port}"))
        output = "\n".join(output).replace("127.0.0.1:9090", f"127.0.0.1:{server.port}")
        if " flaky " in command:
            assert output.replace("listens", "listens") in server.log.read_text()
            continue
        answer = subprocess.run(
            command, shell=True, capture_output=True, text=True, timeout=60, env=environment({"REDIAL_SERVER": service.url}))
        assert answer.returncode == 0, answer
        assert shape(answer.stdout.strip()) == shape(output.strip()), command


def test_the_outage_is_thought_through_to_the_same_end():
    shown = [entry for block in blocks("console") for entry in commands(block) if " simulate " in entry[0]]
    assert len(shown) == 1
    for command, output in shown:
        answer = subprocess.run(
            command.replace(".build/release/redial", BINARY), shell=True, capture_output=True, text=True, timeout=60)
        assert answer.stdout.splitlines() == output


def test_the_receivers_example_verifies_a_webhook(redial, flaky, receiver):
    scope = {}
    exec(blocks("python", (ROOT / "docs/webhooks.md").read_text())[0], scope)
    service, target, hook = redial(), flaky(), receiver()
    secret = subprocess.run(
        [BINARY, "webhook-secret", "--store", f"sqlite:{service.store}"], capture_output=True, text=True,
        env=environment()).stdout.strip()
    service.submit(url=target.url, callback={"url": hook.url})
    request = hook.next()
    assert scope["receive"](secret, request.body, dict(request.headers))["type"] == "call.succeeded"


def test_the_config_files_that_it_shows_can_be_used(tmp_path):
    examples = [block for block in blocks("json") if '"store": {"url"' in block or '"rules": [' in block]
    assert len(examples) == 2
    for example in examples:
        file = tmp_path / "redial.json"
        file.write_text(example)
        answer = subprocess.run(
            [BINARY, "serve", "--print-config", "--config", file], capture_output=True, text=True, env=environment())
        assert answer.returncode == 0 and f"# file {file}" in answer.stdout, answer


@pytest.mark.parametrize("file", ["docker/Dockerfile", "docker/compose.yaml"])
def test_what_the_container_sets_are_settings(file):
    known = subprocess.run([BINARY, "serve", "--help-all"], capture_output=True, text=True, env=environment()).stdout
    names = set(re.findall(r"REDIAL_[A-Z_]+", (ROOT / file).read_text()))
    assert names and all(name in known for name in names)

"""The examples of the README and the pages work as shown."""

import os
import re
import signal
import subprocess

import pytest

from processes import BINARY, ROOT, environment
from terminal import Terminal

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


def at_these(text, addresses):
    """A text of the page with other addresses, because others may have the ports that it names."""
    for port, url in addresses.items():
        text = text.replace(f"http://127.0.0.1:{port}", url)
    return text


def test_the_try_in_thirty_seconds(tmp_path):
    (start, greeting), *tried = [entry for block in blocks("console", README) for entry in commands(block)]
    assert start == "redial dev --memory" and len(tried) == 5, "the try in README.md has changed; so must this test"
    dev = Terminal(*start.split()[1:], env={"HOME": str(tmp_path), "DISPLAY": "", "NO_COLOR": "1"})
    try:
        dev.until("Press Enter.*\n")
        urls = [re.search(rf"{name} +(http://[\d.:]+)", dev.text)[1] for name in ("service", "target")]
        addresses = dict(zip((8080, 9090), urls))
        assert dev.text.split("\r\n")[:len(greeting)] == at_these("\n".join(greeting), addresses).split("\n")
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "redial").symlink_to(BINARY)
        env = environment({"REDIAL_SERVER": urls[0], "PATH": f"{folder}:{os.environ['PATH']}"})
        for command, output in tried:
            answer = subprocess.run(
                at_these(command, addresses), shell=True, capture_output=True, text=True, timeout=60, env=env)
            assert answer.returncode == 0, answer
            assert shape(answer.stdout.strip()) == shape(at_these("\n".join(output), addresses)), command
        dev.process.send_signal(signal.SIGINT)
        assert dev.end() == 0
    finally:
        dev.process.kill()
        dev.process.wait()


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

"""docs/runbooks: a page for each alert and an alert for each page, and what the pages name and let people type is there."""

import os
import re
import shutil
import subprocess
import textwrap

import pytest
import yaml

import modules
from processes import BINARY, ROOT, run, wait_until
from test_docs import hard, without_code
from test_prometheus import RULES, promtool, tools  # noqa: F401  a fixture

FOLDER = ROOT / "docs/runbooks"
PAGES = {page.stem: page.read_text() for page in sorted(FOLDER.glob("*.md"))}
CONTENTS = PAGES.pop("README")
GROUPS = yaml.safe_load(RULES.read_text())["groups"]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}
RECORDED = {rule["record"] for group in GROUPS for rule in group["rules"] if "record" in rule}
TITLES = ["What it means", "Look at", "Do", "It is over when"]
# About as much as one screen shows.
LONGEST = 3072


def blocks(page, language):
    """The blocks of a page in a language, also those in lists."""
    return [textwrap.dedent(body) for body in re.findall(rf"^ *```{language}\n(.*?)^ *```$", page, re.M | re.S)]


def inline(page):
    return re.findall(r"`([^`\n]+)`", without_code(page))


def test_each_alert_has_a_page_and_each_page_an_alert():
    assert len(ALERTS) > 10 and PAGES.keys() == ALERTS.keys()
    for name, rule in ALERTS.items():
        page, address = PAGES[name], rule["annotations"]["runbook_url"]
        assert address == f"docs/runbooks/{name}.md" and (ROOT / address).exists()
        assert page.startswith(f"# {name}\n\nSeverity {rule['labels']['severity']}. "), name
        assert re.findall(r"^## (.*)$", page, re.M) == TITLES, name
        assert len(page.encode()) <= LONGEST, name
    rows = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\) \| (\w+) \|", CONTENTS, re.M)
    assert {(name, name, rule["labels"]["severity"]) for name, rule in ALERTS.items()} == set(rows)


@pytest.mark.parametrize("name", ["README", *PAGES])
def test_the_links_lead_somewhere_and_the_words_are_plain(name):
    text = PAGES.get(name, CONTENTS)
    assert hard(without_code(text)) == []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        assert (FOLDER / target.partition("#")[0]).exists(), target


def test_each_metric_that_they_name_is_one(redial):
    service = redial()

    def families():
        known = set(re.findall(r"^# HELP (\w+)", service("GET", "/metrics").body.decode(), re.M))
        return "redial_store_findings" in known and known

    # This family is there as soon as spans are exported.
    known = wait_until(families, "the store was examined") | RECORDED | {"redial_spans_dropped_total"}
    for name, page in PAGES.items():
        for metric in re.findall(r"\b((?:redial|process)_\w+|redial:[\w:]+)", page):
            assert metric.removesuffix("_bucket") in known, (name, metric)
        assert ALERTS[name]["expr"] is not None


def test_each_word_of_the_program_that_they_name_is_one():
    sources = "".join(file.read_text() for file in modules.files())
    named = {word for page in PAGES.values() for word in inline(page) if re.fullmatch(r"[a-z]+[A-Z]\w*", word)}
    assert {"syncFailed", "retentionBytes", "backlogFull", "storeRetried"} <= named
    known = set(re.findall(r'(?<=")\w+(?=")|(?<=\bcase )\w+', sources))
    assert named <= known, named - known


def test_the_queries_are_valid(tools, tmp_path):  # noqa: F811
    queries = [query for page in PAGES.values() for block in blocks(page, "promql") for query in block.splitlines()]
    assert len(queries) > 8
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "pages", "rules": rules}]}))
    promtool(tools, "check", "rules", str(tmp_path / "rules.yml"))


def test_each_command_within_a_sentence_is_one_of_the_binary():
    overview = set(re.findall(r"^  ([a-z-]+)  ", run("--help").stdout, re.M))
    found = [words for page in PAGES.values() for words in inline(page) if words.startswith("redial ")]
    assert len(found) > 10
    helps = {}
    for words in found:
        command = words.split()[1]
        assert command in overview, words
        shown = helps.setdefault(command, run(command, "--help-all").stdout)
        for flag in re.findall(r"--[a-z-]+", words):
            assert flag in shown, words


def test_the_commands_in_blocks_do_what_they_say(redial, receiver, tmp_path):
    up = []
    target = receiver(lambda request: (200 if up else 503, {}, b""))
    service = redial()
    key = service("POST", "/v1/keys", {"name": "ada", "scopes": ["admin"]}).json["key"]
    service.credentials = {"authorization": f"Bearer {key}"}
    call = service.submit(url=target.url, target="billing", policy={"maxAttempts": 1})
    assert service.ended(call)["state"] == "failed"
    service.submit(url=target.url, target="billing", delay="1h")
    up.append(True)
    programs, other = tmp_path / "programs", tmp_path / "other"
    for folder in (programs, other):
        folder.mkdir()
    (programs / "redial").symlink_to(BINARY)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("REDIAL_")}
    clean |= {"PATH": f"{programs}:{clean['PATH']}", "REDIAL_SERVER": service.url, "REDIAL_API_KEY": key}
    run_commands = 0
    for name, page in PAGES.items():
        for block in blocks(page, "sh"):
            here = block
            for written, real in {
                    "/var/lib/redial": service.store.parent, "http://127.0.0.1:8080": service.url,
                    "call_1M7YBERJP0000": call, "/mnt/other/redial-copy.db": other / f"{name}.db",
                    "https://api.example.com": target.url, "calls.jsonl": other / "calls.jsonl"}.items():
                here = here.replace(written, str(real))
            for line in here.replace("\\\n", "").splitlines():
                done = subprocess.run(
                    ["bash", "-o", "pipefail", "-c", line], cwd=other, env=clean, capture_output=True, text=True, timeout=60)
                assert done.returncode == 0, (name, line, done.stdout, done.stderr)
                assert "|| true" not in line or (other / "doctor.json").read_text().startswith("{"), done.stderr
                run_commands += 1
    assert run_commands > 35
    # The page about failed calls has run them again.
    assert service.ended(call)["state"] == "succeeded"
    assert service.target("billing")["settings"]["maxInFlight"] == 128
    # Each copy is a store.
    copies = sorted(other.glob("*.db"))
    assert len(copies) == 2
    for copy in copies:
        # With the key that encrypts its secrets.
        shutil.copy(f"{service.store}.key", f"{copy}.key")
        assert run("doctor", "--store", f"sqlite:{copy}").returncode == 0

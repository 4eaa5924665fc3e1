"""The packages of the clients: what is generated is current and complete, types hold, and the examples of their pages run."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest
import yaml

import needs
from client_packages import ADAPTERS, CLIENTS, checked, here
from processes import BINARY, ROOT, environment

sys.path.append(str(ROOT / "Scripts"))
import client_go
import modules
import operations

READMES = {"python": CLIENTS / "python/README.md", "ts": CLIENTS / "typescript/README.md", "go": CLIENTS / "go/README.md"}
PAGE = ROOT / "docs/clients.md"


def examples(language):
    """Those of its README, then those of the page, and then those that only this language has."""
    readme, page = [re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.S) for page in (READMES[language], PAGE)]
    assert (len(readme), len(page)) == (5 if language == "go" else 4, 2)
    return readme[:4] + page + readme[4:]


def test_what_is_generated_is_current(tmp_path):
    needs.program("gofmt")
    checked(sys.executable, ROOT / "Scripts/generate", tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert len(made) == 20
    for path in made:
        assert (tmp_path / path).read_text() == (ROOT / path).read_text(), f"{path} is out of date: run make format"


def contract():
    with open(ROOT / "api/openapi.yaml") as file:
        return operations.prepared(yaml.load(file, yaml.CSafeLoader))


def methods(packages):
    """The methods of each client, with the names that they have there."""
    python = "import json, redial_client as c; print(json.dumps([dir(c.Redial), dir(c.AsyncRedial)]))"
    sync, asynchronous = json.loads(checked(sys.executable, "-c", python, env=packages.environment()))
    script = (
        "import { Redial } from 'redial-client';"
        "const own = Object.getOwnPropertyNames, one = Redial.prototype;"
        "console.log(JSON.stringify([...own(one), ...own(Object.getPrototypeOf(one))]));")
    typescript = json.loads(checked(needs.program("node"), "--input-type=module", "-e", script, cwd=packages.typescript))
    text = "".join(file.read_text() for file in modules.folder("RedialClient").rglob("*.swift"))
    go = "".join(file.read_text() for file in (CLIENTS / "go").glob("*.go"))
    return {
        "python": sync, "python-async": asynchronous, "typescript": typescript,
        "swift": re.findall(r"^  public func (\w+)\(", text, re.M), "go": re.findall(r"^func \(c \*Client\) (\w+)\(", go, re.M)}


def test_each_operation_of_the_contract_has_a_method_in_each_client(packages):
    found, asked = methods(packages), operations.operations(contract())
    assert set(operations.ids(contract())) == {one.id for one in asked} | set(operations.LEFT_OUT)
    for one in asked:
        names = {kind: operations.snake(one.name) for kind in ("python", "python-async")}
        names |= {
            "typescript": one.name, "swift": operations.SWIFT_NAMES.get(one.id, one.name), "go": client_go.public(one.name)}
        for kind, name in names.items():
            assert name in found[kind], f"{kind} has no method for {one.id}: run make format"


def test_the_page_has_each_method():
    table = PAGE.read_text().split("## Methods")[1].split("\n## ")[0]
    listed = [name for row in re.findall(r"^\|[^|]*\|(.*)\|$", table, re.M) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted([one.name for one in operations.operations(contract())] + ["wait"])


def test_the_packages_have_the_version_of_the_service(packages):
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.split()[-1]
    assert tomllib.loads((CLIENTS / "python/pyproject.toml").read_text())["project"]["version"] == version
    assert json.loads((CLIENTS / "typescript/package.json").read_text())["version"] == version
    assert f'const Version = "{version}"' in (CLIENTS / "go/doc.go").read_text()
    with zipfile.ZipFile(packages.wheel) as wheel:
        names = set(wheel.namelist())
    assert {"redial_client/py.typed", "redial_client/models.py", f"redial_client-{version}.dist-info/METADATA"} <= names
    assert (packages.typescript / "node_modules/redial-client/dist/index.d.ts").exists()


def test_the_types_of_python_hold(packages, tmp_path):
    """In the package itself, and for a program that uses it."""
    for number, block in enumerate(examples("python")):
        (tmp_path / f"example{number}.py").write_text(block)
    packages.typed(*sorted(tmp_path.glob("*.py")), folder=tmp_path)
    wrong = tmp_path / "wrong.py"
    wrong.write_text('from redial_client import Redial\nRedial().submit({"url": "https://a.example", "polcy": {}})\n')
    with pytest.raises(AssertionError, match='Extra key "polcy"'):
        packages.typed(wrong, folder=tmp_path)


def shown(output):
    return re.sub(r"call_\w{13}", "ID", output)


def programs(packages, language, blocks, folder):
    """The commands that run examples. The third needs the runner of the language, with a webhook."""
    if language == "go":
        runner = (ADAPTERS / "receive.go").read_text()
        return [[one] for one in packages.programs(
            "examples", [[block, *[runner] * (number == 2)] for number, block in enumerate(blocks)])]
    folder = folder if language == "python" else packages.typescript
    files = [folder / f"example{number}.{'py' if language == 'python' else 'ts'}" for number in range(len(blocks))]
    for file, block in zip(files, blocks):
        file.write_text(block)
    command, runner = ([sys.executable], "receive.py") if language == "python" else ([needs.program("node")], "receive.mjs")
    files = packages.compiled(*files) if language == "ts" else files
    return [[*command, *([ADAPTERS / runner] if number == 2 else []), file] for number, file in enumerate(files)]


@pytest.mark.parametrize("language", READMES)
def test_the_examples_run(redial, flaky, receiver, packages, tmp_path, language):
    service, target = redial(), flaky()
    commands = programs(packages, language, [here(block, service, target) for block in examples(language)], tmp_path)
    env = packages.environment(REDIAL_SERVER=service.url)
    # The third only defines how webhooks are received.
    outputs = [shown(checked(*command, env=env)) if number != 2 else None for number, command in enumerate(commands)]
    assert outputs[0] == "succeeded 1\n"
    assert outputs[1] == "1 202 ID\n2 202 ID\n3 202 ID\n"
    assert outputs[3].startswith("422 invalidDescriptor /url must be absolute")
    assert outputs[4].lower() == "call.succeeded\ntrue\n"
    assert outputs[5].lower() == "409 callended\nsucceeded false\n"
    assert outputs[6:] == (["200 succeeded\n"] if language == "go" else [])
    hook = receiver()
    service.submit(url=target.url, callback={"url": hook.url})
    request = hook.next()
    secret = subprocess.run(
        [BINARY, "webhook-secret", "--store", f"sqlite:{service.store}"], capture_output=True, text=True,
        env=environment()).stdout.strip()
    webhook = json.dumps([secret, request.body.decode(), dict(request.headers)])
    assert shown(checked(*commands[2], webhook, env=env)).split() == ["call.succeeded", "ID", "204", "401"]

"""The packages of the clients: what is generated is current, types hold, and the examples of their pages run."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

from client_packages import ADAPTERS, CLIENTS, checked
from processes import BINARY, ROOT, environment

READMES = {"python": CLIENTS / "python/README.md", "ts": CLIENTS / "typescript/README.md"}
PAGE = ROOT / "docs/clients.md"


def examples(language):
    """Those of its README, and then those of the page."""
    blocks = [re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.S) for page in (READMES[language], PAGE)]
    assert [len(one) for one in blocks] == [4, 1]
    return sum(blocks, [])


def test_what_is_generated_is_current(tmp_path):
    checked(sys.executable, ROOT / "Scripts/generate", tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert len(made) == 8
    for path in made:
        assert (tmp_path / path).read_text() == (ROOT / path).read_text(), f"{path} is out of date: run make format"


def test_the_packages_have_the_version_of_the_service(packages):
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.split()[-1]
    assert tomllib.loads((CLIENTS / "python/pyproject.toml").read_text())["project"]["version"] == version
    assert json.loads((CLIENTS / "typescript/package.json").read_text())["version"] == version
    with zipfile.ZipFile(packages.wheel) as wheel:
        names = set(wheel.namelist())
    assert {"redial_client/py.typed", "redial_client/models.py", f"redial_client-{version}.dist-info/METADATA"} <= names
    assert (packages.typescript / "node_modules/redial-client/dist/index.d.ts").exists()


def test_the_types_of_python_hold(packages, tmp_path):
    """In the package itself, and for a program that uses it."""
    for number, block in enumerate(examples("python")):
        (tmp_path / f"example{number}.py").write_text(block)
    env = packages.environment(MYPY_CACHE_DIR=str(tmp_path / "cache"))
    checked(sys.executable, "-m", "mypy", "src", *sorted(tmp_path.glob("*.py")), cwd=CLIENTS / "python", env=env)
    wrong = tmp_path / "wrong.py"
    wrong.write_text('from redial_client import Redial\nRedial().submit({"url": "https://a.example", "polcy": {}})\n')
    found = subprocess.run(
        [sys.executable, "-m", "mypy", str(wrong)], cwd=CLIENTS / "python", env=env, capture_output=True, text=True)
    assert found.returncode == 1 and 'Extra key "polcy"' in found.stdout, found.stdout + found.stderr


def here(code, service, target):
    """An example that uses these servers in the place of those that it names."""
    return code.replace("http://127.0.0.1:8080", service.url).replace("https://api.example.com", target.url)


def shown(output):
    return re.sub(r"call_\w{13}", "ID", output)


@pytest.mark.parametrize("language", ["python", "ts"])
def test_the_examples_run(redial, flaky, receiver, packages, tmp_path, language):
    service, target = redial(), flaky()
    blocks = [here(block, service, target) for block in examples(language)]
    env = packages.environment(REDIAL_SERVER=service.url)
    if language == "python":
        files = [tmp_path / f"example{number}.py" for number in range(len(blocks))]
        command = [sys.executable]
    else:
        files = [packages.typescript / f"example{number}.ts" for number in range(len(blocks))]
        command = ["node"]
    for file, block in zip(files, blocks):
        file.write_text(block)
    if language == "ts":
        options = {"target": "ES2022", "module": "ES2022", "lib": ["ES2021", "DOM", "DOM.Iterable"], "types": [], "strict": True}
        project = packages.typescript / "tsconfig.json"
        project.write_text(json.dumps({
            "compilerOptions": options | {"moduleResolution": "node"}, "files": [file.name for file in files]}))
        checked("tsc", "--project", project)
        for file in files:
            file.with_suffix(".js").rename(file.with_suffix(".mjs"))
        files = [file.with_suffix(".mjs") for file in files]
    outputs = [shown(checked(*command, file, env=env)) for file in files]
    assert outputs[0] == "succeeded 1\n"
    assert outputs[1] == "1 202 ID\n2 202 ID\n3 202 ID\n"
    assert outputs[3].startswith("422 invalidDescriptor /url must be absolute")
    assert outputs[4].lower() == "call.succeeded\ntrue\n"
    # The third only defines how webhooks are received.
    hook = receiver()
    service.submit(url=target.url, callback={"url": hook.url})
    request = hook.next()
    secret = subprocess.run(
        [BINARY, "webhook-secret", "--store", f"sqlite:{service.store}"], capture_output=True, text=True,
        env=environment()).stdout.strip()
    webhook = json.dumps([secret, request.body.decode(), dict(request.headers)])
    runner = ADAPTERS / f"receive.{'py' if language == 'python' else 'mjs'}"
    assert shown(checked(*command, runner, files[2], webhook, env=env)).split() == ["call.succeeded", "ID", "204", "401"]

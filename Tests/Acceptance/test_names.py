"""One name for one thing, in the contract, the command, the clients and the metrics."""

import importlib.machinery
import importlib.util
import subprocess
import sys

import pytest

from processes import ROOT

SCRIPT = ROOT / "Scripts/names"
# It imports what the other scripts share.
sys.path.insert(0, str(ROOT / "Scripts"))


def load():
    loader = importlib.machinery.SourceFileLoader("names_script", str(SCRIPT))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("names_script", loader))
    loader.exec_module(script)
    return script


def test_no_two_names_mean_one_thing_and_no_name_two():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = dict((line.split()[0], line.split()) for line in done.stdout.splitlines())
    # The same thing in each way of writing.
    assert lines["waitingOn"][1:] == ["waitingOn", "--waiting-on", "waiting_on", "waitingOn", "waitingOn", "waitingOn"]
    assert lines["quota"][1:] == ["quota", "--quota"]


@pytest.mark.parametrize("place, name, fault", [
    ("command", "--max-tries", "is not a name of the contract"), ("python", "retry_count", "is not a name of the contract"),
    ("typescript", "successes", "the word is succeeded"),
    ("swift", "retryCount", "is not a name of the contract"), ("go", "retryCount", "is not a name of the contract"),
    ("metrics", "tenant", "the word is namespace"),
    ("members", "minimumCalls", "the word is min"), ("members", "quota", "one name, two things"),
])
def test_a_wrong_name_is_found(place, name, fault, monkeypatch, capsys):
    script = load()
    assert script.main(["--check"]) == 0
    names = getattr(script, place)()
    if place == "members":
        names[name] = {"integer", "object"} if name == "quota" else {"integer"}
    else:
        names = names | {name}
    monkeypatch.setattr(script, place, lambda: names)
    assert script.main(["--check"]) == 1
    assert any(name in line and fault in line for line in capsys.readouterr().err.splitlines())

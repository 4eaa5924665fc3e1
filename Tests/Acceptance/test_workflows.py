"""The workflows of GitHub: their form, their scripts, and that a registry without a secret is left out."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from client_packages import checked
from processes import ROOT

FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
# The commands of Python's packages.
BIN = pathlib.Path(sys.executable).parent


def steps(file):
    """The steps of a workflow, each with the name of its job."""
    jobs = yaml.safe_load(file.read_text())["jobs"]
    return [(name, step) for name, job in jobs.items() for step in job["steps"]]


def scripts(file):
    return [step["run"] for _, step in steps(file) if "run" in step]


def publishing():
    """The steps that need a secret of a registry."""
    return {job: step for job, step in steps(ROOT / ".github/workflows/release.yml") if "if there is a" in step.get("name", "")}


def test_they_have_the_form_that_github_reads():
    assert {file.name for file in FILES} == {"check.yml", "release.yml"}
    checked(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *FILES)


def test_nothing_in_them_is_known_to_be_unsafe():
    """Such as an action that is not pinned to a commit, a secret in a command, or more rights than needed."""
    checked(BIN / "zizmor", "--offline", "--no-progress", "--min-severity", "low", *FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_their_scripts_are_there_with_the_options_that_they_get(file):
    found = scripts(file)
    for script in found:
        checked("bash", "-n", "-c", script)
        for name in re.findall(r"(?<![\w./-])(?:Scripts|packaging|\.ci)/[\w-]+", script):
            assert os.access(ROOT / name, os.X_OK), name
    options = re.findall(r"(?<=\s)--[\w-]+", "".join(re.findall(r"Scripts/release (?:.*\\\n)*.*", "\n".join(found))))
    known = checked(ROOT / "Scripts/release", "--help")
    assert all(option in known for option in options) and bool(options) == (file.name == "release.yml"), options
    assert (".ci/run" in found) == (file.name == "check.yml")


@pytest.mark.parametrize("job", ["pypi", "npm", "registry"])
def test_a_registry_without_a_secret_is_left_out_and_the_run_says_so(job, tmp_path):
    step = publishing()[job]
    env = {name: "" for name in step["env"]} | {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path)}
    shown = checked("bash", "-e", "-o", "pipefail", "-c", step["run"], env=env, cwd=tmp_path)
    secret = re.search(r"secrets\.(\w+_TOKEN)", yaml.dump(step))[1]
    assert shown.startswith("::notice::") and "not published" in shown and secret in shown

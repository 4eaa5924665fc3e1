"""Requests generated from the contract, valid and invalid, get only answers that the contract lists."""

import pathlib
import subprocess
import sys

import pytest

from processes import ROOT, Constants, environment, free_port

pytestmark = pytest.mark.part("schemathesis")

# The maximum time of the whole run, in seconds; it stops by itself before (max-time).
LIMIT = 110
KEY = "k" * 32


def clean(redial, folder, *phases):
    # All calls of the service go to a proxy that does not exist: nothing leaves this machine.
    service = redial(
        "--proxy", f"http://127.0.0.1:{free_port()}",
        Constants(maxWebhookEndpoints=10000, maxWaitTime="100ms", maxEventListeners=0), env={"REDIAL_ADMIN_KEY": KEY})
    run = subprocess.run(
        [pathlib.Path(sys.executable).parent / "schemathesis",
         "--config-file", ROOT / "Tests/Acceptance/schemathesis.toml", "--no-color", "run", ROOT / "api/openapi.yaml",
         "--url", service.url, "--header", f"Authorization: Bearer {KEY}", "--continue-on-failure",
         *phases],
        capture_output=True, text=True, timeout=LIMIT, cwd=folder, env=environment())
    assert run.returncode == 0, run.stdout[-20000:] + run.stderr[-2000:]
    assert "passed" in run.stdout
    return run.stdout


def test_schemathesis_finds_nothing(redial, tmp_path):
    clean(redial, tmp_path, "--phases", "examples,coverage,fuzzing")


def test_what_one_answer_links_to_is_there_for_the_next_request(redial, tmp_path):
    said = clean(redial, tmp_path, "--phases", "stateful")
    assert "Stateful" in said

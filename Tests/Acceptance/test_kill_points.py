"""A process that writes to a store and dies at a write or a sync: nothing that it acknowledged is lost or there twice.

One process writes, and the shim records each write, each cut and each sync of the store's files, in order. What a process leaves
that dies at one of them is the result of those before it. Another process makes these files anew, also with a part of the write,
and as a disk has them that forgets what was not synced; it lets the inspection of `redial doctor` check each of them, opens it,
compares all rows with those of a store that has no log, and makes the next commit. `Tests/RedialStoreTests/KillPointTests.swift`
has both. `REDIAL_KILL_STEP` is how many writes there are between two looks: 1 looks at each.
"""

import os
import pathlib
import re
import subprocess
import tempfile

import pytest

from faults import Faults
from processes import ROOT

pytestmark = pytest.mark.part("crashes")

TESTS = ROOT / ".build/debug/redialPackageTests.xctest"


def run(test, env):
    """Runs one test of the bundle; what it wrote."""
    done = subprocess.run(
        [TESTS, "--filter", rf"KillPointTests/{test}\(\)", "--testing-library", "swift-testing"], capture_output=True, text=True,
        timeout=3600, env=os.environ | env)
    output = done.stdout + done.stderr
    assert done.returncode == 0 and re.search("Test run with 1 test .*passed", output), output[-4000:]
    return output


# Each has other bounds of the log.
@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_a_write_loses_nothing_and_doubles_nothing(seed):
    if not TESTS.exists():
        pytest.skip("the unit tests are not built: swift build --build-tests")
    step = int(os.environ.get("REDIAL_KILL_STEP", 40))
    # In memory, if possible: what is synced is recorded, and no disk is needed for it.
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        faults = Faults(pathlib.Path(folder), f"{folder}/calls.db")
        faults.on("record")
        env = {"KILL_POINTS_FOLDER": folder, "KILL_POINTS_SEED": str(seed), "KILL_POINTS_STEP": str(step)}
        run("writes", env | faults.env)
        found = re.search(r"kill points: (\d+) of (\d+)", run("survives", env))
    assert found, "it has looked at nothing"
    print(f"\nseed {seed}: looked at {found[1]} of {found[2]} writes and syncs")
    assert int(found[1]) >= int(found[2]) // step > 0

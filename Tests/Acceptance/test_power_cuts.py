"""Power cuts under a loaded service whose store is on ext4, on a disk with a volatile cache: what was answered with 202 is there.

`test_power_loss.py` cuts the power of the store's files; here the file system is real, with its journal. `REDIAL_POWER_CUTS` is
the number of cuts (6).
"""

import json
import os
import time

import pytest

from crashes import FLAGS, CrashLoop, Target, assert_nothing_lost
from processes import BOUND, run
from volatile_disk import VolatileDisk

pytestmark = pytest.mark.part("power")

KINDS = ["torn", "lost", "kept"]


@pytest.fixture
def disk(made, tmp_path):
    try:
        disk = VolatileDisk(tmp_path / "power", 96, seed=3)
        made.append(disk)
        disk.make()
    except OSError as reason:
        pytest.skip(f"needs root, FUSE and loop devices: {reason}")
    return disk


@pytest.fixture
def target(made, tmp_path):
    server = Target(tmp_path, seed=4)
    made.append(server)
    return server


class PowerLoop(CrashLoop):
    """As the loop of kills, but it is the power that fails."""

    def __init__(self, service, target, disk, seed):
        super().__init__(service, target, seed)
        self.disk, self.cuts = disk, []

    def kill(self, process):
        before = time.monotonic()
        self.cuts.append((KINDS[len(self.cuts) % len(KINDS)], *self.disk.cut(KINDS[len(self.cuts) % len(KINDS)])))
        # It may have ended already: its sync failed.
        process.kill()
        process.wait(BOUND)
        self.kills.append((before, time.monotonic()))
        self.disk.restart()
        if self.service.store.exists():
            report = run("doctor", "--store", f"sqlite:{self.service.store}")
            assert report.returncode == 0, report.stdout + report.stderr


def test_what_was_answered_with_202_outlives_power_cuts_on_ext4(made, redial, target, disk, tmp_path):
    service = redial(*FLAGS, folder=disk.path)
    # The disk can be left only once the service has ended.
    service.log = tmp_path / "redial.log"
    loop = PowerLoop(service, target, disk, seed=6)
    load = loop.rounds(int(os.environ.get("REDIAL_POWER_CUTS", 6)))
    figures = loop.check(load)
    print("\n" + json.dumps({
        **figures, "cuts": {kind: sum(cut == kind for cut, *_ in loop.cuts) for kind in KINDS},
        "sectorsOnlyInTheCache": sum(had for _, had, _ in loop.cuts), "ofThemLeft": sum(left for *_, left in loop.cuts),
        "cutsWithSuch": sum(had > 0 for _, had, _ in loop.cuts)}))
    assert_nothing_lost(figures)
    loop.check_store()

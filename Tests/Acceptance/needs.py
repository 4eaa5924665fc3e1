"""The programs that some tests need and a machine may lack. Without one, its tests are left out, which stands at the end of the run.

With REDIAL_LEAVE_OUT_NOTHING=1, as in .ci/run, they fail.
"""

import collections
import os
import re
import shutil

# Programs of services are not in everybody's PATH.
PLACES = f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin"


def program(name):
    """Where a program is; ends the test if it is missing."""
    path = shutil.which(name, path=PLACES)
    if not path:
        leave_out(name)
    return path


def leave_out(name):
    """Ends a test whose program is missing."""
    # Benchmarks start databases, too, without pytest.
    import pytest
    reason = f"{name} is missing; Scripts/packages test installs it"
    if os.environ.get("REDIAL_LEAVE_OUT_NOTHING") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def report(terminal):
    """Writes what was left out behind everything else."""
    reasons = [re.search(r"(\S+) is missing; Scripts", str(report.longrepr)) for report in terminal.stats.get("skipped", [])]
    counts = collections.Counter(reason[1] for reason in reasons if reason)
    for name, count in sorted(counts.items()):
        terminal.write_line(f"left out: {count} tests, because {name} is missing; Scripts/packages test installs it")

"""The programs that some tests need and a machine may lack. Without one, its tests are left out, which stands at the end of each run.

With REDIAL_LEAVE_OUT_NOTHING=1, as in .ci/run, they fail.
"""

import collections
import os
import shutil

# Programs of services are not in everybody's PATH.
PLACES = f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin"


def program(name):
    """Where a program is; ends the test if it is missing."""
    path = shutil.which(name, path=PLACES)
    if not path:
        leave_out(name)
    return path


def c_compiler():
    """A compiler of C: the toolchain of Swift comes with one."""
    return shutil.which("cc") or program("clang")


def leave_out(name):
    """Ends a test whose program is missing."""
    # Benchmarks start databases, too, without pytest.
    import pytest
    reason = f"{name} is missing; Scripts/packages all-tests installs it"
    if os.environ.get("REDIAL_LEAVE_OUT_NOTHING") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def report(terminal):
    """Writes behind everything else what was left out, and why; by name what no package brings, such as the rights of a container."""
    reasons = collections.defaultdict(list)
    for skipped in terminal.stats.get("skipped", []):
        reason = skipped.longrepr[2] if isinstance(skipped.longrepr, tuple) else str(skipped.longrepr)
        reasons[reason.removeprefix("Skipped: ")].append(skipped.nodeid.removeprefix("Tests/Acceptance/"))
    for reason, names in sorted(reasons.items()):
        installed = "; Scripts/packages " in reason
        terminal.write_line(f"left out: {len(names)} tests, because {reason}" + ("" if installed else f": {' '.join(names)}"))

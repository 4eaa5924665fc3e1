"""The command `redial` as a Python package: it contains the binary, which takes the place of the Python process."""

import os
import subprocess
import sys

from redial_server.libraries import PACKAGES

BINARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "redial")
# As the command's own: it cannot start.
CANNOT_START = 3


def missing():
    """The shared libraries that the binary needs and this machine lacks."""
    if not PACKAGES:
        return []
    # What ldd does: the loader lists the libraries, and does not start the program.
    listed = subprocess.run(
        [BINARY], env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.endswith("=> not found")]


def main():
    lacking = missing()
    if lacking:
        packages = sorted({PACKAGES[name] for name in lacking if PACKAGES.get(name)})
        remedy = f"; on Debian and Ubuntu: apt-get install {' '.join(packages)}" if packages else ""
        print(f"redial: this machine lacks {', '.join(lacking)}; install what contains it{remedy}", file=sys.stderr)
        sys.exit(CANNOT_START)
    os.execv(BINARY, ["redial", *sys.argv[1:]])

"""The source that packages are made of: its folder, its version and its time."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout.strip()


def time_of_the_source():
    """Seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or output("git", "log", "-1", "--format=%ct"))


def version():
    return re.search(r'redialVersion = "(.*)"', (ROOT / "Sources/RedialCore/Version.swift").read_text())[1]

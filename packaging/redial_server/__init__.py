"""The command `redial` as a Python package: it contains the binary, which takes the place of the Python process."""

import os
import sys

BINARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "redial")


def main():
    os.execv(BINARY, ["redial", *sys.argv[1:]])

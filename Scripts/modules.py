"""Where the Swift modules are: most under Sources, and what is given out apart in folders of its own."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
APART = {"RedialClient": "clients/swift/RedialClient", "RedialLegacy": "Packages/Legacy/RedialLegacy"}


def folder(module):
    return ROOT / APART.get(module, f"Sources/{module}")


def names():
    """The modules that have Swift files."""
    return sorted([path.name for path in (ROOT / "Sources").iterdir() if any(path.rglob("*.swift"))] + [*APART])


def files():
    """The Swift files of all modules."""
    return sorted(file for module in names() for file in folder(module).rglob("*.swift"))

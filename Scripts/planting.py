"""Bugs that are planted in a copy of the sources, to show that tests find them. Production code has no trace of them.

A bug consists of a few edits: a piece of text that occurs once in a folder, and its replacement; `PLANTED` is true if the bug is
switched on. The text may be in any file of the folder, with any line breaks and indentation, so code can move. A text that does
not occur exactly once is an error: the bug must be planted again.
"""

import re
import sys


def sources(folder):
    return sorted(folder.rglob("*.swift"))


def swap(folder, old, new):
    """Replaces one text with another if the bug is on."""
    return folder, old, f"if PLANTED {{ {new} }} else {{ {old} }}"


def only_unless(folder, old):
    """A statement that the bug leaves out."""
    return folder, old, f"if !PLANTED {{ {old} }}"


def add_switch(folder, access=""):
    """Adds the switch to a module: `PLANTED_BUG` in the environment switches a bug on, by its number from 1."""
    (folder / "PlantedBug.swift").write_text(
        "internal import Glibc\n\n"
        "private let bug = getenv(\"PLANTED_BUG\").flatMap { Int(String(cString: $0)) } ?? 0\n\n"
        f"{access}func isPlanted(_ number: Int) -> Bool {{ number == bug }}\n")


def plant(bugs, copy, module="", access=""):
    """Plants all bugs in a copy of the sources, with a switch for them.

    The switch is a function of `module`; with the access `public `, of all modules that import it. Without a module, each folder
    that is edited is a module and has a switch of its own.
    """
    for folder in [module] if module else sorted({folder for bug in bugs for folder, _, _ in bug.edits}):
        add_switch(copy / folder, access)
    for number, bug in enumerate(bugs, 1):
        for folder, old, new in bug.edits:
            # Lines may be broken and indented in any way, as long as the words are the same.
            words = re.compile(r"\s+".join(map(re.escape, old.split())))
            found = [(file, match) for file in sources(copy / folder) for match in words.finditer(file.read_text())]
            if len(found) != 1:
                where = ", ".join(str(file.relative_to(copy)) for file, _ in found)
                sys.exit(f"planted bug \"{bug.name}\": {folder} has this {len(found)} times, not once ({where}):\n{old}")
            file, match = found[0]
            text = file.read_text()
            new = new.replace("PLANTED", f"isPlanted({number})")
            file.write_text(text[:match.start()] + new + text[match.end():])

"""The instructions of docker/Dockerfile, for systems that are made without a container engine."""

import re

from processes import ROOT


def stages():
    """For each stage its instructions, as pairs of a word and the rest; the last stage has no name."""
    found = {}
    text = re.sub(r"^#.*\n", "", (ROOT / "docker/Dockerfile").read_text(), flags=re.M).replace("\\\n", "")
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stage = found[rest.partition(" AS ")[2] or None] = []
        elif word:
            stage.append((word, rest.strip()))
    return found

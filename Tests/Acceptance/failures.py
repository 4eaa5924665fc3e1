"""Notes of the tests that fail, which stand at the end of a run: see Scripts/failure."""

import re
import subprocess

from parts import part
from processes import ROOT


def note_failure(item, report):
    """Notes a failed test for the end of the run: what it says, the last lines of the services' logs, and how to repeat it."""
    says = [line[1:].strip() for line in report.longreprtext.splitlines() if line.startswith("E ")][:4]
    if "seed" in item.funcargs:
        says.append(f"seed {item.funcargs['seed']}")
    for name, text in report.sections:
        if name.endswith(".log"):
            says += [f"{name}: {line}" for line in text.splitlines()[-2:]]
    # The seed that a test prints.
    says += [line for line in report.capstdout.splitlines() if re.search(r"\bseed\b", line)][:1]
    options = "" if part(item) is None else f" --part {part(item)}"
    subprocess.run(
        [ROOT / "Scripts/failure", item.nodeid.removeprefix("Tests/Acceptance/"), f"make acceptance TESTS='\"{item.nodeid}\"{options}'"],
        input="\n".join(says), text=True, check=False)

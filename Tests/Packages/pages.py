"""The packages, and the page that says how to install them."""

import re

from processes import ROOT

FOLDER = ROOT / ".build/packages"
RELEASES = ROOT / ".build/releases"
# The end of what `redial call` prints. If the test server is not there yet, one attempt more is made.
DELIVERED = re.compile(r"attempt (\d+): status 200 .*\nsucceeded after \1 attempts")
PAGE = ROOT / "docs/installing.md"


def commands(section):
    """The blocks of commands of a section, in their order."""
    found = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    return re.findall(r"^```sh\n(.*?)^```", found[1], re.M | re.S)

"""The libraries, the command, the contract and the list of changes have one version."""

import re

import yaml

from processes import ROOT, run


def test_everything_has_one_version():
    library = re.search(r'redialVersion = "(\d+\.\d+\.\d+)"', (ROOT / "Sources/RedialCore/Version.swift").read_text())[1]
    contract = yaml.safe_load((ROOT / "api/openapi.yaml").read_text())["info"]["version"]
    changes = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    command = run("--version").stdout.strip()
    assert [command, contract, changes] == [f"redial {library}", library, library]


def test_no_other_version_is_written_down():
    written = [
        str(file.relative_to(ROOT)) for file in (ROOT / "Sources").rglob("*.swift")
        if re.search(r'[vV]ersion\w* *= *"\d+\.\d+\.\d+"', file.read_text())
    ]
    assert written == ["Sources/RedialCore/Version.swift"]

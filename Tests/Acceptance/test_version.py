"""The libraries, the command, the contract and the list of changes have one version."""

import json
import re

import yaml

import modules
from processes import ROOT, run

# The oldest version of each library that may be in what ships.
MINIMUMS = {
    line.split()[0]: line.split()[1] for line in (ROOT / "packaging/libraries").read_text().splitlines()
    if line and not line.startswith("#")}


def test_everything_has_one_version():
    library = re.search(r'redialVersion = "(\d+\.\d+\.\d+)"', (ROOT / "Sources/RedialCore/Version.swift").read_text())[1]
    contract = yaml.safe_load((ROOT / "api/openapi.yaml").read_text())["info"]["version"]
    changes = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    command = run("--version").stdout.strip()
    assert [command, contract, changes] == [f"redial {library}", library, library]


def test_no_other_version_is_written_down():
    written = [
        str(file.relative_to(ROOT)) for file in modules.files()
        if re.search(r'[vV]ersion\w* *= *"\d+\.\d+\.\d+"', file.read_text())
    ]
    assert written == ["Sources/RedialCore/Version.swift"]


def libraries(text):
    """Each library with its version and the lines of faults below it."""
    found = {}
    for line in text.splitlines()[1:]:
        if line.startswith("  "):
            found[last].append(line.strip())
        else:
            name, last = line.split(" ", 1)
            last = name, last
            found[last] = []
    return {name: (version, faults) for (name, version), faults in found.items()}


def test_verbose_tells_the_libraries_and_the_known_faults_of_older_ones():
    shown = run("version", "--verbose").stdout
    assert shown.startswith(run("version").stdout)
    found = libraries(shown)
    assert list(found) == ["libcurl", "nghttp2", "OpenSSL", "SQLite", "zlib", "libpq"]
    for version, _ in found.values():
        assert re.fullmatch(r"\d+\.\d+(\.\d+)*", version), version

    def numbers(text):
        return [int(number) for number in text.split(".")]

    for name, source in (("libcurl", "curl"), ("SQLite", "sqlite3")):
        version, faults = found[name]
        # What ships has none of these faults, so this list and that of minimums agree.
        assert (faults == []) == (numbers(version) >= numbers(MINIMUMS[source])), (name, version, faults)
        for fault in faults:
            assert re.fullmatch(rf"In {name} before {re.escape(MINIMUMS[source])} .+\. (Guarded: .+\.|Not guarded\.)", fault), fault
    assert all(not found[name][1] for name in ("nghttp2", "OpenSSL", "zlib", "libpq"))


def test_the_start_and_doctor_tell_the_libraries(redial, tmp_path):
    service = redial(folder=tmp_path)
    log = service.log.read_text()
    found = libraries(run("version", "--verbose").stdout)
    named = ", ".join(f"{name} {version}" for name, (version, _) in found.items() if name != "libpq")
    assert f'libraries="{named}"' in log
    report = json.loads(run("doctor", "--json", "--store", f"sqlite:{service.store}").stdout)
    text = run("doctor", "--store", f"sqlite:{service.store}").stdout
    # The store is a file, so there is no libpq.
    assert {library["name"] for library in report["libraries"]} == set(found) - {"libpq"}
    for library in report["libraries"]:
        name, (version, faults) = library["name"], found[library["name"]]
        assert library["version"] == version and len(library["faults"]) == len(faults)
        for fault, sentence in zip(library["faults"], faults):
            assert fault["effect"] in sentence and fault["effect"] in log and sentence in text
            assert (fault["guardedBy"] or "Not guarded") in sentence
        assert (f"olderLibrary library=\"{name} {version}\"" in log) == bool(faults)

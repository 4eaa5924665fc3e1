"""What is in the packages, before they are installed."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from processes import ROOT


def output(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory):
    """The tarball's one folder."""
    folder = tmp_path_factory.mktemp("tarball")
    with tarfile.open(packages["tarball"]) as archive:
        # Python 3.11.2, which Debian 12 has, knows no filters and ignores this.
        archive.extraction_filter = getattr(tarfile, "tar_filter", None)
        archive.extractall(folder)
    (only,) = folder.iterdir()
    return only


def test_the_checksums_are_those_of_all_files(packages):
    folder = packages["deb"].parent
    output("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=folder)
    listed = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == {file.name for file in folder.iterdir()} - {"SHA256SUMS"}


def test_the_names_have_the_version_and_the_architecture(packages, unpacked):
    version = output(unpacked / "bin/redial", "version").split()[1]
    architecture = output("dpkg", "--print-architecture").strip()
    assert packages["tarball"].name == f"redial-{version}-linux-{architecture}.tar.gz"
    assert packages["bill"].name == f"redial-{version}-linux-{architecture}.spdx.json"
    assert packages["deb"].name == f"redial_{version}-1_{architecture}.deb"
    fields = output("dpkg-deb", "--field", packages["deb"], "Version", "Architecture")
    assert fields == f"Version: {version}-1\nArchitecture: {architecture}\n"


def test_everything_in_the_tarball_has_one_owner_and_the_time_of_the_commit(packages):
    with tarfile.open(packages["tarball"]) as archive:
        members = archive.getmembers()
    assert [member.name for member in members] == sorted(member.name for member in members)
    assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "root", "root")}
    assert len({member.mtime for member in members}) == 1
    assert {member.mode for member in members} == {0o755, 0o644}


def test_the_same_binary_gives_the_same_packages_in_another_folder(packages, unpacked, tmp_path):
    binary = tmp_path / "another" / "redial"
    binary.parent.mkdir()
    shutil.copy(unpacked / "bin/redial", binary)
    # What `Scripts/binary` has written beside the binary: the libraries in it, and their licences.
    for file in ROOT.glob(".build/static/*/release/redial.li*"):
        shutil.copy(file, binary.parent)
    with tarfile.open(packages["tarball"]) as archive:
        epoch = str(archive.next().mtime)
    output(ROOT / "packaging/build.py", binary, tmp_path / "packages", env={
        **os.environ, "SOURCE_DATE_EPOCH": epoch, "TZ": "Asia/Kolkata", "LC_ALL": "C"})
    assert (tmp_path / "packages/SHA256SUMS").read_text() == (packages["deb"].parent / "SHA256SUMS").read_text()


def test_the_bill_is_valid_and_names_what_is_linked(packages, unpacked):
    document = parse_file(str(packages["bill"]))
    assert [message.validation_message for message in validate_full_spdx_document(document)] == []
    bill = json.loads(packages["bill"].read_text())
    binary = unpacked / "bin/redial"
    (file,) = bill["files"]
    sums = {entry["algorithm"]: entry["checksumValue"] for entry in file["checksums"]}
    assert sums["SHA256"] == hashlib.sha256(binary.read_bytes()).hexdigest()
    names = {package["SPDXID"]: package["name"] for package in bill["packages"]}

    def linked(kind):
        return {names[entry["relatedSpdxElement"]] for entry in bill["relationships"] if entry["relationshipType"] == kind}

    assert linked("STATIC_LINK") == {
        "swift-runtime", "libcurl", "libpq", "openssl", "sqlite", "zlib", "nghttp2", "libstdc++", "libgcc"}
    # Each library that the package depends on is in the bill.
    depends = output("dpkg-deb", "--field", packages["deb"], "Depends")
    libraries = {name for name in re.findall(r"(?:^|, )([a-z0-9+.-]+)", depends)} - {"adduser", "ca-certificates"}
    assert linked("DYNAMIC_LINK") == libraries == {"libc6"}
    assert all(package["licenseDeclared"] != "NOASSERTION" for package in bill["packages"])
    assert (unpacked / "share/doc/redial/redial.spdx.json").read_bytes() == packages["bill"].read_bytes()


def test_what_is_linked_is_as_new_as_required_and_what_the_bill_says(packages, unpacked):
    bill = {package["name"]: package for package in json.loads(packages["bill"].read_text())["packages"]}
    lines = output(unpacked / "bin/redial", "version", "--verbose").splitlines()[1:]
    # A line below one of a library tells a known fault of its version.
    assert not [line for line in lines if line.startswith(" ")]
    running = {name.lower(): version for name, version in (line.split(" ", 1) for line in lines)}
    assert set(running) == {"libcurl", "nghttp2", "openssl", "sqlite", "zlib", "libpq"}
    sources = {"libcurl": "curl", "libpq": "postgresql-18", "sqlite": "sqlite3"}
    minimums = dict(
        line.split()[:2] for line in (ROOT / "packaging/libraries").read_text().splitlines() if not line.startswith("#"))
    for name, version in running.items():
        taken = bill[name]
        assert re.search(rf"(?<![\d.]){re.escape(version)}-\d", taken["versionInfo"]), (name, version, taken["versionInfo"])
        output("dpkg", "--compare-versions", taken["versionInfo"], "ge", minimums[sources.get(name, name)])
        assert taken["packageFileName"].partition(".orig")[2] and re.fullmatch("[0-9a-f]{64}", taken["checksums"][0]["checksumValue"])
        assert f"{taken['packageFileName']} {taken['checksums'][0]['checksumValue']}" in taken["sourceInfo"]


def test_the_manual_has_every_option_of_the_help(unpacked):
    binary, folder = unpacked / "bin/redial", unpacked / "share/man/man1"
    commands = re.findall(r"^  ([a-z-]+)  ", output(binary, "--help"), re.M)
    assert len(commands) > 20
    assert {page.name for page in folder.iterdir()} == {"redial.1", *(f"redial-{name}.1" for name in commands)}
    for page in sorted(folder.iterdir()):
        done = subprocess.run(
            ["man", "--warnings", "--local-file", page], capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "MANWIDTH": "200", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and done.stderr == "", (page.name, done.stderr)
        shown = " ".join(re.sub(r".\x08", "", done.stdout).split())
        name = page.stem.removeprefix("redial").removeprefix("-")
        helped = output(binary, *([name] if name else []), "--help-all" if name else "--help")
        for line in helped.split("\n"):
            # The headings have other words, and the exit codes are a list.
            if line.startswith(("Usage:", "Exit codes:", "Options:")):
                continue
            for word in line.split():
                assert word.strip("():;.") in shown, (page.name, line, word)


def test_lintian_finds_no_error(packages):
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error", packages["deb"]], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    # lintian itself must have read the package.
    assert not re.search(r"^E: |internal error|cannot", done.stdout, re.M), done.stdout


def test_what_is_not_a_setting_is_not_in_the_config_file(unpacked):
    done = subprocess.run(
        [unpacked / "bin/redial", "serve", "--print-config", "--config", unpacked / "share/doc/redial/redial.json"],
        capture_output=True, text=True, env={})
    assert done.returncode == 0 and "sqlite:///var/lib/redial/redial.db" in done.stdout, done

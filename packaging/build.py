#!/usr/bin/env python3
"""Makes the packages of a binary in .build/packages: a tarball, a Debian package, the bill of materials, checksums.

    packaging/build.py BINARY [FOLDER]

`make packages` builds the binary first. All times in the packages are that of the commit, or SOURCE_DATE_EPOCH.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

import archive
import bill
import debian
import manual

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS = ROOT / "packaging/systemd"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout.strip()


def time_of_the_source():
    """Seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or output("git", "log", "-1", "--format=%ct"))


def swift_license():
    """The licence that comes with the toolchain that has linked its run time into the binary."""
    home = pathlib.Path(shutil.which("swift")).resolve().parent.parent
    return (home / "share/swift/LICENSE.txt").read_bytes()


def common_files(binary, spdx, epoch):
    """The content and mode of each file below /usr or /usr/local."""
    files = {"bin/redial": (binary.read_bytes(), 0o755)}
    for name, page in manual.Manual(binary, epoch).pages().items():
        files[f"share/man/man1/{name}.1"] = (page.encode(), 0o644)
    places = {
        "bash": "share/bash-completion/completions/redial", "zsh": "share/zsh/site-functions/_redial",
        "fish": "share/fish/vendor_completions.d/redial.fish"}
    for shell, path in places.items():
        files[path] = (output(binary, "completion", shell).encode() + b"\n", 0o644)
    for unit in ("redial.service", "redial.socket"):
        files[f"lib/systemd/system/{unit}"] = ((UNITS / unit).read_bytes(), 0o644)
    documents = {
        "LICENSE": (ROOT / "LICENSE").read_bytes(), "LICENSE.swift": swift_license(), "redial.spdx.json": spdx,
        "redial.json": (ROOT / "packaging/redial.json").read_bytes()}
    for name, content in documents.items():
        files[f"share/doc/redial/{name}"] = (content, 0o644)
    return files


def for_usr_local(files):
    """The files for a tarball, which is unpacked in /usr/local."""
    path = "lib/systemd/system/redial.service"
    content, mode = files[path]
    return files | {path: (content.replace(b"/usr/bin/redial", b"/usr/local/bin/redial"), mode)}


def main(binary, folder=ROOT / ".build/packages"):
    binary, folder = pathlib.Path(binary).resolve(), pathlib.Path(folder)
    epoch = time_of_the_source()
    version = output(binary, "version").split()[-1]
    architecture = output("dpkg", "--print-architecture")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    spdx = bill.bill(binary, version, architecture, epoch)
    files = common_files(binary, spdx, epoch)
    name = f"redial-{version}-linux-{architecture}"
    (folder / f"{name}.spdx.json").write_bytes(spdx)
    (folder / f"{name}.tar.gz").write_bytes(archive.tarball(for_usr_local(files), name, epoch))
    package = folder / f"redial_{version}-1_{architecture}.deb"
    license, changes = (ROOT / "LICENSE").read_text(), (ROOT / "CHANGELOG.md").read_text()
    debian.build(
        debian.files(files, version, epoch, license, changes), binary, version, architecture, epoch, package)

    made = sorted(folder.iterdir())
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in made]
    (folder / "SHA256SUMS").write_text("".join(sums))
    for file in [*made, folder / "SHA256SUMS"]:
        print(f"packages: {os.path.relpath(file, ROOT)}, {file.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])

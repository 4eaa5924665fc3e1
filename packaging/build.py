#!/usr/bin/env python3
"""Makes the packages of a binary in .build/packages: a tarball, a Debian package, the bill of materials, checksums.

    packaging/build.py BINARY [FOLDER]

`make packages` builds the binary first. All times in the packages are that of the commit, or SOURCE_DATE_EPOCH.
"""

import hashlib
import os
import pathlib
import shutil
import sys

import archive
import bill
import debian
import elf
import manual
from source import ROOT, output, time_of_the_source

UNITS = ROOT / "packaging/systemd"


def swift_license():
    """The licence that comes with the toolchain that has linked its run time into the binary."""
    home = pathlib.Path(shutil.which("swift")).resolve().parent.parent
    return (home / "share/swift/LICENSE.txt").read_bytes()


def licenses(binary):
    """The texts of the licences of what is in the binary, by the names of their files."""
    texts = {"LICENSE": (ROOT / "LICENSE").read_bytes(), "LICENSE.swift": swift_license()}
    # Those of the libraries in it.
    if (libraries := pathlib.Path(f"{binary}.licenses")).exists():
        texts["LICENSE.libraries"] = libraries.read_bytes()
    return texts


def common_files(binary, speaker, spdx, epoch):
    """The content and mode of each file below /usr or /usr/local."""
    files = {"bin/redial": (binary.read_bytes(), 0o755)}
    for name, page in manual.Manual(speaker, epoch).pages().items():
        files[f"share/man/man1/{name}.1"] = (page.encode(), 0o644)
    places = {
        "bash": "share/bash-completion/completions/redial", "zsh": "share/zsh/site-functions/_redial",
        "fish": "share/fish/vendor_completions.d/redial.fish"}
    for shell, path in places.items():
        files[path] = (output(speaker, "completion", shell).encode() + b"\n", 0o644)
    for unit in ("redial.service", "redial.socket"):
        files[f"lib/systemd/system/{unit}"] = ((UNITS / unit).read_bytes(), 0o644)
    documents = licenses(binary) | {
        "redial.spdx.json": spdx, "redial.json": (ROOT / "packaging/redial.json").read_bytes()}
    for name, content in documents.items():
        files[f"share/doc/redial/{name}"] = (content, 0o644)
    return files


def for_usr_local(files):
    """The files for a tarball, which is unpacked in /usr/local."""
    path = "lib/systemd/system/redial.service"
    content, mode = files[path]
    return files | {path: (content.replace(b"/usr/bin/redial", b"/usr/local/bin/redial"), mode)}


def make(binary, folder, epoch, speaker=None):
    """Writes the packages of a binary into the folder.

    The speaker is a binary of the same version that runs on this machine, and prints the manual: one of another architecture
    does not run here.
    """
    speaker = speaker or binary
    version, architecture = output(speaker, "version").split()[-1], elf.architecture(binary)
    spdx = bill.bill(binary, version, architecture, epoch)
    files = common_files(binary, speaker, spdx, epoch)
    name = f"redial-{version}-linux-{architecture}"
    (folder / f"{name}.spdx.json").write_bytes(spdx)
    (folder / f"{name}.tar.gz").write_bytes(archive.tarball(for_usr_local(files), name, epoch))
    package = folder / f"redial_{version}-1_{architecture}.deb"
    license, changes = (ROOT / "LICENSE").read_text(), (ROOT / "CHANGELOG.md").read_text()
    debian.build(
        debian.files(files, version, epoch, license, changes), binary, version, architecture, epoch, package)


def write_checksums(folder):
    """SHA256SUMS of all files in the folder; their paths, and its own."""
    made = sorted(folder.iterdir())
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in made]
    (folder / "SHA256SUMS").write_text("".join(sums))
    return [*made, folder / "SHA256SUMS"]


def main(binary, folder=ROOT / ".build/packages"):
    binary, folder = pathlib.Path(binary).resolve(), pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(binary, folder, time_of_the_source())
    for file in write_checksums(folder):
        print(f"packages: {os.path.relpath(file, ROOT)}, {file.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])

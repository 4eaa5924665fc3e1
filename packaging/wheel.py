#!/usr/bin/env python3
"""Makes the Python package redial-server, a wheel with a binary: `pip install` of it gives the command `redial`.

    packaging/wheel.py BINARY VERSION FOLDER [BILL]     BILL is the binary's bill of materials, to be in the wheel, too

The wheel's tag says which glibc it needs, as the binary itself does. The same binary gives the same bytes.
"""

import base64
import hashlib
import io
import pathlib
import sys
import time
import zipfile

import build
import elf
from source import ROOT, time_of_the_source

SOURCES = ROOT / "packaging/redial_server"
# Python's names for the architectures.
PLATFORMS = {"amd64": "x86_64", "arm64": "aarch64"}
METADATA = """\
Metadata-Version: 2.4
Name: redial-server
Version: {version}
Summary: Redial, retry as a service: the command with the service and its dashboard, as one binary
License-Expression: MIT
{files}\
Keywords: retry,webhooks,queue,http,backoff,idempotency
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Developers
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Internet :: WWW/HTTP
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""


def tag(binary):
    major, minor = elf.glibc(binary)
    return f"py3-none-manylinux_{major}_{minor}_{PLATFORMS[elf.architecture(binary)]}"


def files(binary, version, tag, licenses, bill):
    """The content of each file, by its path."""
    about = f"redial_server-{version}.dist-info"
    listed = "".join(f"License-File: {name}\n" for name in sorted(licenses))
    metadata = METADATA.format(version=version, files=listed).encode() + (SOURCES / "README.md").read_bytes()
    wheel = f"Wheel-Version: 1.0\nGenerator: redial {version}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    found = {f"redial_server/{file.name}": file.read_bytes() for file in SOURCES.glob("*.py")} | {
        "redial_server/bin/redial": binary.read_bytes(),
        f"{about}/METADATA": metadata,
        f"{about}/WHEEL": wheel.encode(),
        f"{about}/entry_points.txt": b"[console_scripts]\nredial = redial_server:main\n",
    } | {f"{about}/licenses/{name}": text for name, text in licenses.items()}
    if bill:
        found[f"{about}/sboms/redial.spdx.json"] = bill
    return found | {f"{about}/RECORD": record(found, about)}


def record(files, about):
    """The list of all files with their checksums, which has none for itself."""
    def checksum(content):
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    lines = [f"{path},sha256={checksum(content)},{len(content)}\n" for path, content in sorted(files.items())]
    return "".join([*lines, f"{about}/RECORD,,\n"]).encode()


def zipped(files, epoch):
    """The bytes of a zip file with the same times and owners everywhere."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            # Zip knows no time before 1980.
            entry = zipfile.ZipInfo(path, max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0)))
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.endswith("/bin/redial") else 0o100644) << 16
            archive.writestr(entry, content)
    return output.getvalue()


def make(binary, version, folder, epoch, licenses, bill=None):
    """Writes the wheel into the folder; its path. The licences are texts by the names of their files."""
    kind = tag(binary)
    wheel = folder / f"redial_server-{version}-{kind}.whl"
    wheel.write_bytes(zipped(files(binary, version, kind, licenses, bill), epoch))
    return wheel


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    program, number, target, *bills = sys.argv[1:]
    program = pathlib.Path(program).resolve()
    print(make(
        program, number, pathlib.Path(target), time_of_the_source(), build.licenses(program),
        *(pathlib.Path(bill).read_bytes() for bill in bills)))

"""The Debian package, made with dpkg-deb."""

import hashlib
import os
import pathlib
import subprocess
import tempfile
from email.utils import formatdate

import elf
from archive import compressed

SOURCES = pathlib.Path(__file__).resolve().parent / "debian"
# There is no public address yet; those who build for others give theirs, as for Debian's own tools.
MAINTAINER = "{} <{}>".format(
    os.environ.get("DEBFULLNAME", "The Redial authors"), os.environ.get("DEBEMAIL", "packages@redial.example"))


def files(common, version, epoch, license, changes):
    """The files of the package with their modes. `common` are those of the tarball."""
    package = {}
    for path, (content, mode) in common.items():
        if "/man/" in path:
            path, content = f"{path}.gz", compressed(content)
        elif path.startswith("share/zsh/"):
            path = "share/zsh/vendor-completions/_redial"
        package[f"usr/{path}"] = (content, mode)
    package["etc/redial/redial.json"] = package.pop("usr/share/doc/redial/redial.json")
    # Debian has the licences in a file of its own form.
    for name in ("LICENSE", "LICENSE.swift"):
        package.pop(f"usr/share/doc/redial/{name}")
    # Paragraphs are indented, and an empty line is a dot.
    text = "\n".join(f" {line}" if line else " ." for line in license.partition("\n\n")[2].strip().split("\n")[2:])
    copyright = (SOURCES / "copyright").read_text().replace("@LICENSE@", text)
    entry = (f"redial ({version}-1) unstable; urgency=medium\n\n  * Version {version}; changelog.gz has the changes.\n\n"
             f" -- {MAINTAINER}  {formatdate(epoch)}\n")
    return package | {
        "usr/share/doc/redial/copyright": (copyright.encode(), 0o644),
        "usr/share/lintian/overrides/redial": ((SOURCES / "lintian-overrides").read_bytes(), 0o644),
        "usr/share/doc/redial/changelog.gz": (compressed(changes.encode()), 0o644),
        "usr/share/doc/redial/changelog.Debian.gz": (compressed(entry.encode()), 0o644),
    }


def dependencies(binary):
    """What the binary needs. `dpkg-shlibdeps` would ask for the newer glibc of this machine, in which symbols have moved."""
    if elf.libraries(binary):
        raise SystemExit(f"{binary} needs {', '.join(elf.libraries(binary))} of the system; Scripts/binary links all that in")
    return "libc6 (>= {}.{})".format(*elf.glibc(binary))


def build(files, binary, version, architecture, epoch, output):
    """Writes the package to `output`."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "redial"
        for path, (content, mode) in files.items():
            write(root / path, content, mode)
        control = (SOURCES / "control").read_text()
        size = sum((len(content) + 1023) // 1024 for content, _ in files.values())
        for name, value in {"VERSION": version, "ARCHITECTURE": architecture, "MAINTAINER": MAINTAINER,
                            "SIZE": size, "LIBRARIES": dependencies(binary)}.items():
            control = control.replace(f"@{name}@", str(value))
        write(root / "DEBIAN/control", control.encode(), 0o644)
        write(root / "DEBIAN/conffiles", b"/etc/redial/redial.json\n", 0o644)
        sums = [f"{hashlib.md5(content).hexdigest()}  {path}\n"
                for path, (content, _) in sorted(files.items()) if not path.startswith("etc/")]
        write(root / "DEBIAN/md5sums", "".join(sums).encode(), 0o644)
        for script in ("postinst", "prerm", "postrm"):
            write(root / "DEBIAN" / script, (SOURCES / script).read_bytes(), 0o755)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (epoch, epoch))
        # The number of threads would decide how xz divides the data.
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", str(root), str(output)],
            check=True, stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)})


def write(path, content, mode):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)

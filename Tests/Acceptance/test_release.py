"""The command as a Python package, and what Scripts/release refuses. The whole release is made and installed by the campaign."""

import email
import gzip
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

from client_packages import CLIENTS, checked
from processes import BINARY, ROOT, environment, free_port
from terminal import Terminal

sys.path.append(str(ROOT / "packaging"))
import wheel

EPOCH = 1_700_000_000
# A binary of every system, which is small.
SMALL = pathlib.Path("/bin/true").resolve()


def version():
    return re.search(r'redialVersion = "(.*)"', (ROOT / "Sources/RedialCore/Version.swift").read_text())[1]


def made(binary, folder):
    folder.mkdir(exist_ok=True)
    return wheel.make(pathlib.Path(binary).resolve(), version(), folder, EPOCH, {"LICENSE": b"A licence.\n"})


def installed(file, folder):
    """The command in a virtual environment that has nothing but the wheel."""
    checked(sys.executable, "-m", "venv", "--without-pip", folder)
    checked(
        sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "-q", "--no-compile", "--no-index",
        "--disable-pip-version-check", file)
    return folder / "bin/redial"


def test_the_wheel_installs_the_command_that_runs_everything(tmp_path):
    command = installed(made(BINARY, tmp_path), tmp_path / "venv")
    assert checked(command, "version") == f"redial {version()}\n"
    assert checked(tmp_path / "venv/bin/python", "-m", "redial_server", "version") == f"redial {version()}\n"
    # The exit code and what is written are the command's own.
    done = subprocess.run([command, "call"], capture_output=True, text=True, env=environment())
    assert done.returncode == 2 and "redial" in done.stderr, done
    terminal = Terminal("dev", "--memory", "--demo", "--listen", f"127.0.0.1:{free_port()}", binary=str(command), env={
        "HOME": str(tmp_path), "XDG_DATA_HOME": "", "DISPLAY": "", "NO_COLOR": "1"})
    try:
        terminal.until("succeeded after 3 attempts")
        # It is the process itself that gets a signal, and not a parent in Python.
        assert os.readlink(f"/proc/{terminal.process.pid}/exe").endswith("redial_server/bin/redial")
        terminal.process.terminate()
        assert terminal.end() == 0
    finally:
        terminal.process.kill()
        terminal.process.wait()


def test_the_wheel_says_what_the_binary_needs(tmp_path):
    file = made(SMALL, tmp_path)
    needed = re.findall(r"GLIBC_(\d+)\.(\d+)", checked("readelf", "-VW", SMALL))
    newest = max((int(major), int(minor)) for major, minor in needed)
    tag = f"py3-none-manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}"
    assert file.name == f"redial_server-{version()}-{tag}.whl"
    with zipfile.ZipFile(file) as archive:
        about = f"redial_server-{version()}.dist-info"
        assert f"Tag: {tag}\n" in archive.read(f"{about}/WHEEL").decode()
        metadata = email.message_from_bytes(archive.read(f"{about}/METADATA"))
        assert (metadata["Name"], metadata["Version"], metadata["License-File"]) == ("redial-server", version(), "LICENSE")
        assert metadata.get_payload().startswith("# redial-server\n")
        assert archive.read(f"{about}/licenses/LICENSE") == b"A licence.\n"
        assert archive.getinfo("redial_server/bin/redial").external_attr >> 16 & 0o777 == 0o755


def test_the_same_binary_gives_the_same_wheel(tmp_path):
    first = made(SMALL, tmp_path / "first")
    copy = tmp_path / "copy"
    shutil.copy(SMALL, copy)
    os.utime(copy, (0, 0))
    assert made(copy, tmp_path / "second").read_bytes() == first.read_bytes()


def test_the_extra_of_the_client_is_the_command_of_the_same_version():
    project = tomllib.loads((CLIENTS / "python/pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"] == {"server": [f"redial-server=={version()}"]}


GIT = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.com"]


@pytest.fixture
def source(tmp_path):
    """A repository with what Scripts/release looks at before it makes anything."""
    folder = tmp_path / "source"
    for name in ("Scripts/release", "packaging", "CHANGELOG.md", "Sources/RedialCore/Version.swift", ".gitignore"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    checked(*GIT, "init", "-q", folder)
    return folder


def commit(source):
    checked(*GIT, "add", "--all", cwd=source)
    checked(*GIT, "commit", "-q", "-m", "x", cwd=source)


def refused(source, *arguments):
    """What it says, without a container engine."""
    done = subprocess.run(
        [source / "Scripts/release", *map(str, arguments)], capture_output=True, text=True, env=os.environ | {"ENGINE": "none"})
    assert done.returncode != 0 and done.stdout == "" and not (source / ".build").exists(), done
    return done.stderr


def test_a_release_is_refused_with_all_reasons_at_once(source, tmp_path):
    changes = source / "CHANGELOG.md"
    changes.write_text(f"# Changes\n\n## {version()}\n\nNot released yet, so nothing has changed.\n")
    commit(source)
    (source / "forgotten").write_text("")
    said = refused(source, version(), "--key", tmp_path / "key")
    assert "CHANGELOG.md says" in said and "remove that sentence" in said
    assert "commit or remove them:\n?? forgotten" in said
    assert f"ssh-keygen -t ed25519 -f {tmp_path / 'key'}" in said
    assert "start docker or podman, or say --without-images" in said
    assert len(said.split("release: ")) == 1 + 4

    said = refused(source, "99.0.0", "--trial", "--without-images")
    assert f"Version.swift says {version()}, not 99.0.0" in said and "add `## 99.0.0`" in said
    assert len(said.split("release: ")) == 1 + 2


def test_a_release_without_a_key_must_be_called_a_trial(source):
    assert "give --key FILE, which signs the release, or --trial" in refused(source, version())
    assert "not allowed with" in refused(source, version(), "--trial", "--images", ".", "--without-images")
    assert f"has no redial-{version()}-image-*.tar.gz" in refused(source, version(), "--trial", "--images", source)


def load(script):
    """A script of the repository as a module."""
    loader = importlib.machinery.SourceFileLoader("script", str(ROOT / script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("script", loader))
    loader.exec_module(module)
    return module


def test_the_signature_is_checked_as_the_page_says(tmp_path):
    release = load("Scripts/release")
    checked("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", tmp_path / "key")
    sums = tmp_path / "SHA256SUMS"
    sums.write_text("0123  redial\n")
    assert "ssh-ed25519" in release.sign(tmp_path / "key", tmp_path)
    (tmp_path / "signers").write_text("redial " + (tmp_path / "key.pub").read_text())
    (command,) = re.findall(r"^ssh-keygen -Y verify.*$", (ROOT / "docs/installing.md").read_text(), re.M)
    assert "Good" in checked("bash", "-c", command, cwd=tmp_path)
    sums.write_text("4567  redial\n")
    assert subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True).returncode != 0


ENGINE = """#!/bin/sh
echo "$*" >>"$0.log"
for word; do
  case $word in build=*) sha256sum <"${word#build=}/out/redial" >>"$0.log" ;; esac
done
[ "$1" != save ] || echo images
"""


def test_images_are_built_around_a_binary_and_saved(tmp_path):
    """What an engine is asked for; the campaign builds the images themselves where one runs."""
    engine, archive = tmp_path / "engine", tmp_path / "images.tar.gz"
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    checked(ROOT / "packaging/image", SMALL, archive, env=os.environ | {"ENGINE": str(engine)})
    first, sum, second, again, save = (tmp_path / "engine.log").read_text().splitlines()
    for words, target in ((first, "-t redial ."), (second, "-t redial:minimal --target minimal .")):
        assert words.startswith("build --build-context build=") and words.endswith(target), words
        assert f"VERSION={version()} " in words
    assert sum == again == checked("sha256sum", "-", stdin=open(SMALL)).strip()
    assert save == "save redial redial:minimal" and gzip.decompress(archive.read_bytes()) == b"images\n"


def test_a_binary_that_needs_more_than_glibc_is_refused():
    """Such as one of `swift build`, or one for another machine than it is said to be."""
    here, other = ("amd64", "arm64") if os.uname().machine == "x86_64" else ("arm64", "amd64")
    release = load("Scripts/release")
    with pytest.raises(SystemExit, match=f"--binary {here}=.*: it needs .*libcurl.so.4.* of the system; Scripts/binary"):
        release.binaries([f"{here}={BINARY}"], here)
    with pytest.raises(SystemExit, match=f"--binary {other}={SMALL}: the file is for {here}"):
        release.binaries([f"{other}={SMALL}"], here)
    with pytest.raises(SystemExit, match="with a file that exists"):
        release.binaries([f"{here}=/nowhere"], here)
    assert release.binaries([f"{here}={SMALL}"], here) == {here: SMALL}

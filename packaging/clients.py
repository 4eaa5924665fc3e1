"""The packages of the clients: the wheel of Python's, and the tarball of TypeScript's, as `npm pack` would make it."""

import os
import pathlib
import subprocess
import tempfile

import archive
from source import ROOT

CLIENTS = ROOT / "clients"
PYTHON = ROOT / ".build/venv/bin/python"


def python(folder, epoch):
    """Writes the wheel into the folder, with the build backend of Tests/Acceptance/requirements.txt."""
    subprocess.run(
        [PYTHON, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--wheel-dir",
         folder, CLIENTS / "python"], check=True, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)})


def typescript(folder, version, epoch):
    """Writes the tarball into the folder."""
    source = CLIENTS / "typescript"
    with tempfile.TemporaryDirectory() as compiled:
        subprocess.run(["tsc", "--project", source, "--outDir", f"{compiled}/dist"], check=True)
        paths = {path.relative_to(compiled): path for path in pathlib.Path(compiled).rglob("*") if path.is_file()}
        paths |= {pathlib.Path(name): source / name for name in ("package.json", "README.md")} | {pathlib.Path("LICENSE"): ROOT / "LICENSE"}
        files = {str(name): (path.read_bytes(), 0o644) for name, path in paths.items()}
    (folder / f"redial-client-{version}.tgz").write_bytes(archive.tarball(files, "package", epoch))

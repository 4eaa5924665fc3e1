"""Faults for the process under test: the shims in shim/*.c, compiled on first use, and small file systems."""

import os
import pathlib
import random
import struct
import subprocess

import pytest

import needs
from processes import ROOT

SECTOR = 512


def shim(name="faults"):
    """A shared library; compiled again if its source has changed."""
    source = pathlib.Path(__file__).with_name("shim") / f"{name}.c"
    library = ROOT / f".build/{name}.so"
    compiler = needs.c_compiler()
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        fresh = library.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", fresh, source, "-ldl", "-lpthread"],
            check=True)
        fresh.rename(library)
    return library


class Faults:
    """The faults of a process that is started with `env`."""

    def __init__(self, folder, store):
        self.folder, self.store = folder / "faults", store
        (self.folder / "durable").mkdir(parents=True)
        for clock in ("clock", "suspended"):
            (self.folder / clock).write_bytes(bytes(8))
        self.env = {
            "LD_PRELOAD": str(shim()), "FAULTS_FOLDER": str(self.folder), "FAULTS_STORE": str(self.store)}

    def on(self, name):
        (self.folder / name).touch()

    def off(self, name):
        (self.folder / name).unlink(missing_ok=True)

    def ahead(self, clock, seconds):
        """Sets a clock forward or back, in one step."""
        with open(self.folder / clock, "r+b") as file:
            file.write(struct.pack("q", round(seconds * 1e9)))

    def cut_power(self, what, chance=random):
        """The store after a power cut: unsynced writes are lost ("lost"), kept ("kept"), or any sectors of them are
        ("torn").
        """
        for suffix in ("", "-wal", "-journal"):
            file = pathlib.Path(f"{self.store}{suffix}")
            image = self.folder / "durable" / file.name
            if not image.exists():
                file.unlink(missing_ok=True)
                continue
            written = file.read_bytes() if file.exists() else b""
            durable = image.read_bytes()
            if what == "lost":
                content = durable
            elif what == "kept":
                content = written
            else:
                length = chance.choice([len(written), len(durable)])
                parts = []
                for start in range(0, length, SECTOR):
                    old, new = durable[start:start + SECTOR], written[start:start + SECTOR]
                    part = new if old == new or chance.random() < 0.5 else old
                    parts.append(part.ljust(min(SECTOR, length - start), b"\0"))
                content = b"".join(parts)[:length]
            file.write_bytes(content)
            image.write_bytes(content)
        pathlib.Path(f"{self.store}-shm").unlink(missing_ok=True)


class SmallDisk:
    """A file system of a few megabytes, in memory."""

    def __init__(self, folder, megabytes):
        self.path = folder
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "redial-test", folder], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"a small disk cannot be mounted here ({done.stderr.strip().rpartition(': ')[2]})")

    def fill(self):
        """Fills the file system."""
        with open(self.path / "filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass
            try:
                while True:
                    file.write(bytes(512))
            except OSError:
                pass

    def free(self):
        (self.path / "filler").unlink()

    def remount(self, option):
        subprocess.run(["mount", "-o", f"remount,{option}", self.path], check=True, capture_output=True)

    def end(self):
        subprocess.run(["umount", "-l", self.path], check=True)

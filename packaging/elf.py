"""What a binary says about itself in its ELF file: its architecture, and what it needs from the system.

Nothing is run, so a binary of another architecture can be read, too.
"""

import re
import subprocess

# The names of Debian for the machines of an ELF file, as readelf prints them.
ARCHITECTURES = {"Advanced Micro Devices X86-64": "amd64", "AArch64": "arm64"}
GLIBC = re.compile(r"ld-linux-[\w-]+\.so\.\d|lib(c|dl|m|pthread|resolv|rt|util)\.so\.\d")


def readelf(option, binary):
    done = subprocess.run(
        ["readelf", "--wide", option, binary], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    if done.returncode != 0 or "Error:" in done.stderr:
        raise SystemExit(f"{binary} is not a binary of Linux: {done.stderr.strip()}")
    return done.stdout


def architecture(binary):
    machine = re.search(r"Machine: +(.*)", readelf("--file-header", binary))[1]
    if machine not in ARCHITECTURES:
        raise SystemExit(f"{binary} is for {machine}; Redial is packaged for {' and '.join(ARCHITECTURES.values())}")
    return ARCHITECTURES[machine]


def libraries(binary):
    """The names of the shared libraries that it needs, without those of glibc."""
    names = re.findall(r"NEEDED.*\[(.*)\]", readelf("--dynamic", binary))
    return sorted(name for name in names if not GLIBC.fullmatch(name))


def glibc(binary):
    """The oldest glibc that has all of its symbols, as numbers: (2, 34)."""
    found = re.findall(r"\bGLIBC_(\d+)\.(\d+)", readelf("--version-info", binary))
    return max((int(major), int(minor)) for major, minor in found)

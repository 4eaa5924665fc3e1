"""The binary of the packages: what it needs of a system, and on which systems it runs."""

import tarfile

import pytest

import elf
import systems
from pages import DELIVERED, commands
from processes import ROOT

# Megabytes are of 1,048,576 bytes.
LARGEST = 20 << 20


@pytest.fixture(scope="module")
def binary(packages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("binary")
    with tarfile.open(packages["tarball"]) as archive:
        # Python 3.11.2, which Debian 12 has, knows no filters and ignores this.
        archive.extraction_filter = getattr(tarfile, "tar_filter", None)
        archive.extractall(folder)
    (found,) = folder.glob("*/bin/redial")
    return found


def test_it_needs_an_old_glibc_and_nothing_else(binary):
    assert elf.libraries(binary) == []
    assert elf.glibc(binary) <= (2, 31), "Debian 11 has glibc 2.31"


def test_it_is_small_and_has_no_symbols_and_no_place_of_its_build(binary):
    assert binary.stat().st_size <= LARGEST
    sections = elf.readelf("--sections", binary)
    assert ".symtab" not in sections and ".debug_info" not in sections
    content = binary.read_bytes()
    assert str(ROOT).encode() not in content and b"/.build/" not in content


def test_the_loader_protects_it(binary):
    dynamic, segments = elf.readelf("--dynamic", binary), elf.readelf("--program-headers", binary)
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic
    # Its addresses are random, and what the loader has filled in is read-only.
    assert "PIE" in dynamic and "BIND_NOW" in dynamic and "GNU_RELRO" in segments
    (stack,) = [line for line in segments.splitlines() if "GNU_STACK" in line]
    assert " RW " in stack, stack


@pytest.mark.parametrize("release", ["bullseye", "bookworm", "trixie"])
def test_it_delivers_on_debian_11_to_13(release, packages, tmp_path):
    if reason := systems.missing():
        pytest.skip(reason)
    system = systems.System(systems.bootstrap(tmp_path / "bare", release), tmp_path / "system")
    system.add(packages["tarball"].parent)
    # As the page says, but without its packages: they are for TLS alone.
    unpack = commands("Tarball")[0].splitlines()[-1]
    assert unpack.startswith("tar "), unpack
    shown = system.run(f"cd /packages\n{unpack}\ncd /tmp\n{commands('Tarball')[1]}")
    assert DELIVERED.search(shown), shown

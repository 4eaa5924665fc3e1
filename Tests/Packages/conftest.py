"""The packages that `make packages` has made, and bare systems to install them in."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Acceptance"))

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent.parent / "packaging"))

import engines  # noqa: E402  the folder above is needed to find what these import
import source  # noqa: E402
import systems  # noqa: E402
from pages import FOLDER, RELEASES  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--compile", action="store_true", help="build the images from this folder, in ten minutes, instead of around the packages' binary")


@pytest.fixture(scope="session")
def packages():
    """The paths of the packages by their kind: tarball, deb, bill."""
    kinds = {"tarball": "*.tar.gz", "deb": "*.deb", "bill": "*.spdx.json"}
    found = {kind: sorted(FOLDER.glob(pattern)) for kind, pattern in kinds.items()}
    assert all(len(files) == 1 for files in found.values()), f"run `make packages` first: {found}"
    return {kind: files[0] for kind, files in found.items()}


@pytest.fixture(scope="session")
def release():
    """The folder that `Scripts/release` has made."""
    folder = RELEASES / source.version()
    assert (folder / "SHA256SUMS").exists(), "run `Scripts/release --trial` first"
    return folder


@pytest.fixture(scope="session")
def engine():
    engine = engines.found()
    if isinstance(engine, str):
        pytest.skip(engine)
    return engine


@pytest.fixture(scope="session")
def compiled(request, engine):
    """The image `redial`, compiled in the toolchain's image as README.md says."""
    if not request.config.getoption("--compile"):
        pytest.skip("the image is compiled with --compile, in ten minutes")
    engine.build("redial")
    return "redial"


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """The folder of a minimal system of this machine's distribution, which is not changed."""
    reason = systems.missing()
    if reason:
        pytest.skip(reason)
    return systems.bootstrap(tmp_path_factory.mktemp("bare") / "system")


@pytest.fixture
def system(bare, tmp_path):
    """A minimal system to install something in, with the packages in its folder /packages."""
    copy = systems.System(bare, tmp_path / "system")
    copy.add(FOLDER)
    yield copy
    copy.end()

"""A whole release: the checksums, and that it can be made again."""

import re
import subprocess
import tarfile
import zipfile

import clients
import wheel
from processes import ROOT
from source import version

NUMBER = version()


def test_the_checksums_are_those_of_all_files(release):
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=release, check=True)
    listed = {line.split()[1] for line in (release / "SHA256SUMS").read_text().splitlines()}
    assert listed == {file.name for file in release.iterdir()} - {"SHA256SUMS", "SHA256SUMS.sig"}


def test_it_has_each_kind_of_file_that_the_page_names(release):
    table = re.search(r"^\| file \| for \|\n(.*?)\n\n", (ROOT / "docs/installing.md").read_text(), re.M | re.S)[1]
    patterns = re.findall(r"`([^` ]+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.M)))
    assert len(patterns) == 6
    for pattern in patterns:
        found = list(release.glob(pattern.replace("VERSION", NUMBER).replace("ARCHITECTURE", "*").replace("…", "*")))
        # Images are made where a container engine runs.
        assert found or "image" in pattern, pattern


def test_the_notes_are_the_newest_section_of_the_changes(release):
    notes, changes = (release / "NOTES.md").read_text(), (ROOT / "CHANGELOG.md").read_text()
    for heading in re.findall(r"^### .*$", changes.partition(f"## {NUMBER}\n")[2].partition("\n## ")[0], re.M):
        assert f"\n{heading}\n" in notes
    assert not re.search(r"\]\((?!https?:)", notes)


def test_the_same_source_gives_the_same_wheels_and_tarball(release, tmp_path):
    with tarfile.open(next(release.glob("redial-*-linux-*.tar.gz"))) as archive:
        epoch = archive.next().mtime
    clients.python(tmp_path, epoch)
    clients.typescript(tmp_path, NUMBER, epoch)
    for file in release.glob("redial_server-*.whl"):
        with zipfile.ZipFile(file) as archive:
            binary = tmp_path / "redial"
            binary.write_bytes(archive.read("redial_server/bin/redial"))
            about = f"redial_server-{NUMBER}.dist-info"
            bill = archive.read(f"{about}/sboms/redial.spdx.json")
            names = re.findall(rf"^{about}/licenses/(.*)$", "\n".join(archive.namelist()), re.M)
            # Those of all that is linked in.
            assert sorted(names) == ["LICENSE", "LICENSE.libraries", "LICENSE.swift"]
            licenses = {name: archive.read(f"{about}/licenses/{name}") for name in names}
        assert bill in [spdx.read_bytes() for spdx in release.glob("*.spdx.json")]
        assert wheel.make(binary, NUMBER, tmp_path, epoch, licenses, bill).name == file.name
    made = [file for file in tmp_path.iterdir() if file.name != "redial"]
    assert len(made) >= 3
    for file in made:
        assert file.read_bytes() == (release / file.name).read_bytes(), file.name

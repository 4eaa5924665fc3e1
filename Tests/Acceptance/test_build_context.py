"""The image is built from what .dockerignore leaves and the COPY instructions name: all that the build calls is there."""

import pytest

from build_context import left, manifest_error, missing
from dockerfile import stages
from processes import ROOT

IGNORE = (ROOT / ".dockerignore").read_text()


def test_all_that_the_build_of_the_image_calls_is_copied(tmp_path):
    assert missing(IGNORE, stages()["build"]) == []
    assert manifest_error(tmp_path, IGNORE, stages()["build"]) == ""


def without(copy):
    return [each for each in stages()["build"] if each != ("COPY", copy)]


@pytest.mark.parametrize("line, found", [
    ("Scripts/static-libraries", ["COPY Scripts/static-libraries: .dockerignore leaves nothing of it",
                                  "RUN needs Scripts/static-libraries, which is not copied",
                                  "Scripts/binary needs Scripts/static-libraries, which is not copied"]),
    ("packaging/*.ld", ["COPY packaging/binary.ld: .dockerignore leaves nothing of it",
                        "Scripts/binary needs packaging/binary.ld, which is not copied"]),
    ("docs/*.txt", ["COPY docs/llms.txt: .dockerignore leaves nothing of it",
                    "Sources/CDocuments/llms.c needs docs/llms.txt, which is not copied"]),
])
def test_a_line_of_the_ignore_file_that_takes_too_much_is_found(line, found):
    assert missing(f"{IGNORE}{line}\n", stages()["build"]) == found


@pytest.mark.parametrize("forgotten, found", [
    ("api ./api", "Sources/CDocuments/openapi.c needs api/openapi.yaml, which is not copied"),
    ("packaging/libraries ./packaging/", "Scripts/static-libraries needs packaging/libraries, which is not copied"),
    ("packaging/binary.ld ./packaging/", "Scripts/binary needs packaging/binary.ld, which is not copied"),
    ("Scripts/binary ./Scripts/", "RUN needs Scripts/binary, which is not copied"),
])
def test_a_copy_that_is_forgotten_is_found(forgotten, found):
    assert found in missing(IGNORE, without(forgotten))


def test_a_folder_of_the_manifest_that_is_forgotten_is_found(tmp_path):
    assert "invalid custom path 'Tests" in manifest_error(tmp_path, IGNORE, without("Tests ./Tests"))


def test_the_last_line_of_the_ignore_file_that_matches_decides():
    names = ["a", "b/c", "b/d", "e/f/g.pyc", "h/__pycache__/i", "__pycache__/j", "k.x/l"]
    assert left(names, "# b\nb/*\n!b/c\n**/__pycache__\n*.x\ne/**/*.pyc\n") == ["a", "b/c"]
    assert left(names, "b\n!b\nb/d/\n") == [name for name in names if name != "b/d"]

"""The width of the code is counted, and no growth is unseen."""

import shutil
import subprocess
import sys

import pytest

from processes import ROOT


@pytest.fixture
def house(tmp_path):
    """A small tree with the script, and its record."""
    (tmp_path / "Scripts").mkdir()
    shutil.copy(ROOT / "Scripts/width", tmp_path / "Scripts")
    for path, text in {"Sources/A/a.swift": "struct One {\n  func go() { print(\"a // b\") }\n}\n", "Sources/B/Generated/b.swift": "enum Two {}\n"}.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)

    def width(*words):
        return subprocess.run([sys.executable, tmp_path / "Scripts/width", *words], capture_output=True, text=True)
    width("--write")
    return tmp_path, width


def test_tokens_types_and_functions_are_counted(house):
    _, width = house
    rows = {line[:20].strip(): line[20:].split() for line in width().stdout.splitlines()}
    assert rows["A"] == ["14", "1", "1"] and rows["generated"] == ["4", "1", "0"] and rows["all by hand"] == rows["A"]


@pytest.mark.parametrize("change, told", {
    "struct One {": "A: 13 tokens, fewer than the 14", "func more() {}\nstruct One {": "A: 2 functions, more than the 1",
    "class Three {}\nstruct One {": "A: 2 types, more than the 1",
}.items())
def test_growth_and_what_went_have_to_be_recorded(house, change, told):
    tree, width = house
    file = tree / "Sources/A/a.swift"
    text = file.read_text().replace("struct One {", change)
    file.write_text(text if change != "struct One {" else text.replace("{ print", "print"))
    done = width("--check")
    assert done.returncode == 1 and told in done.stderr, done
    assert width("--write").returncode == 0 and width("--check").returncode == 0


def test_comments_and_lines_count_nothing(house):
    tree, width = house
    file = tree / "Sources/A/a.swift"
    file.write_text("/// Says something: it's \"all\" here.\n" + file.read_text().replace("{ print", "{\n\n// More.\nprint"))
    assert width("--check").returncode == 0


def test_the_width_of_this_tree_is_recorded():
    done = subprocess.run([ROOT / "Scripts/width", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

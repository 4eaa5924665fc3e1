"""The pages: each short, each linked, in plain words, with paths that exist; and the schema as it is."""

import re
import sqlite3
import subprocess

import pytest
import yaml

from processes import BINARY, ROOT, environment

PAGES = sorted((ROOT / "docs").glob("*.md"))
DOOR = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
LONGEST_DOOR, LONGEST_PAGE = 8192, 15 * 1024


def anchor(title):
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.S)


def test_the_door_and_the_pages_are_short():
    assert (ROOT / "README.md").stat().st_size <= LONGEST_DOOR
    assert len(PAGES) > 10
    for page in PAGES:
        assert page.stat().st_size <= LONGEST_PAGE, page.name


@pytest.mark.parametrize("page", DOOR + PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, place = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), target
        if place:
            titles = re.findall(r"^#+ (.*)$", without_code(file.read_text()), re.M)
            assert place in map(anchor, titles), target


# Phrases that make a sentence hard to read, each with what to write in its place.
HARD = {
    r"hand(s|ed|ing)? (over|in)\b": "submit, send, pass",
    r"\b(is|are|be|been|was|were|gets?) told\b": "receives an event, is notified, sees",
    r"\b(came|comes|come|became|becomes) of (it|them|each|the|what|a)\b": "the result",
    r"\bwhat (is|has|was|had) no\b": "name the thing",
    r"\bfor want of\b": "because there is no …, out of …",
    r"\bunder way\b": "in flight (an attempt), running (an operation)",
    r"\bno bound\b": "no limit",
    r"\bfor whoever\b": "for people who",
    r"\bgood for\b": "allows",
    r"\bby what\b": "name the thing",
    r"\bthought? through\b": "simulate",
    r"\b(is|are) (heeded|gone by)\b": "counts",
    r"\bmay (be asked|have of)\b": "name the limit",
}


def hard(text):
    """The phrases of a text that are hard to read, each with its surroundings and with what to write in its place."""
    flat = " ".join(text.split())
    return [
        (flat[max(0, match.start() - 40):match.end() + 40], better)
        for phrase, better in HARD.items() for match in re.finditer(phrase, flat, re.I)]


@pytest.mark.parametrize("page", DOOR + PAGES, ids=lambda page: page.name)
def test_the_pages_are_in_plain_words(page):
    assert hard(without_code(page.read_text())) == []


def test_the_help_is_in_plain_words():
    def told(*arguments):
        return subprocess.run([BINARY, *arguments], capture_output=True, text=True, env=environment()).stdout

    commands = re.findall(r"^  ([a-z-]+)  ", told("--help"), re.M)
    assert len(commands) > 20
    for arguments in [("--help",), *((command, "--help-all") for command in commands)]:
        assert hard(told(*arguments)) == [], arguments


def texts(node):
    """What a contract says to people."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("summary", "description", "title", "detail") and isinstance(value, str):
                yield value
            else:
                yield from texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value)


def test_the_contract_is_in_plain_words():
    found = list(texts(yaml.safe_load((ROOT / "api/openapi.yaml").read_text())))
    assert len(found) > 500
    assert [entry for text in found for entry in hard(text)] == []


def literals(code):
    """The texts in the quotes of a program, without its comments."""
    code = re.sub(r"^\s*//.*$|<!--.*?-->", "", code, flags=re.M)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`', code)


def test_the_messages_and_the_dashboard_are_in_plain_words():
    page = (ROOT / "Sources/RedialService/Dashboard/dashboard.html").read_text()
    shown = re.findall(r">([^<>{}]+)<", page.partition("<script>")[0])
    found = [("dashboard.html", text) for text in shown + ["".join(pair) for pair in literals(page)]]
    for file in sorted((ROOT / "Sources").rglob("*.swift")):
        found += [(file.name, "".join(pair)) for pair in literals(file.read_text())]
    assert len(found) > 3000
    assert [(name, entry) for name, text in found for entry in hard(text)] == []


def test_hard_phrases_are_found():
    assert len(hard("What is no date is told to nobody. It is handed\nover.")) == 3
    assert hard("Submit a call. Redial retries it.") == []


def test_every_page_is_in_the_contents():
    contents = (ROOT / "docs/README.md").read_text()
    for page in PAGES:
        assert page.name == "README.md" or f"]({page.name})" in contents, page.name


def test_what_the_pages_name_is_there():
    makefile = (ROOT / "Makefile").read_text()
    for page in DOOR + PAGES:
        text = page.read_text()
        for target in set(re.findall(r"`make ([\w-]+)", text)):
            assert re.search(rf"^{target}:", makefile, re.M), (page.name, target)
        for path in re.findall(r"`((?:Sources|Tests|docker|api|Benchmarks)/[\w./-]+)`", text):
            assert (ROOT / path).exists(), (page.name, path)


def swift_tests():
    """The Swift files with tests, each with the texts in its quotes."""
    return [(file, file.read_text()) for file in sorted((ROOT / "Tests").rglob("*.swift"))]


def test_each_row_of_the_older_systems_leads_to_tests():
    rows = re.findall(r"^\| ([A-Z]\d+|[A-Za-z]*) ?\| .+? \| (`.*) \|$", (ROOT / "docs/ancestors.md").read_text(), re.M)
    codes = [row for row, _ in rows if re.fullmatch(r"[A-Z]\d+", row)]
    counts = {"E": 12, "R": 9, "C": 7, "A": 10}
    assert codes == [f"{letter}{number}" for letter, count in counts.items() for number in range(1, count + 1)]
    assert len(rows) >= len(codes) + 17
    files = swift_tests()
    for row, cell in rows:
        shown_by = re.findall(r'`(\w+)`: ("[^"]*"(?:; "[^"]*")*)', cell)
        assert "; ".join(f"`{name}`: {tests}" for name, tests in shown_by) == cell, row
        for name, tests in shown_by:
            code = "".join(text for file, text in files if file.stem == name)
            for test in re.findall(r'"([^"]*)"', tests):
                assert re.search(r"@Test\(\s*" + re.escape(f'"{test}"'), code), (row, name, test)


def test_no_test_is_named_for_a_row():
    named = [(file.name, name) for file, text in swift_tests()
             for name in re.findall(r'@(?:Test|Suite)\(\s*"([^"]*)"', text)]
    assert len(named) > 1000
    assert [entry for entry in named if re.match(r"[ERCA]\d+\b", entry[1])] == []


def schema(database):
    """Name, kind and text of everything in a database's schema."""
    rows = database.execute("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    database.close()
    return {(name, kind): sql for name, kind, sql in rows}


def test_a_store_has_the_schema_of_the_page_and_nothing_else(redial):
    service = redial()
    service.kill()
    fresh = sqlite3.connect(":memory:")
    fresh.executescript((ROOT / "docs/schema.sql").read_text())
    found = schema(sqlite3.connect(f"file:{service.store}?mode=ro", uri=True))
    assert found == schema(fresh)

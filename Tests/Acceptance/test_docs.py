"""The pages: each short, each linked, in plain words, with paths that exist; and the schema as it is."""

import ast
import io
import re
import sqlite3
import subprocess
import tokenize
from pathlib import Path

import pytest
import yaml

import modules
from processes import BINARY, ROOT, environment

PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOOR = [ROOT / name for name in (
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "Tests/README.md", "clients/python/README.md", "clients/typescript/README.md",
    "clients/go/README.md")]
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


@pytest.mark.parametrize("page", DOOR + PAGES, ids=lambda page: str(page.relative_to(ROOT)))
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
    r"\bhears? of\b": "receives an event, is notified",
    r"\b(tell(s|ing)?|told) of\b": "reports, contains",
    r"\bcomes? (to (it|that|nothing)|upon)\b": "happens, ends without a result, meets",
    r"\bwhat (is|was|are) (asked|left|made|kept|known|told|said|meant|wanted) (of|for|by)\b": "name the thing",
    r"\b(is|are) said of\b|\bwhether or no\b|\bshall\b|\bhence\b|\bby (its|their) own word\b": "use today's words",
    r"\bnobody's\b": "without an owner, in no engine's memory",
    r"\bfor ever\b": "forever",
    r"\bsees? to (it|that)\b": "ensures",
    r"\bbut for (the|those|what|one|its|a)\b": "except",
    r"\bgives? way\b": "is closed for another",
    r"\bto be had\b": "available",
    r"\bhands? (it|them|that|what)( \w+)? (to|over|back)\b": "passes, returns",
}


def hard(text):
    """The phrases of a text that are hard to read, each with its surroundings and with what to write in its place."""
    flat = " ".join(text.split())
    return [
        (flat[max(0, match.start() - 40):match.end() + 40], better)
        for phrase, better in HARD.items() for match in re.finditer(phrase, flat, re.I)]


@pytest.mark.parametrize("page", DOOR + PAGES, ids=lambda page: str(page.relative_to(ROOT)))
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
    found = list(texts(yaml.load((ROOT / "api/openapi.yaml").read_text(), yaml.CSafeLoader)))
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
    for file in modules.files():
        found += [(file.name, "".join(pair)) for pair in literals(file.read_text())]
    assert len(found) > 3000
    assert [(name, entry) for name, text in found for entry in hard(text)] == []


def swift_comments(code):
    """The comments of a Swift, C, TypeScript or Go file, with their line numbers. A `//` in a string is not a comment."""
    found = []
    for number, line in enumerate(code.split("\n"), 1):
        for mark in re.finditer(r"(?:^|(?<= ))//+ ?", line) if "//" in line else ():
            if line.count('"', 0, mark.start()) % 2 == 0:
                found.append((number, line[mark.end():]))
                break
    return found


def python_comments(code):
    """The comments and docstrings of a Python file, with their line numbers."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    found = [(token.start[0], token.string.lstrip("# ")) for token in tokens if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            found.append((node.body[0].lineno, ast.get_docstring(node)))
    return sorted(found)


def shell_comments(code):
    """The comments of a shell script, with their line numbers."""
    found = ((number, re.match(r"\s*# ?([^!].*)$", line)) for number, line in enumerate(code.split("\n"), 1))
    return [(number, match[1]) for number, match in found if match]


def paragraphs(comments):
    """Comments on consecutive lines as one text each, because a phrase may go over the end of a line."""
    joined = []
    for number, text in comments:
        if joined and number == joined[-1][1] + 1:
            joined[-1][1:] = [number, f"{joined[-1][2]} {text}"]
        else:
            joined.append([number, number, text])
    return [(first, text) for first, _, text in joined]


def commented_files():
    """Every source file of the repository that has comments, with the function that finds them."""
    readers = {".swift": swift_comments, ".c": swift_comments, ".h": swift_comments, ".py": python_comments}
    readers |= {".ts": swift_comments, ".mjs": swift_comments, ".go": swift_comments}
    for folder in ("Sources", "Packages", "Tests", "Benchmarks", "Scripts", "clients", "packaging"):
        for file in sorted((ROOT / folder).rglob("*")):
            if not file.is_file() or {".build", "Generated", "node_modules"} & set(file.parts) or file == Path(__file__):
                continue
            if file.suffix in readers:
                yield file, readers[file.suffix]
            elif not file.suffix or file.suffix == ".sh":
                first = file.read_bytes()[:64].split(b"\n")[0]
                if first.startswith(b"#!"):
                    yield file, python_comments if b"python" in first else shell_comments


def test_the_comments_are_in_plain_words():
    count, found = 0, []
    for file, comments in commented_files():
        for line, text in paragraphs(comments(file.read_text())):
            count += 1
            found += [(f"{file.relative_to(ROOT)}:{line}", *entry) for entry in hard(text)]
    assert count > 7000
    assert found == []


def test_the_names_of_tests_are_in_plain_words():
    found = [(file.name, *entry) for file, text in swift_tests()
             for name in re.findall(r'@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"', text) for entry in hard(name)]
    assert found == []


def test_hard_phrases_are_found():
    assert len(hard("What is no date is told to nobody. It is handed\nover.")) == 3
    assert hard("Submit a call. Redial retries it.") == []
    swift = 'let url = "http://is.told" // A call is told\n/// Waits\n/// for ever.\nlet text = "// no comment"\n'
    assert paragraphs(swift_comments(swift)) == [(1, "A call is told Waits for ever.")]
    assert len(hard("A call is told Waits for ever.")) == 2
    python = 'def wait():\n    """Is\n    told."""\n    return "# for ever"  # for ever\n'
    assert [len(hard(text)) for _, text in python_comments(python)] == [1, 1]
    assert shell_comments("#!/bin/sh\necho '# for ever'\n# for ever\n") == [(3, "for ever")]


def test_every_page_is_in_the_contents():
    """Those of the folder, if it has some, or those of the whole documentation."""
    for page in PAGES:
        contents = next(folder / "README.md" for folder in page.parents if (folder / "README.md").exists())
        assert page == contents or f"]({page.relative_to(contents.parent)})" in contents.read_text(), page


def test_what_the_pages_name_is_there():
    makefile = (ROOT / "Makefile").read_text()
    for page in DOOR + PAGES:
        text = page.read_text()
        for target in set(re.findall(r"`make ([\w-]+)", text)):
            assert re.search(rf"^{target}:", makefile, re.M), (page.name, target)
        for path in re.findall(r"`((?:Sources|Packages|clients|Tests|docker|api|Benchmarks)/[\w./-]+)`", text):
            assert (ROOT / path).exists(), (page.name, path)


def test_each_acceptance_test_has_its_subject():
    table = (ROOT / "Tests/README.md").read_text().partition("## The acceptance tests")[2]
    named = re.findall(r"(\*?)`(\w+)`\1", "".join(re.findall(r"^\| [^|]+ \|(.*)\|$", table, re.M)))
    files = {file.stem.removeprefix("test_"): file.read_text() for file in (ROOT / "Tests/Acceptance").glob("test_*.py")}
    assert sorted(name for _, name in named) == sorted(files)
    for mark, name in named:
        assert bool(mark) == bool(re.search(r"^pytestmark = .*part\(", files[name], re.M)), name


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

"""Takes the Swift samples out of the documentation, and makes tests of them.

A sample is a ```swift block in a page (README.md, docs/*.md, the pages of each library) or in a doc comment. Each becomes a test, in a
file for its page; what it declares with the lines that begin at its margin is seen by the page's other samples, too.
`#sourceLocation` has the compiler and the tests speak of the page's own lines.

A line of the form

    expression  // → value; whatever else there is to say

is checked: the expression, as text, must be that value.
"""

import fcntl
import re
import subprocess
import textwrap

import modules
from processes import ROOT, environment

PACKAGE = ROOT / "Tests/Samples"
GENERATED = PACKAGE / "Sources/Generated"
# The packages that use the library share it, so that the library is built for them once.
SCRATCH = ROOT / ".build/samples"
# test_embedding.py compares the examples in the documentation with the program.
EXCERPTS = ROOT / "Sources/Redial/Redial.docc/Embedding.md"

FENCE = re.compile(r"^(?P<margin>\s*(?:/// ?)?)```(?P<language>\w*)\s*$")
DECLARATION = re.compile(
    r"(?:(?:final|indirect) )*(?:struct|class|enum|actor|protocol|extension|func|typealias)\b|@(?:Test|Suite)\b")
RESULT = re.compile(r"^(?P<expression>\s*\S.*?)\s*// → (?P<value>[^;]+?)(?:;.*)?$")


class Sample:
    def __init__(self, page, line, text):
        self.page, self.line, self.text = page, line, text

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    """The pages that may have samples, the library's own comments among them."""
    yield ROOT / "README.md"
    yield from sorted((ROOT / "docs").glob("*.md"))
    for module in ("Redial", "RedialClient", "RedialCore", "RedialLegacy"):
        folder = modules.folder(module)
        yield from sorted([*folder.rglob("*.md"), *folder.rglob("*.swift")])


def samples(page):
    """The samples of a page, each with the number of its first line."""
    found, block, first, language, prefix = [], None, 0, "", ""
    is_code = page.suffix == ".swift"
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if fence and is_code and "///" not in line:
            fence = None
        if fence and block is None:
            block, first, language, prefix = [], number + 1, fence["language"], fence["margin"]
        elif fence:
            if language == "swift":
                found.append(Sample(page.relative_to(ROOT), first, textwrap.dedent("\n".join(block))))
            block = None
        elif block is not None:
            block.append(line.removeprefix(prefix.rstrip() if is_code and not line.strip("/ ") else prefix))
    assert block is None, f"{page}: a block does not end"
    return found


def parts(sample):
    """The sample's imports, its declarations and the rest, each as (line, text)."""
    imports, declarations, rest = [], [], []
    depth, into = 0, rest
    opened = None
    for offset, line in enumerate(sample.text.split("\n")):
        number = sample.line + offset
        if depth == 0 and line and not line[0].isspace():
            if line.startswith("import "):
                imports.append(line)
                continue
            # An attribute on its own line belongs to the declaration that follows.
            if DECLARATION.match(line) and into is rest:
                into, opened = declarations, []
                declarations.append((number, opened))
        code = re.sub(r'"(?:\\.|[^"\\])*"|//.*', "", line)
        if into is declarations:
            opened.append(line)
        else:
            rest.append((number, line))
        depth += sum(code.count(c) for c in "{([") - sum(code.count(c) for c in "})]")
        if depth <= 0 and into is declarations and "{" in "".join(opened):
            into = rest
    return imports, declarations, rest


def located(page, number, lines):
    return [f'#sourceLocation(file: "{page}", line: {number})', *lines, "#sourceLocation()"]


def checked(line):
    """A line, with the check of its result."""
    result = RESULT.match(line)
    if not result:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    value = result["value"].strip().replace("\\", "\\\\").replace('"', '\\"')
    return f'{indent}expectText({result["expression"].strip()}, "{value}")'


def swift_file(page):
    """The Swift file for a page; nil if the page has no samples."""
    found = samples(page)
    if not found:
        return None
    module = "RedialCore" if "RedialCore" in page.parts else "Redial"
    imports, outside, tests = {f"import {module}", "import Foundation", "import Testing"}, [], []
    imports.update(f"import {module}" for module in ("RedialClient", "RedialLegacy") if module in page.parts)
    for sample in found:
        more, declarations, rest = parts(sample)
        imports.update(more)
        for number, lines in declarations:
            own = lines if lines[0].startswith("@") else ["fileprivate " + lines[0], *lines[1:]]
            outside += located(sample.page, number, own)
        name = re.sub(r"\W", "_", str(sample))
        tests.append(f'@Test("{sample}", .timeLimit(.minutes(1))) func sample_{name}() async throws {{')
        start, lines = sample.line, []
        for number, line in rest:
            if lines and number != start + len(lines):
                tests += located(sample.page, start, lines)
                lines = []
            if not lines:
                start = number
            lines.append(checked(line))
        tests += located(sample.page, start, lines) if any(map(str.strip, lines)) else []
        tests.append("}")
    head = ["// swift-format-ignore-file", "// Made from the documentation; see Tests/Acceptance/samples.py.", ""]
    return "\n".join([*head, *sorted(imports), "", *outside, *tests, ""])


def generate():
    """Writes the files of all pages, and returns the number of tests."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    wanted = {}
    for page in pages():
        text = None if page == EXCERPTS else swift_file(page)
        if text:
            wanted[re.sub(r"\W", "_", str(page.relative_to(ROOT))) + ".swift"] = text
    for old in GENERATED.iterdir():
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        file = GENERATED / name
        # An unchanged file is not compiled again.
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    return sum(len(re.findall(r"^@Test\b", text, re.M)) for text in wanted.values())


def swift(command, *arguments, package, seconds, env=None):
    """Runs a command of the package manager on a package that uses the library."""
    SCRATCH.parent.mkdir(exist_ok=True)
    # Packages that are built at once wait for each other, which is not part of the time that one may take.
    with open(SCRATCH.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return subprocess.run(
            ["swift", command, "--package-path", package, "--scratch-path", SCRATCH, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds,
            env=environment({"SWIFT_BACKTRACE": "enable=no"} | (env or {})))

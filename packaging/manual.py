"""Makes manual pages of the command's own help, so that the two cannot differ."""

import re
import subprocess
from datetime import datetime, timezone

# A shorter line in the middle of a paragraph was broken on purpose.
FULL_LINE = 60


class Manual:
    """The pages of one binary."""

    def __init__(self, binary, epoch):
        self.binary = binary
        self.date = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%d")
        self.version = self.text("version").split()[-1]

    def text(self, *arguments):
        return subprocess.run([self.binary, *arguments], check=True, capture_output=True, text=True).stdout

    def pages(self):
        """The text of each page in roff, by its name without a section."""
        overview = self.text("--help")
        commands = re.findall(r"^  ([a-z-]+)  ", overview, re.M)
        others = ", ".join(f"\\fBredial\\-{roff(name)}\\fR(1)" for name in commands)
        pages = {"redial": self.page("redial", overview, others)}
        for name in commands:
            pages[f"redial-{name}"] = self.page(f"redial-{name}", self.text(name, "--help-all"), "\\fBredial\\fR(1)")
        return pages

    def page(self, name, text, others):
        first, *blocks = text.strip("\n").split("\n\n")
        lines = [
            f'.TH {name.upper()} 1 "{self.date}" "redial {self.version}" "Redial"',
            # Names of settings are not hyphenated, and lines not stretched.
            ".nh", ".ad l", ".SH NAME", f"{roff(name)} \\- {roff(summary(first))}"]
        last = []
        for block in blocks:
            if block.startswith("Usage: "):
                lines += [".SH SYNOPSIS", *synopsis(block)]
                lines += [".SH DESCRIPTION", roff(" ".join(first.split()))]
            elif block.startswith("Exit codes: "):
                last += [".SH EXIT STATUS", *exit_codes(block)]
            elif re.match(r"  [a-z-]+  ", block):
                lines += [".SH COMMANDS", *commands_of(block)]
            elif re.match(r".*:\n  -", block):
                lines += options(block)
            else:
                if ".SH NOTES" not in lines:
                    lines.append(".SH NOTES")
                lines += paragraph(block)
        return "\n".join([*lines, *last, ".SH SEE ALSO", others, ""])


def roff(text):
    """A text that roff shows as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def summary(sentences):
    """The first sentence of a help, as a manual page names what it is about."""
    sentence = " ".join(sentences.split()).removeprefix("Redial: ").split(". ")[0].removesuffix(".")
    return sentence[0].lower() + sentence[1:]


def synopsis(block):
    program, _, rest = block.removeprefix("Usage: ").partition(" ")
    words = []
    for word in rest.split():
        words.append(f"\\fB{roff(word)}\\fR" if re.fullmatch(r"[a-z-]+", word) else roff(word))
    return [" ".join([f"\\fB{roff(program)}\\fR", *words])]


def exit_codes(block):
    text = " ".join(block.removeprefix("Exit codes: ").split()).removesuffix(".")
    lines = []
    for entry in re.split(r"; (?=\d+ )", text):
        code, _, meaning = entry.partition(" ")
        lines += [".TP", f"\\fB{code}\\fR", roff(meaning[0].upper() + meaning[1:] + ".")]
    return lines


def commands_of(block):
    lines = []
    for name, what in re.findall(r"^  ([a-z-]+) {2,}(.*)$", block, re.M):
        lines += [".TP", f"\\fB{roff(name)}\\fR", roff(what)]
    return lines


def options(block):
    """A group of options: each has a line of its own, with its description below it."""
    title, *entries = block.split("\n")
    lines = [".SH OPTIONS"] if title == "Options:" else [".SS " + roff(title.removesuffix(":"))]
    for entry in entries:
        if entry.startswith("      "):
            lines.append(roff(entry.strip()))
        else:
            names, value = re.fullmatch(r"  ((?:-\w, )?--?[\w-]+)(.*)", entry).groups()
            lines += [".TP", f"\\fB{roff(names)}\\fR{roff(value)}"]
    return lines


def paragraph(block):
    lines = block.split("\n")
    if all(len(line) >= FULL_LINE and not line.startswith(" ") for line in lines[:-1]):
        return [".PP", *map(roff, lines)]
    return [".PP", ".nf", *map(roff, lines), ".fi"]

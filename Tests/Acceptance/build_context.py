"""What docker/Dockerfile gets to build from: the files that .dockerignore leaves, as the COPY instructions place them."""

import pathlib
import re
import shutil
import subprocess

from processes import ROOT

# What may be the path of a file in a script.
WORD = re.compile(r"[\w.][\w./-]*")
EMBED = re.compile(r'^#embed "(.+)"', re.M)


def tracked():
    """The files of the repository, new ones among them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def expression(pattern):
    """A pattern of .dockerignore as a regular expression, for a path or a folder above it."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    found = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    return re.compile("".join(parts.get(part, re.escape(part)) for part in found) + "(?:/.*)?")


def left(files, ignore):
    """The files that these lines of .dockerignore leave; the last line that matches decides."""
    rules = [(line[:1] != "!", expression(line.lstrip("!"))) for line in ignore.splitlines() if line.strip() and line[0] != "#"]

    def stays(name):
        decided = [ignores for ignores, rule in rules if rule.fullmatch(name)]
        return not decided or not decided[-1]
    return [name for name in files if stays(name)]


def placed(files, instructions):
    """For each file in the stage's WORKDIR the file of the context that COPY puts there, and the sources that are not there."""
    image, absent = {}, []
    for _, rest in (each for each in instructions if each[0] == "COPY" and not each[1].startswith("--from")):
        *sources, into = rest.split()
        for source in sources:
            found = [name for name in files if name == source or name.startswith(source.rstrip("/") + "/")]
            absent += [] if found else [source]
            for name in found:
                inside = name.removeprefix(source).lstrip("/")
                # The content of a folder is copied; a file keeps its name where the destination is a folder.
                path = pathlib.PurePosixPath(into) / (inside or (pathlib.PurePosixPath(source).name if into.endswith("/") else ""))
                image[str(path)] = name
    return image, absent


def called(text):
    """The paths of files of the repository that a script names, also behind a variable with the repository's folder."""
    text = re.sub(r"^\s*#.*|\$\{?\w+\}?/", " ", text, flags=re.M)
    words = {word.removeprefix("./") for word in WORD.findall(text)}
    return {word for word in words if "/" in word and (ROOT / word).is_file()}


def embedded(name, text):
    """The paths that a C file embeds."""
    return {str((ROOT / name).parent.joinpath(path).resolve().relative_to(ROOT)) for path in EMBED.findall(text)}


def missing(ignore, instructions):
    """What a build in the image would not find, as sentences: each RUN has what is copied before it."""
    files = left(tracked(), ignore)
    found = [f"COPY {source}: .dockerignore leaves nothing of it" for source in placed(files, instructions)[1]]
    for number, (word, rest) in enumerate(instructions):
        if word != "RUN":
            continue
        image, _ = placed(files, instructions[:number])
        needed = dict.fromkeys(called(rest), "RUN")
        for path, name in image.items():
            if name.endswith(".c"):
                needed |= dict.fromkeys(embedded(name, (ROOT / name).read_text()), name)
            elif name.startswith(("Scripts/", "packaging/")):
                needed |= dict.fromkeys(called((ROOT / name).read_text()), name)
        found += [f"{by} needs {path}, which is not copied" for path, by in sorted(needed.items()) if path not in image]
    return found


def manifest_error(folder, ignore, instructions):
    """What the package manager says of the files in the image, laid into this folder; nothing if it finds all that it names."""
    for path, name in placed(left(tracked(), ignore), instructions)[0].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / path)
    read = subprocess.run(
        ["swift", "package", "--package-path", folder, "--scratch-path", folder / ".build", "describe", "--type", "json"],
        capture_output=True, text=True, timeout=300)
    return read.stderr if read.returncode else ""

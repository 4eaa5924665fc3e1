"""The bill of materials (SPDX 2.3): what is in the binary, and which libraries it needs."""

import hashlib
import json
import pathlib
import re
import subprocess
from datetime import datetime, timezone

# The licences of the Debian packages whose libraries are linked, in the names of SPDX.
LICENSES = {
    "libc6": "LGPL-2.1-or-later",
    "libcurl4": "curl",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libpq5": "PostgreSQL",
    "libsqlite3-0": "blessing",
    "libssl3": "Apache-2.0",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "zlib1g": "Zlib",
}
# The libraries that are linked into the binary, by the Debian package that `Scripts/static-libraries` has taken: name and licence.
LINKED = {
    "curl": ("libcurl", "curl"),
    "libgcc-10-dev": ("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libstdc++-12-dev": ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "nghttp2": ("nghttp2", "MIT"),
    "openssl": ("openssl", "Apache-2.0"),
    "postgresql-18": ("libpq", "PostgreSQL"),
    "sqlite3": ("sqlite", "blessing"),
    "zlib": ("zlib", "Zlib"),
}
RUN_TIME_LICENSE = "Apache-2.0 WITH Swift-exception"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(binary, architecture):
    """The Debian packages of the shared libraries that a binary names, with their versions."""
    if architecture != output("dpkg", "--print-architecture").strip():
        # The glibc of another machine is not here, and the binary needs nothing else.
        return {"libc6": "NOASSERTION"}
    names = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "--dynamic", "--wide", binary))
    paths = dict(re.findall(r"^\s*(\S+) => (\S+)", output("ldd", binary), re.M))
    found = {}
    for name in names:
        # The C library's loader is named by its path.
        if name.startswith("ld-linux"):
            continue
        package = owner(paths[name])
        found[package] = output("dpkg-query", "-W", "-f", "${Version}", package)
    return {package.partition(":")[0]: version for package, version in sorted(found.items())}


def linked(binary):
    """The Debian packages whose libraries are in the binary, as `Scripts/binary` lists them: kind, name, version, and the files
    that were fetched, each with its SHA-256."""
    listed = pathlib.Path(f"{binary}.libraries")
    if not listed.exists():
        return []
    lines = [line.split() for line in listed.read_text().splitlines()]
    found = [
        (kind, name, version, dict(file.rsplit("=", 1) for file in files)) for _, kind, name, version, *files in lines if name in LINKED]
    if missing := set(LINKED) - {name for _, name, _, _ in found}:
        raise SystemExit(f"packages: {listed} does not say which version is linked of {', '.join(sorted(missing))}")
    return found


def checksums(files):
    """What was fetched, in SPDX's fields: the file that has the content, and all files with their checksums.

    Where Debian's description of a source is not among them, its changes are not in it: it is what the authors have published."""
    (main,) = [name for name in files if name.endswith(".deb") or re.search(r"\.orig\.tar\.\w+$", name)]
    changed = any(name.endswith((".dsc", ".deb")) for name in files)
    return {
        "packageFileName": main, "checksums": [{"algorithm": "SHA256", "checksumValue": files[main]}],
        "sourceInfo": "SHA-256 of what was fetched, which Debian's signed lists confirm: "
        + "; ".join(f"{name} {value}" for name, value in sorted(files.items()))
        + ("" if changed else ". Without Debian's changes, which the mirror did not have.")}


def owner(path):
    """The package of a file, which dpkg may know without /usr before it."""
    for spelling in (path, f"/usr{path}", path.removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "-S", spelling], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.partition(": ")[0].split(",")[0]
    raise SystemExit(f"packages: {path} is in no Debian package; build with the libraries of the distribution")


def package(identity, name, version, license, supplier, url=None, **more):
    entry = {
        "SPDXID": f"SPDXRef-{identity}", "name": name, "versionInfo": version, "supplier": supplier,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": license,
        "licenseDeclared": license, "copyrightText": "NOASSERTION"} | more
    if url:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}]
    return entry


def package_url(name, version, architecture):
    at = "" if version == "NOASSERTION" else f"@{version.replace('+', '%2B')}"
    return f"pkg:deb/debian/{name.replace('+', '%2B')}{at}?arch={architecture}"


def bill(binary, version, architecture, epoch):
    """The document, as JSON in bytes."""
    with open(binary, "rb") as file:
        content = file.read()
    checksums = [
        {"algorithm": name, "checksumValue": hashlib.new(name.lower(), content).hexdigest()}
        for name in ("SHA1", "SHA256")]
    swift = json.loads(output("swift", "-print-target-info"))["swiftCompilerTag"].split("-")[1]
    packages = [
        package("redial", "redial", version, "MIT", "Organization: The Redial authors",
                f"pkg:generic/redial@{version}", primaryPackagePurpose="APPLICATION"),
        package("swift-runtime", "swift-runtime", swift, RUN_TIME_LICENSE, "Organization: Swift project",
                f"pkg:generic/swift@{swift}",
                comment="Linked into the binary: the standard library, concurrency and Dispatch."),
    ]
    relations = [("DOCUMENT", "DESCRIBES", "redial"), ("redial", "GENERATES", "binary"),
                 ("binary", "STATIC_LINK", "swift-runtime")]
    for name, built_with in libraries(binary, architecture).items():
        identity = f"debian-{name.replace('+', 'x')}"
        packages.append(package(
            identity, name, built_with, LICENSES[name], "Organization: Debian",
            package_url(name, built_with, architecture),
            comment="Not included: the system's library is used. The version is that of the build, if it is known."))
        relations.append(("binary", "DYNAMIC_LINK", identity))
    for kind, name, built_with, files in linked(binary):
        library, license = LINKED[name]
        packages.append(package(
            library.replace("+", "x"), library, built_with, license, "Organization: Debian",
            package_url(name, built_with, "source" if kind == "source" else architecture),
            comment=f"Linked into the binary, from Debian's {kind} package {name}.", **checksums(files)))
        relations.append(("binary", "STATIC_LINK", library.replace("+", "x")))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"redial-{version}-linux-{architecture}",
        "documentNamespace": f"https://spdx.org/spdxdocs/redial-{version}-{checksums[1]['checksumValue']}",
        "creationInfo": {
            "created": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Organization: The Redial authors", f"Tool: redial-packaging-{version}"]},
        "packages": packages,
        "files": [{
            "SPDXID": "SPDXRef-binary", "fileName": "./bin/redial", "fileTypes": ["BINARY"], "checksums": checksums,
            "licenseConcluded": f"MIT AND ({RUN_TIME_LICENSE})", "licenseInfoInFiles": ["NOASSERTION"],
            "copyrightText": "NOASSERTION"}],
        "relationships": [
            {"spdxElementId": f"SPDXRef-{one}", "relationshipType": kind, "relatedSpdxElement": f"SPDXRef-{other}"}
            for one, kind, other in relations],
    }
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()

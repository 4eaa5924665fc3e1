"""Writes docs/llms.txt, the list of pages for assistants that the service serves at /llms.txt: see https://llmstxt.org/.

The pages come from docs/README.md, what Redial is from the contract.
"""

import re

LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def text(contents, contract):
    """The file, from the text of docs/README.md and the contract."""
    info = contract["info"]
    said = [" ".join(paragraph.split()) for paragraph in info["description"].split("\n\n")]
    lines = [
        f"# {info['title']}", "",
        f"> {info['summary']} {said[0]} {said[1].replace('**', '')}", "",
        "Links lead to the service that serves this file. Pages are in the repository of Redial, and have no address of their own: "
        "their paths begin at its root.", "",
        "## This service", "",
        f"- [openapi.yaml](openapi.yaml): the API contract, OpenAPI {contract['openapi']}: every path, member, bound and default, "
        "with examples, and every code of a problem",
        "- [dashboard](./): for people: calls, attempts and the reason of each decision",
    ]
    for section in contents.split("\n## ")[1:]:
        title, _, table = section.partition("\n")
        lines += ["", f"## {title}", ""]
        for pages, found in re.findall(r"^\| (\[.*\)) \| (.*) \|$", table, re.M):
            paths = ", ".join(f"`{path(target)}`" for _, target in LINK.findall(pages))
            # It is a link above.
            if paths != "`api/openapi.yaml`":
                lines.append(f"- {paths}: {LINK.sub(lambda link: link[1], found)}")
    return "\n".join(lines) + "\n"


def path(target):
    """The path of a page from the root of the repository."""
    return target.removeprefix("../") if target.startswith("../") else f"docs/{target}"

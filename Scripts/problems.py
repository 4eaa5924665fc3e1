"""The pages docs/problems*.md: every code of a problem, with its cause and remedy, from the declarations in Swift."""

import textwrap

SOURCE = "Sources/RedialModel/Problems"
WIDTH = 128

# Each page: its title, its first paragraphs, and the groups of codes on it.
PAGES = {
    "problems.md": ("Problems", """\
For people whose request was refused: every code, why it is given, and what to do.
[problems-operating.md](problems-operating.md) has the codes of targets, policies, bulk operations, webhooks, issues, alerts and
instances.

A request that is refused is answered with `application/problem+json` (RFC 9457):

```json
{"type": "urn:redial:problem:invalidDescriptor", "title": "The call descriptor cannot be accepted", "status": 422,
 "code": "invalidDescriptor", "detail": "/polcy is not a member of a call descriptor.",
 "errors": [{"pointer": "/polcy", "detail": "is not a member of a call descriptor"}]}
```

- `code` is for programs, and stays. Expect codes that you do not know: treat them by their `status`.
- `detail` says what was wrong this time, on which input, and what to do. `redial` prints it.
- Each of `errors` has one place: a `pointer` into the body (JSON Pointer, RFC 6901), a query `parameter`, or a `header` field.
- `Retry-After` says in how many seconds to try again, if that can help.
""", ["Every request", "API keys and namespaces", "Calls", "The service"]),
    "problems-operating.md": ("Problems when you operate", """\
For people whose change of a target, a policy or an alert was refused. [problems.md](problems.md) says what a problem looks like,
and has the codes of all requests, of API keys, of calls and of the service.
""", [
        "Targets", "Policies", "Bulk operations", "Webhook endpoints and events", "Issues and alerts",
        "Between instances"]),
}


def pages(problems):
    """The text of each page, by its name."""
    groups = {}
    for problem in problems:
        groups.setdefault(problem["group"], []).append(problem)
    listed = [group for _, _, names in PAGES.values() for group in names]
    assert sorted(listed) == sorted(groups), f"Scripts/problems.py has other groups than {SOURCE}"
    return {name: page(title, head, [(group, groups[group]) for group in names])
            for name, (title, head, names) in PAGES.items()}


def page(title, head, groups):
    parts = [f"# {title}\n\n{head}"]
    for name, problems in groups:
        rows = [f"## {name}\n", "| code | status | cause | what to do |", "| --- | --- | --- | --- |"]
        rows += [
            f"| `{problem['code']}` | {', '.join(map(str, problem['statuses']))} | {problem['cause']} | {problem['remedy']} |"
            for problem in problems]
        parts.append("\n".join(rows) + "\n")
    parts.append("\n".join(textwrap.wrap(f"`make format` makes this page from `{SOURCE}`.", WIDTH)) + "\n")
    return "\n".join(parts)


def entitled(contract, problems):
    """The contract, whose examples of problems have the titles of their codes."""
    known = {problem["code"]: problem for problem in problems}

    def entitle(node):
        if isinstance(node, dict):
            if str(node.get("type", "")).startswith("urn:redial:problem:"):
                problem = known.get(node["code"])
                assert problem, f"api/openapi.yaml: {node['code']} is not the code of a problem"
                assert node["status"] in problem["statuses"], f"api/openapi.yaml: {node['code']} has not the status {node['status']}"
                node["title"] = problem["title"]
            for value in node.values():
                entitle(value)
        elif isinstance(node, list):
            for value in node:
                entitle(value)

    entitle(contract)
    return contract

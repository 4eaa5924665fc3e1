"""The contract, api/openapi.yaml: what follows from the declarations is written into it, and all of it is brought into one form.

Prose stays as somebody has written it. A schema that is declared, as `contract-declarations` prints it, has the members, types,
bounds, words and defaults of its declaration, whatever the file says, and keeps the descriptions and examples that it has there.
"""

import re

import yaml

HEADER = """\
# People write this file, except what is declared in Swift: of the schemas, members and parameters that name their declaration,
# they write descriptions and examples. `make format` writes the rest, and brings all into this form. No other comment is kept.
"""

# What people write about a declared value.
PROSE = ("title", "description", "example", "examples", "deprecated")
WIDTH = 128


class Undescribed(Exception):
    """A declared member about which the contract says nothing."""


# Weaving.

def woven(contract, declarations):
    """The contract with what is declared.

    Each declaration has the `path` of its schema: below `components/schemas`, such as `Policy` or `Event/properties/type`, or the
    parameter of an operation, such as `listCalls?limit`. It says whether the schema and its members are described there; those
    that refer to others are not.
    """
    lacking = []
    for declaration in declarations:
        path, schema = declaration["path"], declaration["schema"]
        if "?" in path:
            parameter = parameter_at(contract, path)
            if "description" not in parameter:
                lacking.append("write the parameter `{1}` of {0}, with a `description:`".format(*path.split("?")))
            parameter["schema"] = merged(parameter.get("schema", {}), schema, path, [])
            continue
        node, places = contract["components"]["schemas"], []
        *way, last = path.split("/")
        for part in way:
            node = node[part]
        node[last] = merged(node.get(last, {}), schema, path, places)
        if declaration["isDescribed"]:
            lacking += [f"write `description:` below components/schemas/{place}" for place in places]
    if lacking:
        raise Undescribed("\n".join(f"api/openapi.yaml: {entry}" for entry in lacking))
    return contract


def parameter_at(contract, path):
    """A parameter of an operation; an empty one if it has none of this name."""
    name, parameter = path.split("?")
    operation = next(
        entry for item in contract["paths"].values() for entry in item.values()
        if isinstance(entry, dict) and entry.get("operationId") == name)
    for entry in operation["parameters"]:
        if "$ref" in entry:
            entry = contract["components"]["parameters"][entry["$ref"].rsplit("/", 1)[1]]
        if entry["name"] == parameter:
            return entry
    return {}


def merged(old, declared, path, lacking):
    """A declared schema with the prose of the one that is in the file."""
    new = {key: old[key] for key in PROSE[:2] if key in old}
    if "description" not in new and not refers(declared) and not path.endswith("/items"):
        lacking.append(path)
    for key, value in declared.items():
        if key == "properties":
            members = old.get(key, {})
            new[key] = {
                name: merged(members.get(name, {}), member, f"{path}/properties/{name}", lacking)
                for name, member in value.items()}
        elif key == "items":
            new[key] = merged(old.get(key, {}), value, f"{path}/{key}", lacking)
        else:
            new[key] = value
    return new | {key: old[key] for key in PROSE[2:] if key in old}


def refers(schema):
    """Whether another schema explains it."""
    return "$ref" in schema or any("$ref" in part for key in ("oneOf", "anyOf") for part in schema.get(key, []))


# Writing.

# Below these stands what somebody has made up, which may have the names of anything.
DATA = {"example", "value", "default", "enum", "const", "links"}
# Each of their members has a line of its own.
LISTED = {"components", "headers", "parameters", "paths", "properties", "responses", "schemas", "webhooks"}
RESOLVER = yaml.resolver.Resolver()
PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-(?=[^\s,\[\]{}])")


def scalar(value, flow=False):
    """A value without members. What stands in brackets is quoted more often."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        text = f"{value:.9f}".rstrip("0")
        return text + "0" if text.endswith(".") else text
    if not isinstance(value, str):
        return str(value)
    if "\n" in value or not value.isprintable():
        return yaml.dump(value, default_style='"', width=10**6, allow_unicode=True).strip()
    is_plain = (
        PLAIN.match(value) and value == value.strip() and ": " not in value and " #" not in value and not value.endswith(":")
        and not (flow and re.search(r"[,\[\]{}]", value))
        and RESOLVER.resolve(yaml.ScalarNode, value, (True, False)) == "tag:yaml.org,2002:str")
    return value if is_plain else "'" + value.replace("'", "''") + "'"


def inline(value):
    """A value in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key, True)}: {inline(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(entry) for entry in value) + "]"
    return scalar(value, True)


def depth(value):
    """How many mappings and lists are in each other at most."""
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if entries is None else 1 + max(map(depth, entries), default=0)


def texts(value):
    """Each text in a value."""
    if isinstance(value, (dict, list)):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from texts(entry)
    elif isinstance(value, str):
        yield value


def is_short(value, room, is_data):
    """Whether a mapping or a list stands in one line."""
    if any("\n" in text for text in texts(value)):
        return False
    if not is_data and (depth(value) > 3 or has_listed(value)):
        return False
    return len(inline(value)) <= room


def is_filled(value, room, is_data):
    """Whether a mapping or a list stands in lines that are filled."""
    if not is_data:
        return isinstance(value, list) and depth(value) == 1
    parts = value.items() if isinstance(value, dict) else [("", part) for part in value]
    return len(inline(value)) < 3 * WIDTH and all(len(f"{key}: {inline(part)}") <= room for key, part in parts)


def has_listed(value):
    """Whether a value has what needs lines of its own."""
    if isinstance(value, list):
        return any(map(has_listed, value))
    return isinstance(value, dict) and any(
        key in LISTED and isinstance(entry, dict) or key not in DATA and has_listed(entry) for key, entry in value.items())


def filled(value, start, indent):
    """A flat mapping or list in as many lines as it takes."""
    open_, close = "{}" if isinstance(value, dict) else "[]"
    parts = [f"{scalar(key, True)}: {inline(entry)}" for key, entry in value.items()] if isinstance(value, dict) \
        else [inline(entry) for entry in value]
    lines, line = [], open_
    for number, part in enumerate(parts):
        part += close if number == len(parts) - 1 else ","
        room = WIDTH - (start if not lines else indent)
        if line != open_ and len(line) + 1 + len(part) > room:
            lines.append(line)
            line = part
        else:
            line += part if line == open_ else " " + part
    return ("\n" + " " * indent).join([*lines, line])


def lines_of(key, value, indent, is_data=False):
    """The text behind a key or a dash at this indentation: its rest of the line, and what follows."""
    start = indent + len(key) + 1
    if key == "description:" and isinstance(value, str) and not is_data:
        value = "\n\n".join(" ".join(paragraph.split()) for paragraph in value.strip().split("\n\n"))
        if "\n" in value or start + 1 + len(scalar(value)) > WIDTH:
            value = "\n\n".join("\n".join(wrapped(part, WIDTH - indent - 2)) for part in value.split("\n\n")) + "\n"
    if isinstance(value, str) and "\n" in value and fits_literal(value):
        mark = "|" if value.endswith("\n") else "|-"
        return f" {mark}\n" + "\n".join(" " * (indent + 2) + line if line else "" for line in value.rstrip("\n").split("\n"))
    if not isinstance(value, (dict, list)):
        return " " + scalar(value)
    name = key.rstrip(":")
    if name == "servers":
        # The service writes there how its client sees it, see `Answer.contract`.
        return "\n" + "\n".join(" " * (indent + 2) + "- " + block(entry, indent + 4).lstrip() for entry in value)
    is_data = is_data or name in DATA
    if not value or ((is_data or isinstance(value, list) or name not in LISTED) and is_short(value, WIDTH - start - 1, is_data)):
        return " " + inline(value)
    if is_filled(value, WIDTH - indent - 4, is_data) and not any("\n" in text for text in texts(value)):
        return " " + filled(value, start + 1, indent + 2)
    return "\n" + block(value, indent + 2, is_data or name == "examples" and isinstance(value, list))


def block(value, indent, is_data=False):
    """A mapping or a list, each entry in lines of its own."""
    parts = []
    if isinstance(value, dict):
        for key, entry in value.items():
            key = scalar(key) + ":"
            parts.append(" " * indent + key + lines_of(key, entry, indent, is_data))
    else:
        for entry in value:
            if isinstance(entry, (dict, list)) and entry and not is_short(entry, WIDTH - indent - 2, is_data):
                parts.append(" " * indent + "- " + block(entry, indent + 2, is_data).lstrip())
            else:
                parts.append(" " * indent + "-" + lines_of("-", entry, indent, is_data))
    return "\n".join(parts)


def fits_literal(text):
    """Whether a text stands in lines as it is."""
    return not text.startswith((" ", "\n")) and not text.endswith("\n\n") and all(
        line == line.rstrip() and line.isprintable() for line in text.split("\n"))


def wrapped(text, width):
    """A paragraph's lines."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def text_of(contract, declarations):
    """The whole file."""
    head, mark, schemas = (HEADER + block(contract, 0) + "\n").partition("\n  schemas:\n")
    for name, sources in parameter_sources(declarations).items():
        note = f"  # Parameters declared in {', '.join(sources)}."
        head = re.sub(rf"^ +operationId: {name}$", lambda match: match[0] + note, head, flags=re.M)
    for name, lines in notes(declarations).items():
        schemas, count = re.subn(rf"^(?=    {name}:)", "".join(f"    {line}\n" for line in lines), schemas, flags=re.M)
        assert count == 1, f"{name} is at {count} places"
    text = head + mark + schemas
    assert unwrapped(yaml.load(text, yaml.CSafeLoader)) == unwrapped(contract), "the contract changes when it is written"
    return text


def unwrapped(value):
    """A value without the ends of the lines in its texts."""
    if isinstance(value, dict):
        return {key: unwrapped(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [unwrapped(entry) for entry in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def parameter_sources(declarations):
    """For each operation where its parameters are declared."""
    sources = {}
    for declaration in declarations:
        name, mark, _ = declaration["path"].partition("?")
        if mark and declaration["source"] not in sources.setdefault(name, []):
            sources[name].append(declaration["source"])
    return sources


def notes(declarations):
    """For each schema a comment that says where it, or which of its members, are declared."""
    sources = {}
    for declaration in declarations:
        if "?" in declaration["path"]:
            continue
        name, _, member = declaration["path"].partition("/properties/")
        sources.setdefault(name, {}).setdefault(declaration["source"], []).append(member.replace("/properties/", "."))
    return {
        name: [
            "# " + line for source, members in declared.items()
            for line in wrapped(f"Declared in {source}" + (": " + ", ".join(members) if members != [""] else "") + ".", WIDTH - 6)]
        for name, declared in sources.items()}

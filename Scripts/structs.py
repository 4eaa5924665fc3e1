"""What the clients in languages with structs have in common: what a schema is there, and which schemas are taken and given."""

import copy
import re

import operations as form

# Of these null takes something away, and what is left out stays. Elsewhere both mean the same. A patch has the members of what it
# changes, each of which can be null, also those inside.
CHANGES, PATCHES = {"ReplayChanges"}, {"TargetPatch": "TargetSettings"}


def schemas(contract):
    """The schemas of a prepared contract, with the members of patches."""
    found = copy.deepcopy(contract["components"]["schemas"])
    for patch, changed in PATCHES.items():
        found[patch] = found[patch] | {"properties": loosened(found[changed])["properties"]}
    return found


def given(operations):
    """The names of the schemas that these operations take."""
    return {name for operation in operations if operation.body for name in form.references(operation.body.schema)} | {
        name for operation in operations for parameter in operation.query for name in form.references(parameter.schema)}


def answered(operations):
    """The names of the schemas that these operations answer with."""
    return {operation.answer for operation in operations if operation.answer}


def reachable(names, schemas, own):
    """These schemas and those that they refer to, without those whose types people have written."""
    todo, names = [name for name in names if name not in own], set()
    while todo:
        name = todo.pop()
        if name not in names:
            names.add(name)
            todo += [other for other in form.references(without_prose(schemas[name])) if other not in own]
    return names


def shape(schema, schemas):
    """What a schema is that is no reference, and with what: the words of `words`, the schema of the others' parts.

    `nullable`: another schema, or null. `moment`: a time, or a duration from now. `words`: a set that may grow. `object`, `list`,
    `values`: with members, items, or values by name. `json`: anything. The others are `time`, `text`, `whole`, `number`, `flag`.
    """
    choices = schema.get("oneOf", schema.get("anyOf"))
    if choices:
        real = [choice for choice in choices if choice.get("type") != "null"]
        if len(real) == 1:
            return "nullable", real[0]
        names = {choice.get("$ref", "").rsplit("/", 1)[-1] for choice in real}
        if names == {"Timestamp", "Duration"}:
            return "moment", None
        words = [schemas.get(one, {}).get("enum") for one in sorted(names)]
        return ("words", list(dict.fromkeys(sum(words, [])))) if all(words) else ("json", None)
    if "enum" in schema:
        return "words", [entry for entry in schema["enum"] if entry is not None]
    if is_object(schema):
        return "object", schema
    kind = next((one for one in kinds_of(schema) if one != "null"), None)
    if "const" in schema:
        return "flag", None
    if kind == "array":
        return "list", schema["items"]
    if kind == "object":
        values = schema.get("additionalProperties")
        return ("values", values) if isinstance(values, dict) else ("json", None)
    if kind == "string" and schema.get("format") == "date-time":
        return "time", None
    return {"string": "text", "integer": "whole", "number": "number", "boolean": "flag", None: "json"}[kind], None


def is_nullable(schema):
    """Whether the schema itself says that a value can be null."""
    return None in schema["enum"] if "enum" in schema else "null" in kinds_of(schema)


def is_open(name, owner, member, schema, can_be_null):
    """Whether null and nothing mean two things for a member: of an object with a name, in a schema that owns it."""
    return (owner in PATCHES or name in CHANGES) and can_be_null and member not in schema.get("required", [])


def loosened(schema):
    """A schema each of whose members can be null."""
    if "properties" not in schema:
        return schema
    members = {}
    for name, one in schema["properties"].items():
        # Null takes the whole object away, and in it each member.
        members[name] = {"anyOf": [loosened(one), {"type": "null"}]} | {
            key: one[key] for key in ("description",) if key in one}
    return schema | {"properties": members}


def without_prose(schema):
    if isinstance(schema, list):
        return [without_prose(entry) for entry in schema]
    if isinstance(schema, dict):
        prose = ("example", "examples", "propertyNames", "default")
        return {key: without_prose(entry) for key, entry in schema.items() if key not in prose}
    return schema


def is_object(schema):
    return "properties" in schema


def kinds_of(schema):
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]


def described(schema, schemas):
    """What the contract says about a schema, or about the one that it refers to."""
    if "description" in schema:
        return schema["description"]
    for choice in [schema, *schema.get("oneOf", []), *schema.get("anyOf", [])]:
        if "description" in choice:
            return choice["description"]
        if "$ref" in choice:
            text = schemas[choice["$ref"].rsplit("/", 1)[1]].get("description", "")
            return re.split(r"(?<=[.]) ", " ".join(text.split()))[0]
    return ""

"""What the clients can do, as the contract says it: each operation as a value, for the writers of the languages.

A client has a method for each operation, see `LEFT_OUT` and `BY_HAND`.
"""

import copy
import dataclasses
import re

# Operations that no client has, and why. The only list of these.
LEFT_OUT = {
    "forward": "is for programs that send any request through Redial unchanged; a program with a client submits",
    "getHealth": "is for probes: text, without a key",
    "getReadiness": "is for probes: text, without a key",
    "getMetrics": "is for Prometheus",
    "dashboard": "is a page",
    "getPageList": "is for assistants that write programs",
    "getContract": "is the contract itself, from which the clients are made",
}

# Operations whose methods people have written, because they do more than one request, or take and give other types.
BY_HAND = {"submitCall", "submitBatch", "listCalls", "getCall", "listAttempts", "cancelCall", "retryCall", "followEvents"}

# A method has the name of its operation, except where the call is understood.
NAMES = {
    "submitCall": "submit", "submitBatch": "batch", "listCalls": "list", "getCall": "get", "listAttempts": "attempts",
    "cancelCall": "cancel", "retryCall": "retry", "replayCall": "replay", "eraseContent": "erase", "followEvents": "events"}
# In Swift some of these had names before.
SWIFT_NAMES = {"submitBatch": "submit", "listCalls": "calls", "getCall": "call"}

# Schemas that stand where they are used in the contract, and have no name there.
INLINE = {
    "rotateWebhookSecret": "SecretRotation", "previewPolicy": "PolicyPreview", "getWebhookSecret": "WebhookSecret", "beginOperation": "BulkDryRun"}

# The names of bodies that are not the last words of their schemas.
BODIES = {"CallDescriptor": "call", "BulkRequest": "operation"}

# What a header field is called as an argument, the kind of its value, and what it does.
FIELDS = {
    "Idempotency-Key": ("idempotencyKey", "text", "The same key again returns the first call, or runs it again. By default a new one."),
    "Prefer": ("wait", "seconds", "Return only when the call has ended, or after this many seconds."),
    "If-Match": ("ifMatch", "text", "Only if the resource has this `ETag`, such as `\"3\"` for version 3."),
    "If-None-Match": ("ifNoneMatch", "text", "`*`: only if there is none yet."),
}
PAGE_SIZE = "How many a request fetches, 1 to 250."

# They change nothing, although they are no GET.
READS = {"previewPolicy"}
METHODS = ("get", "put", "post", "delete", "patch")
PREFIX = "#/components/schemas/"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """What is given with a request, with its name in the contract."""

    name: str
    schema: dict
    description: str
    is_required: bool = False


@dataclasses.dataclass(frozen=True)
class Operation:
    """One request of the contract."""

    id: str
    # The method's name, in camelCase.
    name: str
    method: str
    # The parts of the path; a parameter stands for a part.
    path: tuple
    query: tuple
    # Which of the header fields it takes: Idempotency-Key, Prefer, If-Match, If-None-Match.
    fields: frozenset
    # The schema of the body by its name, if it has one.
    body: Parameter | None
    # `value`, `list` (the member `data`), `pages` (of `data`) or `nothing`.
    shape: str
    # The schema of the answer, or of its entries, by its name.
    answer: str | None
    is_repeatable: bool
    text: str
    # For a dry run: how it is asked for, `query` or `body`.
    dry_run: str | None = None

    @property
    def places(self):
        """The parameters in the path."""
        return tuple(part for part in self.path if isinstance(part, Parameter))

    @property
    def conditions(self):
        """The parameters of the query that people give. The size of a page has another name."""
        return tuple(one for one in self.query if not (self.shape == "pages" and one.name == "limit"))

    @property
    def given_fields(self):
        """The header fields that people give, as arguments."""
        return [(field, *told) for field, told in FIELDS.items() if field in self.fields]


def ids(contract):
    """The ids of all operations."""
    return [operation["operationId"] for _, _, operation in entries(contract)]


def entries(contract):
    """Path, method and content of each operation."""
    for path, item in contract["paths"].items():
        for method in METHODS:
            if method in item:
                operation = dict(item[method])
                operation["parameters"] = item.get("parameters", []) + operation.get("parameters", [])
                yield path, method, operation


def prepared(contract):
    """The contract with a name for each schema that a client uses, and without the members that stand for methods."""
    contract = copy.deepcopy(contract)
    schemas = contract["components"]["schemas"]
    for _, _, operation in entries(contract):
        name = INLINE.get(operation["operationId"])
        if not name:
            continue
        places = [entry for response in operation["responses"].values() for entry in response.get("content", {}).values()]
        places += operation.get("requestBody", {}).get("content", {}).values()
        for place in places:
            schema = place.get("schema", {})
            if "properties" in schema and not is_listing(schema):
                schemas[name] = {"description": text_of(operation).split("\n")[0]} | schema
                place["schema"] = {"$ref": PREFIX + name}
    # A dry run is another method, since its answer is another.
    schemas["BulkRequest"]["properties"].pop("dryRun")
    return resolved(contract, schemas)


def resolved(value, schemas):
    """Schemas without references into other schemas."""
    if isinstance(value, list):
        return [resolved(entry, schemas) for entry in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref", "")
    if isinstance(reference, str) and reference.count("/") > 3:
        found = {"components": {"schemas": schemas}}
        for part in reference.split("/")[1:]:
            found = found[part]
        return resolved({**found, **{key: entry for key, entry in value.items() if key != "$ref"}}, schemas)
    return {key: resolved(entry, schemas) for key, entry in value.items()}


def is_listing(schema):
    """Whether an object has nothing but a list, or a page of one."""
    return {"data"} <= set(schema.get("properties", {})) <= {"data", "nextCursor", "isComplete", "unreadable", "lostCommits"}


def text_of(operation):
    """What the contract says about an operation: a sentence, and then the rest."""
    rest = operation.get("description", "").strip()
    return operation["summary"] + (f"\n\n{rest}" if rest else "")


def operations(contract):
    """The operations of a prepared contract that have methods, also those by hand."""
    found = []
    for path, method, operation in entries(contract):
        if operation["operationId"] not in LEFT_OUT:
            found += variants(contract, path, method, operation)
    return found


def made(contract):
    """The operations whose methods are generated."""
    return [operation for operation in operations(contract) if operation.id not in BY_HAND or operation.dry_run]


def variants(contract, path, method, operation):
    """An operation, and its dry run, if it has one."""
    parameters = [parameter_of(contract, entry) for entry in operation["parameters"]]
    body, answers = body_of(operation), answers_of(contract, operation)
    name = NAMES.get(operation["operationId"], operation["operationId"])
    fields = frozenset(entry["name"] for entry in parameters if entry["in"] == "header")
    dry = "query" if any(entry["name"] == "dryRun" for entry in parameters) \
        else "body" if "BulkDryRun" in (answers["names"]) else None
    first = Operation(
        operation["operationId"], name, method.upper(), parts(path, parameters),
        tuple(
            Parameter(entry["name"], entry["schema"], entry.get("description", "").strip(), entry.get("required", False))
            for entry in parameters if entry["in"] == "query" and entry["name"] not in ("dryRun", "cursor")),
        fields, body, answers["shape"], answers["names"][0] if answers["names"] else None,
        is_repeatable=method == "get" or method == "put" and "If-Match" not in fields
        or operation["operationId"] in READS or "Idempotency-Key" in fields,
        text=text_of(operation))
    if not dry:
        return [first]
    call = dataclasses.replace(first, answer=next(name for name in answers["names"] if "DryRun" not in name))
    trial = dataclasses.replace(
        first, name=name + "DryRun", fields=frozenset(), dry_run=dry, is_repeatable=True,
        answer=next(name for name in answers["names"] if "DryRun" in name),
        text=f"What `{name}` would do; nothing is stored or changed.")
    return [call, trial]


def parameter_of(contract, entry):
    if "$ref" in entry:
        entry = contract["components"]["parameters"][entry["$ref"].rsplit("/", 1)[1]]
    return entry


def parts(path, parameters):
    """The parts of a path, with its parameters. One with the name `id` gets that of its kind: `callId`."""
    found, before = [], ""
    for part in path.strip("/").split("/"):
        if part.startswith("{"):
            entry = next(entry for entry in parameters if entry["in"] == "path" and entry["name"] == part[1:-1])
            name = entry["name"] if entry["name"] != "id" else before.split("-")[-1].removesuffix("s") + "Id"
            # The clients encode it.
            told = entry.get("description", "").strip().replace(", percent-encoded", "")
            found.append(Parameter(name, entry["schema"], told, True))
        else:
            found.append(part)
            before = part
    return tuple(found)


def body_of(operation):
    """The body as JSON, with a name for it."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if "$ref" not in schema:
        return None
    name = schema["$ref"].rsplit("/", 1)[1]
    word = BODIES.get(name) or re.findall(r"[A-Z][a-z]+", name)[-1].lower()
    return Parameter(word, schema, "", operation["requestBody"].get("required", False))


def answers_of(contract, operation):
    """The shape of the answers of an operation, and the names of their schemas."""
    names, shape = [], "nothing"
    for status, response in operation["responses"].items():
        if not status.startswith("2"):
            continue
        if "$ref" in response:
            response = contract["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
        schema = response.get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            continue
        shape = "value"
        if schema.get("$ref") == PREFIX + "CallPage":
            shape, schema = "pages", {"$ref": PREFIX + "CallSummary"}
        elif "properties" in schema:
            assert is_listing(schema), f"the answer to {operation['operationId']} needs a name, see INLINE"
            shape = "pages" if "nextCursor" in schema["properties"] else "list"
            schema = schema["properties"]["data"]["items"]
        for one in schema.get("oneOf", schema.get("anyOf", [schema])):
            names.append(one["$ref"].rsplit("/", 1)[1])
    return {"shape": shape, "names": list(dict.fromkeys(names))}


def is_flag(schema):
    """Whether it is true or false, as words."""
    return "true" in schema.get("enum", [])


def schemas_of(found):
    """The names of the schemas that these operations take and give."""
    names = []
    for operation in found:
        names += references(operation.body.schema) if operation.body else []
        names += [operation.answer] if operation.answer else []
        for parameter in operation.query:
            names += references(parameter.schema)
    return list(dict.fromkeys(names))


def references(value):
    """The names of the schemas that a value refers to."""
    if isinstance(value, list):
        return [name for entry in value for name in references(entry)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"].rsplit("/", 1)[1]] if isinstance(value.get("$ref"), str) else []
    return own + [name for key, entry in value.items() if key != "$ref" for name in references(entry)]


def sentence(code, title):
    """What the type of a problem says of itself."""
    return f"`{code}`: {title}." if title else f"The problem with the code `{code}`."


def problem_codes(contract):
    """The codes of problems, each with the title of an example in the contract; empty if it has none. The only place that reads them."""
    titles = {}

    def read(value):
        if isinstance(value, list):
            for entry in value:
                read(entry)
        elif isinstance(value, dict):
            if str(value.get("type", "")).startswith("urn:redial:problem:") and "title" in value:
                titles.setdefault(value["code"], value["title"])
            for entry in value.values():
                read(entry)

    read(contract)
    return {code: titles.get(code, "") for code in sorted(contract["components"]["schemas"]["ProblemCode"]["enum"])}


def snake(name):
    """A name in snake_case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def capital(name):
    return name[0].upper() + name[1:]

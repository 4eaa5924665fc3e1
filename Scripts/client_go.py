"""Writes the models and methods of the Go client, and a type for each code of a problem."""

import dataclasses
import re
import shutil
import subprocess
import sys
import textwrap

import operations as form
import structs

WIDTH = 120
# Schemas whose types people have written; pages are iterators.
OWN = {
    "PolicyOrName": "PolicyOrName", "Duration": "Duration", "Timestamp": "time.Time", "Statuses": "Statuses", "Problem": "Problem",
    "CallPage": "", "ProblemCode": "string"}
# Members whose types people have chosen: unions that Go does not have, and what a literal would not show.
CHOSEN = {
    ("Event", "data"): "json.RawMessage", ("BatchItem", "call"): "*Call", ("BatchItem", "line"): "int",
    ("CallDescriptor", "headers"): "Headers", ("ReplayChanges", "headers"): "Headers", ("CallFilter", "state"): "CallStates"}
# An empty text is not the same as none.
TEXTS = {"body", "bodyBase64"}
SHAPES = {
    "moment": "Moment", "json": "any", "time": "time.Time", "text": "string", "whole": "int", "number": "float64", "flag": "bool"}
FIELDS = {"text": "string", "seconds": "time.Duration"}
TOLD = {"wait": "Return only when the call has ended, or after this time."}
INITIALISMS = {"api", "ca", "http", "id", "json", "tls", "url"}


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type in Go."""

    name: str
    # `text`, `list` and `any` have a value that stands for none; the others need a pointer.
    family: str
    is_nullable: bool = False

    def place(self, is_required):
        """The type of a member, and whether the member is left out when it has no value."""
        if is_required and not self.is_nullable:
            return self.name, False
        if self.family == "pointer":
            return "*" + self.name, not is_required
        return self.name, True


def words_of(name):
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)


def public(name):
    """A name as Go exports it."""
    return "".join(word.upper() if word.lower() in INITIALISMS else form.capital(word) for word in words_of(name))


def local(name):
    """A name as Go has it for an argument."""
    first, *rest = words_of(name)
    return first.lower() + "".join(map(public, rest))


class Models:
    """The types for the schemas."""

    def __init__(self, contract):
        self.schemas = structs.schemas(contract)

    def text(self, names):
        parts = []
        for name in names:
            if name in OWN:
                continue
            schema, nested = self.schemas[name], []
            if "allOf" in schema:
                nested.append(self.struct(schema, name, name, nested))
            else:
                self.kind(schema, name, name, nested)
            parts += nested
        types = re.findall(r"^type (\w+)", "\n".join(parts), re.M)
        assert len(types) == len(set(types)), "two types have one name"
        return "\n".join(parts)

    def kind(self, schema, name, owner, nested):
        """The type of a schema. A type that has to be written for it is added to those of its owner."""
        if "$ref" in schema:
            other = schema["$ref"].rsplit("/", 1)[1]
            if other in OWN:
                return Kind(OWN[other], "pointer" if other in ("Timestamp", "Statuses", "PolicyOrName", "Problem") else "text")
            inner = self.schemas[other]
            if structs.is_object(inner) or "allOf" in inner:
                return Kind(public(other), "pointer", "null" in structs.kinds_of(inner))
            if "enum" in inner:
                return Kind(public(other), "text", None in inner["enum"])
            return self.kind(inner, other, owner, [])
        shape, inner = structs.shape(schema, self.schemas)
        if shape == "nullable":
            return dataclasses.replace(self.kind(inner, name, owner, nested), is_nullable=True)
        if shape == "words":
            nested.append(self.word(schema, name, inner))
            found = Kind(public(name), "text")
        elif shape == "object":
            nested.append(self.struct(schema, name, owner, nested))
            found = Kind(public(name), "pointer")
        elif shape == "list":
            found = Kind("[]" + self.kind(inner, name.removesuffix("s"), owner, nested).name, "list")
        elif shape == "values":
            found = Kind("map[string]" + self.kind(inner, name, owner, nested).name, "list")
        else:
            family = {"text": "text", "moment": "text", "json": "any"}.get(shape, "pointer")
            found = Kind(SHAPES[shape], family)
        return dataclasses.replace(found, is_nullable=structs.is_nullable(schema))

    def struct(self, schema, name, owner, nested):
        """A struct with the members of an object, and of the schemas that it extends."""
        lines = []
        for base in schema.get("allOf", []):
            if "$ref" in base:
                lines.append(f"\t{public(base['$ref'].rsplit('/', 1)[1])}")
        required = schema.get("required", [])
        for member, one in schema.get("properties", {}).items():
            place, is_left_out = self.member(schema, name, owner, member, one, nested, member in required)
            lines += comment(structs.described(one, self.schemas), "\t")
            # Windows of time begin with digits.
            field = "Last" + member if member[0].isdigit() else public(member)
            lines.append(f"\t{field} {place} `json:\"{member}{',omitempty' if is_left_out else ''}\"`")
        text = structs.described(schema, self.schemas) or "As in the contract."
        return "\n".join([*titled(public(name), text), f"type {public(name)} struct {{", *lines, "}"]) + "\n"

    def member(self, schema, name, owner, member, one, nested, is_required):
        """The type of a member, and whether it is left out when it has no value."""
        if chosen := CHOSEN.get((name, member)):
            return (f"Nullable[{chosen}]" if name in structs.CHANGES else chosen), not is_required
        kind = self.kind(one, name + form.capital(member), owner, nested)
        if structs.is_open(name, owner, member, schema, kind.is_nullable or kind.family == "any"):
            return f"Nullable[{kind.name}]", True
        if member in TEXTS and (kind.is_nullable or not is_required):
            return "*" + kind.name, not is_required
        return kind.place(is_required)

    def word(self, schema, name, words):
        """A set of words that may grow."""
        text = schema.get("description", "").strip() or "A word of the contract."
        lines = [*titled(public(name), text), f"type {public(name)} string", "", f"// The words of {public(name)}.", "const ("]
        for one in words:
            lines.append(f'\t{public(name)}{suffix(one)} {public(name)} = "{one}"')
        return "\n".join(lines + [")"]) + "\n"


def suffix(word):
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", word) if part]
    return "_".join(parts) if word[0].isdigit() else "".join(public(part) for part in parts)


def comment(text, indent="", width=WIDTH - 8):
    lines = []
    for number, paragraph in enumerate(text.strip().split("\n\n") if text.strip() else []):
        wrapped = textwrap.wrap(" ".join(paragraph.split()), width, break_on_hyphens=False, break_long_words=False)
        lines += (["//"] if number else []) + [f"// {line}" for line in wrapped]
    return [indent + line for line in lines]


def titled(name, text):
    """A comment that begins with the name of what it is about, as Go's do."""
    text = text.strip()
    return comment(f"{name}: {text if text[1:2].isupper() else text[0].lower() + text[1:]}")


def models(contract, names, notice):
    """The file of the models for these schemas."""
    text = Models(contract).text(names)
    return shaped(headed(notice, "redial", "encoding/json", "time") + text)


def methods(contract, notice):
    """The file of the methods."""
    found, kinds = form.made(contract), Models(contract)
    text = "\n".join(method(operation, kinds) for operation in found)
    return shaped(headed(notice, "redial", "context", "time") + text)


def method(operation, kinds):
    """A method's text, and that of the type of its options."""
    name, options = public(operation.name), option_fields(operation, kinds)
    given = ["ctx context.Context"] if operation.shape != "pages" else []
    given += [f"{local(place.name)} string" for place in operation.places]
    if operation.body:
        kind = kinds.kind(operation.body.schema, "", "", [])
        is_pointer = kind.is_nullable or not operation.body.is_required
        given.append(f"{local(operation.body.name)} {'*' if is_pointer else ''}{kind.name}")
    if options:
        given.append(f"options *{name}Options")
    answer = public(operation.answer) if operation.answer else ""
    result = {
        "value": f"(*{answer}, error)", "list": f"([]{answer}, error)", "pages": f"*Iterator[{answer}]", "nothing": "error",
    }[operation.shape]
    text = operation.text
    for place in operation.places:
        if place.description:
            text += f"\n\nThe argument {local(place.name)}: {place.description}"
    lines = titled(name, text)
    lines += [f"func (c *Client) {name}({', '.join(given)}) {result} {{", *body(operation, bool(options), answer), "}", ""]
    if options:
        lines += [f"// {name}Options: what [Client.{name}] takes besides; nil for none.", f"type {name}Options struct {{"]
        for field, kind, told in options:
            lines += [*comment(told, "\t"), f"\t{field} {kind}"]
        lines += ["}", ""]
    return "\n".join(lines)


def option_fields(operation, kinds):
    """The fields of the options of a method: name, type and text."""
    fields = []
    for parameter in operation.conditions:
        fields.append((public(parameter.name), query_type(parameter, kinds), parameter.description))
    if operation.shape == "pages":
        fields.append(("PageSize", "int", form.PAGE_SIZE.replace(".", "; 0 stands for 250.")))
    for field, name, kind, told in operation.given_fields:
        kind = "IdempotencyKey" if field == "Idempotency-Key" else FIELDS[kind]
        fields.append((public(name), kind, TOLD.get(name, told)))
    return fields


def query_type(parameter, kinds):
    schema = parameter.schema
    if schema.get("type") == "array":
        return "[]" + kinds.kind(schema["items"], "", "", []).name
    if form.is_flag(schema):
        return "bool"
    # A time, or a duration from now.
    if parameter.name == "returnsAt":
        return "Moment"
    kind = kinds.kind(schema, "", "", [])
    return ("*" if kind.family == "pointer" and kind.name != "bool" else "") + kind.name


def body(operation, has_options, answer):
    name = public(operation.name)
    path = '"/' + "/".join(
        f'"+quoted({local(part.name)})+"' if isinstance(part, form.Parameter) else part for part in operation.path) + '"'
    path = path.removesuffix('+""')
    lines = [f"if options == nil {{\noptions = &{name}Options{{}}\n}}"] if has_options else []
    lines.append(f'request := asking("{operation.method}", {path})')
    for parameter in operation.conditions:
        lines.append(f'request.ask("{parameter.name}", options.{public(parameter.name)})')
    if operation.dry_run == "query":
        lines.append('request.ask("dryRun", true)')
    if operation.body:
        value = local(operation.body.name)
        if operation.dry_run == "body":
            kind = public(form.references(operation.body.schema)[0])
            value = f'struct {{\n{kind}\nDryRun bool `json:"dryRun"`\n}}{{{value}, true}}'
        lines.append(
            f"request.give({value})" if operation.body.is_required else f"if {value} != nil {{\nrequest.give({value})\n}}")
    for field, argument, _, _ in operation.given_fields:
        value = f"options.{public(argument)}"
        lines.append({
            "Idempotency-Key": f"request.identify({value})", "Prefer": f"request.holdFor({value})",
        }.get(field, f'request.field("{field}", {value})'))
    if not operation.is_repeatable:
        lines.append("request.isRepeatable = false")
    return [*lines, {
        "pages": f"return pages[{answer}](c, request, options.PageSize)",
        "value": f"return answered[{answer}](ctx, c, request)",
        "list": f"return listed[{answer}](ctx, c, request)", "nothing": "return c.nothing(ctx, request)"}[operation.shape]]


def problems(contract, notice):
    """The file of the problems."""
    codes = form.problem_codes(contract)
    lines = [headed(notice, "problems")]
    for code, title in codes.items():
        said = form.sentence(code, title).removeprefix("The problem ")
        lines += [*comment(f"{public(code)} is the problem {said}"), f"type {public(code)} struct{{ Refusal }}", ""]
    lines.append("var types = map[string]func(Refusal) error{")
    lines += [f'\t"{code}": func(refusal Refusal) error {{ return &{public(code)}{{refusal}} }},' for code in codes]
    return shaped("\n".join(lines + ["}"]) + "\n")


def headed(notice, package, *imports):
    """The head of a file, with the words by which Go's tools know a generated one."""
    head = f"// {notice.replace('Made', 'Code generated')} api/openapi.yaml. DO NOT EDIT.\n\npackage {package}\n\n"
    return head + ("import (\n" + "".join(f'"{name}"\n' for name in imports) + ")\n\n" if imports else "")


def shaped(text):
    """The text in Go's form."""
    if not shutil.which("gofmt"):
        sys.exit("gofmt is missing, by which the client for Go is written: Scripts/packages all-tests installs it")
    done = subprocess.run(["gofmt"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + text
    return done.stdout

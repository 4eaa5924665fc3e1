"""Writes the methods, models and codes of the Swift client."""

import dataclasses
import pathlib
import re
import subprocess
import textwrap

import operations as form
import structs

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 118

# Schemas whose types people have written.
OWN = {
    "Call": "RedialCall", "CallSummary": "RedialCall", "CallDescriptor": "OutgoingCall", "CallFilter": "CallFilter",
    "PolicyOrName": "CallPolicy", "CallKind": "RedialCall.Kind", "CallState": "RedialCall.State",
    "FailureReason": "RedialCall.FailureReason", "WaitReason": "RedialCall.WaitReason", "Outcome": "RedialCallAttempt.Outcome",
    "Duration": "Duration", "Timestamp": "Date"}
# What types of people have of these.
PARTS = {"Policy", "Request"}
# A time, or a duration from now.
MOMENT, MOMENTS = "RedialAPI.Moment", {"returnsAt"}
# The types of the other shapes, see structs.py.
SHAPES = {
    "moment": MOMENT, "json": "RedialJSON", "time": "Date", "text": "String", "whole": "Int", "number": "Double", "flag": "Bool"}
# What the standard library or the language means by these names.
RENAMED, TYPES = {"self": "isSelf"}, {"Type": "Kind", "Self": "Own"}
KEYWORDS = {
    "as", "break", "case", "catch", "class", "continue", "default", "do", "else", "enum", "extension", "fallthrough", "for", "func",
    "guard", "if", "import", "in", "init", "is", "let", "nil", "operator", "protocol", "public", "repeat", "return", "static",
    "struct", "switch", "throw", "true", "false", "try", "var", "where", "while"}
# How a value of the library stands in JSON, if not by itself: the type there, and the member of that with the value.
WIRE = {"Date": ("WireInstant", "date"), "Duration": ("WireSpan", "duration")}


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type in Swift, and how its values stand in JSON."""

    name: str
    is_nullable: bool = False
    # The type in JSON, if it is another, and the expressions from there and to there, with `@` for the value.
    wire: str | None = None
    up: str = "@"
    down: str = "@"

    def list(self):
        return self.nested(f"[{self.name}]", "[{}]", "map")

    def values(self):
        return self.nested(f"[String: {self.name}]", "[String: {}]", "mapValues")

    def nested(self, name, pattern, function):
        if not self.wire:
            return Kind(name)
        return Kind(
            name, wire=pattern.format(self.wire), up="@." + function + " { " + applied(self.up, "$0") + " }",
            down="@." + function + " { " + applied(self.down, "$0") + " }")


def applied(expression, value):
    return expression.replace("@", value)


def plain(name):
    if name not in WIRE:
        return Kind(name)
    wire, member = WIRE[name]
    return Kind(name, wire=wire, up="@." + member, down=wire + "(@)")


class Models:
    """The structs for the schemas that generated methods take and give."""

    def __init__(self, contract):
        found = form.made(contract)
        self.schemas = structs.schemas(contract)
        self.given = structs.reachable(structs.given(found), self.schemas, OWN)
        self.answered = structs.reachable(structs.answered(found) | PARTS, self.schemas, OWN)

    def text(self):
        parts = []
        for name, schema in self.schemas.items():
            if name in self.given | self.answered:
                nested = []
                self.kind(schema, name, name, nested, is_named=True)
                parts += nested
        return "\n".join(f"extension RedialAPI {{\n{part}}}\n" for part in parts)

    def kind(self, schema, name, owner, nested, is_named=False):
        """The type of a schema. A type that has to be written for it is added to those of its owner."""
        if "$ref" in schema:
            other = schema["$ref"].rsplit("/", 1)[1]
            if other in OWN:
                return plain(OWN[other])
            inner = self.schemas[other]
            if structs.is_object(inner) or "enum" in inner:
                return Kind(f"RedialAPI.{other}", is_nullable="null" in structs.kinds_of(inner))
            return self.kind(inner, other, owner, [])
        shape, inner = structs.shape(schema, self.schemas)
        if shape == "nullable":
            return dataclasses.replace(self.kind(inner, name, owner, nested), is_nullable=True)
        if shape == "words":
            nested.append(word(schema, name, inner))
            found = Kind(name)
        elif shape == "object":
            nested.append(self.struct(schema, name, owner))
            found = Kind(name)
        elif shape == "list":
            found = self.kind(inner, name.removesuffix("s"), owner, nested).list()
        elif shape == "values":
            found = self.kind(inner, name, owner, nested).values()
        else:
            found = plain(SHAPES[shape])
        return dataclasses.replace(found, is_nullable=structs.is_nullable(schema))

    def struct(self, schema, name, owner):
        """A struct with the members of an object."""
        nested, members = [], []
        required = schema.get("required", [])
        is_given = owner in self.given
        for member, one in schema["properties"].items():
            kind = self.kind(one, type_name(member), owner, nested)
            own = RENAMED.get(member) or identifier(member, name, is_escaped=False)
            is_open = structs.is_open(name, owner, member, schema, kind.is_nullable)
            text = structs.described(one, self.schemas) or f"`{member}`."
            members.append(Member(member, own, kind, member in required, is_open, text))
        coding = "Codable" if owner in self.answered else "Encodable"
        identity = ", Identifiable" if any(one.name == "id" and one.type == "String" for one in members) else ""
        lines = comment(structs.described(schema, self.schemas) or f"`{name}` of the contract.")
        lines.append(f"public struct {name}: Sendable, Hashable, {coding}{identity} {{")
        for member in members:
            lines += [f"  {line}" for line in comment(member.text)]
            lines.append(f"  public var {escaped(member.name)}: {member.type}")
        if is_given:
            lines += ["", *initializer(members)]
        if any(member.is_special for member in members):
            lines += ["", *coded(members, owner in self.answered)]
        for one in nested:
            lines += ["", *("  " + line if line else "" for line in one.rstrip("\n").split("\n"))]
        return "\n".join(lines + ["}"]) + "\n"


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of a struct."""

    key: str
    name: str
    kind: Kind
    is_required: bool
    # Whether it can be null, or be left out, and each means something else.
    is_open: bool
    text: str

    @property
    def type(self):
        if self.is_open:
            return f"RedialNullable<{self.kind.name}>"
        return self.kind.name + ("?" if self.kind.is_nullable or not self.is_required else "")

    @property
    def is_special(self):
        """Whether the compiler would not write it as the service does."""
        return bool(self.kind.wire) or self.is_open or self.key != self.name or self.is_required and self.kind.is_nullable


def type_name(member):
    name = form.capital(member)
    return TYPES.get(name, name)


def escaped(name):
    return f"`{name}`" if name in KEYWORDS else name


def comment(text, indent=""):
    lines = []
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        wrapped = textwrap.wrap(" ".join(paragraph.split()), WIDTH - 10, break_on_hyphens=False, break_long_words=False)
        lines += (["///"] if number else []) + [f"/// {line}" for line in wrapped]
    return [indent + line for line in lines]


def word(schema, name, words):
    """A set of words that may grow."""
    text = schema.get("description", "").strip() or f"A word of `{name[0].lower() + name[1:]}`."
    lines = [
        *comment(text), f"public struct {name}: RedialWord {{", "  /// The word.", "  public let rawValue: String",
        "  /// A value with that word.", "  public init(rawValue: String) { self.rawValue = rawValue }", ""]
    for one in words:
        lines += [f"  /// `{one}`.", f'  public static let {identifier(one, name)} = {name}(rawValue: "{one}")']
    return "\n".join(lines + ["}"]) + "\n"


def identifier(text, name, is_escaped=True):
    """A name for a word."""
    parts = re.split(r"[^A-Za-z0-9]+", text)
    joined = parts[0] + "".join(form.capital(part) for part in parts[1:] if part)
    if not joined[0].isalpha():
        joined = name[0].lower() + name[1:] + "_".join(parts)
    return escaped(joined) if is_escaped else joined


def initializer(members):
    given = [
        f"{escaped(member.name)}: {member.type}" + (" = .absent" if member.is_open else "" if member.is_required else " = nil")
        for member in sorted(members, key=lambda member: not member.is_required)]
    return [
        "  /// Creates one; what is left out is not sent.", f"  public init({', '.join(given)}) {{",
        *(f"    self.{member.name} = {escaped(member.name)}" for member in members), "  }"]


def coded(members, is_read):
    keys = ", ".join(
        escaped(member.name) if member.name == member.key else f'{escaped(member.name)} = "{member.key}"' for member in members)
    lines = [f"  private enum CodingKeys: String, CodingKey {{ case {keys} }}", ""]
    if is_read:
        lines += ["  /// Reads it from the service's JSON.", "  public init(from decoder: any Decoder) throws {",
                  "    let members = try decoder.container(keyedBy: CodingKeys.self)"]
        for member in members:
            kind, key = member.kind, f"forKey: .{member.name}"
            wire = kind.wire or kind.name
            mapped = f".map {{ {applied(kind.up, '$0')} }}" if kind.wire else ""
            if member.is_required and not kind.is_nullable:
                value = "try " + applied(kind.up, f"members.decode({wire}.self, {key})")
            else:
                value = f"try members.decodeIfPresent({wire}.self, {key}){mapped}"
            lines.append(f"    {escaped(member.name)} = {value}")
        lines += ["  }", ""]
    lines += ["  /// Writes it as the service does.", "  public func encode(to encoder: any Encoder) throws {",
              "    var members = encoder.container(keyedBy: CodingKeys.self)"]
    for member in members:
        kind, name, key = member.kind, escaped(member.name), f"forKey: .{member.name}"
        mapped = f"{name}.map {{ {applied(kind.down, '$0')} }}" if kind.wire else name
        if member.is_open:
            lines.append(f"    try members.encodeNullable({mapped}, {key})")
        elif not member.is_required:
            lines.append(f"    try members.encodeIfPresent({mapped}, {key})")
        elif kind.is_nullable:
            lines.append(f"    try members.encode({mapped}, {key})")
        else:
            lines.append(f"    try members.encode({applied(kind.down, name)}, {key})")
    return lines + ["  }"]


# Methods.

# The types of header fields, and what differs here.
KINDS = {"text": "String", "seconds": "Duration"}
TOLD = {"wait": "Return only when the call has ended, or after this time, at most ``longestWait``."}


def method(operation, models):
    """A method's text."""
    answer = result_type(operation, models)
    given, told = [], []
    for place in operation.places:
        given.append(f"_ {place_name(place)}: String")
        told.append((place_name(place), place.description))
    if operation.body:
        kind = models.kind(operation.body.schema, "", "", [])
        optional = kind.is_nullable or not operation.body.is_required
        default = "" if operation.body.is_required else " = nil"
        given.append(f"_ {operation.body.name}: {kind.name}{'?' if optional else ''}{default}")
        told.append((operation.body.name, body_text(operation)))
    asked = []
    for parameter in operation.conditions:
        name = parameter.name
        kind, text = query_type(parameter, models)
        given.append(f"{name}: {kind}")
        told.append((name, parameter.description))
        asked.append(f'("{name}", {text})')
    if operation.shape == "pages":
        given.append("pageSize: Int = 250")
        told.append(("pageSize", form.PAGE_SIZE))
    for _, argument, kind, description in operation.given_fields:
        given.append(f"{argument}: {KINDS[kind]}? = nil")
        told.append((argument, TOLD.get(argument, description)))
    lines = comment(operation.text)
    told = [(name, " ".join(text.split())) for name, text in told if text]
    if len(told) == 1:
        lines += ["///", *parameter_text("- Parameter", *told[0], "///   ")]
    elif told:
        lines += ["///", "/// - Parameters:"]
        for name, text in told:
            lines += parameter_text("  -", name, text, "///     ")
    is_reading = operation.method == "GET" or operation.dry_run or operation.id in form.READS
    if operation.shape not in ("nothing", "pages") and not is_reading:
        lines.append("@discardableResult")
    effects = "" if operation.shape == "pages" else " async throws"
    result = "" if operation.shape == "nothing" else f" -> {answer}"
    lines.append(f"public func {operation.name}({', '.join(given)}){effects}{result} {{")
    lines += ["  " + line for line in body(operation, asked, answer)]
    return "\n".join("  " + line if line else "" for line in lines + ["}"]) + "\n"


def parameter_text(mark, name, text, indent):
    return textwrap.wrap(f"/// {mark} {name}: {text}", WIDTH - 4, subsequent_indent=indent, break_on_hyphens=False)


def place_name(place):
    return place.name.removesuffix("Id") + "ID" if place.name.endswith("Id") else place.name


def body_text(operation):
    return {
        "changes": "What replaces members of the call; nil for none.", "patch": "What changes; nil removes all that was set.",
    }.get(operation.body.name, f"The {operation.body.name}{'' if operation.body.is_required else '; nil for the defaults'}.")


def result_type(operation, models):
    if operation.answer is None:
        return "Void"
    name = models.kind({"$ref": form.PREFIX + operation.answer}, "", "", []).name
    return {"value": name, "list": f"[{name}]", "pages": f"RedialPages<{name}>", "nothing": "Void"}[operation.shape]


def query_type(parameter, models):
    """The type of a parameter of the query, and the expression of its text."""
    schema, name = parameter.schema, parameter.name
    if name in MOMENTS:
        return f"{MOMENT}? = nil", f"try {name}?.text()"
    if schema.get("type") == "array":
        kind = models.kind(schema["items"], "", "", []).name
        return f"[{kind}] = []", f"ServiceRequest.words({name})"
    if form.is_flag(schema):
        return "Bool? = nil", f"{name}.map {{ \"\\($0)\" }}"
    kind = models.kind(schema, "", "", []).name
    return f"{kind}? = nil", name if kind == "String" else f"{name}.map {{ \"\\($0)\" }}"


def body(operation, asked, answer):
    path = ", ".join(place_name(part) if isinstance(part, form.Parameter) else f'"{part}"' for part in operation.path)
    changes = []
    if operation.body:
        value = operation.body.name
        if form.references(operation.body.schema) == ["CallDescriptor"]:
            changes.append(f"request.body = try {value}.descriptor()")
        elif operation.dry_run == "body":
            changes.append(f"request.body = try ServiceRequest.encoded(DryRunBody(of: {value}))")
        elif operation.body.is_required:
            changes.append(f"request.body = try ServiceRequest.encoded({value})")
        else:
            changes.append(f"request.body = try {value}.map {{ try ServiceRequest.encoded($0) }} ?? ServiceRequest.nothing")
    if operation.dry_run == "query":
        asked = ['("dryRun", "true")']
    if asked:
        changes.append(f"request.add([{', '.join(asked)}])")
    if "Idempotency-Key" in operation.fields:
        changes.append("identify(&request, by: idempotencyKey)")
    elif operation.is_repeatable and operation.method != "GET":
        changes.append("request.isRepeatable = true")
    if "Prefer" in operation.fields:
        changes.append("hold(&request, for: wait ?? .zero)")
    for field in ("If-Match", "If-None-Match"):
        if field in operation.fields:
            changes.append(f'request.fields["{field}"] = {form.FIELDS[field][0]}')
    nothing = ", body: ServiceRequest.nothing" if operation.method == "POST" and not operation.body else ""
    start = f'ServiceRequest("{operation.method}", [{path}]{nothing})'
    if operation.shape == "pages":
        entry = answer.removeprefix("RedialPages<").removesuffix(">")
        lines = [f"RedialPages<{entry}>(client: self, pageSize: pageSize) {{"]
        inner = [f"{'var' if changes else 'let'} request = {start}", *changes, "return request"] if changes else [start]
        return lines + ["  " + line for line in inner] + ["}"]
    lines = [f"var request = {start}", *changes] if changes else []
    sent = f"exchange({'request' if changes else start})"
    if operation.shape == "nothing":
        return [*lines, f"_ = try await {sent}"]
    if operation.shape == "list":
        return [*lines, f"return try await {sent}.decoded(Listed<{answer[1:-1]}>.self).data"]
    return [*lines, f"return try await {sent}.decoded({answer}.self)"]


def codes(contract, notice):
    """The file of the codes of problems."""
    lines = [f"// {notice} api/openapi.yaml.", "", "extension RedialProblem.Code {"]
    for code, title in form.problem_codes(contract).items():
        lines += [f"  /// {title or f'The code `{code}`'}.", f'  public static let {escaped(code)} = Self(rawValue: "{code}")']
    return shaped("\n".join(lines + ["}"]) + "\n")


def methods(contract, notice):
    """The file of the methods."""
    models = Models(contract)
    text = f"// {notice} api/openapi.yaml.\n\nextension RedialClient {{\n"
    text += "\n".join(method(operation, models) for operation in form.made(contract))
    return shaped(text + "}\n")


def models(contract, notice):
    """The file of the models."""
    return shaped(f"// {notice} api/openapi.yaml.\n\npublic import Foundation\n\n" + Models(contract).text())


def shaped(text):
    """The text in the form of the repository."""
    done = subprocess.run(
        ["swift", "format", "format", "--configuration", ROOT / ".swift-format", "-"], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

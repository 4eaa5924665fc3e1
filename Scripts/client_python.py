"""Writes the methods of Python's clients, and a class for each code of a problem."""

import textwrap

import operations as form

WIDTH = 120
# The types of header fields.
KINDS = {"text": "str | None", "seconds": "float | None"}

HEAD = '''"""The asynchronous methods. {notice} api/openapi.yaml."""

from __future__ import annotations

import math
from typing import Any, AsyncIterator, List, Sequence

from . import _requests as requests
from ._requests import Request, quoted
from .models import (
{models}
)


class AsyncMethods:
    """The methods that need nothing but one request of the API."""

    async def _json(self, request: Request, until: float = math.inf) -> Any:
        raise NotImplementedError

    async def _nothing(self, request: Request) -> None:
        raise NotImplementedError

    def _pages(self, request: Request) -> AsyncIterator[Any]:
        raise NotImplementedError
'''


def methods(contract, notice):
    """The file of the asynchronous methods."""
    found = form.made(contract)
    models = sorted(form.schemas_of(found))
    listed = textwrap.fill(", ".join(models) + ",", WIDTH, initial_indent="    ", subsequent_indent="    ")
    return HEAD.format(notice=notice, models=listed) + "".join("\n" + method(contract, operation) for operation in found)


def filled(entries, indent):
    """Entries with commas between them, in lines."""
    lines, line = [], ""
    for number, entry in enumerate(entries):
        entry += "," if number < len(entries) - 1 else ""
        if line and indent + len(line) + 1 + len(entry) > WIDTH:
            lines.append(line)
            line = entry
        else:
            line = f"{line} {entry}" if line else entry
    return "\n".join(" " * indent + line for line in [*lines, line])


def method(contract, operation):
    """A method's text."""
    name, given, told = form.snake(operation.name), ["self"], []
    for place in operation.places:
        given.append(f"{form.snake(place.name)}: str")
        told.append((form.snake(place.name), place.description))
    if operation.body:
        kind = body_type(contract, operation)
        given.append(f"{operation.body.name}: {kind}" + ("" if operation.body.is_required else " | None = None"))
    options = []
    for parameter in operation.conditions:
        options.append(f"{form.snake(parameter.name)}: {query_type(parameter.schema)} | None = None")
        told.append((form.snake(parameter.name), parameter.description))
    if operation.shape == "pages":
        options.append("page_size: int = 250")
        told.append(("page_size", form.PAGE_SIZE))
    for _, argument, kind, description in operation.given_fields:
        options.append(f"{form.snake(argument)}: {KINDS[kind]} = None")
        told.append((form.snake(argument), description))
    if options:
        given += ["*", *options]
    result = {
        "value": operation.answer, "list": f"List[{operation.answer}]", "pages": f"AsyncIterator[{operation.answer}]",
        "nothing": "None"}[operation.shape]
    text = f"    async def {name}(\n{filled(given, 8)}\n    ) -> {result}:\n"
    short = f"    async def {name}({', '.join(given)}) -> {result}:\n"
    if len(short) <= WIDTH + 1:
        text = short
    return text + comment(operation, told) + body(operation, result)


def body_type(contract, operation):
    schema = operation.body.schema
    name = form.references(schema)[0]
    kinds = contract["components"]["schemas"][name].get("type")
    return f"{name} | None" if isinstance(kinds, list) and "null" in kinds else name


def query_type(schema):
    if schema.get("type") == "array":
        name = form.references(schema)[0]
        return f"{name} | Sequence[{name}]"
    if form.is_flag(schema):
        return "bool"
    return {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}[schema["type"]]


def comment(operation, told):
    paragraphs = operation.text.split("\n\n")
    lines = []
    for number, paragraph in enumerate(paragraphs):
        lines += ([""] if number else []) + textwrap.wrap(" ".join(paragraph.split()), WIDTH - 8)
    if any(description for _, description in told):
        lines.append("")
    for name, description in told:
        if description:
            lines += textwrap.wrap(
                f":param {name}: {' '.join(description.split())}", WIDTH - 8, subsequent_indent="    ", break_on_hyphens=False)
    lines[0] = '"""' + lines[0]
    if len(lines) == 1:
        return f'        {lines[0]}"""\n'
    return "".join(f"        {line}".rstrip() + "\n" for line in [*lines, '"""'])


def body(operation, result):
    path = "/" + "/".join(
        f"{{quoted({form.snake(part.name)})}}" if isinstance(part, form.Parameter) else part for part in operation.path)
    words = [f'"{operation.method}"', ("f" if "{" in path else "") + f'"{path}"']
    asked = []
    for parameter in operation.query:
        name = form.snake(parameter.name) if not (operation.shape == "pages" and parameter.name == "limit") else "page_size"
        asked.append(f"{parameter.name}={name}")
    if operation.dry_run == "query":
        asked.append("dryRun=True")
    if asked:
        words.append(f"requests.query({', '.join(asked)})")
    if operation.body:
        value = operation.body.name
        value = f'{{**{value}, "dryRun": True}}' if operation.dry_run == "body" else value
        words.append(
            f"content=requests.encoded({value})" if operation.body.is_required
            else f"content=None if {value} is None else requests.encoded({value})")
    for field, argument, _, _ in operation.given_fields:
        argument = form.snake(argument)
        words.append(f"key=requests.given_or_new({argument})" if field == "Idempotency-Key" else f"{argument}={argument}")
    if not operation.is_repeatable:
        words.append("is_repeatable=False")
    indent = " " * 8
    request = f"requests.asking({', '.join(words)})"
    if len(request) > 100:
        request = f"requests.asking(\n{filled(words, 12)})"
    if operation.shape == "nothing":
        return f"{indent}await self._nothing({request})\n"
    if operation.shape == "pages":
        return f"{indent}async for entry in self._pages({request}):\n{indent}    yield entry\n"
    data = '["data"]' if operation.shape == "list" else ""
    answer = f"(await self._json({request})){data}" if data else f"await self._json({request})"
    return f"{indent}result: {result} = {answer}\n{indent}return result\n"


PROBLEMS = '''"""A class for each code of a problem. {notice} api/openapi.yaml.

``except problems.CallEnded`` catches the problems with the code `callEnded`. One with a code that is not here, of a later version
of the service, is a plain ``RedialProblem``.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Type

from ._errors import RedialProblem
'''


def problems(contract, notice):
    """The file of the problems."""
    codes = form.problem_codes(contract)
    text = PROBLEMS.format(notice=notice)
    for code, title in codes.items():
        said = form.sentence(code, title)
        text += f'\n\nclass {form.capital(code)}(RedialProblem):\n    """{said}"""\n'
    text += "\n\nTYPES: Dict[str, Type[RedialProblem]] = {\n"
    text += "".join(f'    "{code}": {form.capital(code)},\n' for code in codes)
    text += '}\n"""The class of each code."""\n'
    return text + '''

def problem(document: Mapping[str, Any], status: int, retry_after: float | None = None) -> RedialProblem:
    """The problem in a document, as the class of its code."""
    return TYPES.get(document.get("code", ""), RedialProblem)(document, status, retry_after)
'''

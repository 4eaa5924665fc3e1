"""Writes the methods of the TypeScript client, and a class for each code of a problem."""

import textwrap

import operations as form

WIDTH = 124
# The types of header fields.
KINDS = {"text": "string", "seconds": "number"}

HEAD = '''// {notice} api/openapi.yaml.

import type {{
{models}
}} from "./models.js";
import {{ asking, filters, givenOrNew }} from "./requests.js";
import type {{ Request }} from "./requests.js";

/** The methods that need nothing but one request of the API. */
export abstract class Methods {{
  /** @internal */
  protected abstract json<Result>(request: Request, signal?: AbortSignal): Promise<Result>;
  /** @internal */
  protected abstract pages<Entry>(request: Request, signal?: AbortSignal): AsyncGenerator<Entry, void, undefined>;
'''


def methods(contract, notice):
    """The file of the methods."""
    found = form.made(contract)
    models = sorted(form.schemas_of(found))
    listed = textwrap.fill(", ".join(models) + ",", WIDTH, initial_indent="  ", subsequent_indent="  ")
    return HEAD.format(notice=notice, models=listed) + "".join("\n" + method(operation) for operation in found) + "}\n"


def method(operation):
    """A method's text."""
    given = [f"{place.name}: string" for place in operation.places]
    told = [(place.name, place.description) for place in operation.places]
    if operation.body:
        name = form.references(operation.body.schema)[0]
        given.append(f"{operation.body.name}{'' if operation.body.is_required else '?'}: {name}")
    options = []
    for parameter in operation.conditions:
        options.append(f"{parameter.name}?: {query_type(parameter.schema)}")
        told.append((f"options.{parameter.name}", parameter.description))
    if operation.shape == "pages":
        options.append("pageSize?: number")
        told.append(("options.pageSize", form.PAGE_SIZE.replace(".", "; by default 250.")))
    for _, option, kind, description in operation.given_fields:
        options.append(f"{option}?: {KINDS[kind]}")
        told.append((f"options.{option}", description))
    given.append(f"options: {{ {'; '.join([*options, 'signal?: AbortSignal'])} }} = {{}}")
    result = {"value": operation.answer, "list": f"{operation.answer}[]", "pages": operation.answer, "nothing": "void"}[operation.shape]
    result = f"AsyncGenerator<{result}, void, undefined>" if operation.shape == "pages" else f"Promise<{result}>"
    star = "*" if operation.shape == "pages" else ""
    head = f"  async {star}{operation.name}({', '.join(given)}): {result} {{\n"
    if len(head) > WIDTH:
        head = f"  async {star}{operation.name}(\n    {', '.join(given)},\n  ): {result} {{\n"
    return comment(operation, told) + head + body(operation) + "  }\n"


def query_type(schema):
    if schema.get("type") == "array":
        name = form.references(schema)[0]
        return f"{name} | readonly {name}[]"
    if form.is_flag(schema):
        return "boolean"
    return {"boolean": "boolean", "integer": "number", "number": "number", "string": "string"}[schema["type"]]


def comment(operation, told):
    lines = []
    for number, paragraph in enumerate(operation.text.split("\n\n")):
        lines += ([""] if number else []) + textwrap.wrap(" ".join(paragraph.split()), WIDTH - 5)
    told = [(name, " ".join(description.split())) for name, description in told if description]
    if told:
        lines.append("")
    for name, description in told:
        lines += textwrap.wrap(f"@param {name} {description}", WIDTH - 5, subsequent_indent="  ")
    if len(lines) == 1:
        return f"  /** {lines[0]} */\n"
    return "  /**\n" + "".join(f"   * {line}".rstrip() + "\n" for line in lines) + "   */\n"


def body(operation):
    path = "/" + "/".join(
        f"${{encodeURIComponent({part.name})}}" if isinstance(part, form.Parameter) else part for part in operation.path)
    words, asked = [], []
    for parameter in operation.query:
        page = operation.shape == "pages" and parameter.name == "limit"
        asked.append("limit: options.pageSize ?? 250" if page else f"{parameter.name}: options.{parameter.name}")
    if operation.dry_run == "query":
        asked.append("dryRun: true")
    if asked:
        words.append(f"params: filters({{ {', '.join(asked)} }})")
    if operation.body:
        value = operation.body.name
        words.append(f"body: {{ ...{value}, dryRun: true }}" if operation.dry_run == "body" else f"body: {value}")
    for field, option, _, _ in operation.given_fields:
        words.append(f"key: await givenOrNew(options.{option})" if field == "Idempotency-Key" else f"{option}: options.{option}")
    if not operation.is_repeatable:
        words.append("isRepeatable: false")
    mark = "`" if "${" in path else '"'
    start = f'"{operation.method}", {mark}{path}{mark}'
    request = f"asking({start}, {{ {', '.join(words)} }})" if words else f"asking({start})"
    lines = f"    const request = {request};\n"
    if len(lines) > WIDTH:
        indent = {"initial_indent": " " * 6, "subsequent_indent": " " * 6}
        inner = textwrap.fill(", ".join(words) + ",", WIDTH, break_on_hyphens=False, **indent)
        lines = f"    const request = asking({start}, {{\n{inner}\n    }});\n"
    if operation.shape == "pages":
        return lines + f"    yield* this.pages<{operation.answer}>(request, options.signal);\n"
    if operation.shape == "list":
        return lines + f"    return (await this.json<{{ data: {operation.answer}[] }}>(request, options.signal)).data;\n"
    return lines + "    return this.json(request, options.signal);\n"


PROBLEMS = '''// {notice} api/openapi.yaml.

import {{ RedialProblem }} from "./errors.js";
import type {{ Problem }} from "./models.js";
'''


def problems(contract, notice):
    """The file of the problems."""
    codes = form.problem_codes(contract)
    text = PROBLEMS.format(notice=notice)
    for code, title in codes.items():
        said = form.sentence(code, title)
        text += f"\n/** {said} */\nexport class {form.capital(code)} extends RedialProblem {{}}\n"
    text += "\nconst types: Readonly<Record<string, typeof RedialProblem>> = {\n"
    text += "".join(f"  {code}: {form.capital(code)},\n" for code in codes)
    return text + '''};

/** The problem in a document, as the class of its code; a code that is not here, of a later service, is a `RedialProblem`. */
export function problemOf(document: Partial<Problem>, status: number, retryAfter: number | null = null): RedialProblem {
  const code = document.code ?? "";
  const type = Object.prototype.hasOwnProperty.call(types, code) ? types[code] : undefined;
  return new (type ?? RedialProblem)(document, status, retryAfter);
}
'''

"""What the answers of the service mean."""

from __future__ import annotations

import json
from typing import Any, List, Mapping

import httpx

from . import problems
from ._errors import RedialError, RedialProblem, UnexpectedAnswer
from .models import BatchItem


def refusal(status: int, headers: Mapping[str, str], content: bytes) -> RedialError:
    """The error for an answer that is not a success."""
    if headers.get("content-type", "").startswith("application/problem+json"):
        try:
            problem = json.loads(content)
        except ValueError:
            problem = None
        if isinstance(problem, dict):
            return problems.problem(problem, status, seconds(headers.get("retry-after")))
    return UnexpectedAnswer(status, content[:1000].decode(errors="replace"))


def seconds(field: str | None) -> float | None:
    """A `Retry-After`; the service gives it in seconds."""
    return float(field) if field and field.isascii() and field.isdigit() else None


def decoded(response: httpx.Response) -> Any:
    """The JSON of a success."""
    try:
        return json.loads(response.content)
    except ValueError:
        raise UnexpectedAnswer(response.status_code, response.text[:1000]) from None


def batch_items(response: httpx.Response, count: int) -> List[BatchItem]:
    """The results in NDJSON of that many calls; fewer only if the last line says why, with a `line` that is null."""
    try:
        items: List[BatchItem] = [json.loads(line) for line in response.content.split(b"\n") if line.strip()]
    except ValueError:
        items = []
    if len(items) == count or (items and ended_early(items[-1])):
        return items
    raise UnexpectedAnswer(response.status_code, response.text[:1000])


def ended_early(item: BatchItem) -> bool:
    """Whether this line belongs to no call, but says why the service reads no more of them."""
    return item.get("line") is None


def early_end(item: BatchItem) -> RedialProblem:
    """The reason in such a line."""
    headers = item.get("headers", {})
    return problems.problem(item.get("problem", {}), item["status"], seconds(headers.get("retry-after")))

"""The requests of the client, as values: what is sent does not depend on how."""

from __future__ import annotations

import json
import math
import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Dict, List, Mapping, Sequence, Tuple
from urllib.parse import quote, urlencode, urlsplit

import httpx

from .models import CallDescriptor

# The parts of a batch. A part is written as a whole before its answers are read, and the service stops reading while its
# answers are not read. 64 KiB fit into the buffers of a connection, so neither side ever waits for the other.
PART_LINES = 1000
PART_BYTES = 64 * 1024

_LATE_ANSWER = 5.0

Params = Tuple[Tuple[str, str], ...]

_BARE_KEY = re.compile(r"[!#-+\--~]{1,255}")
_PRINTABLE = re.compile(r"[ -~]+")
_ANY_KEY = re.compile(r"[ -~]{1,255}")


@dataclass(frozen=True)
class Request:
    """A request to the service."""

    method: str
    path: str
    params: Params = ()
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # Whether it may be sent again although the service may have done it already.
    is_repeatable: bool = True
    # Seconds for which the service may hold its answer back.
    hold: float = 0


def new_key() -> str:
    """A new idempotency key, with 128 random bits."""
    return secrets.token_hex(16)


def given_or_new(key: str | None) -> str:
    """A key; an empty one is refused, because it is a mistake that would submit a call twice."""
    if key == "":
        raise ValueError("an idempotency key has 1 to 255 printable ASCII characters, unlike ''")
    return new_key() if key is None else key


def require_printable(what: str, text: str) -> None:
    """Refuses what no header field can have, without showing it."""
    if not _PRINTABLE.fullmatch(text):
        raise ValueError(f"{what} has characters that are not printable ASCII")


def patience(timeout: float, hold: float, left: float) -> httpx.Timeout:
    """How long the phases of a request may take.

    :param left: The seconds that the caller has left; an answer may come a little later.
    """
    most = max(0.0, left) + _LATE_ANSWER
    # A request that queues for one of few connections has not failed.
    queueing = None if most == math.inf else most
    return httpx.Timeout(min(timeout, most), read=min(timeout + hold, most), pool=queueing)


def key_field(key: str) -> str:
    """A key as a header field's value: as it is, or as a quoted string (RFC 8941)."""
    if _BARE_KEY.fullmatch(key):
        return key
    if not _ANY_KEY.fullmatch(key):
        raise ValueError(f"an idempotency key has 1 to 255 printable ASCII characters, unlike {key!r}")
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


def encoded(value: object) -> bytes:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def asking(
    method: str, path: str, params: Params = (), *, content: bytes | None = None, key: str | None = None,
    wait: float | None = None, if_match: str | None = None, if_none_match: str | None = None, is_repeatable: bool = True,
) -> Request:
    """A request with what is given of its parts.

    :param content: JSON.
    :param wait: The seconds for which the service may hold its answer back until the call has ended.
    """
    headers: Dict[str, str] = {}
    if content is not None:
        headers["Content-Type"] = "application/json"
    if key is not None:
        headers["Idempotency-Key"] = key_field(key)
    if wait:
        headers["Prefer"] = f"wait={max(1, round(wait))}"
    if if_match is not None:
        headers["If-Match"] = if_match
    if if_none_match is not None:
        headers["If-None-Match"] = if_none_match
    return Request(method, path, params, content, headers, is_repeatable, hold=wait or 0)


def submission(call: CallDescriptor, key: str | None, wait: float | None) -> Request:
    return asking("POST", "/v1/calls", content=encoded(call), key=given_or_new(key), wait=wait)


def quoted(part: str) -> str:
    """A part of a path."""
    return quote(part, safe="")


def call_path(call_id: str, *rest: str) -> str:
    return "/".join(["/v1/calls", quoted(call_id), *rest])


def reading(call_id: str, *, hold: float = 0, with_request: bool = False) -> Request:
    params: Params = (("wait", f"{max(1, round(hold * 1000))}ms"),) if hold else ()
    return Request("GET", call_path(call_id), params + ((("include", "request"),) if with_request else ()), hold=hold)


def attempts(call_id: str, with_body: bool) -> Request:
    return Request("GET", call_path(call_id, "attempts"), (("include", "body"),) if with_body else ())


def cancellation(call_id: str) -> Request:
    # A call that is cancelled already is answered like one that is cancelled now.
    return Request("POST", call_path(call_id, "cancel"))


def manual_retry(call_id: str, by: str | None, reason: str | None) -> Request:
    words = {name: text for name, text in (("by", by), ("reason", reason)) if text is not None}
    return asking("POST", call_path(call_id, "retry"), content=encoded(words), is_repeatable=False)


def filters(
    *, labels: Mapping[str, str] | None = None, created_after: datetime | str | None = None,
    created_before: datetime | str | None = None, next_attempt_before: datetime | str | None = None,
    **others: str | Sequence[str] | int | None,
) -> Params:
    """The parameters of a list or of the event stream, without those that are not given."""
    for name in labels or {}:
        if "=" in name:  # The service would read another label.
            raise ValueError(f"the label {name!r} has a = in its name, as no label of a call has")
    moments = query(createdAfter=created_after, createdBefore=created_before, nextAttemptBefore=next_attempt_before)
    return query(**others) + moments + tuple(("label", f"{name}={value}") for name, value in (labels or {}).items())


def query(**values: str | Sequence[str] | float | datetime | None) -> Params:
    """The parameters of a request, without those that are not given."""
    return tuple((name, parameter(value)) for name, value in values.items() if value is not None)


def parameter(value: str | Sequence[str] | float | datetime) -> str:
    """A parameter's text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return timestamp(value)
    return str(value) if isinstance(value, (str, int, float)) else ",".join(value)


def timestamp(moment: datetime) -> str:
    """A time as the service writes it. A time without a time zone is local, as elsewhere in Python."""
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def page(list_: Request, cursor: str | None) -> Request:
    """The request for one page of a list."""
    return replace(list_, params=list_.params + ((("cursor", cursor),) if cursor else ()))


@dataclass(frozen=True)
class Part:
    """Some lines of a batch, which are sent in one request."""

    first: int
    lines: Tuple[bytes, ...]

    def request(self, key: str) -> Request:
        """The same part has the same key each time, so that sending it again submits nothing twice."""
        return Request(
            "POST", "/v1/calls/batch", content=b"\n".join(self.lines) + b"\n",
            headers={
                "Content-Type": "application/x-ndjson", "Prefer": "return=minimal",
                "Idempotency-Key": key_field(f"{key}/{self.first}")})


class Parts:
    """Cuts a batch into parts, line by line."""

    def __init__(self) -> None:
        self._first = 0
        self._lines: List[bytes] = []
        self._size = 0

    def add(self, call: CallDescriptor) -> Part | None:
        """The part that is complete before this call, if there is one."""
        line = encoded(call)
        is_full = len(self._lines) == PART_LINES or self._size + len(line) + 1 > PART_BYTES
        done = self.rest() if is_full else None
        self._lines.append(line)
        self._size += len(line) + 1
        return done

    def rest(self) -> Part | None:
        """The part with the lines that are in no part yet."""
        if not self._lines:
            return None
        part = Part(self._first, tuple(self._lines))
        self._first += len(self._lines)
        self._lines, self._size = [], 0
        return part


def shown(base: str) -> str:
    """The URL of a service, for errors and logs: without the name and the password in it, and without a query."""
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def joined(base: str, path: str, params: Params = ()) -> str:
    """A URL of the service, which may have a path before the service's own paths. A space is `%20`, not `+`."""
    query = urlencode(params, quote_via=quote)
    # Without the slash, a path such as "@host" would send the key to another host.
    path = path if path.startswith("/") else "/" + path
    return base.rstrip("/") + path + (("&" if "?" in path else "?") + query if query else "")

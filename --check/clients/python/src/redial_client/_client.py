"""The synchronous client. Made by Scripts/generate from _async_client.py."""

from __future__ import annotations

import math
import os
import time
from datetime import datetime
from importlib.metadata import version
from types import TracebackType
from typing import Any, Iterator, Iterable, List, Mapping, Sequence

import httpx

from . import _requests as requests
from ._answers import batch_items, decoded, early_end, ended_early
from ._events import EventStream
from ._methods import Methods
from ._errors import RedialProblem
from ._requests import Part, Request
from ._retrying import Retrying, RetryLimits
from ._waiting import ENDED, Waiting
from .models import AttemptWithResponse, BatchItem, Call, CallDescriptor, CallSummary


class Redial(Methods):
    """A client of a Redial service. Keep one for the whole program: its connections are used again.

    It sends its own requests again after errors of the connection and after 429, 503 and 507, as far as that is safe:
    requests that read or replace, cancellations, and submissions and replays, because each has an idempotency key. The
    others, such as ``retry``, are sent again only if the service certainly did nothing.

    Every method raises ``RedialProblem`` if the service refuses (see ``redial_client.problems`` for its codes),
    ``RedialConnectionError`` if no answer came, and ``UnexpectedAnswer`` if something else answers.

    :param url: Where the service is; by default the environment's ``REDIAL_SERVER``, or http://127.0.0.1:8080.
    :param api_key: The API key; by default the environment's ``REDIAL_API_KEY``, if it is set.
    :param namespace: The namespace to act in, for a key that may choose one.
    :param timeout: How long connecting, and each silence of the service, may take, in seconds.
    :param attempts: How often a request is sent, the first time included.
    :param max_retry_after: The longest `Retry-After` that is waited for, in seconds; after a longer one the refusal
        is raised.
    :param http: An httpx client of your own, for proxies, certificates and the like; you close it.
    """

    def __init__(
        self, url: str | None = None, *, api_key: str | None = None, namespace: str | None = None, timeout: float = 30,
        attempts: int = 5, max_retry_after: float = 60, http: httpx.Client | None = None,
    ) -> None:
        environment = os.environ
        self._url = url or environment.get("REDIAL_SERVER") or "http://127.0.0.1:8080"
        if not self._url.lower().startswith(("http://", "https://")):
            raise ValueError(f"the URL of a service begins with http:// or https://, unlike {self._url!r}")
        self._service = requests.shown(self._url)
        self._headers = {"User-Agent": f"redial-client-python/{version('redial-client')}"}
        key = (api_key or environment.get("REDIAL_API_KEY") or "").strip()
        if key:
            # An error of the connection would show the key.
            requests.require_printable("the API key", key)
            self._headers["Authorization"] = f"Bearer {key}"
        if namespace:
            requests.require_printable("the namespace", namespace)
            self._headers["Redial-Namespace"] = namespace
        self._timeout = timeout
        self._limits = RetryLimits(max(1, attempts), max_retry_after)
        self._owns_http = http is None
        # Each `wait` keeps a connection; more connections than that could use up the file descriptors.
        self._http = http or httpx.Client(limits=httpx.Limits(max_connections=500, max_keepalive_connections=100))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._service!r})"

    def __enter__(self) -> Redial:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            self._http.close()

    def submit(
        self, call: CallDescriptor, *, idempotency_key: str | None = None, wait: float | None = None
    ) -> Call:
        """Submits a call, which is on the service's disk when this returns.

        :param call: What to call and how to retry, such as ``{"url": …, "json": …}``.
        :param idempotency_key: The same key and call submitted again within a day return the first call, and run it
            again if it has failed or was cancelled. By default a new one, so that retries of this request submit one
            call.
        :param wait: Return only when the call has ended, or after this many seconds.
        """
        return self._call(requests.submission(call, idempotency_key, wait))

    def batch(
        self, calls: Iterable[CallDescriptor], *, idempotency_key: str | None = None
    ) -> Iterator[BatchItem]:
        """Submits any number of calls, and yields the result of each, in order; nothing is sent before you iterate.

        A result has the ``status`` that a single submission would have been answered with, ``line`` (its number, from
        1), and ``id`` or ``problem``. A call that is refused stops nothing.

        :param calls: The calls; taken one by one, and sent in parts of at most 1,000 calls and 64 KiB.
        :param idempotency_key: The same key and calls submitted again within a day return the first calls, and run those
            again that have failed or were cancelled. At most 230 characters.
        """
        key = requests.given_or_new(idempotency_key)
        parts = requests.Parts()
        for call in calls:
            part = parts.add(call)
            if part:
                for item in self._part(part, key):
                    yield item
        part = parts.rest()
        if part:
            for item in self._part(part, key):
                yield item

    def get(self, call_id: str, *, with_request: bool = False) -> Call:
        """A call in its current state; with its request, if the API key has the scope ``payloads``."""
        return self._call(requests.reading(call_id, with_request=with_request))

    def wait(self, call_id: str, timeout: float | None = None) -> Call:
        """Waits for the end of a call, by long polls. A failed call is a result, too, and not an error.

        :param timeout: The longest time to wait, in seconds.
        :raises CallUnfinished: The call has not ended within the timeout.
        """
        waiting = Waiting(timeout, time.monotonic())
        while True:
            try:
                hold = waiting.hold(time.monotonic())
                call = self._call(requests.reading(call_id, hold=hold), waiting.deadline)
            except RedialProblem as problem:
                waiting.refused(problem)
                continue
            if call["state"] in ENDED:
                return call
            time.sleep(waiting.pause(call, time.monotonic()))

    def attempts(self, call_id: str, *, with_body: bool = False) -> List[AttemptWithResponse]:
        """The attempts of a call with their responses, oldest first; with the bodies of the responses if you want."""
        return [attempt for attempt in self._pages(requests.attempts(call_id, with_body))]

    def cancel(self, call_id: str) -> Call:
        """Cancels a call. If it has ended already, the problem has the code ``callEnded``."""
        return self._call(requests.cancellation(call_id))

    def retry(self, call_id: str, *, by: str | None = None, reason: str | None = None) -> Call:
        """Runs a call now, or again if it has ended. Who wants it, and why, is recorded."""
        return self._call(requests.manual_retry(call_id, by, reason))

    def list(
        self, *, state: str | Sequence[str] | None = None, target: str | None = None,
        labels: Mapping[str, str] | None = None, created_after: datetime | str | None = None,
        created_before: datetime | str | None = None, older_than: str | None = None, attempts: int | None = None,
        waiting_on: str | None = None, next_attempt_before: datetime | str | None = None, status: str | None = None, outcome: str | None = None,
        failure_reason: str | None = None, issue: str | None = None, url: str | None = None, idempotency_key: str | None = None,
        kind: str | None = None, page_size: int = 250,
    ) -> Iterator[CallSummary]:
        """The calls that meet all conditions, newest first, fetched page by page while you iterate."""
        params = requests.filters(
            state=state, target=target, labels=labels, created_after=created_after, created_before=created_before,
            next_attempt_before=next_attempt_before, olderThan=older_than, attempts=attempts, waitingOn=waiting_on,
            status=status, outcome=outcome, failureReason=failure_reason, issue=issue, url=url, idempotencyKey=idempotency_key,
            kind=kind, limit=page_size)
        for call in self._pages(requests.asking("GET", "/v1/calls", params)):
            yield call

    def events(
        self, *, type: str | Sequence[str] | None = None, target: str | None = None, call: str | None = None,
        label: str | None = None, kind: str | None = None, attempts: int | None = None, waiting_on: str | None = None,
        last_event_id: str | None = None,
    ) -> EventStream:
        """Events as they happen, until you close the stream. It reconnects by itself, without missing events.

        An event ``reset`` says that events were missed: read the calls that you need again.

        :param type: Only events of this type, or of these.
        :param call: Only events of the call with this id.
        :param label: Only events of calls with this label, as ``NAME=VALUE``.
        :param kind: Events of calls of clients (``call``, the default) or of ``webhook`` deliveries.
        :param attempts: Only events of calls of which at least so many attempts had begun.
        :param waiting_on: Only events of calls that waited for this.
        :param last_event_id: Begin after this event: the ``last_event_id`` of an earlier stream.
        """
        params = requests.filters(
            type=type, target=target, call=call, label=label, kind=kind, attempts=attempts, waitingOn=waiting_on)
        return EventStream(
            self._http, requests.joined(self._url, "/v1/events", params), self._service, self._headers, self._timeout,
            self._limits, last_event_id)

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, json: Any = None
    ) -> Any:
        """Any request of the API by its path, such as ``request("GET", "/v1/instances")``; the JSON of its answer, if any.

        A GET is sent again after errors, anything else only if the service certainly did nothing.
        """
        content, headers = None, {}
        if json is not None:
            content, headers = requests.encoded(json), {"Content-Type": "application/json"}
        response = self._send(Request(
            method, path, tuple((params or {}).items()), content, headers, is_repeatable=method in ("GET", "HEAD")))
        return decoded(response) if response.content else None

    def _part(self, part: Part, key: str) -> List[BatchItem]:
        """The results of one part of a batch."""
        request = part.request(key)
        retrying = Retrying(self._limits, request, self._service)
        most = 0
        while True:
            items = batch_items(self._send(request), len(part.lines))
            if ended_early(items[-1]):
                # Calls that were accepted are recognized by their keys when the part is sent again.
                if len(items) > most:
                    most = len(items)
                    retrying.progressed()
                time.sleep(retrying.after_problem(early_end(items[-1])))
                continue
            for item in items:
                item["line"] = (item.get("line") or 0) + part.first
            return items

    def _call(self, request: Request, until: float = math.inf) -> Call:
        call: Call = self._json(request, until)
        return call

    def _json(self, request: Request, until: float = math.inf) -> Any:
        return decoded(self._send(request, until))

    def _nothing(self, request: Request) -> None:
        self._send(request)

    def _pages(self, request: Request) -> Iterator[Any]:
        """The entries of a list, page by page."""
        cursor: str | None = None
        while True:
            page = self._json(requests.page(request, cursor))
            for entry in page["data"]:
                yield entry
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def _send(self, request: Request, until: float = math.inf) -> httpx.Response:
        """Sends a request until it is answered with a success, must not be sent again, or its time has run out."""
        retrying = Retrying(self._limits, request, self._service)
        while True:
            patience = requests.patience(self._timeout, request.hold, until - time.monotonic())
            try:
                response = self._http.request(
                    request.method, requests.joined(self._url, request.path, request.params), content=request.content,
                    headers={**self._headers, **request.headers}, follow_redirects=False,
                    timeout=patience)
            except httpx.TransportError as error:
                wait = retrying.after_error(error, until - time.monotonic())
            else:
                if response.is_success:
                    return response
                wait = retrying.after_answer(response, until - time.monotonic())
            time.sleep(wait)

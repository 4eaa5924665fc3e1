"""The synchronous event stream. Made by Scripts/generate from _async_events.py."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType
from typing import Iterator, Deque, Mapping

import httpx

from ._errors import RedialError
from ._requests import Request
from ._retrying import Retrying, RetryLimits, backoff, is_passing
from ._server_sent_events import ServerSentEvents
from .models import Event

# The service sends something every 15 seconds; after three times as long a connection is dead.
_SILENCE = 45.0


class EventStream:
    """Events of a service, one after the other.

    The first connection is made as other requests are. After that, the stream reconnects for as long as it takes.
    """

    def __init__(
        self, http: httpx.Client, url: str, service: str, headers: Mapping[str, str], timeout: float,
        limits: RetryLimits, last_event_id: str | None,
    ) -> None:
        self._http = http
        self._url = url
        self._service = service
        self._headers = headers
        self._timeout = timeout
        self._limits = limits
        self._parser = ServerSentEvents(last_event_id)
        self._ready: Deque[Event] = deque()
        self._response: httpx.Response | None = None
        self._bytes: Iterator[bytes] | None = None
        self._has_connected = False
        self._losses = 0

    @property
    def last_event_id(self) -> str | None:
        """The id from which another stream can go on, after all events that this one has read."""
        return self._parser.last_id

    def __enter__(self) -> EventStream:
        """Connects, so that no later event is missed."""
        if self._bytes is None:
            self._connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the stream."""
        response, self._response, self._bytes = self._response, None, None
        if response is not None:
            response.close()

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> Event:
        while not self._ready:
            if self._bytes is None:
                self._connect()
            self._read()
        return self._ready.popleft()

    def _read(self) -> None:
        assert self._bytes is not None
        try:
            self._ready.extend(self._parser.feed(self._bytes.__next__()))
            self._losses = 0
        except (StopIteration, httpx.TransportError):
            # The service stops, or the connection is lost; the next one goes on after the last event.
            self.close()
            self._parser = ServerSentEvents(self._parser.last_id)
            time.sleep(backoff(self._losses))
            self._losses += 1

    def _connect(self) -> None:
        retrying = self._retrying()
        while True:
            headers = {**self._headers, "Accept": "text/event-stream"}
            if self._parser.last_id is not None:
                headers["Last-Event-ID"] = self._parser.last_id
            try:
                wait = self._attempt(headers, retrying)
            except RedialError as final:
                # Once connected, it waits for a service that restarts, also behind a proxy, for as long as it takes.
                if not self._has_connected or not is_passing(final):
                    raise
                retrying = self._retrying()
                wait = max(backoff(10), getattr(final, "retry_after", None) or 0)
            if wait is None:
                return
            time.sleep(wait)

    def _attempt(self, headers: Mapping[str, str], retrying: Retrying) -> float | None:
        """Connects; if that fails, the seconds to wait before the next attempt."""
        try:
            response = self._http.send(
                self._http.build_request(
                    "GET", self._url, headers=headers, timeout=httpx.Timeout(self._timeout, read=_SILENCE, pool=None)),
                stream=True, follow_redirects=False)
            if response.is_success:
                self._response, self._bytes, self._has_connected = response, response.iter_bytes(), True
                return None
            response.read()
            response.close()
        except httpx.TransportError as error:
            return retrying.after_error(error)
        return retrying.after_answer(response)

    def _retrying(self) -> Retrying:
        return Retrying(self._limits, Request("GET", "/v1/events"), self._service)

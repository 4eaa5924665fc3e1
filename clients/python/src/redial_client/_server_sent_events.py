"""Reads server-sent events (WHATWG HTML §9.2) from bytes."""

from __future__ import annotations

import json
from typing import List

from .models import Event


class ServerSentEvents:
    """The events of one connection. Bytes go in, events come out."""

    def __init__(self, last_id: str | None) -> None:
        self.last_id = last_id
        """The id from which the stream can be resumed."""
        self._rest = b""
        self._data: List[str] = []
        self._id: str | None = None

    def feed(self, piece: bytes) -> List[Event]:
        """The events that are complete with these bytes."""
        events: List[Event] = []
        # Lines end here with LF or CRLF: the service sends no single CR. Other separators of Unicode may be in the data.
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            event = self._line(line.removesuffix(b"\r").decode(errors="replace"))
            if event is not None:
                events.append(event)
        return events

    def _line(self, line: str) -> Event | None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self._id = value
        elif name == "data":
            self._data.append(value)
        elif not line:
            # An id without data is a position, too: what came before it is not sent again.
            if self._id is not None:
                self.last_id = self._id
            data, self._data, self._id = self._data, [], None
            if data:
                event: Event = json.loads("\n".join(data))
                return event
        return None

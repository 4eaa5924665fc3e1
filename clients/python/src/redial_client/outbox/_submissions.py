"""Submitting rows of an outbox to the service, and what its answers mean for each row."""

from __future__ import annotations

import json
import re
import threading
import time
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Tuple

from .. import _requests as requests
from .._answers import decoded
from .._errors import RedialError, RedialProblem, UnexpectedAnswer

if TYPE_CHECKING:
    from .._client import Redial

# Statuses of a submission that is refused for good. All others are no fault of the row: the service is away, or is not
# set up as it should be, such as with 401.
_FINAL = {400, 409, 413, 422, 508}
# These have such a status, and concern every row.
# A problem without a code is not Redial's.
_NOT_OF_THE_ROW = {"invalidNamespace", "hostEmpty", ""}


class Row(NamedTuple):
    """A row of the table."""

    id: Any
    key: str
    text: str


class Outcome:
    """The results of some rows. Rows that are neither accepted nor refused are still to be submitted."""

    def __init__(self) -> None:
        self.accepted: List[Row] = []
        self.refused: List[Tuple[Row, str, str]] = []
        """With the code and the detail of the problem."""
        self.error: RedialError | None = None
        """The last error because of which rows are left."""
        self.retry_after: float = 0
        """The seconds after which to go on, if the service says so."""


class Submissions:
    """Submits rows with several threads, and ends early if nothing but errors comes."""

    def __init__(self, redial: Redial, executor: Executor, workers: int, is_stopping: Callable[[], bool]) -> None:
        self._redial = redial
        self._executor = executor
        self._patience = workers
        self._is_stopping = is_stopping
        self._lock = threading.Lock()
        self._failures = 0
        self._outcome = Outcome()

    def submit(self, rows: List[Row]) -> Outcome:
        """Submits rows, those with the same ordering key one after the other."""
        list(self._executor.map(self._submit_in_order, _chains(rows)))
        return self._outcome

    def _submit_in_order(self, rows: List[Row]) -> None:
        for row in rows:
            # One row with which the service has trouble must not hold up all others.
            if self._failures >= self._patience or self._is_stopping() or not self._submit(row):
                return

    def _submit(self, row: Row) -> bool:
        """Submits a row once, and returns whether those after it may follow."""
        try:
            # As it was written: another text under the same key would be another call.
            request = requests.asking("POST", "/v1/calls", content=row.text.encode(), key=row.key)
        except ValueError as error:
            with self._lock:
                self._outcome.refused.append((row, "invalidIdempotencyKey", _plain(str(error))))
            return True
        try:
            response = self._redial._send(request, until=time.monotonic())
            # A proxy, or a service of another kind, must not make the row go.
            answer = decoded(response)
            if not (isinstance(answer, dict) and str(answer.get("id", "")).startswith("call_")):
                raise UnexpectedAnswer(response.status_code, response.text[:1000])
        except RedialError as error:
            return self._failed(row, error)
        with self._lock:
            self._outcome.accepted.append(row)
            self._failures = 0
        return True

    def _failed(self, row: Row, error: RedialError) -> bool:
        with self._lock:
            if isinstance(error, RedialProblem) and error.status in _FINAL and error.code not in _NOT_OF_THE_ROW:
                self._outcome.refused.append((row, _plain(error.code)[:255], _plain(error.detail or error.title)))
                self._failures = 0
                return True
            self._failures += 1
            self._outcome.error = error
            if isinstance(error, RedialProblem):
                self._outcome.retry_after = max(self._outcome.retry_after, error.retry_after or 0)
            return False


def _plain(text: str) -> str:
    """A text that every database can store, whatever its character set."""
    return re.sub(r"[^ -~\n]", "?", text)[:10_000]


def _chains(rows: List[Row]) -> List[List[Row]]:
    """The rows of each ordering key in their order, and each other row by itself."""
    chains: List[List[Row]] = []
    by_key: Dict[str, List[Row]] = {}
    for row in rows:
        key = _ordering_key(row.text)
        if key is not None and key in by_key:
            by_key[key].append(row)
        else:
            chains.append([row])
            if key is not None:
                by_key[key] = chains[-1]
    return chains


def _ordering_key(text: str) -> str | None:
    try:
        call = json.loads(text)
    except ValueError:
        return None  # The service says what is wrong with it.
    key = call.get("orderingKey") if isinstance(call, dict) else None
    return key if isinstance(key, str) else None

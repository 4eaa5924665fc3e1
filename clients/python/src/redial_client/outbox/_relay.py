"""Bringing the rows of an outbox to the service."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, List, Sequence

from .._retrying import backoff
from ._statements import Statements
from ._submissions import Outcome, Row, Submissions

if TYPE_CHECKING:
    from .._client import Redial

# Other relays know these numbers: docs/outbox.md.
_HOLD = 10.0
_LONGEST_HOLD = 60.0
_FAILURES_OF_A_HOLDER = 3

# A Retry-After may be longer, such as one of a proxy.
_LONGEST_WAIT = 60.0

_log = logging.getLogger("redial_client.outbox")


class Relay:
    """Submits the rows of an outbox to Redial, and deletes those that it has accepted.

    ``run`` does so until ``stop``; ``start`` does it in a thread of its own. There may be several relays for one outbox: one
    works and the others stand by. Nothing depends on that but the load: a row that is submitted twice is one call.

    A row that the service refuses for good stays, with ``problem_code`` and ``problem_detail``. After all other errors of
    the service and of the database, the relay goes on, with backoff. It logs to ``redial_client.outbox``.
    """

    def __init__(
        self, redial: Redial, connect: Callable[[], Any], statements: Statements, *, batch: int, workers: int, poll: float,
    ) -> None:
        self._redial = redial
        self._connect = connect
        self._statements = statements
        self._batch, self._workers, self._poll = batch, workers, poll
        self._holder = f"{socket.gethostname()[:100]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._held_at: float | None = None
        self._connection: Any = None
        self._executor: ThreadPoolExecutor | None = None
        self._stopping, self._woken = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._failures = 0
        self._trouble = ""

    def run(self) -> None:
        """Relays until ``stop`` is called."""
        _log.info("relays the outbox to %s", self._redial)
        try:
            while not self._stopping.is_set():
                self._woken.clear()
                wait = self._turn()
                if self._failures:
                    self._stopping.wait(wait)
                else:
                    self._woken.wait(wait)
        finally:
            self._release()
            self._close()

    def start(self) -> None:
        """Runs in a thread, which does not keep the program from its end."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self.run, name="redial-outbox", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends ``run`` after the requests in flight, and waits for a thread of ``start``."""
        self._stopping.set()
        self._woken.set()
        if self._thread:
            self._thread.join()
            self._thread = None

    def wake(self) -> None:
        """Looks into the outbox at once. Call it after a commit of the same process; others are noticed soon, too."""
        self._woken.set()

    def run_once(self) -> int:
        """Submits the rows that wait, and returns how many were accepted.

        :raises RedialError: The service has not taken all of them.
        """
        accepted = 0
        try:
            while True:
                count, outcome = self._round()
                accepted += len(outcome.accepted)
                if outcome.error:
                    raise outcome.error
                if count < self._batch:
                    return accepted
        finally:
            self._close()

    def _turn(self) -> float:
        """One look into the outbox. Returns the seconds until the next one."""
        try:
            if not self._holds():
                self._failures = 0
                return self._poll
            count, outcome = self._round()
        except Exception as error:  # Errors of drivers have no common type.
            self._close()
            self._failures += 1
            self._say(f"the outbox is not relayed: {type(error).__name__}: {error}")
            return backoff(self._failures - 1)
        if outcome.error:
            # Some may have been accepted all the same; then there is no reason to be slow.
            self._failures = 1 if outcome.accepted else self._failures + 1
            self._say(f"rows of the outbox wait: {outcome.error}")
            if self._failures >= _FAILURES_OF_A_HOLDER:
                # Another relay may reach the service, or have a key that is valid.
                self._release()
            wait = 0 if outcome.accepted else backoff(self._failures - 1)
            return min(_LONGEST_WAIT, max(wait, outcome.retry_after))
        self._failures = 0
        self._say("")
        return 0 if count == self._batch else self._poll

    def _round(self) -> tuple[int, Outcome]:
        """Submits some rows and writes the results. Returns how many rows were read."""
        statements = self._statements
        rows = [Row(*row) for row in self._executed(statements.waiting(self._batch))]
        if not rows:
            return 0, Outcome()
        self._executor = self._executor or ThreadPoolExecutor(self._workers, "redial-outbox")
        outcome = Submissions(self._redial, self._executor, self._workers, self._stopping.is_set).submit(rows)
        if outcome.accepted:
            ids = [row.id for row in outcome.accepted]
            self._executed(statements.delete(len(ids)), ids, has_rows=False)
        for row, code, detail in outcome.refused:
            self._executed(statements.refuse, (code, detail, row.id, row.text), has_rows=False)
            _log.error(
                "row %s of redial_outbox was refused: %s: %s Correct its descriptor and set problem_code to NULL, or delete "
                "it.", row.id, code, detail)
        return len(rows), outcome

    def _holds(self) -> bool:
        """Whether this relay is the one that works."""
        now = time.monotonic()
        if self._held_at is not None and now - self._held_at < _HOLD / 3:
            return True
        self._held_at = None
        found, moment = self._executed(self._statements.held), int(time.time())
        until = moment + int(_HOLD)
        if not found:
            self._executed(self._statements.first_hold, (self._holder, until), has_rows=False)
        else:
            holder, held_until = found[0]
            # A hold far in the future is one of a wrong clock.
            if holder != self._holder and moment <= held_until <= moment + _LONGEST_HOLD:
                return False
            self._executed(self._statements.hold, (self._holder, until, holder, held_until), has_rows=False)
            # Not the count of changed rows: MySQL does not count a row that stays as it was.
            if self._executed(self._statements.held)[0][0] != self._holder:
                return False
        self._held_at = now
        return True

    def _release(self) -> None:
        """Another relay need not wait for the end of the hold."""
        if self._held_at is None:
            return
        try:
            ((holder, until),) = self._executed(self._statements.held)
            if holder == self._holder:
                self._executed(self._statements.hold, (holder, 0, holder, until), has_rows=False)
        except Exception as error:
            _log.warning("the hold on the outbox ends by itself, in at most %d s: %s", _HOLD, error)
        self._held_at = None

    def _executed(self, statement: str, parameters: Sequence[Any] = (), has_rows: bool = True) -> List[Any]:
        """The rows of a statement, in a transaction of its own. None stays open while the service is asked."""
        self._connection = self._connection or self._connect()
        cursor = self._connection.cursor()
        try:
            cursor.execute(statement, tuple(parameters))
            found = [
                # A connection may be made so that rows are dictionaries.
                tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in (cursor.fetchall() if has_rows else [])]
        finally:
            cursor.close()
        self._connection.commit()
        return found

    def _close(self) -> None:
        self._held_at = None
        if self._executor:
            self._executor.shutdown()
        connection, self._connection, self._executor = self._connection, None, None
        try:
            if connection:
                connection.close()
        except Exception:  # It may be broken, and is not used any more.
            pass

    def _say(self, trouble: str) -> None:
        """Logs a trouble once, and its end."""
        if trouble and trouble != self._trouble:
            _log.warning("%s", trouble)
        elif self._trouble and not trouble:
            _log.info("the outbox is relayed again")
        self._trouble = trouble

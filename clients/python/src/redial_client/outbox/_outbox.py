"""Writing calls into an outbox."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Callable, Tuple

from .. import _requests as requests
from ..models import CallDescriptor
from ._statements import Statements

if TYPE_CHECKING:
    from .._client import Redial
    from ._relay import Relay

# The service takes spaces too, but a database may cut them off at the end.
_KEY = re.compile(r"[!-~]{1,255}")


class Outbox:
    """Submits calls within a transaction of your own database.

    :param paramstyle: How your driver marks parameters, as its ``paramstyle`` says: ``sqlite3.paramstyle``,
        ``psycopg.paramstyle``, ``engine.dialect.paramstyle`` of SQLAlchemy. With Django it is ``"format"``.
    """

    def __init__(self, paramstyle: str) -> None:
        self._statements = Statements(paramstyle)

    def submit(self, database: Any, call: CallDescriptor, *, idempotency_key: str | None = None) -> str:
        """Writes a call into the outbox, in the transaction of this connection, and returns its idempotency key.

        The call is made if you commit, and only then. You can find it by its key:
        ``redial.list(idempotency_key=key)``.

        :param database: A cursor or a connection of the driver, Django's ``connection``, or a session or a connection of
            SQLAlchemy.
        :param call: The call; only that it can be JSON is checked here. ``redial.submit_dry_run`` checks it.
        :param idempotency_key: A key of your own, of 1 to 255 visible ASCII characters; by default a new one.
        """
        statement, (key, text) = self.insertion(call, idempotency_key=idempotency_key)
        _execute(database, statement, (key, text))
        return key

    def insertion(self, call: CallDescriptor, *, idempotency_key: str | None = None) -> Tuple[str, Tuple[str, str]]:
        """The statement that ``submit`` executes and its parameters, for a driver that it does not know, such as an
        asynchronous one. The first parameter is the key.
        """
        key = requests.given_or_new(idempotency_key)
        if not _KEY.fullmatch(key):
            raise ValueError(f"an idempotency key in an outbox has 1 to 255 visible ASCII characters, unlike {key!r}")
        # A row may be submitted twice. That must not run a call again that has failed or was cancelled meanwhile.
        # ASCII, so that no connection with another character set changes the text.
        text = json.dumps({"onRepeat": "answer", **call}, allow_nan=False, separators=(",", ":"))
        return self._statements.insert, (key, text)

    def relay(
        self, redial: Redial, connect: Callable[[], Any], *, batch: int = 100, workers: int = 8, poll: float = 1,
    ) -> Relay:
        """A relay, which submits the rows to Redial. It does nothing yet: see ``Relay``.

        :param connect: Opens a connection that nothing else uses, such as ``lambda: sqlite3.connect("shop.db")``. It is
            called again after each error of the database.
        :param batch: How many rows are read at once, and are in memory then.
        :param workers: How many submissions are in flight at once.
        :param poll: The seconds from one look into an empty outbox to the next.
        """
        from ._relay import Relay
        return Relay(redial, connect, self._statements, batch=batch, workers=workers, poll=poll)


def _execute(database: Any, statement: str, parameters: Tuple[str, str]) -> None:
    if hasattr(database, "get_bind"):  # a session of SQLAlchemy
        database = database.connection()
    if hasattr(database, "exec_driver_sql"):  # its connection
        database.exec_driver_sql(statement, parameters)
    elif callable(getattr(database, "cursor", None)):
        if hasattr(database, "in_atomic_block") and database.get_autocommit():
            raise RuntimeError(
                "outside of transaction.atomic() Django commits each statement by itself; submit within the block that "
                "changes your data")
        cursor = database.cursor()
        try:
            cursor.execute(statement, parameters)
        finally:
            cursor.close()
    else:
        database.execute(statement, parameters)

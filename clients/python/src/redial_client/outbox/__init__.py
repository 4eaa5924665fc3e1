"""Calls that are submitted within a transaction of your own database.

``Outbox.submit`` writes a call as a row, in your transaction. A ``Relay`` submits the rows to Redial and deletes them. So the
call is made if the transaction commits, and only then. docs/outbox.md has the rules of the table, for other languages too.
"""

from ._outbox import Outbox
from ._relay import Relay
from ._tables import TABLES

__all__ = ["TABLES", "Outbox", "Relay"]

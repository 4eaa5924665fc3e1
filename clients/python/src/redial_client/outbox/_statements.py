"""The statements of an outbox, which all three databases understand."""

from __future__ import annotations

_MARKS = {
    "qmark": "?", "format": "%s", "pyformat": "%s", "numeric": ":{}", "numeric_dollar": "${}"}


class Statements:
    """The statements, with the marks of a driver for their parameters."""

    def __init__(self, paramstyle: str) -> None:
        if paramstyle not in _MARKS:
            raise ValueError(f"the paramstyle of a driver is one of {', '.join(_MARKS)}, unlike {paramstyle!r}")
        self._mark = _MARKS[paramstyle]
        self.insert = (
            f"INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES ({self._marks(2)})")
        self.refuse = (
            f"UPDATE redial_outbox SET problem_code = {self._at(1)}, problem_detail = {self._at(2)} "
            f"WHERE id = {self._at(3)} AND descriptor = {self._at(4)}")
        self.held = "SELECT holder, held_until FROM redial_outbox_relay WHERE id = 1"
        self.first_hold = f"INSERT INTO redial_outbox_relay (id, holder, held_until) VALUES (1, {self._marks(2)})"
        self.hold = (
            f"UPDATE redial_outbox_relay SET holder = {self._at(1)}, held_until = {self._at(2)} "
            f"WHERE id = 1 AND holder = {self._at(3)} AND held_until = {self._at(4)}")

    def waiting(self, batch: int) -> str:
        """The oldest rows that are to be submitted."""
        return (
            "SELECT id, idempotency_key, descriptor FROM redial_outbox WHERE problem_code IS NULL "
            f"ORDER BY id LIMIT {int(batch)}")

    def delete(self, count: int) -> str:
        """Deletes that many rows by their ids."""
        return f"DELETE FROM redial_outbox WHERE id IN ({self._marks(count)})"

    def _at(self, number: int) -> str:
        return self._mark.format(number)

    def _marks(self, count: int) -> str:
        return ", ".join(self._at(number) for number in range(1, count + 1))

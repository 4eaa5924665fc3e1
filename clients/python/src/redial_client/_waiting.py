"""How to wait for the end of a call by long polls. Decisions only."""

from __future__ import annotations

import math

from ._errors import CallUnfinished, RedialProblem
from .models import Call

ENDED = ("succeeded", "failed", "cancelled")
_LONGEST_HOLD = 20.0
_PAUSE = 1.0


class Waiting:
    """The polls of one wait. Times are seconds of a clock that does not go back."""

    def __init__(self, timeout: float | None, now: float) -> None:
        self._timeout = timeout
        self.deadline = math.inf if timeout is None else now + timeout
        """When the timeout has passed."""
        self._longest = _LONGEST_HOLD
        self._asked = now

    def hold(self, now: float) -> float:
        """How long the service may hold the next answer back."""
        self._asked = now
        return max(0.0, min(self._longest, self.deadline - now))

    def refused(self, problem: RedialProblem) -> None:
        """The service limits waits to less: ask for less."""
        if self._longest < 0.01 or not any(error.get("parameter") == "wait" for error in problem.errors):
            raise problem
        self._longest /= 2

    def pause(self, call: Call, now: float) -> float:
        """How long to sleep before the next poll, because the service may answer at once when too many wait."""
        left = self.deadline - now
        if self._timeout is not None and left <= 0:
            raise CallUnfinished(call, self._timeout)
        return min(left, max(0.0, min(_PAUSE, self._longest) - (now - self._asked)))

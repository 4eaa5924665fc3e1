"""Whether and when a request of the client is sent again. Decisions only: nothing is sent and nothing sleeps here."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import httpx

from ._answers import refusal, seconds
from ._errors import RedialConnectionError, RedialError, RedialProblem, UnexpectedAnswer
from ._requests import Request

# These answers mean that the service did nothing, except with one of the codes below.
_REFUSALS = {429, 503, 507}
_UNCERTAIN = {"outcomeUnknown", "leaseLost", "leaderUnreachable"}
# A proxy gives these when it has lost the service, and 429 and 503 when it lets nobody through.
_FROM_PROXIES = {429, 502, 503, 504}
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_PERMANENT = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0


@dataclass(frozen=True)
class RetryLimits:
    """How often the client sends a request, and the longest `Retry-After` that it waits for, in seconds."""

    attempts: int
    longest_retry_after: float


class Retrying:
    """The attempts of one request: each method returns the seconds to wait before the next one, or raises."""

    def __init__(self, limits: RetryLimits, request: Request, service: str) -> None:
        """:param service: Where the request goes, for the error that says that no answer came."""
        self._limits = limits
        self._service = service
        self._request = request
        self._failures = 0
        self._may_have_been_accepted = False

    def after_error(self, error: httpx.TransportError, left: float = math.inf) -> float:
        """The wait after an attempt without an answer.

        :param left: The seconds that the caller has left; a longer wait is not begun.
        """
        was_sent = not isinstance(error, _NEVER_SENT + _PERMANENT)
        self._may_have_been_accepted |= was_sent
        final = RedialConnectionError(
            f"no answer from {self._service} to {self._request.method} {self._request.path}: "
            f"{str(error) or type(error).__name__}", self._may_have_been_accepted)
        if isinstance(error, _PERMANENT) or (was_sent and not self._request.is_repeatable):
            raise final from error
        return self._wait(final, left, cause=error)

    def after_answer(self, response: httpx.Response, left: float = math.inf) -> float:
        """The wait after an attempt that was answered with something else than a success."""
        error = refusal(response.status_code, response.headers, response.content)
        if isinstance(error, RedialProblem):
            return self.after_problem(error, left)
        self._may_have_been_accepted = True
        if response.status_code in _FROM_PROXIES and self._request.is_repeatable:
            return self._wait(error, left, seconds(response.headers.get("retry-after")))
        raise error

    def after_problem(self, problem: RedialProblem, left: float = math.inf) -> float:
        """The wait after a refusal by the service."""
        is_certain = problem.code not in _UNCERTAIN
        if problem.status not in _REFUSALS or not (is_certain or self._request.is_repeatable):
            raise problem
        return self._wait(problem, left, problem.retry_after)

    def progressed(self) -> None:
        """The attempts are counted from the start again."""
        self._failures = 0

    def _wait(
        self, final: RedialError, left: float, asked: float | None = None, cause: Exception | None = None
    ) -> float:
        asked = asked or 0
        self._failures += 1
        if self._failures >= self._limits.attempts or asked > self._limits.longest_retry_after:
            raise final from cause
        # Those who were refused together do not come back together.
        wait = max(backoff(self._failures - 1), asked * random.uniform(1, 1.25))
        if wait > left:
            raise final from cause
        return wait


def backoff(retry: int) -> float:
    """The wait before a retry, counted from 0: exponential, with jitter of a half."""
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(retry, 30)) * random.uniform(0.5, 1)


def is_passing(error: RedialError) -> bool:
    """Whether it can help to ask again later, after all attempts ended with this error."""
    if isinstance(error, RedialProblem):
        return error.status in _REFUSALS
    return isinstance(error, RedialConnectionError) or (
        isinstance(error, UnexpectedAnswer) and error.status in _FROM_PROXIES)

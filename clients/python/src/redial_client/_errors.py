"""The errors of the client."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .models import Call


class RedialError(Exception):
    """The base of all errors of this package."""


class RedialProblem(RedialError):
    """The service refused a request, with a problem (RFC 9457)."""

    def __init__(self, problem: Mapping[str, Any], status: int, retry_after: float | None = None) -> None:
        self.type: str = problem.get("type", "about:blank")
        """A URI that identifies the kind of problem."""
        self.title: str = problem.get("title", "")
        """The kind of problem, in words."""
        self.status = status
        """The status of the answer."""
        self.code: str = problem.get("code", "")
        """A stable word that programs can match, such as `callEnded`."""
        self.detail: str = problem.get("detail", "")
        """What happened this time, and what to do."""
        self.errors: Sequence[Mapping[str, str]] = problem.get("errors", [])
        """The places in the input that are at fault, each with a `detail` and a `pointer`, a `parameter` or a `header`."""
        self.retry_after = retry_after
        """The seconds after which to try again, if the answer says so."""
        super().__init__(f"{self.code} ({status}): {self.detail or self.title}")


class RedialConnectionError(RedialError):
    """No answer came. The last error of the connection is the `__cause__`."""

    def __init__(self, message: str, may_have_been_accepted: bool) -> None:
        self.may_have_been_accepted = may_have_been_accepted
        """False if the request was certainly never sent."""
        super().__init__(message)


class UnexpectedAnswer(RedialError):
    """The answer is not one of a Redial service; perhaps a proxy gave it, or the URL is wrong."""

    def __init__(self, status: int, body: str) -> None:
        self.status = status
        """The status of the answer."""
        self.body = body
        """The beginning of its body."""
        super().__init__(f"the answer with status {status} is not from a Redial service; it begins with {body[:100]!r}")


class CallUnfinished(RedialError):
    """A call has not ended within the time to wait. The call goes on."""

    def __init__(self, call: Call, timeout: float) -> None:
        self.call = call
        """The call as it was last seen."""
        super().__init__(f"{call['id']} is still {call['state']} after {timeout:g} s; it goes on")


class WebhookVerificationError(RedialError):
    """A webhook is not signed by any of the secrets, or is too old or too new."""

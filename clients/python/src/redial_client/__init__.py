"""Client of Redial, retry as a service.

``Redial`` is synchronous, ``AsyncRedial`` the same for asyncio and trio. Calls, attempts and events are the JSON of
the API as typed dictionaries; ``redial_client.models`` has their types. ``redial_client.problems`` has a class for each
kind of refusal.
"""

from importlib.metadata import version

from . import problems
from ._async_client import AsyncRedial
from ._client import Redial
from ._async_events import AsyncEventStream
from ._events import EventStream
from ._errors import (
    CallUnfinished,
    RedialConnectionError,
    RedialError,
    RedialProblem,
    UnexpectedAnswer,
    WebhookVerificationError,
)
from ._webhooks import WebhookVerifier
from .models import (
    AttemptWithResponse,
    BatchItem,
    Call,
    CallDescriptor,
    CallSummary,
    Event,
    Policy,
    WebhookPayload,
)

__version__ = version("redial-client")

__all__ = [
    "AsyncEventStream",
    "AsyncRedial",
    "AttemptWithResponse",
    "BatchItem",
    "Call",
    "CallDescriptor",
    "CallSummary",
    "CallUnfinished",
    "Event",
    "EventStream",
    "Policy",
    "Redial",
    "RedialConnectionError",
    "RedialError",
    "RedialProblem",
    "UnexpectedAnswer",
    "WebhookPayload",
    "WebhookVerificationError",
    "WebhookVerifier",
    "problems",
]

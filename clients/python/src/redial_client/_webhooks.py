"""Verifies webhooks, as Standard Webhooks defines (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any, Mapping, Sequence

from ._errors import WebhookVerificationError
from .models import Event, WebhookPayload


class WebhookVerifier:
    """Verifies webhooks of Redial.

    :param secrets: The secret, `whsec_…`, or several, one of which must have signed: while a secret is rotated, the
        new and the old one.
    :param tolerance: How far the time of the webhook may be from now, in seconds.
    """

    def __init__(self, secrets: str | Sequence[str], tolerance: float = 300) -> None:
        given = [secrets] if isinstance(secrets, str) else list(secrets)
        if not given:
            raise ValueError("give at least one secret")
        self._keys = [_key(secret) for secret in given]
        self._tolerance = tolerance

    def verify(
        self, body: bytes | str, headers: Mapping[str, str], *, now: float | None = None
    ) -> WebhookPayload:
        """The content of a webhook for the `callback` of a call.

        It can arrive more than once, with the same `webhook-id` in the headers.

        :param body: The body exactly as it arrived; JSON that was decoded and encoded again does not verify.
        :param headers: The header fields of the request, in upper or lower case.
        :param now: The time, in seconds since 1970; by default the time of this machine.
        :raises WebhookVerificationError: No secret has signed it, or it is too old or too new.
        """
        payload: WebhookPayload = self._verified(body, headers, now)
        return payload

    def verify_event(self, body: bytes | str, headers: Mapping[str, str], *, now: float | None = None) -> Event:
        """The same for a webhook endpoint, which gets events of all calls and targets."""
        event: Event = self._verified(body, headers, now)
        return event

    def _verified(self, body: bytes | str, headers: Mapping[str, str], now: float | None) -> Any:
        fields = {name.lower(): value for name, value in headers.items()}
        try:
            identity, moment, signatures = (
                fields[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        except KeyError as missing:
            raise WebhookVerificationError(f"the header field {missing.args[0]} is missing") from None
        # A longer number is no time, and Python may refuse to read it.
        if not (moment.isascii() and moment.isdigit() and len(moment) <= 12):
            raise WebhookVerificationError("webhook-timestamp is not a number of seconds")
        age = (time.time() if now is None else now) - int(moment)
        if abs(age) > self._tolerance:
            raise WebhookVerificationError(f"the webhook is too {'old' if age > 0 else 'new'}: {abs(age):.0f} s")
        content = body.encode() if isinstance(body, str) else bytes(body)
        # Some frameworks give bytes that are not UTF-8 as surrogates.
        signed = f"{identity}.{moment}.".encode(errors="surrogateescape") + content
        expected = [hmac.new(key, signed, hashlib.sha256).digest() for key in self._keys]
        if not any(hmac.compare_digest(found, wanted) for found in _signatures(signatures) for wanted in expected):
            raise WebhookVerificationError("no secret has signed this webhook")
        return json.loads(content)


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        # The secret itself is not shown.
        raise ValueError("a webhook secret is whsec_ and base 64")
    return key


def _signatures(field: str) -> list[bytes]:
    """The signatures of version 1; others are skipped."""
    found = []
    for entry in field.split():
        version, _, text = entry.partition(",")
        if version == "v1":
            try:
                found.append(base64.b64decode(text, validate=True))
            except (binascii.Error, ValueError):
                continue
    return found

"""The header Idempotency-Key: what was sent twice because an answer got lost is done once."""

from __future__ import annotations

import uuid

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from gridportal.base.errors import InputError

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The same key with the same body twice is done once; with another body it is refused (409).",
)


def idempotency_key(request: Request, sent: uuid.UUID | None = None) -> uuid.UUID | None:
    """The header as a key of this person: a UUID as it is, other text hashed with the username; None without one.
    Raises InputError where it is another key than `sent`, the `request_key` of the body."""
    text = request.headers.get("Idempotency-Key", "").strip()
    if not text:
        return None
    try:
        key = uuid.UUID(text)
    except ValueError:
        key = uuid.uuid5(uuid.NAMESPACE_URL, f"{request.user.username}/{text}")
    if sent is not None and sent != key:
        raise InputError("request_key", str(sent), "the key of the header Idempotency-Key; one of the two is enough")
    return key

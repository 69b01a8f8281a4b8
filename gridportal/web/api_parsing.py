"""The API reads JSON, of a sensible size and depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError

MAX_BYTES = 1_000_000


class TooLarge(APIException):
    """413: the body is longer than any request of ours."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The body is too long; accepted are at most {MAX_BYTES} bytes."
    default_code = "too_large"


class BoundedJSONParser(JSONParser):
    """Refuses what is too long before reading it, and what is nested too deeply, or not to be read, in one
    sentence."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        length = (parser_context or {})["request"].META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) > MAX_BYTES:
            raise TooLarge
        try:
            document = bounded_json.loads(stream.read(MAX_BYTES))
        except UnreadableError as error:
            raise ParseError(f"The body cannot be read as JSON: {error}.") from error
        if document is None:  # to serializers that is no body at all, which they do not expect after it was read
            raise ParseError("The body is null; accepted is an object.")
        return document

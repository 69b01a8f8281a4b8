"""The API reads JSON, of a sensible size and depth; where files belong to it, beside them in a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser, MultiPartParser

from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError

MAX_BYTES = 1_000_000
_OF_THE_FRAMEWORK = "Multipart form parse error - "


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


class JSONWithFilesParser(MultiPartParser):
    """A form with the JSON document in one part, and any number of files in the others; read as `DocumentWithFiles`."""

    #: The part that holds the document.
    document_part = "job"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            form = super().parse(stream, media_type, parser_context)
        except ParseError as error:
            raise ParseError(str(error.detail).removeprefix(_OF_THE_FRAMEWORK)) from error
        text = form.data.get(self.document_part, "{}")
        if len(text) > MAX_BYTES:
            raise TooLarge
        try:
            document = bounded_json.loads(text)
        except UnreadableError as error:
            raise ParseError(f"The part {self.document_part} cannot be read as JSON: {error}.") from error
        if not isinstance(document, dict):
            raise ParseError(f"The part {self.document_part} is no object; accepted is an object.")
        if unknown := sorted({*form.data, *form.files} - {self.document_part, "inputs"}):
            raise ParseError(
                f"The part {unknown[0][:80]} is not known here; accepted are {self.document_part}, inputs."
            )
        if any(form.data.getlist("inputs")):
            raise ParseError("The part inputs has no file name; accepted is a file with a name.")
        return DocumentWithFiles(document, form.files.getlist("inputs"))


class DocumentWithFiles(dict[str, Any]):
    """A document, and the files that were sent beside it."""

    def __init__(self, document: Mapping[str, Any], files: Sequence[Any]) -> None:
        super().__init__(document)
        self.files = files


def files_of(data: Any) -> Sequence[Any]:
    """The files beside the body of a request; none beside plain JSON."""
    return data.files if isinstance(data, DocumentWithFiles) else ()

"""A form with files that is longer than any job may bring is refused before it is read."""

from __future__ import annotations

from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler

#: Bytes of the rest of a form, and of what stands between its parts.
_REST = 2_000_000


class FormTooLong(RequestDataTooBig):
    """With the sentence that says how long it may be."""


class UploadLimit(FileUploadHandler):
    """Looks at the length alone; those behind it take the files."""

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, Any],  # noqa: N803  # called so by Django
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        """Raises FormTooLong."""
        most = settings.PORTAL.job_input_bytes + _REST
        if content_length > most:
            raise FormTooLong(f"The form with its files is too long; accepted are at most {most / 1e6:.4g} MB.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """For the next one."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """The next one has it."""

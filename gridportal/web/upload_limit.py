"""A form with files: one that is longer than any job may bring is refused before it is read, and so is a file of a name
that Django would leave out without a word."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from gridportal.base.blank_names import is_blank
from gridportal.web.part_headers import PartHeaders

#: How browsers write a quote and the ends of lines in the name of a file. Source: HTML, multipart/form-data.
_QUOTED = re.compile("%(22|0A|0D)")
#: Bytes of the rest of a form, and of what stands between its parts.
REST = 2_000_000


class FormTooLong(RequestDataTooBig):
    """With the sentence that says how long it may be."""


class FileNameError(MultiPartParserError):
    """With the sentence that says which name it is."""


class NamedFilesParser(MultiPartParser):
    """Django's, but for names such as `..`: it leaves their files out."""

    def sanitize_file_name(self, file_name: str) -> str | None:
        """The name as the file has it; Django would cut off folders and read &lt; as a letter. Raises FileNameError."""
        plain = _QUOTED.sub(lambda match: chr(int(match[1], 16)), file_name)
        if is_blank(plain) or plain in (".", "..") or set("/\\") & set(plain) or not plain.isprintable():
            raise FileNameError(f"A file cannot be called {plain[:80]!r}; accepted is a name, without a folder.")
        return plain


class UploadLimit(FileUploadHandler):
    """Looks at the length, and has those behind it take the files, by the names that NamedFilesParser reads."""

    def handle_raw_input(
        self,
        input_data: Any,  # a stream of bytes
        META: dict[str, Any],  # noqa: N803  # called so by Django
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> tuple[Any, Any]:
        """The values and the files. Raises FormTooLong, FileNameError, PartError."""
        most = settings.PORTAL.job_input_bytes + REST
        if content_length > most:
            raise FormTooLong(f"The form with its files is too long; accepted are at most {most / 1e6:.4g} MB.")
        handlers = self.request.upload_handlers if self.request else []
        others = [each for each in handlers if each is not self]
        # Django's types say that the boundary is a text, and its parser gives bytes.
        known = boundary.encode("ascii") if isinstance(boundary, str) else boundary
        stream: Any = PartHeaders(input_data, known)
        return NamedFilesParser(META, stream, others, encoding).parse()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """For the next one."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """The next one has it."""

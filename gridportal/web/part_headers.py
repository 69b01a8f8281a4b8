"""The headers of the parts of a form, looked at while it is read: Django leaves a part out, or renames its file, where
they cannot be read, and says nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

from django.http.multipartparser import MultiPartParserError
from django.utils.http import parse_header_parameters

_END = b"\r\n\r\n"
#: Bytes of the headers of a part that Django reads at most; longer ones it refuses.
_LONGEST_HEADER = 1024
_DISPOSITION = "content-disposition"
#: What stands where bytes were no UTF-8.
_REPLACED = "\ufffd"
#: Letters of a name that a sentence shows.
_SHOWN = 80
_ACCEPTED = 'accepted is Content-Disposition: form-data; name="…"; filename="…", in UTF-8'


class PartError(MultiPartParserError):
    """With the sentence that says which part it is."""


class PartHeaders:
    """A stream whose bytes go through as they are; raises PartError at a part that would be lost.

    It holds no more than the longest header and boundary. Cost: one search through each chunk.
    """

    def __init__(self, stream: IO[bytes], boundary: bytes) -> None:
        self._stream = stream
        self._delimiter = b"\r\n--" + boundary
        self._rest, self._parts = b"\r\n", 0
        self._step: Callable[[], bool] = self._find_part
        self._nameless = ""

    def read(self, size: int = -1) -> bytes:
        """As of the stream. Raises PartError."""
        chunk = self._stream.read(size)
        self._rest += chunk
        while self._step():
            pass
        return chunk

    def _find_part(self) -> bool:
        """Go to the next header; whether there is one yet."""
        at = self._rest.find(self._delimiter)
        kept = len(self._delimiter) - 1
        if self._nameless and (at > 0 or (at < 0 and len(self._rest) > kept)):
            raise PartError(f"The file in the part {self._nameless} has no name; accepted is a file with a name.")
        if at < 0:
            self._rest = self._rest[-kept:]
            return False
        self._rest, self._step, self._nameless = self._rest[at + len(self._delimiter) :], self._read_header, ""
        return True

    def _read_header(self) -> bool:
        """Look at a header once all of it is there."""
        at = self._rest.find(_END)
        if self._rest.startswith(b"--") or (at < 0 and len(self._rest) > _LONGEST_HEADER):
            self._step, self._rest = _no_more, b""  # the end, or too long a header, which Django refuses
            return False
        if at < 0:
            return False
        self._parts += 1
        self._nameless = _nameless(self._rest[:at], self._parts)
        self._rest, self._step = self._rest[at + len(_END) :], self._find_part
        return True


def _no_more() -> bool:
    return False


def _nameless(header: bytes, number: int) -> str:
    """The name of a part whose file has none; empty for all others. Raises PartError."""
    disposition = _disposition(header, number)
    name = disposition.get("name", "").strip()
    if not name:
        raise PartError(f"Part {number} of the form has no name; {_ACCEPTED}.")
    file_name = disposition.get("filename")
    if _REPLACED in name + (file_name or ""):
        raise PartError(f"The name in the part {name[:_SHOWN]} is not UTF-8; {_ACCEPTED}.")
    return name[:_SHOWN] if file_name == "" else ""


def _disposition(header: bytes, number: int) -> dict[str, Any]:
    """The words of Content-Disposition. Raises PartError where it is missing, or cannot be read."""
    for line in header.split(b"\r\n"):
        if not line.lower().startswith(_DISPOSITION.encode()):
            continue
        text = line.decode(errors="replace")
        try:
            key, words = parse_header_parameters(text)
        except (ValueError, LookupError) as error:
            raise PartError(f"Part {number} of the form says {text[:_SHOWN]!r}; {_ACCEPTED}.") from error
        if not key.startswith(f"{_DISPOSITION}:"):
            raise PartError(f"Part {number} of the form says {text[:_SHOWN]!r}; {_ACCEPTED}.")
        return words
    raise PartError(f"Part {number} of the form has no Content-Disposition; {_ACCEPTED}.")

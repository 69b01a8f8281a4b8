"""A file, or the bytes of it that a request's Range asks for, as a stream that never holds more than a piece.

Source: RFC 9110, 14. One range is answered; several at once are answered with the whole file, as it allows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

_PIECE = 1 << 18
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def file_response(
    file: BinaryIO, name: str, asked: str, *, content_type: str, inline: bool = False
) -> HttpResponseBase:
    """The open file under a name, which the answer closes; `asked`: the header Range, or nothing.

    What comes after its size was looked at is left out, for it may be written all the while.
    """
    size = os.fstat(file.fileno()).st_size
    start, end = _bounds(asked, size)
    if start is None:
        file.close()
        sentence = f"The file has {size:,} bytes; accepted is a Range that begins before its end, such as bytes=0-99."
        kind = "text/plain; charset=utf-8"
        return HttpResponse(sentence, kind, status=416, headers={"Content-Range": f"bytes */{size}"})
    partial = (start, end) != (0, size)
    response = StreamingHttpResponse(
        _pieces(file, start, end), status=206 if partial else 200, content_type=content_type
    )
    response["Accept-Ranges"] = "bytes"
    response["Content-Length"] = end - start
    if partial:
        response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    plain = "".join(letter if letter.isprintable() else "_" for letter in name) or "file"
    response["Content-Disposition"] = content_disposition_header(not inline, plain) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _bounds(asked: str, size: int) -> tuple[int | None, int]:
    """First byte and the one after the last; no first byte where the range lies behind the end.

    >>> _bounds("bytes=2-3", 10), _bounds("bytes=-4", 10), _bounds("bytes=8-", 10), _bounds("", 10)
    ((2, 4), (6, 10), (8, 10), (0, 10))
    >>> _bounds("bytes=10-", 10), _bounds("bytes=0-1,4-5", 10), _bounds("bytes=5-2", 10)
    ((None, 0), (0, 10), (0, 10))
    """
    match = _RANGE.fullmatch(asked.strip())
    if match is None or match.groups() == ("", ""):
        return 0, size
    first, last = match.groups()
    if not first:
        return (size - min(size, int(last)), size) if int(last) and size else (None, 0)
    start, end = int(first), min(size, int(last) + 1) if last else size
    if start >= size:
        return None, 0
    return (start, end) if start < end else (0, size)


def _pieces(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        left = end - start
        while left > 0 and (piece := file.read(min(_PIECE, left))):
            left -= len(piece)
            yield piece

"""Tables as CSV files that are written while they are read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.http import StreamingHttpResponse


class _Echo:
    """A file whose writes are what is written."""

    def write(self, text: str) -> str:
        return text


def csv_response(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingHttpResponse:
    """The answer with `rows` below `head` as the file `name`."""
    response = StreamingHttpResponse(_lines(head, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def plain_cell(value: object) -> object:
    """A cell; text that a spreadsheet would run as a formula gets an apostrophe.

    >>> plain_cell("=1+1"), plain_cell(-1)
    ("'=1+1", -1)
    """
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def _lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield writer.writerow(head)
    for row in rows:
        yield writer.writerow(row)

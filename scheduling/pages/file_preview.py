"""The beginning of a file as a page shows it: text, a table, or a picture; of other files there is the download."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

#: Bytes, rows and columns that are shown.
MOST_BYTES, MOST_ROWS, MOST_COLUMNS = 200_000, 500, 60
_MOST_CELL = 400
#: Pictures without scripts, by how they begin. SVG is not among them: it is text that may hold a program.
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_TABLES = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True, slots=True)
class FilePreview:
    """One of `text`, `rows` and `picture` (its content type), or none of them. `cut`: there is more in the file."""

    size: int
    cut: bool = False
    text: str | None = None
    rows: tuple[tuple[str, ...], ...] = ()
    picture: str = ""


def preview_of(file: BinaryIO, name: str, size: int) -> FilePreview:
    """The preview of an open file, read from its start."""
    data = file.read(MOST_BYTES)
    if kind := picture_type(data):
        return FilePreview(size, picture=kind)
    cut = size > len(data)
    text = _text(data, cut=cut)
    if text is None:
        return FilePreview(size, cut=cut)
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix in _TABLES and (rows := _rows(text, _TABLES[suffix], cut=cut)):
        return FilePreview(size, cut=cut or len(rows) > MOST_ROWS, rows=rows[:MOST_ROWS])
    return FilePreview(size, cut=cut, text=text)


def picture_type(data: bytes) -> str:
    """The content type of a picture by its first bytes; empty for what is none."""
    return next((kind for start, kind in _PICTURES.items() if data.startswith(start)), "")


def _text(data: bytes, *, cut: bool) -> str | None:
    if b"\0" in data:
        return None
    for back in range(4 if cut else 1):  # a letter may be cut in two
        try:
            return data[: len(data) - back].decode()
        except UnicodeDecodeError:
            continue
    return None


def _rows(text: str, delimiter: str, *, cut: bool) -> tuple[tuple[str, ...], ...]:
    """Nothing where it is no table; without a last line that is cut."""
    lines = text.splitlines(keepends=True)
    kept = "".join(lines[:-1] if cut and len(lines) > 1 else lines)
    try:
        rows = list(islice(csv.reader(io.StringIO(kept), delimiter=delimiter), MOST_ROWS + 1))
    except csv.Error:
        return ()
    return tuple(tuple(cell[:_MOST_CELL] for cell in row[:MOST_COLUMNS]) for row in rows)

"""All that a serializer says of a document, one sentence after the other."""

from __future__ import annotations

from typing import Any


def error_texts(detail: Any) -> list[str]:
    """Of the errors of a document, however deep they lie.

    >>> error_texts({"name": ["It is empty."], "ranks": {"min": ["It is no number."]}})
    ['It is empty.', 'It is no number.']
    """
    if isinstance(detail, dict):
        return [text for part in detail.values() for text in error_texts(part)]
    if isinstance(detail, list):
        return [text for part in detail for text in error_texts(part)]
    return [str(detail)]

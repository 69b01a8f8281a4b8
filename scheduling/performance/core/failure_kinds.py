"""What is the same failure of a model: its author is told once of each."""

from __future__ import annotations

import re

_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?=:\s|$)")
_FIGURES = re.compile(r"[\d.,]*\d")


def failure_kind(error: str) -> str:
    """The type of the exception that a model raised; else its words without their figures.

    >>> failure_kind("KeyError: 'n'"), failure_kind("MemoryError")
    ('KeyError', 'MemoryError')
    >>> failure_kind("no answer within 10 s") == failure_kind("no answer within 3 s")
    True
    """
    found = _EXCEPTION.match(error)
    return found[0] if found else _FIGURES.sub("0", error)

"""What somebody types who has a job moved: nodes and a number of ranks."""

from __future__ import annotations

from gridportal.base.errors import InputError


def nodes_of(text: str) -> list[str] | None:
    """Names with blanks or commas between them; None for nothing.

    >>> nodes_of("n1, n2 n3"), nodes_of(" ")
    (['n1', 'n2', 'n3'], None)
    """
    return text.replace(",", " ").split() or None


def ranks_of(text: str) -> int | None:
    """A number; None for nothing. Raises InputError."""
    word = text.strip()
    if not word:
        return None
    if not (word.isascii() and word.isdigit() and len(word) < 7):
        raise InputError("ranks", word, "a whole number, or nothing")
    return int(word)

"""Names in which nobody sees anything: spaces, and letters that fonts draw as nothing."""

from __future__ import annotations

#: Letters and symbols that count as printable and are empty: fillers of Hangul, and the empty pattern of Braille.
_EMPTY = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def is_blank(name: str) -> bool:
    """Whether a name has no letter that can be seen.

    >>> is_blank("mesh"), is_blank(" "), is_blank("\u3164"), is_blank("")
    (False, True, True, True)
    """
    return all(letter.isspace() or letter in _EMPTY or not letter.isprintable() for letter in name)

"""Names as people list them in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names with commas and an "and"; of more than `most` how many more there are.

    >>> listed(["n1"]), listed(["n1", "n2", "n3"]), listed(["n1", "n2", "n3"], 2)
    ('n1', 'n1, n2 and n3', 'n1, n2 and 1 more')
    """
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def either(names: Sequence[str]) -> str:
    """Names with commas and an "or".

    >>> either(["n1"]), either(["n1", "n2", "n3"])
    ('n1', 'n1, n2 or n3')
    """
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)


def all_listed(names: Sequence[str]) -> str:
    """The same with all of them, however many there are.

    >>> all_listed([f"n{number}" for number in range(1, 11)])
    'n1, n2, n3, n4, n5, n6, n7, n8, n9 and n10'
    """
    return listed(names, len(names))

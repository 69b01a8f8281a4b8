"""Figures and names as people write and read them. Values inside are always bit/s."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.rates import hours_text, parse_rate, rate_text, share_text

__all__ = ["hours_text", "listed", "parse_rate", "rate_text", "share_text"]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names as people list them.

    >>> listed(["n1"]), listed(["n1", "n2", "n3"]), listed(["n1", "n2", "n3"], 2)
    ('n1', 'n1, n2 and n3', 'n1, n2 and 1 more')
    """
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)

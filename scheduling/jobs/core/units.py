"""Figures and names as people write and read them. Values inside are always bit/s."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.rates import parse_rate, rate_text, share_text

__all__ = ["listed", "parse_rate", "rate_text", "share_text"]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names as people list them.

    >>> listed(["n1"]), listed(["n1", "n2", "n3"]), listed(["n1", "n2", "n3"], 2)
    ('n1', 'n1, n2 and n3', 'n1, n2 and 1 more')
    """
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def hours_text(hours: float) -> str:
    """Hours with two digits behind the point, of few ones with three.

    >>> hours_text(1234.5), hours_text(0.25), hours_text(0.004), hours_text(0.0)
    ('1,234.50', '0.25', '0.004', '0.00')
    """
    return f"{hours:,.{3 if 0.0005 <= abs(hours) < 0.0995 else 2}f}"

"""Bandwidth, shares and hours as people write and read them: `50M` in, `62 Mbit/s` out. Bandwidth inside is always
bit/s."""

from __future__ import annotations

import math
import re

from gridportal.base.errors import InputError

_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_RATE = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([kKMGTmgt]?)(?:bit/s|bps|b)?\s*")


def parse_rate(text: str, field: str = "min_bandwidth") -> float:
    """Read a bandwidth in bit/s with an optional decimal prefix k, M, G or T. Raises InputError.

    >>> parse_rate("50M"), parse_rate("1.5 Gbit/s"), parse_rate("1000")
    (50000000.0, 1500000000.0, 1000.0)
    """
    match = _RATE.fullmatch(text)
    if not match:
        raise InputError(field, text, "a bandwidth in bit/s such as 50M, 1.5G or 50000000")
    prefix = match[2].lower() if match[2] in "kK" else match[2].upper()
    value = float(match[1]) * _FACTORS[prefix]
    if not math.isfinite(value):
        raise InputError(field, text, "a finite bandwidth such as 50M")
    return value


def rate_text(rate: float) -> str:
    """A bandwidth for people, three significant digits.

    >>> rate_text(62e6), rate_text(1.25e9), rate_text(0), rate_text(41.27e6)
    ('62 Mbit/s', '1.25 Gbit/s', '0 Mbit/s', '41.3 Mbit/s')
    """
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if rate >= factor:
            return f"{_digits(rate / factor)} {unit}"
    return f"{_digits(rate)} bit/s" if rate > 0 else "0 Mbit/s"


def share_text(fraction: float) -> str:
    """A fraction as a percentage.

    >>> share_text(0.4), share_text(0.333), share_text(0.00003)
    ('40 %', '33.3 %', 'under 0.01 %')
    """
    return "under 0.01 %" if 0 < fraction < 1e-4 else f"{_digits(100 * fraction)} %"


def rounded_percent(fraction: float) -> float:
    """A fraction in percent with the three digits that `share_text` writes; from 100 on whole.

    >>> rounded_percent(0.3333), rounded_percent(0.000307), rounded_percent(12.345)
    (33.3, 0.0307, 1234.0)
    """
    percent = 100 * fraction
    return float(f"{percent:.0f}" if abs(percent) >= 100 else f"{percent:.3g}")


def percent_text(percent: float) -> str:
    """Percent in a column, whose head has the unit: one digit behind the point for all, so that they can be compared.

    >>> percent_text(40.0), percent_text(33.3), percent_text(0.0307), percent_text(0.0), percent_text(1234.0)
    ('40.0', '33.3', 'under 0.1', '0.0', '1,234.0')
    """
    return "under 0.1" if 0 < percent < 0.05 else f"{percent:,.1f}"


def hours_text(hours: float) -> str:
    """Hours with two digits behind the point; few ones with as many, up to four, as one that is not 0 needs.

    >>> hours_text(1234.5), hours_text(0.25), hours_text(0.004), hours_text(0.00028), hours_text(0.0)
    ('1,234.50', '0.25', '0.004', '0.0003', '0.00')
    """
    size = abs(hours)
    if size < 0.00005 or size >= 0.0995:
        return f"{hours:,.2f}"
    return f"{hours:.{4 if size < 0.00095 else 3}f}"


def figure_text(value: float, digits: int = 2) -> str:
    """A figure for people: with so many digits behind the point, and whole from a thousand on, where nobody reads more.

    >>> figure_text(0.3384, 3), figure_text(4), figure_text(56.25), figure_text(10798.0), figure_text(-1234.5)
    ('0.338', '4.00', '56.25', '10,798', '-1,234')
    """
    return f"{value:,.{0 if abs(value) >= 1000 else digits}f}"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"

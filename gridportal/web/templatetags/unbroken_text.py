"""Sentences with figures whose units stay on their line."""

from __future__ import annotations

import re

from django import template

register = template.Library()

_UNIT = re.compile(r"(?<=\d) (?=%|(?:d|h|min|s|ms|B|[kMGT]B|[kMG]?bit/s)\b)")
#: Between the two parts of a time such as 7 min 20 s.
_PARTS = re.compile(r"(\d (?:d|h|min)) (?=\d+ (?:h|min|s)\b)")


@register.filter
def unbroken(text: str) -> str:
    """The text with no line break between a number and its unit, nor within a time.

    >>> unbroken("by −29.4 % in 7 min 20 s of 3 d 4 h").count("\u00a0")
    7
    """
    return _UNIT.sub("\u00a0", _PARTS.sub("\\1\u00a0", text))

"""Figures and names as people write and read them. Values inside are always bit/s."""

from __future__ import annotations

from gridportal.base.name_lists import listed
from gridportal.base.rates import hours_text, parse_rate, rate_text, share_text

__all__ = ["hours_text", "listed", "parse_rate", "rate_text", "share_text"]

"""What Migration 2003, 8.3, says of figure 7: the real time was longer than predicted by so many seconds, of up to 500
(table I) for reading. Of the single sizes it gives no numbers."""

from __future__ import annotations

PAPER = {"too_short_seconds": {"least": 30.0, "most": 40.0}, "longest_seconds": 500.0}

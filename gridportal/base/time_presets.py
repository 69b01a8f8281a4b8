"""The ranges of time up to now that pages offer: their names in addresses, their words, how long they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

PRESETS: Mapping[str, tuple[str, timedelta]] = {
    "15m": ("last 15 min", timedelta(minutes=15)),
    "1h": ("last hour", timedelta(hours=1)),
    "24h": ("last 24 h", timedelta(hours=24)),
    "7d": ("last 7 d", timedelta(days=7)),
    "30d": ("last 30 d", timedelta(days=30)),
}

"""Single values as Slurm writes them, over versions and over text and JSON."""

from __future__ import annotations

import math
import time
from typing import Any

#: What stands for "none" in Slurm's text.
_NOTHING = frozenset({"", "n/a", "(null)", "none", "unknown", "unlimited", "infinite", "null", "n/s", "-", "not_set"})


def text(value: Any) -> str:
    """A string, with Slurm's words for nothing as "".

    >>> text("(null)"), text(None), text(" main ")
    ('', '', 'main')
    """
    stripped = "" if value is None else str(value).strip()
    return "" if stripped.lower() in _NOTHING else stripped


def number(value: Any) -> float | None:
    """A number from 5, "5", or {"set": true, "infinite": false, "number": 5} (23.02 on); None when there is none.

    >>> number({"set": False, "infinite": False, "number": 0}), number("7"), number({"number": 3, "set": True})
    (None, 7.0, 3.0)
    """
    if isinstance(value, dict):
        if not value.get("set", True):
            return None
        return math.inf if value.get("infinite") else number(value.get("number"))
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def when(value: Any) -> float | None:
    """Unix seconds from seconds, from {set, number}, or from 2026-11-20T19:17:36 in local time; None when unset."""
    seconds = number(value)
    if seconds is not None:
        return seconds if 0 < seconds < 2**40 else None
    try:
        return time.mktime(time.strptime(text(value), "%Y-%m-%dT%H:%M:%S"))
    except (ValueError, OverflowError):
        return None


def split_list(value: Any) -> tuple[str, ...]:
    """A list of words from a list, or from a string with commas or plus signs.

    >>> split_list(["IDLE", "DRAIN"]), split_list("idle+drain"), split_list("a,b")
    (('IDLE', 'DRAIN'), ('idle', 'drain'), ('a', 'b'))
    """
    if isinstance(value, list | tuple):
        return tuple(str(word) for word in value)
    return tuple(part for part in text(value).replace("+", ",").split(",") if part)


def exit_status(value: Any) -> tuple[int | None, int | None]:
    """Exit code and signal from "3:0", from the raw wait status 768, or from JSON of any version.

    >>> exit_status("3:0"), exit_status(768), exit_status("0:9"), exit_status("9"), exit_status("")
    ((3, None), (3, None), (None, 9), (None, 9), (None, None))
    """
    if isinstance(value, dict):
        return _exit_object(value)
    if isinstance(value, str) and ":" in value:
        code, _, signum = value.partition(":")
        return _pair(number(code), number(signum))
    raw = number(value)
    if raw is None or raw < 0 or raw >= 2**32 - 2:
        return None, None
    return _pair(int(raw) >> 8 & 0xFF, int(raw) & 0x7F)


def _exit_object(value: dict[str, Any]) -> tuple[int | None, int | None]:
    if "return_code" not in value and "number" in value:
        return exit_status(number(value))
    signal = value.get("signal") or {}
    signum = signal.get("id", signal.get("signal_id")) if isinstance(signal, dict) else signal
    return _pair(number(value.get("return_code")), number(signum))


def _pair(code: float | None, signum: float | None) -> tuple[int | None, int | None]:
    """A signal of 0 is none; a code of 0 beside a signal is no success."""
    signal = int(signum) if signum and math.isfinite(signum) else None
    if code is None or not math.isfinite(code) or (signal and code == 0):
        return None, signal
    return int(code), signal

"""What a node of a topology file says and cannot mean: processors that nobody can have, `type` in place of kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gridportal.base.errors import InputError

MOST_CPUS = 1_000_000
#: What other programs call a node on which no rank can run.
_NETWORK = ("switch", "router", "network", "hub")


def check_cpus(value: Any, where: str) -> None:
    """Raise InputError, which names the node as `where`, for a label cpus that is no number of processors.

    >>> check_cpus("8", "nodes[0].cpus (a)"), check_cpus(None, "nodes[0].cpus (a)")
    (None, None)
    """
    if value is None:
        return
    number = _number(value)
    if number is None or number != int(number) or not 1 <= number <= MOST_CPUS:
        raise InputError(where, value, f"a whole number of processors from 1 to {MOST_CPUS}")


def check_kinds(nodes: Sequence[Any], where: Callable[[int, Any], str]) -> None:
    """Raise InputError where no node says its kind and one has the type of a switch: it would count as a compute
    node. `where`: what the node at a place is called."""
    entries = [(at, raw) for at, raw in enumerate(nodes) if isinstance(raw, dict)]
    if any("kind" in raw for _, raw in entries):
        return
    for at, raw in entries:
        if str(raw.get("type")).lower() in _NETWORK:
            raise InputError(f"{where(at, raw)}.type", raw["type"], 'the key kind for it, with "network" for switches')


def _number(value: Any) -> float | None:
    """Also of a text, as files of other programs have it; None for what has no end."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > 20:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if abs(number) <= MOST_CPUS else None

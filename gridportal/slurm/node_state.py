"""The states of Slurm's nodes: a base state, flags, and the marks that text puts behind them."""

from __future__ import annotations

import logging
import re
from typing import Any

from gridportal.slurm.values import split_list

log = logging.getLogger(__name__)

#: What Slurm appends to a state -> the flag in words.
SUFFIXES = {
    "*": "NOT_RESPONDING",
    "~": "POWERED_DOWN",
    "#": "POWERING_UP",
    "!": "POWER_DOWN",
    "%": "POWERING_DOWN",
    "$": "MAINT",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "-": "PLANNED",
}
BASES = frozenset({"DOWN", "ERROR", "FUTURE", "UNKNOWN", "IDLE", "MIXED", "ALLOCATED"})
_SAME = {
    "ALLOC": "ALLOCATED",
    "MIX": "MIXED",
    "DRNG": "DRAINING",
    "COMP": "COMPLETING",
    "UNK": "UNKNOWN",
    "FUTR": "FUTURE",
    "FAILG": "FAILING",
    "MAINTENANCE": "MAINT",
    "NO_RESPOND": "NOT_RESPONDING",
    "REBOOT": "REBOOT_ISSUED",
    "RESV": "RESERVED",
    "PLND": "PLANNED",
    "POW_DN": "POWERING_DOWN",
    "POW_UP": "POWERING_UP",
    "INVALID": "INVALID_REG",
    "INVAL": "INVALID_REG",
}
#: sinfo's one word for a base state with a flag.
_BOTH = {
    "DRAINING": "ALLOCATED",
    "DRAINED": "IDLE",
    "COMPLETING": "ALLOCATED",
    "RESERVED": "IDLE",
    "MAINT": "IDLE",
    "PLANNED": "IDLE",
    "FAIL": "IDLE",
    "FAILING": "ALLOCATED",
    "BLOCKED": "IDLE",
    "REBOOT_ISSUED": "DOWN",
    "POWERED_DOWN": "IDLE",
    "POWERING_UP": "ALLOCATED",
    "POWERING_DOWN": "IDLE",
}
#: With one of these a node takes no new jobs.
CLOSED = frozenset(
    {
        "DOWN",
        "ERROR",
        "FUTURE",
        "UNKNOWN",
        "DRAIN",
        "DRAINED",
        "DRAINING",
        "FAIL",
        "FAILING",
        "MAINT",
        "NOT_RESPONDING",
        "POWERING_DOWN",
        "REBOOT_ISSUED",
        "INVALID_REG",
        "BLOCKED",
    }
)

#: Those of them that a controller gives nodes of which it has not heard yet.
UNHEARD = frozenset({"UNKNOWN", "NOT_RESPONDING"})


def node_state(raw: Any) -> tuple[str, tuple[str, ...]]:
    """Base state and flags from text or JSON; a state that is not known is logged and UNKNOWN.

    >>> node_state("DOWN*+DRAIN"), node_state(["MIXED", "PLANNED"]), node_state("draining@")
    (('DOWN', ('NOT_RESPONDING', 'DRAIN')), ('MIXED', ('PLANNED',)), ('ALLOCATED', ('DRAINING', 'REBOOT_REQUESTED')))
    >>> node_state("UNKNOWN")
    ('UNKNOWN', ())
    """
    found: list[str] = []
    # A node's UNKNOWN is a word of its own, where elsewhere it stands for nothing.
    for word in re.split(r"[+,]", raw) if isinstance(raw, str) else split_list(raw):
        match = re.fullmatch(r"([A-Za-z_]+)([*~#!%$@^-]*)", word.strip())
        if match:
            upper = match[1].upper()
            found.append(_SAME.get(upper, upper))
            found += [SUFFIXES[mark] for mark in match[2]]
    base = next((word for word in found if word in BASES), None) or _BOTH.get(found[0] if found else "")
    if base is None:
        log.warning("Slurm says %r of a node, a state that is not known here.", raw)
        base = "UNKNOWN"
    return base, tuple(dict.fromkeys(word for word in found if word != base))

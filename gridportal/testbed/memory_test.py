"""The Grid's test of messages inside a node: they go by its memory, and cross neither a link nor a loopback."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from gridportal.testbed.layout import Layout

_RATE = 400e6  # bit/s by which the size of the messages is chosen: so many that what else there is does not count
_MOST = 0.1  # of the bytes of the messages

#: Sends messages of a size for such a rate both ways between two ranks, and gives the rates that it saw, in bit/s, and
#: the bytes of all of them.
PingPong = Callable[[tuple[str, str], list[float]], Awaitable[tuple[list[float], int]]]


async def test(layout: Layout, holders: Mapping[str, int], ping_pong: PingPong) -> dict[str, Any] | None:
    """{"node", "measured": bit/s, "sent": bytes of the messages, "crossed": bytes that went over a network device}, for
    the first node with several processors; None where there is none. Raises BackendError."""
    node = next((name for name, cpus in layout.cpus.items() if cpus > 1), None)
    if node is None:
        return None
    before = crossed(holders[node])
    rates, sent = await ping_pong((node, node), [_RATE, _RATE])
    return {"node": node, "measured": min(rates), "sent": sent, "crossed": crossed(holders[node]) - before}


def complaint(report: Mapping[str, Any]) -> str:
    """One sentence about messages that have left their node's memory, '' when they have not.

    >>> complaint({"node": "n1", "measured": 9e9, "sent": 36_000_000, "crossed": 4_000})
    ''
    >>> complaint({"node": "n1", "measured": 9e7, "sent": 36_000_000, "crossed": 36_500_000})
    'Inside n1 MPI sent 36 of 36 MB over the network: its ranks there do not share memory.'
    """
    if report["crossed"] <= _MOST * report["sent"]:
        return ""
    much = f"{min(report['crossed'], report['sent']) / 1e6:.0f} of {report['sent'] / 1e6:.0f} MB"
    return f"Inside {report['node']} MPI sent {much} over the network: its ranks there do not share memory."


def crossed(pid: int) -> int:
    """The bytes that all network devices have sent, the loopback too, where process `pid` is."""
    lines = Path(f"/proc/{pid}/net/dev").read_text(encoding="ascii").splitlines()[2:]
    return sum(int(line.partition(":")[2].split()[8]) for line in lines)

"""The Grid's test of itself: MPI ping-pongs over the most and the least shaped link must see the shaped rate, and one
inside a node must cross no link at all."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Mapping
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.testbed import environment, hops, memory_test
from gridportal.testbed.foreground import Foreground
from gridportal.testbed.layout import Layout

TOLERANCE = 0.10
_TRIES = 3
_LIMIT = 20.0
_SLOWEST = 0.5e6  # bit/s: on slower links the start of MPI alone takes too long
_MPIEXEC = "mpiexec.hydra"  # MPICH's: plain mpiexec may be another MPI's


async def test(layout: Layout, holders: Mapping[str, int], foreground: Foreground, *, shaped: bool) -> dict[str, Any]:
    """{"state": "passed" | "failed" | "skipped", "message", "links": [{"source", "target", "shaped", "measured"}...],
    "inside": what `memory_test` found, where a node has several processors}.

    A busy machine looks slow, so a ping-pong that is off is tried up to three times.
    """
    if not shaped:
        return _skipped("The Grid is not shaped on this machine, so there is no rate to test.")
    if not _has_mpi():
        return _skipped("MPI is not installed (pip install 'gridportal[runtime]'), so the shaping is untested.")
    chosen = extremes(layout, layout.rates)
    if not chosen:
        return _skipped("No two nodes of the Grid are linked, so there is no rate to test.")
    chosen = [pair for pair in chosen if _slowest(layout, pair) >= _SLOWEST]
    if not chosen:
        return _skipped("The links of the Grid have less than 0.5 Mbit/s, too little for an MPI ping-pong.")
    links: list[dict[str, Any]] = []
    try:
        for pair in chosen:
            links += await _test_pair(layout, foreground, pair)
        inside = await memory_test.test(layout, holders, partial(_ping_pong, foreground))
    except BackendError as error:
        return {"state": "failed", "message": str(error), "links": links}
    found = {"links": links, **({"inside": inside} if inside else {})}
    wrong = [complaint(link) for link in links if off(link["measured"], link["shaped"]) > TOLERANCE]
    wrong += filter(None, [memory_test.complaint(inside) if inside else ""])
    if wrong:
        return {"state": "failed", "message": wrong[0], **found}
    return {"state": "passed", "message": "Ping-pongs see the shaped rates.", **found}


def extremes(layout: Layout, rates: Mapping[tuple[str, str], float]) -> list[tuple[str, str]]:
    """The ordered pairs of nodes with the lowest and the highest bottleneck (one where all are alike)."""
    found: dict[tuple[str, str], float] = {}
    for pair in permutations(layout.addresses, 2):
        if (links := hops.path(layout, *pair)) and hops.path(layout, pair[1], pair[0]):
            found[pair] = min(rates[link] for link in links)
    if not found:
        return []
    least, most = min(found, key=lambda pair: found[pair]), max(found, key=lambda pair: found[pair])
    return [least] if found[least] == found[most] else [least, most]


def complaint(link: Mapping[str, Any]) -> str:
    """One sentence about a link that does not have its shaped rate.

    >>> complaint({"source": "n1", "target": "n2", "shaped": 1e8, "measured": 4e9})
    'From n1 to n2 MPI had 4000 Mbit/s where 100 are shaped: its traffic leaks past the shaping.'
    """
    more = link["measured"] > link["shaped"]
    why = "its traffic leaks past the shaping" if more else "the machine is too busy or the shaping too coarse"
    return (
        f"From {link['source']} to {link['target']} MPI had {link['measured'] / 1e6:.0f} Mbit/s"
        f" where {link['shaped'] / 1e6:.0f} are shaped: {why}."
    )


def off(measured: float, shaped: float) -> float:
    """How far a measured rate is from the shaped one, as a fraction of it."""
    return abs(measured / shaped - 1)


async def _test_pair(layout: Layout, foreground: Foreground, pair: tuple[str, str]) -> list[dict[str, Any]]:
    back = (pair[1], pair[0])
    expected = [_shaped(layout, way) for way in (pair, back)]
    best: list[dict[str, Any]] = []
    for _ in range(_TRIES):
        measured, _ = await _ping_pong(foreground, pair, expected)
        links = [
            {"source": way[0], "target": way[1], "shaped": rate, "measured": seen}
            for way, rate, seen in zip((pair, back), expected, measured, strict=True)
        ]
        if not best or _worst(links) < _worst(best):
            best = links
        if _worst(best) <= TOLERANCE:
            break
    return best


async def _ping_pong(foreground: Foreground, pair: tuple[str, str], expected: list[float]) -> tuple[list[float], int]:
    """The rates that both ways had, and the bytes of all messages."""
    program = [sys.executable, "-m", "gridportal.testbed.pingpong", *map(str, expected)]
    root = str(Path(__file__).resolve().parents[2])
    done = (await foreground.run(pair, [_MPIEXEC, "-n", "2", *program], _LIMIT, root))[0]
    if done["exit_code"] is None:
        raise BackendError(f"The MPI ping-pong between {pair[0]} and {pair[1]} did not end within {_LIMIT:g} s.")
    try:
        found = json.loads(done["output"].strip().splitlines()[-1])
        return [float(rate) for rate in found["rates"]], int(found["sent"])
    except (IndexError, KeyError, ValueError, TypeError) as error:
        last = (done["output"].strip().splitlines() or ["no output"])[-1]
        raise BackendError(f"The MPI ping-pong between {pair[0]} and {pair[1]} failed: {last}") from error


def _shaped(layout: Layout, way: tuple[str, str]) -> float:
    return min(layout.rates[link] for link in hops.path(layout, *way))


def _slowest(layout: Layout, pair: tuple[str, str]) -> float:
    return min(_shaped(layout, pair), _shaped(layout, (pair[1], pair[0])))


def _worst(links: list[dict[str, Any]]) -> float:
    return max(off(link["measured"], link["shaped"]) for link in links)


def _has_mpi() -> bool:
    have = importlib.util.find_spec("mpi4py") is not None
    return have and shutil.which(_MPIEXEC, path=environment.search_path()) is not None


def _skipped(why: str) -> dict[str, Any]:
    return {"state": "skipped", "message": why, "links": []}

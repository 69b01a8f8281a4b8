"""Slurm's topology.conf as a draft: the switches (topology/tree) or blocks (topology/block) that administrators have
described already."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gridportal.base.errors import InputError
from gridportal.network.importers.draft import Draft, Wire
from gridportal.network.importers.hostlist import expand
from gridportal.network.topology import Node

_PAIR = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_KNOWN = {
    "switchname": frozenset({"switchname", "switches", "nodes", "linkspeed"}),
    "blockname": frozenset({"blockname", "nodes"}),
    "blocksizes": frozenset({"blocksizes"}),
}
_ACCEPTED = "SwitchName=... with Nodes=, Switches= and LinkSpeed= (topology/tree), or BlockName=... with Nodes="
#: LinkSpeed is free text to Slurm. A bare number is Mbit/s, since no cluster has links of a few bit/s.
_SPEED = re.compile(r"([\d.]+)\s*([kmgt]?)(?:i?b(?:it)?(?:/s|ps)?)?", re.IGNORECASE)
_UNITS = {"": 1e6, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
#: What joins the blocks of topology/block, of which topology.conf says nothing.
BETWEEN_BLOCKS = "between-blocks"


@dataclass(frozen=True, slots=True)
class _Switch:
    name: str
    line: int
    switches: tuple[str, ...]
    nodes: tuple[str, ...]
    speed: float | None


def draft(text: str, name: str, cluster_nodes: frozenset[str] | None = None) -> Draft:
    """The draft of a topology.conf. Every link carries the LinkSpeed of the switch above it; where that is missing or
    no number the wire has no capacity. Blocks are switches under one that joins them all.

    Problems name the line, and the node or switch that is unknown (`cluster_nodes`: those that it has), missing or
    listed twice.

    >>> d = draft("SwitchName=s1 Nodes=n[1-2] LinkSpeed=100\\nSwitchName=top Switches=s1", "slurm")
    >>> [(wire.source, wire.target, wire.capacity) for wire in d.wires]
    [('s1', 'n1', 100000000.0), ('s1', 'n2', 100000000.0), ('top', 's1', None)]
    """
    result = Draft(name)
    switches = _distinct(_switches(text, result), result)
    _fill(switches, result, cluster_nodes)
    for switch in switches.values():
        result.nodes += [Node(node) for node in switch.nodes if node not in switches]
    result.nodes = list({node.id: node for node in result.nodes}.values())
    result.nodes += [Node(name, "network") for name in switches]
    return result


def link_speed(text: str) -> float | None:
    """A LinkSpeed in bit/s, None when it is no number.

    >>> link_speed("100"), link_speed("40G"), link_speed("QDR")
    (100000000.0, 40000000000.0, None)
    """
    match = _SPEED.fullmatch(text.strip())
    try:
        speed = float(match[1]) * _UNITS[match[2].lower()] if match else 0.0
    except ValueError:
        return None
    return speed if speed > 0 else None


def _switches(text: str, into: Draft) -> list[_Switch]:
    """The switches of every line that can be read; a line that cannot is a problem."""
    switches = []
    for at, line in _lines(text):
        try:
            switch = _switch(line, at)
        except InputError as error:
            into.problems.append(error)
            continue
        if switch is not None:
            switches.append(switch)
    if not switches and not into.problems:
        into.problems.append(InputError("topology.conf", "", "at least one line SwitchName=... or BlockName=..."))
    return switches


def _lines(text: str) -> list[tuple[int, str]]:
    """Numbered lines without comments; a backslash at the end of a line joins the next."""
    found: list[tuple[int, str]] = []
    joined, start = "", 0
    for at, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].rstrip()
        start = start if joined else at
        joined += line.removesuffix("\\") + " "
        if line.endswith("\\"):
            continue
        if joined.strip():
            found.append((start, joined.strip()))
        joined = ""
    return [*found, (start, joined.strip())] if joined.strip() else found


def _switch(line: str, at: int) -> _Switch | None:
    """One line; None for BlockSizes, which says how blocks are counted, not how they are wired."""
    values = {key.lower(): value.strip('"') for key, value in _PAIR.findall(line)}
    sort = next((key for key in _KNOWN if key in values), "switchname")
    strange = sorted(values.keys() - _KNOWN[sort])
    if sort not in values or strange or _PAIR.sub("", line).strip():
        raise InputError(f"line {at}", strange[0] if strange else line[:60], _ACCEPTED)
    if sort == "blocksizes":
        return None
    if not values.get("nodes") and not values.get("switches"):
        raise InputError(f"line {at}", values[sort], "a switch with Nodes= or Switches=, or a block with Nodes=")
    children = (tuple(expand(values.get("switches", ""))), tuple(expand(values.get("nodes", ""))))
    if sort == "blockname":
        return _Switch(values[sort], -at, *children, None)
    return _Switch(values[sort], at, *children, link_speed(values.get("linkspeed", "")))


def _distinct(switches: list[_Switch], into: Draft) -> dict[str, _Switch]:
    by_name: dict[str, _Switch] = {}
    for switch in switches:
        if switch.name in by_name:
            accepted = "a switch name that is not used before"
            into.problems.append(InputError(f"line {abs(switch.line)}", switch.name, accepted))
            continue
        by_name[switch.name] = switch
    blocks = [switch for switch in by_name.values() if switch.line < 0]
    if len(blocks) > 1:
        line = min(-block.line for block in blocks)
        by_name[BETWEEN_BLOCKS] = _Switch(BETWEEN_BLOCKS, line, tuple(block.name for block in blocks), (), None)
    return by_name


def _fill(switches: dict[str, _Switch], into: Draft, cluster_nodes: frozenset[str] | None) -> None:
    """Wires from every switch to what is under it, in the order of the file."""
    parents: dict[str, str] = {}
    for switch in switches.values():
        where = f"line {abs(switch.line)}"
        for child in (*switch.nodes, *switch.switches):
            refused = _refused(child, switch, switches, parents, cluster_nodes)
            if refused is not None:
                into.problems.append(InputError(where, child, refused))
                continue
            parents[child] = switch.name
            into.wires.append(Wire(switch.name, child, where, switch.speed))
    for switch in switches.values():
        if _under_itself(switch.name, parents):
            into.problems.append(InputError(f"line {switch.line}", switch.name, "a switch that is not under itself"))


def _refused(
    child: str,
    switch: _Switch,
    switches: dict[str, _Switch],
    parents: dict[str, str],
    cluster_nodes: frozenset[str] | None,
) -> str | None:
    if child in parents:
        return f"a name under one switch; {parents[child]} has it too"
    if child in switch.switches:
        return None if child in switches else "the name of a switch that has a line of its own"
    if child in switches:
        return "a node's name that is no switch's"
    return "a node that the cluster has" if cluster_nodes is not None and child not in cluster_nodes else None


def _under_itself(name: str, parents: dict[str, str]) -> bool:
    above, seen = parents.get(name), set[str]()
    while above is not None and above not in seen:
        if above == name:
            return True
        seen.add(above)
        above = parents.get(above)
    return False

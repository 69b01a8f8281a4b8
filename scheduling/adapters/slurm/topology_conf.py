"""Slurm's topology.conf as a Topology: the tree of switches that its administrators have described already."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gridportal.errors import InputError
from monitoring.core.topology import Link, Node, Topology
from scheduling.adapters.slurm.hostlist import expand

_PAIR = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_KNOWN = frozenset({"switchname", "switches", "nodes", "linkspeed"})
#: LinkSpeed is free text to Slurm. A bare number is Mbit/s, since no cluster has links of a few bit/s.
_SPEED = re.compile(r"([\d.]+)\s*([kmgt]?)(?:i?b(?:it)?(?:/s|ps)?)?", re.IGNORECASE)
_UNITS = {"": 1e6, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True)
class _Switch:
    name: str
    line: int
    switches: tuple[str, ...]
    nodes: tuple[str, ...]
    speed: float


def parse(text: str, *, default_capacity: float, known: frozenset[str] | None = None, name: str = "slurm") -> Topology:
    """The topology in a topology.conf (topology/tree). Every link carries the LinkSpeed of the switch above it.

    `default_capacity` in bit/s, where LinkSpeed is missing or no number; `known`: the cluster's node names, when
    they are to be checked. Raises InputError that names the line, and the node or switch that is unknown, missing
    or listed twice.

    >>> t = parse("SwitchName=s1 Nodes=n[1-2] LinkSpeed=100\\nSwitchName=top Switches=s1", default_capacity=1e9)
    >>> [(link.source, link.target, link.capacity) for link in t.links]
    [('s1', 'n1', 100000000.0), ('s1', 'n2', 100000000.0), ('top', 's1', 1000000000.0)]
    """
    switches = [_switch(line, at, default_capacity) for at, line in _lines(text)]
    by_name = _distinct(switches)
    parents: dict[str, str] = {}
    for switch in switches:
        for child in (*switch.switches, *switch.nodes):
            if child in parents:
                raise InputError(f"line {switch.line}", child, f"a name under one switch; {parents[child]} has it too")
            parents[child] = switch.name
        _check_children(switch, by_name, known)
    _refuse_rings(switches, parents)
    nodes = [Node(node) for switch in switches for node in switch.nodes]
    nodes += [Node(switch.name, "network") for switch in switches]
    links = [
        Link(switch.name, child, switch.speed, switch.speed)
        for switch in switches
        for child in (*switch.nodes, *switch.switches)
    ]
    return Topology(name, False, "links", tuple(nodes), tuple(links))


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


def _switch(line: str, at: int, default: float) -> _Switch:
    values = {key.lower(): value.strip('"') for key, value in _PAIR.findall(line)}
    strange = sorted(values.keys() - _KNOWN)
    if "switchname" not in values or strange or _PAIR.sub("", line).strip():
        shown = strange[0] if strange else line[:60]
        raise InputError(f"line {at}", shown, "SwitchName=... with Nodes=, Switches= and LinkSpeed= (topology/tree)")
    if not values.get("nodes") and not values.get("switches"):
        raise InputError(f"line {at}", values["switchname"], "a switch with Nodes= or Switches=")
    return _Switch(
        values["switchname"],
        at,
        tuple(expand(values.get("switches", ""))),
        tuple(expand(values.get("nodes", ""))),
        link_speed(values.get("linkspeed", "")) or default,
    )


def _distinct(switches: list[_Switch]) -> dict[str, _Switch]:
    found: dict[str, _Switch] = {}
    for switch in switches:
        if switch.name in found:
            raise InputError(f"line {switch.line}", switch.name, "a switch name that is not used before")
        found[switch.name] = switch
    if not found:
        raise InputError("topology.conf", "", "at least one line SwitchName=...")
    return found


def _check_children(switch: _Switch, by_name: dict[str, _Switch], known: frozenset[str] | None) -> None:
    for child in switch.switches:
        if child not in by_name:
            raise InputError(f"line {switch.line}", child, "the name of a switch that has a line of its own")
    for node in switch.nodes:
        if node in by_name:
            raise InputError(f"line {switch.line}", node, "a node's name that is no switch's")
        if known is not None and node not in known:
            raise InputError(f"line {switch.line}", node, "a node that the cluster has")


def _refuse_rings(switches: list[_Switch], parents: dict[str, str]) -> None:
    for switch in switches:
        seen = {switch.name}
        above = parents.get(switch.name)
        while above is not None:
            if above in seen:
                raise InputError(f"line {switch.line}", switch.name, "a switch that is not under itself")
            seen.add(above)
            above = parents.get(above)

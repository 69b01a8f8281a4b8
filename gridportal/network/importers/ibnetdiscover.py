"""The output of ibnetdiscover as a draft: switches, hosts and the cables between them, as InfiniBand sees itself.

The format is that of the section "Topology file format" of its manual page: a block of lines for every node, which
begins with `Switch`, `Ca` or `Rt`, the number of ports, the GUID in quotes and, behind #, the description in quotes;
then one line for each cable with the own port in brackets, the GUID and port at the other end, and behind # width and
speed of the link as it runs now, such as 4xHDR. The forwarding tables of its switches may follow in the same file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from gridportal.base.errors import GridPortalError, ImpossibleError, InputError
from gridportal.network.importers import lft
from gridportal.network.importers.draft import Draft, Wire
from gridportal.network.topology import Node

_NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"(?P<guid>[SHR]-[0-9a-fA-F]+)"\s*(?:#\s*"(?P<description>[^"]*)".*)?')
_PORT = re.compile(
    r'\[(?P<port>\d+)\](?:\[[^\]]*\])?(?:\((?P<own>[0-9a-fA-F]+)\))?\s+"(?P<guid>[SHR]-[0-9a-fA-F]+)"\[(?P<far>\d+)\][^#]*(?:#(?P<description>.*))?'
)
_SPEED = re.compile(r"(?P<width>1|2|4|8|12)x\s?(?P<speed>[A-Z]+\d*)\s*$")
#: Bit/s of data on one lane: the signalling rate less the encoding (8b/10b up to QDR, 64b/66b from FDR on; from HDR on
#: the names mean the rate that is left after forward error correction).
LANE = {
    "SDR": 2.5e9 * 8 / 10,
    "DDR": 5e9 * 8 / 10,
    "QDR": 10e9 * 8 / 10,
    "FDR10": 10.3125e9 * 64 / 66,
    "FDR": 14.0625e9 * 64 / 66,
    "EDR": 25.78125e9 * 64 / 66,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}
#: Descriptions that card makers leave there, which name a card and no host.
_NAMELESS = re.compile(r"|MT\d+ .*|ConnectX.*|.*InfiniHost.*|Mellanox .*|.*Mellanox Technologies|.*Aggregation Node.*")


@dataclass(slots=True)
class _Port:
    line: int
    number: int
    guid: str
    far: int
    speed: float | None
    said: str
    own: int


@dataclass(slots=True)
class _Block:
    line: int
    guid: str
    description: str
    ports: list[_Port] = field(default_factory=list)


def draft(text: str, name: str) -> Draft:
    """The draft of a fabric. Hosts are called by the first word of their description, switches by what stands before
    its first colon, or by their GUID where two have the same.

    Cables side by side between the same two nodes are one wire with the sum of their capacities: InfiniBand spreads
    the targets over them. Capacity: width times the data rate of a lane. A cable whose ends disagree about it, that
    leads to a node without a block, or without width and speed, is a problem; so is a host without a name of its own.
    """
    result = Draft(name)
    blocks = _blocks(text, result)
    labels = _labels(blocks, result)
    hosts = [labels[guid] for guid in blocks if not guid.startswith("S")]
    result.nodes += [Node(host) for host in dict.fromkeys(hosts)]
    result.nodes += [Node(labels[guid], "network") for guid in blocks if guid.startswith("S")]
    result.wires += _wires(blocks, labels, result)
    if lft.HEAD.search(text):
        result.routing = {"tables": _tables(text, blocks, labels, result)}
    return result


def _tables(text: str, blocks: dict[str, _Block], labels: dict[str, str], into: Draft) -> lft.Tables:
    """The forwarding tables that stand behind the blocks, where somebody has put both into one file."""
    switches = {int(guid[2:], 16): labels[guid] for guid in blocks if guid.startswith("S")}
    ports = {
        labels[guid]: {port.number: labels[port.guid] for port in block.ports if port.guid in labels}
        for guid, block in blocks.items()
        if guid.startswith("S")
    }
    hosts = {
        port.own: labels[guid]
        for guid, block in blocks.items()
        if not guid.startswith("S")
        for port in block.ports
        if port.own
    }
    return lft.tables(text, switches, ports, hosts, into.problems)


def capacity(width: int, speed: str) -> float | None:
    """Bit/s of data over a link of `width` lanes; None for a speed that is not known here.

    >>> capacity(4, "QDR"), capacity(4, "EDR"), capacity(4, "HDR"), capacity(4, "ZDR")
    (32000000000.0, 100000000000.0, 200000000000.0, None)
    """
    lane = LANE.get(speed)
    return None if lane is None else width * lane


def _blocks(text: str, into: Draft) -> dict[str, _Block]:
    blocks: dict[str, _Block] = {}
    current: _Block | None = None
    for at, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if line.startswith(("Switch", "Ca", "Rt")):
            current = _opened(line, at, blocks, into)
        elif line.startswith("["):
            port = _port(line, at)
            if isinstance(port, GridPortalError):
                into.problems.append(port)
            elif current is not None:
                current.ports.append(port)
    if not blocks and not into.problems:
        into.problems.append(InputError(into.name, None, "the output of ibnetdiscover"))
    return blocks


def _opened(line: str, at: int, blocks: dict[str, _Block], into: Draft) -> _Block | None:
    match = _NODE.fullmatch(line)
    if not match:
        into.problems.append(InputError(f"line {at}", line[:60], 'such as Switch 36 "S-..." # "name" ...'))
        return None
    guid = match["guid"]
    if guid in blocks:
        into.problems.append(InputError(f"line {at}", guid, "a GUID that has no other block"))
        return None
    blocks[guid] = _Block(at, guid, (match["description"] or "").strip())
    return blocks[guid]


def _port(line: str, at: int) -> _Port | GridPortalError:
    match = _PORT.fullmatch(line)
    if not match:
        return InputError(f"line {at}", line[:60], 'a cable such as [1] "H-..."[1](...) # "name" lid 4 4xHDR')
    match_speed = _SPEED.search(match["description"] or "")
    speed = capacity(int(match_speed["width"]), match_speed["speed"]) if match_speed else None
    if match_speed and speed is None:
        return InputError(f"line {at}", match_speed["speed"], "one of the speeds " + ", ".join(LANE))
    return _Port(
        at,
        int(match["port"]),
        match["guid"],
        int(match["far"]),
        speed,
        match_speed[0].strip() if match_speed else "",
        int(match["own"] or "0", 16),
    )


def _labels(blocks: dict[str, _Block], into: Draft) -> dict[str, str]:
    """A name for every GUID: the hosts' from their descriptions, the switches' where they are different."""
    switches = {guid: _switch_word(block) for guid, block in blocks.items() if guid.startswith("S")}
    twice = Counter(switches.values())
    labels = {guid: word if word and twice[word] == 1 else guid for guid, word in switches.items()}
    taken = set(labels.values())
    for guid, block in blocks.items():
        if guid in labels:
            continue
        word = "" if _NAMELESS.fullmatch(block.description) else block.description.split()[0]
        if not word or word in taken:
            fault = f"says {block.description!r}" if block.description else "is empty"
            into.problems.append(
                ImpossibleError(f"line {block.line}: the description of {guid} {fault}, so its host has no name.")
            )
        labels[guid] = word if word and word not in taken else guid
    return labels


def _switch_word(block: _Block) -> str:
    """The switch's own name: `MF0;leaf01:MSB7800/U1` is leaf01; what only names the product is none."""
    name = block.description.partition(";")[2] or block.description
    if ":" in name or (name and " " not in name):
        return name.partition(":")[0].strip()
    return ""


def _wires(blocks: dict[str, _Block], labels: dict[str, str], into: Draft) -> list[Wire]:
    """Each cable once, though both of its ends tell it; those side by side as one wire."""
    together: dict[tuple[str, str], list[_Port]] = {}
    for guid, block in blocks.items():
        for port in block.ports:
            far = blocks.get(port.guid)
            if far is None:
                message = f"line {port.line}: the cable leads to {port.guid}, which has no block."
                into.problems.append(ImpossibleError(message))
                continue
            back = next((p for p in far.ports if p.number == port.far and p.guid == guid), None)
            if back is not None and back.speed != port.speed and port.line < back.line:
                into.problems.append(_disagree(port, back))
            if back is None or port.line < back.line:
                together.setdefault((labels[guid], labels[port.guid]), []).append(port)
    return [_wire(ends, ports) for ends, ports in _undirected(together).items() if ends[0] != ends[1]]


def _disagree(port: _Port, back: _Port) -> GridPortalError:
    ends = f"{port.said or 'nothing'} at one end (line {port.line}) and {back.said or 'nothing'} at the other"
    return ImpossibleError(f"A cable runs at {ends} (line {back.line}).")


def _undirected(together: dict[tuple[str, str], list[_Port]]) -> dict[tuple[str, str], list[_Port]]:
    found: dict[tuple[str, str], list[_Port]] = {}
    for (a, b), ports in together.items():
        found.setdefault((b, a) if (b, a) in found else (a, b), []).extend(ports)
    return found


def _wire(ends: tuple[str, str], ports: list[_Port]) -> Wire:
    speeds = [port.speed for port in ports]
    total = None if None in speeds else sum(speed for speed in speeds if speed is not None)
    return Wire(*ends, f"line {ports[0].line}", total)

"""Large topology files: links straight into columns, checked all at once.

What is not as most files are (a wrong entry, a number as a name, a key that this does not know) is left to
`gridportal.network.topology.parse`, which reads it entry by entry and names what is wrong.
"""

from __future__ import annotations

import math
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, Raw, UnsetType

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.network.link_table import Floats, LinkTable
from gridportal.network.routing_rules import SHORT
from gridportal.network.topology import Topology, parse, parse_time

#: Bytes; the reader of all files is as quick with smaller ones.
LARGE = 2**18

_Label = str | int | float | None


class _Link(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    source: str
    target: str
    capacity: float | UnsetType = UNSET
    bandwidth: float | UnsetType = UNSET
    latency: float = 0.0
    used: float | None = None
    low: float | None = None
    high: float | None = None
    measured_at: float | str | None = None
    origin: str | None = None
    key: _Label = None
    id: _Label = None
    label: _Label = None
    age: _Label = None


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    nodes: Raw
    links: list[_Link]
    directed: Raw = Raw(b"false")
    multigraph: Raw = Raw(b"false")
    graph: Raw = Raw(b"{}")


def read(path: Path, name: str) -> Topology | None:
    """The topology in a large file that is as most are; else None, and who asked reads it by `parse`.

    Cost: 0.5 us for each link, and 0.4 kB while it is read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode) or not LARGE <= path.stat().st_size <= bounded_json.MAX_FILE:
            return None
        return read_text(path.read_bytes(), name)
    except (OSError, ValueError):  # also a path with a null character
        return None  # the other reader says what is wrong, in the words that it has for all files


def read_text(text: str | bytes, name: str) -> Topology | None:
    """The same of a text."""
    if len(text) < LARGE:
        return None
    try:
        return _topology(msgspec.json.decode(text, type=_Document), name)
    except (UnicodeError, RecursionError, msgspec.MsgspecError, InputError, bounded_json.UnreadableError):
        return None  # as above


def _topology(document: _Document, name: str) -> Topology | None:
    rest = {key: _plain(getattr(document, key)) for key in ("nodes", "directed", "multigraph", "graph")}
    if not isinstance(rest["nodes"], list):
        return None
    without_links = parse(rest | {"links": []}, name=name)
    links = _table([node.id for node in without_links.nodes], document.links)
    if links is None or without_links.routing != SHORT:
        return None
    return replace(without_links, links=links)


def _plain(raw: Raw) -> Any:
    """As the reader of all JSON has it, with its limits."""
    return bounded_json.loads(b'{"part":' + bytes(raw) + b"}")["part"]


def _table(names: Sequence[str], links: Sequence[_Link]) -> LinkTable | None:
    """None where anything is not as it should be."""
    place = {name: at for at, name in enumerate(names)}

    def column(key: str) -> Iterator[Any]:
        return map(attrgetter(key), links)

    try:
        source, target = (
            np.array([place[name] for name in column(end)], dtype=np.int64) for end in ("source", "target")
        )
    except KeyError:
        return None
    capacity, bandwidth = _numbers(list(column("capacity"))), _numbers(list(column("bandwidth")))
    capacity, bandwidth = _filled(capacity, bandwidth), _filled(bandwidth, capacity)
    latency, used, low, high, measured_at = (
        _numbers(list(column(key))) for key in ("latency", "used", "low", "high", "measured_at")
    )
    sound = (source != target) & (capacity > 0) & (bandwidth >= 0) & (bandwidth <= capacity) & (latency >= 0)
    for optional in (used, low, high, measured_at):
        sound &= np.isnan(optional) | (optional >= 0)
    if not sound.all():
        return None
    origin = list(column("origin"))
    origin = [""] * len(origin) if origin.count(None) == len(origin) else [name or "" for name in origin]
    return LinkTable(names, source, target, capacity, bandwidth, latency, used, low, high, measured_at, origin)


def _numbers(values: list[Any]) -> Floats:
    """NaN where there is none; dates and times as Unix seconds."""
    if values[:1] in ([None], [0.0]) and values.count(values[0]) == len(values):  # as a rule, where a file says nothing
        return np.full(len(values), math.nan if values[0] is None else 0.0)
    if set(map(type, values)) <= {float, NoneType}:
        return np.array(values, dtype=np.float64)
    seconds = {value: parse_time(value, "") for value in set(values) if isinstance(value, str)}
    numbers = (seconds.get(value, value) for value in values)
    return np.array([math.nan if number is None or number is UNSET else number for number in numbers])


def _filled(column: Floats, other: Floats) -> Floats:
    return np.where(np.isnan(column), other, column)

"""Large topology files: links straight into columns, checked all at once.

What is not as most files are (a wrong entry, a number as a name, a key that this does not know) is left to
`gridportal.network.topology.parse`, which reads it entry by entry and names what is wrong.
"""

from __future__ import annotations

import math
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Raw, UnsetType

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.network.link_table import Floats, Ints, LinkTable
from gridportal.network.routing_rules import SHORT
from gridportal.network.topology import Topology, parse, parse_time

#: Bytes; the reader of all files is as quick with smaller ones.
LARGE = 2**18

_Label = str | int | float | None
_AnyLink = TypeVar("_AnyLink", bound=msgspec.Struct)


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


class _BareLink(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """As most links are: with nothing to say beyond this. Half of the time that a `_Link` takes."""

    source: str
    target: str
    capacity: float
    bandwidth: float


class _Document(msgspec.Struct, Generic[_AnyLink], forbid_unknown_fields=True):
    nodes: Raw
    links: list[_AnyLink]
    directed: Raw = Raw(b"false")
    multigraph: Raw = Raw(b"false")
    graph: Raw = Raw(b"{}")


_Links = Sequence[_BareLink] | Sequence[_Link]
_OF_NODES_TOO = ("id", "label")
_COLUMNS = ("capacity", "bandwidth", "latency", "used", "low", "high", "measured_at")


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
        document = _decoded(text)
        return _topology(document, name) if _has_each_key_once(text, document) else None
    except (UnicodeError, RecursionError, msgspec.MsgspecError, InputError, bounded_json.UnreadableError):
        return None  # as above


def _decoded(text: str | bytes) -> _Document[_BareLink] | _Document[_Link]:
    try:
        return msgspec.json.decode(text, type=_Document[_BareLink])
    except msgspec.ValidationError:  # most often at the first link
        return msgspec.json.decode(text, type=_Document[_Link])


def _has_each_key_once(text: str | bytes, document: _Document[_BareLink] | _Document[_Link]) -> bool:
    """Whether no key can stand twice in a link or in the document: msgspec takes the last of them without a word.

    A name or label that is the same as a key makes this False, and the file is read by the other reader."""
    data = text.encode() if isinstance(text, str) else text
    most = dict.fromkeys(_Document.__struct_fields__, 1)
    kind = type(document.links[0]) if document.links else _BareLink
    most |= dict.fromkeys(kind.__struct_fields__, len(document.links))
    return all(data.count(b'"%b"' % key.encode()) <= count for key, count in most.items() if key not in _OF_NODES_TOO)


def _topology(document: _Document[_BareLink] | _Document[_Link], name: str) -> Topology | None:
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


def _table(names: Sequence[str], links: _Links) -> LinkTable | None:
    """None where anything is not as it should be."""
    place = {name: at for at, name in enumerate(names)}
    try:
        source, target = (_ends(links, end, place) for end in ("source", "target"))
    except KeyError:
        return None
    is_bare = bool(links) and isinstance(links[0], _BareLink)
    column = _bare_column if is_bare else _column
    capacity, bandwidth, latency, used, low, high, measured_at = (column(links, key) for key in _COLUMNS)
    capacity, bandwidth = _filled(capacity, bandwidth), _filled(bandwidth, capacity)
    sound = (source != target) & (capacity > 0) & (bandwidth >= 0) & (bandwidth <= capacity) & (latency >= 0)
    for optional in (used, low, high, measured_at):
        sound &= np.isnan(optional) | (optional >= 0)
    if not sound.all():
        return None
    origin = [] if is_bare else list(map(attrgetter("origin"), links))
    is_said = origin.count(None) < len(origin)
    origin = [name or "" for name in origin] if is_said else [""] * len(links)
    return LinkTable(names, source, target, capacity, bandwidth, latency, used, low, high, measured_at, origin)


def _ends(links: _Links, end: str, place: Mapping[str, int]) -> Ints:
    """Raises KeyError for a name that no node has."""
    return np.fromiter(map(place.__getitem__, map(attrgetter(end), links)), np.int64, len(links))


def _bare_column(links: _Links, key: str) -> Floats:
    if key in _BareLink.__struct_fields__:
        return np.fromiter(map(attrgetter(key), links), np.float64, len(links))
    return np.full(len(links), 0.0 if key == "latency" else math.nan)


def _column(links: _Links, key: str) -> Floats:
    return _numbers(list(map(attrgetter(key), links)))


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

"""What an application says of itself: groups of ranks, who talks to whom, and where ranks must or must not run.

Source: Selection 1999, 2.1 (groups such as clients and servers, requirements of each, machines it must run on) and
3.4 (the node with the most cpu for the server; only the paths between servers and clients count).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal, get_args

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.base.name_lists import either
from scheduling.jobs.core import label_conditions, patterns
from scheduling.jobs.core.patterns import MAX_RANKS, MAX_WEIGHT, Pattern
from scheduling.jobs.core.unreadable import Unreadable

Most = Literal["cpu", "memory"]
_LONGEST_NAME = 120
#: Conditions of one group, and pairs of ranks that all links stand for.
_MOST_CONDITIONS, _MOST_PAIRS = 50, 1_000_000
_KEYS = ("groups", "links", "pins", "exclude")


@dataclass(frozen=True, slots=True)
class RankGroup:
    """`count` ranks that are alike. require: conditions on their nodes (scheduling.jobs.core.label_conditions). most:
    of the nodes that may hold the group it gets those with the most cpu or memory; for one group only."""

    name: str
    count: int
    require: Mapping[str, str]
    most: Most | None = None


@dataclass(frozen=True, slots=True)
class GroupLink:
    """Every rank of one group talks to every rank of the other, or within one group by a pattern's name; `weight` in
    bytes or relative, for each pair."""

    source: str
    target: str
    weight: float = 1.0
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Pin:
    """A rank by its number, or every rank of a group by its name, runs on one of these nodes."""

    what: int | str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApplicationSpecification:
    """Ranks are numbered group after group, in the order of the file. Without groups the number of ranks is open.

    >>> spec = ApplicationSpecification.read({
    ...     "groups": [{"name": "server", "count": 1, "most": "cpu"},
    ...                {"name": "clients", "count": 3, "require": ["mem_gb>=16"]}],
    ...     "links": [{"source": "server", "target": "clients"}], "pins": {"0": "n3"}, "exclude": ["n4"]})
    >>> spec.ranks, spec.pattern().edges, spec.pinned()
    (4, ((0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)), {0: ('n3',)})
    >>> ApplicationSpecification.read(spec.document()) == spec
    True
    """

    groups: tuple[RankGroup, ...] = ()
    links: tuple[GroupLink, ...] = ()
    pins: tuple[Pin, ...] = ()
    exclude: tuple[str, ...] = ()

    @classmethod
    def read(cls, document: Any) -> ApplicationSpecification:
        """The specification that somebody sent. Raises InputError that names the entry which cannot be accepted."""
        _object(document, "specification", _KEYS)
        groups = tuple(_group(raw, f"groups[{i}]") for i, raw in enumerate(_list(document, "groups")))
        _check_groups(groups)
        counts = {group.name: group.count for group in groups}
        links = tuple(_link(raw, f"links[{i}]", counts) for i, raw in enumerate(_list(document, "links")))
        _check_links(counts, links)
        pins = _pins(document.get("pins"), groups)
        exclude = tuple(_name(node, "exclude") for node in _list(document, "exclude"))
        for pin in pins:
            if set(pin.nodes) <= set(exclude):
                raise InputError(f"pins.{pin.what}", " ".join(pin.nodes), "a node that is not excluded")
        return cls(groups, links, pins, exclude)

    @classmethod
    def stored(cls, document: Any) -> ApplicationSpecification:
        """The specification from a document that was checked before. Raises InputError for what is of another kind."""
        return cls.read(document or {})

    @classmethod
    def load(cls, path: str) -> ApplicationSpecification:
        """From a JSON file. Raises InputError."""
        return cls.read(bounded_json.load(path, "spec", "a readable JSON file with groups, links, pins or exclude"))

    def document(self) -> dict[str, Any]:
        """As JSON, without what was not asked."""
        parts = {
            "groups": [_group_document(group) for group in self.groups],
            "links": [_link_document(link) for link in self.links],
            "pins": {str(pin.what): pin.nodes[0] if len(pin.nodes) == 1 else list(pin.nodes) for pin in self.pins},
            "exclude": list(self.exclude),
        }
        return {name: part for name, part in parts.items() if part}

    @property
    def ranks(self) -> int | None:
        """How many ranks the groups have together; None without groups."""
        return sum(group.count for group in self.groups) if self.groups else None

    def members(self, name: str) -> range:
        """The ranks of a group. Raises KeyError for a name that no group has."""
        return _members(self.groups)[name]

    def pattern(self) -> Pattern | None:
        """Which ranks talk, by the links between groups; None where nothing is said of that."""
        if not self.links or self.ranks is None:
            return None
        weights: dict[tuple[int, int], float] = {}
        members = _members(self.groups)
        for link in self.links:
            for a, b, weight in _edges(link, members[link.source], members[link.target]):
                pair = (min(a, b), max(a, b))
                weights[pair] = weights.get(pair, 0.0) + weight * link.weight
        edges = tuple((a, b, weight) for (a, b), weight in sorted(weights.items()))
        return Pattern("specification", self.ranks, edges)

    def pinned(self) -> dict[int, tuple[str, ...]]:
        """For every pinned rank the nodes that it may run on, by its own pin and by that of its group."""
        allowed: dict[int, tuple[str, ...]] = {}
        members = _members(self.groups)
        for pin in self.pins:
            for rank in [pin.what] if isinstance(pin.what, int) else members[pin.what]:
                before = allowed.get(rank, pin.nodes)
                allowed[rank] = tuple(node for node in pin.nodes if node in before)
        return allowed

    def with_pins(self, pins: Mapping[str, Any], exclude: Sequence[str] = ()) -> ApplicationSpecification:
        """The same with more pins, which take the place of those of the same rank or group, and more excluded nodes.
        Raises InputError."""
        document = self.document()
        more = {**document.get("pins", {}), **pins}
        names = list(dict.fromkeys([*self.exclude, *exclude]))
        return ApplicationSpecification.read({**document, "pins": more, "exclude": names})


@dataclass(frozen=True, slots=True)
class UnreadableSpecification(Unreadable, ApplicationSpecification):
    """A specification that nobody can read."""

    raw: Any = None
    why: str = ""


def _members(groups: Sequence[RankGroup]) -> dict[str, range]:
    """The ranks of each group, by its name."""
    ends = list(accumulate((group.count for group in groups), initial=0))
    return {group.name: range(*between) for group, between in zip(groups, pairwise(ends), strict=True)}


def _edges(link: GroupLink, here: range, there: range) -> list[tuple[int, int, float]]:
    if here != there:
        return [(a, b, 1.0) for a in here for b in there]
    inside = patterns.named(link.pattern or "all-to-all", len(here))
    return [(here[a], here[b], weight) for a, b, weight in inside.edges]


def _check_links(counts: Mapping[str, int], links: Sequence[GroupLink]) -> None:
    """Each link stands for a pair of every two ranks: what one request asks for has to end."""
    pairs = sum(counts[link.source] * counts[link.target] for link in links)
    if pairs > _MOST_PAIRS:
        raise InputError("links", f"{pairs} pairs of ranks", f"{_MOST_PAIRS} of them together at most")


def _check_groups(groups: Sequence[RankGroup]) -> None:
    names = set[str]()
    for i, group in enumerate(groups):
        if group.name in names:
            raise InputError(f"groups[{i}].name", group.name, "a name that no other group has")
        names.add(group.name)
    total = sum(group.count for group in groups)
    if total > MAX_RANKS:
        raise InputError("groups", total, f"{MAX_RANKS} ranks together at most")
    best = [i for i, group in enumerate(groups) if group.most]
    if len(best) > 1:
        raise InputError(f"groups[{best[1]}].most", groups[best[1]].most, "for one group only")


def _group(raw: Any, where: str) -> RankGroup:
    _object(raw, where, ("name", "count", "require", "most"))
    name = _name(raw.get("name"), f"{where}.name")
    if name.isdecimal():
        raise InputError(f"{where}.name", name, "a name that is no number: ranks are named by numbers")
    count = raw.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_RANKS:
        quoted = ", without quotes" if isinstance(count, str) else ""
        raise InputError(f"{where}.count", count, f"a whole number from 1 to {MAX_RANKS}{quoted}")
    if raw.get("most") not in (None, *get_args(Most)):
        raise InputError(f"{where}.most", raw["most"], "cpu or memory")
    return RankGroup(name, count, _require(raw, where), raw.get("most"))


def _require(raw: Mapping[str, Any], where: str) -> dict[str, str]:
    conditions = []
    texts = _list(raw, "require", where)
    if len(texts) > _MOST_CONDITIONS:
        raise InputError(f"{where}.require", f"{len(texts)} conditions", f"{_MOST_CONDITIONS} of them at most")
    for text in texts:
        if not isinstance(text, str) or not text.isprintable():
            raise InputError(f"{where}.require", text, label_conditions.ACCEPTED)
        try:
            label, condition = label_conditions.parse(text)
        except InputError as error:
            raise InputError(f"{where}.require", text, error.accepted) from error
        if label == label_conditions.LATENCY:
            raise InputError(f"{where}.require", text, "conditions on nodes; latency is one for the whole job")
        conditions.append((label, condition))
    return label_conditions.merge(conditions)


def _link(raw: Any, where: str, counts: Mapping[str, int]) -> GroupLink:
    _object(raw, where, ("source", "target", "weight", "pattern"))
    for end in ("source", "target"):
        if not isinstance(raw.get(end), str) or raw[end] not in counts:
            raise InputError(f"{where}.{end}", raw.get(end), "the name of a group" + _one_of(counts))
    weight, pattern = raw.get("weight", 1.0), raw.get("pattern") or ""
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= MAX_WEIGHT:
        raise InputError(f"{where}.weight", weight, f"a number of bytes above 0 and up to {MAX_WEIGHT:.0e}")
    if pattern:
        _check_pattern(pattern, where, raw, counts)
    return GroupLink(raw["source"], raw["target"], float(weight), pattern)


def _check_pattern(pattern: Any, where: str, raw: Mapping[str, Any], counts: Mapping[str, int]) -> None:
    if not isinstance(pattern, str) or raw["source"] != raw["target"]:
        raise InputError(f"{where}.pattern", pattern, "the name of a pattern, where source and target are one group")
    try:
        patterns.named(pattern, counts[raw["source"]])
    except InputError as error:
        raise InputError(f"{where}.pattern", pattern, f"a pattern for this group: {error.accepted}") from error


def _pins(raw: Any, groups: Sequence[RankGroup]) -> tuple[Pin, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, Mapping):
        raise InputError("pins", raw, 'ranks or groups with their nodes, such as {"0": "n3", "server": ["n1", "n2"]}')
    counts = {group.name: group.count for group in groups}
    found: dict[int | str, Pin] = {}
    for what, nodes in raw.items():
        pin = _pin(str(what), nodes, counts)
        if pin.what in found:  # 01 is rank 1 too
            raise InputError("pins", str(what), f"one entry for rank {pin.what}, with all its nodes")
        found[pin.what] = pin
    return tuple(found.values())


def _pin(what: str, raw: Any, counts: Mapping[str, int]) -> Pin:
    nodes = raw if isinstance(raw, list | tuple) else [raw]
    names = tuple(dict.fromkeys(_name(node, f"pins.{what}") for node in nodes))
    if not names:
        raise InputError(f"pins.{what}", raw, "one node or more")
    if what in counts:
        return Pin(what, names)
    total = sum(counts.values()) or MAX_RANKS
    if not (what.isascii() and what.isdecimal() and len(what) <= 6 and int(what) < total):
        accepted = f"a rank from 0 to {total - 1}"
        if counts:
            accepted += f" or the name of a group{_one_of(counts)}"
        elif not what.isdecimal():
            accepted = "the number of a rank, such as 0; the job has no groups of ranks"
        raise InputError("pins", what, accepted)
    return Pin(int(what), names)


def _object(raw: Any, where: str, keys: Sequence[str]) -> None:
    if not isinstance(raw, Mapping):
        raise InputError(where, raw, f"an object with {either(keys)}")
    for key in raw:
        if key not in keys:
            raise InputError(f"a key of {where}", key, either(keys))


def _list(raw: Mapping[str, Any], name: str, where: str = "") -> Sequence[Any]:
    value = raw.get(name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InputError(f"{where}.{name}" if where else name, value, "a list")
    return value


def _name(raw: Any, where: str) -> str:
    if not isinstance(raw, str) or not raw.strip() or not raw.isprintable() or len(raw) > _LONGEST_NAME:
        raise InputError(where, raw, f"a name of 1 to {_LONGEST_NAME} printable characters")
    return raw.strip()


def _one_of(names: Mapping[str, Any]) -> str:
    shown = ", ".join(list(names)[:10])
    return f" ({shown})" if shown else "; there are no groups"


def _group_document(group: RankGroup) -> dict[str, Any]:
    require = [text for pair in group.require.items() for text in label_conditions.each(*pair)]
    optional = {"require": require, "most": group.most}
    return {"name": group.name, "count": group.count, **{name: value for name, value in optional.items() if value}}


def _link_document(link: GroupLink) -> dict[str, Any]:
    optional = {"pattern": link.pattern} if link.pattern else {}
    weight = {} if math.isclose(link.weight, 1.0, rel_tol=0.0, abs_tol=0.0) else {"weight": link.weight}
    return {"source": link.source, "target": link.target, **weight, **optional}


def check_links(
    asked: ApplicationSpecification, method: str, pattern: str | None, *, field: str = "specification"
) -> None:
    """Links say who talks: raises InputError where the method does not ask that, or a pattern says so, too.

    `field`: what the specification is called where it came from.
    """
    if not asked.links:
        return
    if method not in ("pattern", "balanced"):
        raise InputError(field, "links", "the method pattern or balanced with links")
    if pattern:
        raise InputError("pattern", pattern, "nothing, since the links of the specification say who talks")

"""How a network routes: by a rule, by paths that are fixed, or by the forwarding tables of its switches.

Source: Selection 1999, 3.3 (networks route statically: a fixed path is taken for all communication of a pair). The
equal-cost rules are those of data centre fabrics, which the paper leaves out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, cast, get_args

from gridportal.base.errors import InputError
from gridportal.base.name_lists import either

Pair = tuple[str, str]
Rule = Literal["short", "ecmp", "ecmp-hash"]
RULES: tuple[str, ...] = get_args(Rule)
_KEYS = ("rule", "paths", "tables")
_ACCEPTED = either(RULES)


@dataclass(frozen=True, slots=True)
class RoutingRules:
    """How traffic between two compute nodes goes; what is fixed counts before the rule.

    rule: `short` is one path with the fewest links; `ecmp` shares every flow evenly over all of those; `ecmp-hash`
    takes one of them by a hash of source and target. paths: the nodes on the way of a pair, its ends included.
    tables: of a network node the neighbour that it forwards to, by target; what its table does not have it drops.
    """

    rule: Rule = "short"
    paths: Mapping[Pair, tuple[str, ...]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def is_fixed(self) -> bool:
        """Whether some pairs go by more than the rule."""
        return bool(self.paths or self.tables)

    def document(self) -> str | dict[str, Any]:
        """As `graph.routing` of a topology file has it: the name of the rule where that is all."""
        if not self.is_fixed:
            return self.rule
        paths = [list(path) for ends, path in self.paths.items()]
        return {"rule": self.rule, "paths": paths, "tables": {name: dict(to) for name, to in self.tables.items()}}


#: What holds where a file says nothing.
SHORT = RoutingRules()


def stored_rules(document: Any) -> RoutingRules:
    """What `RoutingRules.document` made, as it was kept; nothing kept means the short rule."""
    if not document:
        return SHORT
    if isinstance(document, str):
        return RoutingRules(cast(Rule, document))
    paths = {(path[0], path[-1]): tuple(path) for path in document["paths"]}
    return RoutingRules(document["rule"], paths, document["tables"])


def parse_rules(
    raw: Any, kinds: Mapping[str, str], links: Iterable[Pair], *, directed: bool, kind: str
) -> RoutingRules:
    """The rules in `graph.routing`: a rule's name, or an object with rule, paths and tables (GraphML: its JSON text).

    `kinds`: compute or network, of every node; `links`: the ends of every link. A path serves both directions of a
    pair, unless the other one has a path of its own or no links. Raises InputError.

    >>> kinds = {"a": "compute", "b": "compute", "s": "network"}
    >>> rules = parse_rules({"paths": [["a", "s", "b"]]}, kinds, [("a", "s"), ("s", "b")], directed=False, kind="links")
    >>> rules.paths["b", "a"]
    ('b', 's', 'a')
    """
    if raw is None:
        return SHORT
    raw = _unwrapped(raw)
    rule = raw.get("rule", "short")
    if rule not in RULES:
        raise InputError("graph.routing", rule, _ACCEPTED)
    strange = next((key for key in raw if key not in _KEYS), None)
    if strange is not None:
        raise InputError("a key of graph.routing", strange, "rule, paths or tables")
    if kind == "pairs" and raw != {"rule": "short"}:
        raise InputError("graph.routing", rule, "no routing where graph.kind is pairs, whose links are the paths")
    steps = set(links)
    steps |= set() if directed else {(b, a) for a, b in steps}
    paths = _paths(raw.get("paths", []), kinds, steps)
    tables = _tables(raw.get("tables", {}), kinds, steps)
    return RoutingRules(cast(Rule, rule), paths, tables)


def _unwrapped(raw: Any) -> dict[str, Any]:
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        try:
            raw = json.loads(raw)
        except ValueError as error:
            raise InputError("graph.routing", raw[:60], f"JSON ({error})") from error
    if isinstance(raw, str):
        return {"rule": raw}
    if not isinstance(raw, dict):
        raise InputError("graph.routing", raw, f"{_ACCEPTED}, or an object with rule, paths and tables")
    return raw


def _paths(raw: Any, kinds: Mapping[str, str], steps: set[Pair]) -> dict[Pair, tuple[str, ...]]:
    if not isinstance(raw, list):
        raise InputError("graph.routing.paths", raw, "a list of paths, each a list of names of nodes")
    found: dict[Pair, tuple[str, ...]] = {}
    for number, each in enumerate(raw):
        where = f"graph.routing.paths[{number}]"
        path = _path(each, where, kinds, steps)
        if (path[0], path[-1]) in found:
            raise InputError(where, list(path), f"one path from {path[0]} to {path[-1]}")
        found[path[0], path[-1]] = path
    for path in list(found.values()):
        back = path[::-1]
        if (back[0], back[-1]) not in found and steps.issuperset(pairwise(back)):
            found[back[0], back[-1]] = back
    return found


def _path(raw: Any, where: str, kinds: Mapping[str, str], steps: set[Pair]) -> tuple[str, ...]:
    if not isinstance(raw, list) or len(raw) < 2 or not all(isinstance(name, str) for name in raw):
        raise InputError(where, raw, "the names of the nodes on the way, two at least")
    for name in raw:
        wanted = "compute" if name in (raw[0], raw[-1]) else "network"
        if kinds.get(name) != wanted:
            raise InputError(where, name, "network nodes between two compute nodes")
    if len(set(raw)) < len(raw):
        raise InputError(where, raw, "each node once")
    for step in pairwise(raw):
        if step not in steps:
            raise InputError(where, f"{step[0]} - {step[1]}", "a link from each node to the next")
    return tuple(raw)


def _tables(raw: Any, kinds: Mapping[str, str], steps: set[Pair]) -> dict[str, dict[str, str]]:
    if not isinstance(raw, dict) or not all(isinstance(table, dict) for table in raw.values()):
        raise InputError("graph.routing.tables", raw, "of each network node an object: target to next node")
    for name, table in raw.items():
        if kinds.get(name) != "network":
            raise InputError("a key of graph.routing.tables", name, "the id of a network node")
        where = f"graph.routing.tables.{name}"
        for target, following in table.items():
            if kinds.get(target) != "compute":
                raise InputError(f"a key of {where}", target, "the id of a compute node")
            if not isinstance(following, str) or (name, following) not in steps:
                raise InputError(f"{where}.{target}", following, f"a node that a link from {name} leads to")
            if following != target and kinds[following] != "network":
                raise InputError(f"{where}.{target}", following, "the target or a network node")
    targets = {target for table in raw.values() for target in table}
    for target in sorted(targets):
        circle = _circle(lambda name: raw.get(name, {}).get(target), raw)  # noqa: B023
        if circle:
            raise InputError(
                "graph.routing.tables", " - ".join(circle), f"tables that lead to {target}, not in a circle"
            )
    return raw


def _circle(following: Callable[[str], str | None], names: Iterable[str]) -> list[str]:
    """The first circle that following the tables leads into; empty without one. O(names)."""
    done: set[str] = set()
    for start in names:
        way: dict[str, int] = {}
        here: str | None = start
        while here is not None and here not in done:
            if here in way:
                return list(way)[way[here] :]
            way[here] = len(way)
            here = following(here)
        done.update(way)
    return []

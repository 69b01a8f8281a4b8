"""Our own topology files as drafts: every entry is looked at, also after the first one that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from gridportal import bounded_json
from gridportal.errors import InputError
from monitoring.core.importers.draft import Draft, Wire
from monitoring.core.topology import Kind, Node, parse_link, parse_node


def draft(text: str, name: str) -> Draft:
    """The draft of a node-link document (monitoring.core.topology has the format)."""
    found = Draft(name)
    try:
        document = bounded_json.loads(text)
    except bounded_json.UnreadableError as error:
        found.problems.append(InputError(name, text.strip()[:40], f"JSON ({error})"))
        return found
    links = document.get("links", document.get("edges")) if isinstance(document, dict) else None
    if links is None or not isinstance(document.get("nodes"), list) or not isinstance(links, list):
        found.problems.append(InputError(name, text.strip()[:40], "an object with the lists nodes and links"))
        return found
    _graph(document, found)
    known: dict[str, Node] = {}
    for at, raw in enumerate(document["nodes"]):
        _node(raw, at, known, found)
    found.nodes = list(known.values())
    for at, raw in enumerate(links):
        _link(raw, at, known, found)
    return found


def _graph(document: Mapping[str, Any], found: Draft) -> None:
    graph = document.get("graph") or {}
    kind = graph.get("kind", "links") if isinstance(graph, dict) else graph
    if kind in get_args(Kind):
        found.kind = cast(Kind, kind)
    else:
        found.problems.append(InputError("graph.kind", kind, "links or pairs"))
    if isinstance(graph, dict):
        found.name = str(graph.get("name", found.name))
    found.directed = bool(document.get("directed", False))


def _node(raw: Any, at: int, known: dict[str, Node], found: Draft) -> None:
    try:
        node = parse_node(raw, at)
    except InputError as error:
        found.problems.append(error)
        return
    if node.id in known:
        found.problems.append(InputError(f"nodes[{at}].id", node.id, "a name that no other node has"))
        return
    known[node.id] = node


def _link(raw: Any, at: int, known: Mapping[str, Node], found: Draft) -> None:
    """A link without figures is a wire without a capacity; whether that will do is for the check to say."""
    bare = isinstance(raw, dict) and raw.get("capacity") is None and raw.get("bandwidth") is None
    try:
        link = parse_link({**raw, "capacity": 1.0} if bare else raw, at, known)
    except InputError as error:
        found.problems.append(error)
        return
    where = f"links[{at}]"
    if link.bandwidth > link.capacity:
        least = f"at most the capacity, {link.capacity:g}"
        found.problems.append(InputError(f"{where}.bandwidth", link.bandwidth, least))
        return
    capacity, bandwidth = (None, None) if bare else (link.capacity, link.bandwidth)
    found.wires.append(Wire(link.source, link.target, where, capacity, bandwidth, link.latency, link.used))

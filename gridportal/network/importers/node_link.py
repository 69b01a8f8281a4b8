"""Our own topology files as drafts: every entry is looked at, also after the first one that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.network import large_files
from gridportal.network.importers.draft import Draft, Wire
from gridportal.network.link_table import LinkTable
from gridportal.network.node_checks import check_kinds
from gridportal.network.topology import Node, links_of, parse_head, parse_link, parse_node, rules_of


def draft(text: str, name: str) -> Draft:
    """The draft of a node-link document (gridportal.network.topology has the format)."""
    result = Draft(name)
    large = large_files.read_text(text, name)
    if large is not None and isinstance(large.links, LinkTable):
        return Draft(large.name, list(large.nodes), [], large.directed, large.kind, table=large.links)
    try:
        document = bounded_json.loads(text)
    except bounded_json.UnreadableError as error:
        result.problems.append(InputError(name, text.strip()[:40], f"JSON ({error})"))
        return result
    links = links_of(document) if isinstance(document, dict) else None
    if links is None or not isinstance(document.get("nodes"), list) or not isinstance(links, list):
        result.problems.append(InputError(name, text.strip()[:40], "an object with the lists nodes and links"))
        return result
    read_document(document, result, lambda part, at, _: f"{part}[{at}]")
    return result


def read_document(document: Mapping[str, Any], into: Draft, where: Callable[[str, int, Any], str]) -> None:
    """Fill the draft from a document with the lists nodes and links; `where` says how sentences call an entry: by
    its list, its place in that, and itself."""
    try:
        into.name, into.kind, into.directed = parse_head(document, into.name)
        into.routing = rules_of(document)
        check_kinds(document["nodes"], lambda at, raw: where("nodes", at, raw))
    except InputError as error:
        into.problems.append(error)
    nodes_by_id: dict[str, Node] = {}
    for at, raw in enumerate(document["nodes"]):
        _node(raw, where("nodes", at, raw), nodes_by_id, into)
    into.nodes = list(nodes_by_id.values())
    for at, raw in enumerate(links_of(document)):
        _link(raw, where("links", at, raw), nodes_by_id, into)


def _node(raw: Any, where: str, nodes_by_id: dict[str, Node], into: Draft) -> None:
    try:
        node = parse_node(raw, where)
    except InputError as error:
        into.problems.append(error)
        return
    if node.id in nodes_by_id:
        into.problems.append(InputError(f"{where}.id", node.id, "a name that no other node has"))
        return
    nodes_by_id[node.id] = node


def _link(raw: Any, where: str, nodes_by_id: Mapping[str, Node], into: Draft) -> None:
    """A link without figures is a wire without a capacity; whether that will do is for the check to say."""
    bare = isinstance(raw, dict) and raw.get("capacity") is None and raw.get("bandwidth") is None
    try:
        link = parse_link({**raw, "capacity": 1.0} if bare else raw, where, nodes_by_id)
    except InputError as error:
        into.problems.append(error)
        return
    capacity, bandwidth = (None, None) if bare else (link.capacity, link.bandwidth)
    into.wires.append(Wire(link.source, link.target, where, capacity, bandwidth, link.latency, link.used))

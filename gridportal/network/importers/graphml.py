"""GraphML, which networkx and most drawing programs read and write, with the attributes of a topology file."""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from gridportal.base.errors import InputError
from gridportal.network.importers.draft import Draft
from gridportal.network.importers.node_link import read_document
from gridportal.network.topology import Topology, node_link

if TYPE_CHECKING:
    import networkx as nx

_SPACE = "{http://graphml.graphdrawing.org/xmlns}"
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What networkx lets through of files that are XML and no good GraphML.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


def draft(text: str, name: str) -> Draft:
    """The draft of a GraphML file: nodes and edges have the attributes that topology files give them."""
    result = Draft(name)
    try:
        document = node_link(_graph(text.lstrip("\ufeff"), name))
    except InputError as error:
        result.problems.append(error)
        return result
    read_document(document, result, _where)
    return result


def dumps(topology: Topology) -> str:
    """The GraphML text of a topology. Raises InputError for a label that XML cannot hold.

    >>> from gridportal.network.topology import parse
    >>> 'id="n1"' in dumps(parse({"nodes": [{"id": "n1"}], "links": []}))
    True
    """
    import networkx as nx

    labels = [text for node in topology.nodes for label in node.labels.items() for text in label]
    for text in (topology.name, *labels):
        if _NOT_XML.search(text):
            raise InputError("a label", text, "text without control characters, which XML cannot hold")
    graph = topology.to_networkx()
    if topology.routing.is_fixed:
        graph.graph["routing"] = json.dumps(topology.routing.document())
    return "\n".join(nx.generate_graphml(graph, named_key_ids=True))


def _graph(text: str, name: str) -> nx.Graph[str]:
    """The first graph of the file. Raises InputError."""
    import networkx as nx

    if "<!ENTITY" in text:  # a few of these can stand for gigabytes
        raise InputError(name, "<!ENTITY", "GraphML without entities of its own")
    try:
        _check_names(ElementTree.fromstring(text))  # noqa: S314
        with warnings.catch_warnings(action="ignore"):  # ports and keys without a type: of no use here
            return nx.parse_graphml(text)
    except ElementTree.ParseError as error:
        raise InputError(name, text.strip()[:40], f"GraphML ({error})") from error
    except (nx.NetworkXError, *_UNREADABLE) as error:
        raise InputError(name, text.strip()[:40], f"GraphML that networkx reads ({error})") from error


def _check_names(root: ElementTree.Element) -> None:
    """networkx takes a second node of one name for the first, and makes nodes that only edges name."""
    names = Counter(node.get("id", "") for node in root.iter(f"{_SPACE}node"))
    for name, times in names.items():
        if times > 1 or not name:
            raise InputError("node id", name, "a name that no other node has")
    for edge in root.iter(f"{_SPACE}edge"):
        for end in ("source", "target"):
            if edge.get(end) not in names:
                raise InputError(f"edge {end}", edge.get(end), "the id of a node in the file")


def _where(part: str, at: int, raw: Any) -> str:
    """Edges have no order that a reader of the file would find, so they are called by their ends."""
    return f"node {raw['id']}" if part == "nodes" else f"edge {raw['source']} - {raw['target']}"

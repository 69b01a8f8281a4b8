"""Ads of the nodes of a topology, so that requests are matched with what the portal measures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gridportal.network.link_columns import link_columns
from gridportal.network.narrowest import bandwidth, narrowest
from gridportal.network.routes import Routes
from gridportal.network.topology import Node, Topology
from scheduling.matching.core.language.ad_syntax import Attribute, Literal, Record
from scheduling.matching.core.language.ad_writer import AdWriter
from scheduling.matching.core.mapping.line_mapper import pair_key

#: Machines between which a mapper is told all bandwidths.
MOST_MEASURED = 500
_GIB = 2**30


def topology_ads(topology: Topology) -> str:
    """An ad for each compute node, as text: `machine`; `cpu`, the free part of a processor; `speed`, relative to the
    reference; `cpuspeed`, their product; `bandwidth`, bit/s free on its best link; `memory` in bytes where there is a
    label mem_gb; and each label, as a number where it is one.

    >>> from gridportal.network.topology import parse
    >>> node = {"id": "n1", "cpu": 0.5, "site": "utk", "mem_gb": 16}
    >>> print(topology_ads(parse({"nodes": [node], "links": []})))
    [site="utk";mem_gb=16;memory=17179869184;machine="n1";cpu=0.5;speed=1.0;cpuspeed=0.5;bandwidth=0.0]
    """
    write = AdWriter().ad
    return "\n".join(write(record) for record in node_records(topology).values())


def node_records(topology: Topology) -> dict[str, Record]:
    """The same as values, by the names of the nodes."""
    links = link_columns(topology)
    best = np.zeros(len(topology.nodes))
    for ends in (links.source, links.target):
        np.maximum.at(best, ends, links.bandwidth)
    of_compute = best[links.compute].tolist()
    return {node.id: _ad(node, rate) for node, rate in zip(topology.compute_nodes(), of_compute, strict=True)}


def _ad(node: Node, rate: float) -> Record:
    values: dict[str, int | float | str] = {key: _typed(text) for key, text in node.labels.items() if _is_name(key)}
    memory = values.get("mem_gb")
    if isinstance(memory, int | float):
        values.setdefault("memory", int(memory * _GIB))
    values |= {"machine": node.id, "cpu": node.cpu, "speed": node.speed, "cpuspeed": node.effective_cpu}
    values["bandwidth"] = rate
    return Record({key.lower(): Attribute(key, Literal(value)) for key, value in values.items()})


def _typed(text: str) -> int | float | str:
    """A label as a number where it is one."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if abs(value) < 2**62 and math.isfinite(value):
            return value
    return "".join(letter for letter in text if letter.isprintable())


def _is_name(key: str) -> bool:
    """Whether an attribute can be called so, in quotes or without."""
    return bool(key) and key.isprintable() and not set(key) & set("'\\") and key.lower() != "requirements"


def bandwidths_between(topology: Topology, machines: Sequence[str]) -> dict[str, float]:
    """Bit/s between each two of the machines, by `pair_key` of their places, in the narrower direction. Of too many
    machines none."""
    if len(machines) > MOST_MEASURED:
        return {}
    rates = narrowest(Routes(topology), list(machines), bandwidth)
    rates = np.minimum(rates, rates.T)
    return {
        pair_key(first, second): float(rates[first, second])
        for second in range(len(machines))
        for first in range(second)
        if math.isfinite(rates[first, second])
    }

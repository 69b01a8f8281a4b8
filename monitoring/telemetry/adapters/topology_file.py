"""Topology files on disk: our own, GraphML, Slurm's topology.conf, the output of ibnetdiscover, and those that are
shipped."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.network import importers, large_files
from gridportal.network.importers import Imported
from gridportal.network.topology import Topology, parse
from gridportal.testbed import topologies


def load(name: str, *, capacity: float | None = None) -> Topology:
    """The topology in a file, or the shipped one of that name. Raises InputError, or ImpossibleError with the first
    thing that is wrong with the file; `capacity` in bit/s is for links that have none."""
    path = _find(name)
    large = large_files.read(path, path.stem)
    if large is not None:
        return large
    text = bounded_json.text(path, "topology")
    if importers.format_of(text) == "node-link":  # may have parts without a way to each other: selection copes
        return parse(bounded_json.load(path, "topology", "a readable node-link JSON file"), name=path.stem)
    return importers.read(text, path.stem, capacity=capacity).believed()


def examine(name: str, *, nodes: Collection[str] | None = None, capacity: float | None = None) -> Imported:
    """Everything that is wrong with a topology file. Raises InputError for one that cannot be read at all."""
    path = _find(name)
    return importers.read(bounded_json.text(path, "topology"), path.stem, nodes=nodes, capacity=capacity)


def _find(name: str) -> Path:
    if bounded_json.is_there(name):
        return Path(name)
    shipped = topologies.names()
    if name in shipped:
        return topologies.find(name)
    raise InputError("topology", name, "a topology file" + "".join(f" or {each}" for each in shipped))

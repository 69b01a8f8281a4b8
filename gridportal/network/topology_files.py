"""Topology files, small and large."""

from __future__ import annotations

from pathlib import Path

from gridportal.base import bounded_json
from gridportal.network.topology import Topology, parse


def load(path: str | Path) -> Topology:
    """Read a topology file. Raises InputError that names the file and the entry that is wrong."""
    from gridportal.network import large_files  # numpy and msgspec, which most commands need not wait for

    large = large_files.read(Path(path), Path(path).stem)
    if large is not None:
        return large
    document = bounded_json.load(path, "topology", "a readable node-link JSON file")
    return parse(document, name=Path(path).stem)

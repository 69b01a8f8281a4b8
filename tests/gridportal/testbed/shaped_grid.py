"""A Grid of nodes whose paths have rates, for tests of what runs on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from tests.gridportal.testbed.networks import crossbar


@contextmanager
def shaped_grid(folder: Path, rates: Mapping[tuple[str, str], float]) -> Iterator[Grid]:
    """A Grid of pairs with `rates` in Mbit/s, with its files in the empty `folder`; skips where none can be shaped."""
    mode, why = machine.choose()
    if mode == "unshaped":
        pytest.skip(str(why))
    topology, root = folder / "pairs.json", folder / "grid"
    topology.write_text(json.dumps(crossbar(dict(rates))), encoding="utf-8")
    launch.up(topology, root, with_parent=True)
    try:
        yield Grid(root)
    finally:
        Grid(root).down()

"""Grids for tests: real ones from namespaces, and ones without, each with a state directory of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid

WAIT = 60.0


def eventually(condition: Callable[[], Any], what: str) -> Any:
    """The first true answer of `condition`; fails when there is none for WAIT seconds."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if answer := condition():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"waited {WAIT:g} s in vain for {what}")


def ended(grid: Grid, key: str) -> dict[str, Any]:
    """The run's last state, once it is no longer running."""
    return eventually(
        lambda: state if (state := grid.poll([key])[key])["state"] != "running" else None, f"the end of {key}"
    )


def need_namespaces() -> None:
    """Skip where this machine permits no namespaces."""
    mode, why = machine.choose()
    if mode == "unshaped":
        pytest.skip(str(why))


@pytest.fixture(scope="package")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """crossbar10, shared by the tests that leave it as they found it."""
    need_namespaces()
    root = tmp_path_factory.mktemp("crossbar10")
    launch.up("crossbar10", root, with_parent=True)
    yield Grid(root)
    Grid(root).down()


@pytest.fixture(scope="package")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """The same nodes without namespaces, as on machines that permit none."""
    root = tmp_path_factory.mktemp("plain")
    launch.up("crossbar10", root, mode="unshaped", with_parent=True)
    yield Grid(root)
    Grid(root).down()


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Callable[..., Grid]]:
    """up(document) builds a Grid from a node-link document, and takes it down after the test."""
    grids: list[Grid] = []

    def build(document: dict[str, Any]) -> Grid:
        need_namespaces()
        file = tmp_path / f"topology-{len(grids)}.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        root = tmp_path / f"grid-{len(grids)}"
        grids.append(Grid(root))
        launch.up(file, root, with_parent=True)
        return grids[-1]

    yield build
    for grid in grids:
        grid.down()

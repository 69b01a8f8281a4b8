"""Grids for tests: real ones from namespaces, and ones without, each with a state directory of its own; and what
hostile jobs on them are written with."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from tests.gridportal.testbed import keys
from tests.gridportal.testbed.networks import few_nodes
from tests.waiting import looks

WAIT = 60.0
MODES = ("root", "user-namespaces", "unshaped")
#: Prints why a step was refused, or what it got; each step of a hostile job is one call.
ATTEMPT = """
import ctypes, os, signal, socket, subprocess, sys
LIBC = ctypes.CDLL(None, use_errno=True)
def attempt(step):
    try:
        print("got", step())
    except (OSError, subprocess.SubprocessError) as error:
        print("refused", type(error).__name__)
def read(path):
    with open(path, "rb") as file:
        return file.read(100)
def call(name, *arguments):
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
def connect(path):
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(path)
"""


def eventually(condition: Callable[[], Any], what: str, least: float = 0.05) -> Any:
    """The first true answer of `condition`; fails when there is none for WAIT seconds."""
    for _ in looks(WAIT, least=least):
        if answer := condition():
            return answer
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


@dataclass
class House:
    """A portal's home with a Grid in it."""

    home: Path
    grid: Grid
    mode: str
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(1000)))

    def start(
        self, script: str, owner: str = "mallory", nodes: tuple[str, ...] = ("n1",), memory_per_rank: int | None = None
    ) -> tuple[str, Path]:
        """Submit `script`; its key and its run directory."""
        key = f"run-{next(self.numbers)}"
        folder = self.home / "runs" / key
        folder.mkdir(parents=True)
        self.grid.submit(key, script, list(nodes), str(folder), owner=owner, memory_per_rank=memory_per_rank)
        return key, folder

    def run(self, script: str, **how: Any) -> list[str]:
        """Its output, line by line, once it has ended."""
        key, folder = self.start(script, **how)
        state = ended(self.grid, key)
        assert state["reason"] == "", state
        return (folder / "output.log").read_text(errors="replace").splitlines()

    def attempts(self, steps: list[str], **how: Any) -> list[str]:
        """What became of each step, an expression of Python."""
        body = ATTEMPT + "".join(f"attempt(lambda: {step})\n" for step in steps)
        return self.run(f"exec {sys.executable} - <<'END'\n{body}END\n", **how)

    def refuses(self, steps: list[str], **how: Any) -> None:
        """No step gets anything."""
        said = self.attempts(steps, **how)
        assert len(said) == len(steps), said
        assert {line.split()[0] for line in said} == {"refused"}, dict(zip(steps, said, strict=True))


@pytest.fixture(scope="module", params=MODES)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("not root")
    if request.param != "unshaped":
        need_namespaces()
    if request.param == "user-namespaces" and machine.refusal(request.param):
        pytest.skip("no user namespaces here")
    keys.put_into_session(keys.STARTERS, b"hush")
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("GRIDPORTAL_HOME", str(home))
        for name in ("secret_key", "db.sqlite3"):
            (home / name).write_text("hush")
            (home / name).chmod(0o600)
        state = home / "grid"
        launch.up(few_nodes(home, 4), state, mode=request.param, with_parent=True)
        yield House(home, Grid(state), request.param)
        Grid(state).down()

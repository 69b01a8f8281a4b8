"""The program of the tests in C, with the launcher of its MPI."""

from __future__ import annotations

import json
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.gridportal.runtime.srs.conftest import Compiled
from tests.scheduling.profiles.tracing.conftest import LAUNCHERS, MPICH

#: Each test with one of them, the next with the other; all with both under `make test-slow`.
BOTH = [
    pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"]),
    pytest.mark.in_turn("mpicc"),
]


class Program:
    """`more` words: nodes, seconds and calls between checkpoints, 1 for the foreground, a file for its steps."""

    def __init__(self, mpicc: str, compiled: Compiled) -> None:
        self.words = [*LAUNCHERS[mpicc], "-n"]
        self.path = compiled(mpicc, "stoppable.c")

    def start(
        self,
        ranks: int,
        folder: Path,
        layout: str,
        shape: str,
        steps: int,
        stop_at: int = 0,
        pause: float = 0.0,
        *more: Any,
    ) -> subprocess.Popen[str]:
        asked = (folder, layout, shape, steps, stop_at, pause, self.output(folder), *more)
        words = [*self.words, str(ranks), str(self.path), *map(str, asked)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *asked: Any) -> dict[str, Any]:
        return self.ended(self.start(*asked), asked[1])

    @staticmethod
    def output(folder: Path) -> Path:
        return folder.with_name(f"{folder.name}.whole")

    def ended(self, process: subprocess.Popen[str], folder: Path) -> dict[str, Any]:
        output, errors = process.communicate(timeout=240)
        assert process.returncode == 0, output + errors
        document: dict[str, Any] = json.loads(output)
        return {**document, "sum": zlib.crc32(self.output(folder).read_bytes()), "errors": errors}


def ranks_of(program: Path, folder: Path) -> list[int]:
    """The processes of the program that works in this folder, but its launcher and what passes its words on."""
    ranks = []
    for entry in Path("/proc").iterdir():
        try:
            argv = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if argv[:2] == [str(program).encode(), str(folder).encode()]:
            ranks.append(int(entry.name))
    return sorted(ranks)

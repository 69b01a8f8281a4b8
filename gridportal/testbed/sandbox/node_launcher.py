"""The launcher that a run finds at its door: a small C program where there is a compiler, else one in Python."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from gridportal.base.errors import ShellError
from gridportal.testbed.sandbox import enter_node
from gridportal.testbed.sandbox.order import DOOR
from gridportal.testbed.spawn import Spawner

LAUNCHER = "enter-node"
_SOURCE = Path(__file__).with_name("enter-node.c")
_PYTHON = '#!/bin/sh\nexec {python} -I -S -E {door}/enter_node.py "$@"\n'
_COMPILING = 60.0


async def build(folder: Path, spawner: Spawner) -> Path | None:
    """The C program, compiled into `folder`; None where that cannot be."""
    compiler = shutil.which("cc")
    program = folder / "enter-node.bin"
    if compiler is None:
        return None
    try:
        code, _ = await spawner.run([compiler, "-O1", "-o", str(program), str(_SOURCE)], _COMPILING)
    except ShellError:
        return None
    return program if code == 0 else None


def put(program: Path | None, folder: Path) -> None:
    """Lay the launcher into `folder`: `program`, or the one in Python where that is None."""
    launcher = folder / LAUNCHER
    if program is not None:
        shutil.copy(program, launcher)
        return
    shutil.copy(Path(enter_node.__file__), folder / "enter_node.py")
    launcher.write_text(_PYTHON.format(python=shlex.quote(sys.executable), door=DOOR), encoding="utf-8")

"""The launcher that a run finds at its door: a small C program where there is a compiler, else one in Python."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from gridportal.base import compiled_c
from gridportal.base.errors import ShellError
from gridportal.testbed.sandbox import enter_node
from gridportal.testbed.sandbox.order import DOOR

LAUNCHER = "enter-node"
_SOURCE = Path(__file__).with_name("enter-node.c")
_FLAGS = ("-O1",)
_PYTHON = '#!/bin/sh\nexec {python} -I -S -E {door}/enter_node.py "$@"\n'


def build(folder: Path) -> Path | None:
    """The C program in `folder`; None where that cannot be."""
    program = folder / "enter-node.bin"
    try:
        compiled_c.put(program, [_SOURCE], _FLAGS)
    except (OSError, ShellError):
        return None
    return program


def put(program: Path | None, folder: Path) -> None:
    """Lay the launcher into `folder`: `program`, or the one in Python where that is None."""
    launcher = folder / LAUNCHER
    if program is not None:
        shutil.copy(program, launcher)
        return
    shutil.copy(Path(enter_node.__file__), folder / "enter_node.py")
    launcher.write_text(_PYTHON.format(python=shlex.quote(sys.executable), door=DOOR), encoding="utf-8")

"""What lets ranks of the Grid sleep while they wait for messages: a small library that their programs load first.

Nodes have a part of a processor, dealt out in periods. MPICH and Open MPI look for messages over and over; without the
library a rank spends its part on looking. See docs/decisions/waiting-ranks.md.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from gridportal.testbed.state import State

_SOURCE = Path(__file__).with_name("waiting-ranks.c")
_WORDS = ("-O2", "-fPIC", "-shared")
_COMPILING = 60.0


def build(state: State) -> None:
    """Compile it beside the launcher of `state`; where that cannot be, programs run without, and the log says so."""
    compiler, library = shutil.which("cc"), state.root / state.waiting.name
    problem = "there is no C compiler (cc)" if compiler is None else _problem(compiler, library)
    if problem:
        library.unlink(missing_ok=True)
        sys.stderr.write(f"Ranks use their node's processor while they wait: {problem}.\n")
        return
    if state.waiting != library:
        state.waiting.unlink(missing_ok=True)
        state.waiting.symlink_to(library)


def put(state: State, folder: Path) -> None:
    """Lay it into the `folder` that a run sees, if there is one."""
    if state.waiting.exists():
        shutil.copy(state.waiting, folder / state.waiting.name)


def _problem(compiler: str, library: Path) -> str:
    words = [compiler, *_WORDS, "-o", str(library), str(_SOURCE)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_COMPILING, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{compiler} could not be run ({error})"
    return "" if done.returncode == 0 else f"{compiler} said {done.stderr.strip()[-300:] or done.returncode}"

"""What lets ranks of the Grid sleep while they wait for messages: a small library that their programs load first.

Nodes have a part of a processor, dealt out in periods. MPICH and Open MPI look for messages over and over; without the
library a rank spends its part on looking. See docs/decisions/waiting-ranks.md.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from gridportal.base import compiled_c
from gridportal.base.errors import ShellError
from gridportal.testbed.state import State

_SOURCE = Path(__file__).with_name("waiting-ranks.c")
_FLAGS = ("-O2", "-fPIC", "-shared")


def build(state: State) -> None:
    """Lay it beside the launcher of `state`; where that cannot be, programs run without, and the log says so."""
    library = state.root / state.waiting.name
    try:
        compiled_c.put(library, [_SOURCE], _FLAGS)
    except (OSError, ShellError) as error:
        library.unlink(missing_ok=True)
        sys.stderr.write(f"Ranks use their node's processor while they wait: {error}\n")
        return
    if state.waiting != library:
        state.waiting.unlink(missing_ok=True)
        state.waiting.symlink_to(library)


def put(state: State, folder: Path) -> None:
    """Lay it into the `folder` that a run sees, if there is one."""
    if state.waiting.exists():
        shutil.copy(state.waiting, folder / state.waiting.name)

"""How the script of a run is started by hand where there is no Slurm: a comment behind its first line."""

from __future__ import annotations

import shlex
from pathlib import Path

from gridportal.base.batch_system import RunSpec
from gridportal.base.run_files import RUN_DIR_VARIABLE

_USUAL = 3600.0
_GRID = """\
# By hand, on the Grid: {command}
# It starts its ranks from the node of rank 0, and leaves its files where {variable} says.
"""
_LOCAL = """\
# By hand: bash FILE. It leaves its files where {variable} says.
"""


def on_grid(spec: RunSpec, state_dir: Path) -> str:
    """The script, and how the Grid in `state_dir` runs it.

    >>> spec = RunSpec("k", "#!/bin/bash\\nhostname\\n", ("n3", "n1"), "/r", 60.0)
    >>> on_grid(spec, Path("/grid")).splitlines()[1]
    '# By hand, on the Grid: gridportal testbed run --state-dir /grid --timeout 60 n3 -- bash /path/to/FILE'
    """
    words = ["gridportal", "testbed", "run", "--state-dir", str(state_dir)]
    words += ["--timeout", f"{spec.time_limit or _USUAL:g}", spec.nodes[0], "--", "bash", "/path/to/FILE"]
    return _behind_first_line(spec.script, _GRID, shlex.join(words))


def on_this_machine(spec: RunSpec) -> str:
    """The script, and that a shell runs it."""
    return _behind_first_line(spec.script, _LOCAL)


def _behind_first_line(script: str, comment: str, command: str = "") -> str:
    first, _, rest = script.partition("\n")
    return f"{first}\n{comment.format(command=command, variable=RUN_DIR_VARIABLE)}{rest}"

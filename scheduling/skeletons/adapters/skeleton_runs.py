"""Skeletons run from the command line: on this machine, or on nodes of the emulated Grid."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gridportal.base import bounded_json
from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.testbed.client import Grid
from gridportal.testbed.state import default_directory
from scheduling.runs.adapters.recorder import beside_python

_MODULE = "gridportal.runtime.skeleton"
_CALIBRATION = 60.0


def rate() -> float:
    """Units of work for each cpu second of this machine; see gridportal.runtime.work."""
    done = shell.run([sys.executable, "-m", "gridportal.runtime.work"], timeout=_CALIBRATION)
    return float(done.stdout)


def here(file: Path, ranks: int, timeout: float) -> dict[str, Any]:
    """Run the skeleton in `file` on this machine; what it printed. Raises BackendError when it fails."""
    command = [beside_python("mpiexec"), "-n", str(ranks), sys.executable, "-m", _MODULE, str(file)]
    done = shell.run(command, timeout=timeout, check=False)
    return _result(done.stdout, done.stdout + done.stderr, done.returncode)


def on_grid(file: Path, nodes: list[str], state: Path | None, timeout: float) -> dict[str, Any]:
    """The same on `nodes` of the emulated Grid whose state directory is `state`."""
    grid = Grid(state or default_directory())
    command = ["mpiexec", "-n", str(len(nodes)), sys.executable, "-m", _MODULE, str(file)]
    done = grid.run(nodes, command, timeout)[0]
    return _result(done["output"], done["output"], done["exit_code"])


def _result(output: str, everything: str, code: int | None) -> dict[str, Any]:
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if code != 0 or not lines:
        how = "was ended by its time limit" if code is None else f"ended with {code}"
        raise BackendError(f"The skeleton {how}: {' '.join(everything.split())[-300:] or 'it printed nothing'}")
    try:
        document: dict[str, Any] = bounded_json.loads(lines[-1])
    except bounded_json.UnreadableError as error:
        raise BackendError(f"What the skeleton printed cannot be read: {error}.") from error
    return document

"""Skeletons run from the command line: on this machine, or on nodes of the emulated Grid, by either player."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gridportal.base import bounded_json, rank_order, run_directory, run_files
from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.runtime import player_times
from gridportal.runtime.prediction import executions, prediction
from gridportal.runtime.skeleton_check import runnable
from gridportal.testbed.client import Grid
from gridportal.testbed.state import default_directory
from scheduling.jobs.core import parameters
from scheduling.jobs.core.launcher import check_launcher
from scheduling.profiles.adapters import traffic_watch
from scheduling.runs.adapters import player as players
from scheduling.runs.adapters.mpi_build import beside_python
from scheduling.skeletons.core.skeleton.player_plan import plan

_MODULE = "gridportal.runtime.skeleton"
_CALIBRATION = 60.0
_LAUNCHER = ("mpiexec", "-n", "{ranks}")


@dataclass(frozen=True, slots=True)
class Player:
    """The player in C: the compiler of the application's MPI, and the application's own launcher and environment.

    `launcher`: the words before the program, with {ranks}, {hosts}, {hostfile}, {run_dir}; none: `mpiexec -n {ranks}`.
    `cache`: where built players are kept; none: in the home.
    """

    mpicc: str
    launcher: tuple[str, ...] = _LAUNCHER
    environment: Mapping[str, str] = field(default_factory=dict)
    cache: Path | None = None

    def program(self) -> Path:
        """The program, built if it is not there. Raises InputError where there is no such compiler."""
        return players.built(self.mpicc, self.cache or default_directory().parent / "player")


def rate() -> float:
    """Units of work for each cpu second of this machine; see gridportal.runtime.work."""
    done = shell.run([sys.executable, "-m", "gridportal.runtime.work"], timeout=_CALIBRATION)
    return float(done.stdout)


def here(file: Path, ranks: int, timeout: float, player: Player | None = None) -> dict[str, Any]:
    """Run the skeleton in `file` on this machine; what it found. Raises BackendError when it fails."""
    if player is not None:
        return _played(file, ["localhost"] * ranks, player, timeout, None)
    command = [beside_python("mpiexec"), "-n", str(ranks), sys.executable, "-m", _MODULE, str(file)]
    done = shell.run(command, timeout=timeout, check=False)
    return _result(done.stdout, done.stdout + done.stderr, done.returncode)


def on_grid(
    file: Path, nodes: list[str], state: Path | None, timeout: float, player: Player | None = None
) -> dict[str, Any]:
    """The same on `nodes` of the emulated Grid whose state directory is `state`. Without `player` Python plays it."""
    grid = Grid(state or default_directory())
    if player is not None:
        return _played(file, nodes, player, timeout, grid)
    command = ["mpiexec", "-n", str(len(nodes)), sys.executable, "-m", _MODULE, str(file)]
    done = grid.run(nodes, command, timeout)[0]
    return _result(done["output"], done["output"], done["exit_code"])


def outcome(document: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """What a skeleton says that was played in C in `directory`: as gridportal.runtime.prediction, the name of the MPI,
    and the longest MPI_Init in seconds. Raises BackendError and RunFileError."""
    ranks, runs = document["ranks"], len(executions(document["schedule"])[0])
    most = min(player_times.size(ranks, runs), player_times.MOST) + 1  # one more shows that it is longer
    part = run_directory.read_part(directory, run_files.SKELETON_TIMES, 0, most)
    played = player_times.read(part.data, ranks, runs)
    return {**prediction(document, played.ranks), "mpi": played.mpi, "init": played.init}


def plan_of(document: Mapping[str, Any], program: Path) -> str:
    """The plan that `program` plays, the player in C. It is calibrated here where the document does not say what work
    was where the trace was made. Raises BackendError and InputError."""
    work = document.get("player") or {"near": players.rate(program)}
    return plan(runnable(document), work["near"], work.get("touched", 0.0), work.get("region", 0.0))


def _played(file: Path, nodes: list[str], player: Player, timeout: float, grid: Grid | None) -> dict[str, Any]:
    document = runnable(bounded_json.load(file, "skeleton", "a readable JSON file"))
    program = player.program()
    with tempfile.TemporaryDirectory(prefix="gridportal-skeleton-") as name:
        folder = Path(name)
        folder.chmod(0o777)  # ranks on nodes may be other people
        (folder / run_files.SKELETON_PLAN).write_text(plan_of(document, program), encoding="utf-8")
        argv = _argv(player, nodes, folder, program)
        if grid is None:
            done = shell.run(argv, timeout=timeout, check=False)
            output, code = done.stdout + done.stderr, done.returncode
        else:
            ran = traffic_watch.once(grid, nodes, argv, timeout)[0]
            output, code = ran["output"], ran["exit_code"]
        if code != 0:
            raise _failed(output, code)
        return outcome(document, folder)


def _argv(player: Player, nodes: list[str], folder: Path, program: Path) -> list[str]:
    hosts = rank_order.write_hosts(folder, nodes)
    values: dict[str, parameters.Value] = {
        "ranks": len(nodes),
        "hosts": ",".join(nodes),
        "hostfile": str(hosts),
        "run_dir": str(folder),
    }
    launched = parameters.render(check_launcher(player.launcher or _LAUNCHER), values)
    variables = [f"{name}={value}" for name, value in sorted(player.environment.items())]
    files = [str(folder / run_files.SKELETON_PLAN), str(folder / run_files.SKELETON_TIMES)]
    return [*launched, *(["env", *variables] if variables else []), str(program), *files]


def _result(output: str, everything: str, code: int | None) -> dict[str, Any]:
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if code != 0 or not lines:
        raise _failed(everything, code)
    try:
        document: dict[str, Any] = bounded_json.loads(lines[-1])
    except bounded_json.UnreadableError as error:
        raise BackendError(f"What the skeleton printed cannot be read: {error}.") from error
    return document


def _failed(output: str, code: int | None) -> BackendError:
    how = "was ended by its time limit" if code is None else f"ended with {code}"
    return BackendError(f"The skeleton {how}: {' '.join(output.split())[-300:] or 'it printed nothing'}")

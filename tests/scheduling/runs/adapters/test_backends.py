"""One suite over every backend: the same verbs, the same words, whatever runs the runs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import run_directory
from gridportal.base.batch_system import Backend, BackendState, RunSpec, RunStatus
from gridportal.base.errors import BackendError
from gridportal.base.reasons import Code
from gridportal.base.traits import TRAITS
from gridportal.local.local_backend import LocalBackend
from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from scheduling.jobs.core.launcher import LAUNCHER
from scheduling.runs.adapters import grid as grid_adapter
from scheduling.runs.adapters.grid import GridBackend
from scheduling.runs.core.script import Script, render
from tests.waiting import looks


@pytest.fixture(scope="module", params=["shaped", "unshaped", "slurm", "local"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """The emulated Grid as it is built here, and as it is where namespaces are not permitted; a Slurm on its nodes;
    this machine."""
    root = tmp_path_factory.mktemp(f"backend-{request.param}")
    if request.param == "local":
        yield LocalBackend(root, slots=10)
        return
    if request.param == "slurm":
        try:
            place.check(machine.choose()[0], accounting=False)
        except BackendError as error:
            pytest.skip(str(error))
        launch.up("crossbar10", root, with_parent=True, slurm="slurm")
        info = Grid(root).slurm_info() or {}
        yield SlurmBackend(SlurmCommands(tuple(info["prefix"])))
    else:
        mode = {"mode": "unshaped"} if request.param == "unshaped" else {}
        launch.up("crossbar10", root, with_parent=True, **mode)
        yield grid_adapter.connect(root)
    Grid(root).down()


@pytest.fixture(scope="module")
def overdue(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> str:
    """On Slurm, which counts in minutes, a run of one minute that is told after a second that its minute is over."""
    if not isinstance(backend, SlurmBackend):
        return ""
    run_id = backend.submit(
        RunSpec("overdue", "#!/bin/bash\nsleep 200\n", ("n9",), str(tmp_path_factory.mktemp("late")), 1.0)
    )
    until(backend, run_id, BackendState.RUNNING)
    details = backend.details(run_id)
    assert details is not None
    assert details.extra["TimeLimit"] == "00:01:00"
    backend._write.ask(["scontrol", "update", f"JobId={run_id}", "EndTime=now+2"])
    return run_id


@pytest.fixture(autouse=True)
def early(overdue: str) -> None:
    """Slurm's clock runs while the other tests do."""


@pytest.fixture
def spec(tmp_path: Path, backend: Backend) -> Callable[..., RunSpec]:
    """spec("bash text"): a run of it on the second node, with its directory made."""

    def make(*argv: str, **fields: Any) -> RunSpec:
        key = f"run-{time.time_ns()}"
        directory = tmp_path / key
        nodes = (backend.nodes()[1].name,)
        kind = TRAITS[backend.name]
        own = () if kind.has_own_mpiexec else (str(Path(sys.executable).parent / "mpiexec"), *LAUNCHER[1:])
        script = render(Script(key, "random", nodes, argv, str(directory), launcher=own, host=kind.host))
        run_directory.prepare(directory, script)
        return replace(RunSpec(key, script, nodes, str(directory)), **fields)

    return make


def until_finished(backend: Backend, run_id: str, seconds: float = 120.0) -> RunStatus:
    return until(backend, run_id, BackendState.FINISHED, seconds)


def until(backend: Backend, run_id: str, state: BackendState, seconds: float = 120.0) -> RunStatus:
    for _ in looks(seconds):
        status = backend.poll([run_id])[run_id]
        if status.state is state:
            return status
    raise AssertionError(f"{run_id} did not become {state}: {status}")


pytestmark = pytest.mark.grid


def test_a_run_ends_with_its_programs_exit_code_and_record(backend: Backend, spec: Callable[..., RunSpec]) -> None:
    # MPICH's mpiexec tells the first rank's node that there is no input; a program that has ended before that, which a
    # busy machine makes of 3 in 1,000 that do nothing, is called ended by SIGPIPE. So this one takes its time.
    run = spec("bash", "-c", "echo here; sleep 1; exit 4")
    run_id = backend.submit(run)
    status = until_finished(backend, run_id)
    assert status.exit_code == 4
    assert status.started_at is not None
    assert status.ended_at is not None
    assert status.ended_at >= status.started_at
    record = run_directory.exit_record(Path(run.run_dir))
    assert record is not None
    assert record.exit_code == 4
    assert "here" in run_directory.read_part(Path(run.run_dir), "output.log", 0, 1000).data.decode()


def test_the_same_key_is_started_once(backend: Backend, spec: Callable[..., RunSpec]) -> None:
    run = spec("bash", "-c", 'echo once >> "$GRIDPORTAL_RUN_DIR/count"')
    ids = {backend.submit(run) for _ in range(3)}
    until_finished(backend, ids.pop())
    backend.submit(run)
    time.sleep(0.3)
    assert (Path(run.run_dir) / "count").read_text() == "once\n"


def test_what_was_never_submitted_is_unknown(backend: Backend) -> None:
    assert backend.poll(["never"]) == {"never": RunStatus(BackendState.UNKNOWN)}
    assert backend.poll([]) == {}


def test_a_cancelled_run_ends_and_cancelling_again_is_no_error(backend: Backend, spec: Callable[..., RunSpec]) -> None:
    run_id = backend.submit(spec("sleep", "100"))
    until(backend, run_id, BackendState.RUNNING)
    backend.cancel(run_id)
    assert until_finished(backend, run_id).exit_code != 0
    backend.cancel(run_id)


def test_its_nodes_have_names_and_addresses(backend: Backend) -> None:
    nodes = backend.nodes()
    assert len({node.name for node in nodes}) == 10
    assert all(node.hostname and node.address for node in nodes)


def test_a_node_that_there_is_not_is_refused(backend: Backend, spec: Callable[..., RunSpec]) -> None:
    with pytest.raises(Exception, match=r"n99|node name"):  # Slurm does not repeat the name
        backend.submit(replace(spec("true"), nodes=("n99",)))


def test_a_backend_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"^[^\n]+\.$"):
        grid_adapter.connect(tmp_path).poll(["x"])


def test_a_word_that_is_not_known_is_unknown_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Foreign:
        def poll(self, ids: list[str]) -> dict[str, dict[str, Any]]:
            return json.loads('{"r1": {"state": "hibernating"}}')

    answers = GridBackend(Foreign()).poll(["r1", "r2"])  # type: ignore[arg-type]
    assert {status.state for status in answers.values()} == {BackendState.UNKNOWN}
    assert "hibernating" in caplog.text


def test_a_run_of_the_grid_that_needed_more_memory_than_it_asked_for_says_so() -> None:
    class Full:
        def poll(self, ids: list[str]) -> dict[str, dict[str, Any]]:
            return {"r1": {"state": "finished", "exit_code": 137, "cause": "out_of_memory", "reason": "It was ended."}}

    assert GridBackend(Full()).poll(["r1"])["r1"].cause is Code.OUT_OF_MEMORY  # type: ignore[arg-type]


def test_a_time_limit_ends_a_run_and_is_named(backend: Backend, spec: Callable[..., RunSpec], overdue: str) -> None:
    # Of a run that is late from the start slurmctld, which looks twice a minute, may know already.
    run_id = overdue or backend.submit(spec("sleep", "200", time_limit=1.0))
    assert until_finished(backend, run_id, 60.0).cause in (Code.OVER_TIME_LIMIT, Code.TIMED_OUT)

"""Runs on this machine: each begins once and ends as a whole, whoever is killed, and whether the portal is there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gridportal.base import run_directory
from gridportal.base.batch_system import BackendState, RunSpec, RunStatus
from gridportal.base.errors import BackendError, InputError
from gridportal.base.reasons import Code
from gridportal.local.descendants import descendants
from gridportal.local.local_backend import LocalBackend, node_names

pytestmark = pytest.mark.grid
Start = Callable[..., RunSpec]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def backend(state: Path) -> LocalBackend:
    return LocalBackend(state, slots=4)


@pytest.fixture
def spec(tmp_path: Path) -> Start:
    def make(script: str, key: str = "run-1", limit: float | None = 300.0) -> RunSpec:
        folder = tmp_path / "runs" / key
        folder.mkdir(parents=True)
        return RunSpec(key, f"#!/bin/bash\n{script}\n", ("local-1",), str(folder), limit)

    return make


def ended(backend: LocalBackend, key: str = "run-1") -> RunStatus:
    return wait(lambda: (s := backend.poll([key])[key]).state is BackendState.FINISHED and s, "the end")


def wait(condition: Callable[[], object], what: str) -> object:
    until = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.02)
    return found


def watcher(state: Path, key: str = "run-1") -> int:
    return int(json.loads((state / "runs" / key / "begin.json").read_text())["pid"])


def number_in(file: Path) -> int:
    """A process number that a run writes into a file, once it stands there."""
    return int(wait(lambda: file.exists() and file.read_text().strip(), f"a number in {file}"))


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def test_a_portal_killed_before_it_has_the_answer_starts_the_run_no_second_time(
    state: Path, spec: Start, tmp_path: Path
) -> None:
    run = spec("echo once >> count; while [ ! -e go ]; do sleep 0.05; done")
    code = (
        "import os, signal; from pathlib import Path; from gridportal.local import local_backend as b;"
        "from gridportal.base.batch_system import RunSpec; real = b.shell.run\n"
        "def killed(*a, **k):\n  real(*a, **k); os.kill(os.getpid(), signal.SIGKILL)\n"
        f"b.shell.run = killed; b.LocalBackend(Path({str(state)!r}), 4).submit({run!r})"
    )
    portal = subprocess.run([sys.executable, "-c", code], timeout=120, check=False)
    assert portal.returncode == -signal.SIGKILL
    again = LocalBackend(state, slots=4)
    assert again.poll([run.key])[run.key].state is BackendState.RUNNING
    assert again.submit(run) == run.key
    Path(run.run_dir, "go").touch()
    assert ended(again).exit_code == 0
    assert again.submit(run) == run.key
    assert Path(run.run_dir, "count").read_text() == "once\n"


def test_many_who_submit_one_key_at_once_start_it_once(state: Path, spec: Start) -> None:
    run = spec("echo once >> count")
    code = (
        "from pathlib import Path; from gridportal.local.local_backend import LocalBackend;"
        f"from gridportal.base.batch_system import RunSpec; LocalBackend(Path({str(state)!r}), 4).submit({run!r})"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(5)]
    assert [worker.wait(120) for worker in workers] == [0] * 5
    ended(LocalBackend(state, 4))
    assert Path(run.run_dir, "count").read_text() == "once\n"


def test_an_end_is_known_to_who_was_not_there(state: Path, backend: LocalBackend, spec: Start) -> None:
    backend.submit(spec("exit 7"))
    wait((state / "runs" / "run-1" / "end.json").exists, "the end on disk")
    later = LocalBackend(state, slots=1).poll(["run-1"])["run-1"]
    assert (later.state, later.exit_code, later.signal) == (BackendState.FINISHED, 7, None)
    assert later.ended_at >= later.started_at


def test_cancelling_ends_a_grandchild_in_a_session_of_its_own_that_ignores_term(
    backend: LocalBackend, spec: Start
) -> None:
    run = spec("setsid bash -c 'trap \"\" TERM HUP; echo $$ > far; exec sleep 1000' & disown; sleep 1000")
    backend.submit(run)
    far = number_in(Path(run.run_dir, "far"))
    backend.cancel(run.key)
    status = ended(backend)
    assert (status.cause, status.signal) == (Code.STOPPED_THERE, signal.SIGTERM)
    assert is_gone(far)


def test_what_ignores_term_is_killed(backend: LocalBackend, spec: Start) -> None:
    run = spec("trap '' TERM; echo $$ > me; while :; do sleep 0.1; done")
    backend.submit(run)
    number_in(Path(run.run_dir, "me"))
    backend.cancel(run.key)
    assert ended(backend).signal == signal.SIGKILL


def test_what_a_run_leaves_ends_with_it_also_without_its_mark(backend: LocalBackend, spec: Start) -> None:
    run = spec("env -i setsid bash -c 'echo $$ > left; exec sleep 1000' < /dev/null & while [ ! -s left ]; do :; done")
    backend.submit(run)
    assert ended(backend).exit_code == 0
    assert is_gone(number_in(Path(run.run_dir, "left")))


def test_the_limit_ends_a_run_while_no_portal_is_there(state: Path, backend: LocalBackend, spec: Start) -> None:
    run = spec("sleep 1000", limit=0.5)
    backend.submit(run)
    wait((state / "runs" / run.key / "end.json").exists, "the end on disk, which nobody asks for")
    status = ended(backend)
    assert status.reason.code is Code.OVER_TIME_LIMIT
    assert status.facts["limit"] == 0.5


def test_a_run_whose_watcher_is_killed_is_over_and_leaves_nothing(
    state: Path, backend: LocalBackend, spec: Start
) -> None:
    run = spec("setsid sleep 1000 & echo $! > far; wait")
    backend.submit(run)
    far = number_in(Path(run.run_dir, "far"))
    os.kill(watcher(state), signal.SIGKILL)
    status = ended(backend)
    assert (status.exit_code, status.cause) == (None, Code.WATCHER_ENDED)
    wait(lambda: is_gone(far), "the end of what was left")
    assert backend.submit(run) == run.key
    assert backend.poll([run.key])[run.key].state is BackendState.FINISHED


def test_a_signal_reaches_all_of_a_run_and_not_its_watcher(state: Path, backend: LocalBackend, spec: Start) -> None:
    run = spec(
        "trap 'echo here >> heard' USR1; bash -c 'trap \"echo below >> heard; exit\" USR1; "
        "echo $$ > low; while :; do sleep 0.05; done' & while [ $(cat heard 2>/dev/null | wc -l) -lt 2 ]; "
        "do sleep 0.05; done; exit 3"
    )
    backend.submit(run)
    number_in(Path(run.run_dir, "low"))
    assert len(descendants(watcher(state))) >= 2
    backend.signal(run.key, signal.SIGUSR1)
    assert ended(backend).exit_code == 3


def test_a_number_that_is_another_process_now_gets_no_signal(state: Path, backend: LocalBackend, spec: Start) -> None:
    bystander = subprocess.Popen(["sleep", "1000"])
    try:
        run = spec("sleep 1000")
        backend.submit(run)
        record = state / "runs" / run.key / "begin.json"
        real = record.read_text()
        record.write_text(json.dumps({**json.loads(real), "pid": bystander.pid}))
        backend.cancel(run.key)
        assert bystander.poll() is None
        record.write_text(real)
        backend.cancel(run.key)
        assert ended(backend).cause is Code.STOPPED_THERE
    finally:
        bystander.kill()
        bystander.wait()


def test_a_run_gets_nothing_of_the_portals_environment(
    backend: LocalBackend, spec: Start, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    monkeypatch.setenv("GRIDPORTAL_SECRET_KEY", "hidden")
    run = spec("env; tr '\\0' '\\n' < /proc/$PPID/environ")
    backend.submit(run)
    ended(backend)
    seen = Path(run.run_dir, "output.log").read_text()
    assert "HYDRA_LAUNCHER=fork" in seen
    assert "hidden" not in seen


def test_a_log_that_is_a_link_is_not_followed(backend: LocalBackend, spec: Start, tmp_path: Path) -> None:
    run = spec("echo gone")
    Path(run.run_dir, "output.log").symlink_to(tmp_path / "elsewhere")
    backend.submit(run)
    status = ended(backend)
    assert status.exit_code == 127
    assert "could not be started" in status.facts["text"]
    assert not (tmp_path / "elsewhere").exists()


def test_ranks_of_mpiexec_run_here_whatever_hosts_they_are_given(backend: LocalBackend, spec: Start) -> None:
    program = f"{sys.executable} -c 'from mpi4py import MPI; w = MPI.COMM_WORLD; print(w.allreduce(1), flush=True)'"
    run = spec(f"exec mpiexec -n 3 -hosts localhost,localhost,localhost {program} < /dev/null")
    backend.submit(run)
    assert ended(backend).exit_code == 0
    assert run_directory.last_lines(Path(run.run_dir)) == ["3"] * 3


def test_a_state_directory_that_cannot_be_made_is_one_sentence(tmp_path: Path, spec: Start) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BackendError, match=r"^[^\n]+\.$"):
        LocalBackend(tmp_path / "file", 1).submit(spec("true"))


@pytest.mark.parametrize(
    ("field", "value"), [("key", ""), ("nodes", ("local-9",)), ("nodes", ()), ("run_dir", "nowhere")]
)
def test_what_cannot_be_started_is_named(backend: LocalBackend, spec: Start, field: str, value: object) -> None:
    with pytest.raises(InputError):
        backend.submit(replace(spec("true"), **{field: value}))


def test_a_key_that_is_no_name_of_a_folder_stays_in_the_state_directory(
    state: Path, backend: LocalBackend, spec: Start, tmp_path: Path
) -> None:
    run = spec("exit 5", key="plain")
    odd = RunSpec("../../out", run.script, run.nodes, run.run_dir, 60.0)
    backend.submit(odd)
    assert ended(backend, odd.key).exit_code == 5
    assert not (tmp_path / "out").exists()
    assert len(list((state / "runs").iterdir())) == 1


def test_without_a_number_there_is_a_node_for_each_processor() -> None:
    assert len(node_names(None)) == len(os.sched_getaffinity(0))
    assert node_names(2) == ("local-1", "local-2")


def test_a_folder_that_is_taken_away_is_a_run_that_nobody_knows(
    state: Path, backend: LocalBackend, spec: Start
) -> None:
    backend.submit(spec("true"))
    ended(backend)
    shutil.rmtree(state)
    assert backend.poll(["run-1"])["run-1"].state is BackendState.UNKNOWN

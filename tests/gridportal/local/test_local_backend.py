"""Runs on this machine: each begins once and ends as a whole, whoever is killed, and whether the portal is there."""

from __future__ import annotations

import errno
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
from gridportal.base.reasons import Code, Reason
from gridportal.local.descendants import descendants
from gridportal.local.local_backend import LocalBackend, node_names
from gridportal.local.run_record import End, RunRecord
from gridportal.local.watcher import keep
from gridportal.testbed import kernel

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
    nameless = "env -i setsid bash -c 'echo $$ > nameless; exec sleep 1000' &"
    run = spec(f"setsid sleep 1000 & echo $! > far; {nameless} wait")
    backend.submit(run)
    left = [number_in(Path(run.run_dir, name)) for name in ("far", "nameless")]
    os.kill(watcher(state), signal.SIGKILL)
    status = ended(backend)
    assert (status.exit_code, status.cause) == (None, Code.WATCHER_ENDED)
    assert [is_gone(pid) for pid in left] == [True, True]


def test_what_keeps_the_mark_is_ended_where_nobody_is_left_to_watch(
    state: Path, backend: LocalBackend, spec: Start
) -> None:
    run = spec("setsid sleep 1000 & echo $! > far; wait")
    backend.submit(run)
    far, pid = number_in(Path(run.run_dir, "far")), watcher(state)
    for each in (int(kernel.stat_fields(pid)[1]), pid):  # first its parent, which would end it all
        os.kill(each, signal.SIGKILL)
    assert ended(backend).cause is Code.WATCHER_ENDED
    wait(lambda: is_gone(far), "the end of what was left")
    assert backend.submit(run) == run.key
    assert backend.poll([run.key])[run.key].state is BackendState.FINISHED


def test_a_signal_reaches_the_script_and_nothing_that_it_has_started(
    state: Path, backend: LocalBackend, spec: Start
) -> None:
    run = spec(
        "trap 'echo here >> heard' USR1; bash -c 'trap \"echo below >> heard\" USR1; "
        "echo $$ > low; while :; do sleep 0.05; done' & until [ -e heard ]; do sleep 0.05; done; sleep 0.3; "
        "exit $((3 + $(wc -l < heard)))"
    )
    backend.submit(run)
    number_in(Path(run.run_dir, "low"))
    assert len(descendants(watcher(state))) >= 2
    backend.signal(run.key, signal.SIGUSR1)
    assert ended(backend).exit_code == 4


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
    lines = run_directory.last_lines(Path(run.run_dir))
    assert "".join(lines) == "333"  # ranks that write at once may share a line


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


def break_record(state: Path, key: str, name: str, content: str | None) -> None:
    """Put `content` in place of a file of a record; a pipe that nobody writes to where that is None."""
    file = state / "runs" / key / name
    file.unlink(missing_ok=True)
    if content is None:
        os.mkfifo(file)
    else:
        file.write_text(content)


DAMAGE = ["", "{", "[1]", '{"a": 1}', '{"pid": "1", "ended_at": -1}', None]


@pytest.mark.parametrize("content", DAMAGE)
@pytest.mark.parametrize("name", ["begin.json", "end.json", "order.json"])
def test_a_damaged_record_of_a_run_that_goes_on_concerns_no_other_and_can_be_cancelled(
    state: Path, backend: LocalBackend, spec: Start, name: str, content: str | None
) -> None:
    run, other = spec("sleep 1000"), spec("exit 3", key="run-2")
    backend.submit(run)
    pid = watcher(state)
    break_record(state, run.key, name, content)
    backend.submit(other)
    assert ended(backend, other.key).exit_code == 3
    assert backend.poll([run.key, other.key])[run.key].state is BackendState.RUNNING
    assert backend.submit(run) == run.key
    backend.cancel(run.key)
    assert ended(backend).state is BackendState.FINISHED
    wait(lambda: is_gone(pid), "the end of its watcher")


@pytest.mark.parametrize("content", DAMAGE)
@pytest.mark.parametrize("name", ["begin.json", "end.json"])
def test_a_run_with_a_damaged_record_that_nobody_watches_is_over_and_leaves_nothing(
    state: Path, backend: LocalBackend, spec: Start, name: str, content: str | None
) -> None:
    run = spec("setsid sleep 1000 & echo $! > far; wait")
    backend.submit(run)
    far = number_in(Path(run.run_dir, "far"))
    os.kill(watcher(state), signal.SIGKILL)
    break_record(state, run.key, name, content)
    assert ended(backend).cause is Code.WATCHER_ENDED
    wait(lambda: is_gone(far), "the end of what was left")
    assert backend.submit(run) == run.key
    assert backend.poll([run.key])[run.key].cause is Code.WATCHER_ENDED


def test_how_a_run_ended_over_its_limit_is_known_without_its_order(
    state: Path, backend: LocalBackend, spec: Start
) -> None:
    run = spec("sleep 1000", limit=0.5)
    backend.submit(run)
    break_record(state, run.key, "order.json", "{}")
    assert ended(backend).reason == Reason.of(Code.OVER_TIME_LIMIT, limit=0.5)


@pytest.mark.parametrize("name", ["end.json", "watched.lock"])
def test_a_folder_in_place_of_a_file_concerns_one_run(
    state: Path, backend: LocalBackend, spec: Start, name: str
) -> None:
    run, other = spec("sleep 1000"), spec("exit 3", key="run-2")
    for each in (run, other):
        backend.submit(each)
    os.kill(watcher(state), signal.SIGKILL)
    (state / "runs" / run.key / name).unlink(missing_ok=True)
    (state / "runs" / run.key / name).mkdir()
    ended(backend, other.key)
    wait(lambda: backend.poll([other.key, run.key])[run.key].cause is Code.WATCHER_ENDED, "the end of the run")


def test_a_record_that_is_somebody_elses_is_a_run_that_nobody_knows(
    backend: LocalBackend, spec: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.submit(spec("sleep 1000"))

    def denied(_: RunRecord) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(RunRecord, "open_lock", denied)
        assert backend.poll(["run-1"])["run-1"].state is BackendState.UNKNOWN
    backend.cancel("run-1")
    ended(backend)


def test_an_end_is_noted_once_there_is_room_for_it(
    state: Path, backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = RunRecord(state)
    said = iter([errno.ENOSPC, errno.EDQUOT, errno.EROFS])
    real = RunRecord.write_end

    def full(self: RunRecord, end: End) -> None:
        if number := next(said, 0):
            raise OSError(number, os.strerror(number))
        real(self, end)

    state.mkdir()
    monkeypatch.setattr(RunRecord, "write_end", full)
    monkeypatch.setattr("gridportal.local.watcher.AGAIN", 0.001)
    keep(record, End(5.0, 7))
    assert record.end() == End(5.0, 7)


def test_a_full_disk_keeps_no_other_run_from_being_polled(
    state: Path, backend: LocalBackend, spec: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = spec("sleep 1000")
    backend.submit(run)
    os.kill(watcher(state), signal.SIGKILL)

    def full(_: RunRecord, __: End) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(RunRecord, "write_end", full)
        assert ended(backend).cause is Code.WATCHER_ENDED
        assert not (state / "runs" / run.key / "end.json").exists()
    assert ended(backend).cause is Code.WATCHER_ENDED
    assert (state / "runs" / run.key / "end.json").exists()


def test_a_watcher_that_its_run_has_stopped_still_keeps_to_the_limit(backend: LocalBackend, spec: Start) -> None:
    run = spec("kill -STOP $PPID; echo $$ > stopped; sleep 1000", limit=0.5)
    backend.submit(run)
    number_in(Path(run.run_dir, "stopped"))
    assert ended(backend).cause is Code.OVER_TIME_LIMIT


def test_a_watcher_that_is_stopped_is_reached_by_cancelling(state: Path, backend: LocalBackend, spec: Start) -> None:
    run = spec("kill -STOP $PPID; echo $$ > stopped; sleep 1000")
    backend.submit(run)
    number_in(Path(run.run_dir, "stopped"))
    backend.cancel(run.key)
    wait((state / "runs" / run.key / "end.json").exists, "the end on disk, which nobody asks for")
    assert ended(backend).cause is Code.STOPPED_THERE

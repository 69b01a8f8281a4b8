"""Processes are restarted for ever, after ever longer pauses, and ended in the right order."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gridportal.base.errors import BackendError
from gridportal.serve import supervisor as supervisor_module
from gridportal.serve.supervisor import Process, Supervisor


def killed(process: Process) -> None:
    assert process.popen is not None
    process.popen.kill()
    process.popen.wait(timeout=10)


def until_dead(process: Process) -> None:
    assert process.popen is not None
    process.popen.wait(timeout=10)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock as the supervisor sees it; a test moves it on."""
    at = [1000.0]
    monkeypatch.setattr(supervisor_module, "time", SimpleNamespace(monotonic=lambda: at[0]))
    return at


def test_a_process_that_dies_once_is_started_again_at_once(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path)
    process = supervisor.start(Process("web", ["true"]))
    first = process.popen
    until_dead(process)
    assert supervisor.restart_dead() == [f"The web ended and was started again; its log is {tmp_path / 'web.log'}."]
    assert process.popen is not first


def test_a_process_that_keeps_dying_is_started_after_ever_longer_pauses_for_ever(
    tmp_path: Path, now: list[float]
) -> None:
    supervisor = Supervisor(tmp_path)
    process = supervisor.start(Process("web", ["sleep", "60"]))
    for pause in (0, 1, 2, 4, 8, 16, *[30] * 30):  # seconds
        before = process.popen
        killed(process)
        assert len(supervisor.restart_dead()) == 1
        now[0] += max(0, pause - 0.5)
        assert supervisor.restart_dead() == []
        assert (process.popen is before) == (pause > 0)
        now[0] += 0.5
        supervisor.restart_dead()
        assert process.popen is not before
    supervisor.stop()


def test_one_that_cannot_be_started_again_is_tried_again_and_nothing_is_raised(
    tmp_path: Path, now: list[float]
) -> None:
    supervisor = Supervisor(tmp_path)
    program = tmp_path / "program"
    program.symlink_to("/bin/true")
    process = supervisor.start(Process("web", [str(program)]))
    until_dead(process)
    program.unlink()
    messages = supervisor.restart_dead()
    assert "The web cannot be started, next try in 1 s: " in messages[-1]
    now[0] += 1
    assert "next try in 2 s" in supervisor.restart_dead()[-1]
    program.symlink_to("/bin/true")
    now[0] += 2
    assert supervisor.restart_dead() == []
    assert process.popen is not None
    until_dead(process)


def test_whose_place_was_taken_is_started_at_once_and_did_not_die(tmp_path: Path, now: list[float]) -> None:
    supervisor = Supervisor(tmp_path)
    process = supervisor.start(Process("database", ["sleep", "60"], make_room=lambda: "Another one was ended."))
    for _ in range(5):
        before = process.popen
        killed(process)
        assert supervisor.restart_dead() == ["Another one was ended."]
        assert process.popen is not before
    assert process.restarts.total == 0
    supervisor.stop()


def test_whose_place_is_not_given_back_is_tried_again_after_ever_longer_pauses(
    tmp_path: Path, now: list[float]
) -> None:
    def refuse() -> str:
        raise BackendError("It stays.")

    supervisor = Supervisor(tmp_path)
    process = supervisor.start(Process("database", ["true"], make_room=refuse))
    until_dead(process)
    for pause in (0, 1, 2, 4):  # seconds
        assert supervisor.restart_dead() == [f"The database cannot be started, next try in {pause} s: It stays."]
        now[0] += max(0, pause - 0.5)
        assert not pause or supervisor.restart_dead() == []
        now[0] += 0.5


def test_where_no_log_can_be_written_processes_still_come_back(tmp_path: Path) -> None:
    logs = tmp_path / "log"
    supervisor = Supervisor(logs)
    process = supervisor.start(Process("web", ["true"]))
    until_dead(process)
    first = process.popen
    (logs / "web.log").unlink()
    logs.rmdir()
    logs.touch()  # in the place of the folder
    supervisor.restart_dead()
    assert process.popen is not first
    until_dead(process)


def test_while_the_disk_is_full_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor = Supervisor(tmp_path / "log")
    process = supervisor.start(Process("web", ["true"]))
    until_dead(process)
    first = process.popen
    none = SimpleNamespace(f_bavail=0, f_frsize=4096, f_files=10, f_favail=10)
    with monkeypatch.context() as full:
        full.setattr("os.statvfs", lambda _: none)
        assert supervisor.restart_dead() == [
            f"The disk of {tmp_path} is full; what ended is started again once there is room."
        ]
        for _ in range(20):
            assert supervisor.restart_dead() == []
        assert process.popen is first
    assert supervisor.restart_dead() == [
        f"There is room again on the disk of {tmp_path}.",
        f"The web ended and was started again; its log is {tmp_path / 'log' / 'web.log'}.",
    ]
    assert process.popen is not first


def test_last_line_are_those_since_the_last_start(tmp_path: Path) -> None:
    tmp_path.joinpath("web.log").write_text("of long ago\n")
    supervisor = Supervisor(tmp_path)
    silent = supervisor.start(Process("web", ["true"]))
    until_dead(silent)
    assert supervisor.last_line(silent) == ""
    talking = supervisor.start(Process("grid", ["sh", "-c", "echo one; echo two"]))
    until_dead(talking)
    assert supervisor.last_line(talking) == "two"


def test_deaths_of_long_ago_are_forgiven(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path)
    process = supervisor.start(Process("web", ["true"]))
    for _ in range(20):
        process.restarts.note_death(time.monotonic() - 1000)
        process.restarts.note_start()
    until_dead(process)
    assert "was started again" in supervisor.restart_dead()[0]
    supervisor.stop()


def test_servers_end_after_those_who_lean_on_them_and_by_their_own_signal(tmp_path: Path) -> None:
    order = tmp_path / "order"
    script = 'trap "sleep $3; echo $1 >>$0; exit" $2; echo ready >&2; while :; do sleep 0.05; done'
    supervisor = Supervisor(tmp_path)
    words = ["sh", "-c", script, str(order)]
    supervisor.start(Process("database", [*words, "database", "INT", "0"], is_server=True, ending=signal.SIGINT))
    supervisor.start(Process("web", [*words, "web", "TERM", "0.3"]))
    until = time.monotonic() + 10
    while any(
        not supervisor.log(name).exists() or not supervisor.log(name).read_text() for name in ("database", "web")
    ):
        assert time.monotonic() < until
        time.sleep(0.02)
    supervisor.stop()
    assert order.read_text().split() == ["web", "database"]


def test_a_process_that_will_not_end_is_killed(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path)
    process = supervisor.start(
        Process("web", ["sh", "-c", 'trap "" TERM; echo ready; while :; do sleep 0.05; done'], end_seconds=0.3)
    )
    while not supervisor.log("web").read_text():
        time.sleep(0.02)
    supervisor.stop()
    assert process.popen is not None
    assert process.popen.returncode == -signal.SIGKILL

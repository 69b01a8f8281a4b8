"""Runs on a Grid without namespaces, as on machines that permit none: started once, watched, ended as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gridportal.base.errors import BackendError, InputError, LaterError
from gridportal.testbed import client, launch
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import ended, eventually
from tests.gridportal.testbed.networks import few_nodes


def test_a_script_runs_in_its_directory_and_leaves_output_and_exit_code(plain: Grid, tmp_path: Path) -> None:
    assert (
        plain.submit("plain-ok", "pwd; echo on $GRIDPORTAL_NODE >&2; exit 3\n", ["n4", "n2"], str(tmp_path))
        == "plain-ok"
    )
    state = ended(plain, "plain-ok")
    assert (state["state"], state["exit_code"], state["signal"]) == ("finished", 3, None)
    assert (tmp_path / "output.log").read_text().splitlines() == [str(tmp_path), "on n4"]
    assert (tmp_path / "hosts").read_text() == "n4:1\nn2:1\n"


def test_how_a_run_ended_is_the_kernels_word_and_not_its_own(plain: Grid, tmp_path: Path) -> None:
    plain.submit("plain-record", "echo '{\"exit_code\": 0}' > exit.json; exit 4\n", ["n1"], str(tmp_path))
    assert ended(plain, "plain-record")["exit_code"] == 4
    assert (tmp_path / "exit.json").read_text() == '{"exit_code": 0}\n'


def test_the_same_key_is_never_started_twice(plain: Grid, tmp_path: Path) -> None:
    for _ in range(3):
        plain.submit("plain-once", "echo started >> count\n", ["n1"], str(tmp_path))
    ended(plain, "plain-once")
    plain.submit("plain-once", "echo started >> count\n", ["n1"], str(tmp_path))
    assert (tmp_path / "count").read_text() == "started\n"


def test_cancel_ends_even_what_ignores_it(plain: Grid, tmp_path: Path) -> None:
    script = "trap '' TERM\n(trap '' TERM; while :; do sleep 0.1; touch alive; done) &\nwait\n"
    plain.submit("plain-deaf", script, ["n1"], str(tmp_path))
    eventually((tmp_path / "alive").exists, "the child")
    plain.cancel("plain-deaf")
    state = ended(plain, "plain-deaf")
    assert (state["signal"], state["reason"]) == (signal.SIGKILL, "cancelled")
    (tmp_path / "alive").unlink(missing_ok=True)
    time.sleep(0.5)
    assert not (tmp_path / "alive").exists()


def test_a_run_over_its_time_limit_is_ended_and_says_so(plain: Grid, tmp_path: Path) -> None:
    plain.submit("plain-long", "sleep 60\n", ["n1"], str(tmp_path), time_limit=0.2)
    state = ended(plain, "plain-long")
    assert state["reason"] == "over its time limit of 0.2 s"


def test_a_signal_reaches_the_script(plain: Grid, tmp_path: Path) -> None:
    script = "trap 'echo stop > seen; exit 0' USR1\ntouch ready\nwhile :; do sleep 0.05; done\n"
    plain.submit("plain-signal", script, ["n1"], str(tmp_path))
    eventually((tmp_path / "ready").exists, "the trap")
    plain.signal("plain-signal", signal.SIGUSR1)
    ended(plain, "plain-signal")
    assert (tmp_path / "seen").read_text() == "stop\n"


def test_the_daemons_own_secrets_do_not_reach_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://u:hush@h/d")
    root = tmp_path / "grid"
    launch.up(few_nodes(tmp_path), root, mode="unshaped", with_parent=True)
    done = Grid(root).run(["n1"], ["env"])
    Grid(root).down()
    assert "hush" not in done[0]["output"]


def test_a_run_that_cannot_be_started_has_failed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    root = tmp_path / "grid"
    launch.up(few_nodes(tmp_path), root, mode="unshaped", with_parent=True)
    (tmp_path / "run").mkdir()
    Grid(root).submit("no-bash", "true\n", ["n1"], str(tmp_path / "run"))
    state = ended(Grid(root), "no-bash")
    Grid(root).down()
    assert (state["state"], state["exit_code"]) == ("finished", 127)
    assert "bash could not be started on n1" in state["reason"]


def test_a_key_that_was_never_seen_is_unknown(plain: Grid) -> None:
    assert plain.poll(["nobody"]) == {"nobody": {"state": "unknown"}}


def test_after_a_crash_a_lost_run_is_unknown_and_not_started_again(tmp_path: Path) -> None:
    root, lost, done = tmp_path / "grid", tmp_path / "lost", tmp_path / "done"
    lost.mkdir()
    done.mkdir()
    process, _ = launch.up(few_nodes(tmp_path), root, mode="unshaped", with_parent=True)
    grid = Grid(root)
    grid.submit("done", "exit 4\n", ["n1"], str(done))
    ended(grid, "done")
    grid.submit("lost", "echo started >> count; sleep 60\n", ["n1"], str(lost))
    eventually((lost / "count").exists, "the run")
    os.mkfifo(lost / "exit.json")
    (done / "exit.json").write_text("[" * 4000)
    process.kill()
    process.wait(timeout=60)
    with State(root).runs.open("a", encoding="utf-8") as table:
        table.write('\n{"id": "lost", "end": {"exit_code": 0, "sig')
    launch.up(few_nodes(tmp_path), root, mode="unshaped", with_parent=True)
    grid.submit("lost", "echo started >> count\n", ["n1"], str(lost))
    states = grid.poll(["lost", "done"])
    grid.down()
    assert states["lost"]["state"] == "unknown"
    assert "Grid that ran it ended" in states["lost"]["reason"]
    assert (states["done"]["state"], states["done"]["exit_code"]) == ("finished", 4)
    assert (lost / "count").read_text() == "started\n"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"nodes": []}, "nodes"),
        ({"nodes": ["n1", "n99"]}, "node"),
        ({"run_dir": "relative"}, "run_dir"),
        ({"run_dir": "/tmp/.."}, "run_dir"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"key": ""}, "key"),
    ],
)
def test_a_submission_that_cannot_be_is_refused_by_field(
    plain: Grid, tmp_path: Path, change: dict[str, object], field: str
) -> None:
    good = {"key": f"bad-{field}", "script": "true", "nodes": ["n1"], "run_dir": str(tmp_path), "time_limit": None}
    with pytest.raises(InputError) as caught:
        plain.submit(**{**good, **change})  # type: ignore[arg-type]
    assert caught.value.field == field


def test_unshaped_mpi_has_all_its_ranks(plain: Grid) -> None:
    done = plain.run(["n1", "n2"], ["mpiexec", "-n", "2", "sh", "-c", "echo $PMI_RANK of $PMI_SIZE"])
    assert sorted(done[0]["output"].split("\n")) == ["", "0 of 2", "1 of 2"]


def test_an_unshaped_grid_says_so_plainly(plain: Grid) -> None:
    status = plain.status()
    assert status["mode"] == "unshaped"
    assert "not shaped" in status["warning"]


def test_a_grid_that_is_not_up_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="No Grid is up in"):
        Grid(tmp_path).status()


def test_a_command_ends_with_the_client_that_waits_for_it(plain: Grid, tmp_path: Path) -> None:
    code = f"from gridportal.testbed.client import Grid; Grid({str(plain.directory)!r}).run(['n1'], ['sh', '-c', "
    code += f"'echo $$ > {tmp_path}/pid; exec sleep 60'])"
    client = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[3])
    file = tmp_path / "pid"
    pid = eventually(lambda: file.exists() and file.read_text().strip(), "the command")
    client.kill()
    client.wait(timeout=60)
    eventually(lambda: not Path(f"/proc/{pid}").exists(), "the end of the command")


def test_a_command_is_killed_when_its_time_is_over(plain: Grid) -> None:
    done = plain.run(["n1", "n2"], ["sleep", "60"], timeout=0.3)
    assert [each["exit_code"] for each in done] == [None, None]


def test_with_no_room_to_note_a_run_nothing_is_started_and_it_may_be_tried_again(plain: Grid, tmp_path: Path) -> None:
    table = State(plain.directory).runs
    plain.submit("plain-before", "true", ["n1"], str(tmp_path))
    ended(plain, "plain-before")
    aside = table.rename(table.with_suffix(".aside"))
    table.symlink_to("/dev/full")
    try:
        with pytest.raises(LaterError, match="no room to note a run"):
            plain.submit("plain-full", "touch started", ["n1"], str(tmp_path))
    finally:
        aside.replace(table)
    assert plain.poll(["plain-full"]) == {"plain-full": {"state": "unknown"}}
    assert not (tmp_path / "started").exists()
    plain.submit("plain-full", "touch started", ["n1"], str(tmp_path))
    assert ended(plain, "plain-full")["exit_code"] == 0


def test_what_nobody_waits_for_any_more_is_not_started(
    plain: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that stood still reads then what was asked of it: a run that was called lost must not begin any more."""
    record = State(plain.directory).record()
    assert record
    monkeypatch.setattr(client, "QUICK", 1.0)
    os.kill(record["pid"], signal.SIGSTOP)
    try:
        with pytest.raises(BackendError, match="gave no answer"):
            plain.submit("plain-late", "true", ["n1"], str(tmp_path))
    finally:
        os.kill(record["pid"], signal.SIGCONT)
    monkeypatch.undo()
    for _ in range(3):  # each by a connection after the one with the submission
        assert plain.poll(["plain-late"])["plain-late"]["state"] == "unknown"
    assert not list(tmp_path.iterdir())


def test_what_a_command_prints_is_bounded_while_it_runs(plain: Grid) -> None:
    """20 MiB, and then it looks, at the latest after a minute, whether the file that these went to was cut."""
    is_cut = "grep -qa 'is cut here' $log && [ $n -le 2000000 ]"  # it may be cut while it grows, and once more then
    look = f"for i in $(seq 600); do n=$(stat -Lc %s $log); {is_cut} && break; sleep 0.1; done"
    script = f"log=/proc/$$/fd/1; head -c 20M /dev/zero | tr '\\0' x; {look}; echo; echo last $n"
    (done,) = plain.run(["n1"], ["sh", "-c", script], timeout=100)
    assert "and is cut here" in done["output"]
    assert len(done["output"]) < 2**20 + 1000
    assert int(done["output"].split()[-1]) <= 2_000_000

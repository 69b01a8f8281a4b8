"""Children are mended, given up when they keep dying, and ended in the right order."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from gridportal.errors import GridPortalError
from gridportal.serve import processes as serve_processes
from gridportal.serve.processes import Child, Family


def killed(child: Child) -> None:
    assert child.process is not None
    child.process.kill()
    child.process.wait(timeout=10)


def until_dead(child: Child) -> None:
    assert child.process is not None
    child.process.wait(timeout=10)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock as the family sees it; a test moves it on."""
    at = [1000.0]
    monkeypatch.setattr(serve_processes, "time", SimpleNamespace(monotonic=lambda: at[0]))
    return at


def test_a_child_that_dies_once_is_started_again_at_once(tmp_path: Path) -> None:
    family = Family(tmp_path)
    child = family.add(Child("web", ["true"]))
    first = child.process
    until_dead(child)
    assert family.mend() == [f"The web ended and was started again; its log is {tmp_path / 'web.log'}."]
    assert child.process is not first


def test_a_child_that_keeps_dying_is_started_after_ever_longer_pauses_and_then_given_up(
    tmp_path: Path, now: list[float]
) -> None:
    family = Family(tmp_path)
    child = family.add(Child("web", ["sleep", "60"]))
    for pause in (0, 1, 2, 4, 8, 16, 30, 30, 30):  # seconds
        before = child.process
        killed(child)
        assert len(family.mend()) == 1
        now[0] += max(0, pause - 0.5)
        assert family.mend() == []
        assert (child.process is before) == (pause > 0)
        now[0] += 0.5
        family.mend()
        assert child.process is not before
    killed(child)
    with pytest.raises(GridPortalError, match=r"The web ended 10 times; see .*web\.log"):
        family.mend()


def test_while_the_disk_is_full_nothing_is_started_or_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family = Family(tmp_path / "log")
    child = family.add(Child("web", ["true"]))
    until_dead(child)
    first = child.process
    none = SimpleNamespace(f_bavail=0, f_frsize=4096, f_files=10, f_favail=10)
    with monkeypatch.context() as full:
        full.setattr("os.statvfs", lambda _: none)
        assert family.mend() == [f"The disk of {tmp_path} is full; what ended is started again once there is room."]
        for _ in range(20):
            assert family.mend() == []
        assert child.process is first
    assert family.mend() == [
        f"There is room again on the disk of {tmp_path}.",
        f"The web ended and was started again; its log is {tmp_path / 'log' / 'web.log'}.",
    ]
    assert child.process is not first


def test_last_words_are_those_since_the_last_start(tmp_path: Path) -> None:
    tmp_path.joinpath("web.log").write_text("of long ago\n")
    family = Family(tmp_path)
    silent = family.add(Child("web", ["true"]))
    until_dead(silent)
    assert family.last_words(silent) == ""
    talking = family.add(Child("grid", ["sh", "-c", "echo one; echo two"]))
    until_dead(talking)
    assert family.last_words(talking) == "two"


def test_deaths_of_long_ago_are_forgiven(tmp_path: Path) -> None:
    family = Family(tmp_path)
    child = family.add(Child("web", ["true"]))
    child.deaths = [time.monotonic() - 1000] * 20
    until_dead(child)
    assert "was started again" in family.mend()[0]
    family.stop()


def test_servers_end_after_those_who_lean_on_them_and_by_their_own_signal(tmp_path: Path) -> None:
    order = tmp_path / "order"
    script = 'trap "sleep $3; echo $1 >>$0; exit" $2; echo ready >&2; while :; do sleep 0.05; done'
    family = Family(tmp_path)
    words = ["sh", "-c", script, str(order)]
    family.add(Child("database", [*words, "database", "INT", "0"], server=True, ending=signal.SIGINT))
    family.add(Child("web", [*words, "web", "TERM", "0.3"]))
    until = time.monotonic() + 10
    while any(not family.log(name).exists() or not family.log(name).read_text() for name in ("database", "web")):
        assert time.monotonic() < until
        time.sleep(0.02)
    family.stop()
    assert order.read_text().split() == ["web", "database"]


def test_a_child_that_will_not_end_is_killed(tmp_path: Path) -> None:
    family = Family(tmp_path)
    child = family.add(Child("web", ["sh", "-c", 'trap "" TERM; echo ready; while :; do sleep 0.05; done']))
    while not family.log("web").read_text():
        time.sleep(0.02)
    family.stop(seconds=0.3)
    assert child.process is not None
    assert child.process.returncode == -signal.SIGKILL

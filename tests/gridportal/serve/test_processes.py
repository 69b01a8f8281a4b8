"""Children are mended, given up when they keep dying, and ended in the right order."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from gridportal.errors import GridPortalError
from gridportal.serve.processes import Child, Family


def until_dead(child: Child) -> None:
    assert child.process is not None
    child.process.wait(timeout=10)


def test_a_child_that_keeps_dying_is_given_up_by_name(tmp_path: Path) -> None:
    family = Family(tmp_path)
    child = family.add(Child("web", ["true"]))
    for _ in range(5):
        until_dead(child)
        assert family.mend() == ["web"]
    until_dead(child)
    with pytest.raises(GridPortalError, match=r"The web ended 6 times; see .*web\.log"):
        family.mend()


def test_deaths_of_long_ago_are_forgiven(tmp_path: Path) -> None:
    family = Family(tmp_path)
    child = family.add(Child("web", ["true"]))
    child.deaths = [time.monotonic() - 1000] * 20
    until_dead(child)
    assert family.mend() == ["web"]
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

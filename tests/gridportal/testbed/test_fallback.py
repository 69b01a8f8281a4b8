"""A Grid comes up unshaped only where the kernel does not permit another, and then it says so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import BackendError, InputError
from gridportal.testbed import launch, machine


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modes in which a Grid was started, by an up that starts none; every shaped one fails as `failure` says."""
    modes: list[str] = []

    def start(state: Any, file: Path, mode: str, *_: object, **__: object) -> Any:
        modes.append(mode)
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(launch, "_start", start)
    monkeypatch.setattr(machine, "choose", lambda _=None: ("root", None))
    return modes


def fail_shaped(monkeypatch: pytest.MonkeyPatch, started: list[str], words: str) -> None:
    def wait(*_: object) -> dict[str, Any]:
        if started[-1] != "unshaped":
            raise BackendError(words)
        return {"mode": "unshaped"}

    monkeypatch.setattr(launch, "_wait_until_tested", wait)


def test_a_failure_that_is_no_refusal_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[str]
) -> None:
    fail_shaped(monkeypatch, started, 'tc failed: Illegal "rate"')
    with pytest.raises(BackendError, match="Illegal"):
        launch.up("crossbar10", tmp_path)
    assert started == ["root"]


def test_a_refusal_of_the_kernel_leads_to_an_unshaped_grid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[str]
) -> None:
    fail_shaped(monkeypatch, started, "node n1 could not be started: mount /etc/hosts: Operation not permitted")
    assert launch.up("crossbar10", tmp_path)[1] == {"mode": "unshaped"}
    assert started == ["root", "unshaped"]


def test_a_topology_that_cannot_be_shaped_starts_nothing(tmp_path: Path, started: list[str]) -> None:
    file = tmp_path / "wide.json"
    file.write_text(
        '{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "capacity": 1e308}]}'
    )
    with pytest.raises(InputError, match=r"links\[0\]\.capacity"):
        launch.up(file, tmp_path / "grid")
    assert started == []


def test_a_machine_that_is_too_busy_to_answer_has_refused_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_FLAGS", {"root": ["--fork", "--kill-child"]})
    monkeypatch.setattr(machine, "_PATIENCE", 0.2)
    monkeypatch.setattr(machine, "_TRIAL", ("exec sleep 60",))
    assert machine.refusal("root") is None
    monkeypatch.setattr(machine, "_PATIENCE", 60.0)
    monkeypatch.setattr(machine, "_TRIAL", ("false",))
    assert str(machine.refusal("root")).startswith("the kernel does not permit it")

"""`gridportal doctor` says plainly what this machine and the Grid that is up cannot do."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from gridportal.base.errors import BackendError
from gridportal.serve import doctor
from gridportal.testbed import machine
from gridportal.testbed.client import Grid

ISOLATION = {"message": "Jobs run as other users."}
UP = {"topology": "crossbar10", "mode": "root", "warning": None, "isolation": ISOLATION}


def of_grid(monkeypatch: pytest.MonkeyPatch, status: dict[str, Any]) -> doctor.Finding:
    monkeypatch.setattr(Grid, "status", lambda grid: status)
    return doctor._running_grid()


def test_a_grid_whose_links_are_shaped_is_well(monkeypatch):
    found = of_grid(monkeypatch, UP | {"self_test": {"state": "passed", "message": "Ping-pongs see the shaped rates."}})
    assert found.state == "yes"
    assert found.seen == (
        "crossbar10, root; self test passed: Ping-pongs see the shaped rates. Jobs run as other users."
    )


@pytest.mark.parametrize("state", ["failed", "pending", "skipped"])
def test_a_self_test_that_did_not_pass_is_told(monkeypatch, state):
    found = of_grid(monkeypatch, UP | {"self_test": {"state": state, "message": "n1 leaks."}})
    assert found.state == "partly"
    assert f"self test {state}: n1 leaks." in found.seen


def test_an_unshaped_grid_is_told_in_its_own_words(monkeypatch):
    words = machine.warning("no tc")
    test = {"state": "skipped", "message": "Nothing is shaped."}
    found = of_grid(monkeypatch, UP | {"mode": "unshaped", "warning": words, "self_test": test})
    assert found.state == "partly"
    assert "The Grid is not shaped on this machine (no tc)" in found.seen


def test_no_grid_says_where_it_looked(monkeypatch):
    def refuse(grid: Grid) -> None:
        raise BackendError("No.")

    monkeypatch.setattr(Grid, "status", refuse)
    found = doctor._running_grid()
    assert found.state == "unneeded"
    assert found.seen.startswith("none in ")


def test_what_is_not_needed_gets_no_cross(monkeypatch, capsys):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    found = doctor._slurm()
    assert found.state == "unneeded"
    doctor._show([found])
    assert "✗" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("backend", "state", "advice"),
    [("local", "unneeded", "no cluster in GRIDPORTAL_CLUSTERS is a Slurm"), ("slurm", "no", "check slurm.conf")],
)
def test_a_slurm_that_does_not_answer_gets_a_cross_where_a_cluster_needs_it(monkeypatch, backend, state, advice):
    def refuse(*_: Any, **__: Any) -> None:
        raise BackendError("sinfo: no answer.")

    monkeypatch.setattr(doctor.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(doctor.shell, "run", refuse)
    monkeypatch.setenv("GRIDPORTAL_CLUSTERS", json.dumps([{"name": "here", "backend": backend}]))
    found = doctor._slurm()
    assert (found.state, found.seen) == (state, "sinfo: no answer.")
    assert advice in found.advice


def test_a_machine_without_namespaces_is_told_that_nothing_will_be_shaped(monkeypatch):
    monkeypatch.setenv("GRIDPORTAL_TESTBED_MODE", "unshaped")
    found = doctor._namespaces()
    assert found.state == "partly"
    assert "every link is as fast as this machine" in found.seen


def test_the_report_is_one_document(capsys):
    assert doctor.report(as_json=True) == 0
    topics = [finding["topic"] for finding in json.loads(capsys.readouterr().out)["findings"]]
    assert {"mpi", "emulated Grid", "Grid that is up"} <= set(topics)


def _advice(monkeypatch: pytest.MonkeyPatch, uid: int, mode: str = "") -> str:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.setenv("GRIDPORTAL_TESTBED_MODE", mode)
    monkeypatch.setattr(machine, "refusal", lambda _: "the kernel does not permit it")
    found = doctor._namespaces()
    assert found.state == "partly"
    return found.advice


def test_who_asked_for_an_unshaped_grid_is_told_how_to_get_another(monkeypatch: pytest.MonkeyPatch) -> None:
    for uid in (0, 1000):
        assert _advice(monkeypatch, uid, "unshaped") == "unset GRIDPORTAL_TESTBED_MODE, which asks for this"


def test_root_is_not_told_to_be_root(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "run as root" not in _advice(monkeypatch, 0)
    assert "run as root" in _advice(monkeypatch, 1000)

"""`gridportal select --cluster` chooses among what no job holds, and says what it left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from gridportal.base.clusters import Cluster
from gridportal.base.typed_options import Commands
from monitoring.telemetry.services import sweeps
from scheduling.jobs.models import Job
from scheduling.placing.commands import select
from scheduling.placing.services import recovery
from tests.fake_grid import FakeGrid

APP = typer.Typer(cls=Commands)
APP.command("select")(select.select_command)
APP.command("other")(lambda: None)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "database", nullcontext)


def choose(*options: object) -> Result:
    words = ["select", "--cluster", "grid", "--method", "communication", *map(str, options)]
    return CliRunner().invoke(APP, words)


def test_nodes_that_jobs_hold_are_left_out_unless_they_are_to_count(
    submit: Callable[..., Job], fake_grid: FakeGrid
) -> None:
    sweeps.measure()
    job = submit(2)
    recovery.advance_jobs()
    held = job.placements.get().nodes
    answer = json.loads(choose("--nodes", 2, "--json", "--explain").stdout)
    assert set(answer["nodes"]).isdisjoint(held)
    assert answer["in_use"] == sorted(held)
    assert {each["reason"] for each in answer["left"]["nodes"]} == {f"in use by job {job.pk}"}
    names = ", ".join(sorted(held))
    assert f"Left out: {names} in use. --count-busy counts nodes in use too." in choose("--nodes", 2).stdout
    refused = choose("--nodes", 3)
    assert (refused.exit_code, refused.output.count("\n")) == (2, 1)
    assert "Only 2 of 4 nodes are free (not excluded, not in use), and 3 were asked for." in refused.output
    assert f"Left out: {names} in use. Ask for fewer nodes, wait until jobs end, or add --count-busy" in refused.output
    everything = choose("--nodes", 4, "--count-busy")
    assert everything.exit_code == 0
    assert f"Of the chosen nodes jobs hold {names} now." in everything.stdout


def test_where_jobs_share_nodes_their_slots_are_left_out(
    submit: Callable[..., Job], fake_grid: FakeGrid, settings: Any
) -> None:
    settings.CLUSTERS = {"grid": Cluster(name="grid", backend="grid", share_nodes=True)}
    fake_grid.labels = {name: {"cpus": "3", "mem_gb": "1"} for name in fake_grid.names}
    sweeps.measure()
    submit(4)
    recovery.advance_jobs()
    assert json.loads(choose("--ranks", 8, "--nodes", 4, "--json").stdout)["in_use"] == []
    assert "Left out" not in choose("--ranks", 8).stdout
    assert choose("--ranks", 9).exit_code == 2
    assert choose("--ranks", 12, "--count-busy").exit_code == 0


def test_a_file_has_no_jobs() -> None:
    words = ("select", "--topology", "crossbar10", "--nodes", "2", "--method", "compute", "--count-busy")
    refused = CliRunner().invoke(APP, words)
    assert "--count-busy is true; accepted is a cluster of the portal" in refused.output

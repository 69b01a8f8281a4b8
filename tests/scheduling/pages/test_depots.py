"""What jobs have in depots: on the page, over REST and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from django.test import Client
from typer.testing import CliRunner

from gridportal import cli
from gridportal.runtime.depot.depot_client import Depots
from gridportal.testbed.state import State
from monitoring.clusters import selectors
from monitoring.telemetry.services import depots
from scheduling.checkpoints.commands import depots as command
from scheduling.jobs.models import Application
from scheduling.runs.services import job_depots
from tests.fake_grid import FakeGrid
from tests.scheduling.pages.test_moves import words_of
from tests.scheduling.runs.test_job_depots import NAME, Submit, grid_with_depots, placed

__all__ = ["grid_with_depots"]


def test_each_node_and_job_with_bytes_limit_age_and_what_is_free(
    grid_with_depots: State,
    fake_grid: FakeGrid,
    submit: Submit,
    application: Application,
    client_as: Callable[[str], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, cluster = placed(submit, application), selectors.setting("grid")
    for name, size in ((job_depots.name(job), 5000), ("of-another-portal", 10)):
        access = depots.access(cluster, name)
        assert access is not None
        Depots(access).put("n1", NAME, memoryview(b"x" * size))
    (use,) = client_as("operator").get("/api/depots").json()
    nodes: dict[str, Any] = {node["node"]: node for node in use["nodes"]}
    first = nodes["n1"]
    assert (first["bytes"], first["space"], first["job_space"]) == (8192 + 4096, 20 * 2**30, 10 * 2**30)
    assert 0 <= first["free"] <= first["space"]
    assert [(each["job"], each["owner"], each["bytes"]) for each in first["jobs"]] == [
        (job.pk, "user", 8192),
        (None, None, 4096),
    ]
    assert first["jobs"][0]["written_at"]
    assert (nodes["n2"]["problem"], nodes["n2"]["space"]) == ("its agent does not answer", None)
    shown = words_of(client_as("operator").get("/depots/"))
    for part in (f"{job.pk} ", "all jobs", "of no job here", "silent its agent does not answer", "21.5 GB"):
        assert part in shown, shown
    monkeypatch.setattr(command, "database", nullcontext)
    (said,) = json.loads(CliRunner().invoke(cli.app, ["depots", "--json"]).output)["clusters"]
    assert said["nodes"][0]["jobs"][0]["job"] == job.pk
    table = CliRunner().invoke(cli.app, ["depots"]).output
    assert "Depots of grid" in table
    assert "its agent does not answer" in " ".join(table.split())
    assert "8.2 kB" in table
    assert "21.5 GB" in table
    assert "Written" in table


def test_where_there_are_none_the_page_says_so(fake_grid: FakeGrid, client_as: Callable[[str], Client]) -> None:
    client = client_as("operator")
    assert client.get("/api/depots").json() == []
    assert "No cluster has depots" in words_of(client.get("/depots/"))


def test_depots_of_which_none_answers_are_told(
    grid_with_depots: State,
    fake_grid: FakeGrid,
    submit: Submit,
    application: Application,
    client_as: Callable[[str], Client],
) -> None:
    placed(submit, application)
    grid_with_depots.agent_key.write_text("another key, of another Grid")
    (use,) = client_as("operator").get("/api/depots").json()
    assert use["problem"] == "No agent of grid answers."
    assert "No agent of grid answers." in words_of(client_as("operator").get("/depots/"))

"""`gridportal experiment`: bad input, another one running, a stop and its continuation."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from gridportal.base.errors import BackendError, InputError
from gridportal.experiments import registry
from gridportal.experiments.commands import experiment_command, show
from gridportal.experiments.exclusive import exclusive
from gridportal.experiments.record import stop
from tests.gridportal.experiments import recorded
from tests.gridportal.experiments.test_engine import Counting

app = typer.Typer()
app.command()(experiment_command)


@pytest.fixture
def counting(tmp_path, monkeypatch):
    """A quick experiment in place of the real ones."""
    monkeypatch.setenv("GRIDPORTAL_HOME", str(tmp_path))
    made = Counting()
    telemetry = replace(
        registry.named("telemetry"),
        measurement=lambda plan, folder, grids: made,
        tables=lambda result: [],
        finding=lambda result: "Counted.",
    )
    monkeypatch.setattr(registry, "experiments", lambda: (telemetry,))
    return made


def test_an_unknown_experiment_is_refused_with_those_there_are():
    with pytest.raises(InputError, match="one of slowdown, loadtraffic, skeletons, telemetry, redistribution"):
        CliRunner().invoke(app, ["cold-fusion"], catch_exceptions=False)


def test_the_help_tells_how_long_each_takes_and_where_its_trials_go():
    shown = " ".join(CliRunner().invoke(app, ["slowdown", "--help"], env={"COLUMNS": "200"}).stdout.split())

    assert "slowdown (about 10 minutes), loadtraffic (about half an hour)" in shown
    assert "experiments/NAME-SEED" in shown


def test_the_result_is_one_json_document_and_lies_in_the_home(counting, tmp_path):
    done = CliRunner().invoke(app, ["telemetry", "--seed", "3", "--json"], catch_exceptions=False)

    assert done.exit_code == 0
    assert json.loads(done.stdout)["complete"] is True
    assert (tmp_path / "experiments" / "telemetry-3" / "result.json").exists()


def test_a_stop_ends_with_130_and_the_same_command_goes_on(counting, tmp_path):
    folder = tmp_path / "mine"
    perform = counting.perform
    counting.perform = lambda trial, done: (stop(folder), perform(trial, done))[1]
    words = ["telemetry", "--out", str(folder), "--json"]

    assert CliRunner().invoke(app, words).exit_code == 130
    counting.perform = perform
    assert CliRunner().invoke(app, words).exit_code == 0
    assert counting.performed == ["a", "b", "c"]


def test_a_failed_trial_ends_with_1(counting):
    counting.broken = "b"

    assert CliRunner().invoke(app, ["telemetry", "--json"]).exit_code == 1


def test_nothing_begins_while_another_experiment_runs(counting, tmp_path):
    with (
        exclusive(tmp_path / "experiments", tmp_path / "other"),
        pytest.raises(BackendError, match="running already"),
    ):
        CliRunner().invoke(app, ["telemetry"], catch_exceptions=False)
    assert counting.performed == []


@pytest.mark.parametrize("name", registry.names())
def test_every_result_is_shown_as_tables_also_when_there_is_nothing_yet(name, tmp_path, capsys):
    experiment, result = registry.named(name), recorded.keep(name, tmp_path)
    show(experiment, result, Console(width=200))
    shown = capsys.readouterr().out
    show(experiment, recorded.summarized(name, tmp_path, {"0/x": {"error": "The Grid is down."}}), Console())

    tables = [table for table in experiment.tables(result) if not table.detail]
    assert tables
    assert all(str(row[0]) in shown for table in tables for row in table.rows)
    assert experiment.finding(result)[:80] in shown
    assert "0/x failed: The Grid is down." in capsys.readouterr().out


@pytest.mark.parametrize(("name", "figures"), [("slowdown", ("40.0", "27.6")), ("loadtraffic", ("112.6", "530.2"))])
def test_the_papers_figures_stand_beside_ours(name, figures, tmp_path, capsys):
    show(registry.named(name), recorded.keep(name, tmp_path), Console(width=200))

    shown = capsys.readouterr().out
    assert all(figure in shown for figure in figures)

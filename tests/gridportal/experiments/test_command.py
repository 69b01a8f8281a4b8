"""`gridportal experiment`: bad input, another one running, a stop and its continuation."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
import typer
from typer.testing import CliRunner

from gridportal.errors import BackendError, InputError
from gridportal.experiments import alone, catalogue
from gridportal.experiments.commands import experiment_command
from gridportal.experiments.record import stop
from gridportal.experiments.show import show
from tests.gridportal.experiments import recorded
from tests.gridportal.experiments.test_engine import Counting

app = typer.Typer()
app.command()(experiment_command)


@pytest.fixture
def counting(tmp_path, monkeypatch):
    """A quick experiment in place of the real ones."""
    monkeypatch.setenv("GRIDPORTAL_HOME", str(tmp_path))
    made = Counting()

    @contextmanager
    def make(name, seed, folder, *, full):
        yield made

    monkeypatch.setattr(catalogue, "made", make)
    return made


def test_an_unknown_experiment_is_refused_with_those_there_are():
    with pytest.raises(InputError, match="one of slowdown, loadtraffic, skeletons, telemetry"):
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
        alone.alone(tmp_path / "experiments", tmp_path / "other"),
        pytest.raises(BackendError, match="running already"),
    ):
        CliRunner().invoke(app, ["telemetry"], catch_exceptions=False)
    assert counting.performed == []


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_every_result_is_shown_as_a_table_also_when_there_is_nothing_yet(name, tmp_path, capsys):
    from rich.console import Console

    show(name, recorded.keep(name, tmp_path), Console(width=200))
    full = capsys.readouterr().out
    show(name, catalogue.summary(name, 1, tmp_path, {"0/x": {"error": "The Grid is down."}}, full=False), Console())

    assert {"slowdown": "the paper", "loadtraffic": "112.6", "skeletons": "published", "telemetry": "bandwidth"}[
        name
    ] in full
    assert "0/x failed: The Grid is down." in capsys.readouterr().out

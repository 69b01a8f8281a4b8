"""`gridportal testbed`: tables for people, one JSON document with --json, and the whole life on the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gridportal.base.errors import BackendError, InputError
from gridportal.testbed.client import Grid
from gridportal.testbed.commands import app
from tests.gridportal.testbed.conftest import eventually


def say(*words: str) -> str:
    """What the command prints; its own errors are raised."""
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def ask(grid: Grid, *words: str) -> Any:
    """The JSON document that a command prints about `grid`."""
    command, *rest = words
    return json.loads(say(command, "--json", "--state-dir", str(grid.directory), *rest))


def test_status_names_every_node_and_warns_when_nothing_is_shaped(plain: Grid) -> None:
    text = " ".join(say("status", "--state-dir", str(plain.directory)).split())
    assert "crossbar10, 10 nodes, unshaped" in text
    assert "The Grid is not shaped on this machine" in text
    assert [node["id"] for node in ask(plain, "status")["nodes"]] == [f"n{i}" for i in range(1, 11)]


def test_run_prints_each_line_after_its_node(plain: Grid) -> None:
    text = say("run", "--state-dir", str(plain.directory), "n1,n2", "--", "sh", "-c", "echo $GRIDPORTAL_NODE; echo x")
    assert text.splitlines() == ["n1: n1", "n1: x", "n2: n2", "n2: x"]


def test_run_fails_when_the_command_does(plain: Grid) -> None:
    result = CliRunner().invoke(app, ["run", "--state-dir", str(plain.directory), "n1", "--", "false"])
    assert result.exit_code == 1


def test_traffic_starts_by_seed_and_stops(plain: Grid) -> None:
    assert ask(plain, "traffic", "--seed", "7", "--streams", "20", "--time-scale", "0.01")["seed"] == 7
    changed = [link for link in ask(plain, "status")["links"] if link["bandwidth"] < link["capacity"]]
    assert changed
    stopped = ask(plain, "traffic", "--stop")
    assert (stopped["traffic"], stopped["replaced"]["seed"]) == ("none", 7)
    assert ask(plain, "traffic", "--stop") == {"traffic": "none"}
    assert all(link["bandwidth"] == link["capacity"] for link in ask(plain, "status")["links"])


def test_traffic_says_what_it_replaces_and_since_when(plain: Grid) -> None:
    where = ("--state-dir", str(plain.directory))
    assert "replaces" not in say("traffic", "--seed", "1", "--streams", "150", *where)
    text = say("traffic", "--seed", "2", "--streams", "30", *where)
    assert "It replaces the traffic of seed 1, 150 streams." in text
    assert re.search(r"since +20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", text)
    assert "It ended the traffic of seed 2, 30 streams." in say("traffic", "--stop", *where)


def test_the_models_of_load_and_traffic_start_by_seed_and_stop(plain: Grid) -> None:
    where = ("--state-dir", str(plain.directory))
    assert ask(plain, "load-model", "--seed", "5", "--gap", "3")["model"]["gap"] == 3.0
    assert ask(plain, "traffic-model", "--seed", "6")["seed"] == 6
    assert sum(ask(plain, "status")["load"].values()) > 0
    text = say("status", *where)
    assert "load model: seed 5" in text
    assert "traffic model: seed 6" in text

    for verb in ("load-model", "traffic-model"):
        assert ask(plain, verb, "--stop") == {"state": "stopped"}
    status = ask(plain, "status")
    assert (status["load"], status["load_model"], status["traffic_model"]) == ({}, None, None)


def test_the_models_refuse_what_they_do_not_know(plain: Grid) -> None:
    with pytest.raises(InputError, match="some of gap, short, mean"):
        plain.load_model(1, {"speed": 2.0})
    with pytest.raises(InputError, match="gap"):
        plain.traffic_model(1, {"gap": 0.0})
    with pytest.raises(InputError, match="seed"):
        plain.load_model(-1)


def test_status_lists_the_slowest_links_and_all_when_asked(plain: Grid) -> None:
    where = ("--state-dir", str(plain.directory))
    say("traffic", "--seed", "1", "--streams", "150", *where)
    slowed = len([link for link in ask(plain, "status")["links"] if link["bandwidth"] < link["capacity"]])
    short, whole = say("status", *where), say("status", "--all", *where)
    say("traffic", "--stop", *where)
    assert f"The 8 slowest of {slowed} links that traffic slows" in short
    assert short.count(" -> ") < whole.count(" -> ")
    assert whole.count(" -> ") >= slowed
    assert [line for line in (short + whole).splitlines() if "finished" in line and line != line.rstrip()] == []


def test_load_counts_its_processes_and_stops(plain: Grid) -> None:
    assert ask(plain, "load", "n3", "n7", "--processes", "2") == {"n3": 2, "n7": 2}
    assert ask(plain, "load", "n3", "--stop") == {"n7": 2}
    assert ask(plain, "load", "--stop") == {}
    head = say("load", "n3", "--state-dir", str(plain.directory)).splitlines()[0]
    assert head.split() == ["Node", "Busy", "processes"]
    assert say("load", "--stop", "--state-dir", str(plain.directory)) == "Load: none; no node has busy processes.\n"


def test_probe_shows_a_matrix_or_a_document(plain: Grid) -> None:
    text = say("probe", "--nodes", "n1,n2,n3", "--state-dir", str(plain.directory))
    assert "6 pairs in 3 rounds" in text
    assert len(ask(plain, "probe", "--nodes", "n1,n2")["pairs"]) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("load",),
        ("load", "n99"),
        ("load", "n1", "--processes", "0"),
        ("traffic", "--time-scale", "0"),
        ("traffic", "--streams", "-1"),
        ("probe", "--nodes", "n1,n99"),
        ("run", "n99", "--", "true"),
        ("run", "n1"),
    ],
)
def test_a_value_that_cannot_be_is_refused(plain: Grid, words: tuple[str, ...]) -> None:
    command, *rest = words
    with pytest.raises(InputError):
        say(command, "--state-dir", str(plain.directory), *rest)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("load", "n99"), "node is 'n99'; accepted"),
        (("traffic", "--time-scale", "0"), "--time-scale is 0.0; accepted"),
        (("load",), "nodes is empty; accepted"),
        (("run", "n1"), "gridportal testbed run n1,n2 -- hostname"),
    ],
)
def test_a_refusal_names_the_option_as_it_was_typed(plain: Grid, words: tuple[str, ...], said: str) -> None:
    command, *rest = words
    with pytest.raises(InputError, match=re.escape(said)):
        say(command, "--state-dir", str(plain.directory), *rest)


def test_without_a_grid_every_command_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"testbed up crossbar10.*GRIDPORTAL_HOME"):
        say("status", "--state-dir", str(tmp_path))


def test_a_detached_grid_outlives_the_command_and_goes_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_TESTBED_MODE", "unshaped")
    root = tmp_path / "grid"
    code = "from gridportal.testbed.commands import app; app()"
    argv = ["sh", "-c", 'trap "" HUP INT QUIT; exec "$@"', "as nohup and a script's & do"]
    argv += [sys.executable, "-c", code, "up", "cmu8", "--json", "--state-dir", str(root)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True, cwd=Path(__file__).parents[3])
    assert json.loads(done.stdout)["topology"] == "cmu8"
    assert Grid(root).status()["mode"] == "unshaped"
    ignored = say("run", "--state-dir", str(root), "m-1", "--", "grep", "SigIgn", "/proc/self/status")
    # The C library keeps signals 32 and 33 to itself; whatever started the tests may have left them ignored.
    assert int(ignored.split()[2], 16) & 0x7FFF_FFFF == 0, "programs inherit what was ignored"
    assert json.loads(say("down", "--json", "--state-dir", str(root))) == {"state": "down"}
    with pytest.raises(BackendError):
        Grid(root).status()


@pytest.mark.in_turn("start")
@pytest.mark.in_turn("start")
@pytest.mark.parametrize("start", ["", "trap '' INT; "], ids=["", "in the background of a script"])
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_grid_in_the_foreground_goes_down_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signum: int, start: str
) -> None:
    monkeypatch.setenv("GRIDPORTAL_TESTBED_MODE", "unshaped")
    root = tmp_path / "grid"
    code = "from gridportal.testbed.commands import app; app()"
    argv = [sys.executable, "-c", code, "up", "smp6", "--foreground", "--json", "--state-dir", str(root)]
    argv = ["sh", "-c", f'{start}exec "$@"', "sh", *argv]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["state_dir"] == str(root)
        os.kill(process.pid, signum)
        assert process.wait(timeout=60) == 0
    eventually(lambda: not (root / "grid.json").exists(), "the end of the Grid")

"""Plug-ins, each in a process of its own: found by entry point, and harmless whatever they do."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from gridportal.network.topology import Node, Topology
from scheduling.performance.adapters import plugin_models
from scheduling.performance.adapters.plugin_models import ModelError
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.performance.core.phase_prediction import PhasePrediction

MODELS = """
import os, time
from scheduling.performance.core.phase_prediction import PhasePrediction

class Model:
    def __init__(self, name, answer):
        self.name, self._answer = name, answer
    def applies(self, application):
        return application == "sweep3d"
    def predict(self, parameters, nodes, network):
        return self._answer(parameters, nodes, network)

def good(parameters, nodes, network):
    print("noise that is no answer")
    slowest = min(network.node(node).effective_cpu for node in nodes)
    return [PhasePrediction("sweep", parameters["steps"], (0.5 / len(nodes) / slowest,))]

def raises(*_):
    raise LookupError("No benchmark of m-7.")

def endless(*_):
    return [PhasePrediction("sweep", 1, (float("inf"),))]

SWEEP, RAISES, ENDLESS = Model("sweep", good), Model("raises", raises), Model("endless", endless)
TWICE = Model("twice", lambda *_: [PhasePrediction("sweep", 1, (1.0,)), PhasePrediction("sweep", 2, (1.0,))])
BACKWARDS = Model("backwards", lambda *_: [PhasePrediction("sweep", -3, (1.0,))])
DIES = Model("dies", lambda *_: os._exit(7))
SLOW = Model("slow", lambda *_: time.sleep(600))
"""
NETWORK = Topology("two", False, "links", (Node("a"), Node("b", cpu=0.5)), ())


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with seven of them, as pip would have put it there."""
    (tmp_path / "sweep_models.py").write_text(textwrap.dedent(MODELS))
    (about := tmp_path / "sweep_models-1.0.dist-info").mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sweep-models\nVersion: 1.0\n")
    names = ("sweep", "raises", "endless", "dies", "slow", "twice", "backwards")
    lines = [f"{name} = sweep_models:{name.upper()}" for name in (*names, "missing")]
    (about / "entry_points.txt").write_text("[gridportal.performance_models]\n" + "\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def question(application: str = "sweep3d") -> RunQuestion:
    return RunQuestion(application, {"steps": 20}, ("a", "b"), NETWORK)


@pytest.mark.usefixtures("installed")
def test_a_plug_in_is_found_and_asked() -> None:
    assert {"sweep", "slow"} <= set(plugin_models.names())
    assert [plugin_models.is_shipped(name) for name in ("sweep", "cactus")] == [False, True]
    assert plugin_models.predict("sweep", question()) == (PhasePrediction("sweep", 20, (0.5,)),)
    assert plugin_models.predict("sweep", question("other")) is None


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises", "LookupError: No benchmark of m-7."),
        ("endless", "Infinity is no number"),
        ("dies", "exit code 7"),
        ("twice", "phases is 'sweep', 'sweep'; accepted is each phase once"),
        ("backwards", "count of sweep is -3; accepted is from 1 to"),
        ("missing", "AttributeError: module 'sweep_models' has no attribute 'MISSING'"),
    ],
)
def test_what_fails_is_told_in_its_own_words(name: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        plugin_models.predict(name, question(), patience=60)


@pytest.mark.usefixtures("installed")
def test_who_is_slow_is_not_waited_for() -> None:
    with pytest.raises(ModelError, match="gave no answer within 4 s"):
        plugin_models.predict("slow", question(), patience=4)

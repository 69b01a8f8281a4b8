"""All models asked at once, whatever some of them do; the kernels measured once."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gridportal.network.topology import Node, Topology
from scheduling.performance.adapters import kernel_process, plugin_models
from scheduling.performance.adapters.kernel_process import BenchmarkError
from scheduling.performance.core.kernel_rates import KernelRates
from scheduling.performance.core.performance_model import RunQuestion
from scheduling.performance.services import asking, benchmarks
from scheduling.performance.services.asking import ask_all

RATES = KernelRates(1e9, 1e9, *[1e-9] * 7, sweeps=((100.0, 1e-6),))


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Path:
    settings.PORTAL = settings.PORTAL.model_copy(update={"home": tmp_path})
    return tmp_path


def question(**parameters: object) -> RunQuestion:
    return RunQuestion("dense-qr", parameters, ("n1",), Topology("one", False, "links", (Node("n1"),), ()))


def test_kernels_are_measured_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_process, "measured_apart", lambda: RATES)
    assert benchmarks.kernel_rates() == RATES
    monkeypatch.setattr(kernel_process, "measured_apart", lambda: pytest.fail("measured again"))
    assert benchmarks.kernel_rates() == RATES
    assert KernelRates.read(json.loads((home / benchmarks.FILE).read_text())) == RATES


def test_what_was_kept_and_cannot_be_read_is_measured_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / benchmarks.FILE).write_text('{"product": "fast"}')
    monkeypatch.setattr(kernel_process, "measured_apart", lambda: RATES)
    assert benchmarks.kernel_rates() == RATES


def test_the_kernels_of_this_machine() -> None:
    """Really measured; no figure is asserted but that work takes time."""
    found = kernel_process.measured_apart()
    assert min(found.product, found.narrow, found.column, found.pivot, found.move, found.fill, found.check) > 0
    assert found.column_row >= 0


@pytest.mark.usefixtures("home")
def test_a_model_that_cannot_predict_stops_no_other(
    people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job(people["user"], "running")
    monkeypatch.setattr(kernel_process, "measured_apart", lambda: RATES)
    good = ask_all(question(size=256, block=64), job, None)
    assert ([each.model for each in good.predictions], good.problems) == (["qr"], ())
    wrong = ask_all(question(size="large", block=64), job, None)
    assert wrong.predictions == ()
    assert [each.document() for each in wrong.problems] == [
        {"model": "qr", "message": "size is 'large'; accepted is a whole number from 1 to 10,000,000."}
    ]


@pytest.mark.usefixtures("home")
def test_kernels_that_cannot_be_measured_are_said(people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> KernelRates:
        raise BenchmarkError("No BLAS.")

    monkeypatch.setattr(kernel_process, "measured_apart", fail)
    (problem,) = ask_all(question(size=256, block=64), make_job(people["user"], "running"), None).problems
    assert (problem.model, problem.message) == ("qr", "No BLAS.")


@pytest.mark.usefixtures("home")
def test_a_plug_in_that_was_too_slow_is_only_asked_where_it_has_more_time(
    people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, had, job = [100.0], list[float](), make_job(people["user"], "running")

    def predict(name: str, asked: RunQuestion, patience: float) -> None:
        had.append(patience)
        clock[0] += patience

    monkeypatch.setattr(asking, "_resting", {})
    monkeypatch.setattr(asking, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(plugin_models, "asked_about", lambda application: ["theirs"])
    monkeypatch.setattr(plugin_models, "predict", predict)
    monkeypatch.setattr(kernel_process, "measured_apart", lambda: RATES)
    for patience in (3.0, 3.0, 10.0, 10.0, 3.0):
        ask_all(question(size=256, block=64), job, None, patience)
    assert had == [3.0, 10.0]
    clock[0] += asking._REST
    ask_all(question(size=256, block=64), job, None, 3.0)
    assert had == [3.0, 10.0, 3.0]

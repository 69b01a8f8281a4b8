"""Every experiment keeps to the interface, and is what its folder says."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gridportal.base.errors import InputError
from gridportal.experiments import registry
from gridportal.experiments.plan import MAX_SEED, Plan
from tests.gridportal.experiments import recorded

NAMES = registry.names()


def test_they_are_found_in_the_order_of_lists():
    assert NAMES == ("slowdown", "loadtraffic", "skeletons", "telemetry")
    assert registry.find("cold-fusion") is None
    with pytest.raises(InputError, match="one of slowdown, loadtraffic, skeletons, telemetry"):
        registry.named("cold-fusion")


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_trials_have_names_of_their_own_and_are_the_same_for_the_same_plan(name, full):
    first, again = (
        [trial.key for trial in registry.named(name).measurement(Plan(name, 3, full), Path("none"), None).trials()]
        for _ in range(2)
    )

    assert first == again
    assert len(set(first)) == len(first) > 0


@pytest.mark.parametrize("name", NAMES)
def test_before_the_first_trial_there_is_a_sentence_and_no_mark(name, tmp_path):
    experiment, result = registry.named(name), recorded.summarized(name, tmp_path, {})

    assert experiment.finding(result).endswith(".")
    assert not any(trace["x"] for trace in experiment.figure(result)["data"])
    assert all(len(row) == len(table.heads) for table in experiment.tables(result) for row in table.rows)


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_result_has_tables_a_figure_and_the_papers_figures(name, tmp_path):
    experiment, result = registry.named(name), recorded.keep(name, tmp_path)

    assert result["paper"] == experiment.paper
    assert any(trace["x"] for trace in experiment.figure(result)["data"])
    tables = experiment.tables(result)
    assert tables
    assert all(table.rows for table in tables)
    assert all(len(row) == len(table.heads) for table in tables for row in table.rows)


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_a_seed_that_fits_nowhere_is_refused(seed):
    with pytest.raises(InputError, match="a whole number from 0 to"):
        Plan("slowdown", seed)
    assert Plan.of_document({"name": "slowdown", "seed": seed, "full": False}) is None


def test_a_plan_is_read_as_it_was_written():
    plan = Plan("slowdown", 7, full=True)

    assert Plan.of_document(plan.document()) == plan
    assert Plan.of_document({**plan.document(), "seed": True}) is None
    assert plan.folder_in(Path("base")) == Path("base/slowdown-7-full")
    assert replace(plan, full=False).folder_in(Path("base")) == Path("base/slowdown-7")


def test_measuring_needs_no_django():
    program = (
        "import sys; from gridportal.experiments import commands, registry; assert registry.experiments();"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'django', 'celery', 'plotly'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "content", ["", "EXPERIMENT = 'tiny'", "from gridportal.experiments.slowdown import EXPERIMENT"]
)
def test_a_folder_that_holds_no_experiment_of_its_name_is_told_to_its_author(tmp_path, content):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").write_text(content)
    program = (
        "import gridportal.experiments as package;"
        f"package.__path__.append({str(tmp_path)!r});"
        "from gridportal.experiments import registry; registry.experiments()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 1
    assert "gridportal.experiments.tiny must hold EXPERIMENT" in done.stderr

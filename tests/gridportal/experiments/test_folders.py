"""Every experiment keeps to the interface, and is what its folder says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.base.errors import InputError
from gridportal.experiments import registry
from gridportal.experiments.plan import MAX_SEED, Plan
from tests.gridportal.experiments import recorded

NAMES = registry.names()


def test_they_are_found_in_the_order_of_lists():
    assert (
        *("slowdown", "loadtraffic", "skeletons", "telemetry", "redistribution"),
        *("migration-size", "migration-load", "migration-time", "opportunistic", "cactus"),
    ) == NAMES
    assert registry.find("cold-fusion") is None
    with pytest.raises(InputError, match="one of slowdown, loadtraffic, skeletons, telemetry, redistribution, "):
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


@pytest.mark.parametrize(
    ("plan", "folder"),
    [
        (Plan("slowdown", 7, full=True), "slowdown-7-full"),
        (Plan("skeletons", 7), "skeletons-7"),
        (Plan("skeletons", 7, foreign=True), "skeletons-7-foreign"),
        (Plan("skeletons", 7, full=True, foreign=True, only="halo"), "skeletons-7-foreign-halo-full"),
    ],
)
def test_a_plan_is_read_as_it_was_written_and_has_a_folder_of_its_own(plan, folder):
    assert Plan.of_document(plan.document()) == plan
    assert plan.folder_in(Path("x")) == Path("x") / folder


@pytest.mark.parametrize("options", [{"foreign": "yes"}, {"only": 3}, {"only": "x" * 41}])
def test_a_plan_with_options_of_another_kind_is_none(options):
    assert Plan.of_document({"name": "skeletons", "seed": 1, "full": False, **options}) is None


@pytest.mark.parametrize("options", [{"foreign": True}, {"only": "cg"}])
def test_an_option_of_another_experiment_is_refused(options):
    with pytest.raises(InputError, match=f"{next(iter(options))} is .*slowdown has no such option"):
        registry.named("slowdown").check(Plan("slowdown", **options))
    registry.named("skeletons").check(Plan("skeletons", **options))

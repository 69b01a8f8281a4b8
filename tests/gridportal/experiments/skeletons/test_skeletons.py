"""The summary of what skeletons predict."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gridportal.experiments.grid_programs import Program
from gridportal.experiments.skeletons.measurement import SCALED, Scale, Skeletons
from gridportal.experiments.statistics import spearman

SCALE = Scale({"cg": Program("cg")}, 3, 1)


def run(seconds, predicted, skeleton=0.1):
    return {"nodes": ["n1"], "loaded": None, "seconds": seconds, "predicted": predicted, "skeleton": skeleton}


def test_what_is_predicted_is_held_against_what_it_took():
    done = {
        "cg/reference": run(2.0, 3.0),
        "cg/0": run(2.75, 2.75),
        "cg/1": run(3.0, 3.3),
        "cg/2": run(2.0, 1.9),
    }

    result = Skeletons(SCALE, 1, Path("none"), None).summarize(done)

    found = result["programs"]["cg"]
    assert [point["error"] for point in found["points"]] == [pytest.approx(x, abs=1e-9) for x in (0.0, 0.1, -0.05)]
    assert found["worst_error"] == pytest.approx(0.1)
    assert found["mean_error"] == pytest.approx(0.05)
    assert found["correlation"] == pytest.approx(1.0)
    assert found["share"] == pytest.approx(0.3 / 7.75)
    assert result["reached"] == {"mean_error": False, "worst_error": True, "share": True, "correlation": True}


def test_nothing_is_claimed_without_a_reference():
    result = Skeletons(SCALE, 1, Path("none"), None).summarize({"cg/0": run(4.0, 6.0)})

    assert result["overall"] == dict.fromkeys(("mean_error", "worst_error", "share", "correlation", "together"))
    assert set(result["reached"].values()) == {False}


def test_the_conditions_of_all_programs_have_one_rank_correlation_as_multiples_of_their_references():
    """By their seconds the longer program would always be last, whatever is predicted of it."""
    scale = Scale({"cg": Program("cg"), "mg": Program("mg")}, 2, 1)
    took = {"cg/reference": 1.0, "cg/0": 1.1, "cg/1": 1.4, "mg/reference": 10.0, "mg/0": 12.0, "mg/1": 13.0}
    predicted = {"cg/0": 1.0, "cg/1": 1.5, "mg/0": 13.0, "mg/1": 14.0}
    done = {key: run(seconds, predicted.get(key, seconds)) for key, seconds in took.items()}

    overall = Skeletons(scale, 1, Path("none"), None).summarize(done)["overall"]

    assert overall["correlation"] == pytest.approx(1.0)
    assert overall["together"] == pytest.approx(1.0)
    done["mg/1"] = run(13.0, 9.0)
    overall = Skeletons(scale, 1, Path("none"), None).summarize(done)["overall"]
    assert overall["correlation"] == pytest.approx(-1.0)
    assert overall["together"] == pytest.approx(spearman([1.0, 1.5, 1.3, 0.9], [1.1, 1.4, 1.2, 1.3]))


def test_at_least_twelve_conditions_and_seven_programs_and_references_first():
    keys = [trial.key for trial in Skeletons(SCALED, 1, Path("none"), None).trials()]

    assert set(SCALED.programs) == {"cg", "is", "mg", "lu", "bt", "ft", "heat"}
    assert SCALED.conditions >= 12
    assert [key for key in keys if key.endswith("reference")] == keys[:7]
    assert len(keys) == len(set(keys)) == 7 * (1 + SCALED.conditions)


def test_the_rank_correlation_is_that_of_its_definition_and_shares_ranks_of_equal_values():
    rng = random.Random(5)
    xs, ys = ([float(v) for v in rng.sample(range(100), 9)] for _ in range(2))
    squares = sum((sorted(xs).index(x) - sorted(ys).index(y)) ** 2 for x, y in zip(xs, ys, strict=True))

    assert spearman(xs, ys) == pytest.approx(1 - 6 * squares / (9 * (81 - 1)))
    assert spearman([1.0, 1.0, 2.0], [5.0, 5.0, 9.0]) == pytest.approx(1.0)
    assert spearman([1.0, 1.0], [1.0, 2.0]) is None

"""Trials as rows keep them: what is written comes back, and rows with parts of one can be read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from scheduling.skeletons.core.trial_record import Outcome, Trial
from scheduling.skeletons.core.trial_rounds import Plan

PLAN = Plan(7, (0, 2), ((0, 1),), (1.0, 2.0), (3.0, 4.0), 1.5, 60.0, 6.0)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
counts = st.none() | st.integers(0, 9)
reasons = st.sampled_from([NOTHING, text_reason("The fastest."), Reason.of(Code.TRIAL_ONE_GROUP, ahead=False)])
outcomes = st.builds(
    Outcome, counts, st.sampled_from(["", "ann"]), counts, counts, counts, numbers, numbers, numbers, numbers, reasons
)
trials = st.builds(Trial, st.sampled_from([None, PLAN]), st.none() | outcomes, reasons)


@given(trials)
def test_a_trial_comes_back_from_its_document(trial: Trial) -> None:
    assert Trial.read(json.loads(json.dumps(trial.document()))) == trial


def test_the_document_of_a_trial_has_plan_and_outcome_side_by_side() -> None:
    outcome = Outcome(taken=1, by="skeleton", spent=4.0, won=2.0, finding=text_reason("n1 taken."))
    assert Trial(PLAN, outcome).document() == {
        **{"skeleton": 7, "groups": (0, 2), "apart": ((0, 1),), "bounds": (1.0, 2.0), "estimates": (3.0, 4.0)},
        **{"expected": 1.5, "application": 60.0, "budget": 6.0, "taken": 1, "by": "skeleton", "spent": 4.0},
        **{"won": 2.0, "finding": {"code": "told", "facts": {"text": "n1 taken."}}},
    }


def test_rows_with_parts_of_a_trial_can_be_read() -> None:
    trial = Trial.read({"groups": [0, 1], "spent": 75.0, "won": 400.0, "budget": None})
    assert (trial.plan, trial.groups, trial.outcome) == (None, (), Outcome(spent=75.0, won=400.0))
    assert Trial.read({"untried": "Too short."}) == Trial(untried=text_reason("Too short."))
    assert Trial.read(PLAN.document() | {"finding": "n1 taken."}) == Trial(
        PLAN, Outcome(finding=text_reason("n1 taken."))
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"budget": "long"}, "trial.budget is 'long'; accepted is a number."),
        ({"taken": 1.5}, "trial.taken is 1.5; accepted is a whole number."),
        ({"by": 3}, "trial.by is 3; accepted is a text."),
        ({"groups": [0, "one"]}, "trial.groups[1] is 'one'; accepted is a whole number."),
        ({"bounds": 1.0}, "trial.bounds is 1.0; accepted is a list."),
    ],
)
def test_an_entry_of_another_kind_is_named(wrong: dict[str, object], words: str) -> None:
    document = Trial(PLAN, Outcome(taken=0)).document() | wrong
    with pytest.raises(InputError) as error:
        Trial.read(document)
    assert str(error.value) == words


def test_a_trial_without_a_plan_tries_no_group() -> None:
    assert replace(Trial(PLAN), plan=None).groups == ()

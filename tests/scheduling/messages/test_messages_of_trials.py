"""What is told of a trial."""

from __future__ import annotations

import pytest

from gridportal.base.reasons import Code, Reason, text_reason
from scheduling.jobs.core.candidates import SkeletonResult
from scheduling.messages import message
from scheduling.messages.trial_messages import outcome
from scheduling.skeletons.core.trial_budget import Account, Cause
from scheduling.skeletons.core.trial_reasons import finding, group_reason

DONE = SkeletonResult("done", predicted=10.0)


@pytest.mark.parametrize(
    ("tried", "words"),
    [
        (
            SkeletonResult("failed", reason=text_reason("it ended with 9")),
            "its skeleton failed: it ended with 9",
        ),
        (
            SkeletonResult("stopped", reason=Reason.of(Code.SLOWER_ALREADY)),
            "was stopped: it is slower already",
        ),
        (SkeletonResult("skipped"), "its skeleton was not run"),
        (SkeletonResult("done", predicted=8.0), "its skeleton predicts 8 s, 2 s less"),
    ],
)
def test_each_way_of_not_being_taken_has_its_words(tried, words):
    assert message(group_reason(tried, DONE)).endswith(words)


def counted(compared, ended=None, ran=None, spent=3.0):
    ended = compared if ended is None else ended
    return Account(3, ended if ran is None else ran, ended, compared, spent, 4.0)


@pytest.mark.parametrize(
    ("by", "found", "predicted", "selection", "end"),
    [
        ("skeleton", counted(3), 10.0, None, "how long the selection's own choice takes is not known."),
        ("skeleton", counted(3), 10.0, 12.5, "compared 3 groups in 3 s and won 2.5 s over the selection alone."),
        ("skeleton", counted(2), 12.5, 12.5, "compared 2 of 3 groups in 3 s and confirmed the selection's choice."),
        (
            "skeleton",
            counted(0, 1),
            12.5,
            None,
            "of 3 groups the skeleton ended on 1 in 3 s, so there is nothing to compare.",
        ),
        ("selection", counted(0), None, None, "no skeleton ended in 3 s."),
        ("selection", counted(0, 1, 2), 9.0, 9.0, "ended on 1 in 3 s, so there is nothing to compare."),
        ("ada", counted(0, 1), None, None, "n1 taken by ada; of 3 groups the skeleton ended on 1 in 3 s."),
        (
            "ada",
            counted(2),
            200.4,
            100.0,
            "n1 taken by ada: 200 s predicted; of 3 groups the skeleton ended on 2 in 3 s.",
        ),
        ("skeleton", counted(2, spent=5.5), 9.0, 9.0, "choice. The trial took 1.5 s more than its 4 s."),
    ],
)
def test_the_finding_names_who_chose_and_what_it_won(by, found, predicted, selection, end):
    assert message(finding(["n1"], by, found, predicted, selection)).endswith(end)


@pytest.mark.parametrize("by", ["skeleton", "selection", "ada"])
@pytest.mark.parametrize("ended", [0, 1])
def test_nothing_is_confirmed_or_won_where_nothing_was_compared(by, ended):
    words = message(finding(["n1"], by, counted(0, ended, 2), 10.0, 10.0))
    assert "confirmed" not in words
    assert "won" not in words
    assert "compared" not in words


def test_a_group_that_a_person_took_says_so_and_what_became_of_its_skeleton():
    early = SkeletonResult("stopped", Cause.TAKEN, reason=Reason.of(Code.TAKEN_EARLY, person="ada"))
    failed = SkeletonResult("failed", Cause.FAILED, reason=text_reason("it ended with 9"))
    assert message(group_reason(early, early, "ada")) == "taken by ada before its skeleton ended"
    words = "taken by ada; its skeleton failed: it ended with 9"
    assert message(group_reason(failed, failed, "ada")) == words


@pytest.mark.parametrize(
    ("took", "predicted", "end"),
    [(50.0, 60.0, "predicted 60 s, 20 % more."), (50.0, 50.1, "predicted 50.1 s, the same within 1 %.")],
)
def test_what_was_predicted_is_set_beside_what_it_took(took, predicted, end):
    assert outcome(took, predicted).endswith(end)

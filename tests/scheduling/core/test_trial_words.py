"""What is told of a trial."""

from __future__ import annotations

import pytest

from scheduling.core import trial_words

DONE = {"state": "done", "predicted": 10.0, "reason": ""}


@pytest.mark.parametrize(
    ("tried", "words"),
    [
        ({"state": "failed", "predicted": None, "reason": "it ended with 9"}, "its skeleton failed: it ended with 9"),
        (
            {"state": "stopped", "predicted": None, "reason": "it is slower already"},
            "was stopped: it is slower already",
        ),
        ({"state": "skipped", "predicted": None, "reason": ""}, "its skeleton was not run"),
        ({"state": "done", "predicted": 8.0, "reason": ""}, "its skeleton predicts 8 s, 2 s less"),
    ],
)
def test_each_way_of_not_being_taken_has_its_words(tried, words):
    assert trial_words.group_reason(tried, DONE, selected="").endswith(words)


@pytest.mark.parametrize(
    ("by", "predicted", "selection", "end"),
    [
        ("skeleton", 10.0, None, "what the selection's own choice takes was not found out."),
        ("skeleton", 10.0, 12.5, "won 2.5 s over the selection alone."),
        ("skeleton", 12.5, 12.5, "confirmed the selection's choice."),
        ("selection", None, None, "no skeleton came to its end in 3 s."),
        ("ada", None, None, "n1 taken by ada; the skeleton ran on 1 group in 3 s."),
        ("ada", 200.4, 100.0, "n1 taken by ada: 200 s predicted; the skeleton ran on 1 group in 3 s."),
    ],
)
def test_the_finding_names_who_chose_and_what_it_won(by, predicted, selection, end):
    assert trial_words.finding(["n1"], by, 1, 3.0, predicted, selection).endswith(end)


def test_a_group_that_a_person_took_says_so_and_what_became_of_its_skeleton():
    early = {"state": "stopped", "predicted": None, "reason": trial_words.taken_early("ada")}
    failed = {"state": "failed", "predicted": None, "reason": "it ended with 9"}
    assert trial_words.group_reason(early, early, selected="", person="ada") == "taken by ada before its skeleton ended"
    words = "taken by ada; its skeleton failed: it ended with 9"
    assert trial_words.group_reason(failed, failed, selected="", person="ada") == words


@pytest.mark.parametrize(
    ("took", "predicted", "end"),
    [(50.0, 60.0, "predicted 60 s, 20 % more."), (50.0, 50.1, "predicted 50.1 s, the same to the per cent.")],
)
def test_what_was_predicted_is_set_beside_what_it_took(took, predicted, end):
    assert trial_words.outcome(took, predicted).endswith(end)

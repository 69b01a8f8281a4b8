"""Sentences of earlier versions become codes, and back; people read the same words before and after."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.base.reasons import Code, Reason
from scheduling.messages import message
from tests.conftest import models_after

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE, AFTER = [("experiments", "0001_initial")], [("experiments", "0002_reasons_and_lease")]
#: What earlier versions wrote: the state, the sentence, its code now.
WRITTEN = [
    ("stopped", "It was ended in the middle of a trial.", Code.EXPERIMENT_CUT_SHORT),
    ("failed", "Its process ended without a word.", Code.EXPERIMENT_FAILED),
    ("failed", "The Grid could not be built: no tc.", Code.EXPERIMENT_FAILED),
    ("failed", '{"code": "chosen", "facts": {}}', Code.EXPERIMENT_FAILED),  # a program may end with any line
    ("failed", "It could not be started: [Errno 28] No space left on device", Code.EXPERIMENT_NOT_STARTED),
    ("stopped", "An operator wrote this.", Code.PLAIN_TEXT),
    ("done", "", Code.NONE),
]
#: Those that have other words by now.
SAID_NOW = {"Its process ended without a word.": "Its process ended without a message."}


def migrated(target: list[tuple[str, str]]) -> Any:
    return models_after(*target).get_model("experiments", "Experiment")


@pytest.fixture
def before(earlier: Any) -> Any:
    """The model of before."""
    return earlier(*BEFORE[0]).get_model("experiments", "Experiment")


def test_sentences_become_codes_that_say_the_same_and_back(before: Any) -> None:
    before.objects.bulk_create(
        before(name="slowdown", folder=f"/{number}", state=state, reason=sentence, host="here")
        for number, (state, sentence, _) in enumerate(WRITTEN)
    )

    after = migrated(AFTER)
    reasons = [Reason.load(text) for text in after.objects.order_by("pk").values_list("reason", flat=True)]
    assert [reason.code for reason in reasons] == [code for _, _, code in WRITTEN]
    assert [message(reason) for reason in reasons] == [SAID_NOW.get(sentence, sentence) for _, sentence, _ in WRITTEN]
    assert set(after.objects.values_list("running_holder", flat=True)) == {"here"}

    back = migrated(BEFORE).objects.order_by("pk").values_list("reason", flat=True)
    assert list(back) == [SAID_NOW.get(sentence, sentence) for _, sentence, _ in WRITTEN]

"""What a stage of a move took beside what was predicted, with the digits of the table of its costs."""

from __future__ import annotations

import pytest

from scheduling.rescheduling.core.move_progress import MoveStage, StageProgress, StageState
from scheduling.templatetags.moves import stage_seconds


@pytest.mark.parametrize(
    ("seconds", "predicted", "text"),
    [
        (0.52, 0.4, "0.5 of 0.4 s"),
        (0.0, 0.04, "0.0 of under 0.1 s"),
        (12.34, 40.0, "12.3 of 40.0 s"),
        (12.34, None, "12.3 s"),
        (None, 0.4, "0.4 s predicted"),
        (None, None, ""),
    ],
)
def test_both_have_the_same_digits(seconds: float | None, predicted: float | None, text: str) -> None:
    assert stage_seconds(StageProgress(MoveStage.WRITE, StageState.DONE, seconds, predicted)) == text

"""How many ranks an application may have."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from scheduling.jobs.core import ranks


@pytest.mark.parametrize(
    ("limits", "allowed", "refused"),
    [
        ({"choices": [1, 2, 4]}, [1, 4], [3, 8]),
        ({"min": 2, "max": 3}, [2, 3], [1, 4]),
        ({"min": 2}, [2, 4096], [1]),
        ({}, [1, 4096], [0, 4097]),
    ],
)
def test_limits_allow_what_they_say(limits: dict[str, object], allowed: list[int], refused: list[int]) -> None:
    assert all(ranks.allows(limits, count) for count in allowed)
    assert not any(ranks.allows(limits, count) for count in refused)
    assert ranks.allows(limits, ranks.sample(limits))


def test_a_bare_list_is_read_as_choices() -> None:
    assert ranks.check([1, 2]) == {"choices": [1, 2]}


@pytest.mark.parametrize("raw", ["4", {"choices": []}, {"choices": [0]}, {"min": 4, "max": 2}, {"most": 3}, [True]])
def test_other_shapes_are_refused(raw: object) -> None:
    with pytest.raises(InputError, match="ranks"):
        ranks.check(raw)

"""The name of a recognized pattern claims no more than its graph says."""

from __future__ import annotations

import pytest

from scheduling.profiles.core.profile_names import recognize


@pytest.mark.parametrize(
    ("ranks", "pairs", "name"),
    [
        (2, [(0, 1)], "pairs"),
        (2, [(1, 0)], "pairs"),
        (2, [], "ep"),
        (4, [(0, 1), (1, 2), (2, 3), (3, 0)], "ring"),
        (4, [(0, 1), (2, 3)], "pairs"),
    ],
)
def test_two_ranks_are_a_pair_and_more_are_what_they_were(ranks: int, pairs: list[tuple[int, int]], name: str) -> None:
    assert recognize(ranks, pairs).name == name

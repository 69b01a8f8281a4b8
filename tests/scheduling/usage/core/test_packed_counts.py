"""Counts by bucket as text: what is packed is read again, and joined texts are the sum."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scheduling.usage.core.packed_counts import packed, unpacked

COUNTS = st.dictionaries(st.integers(0, 65_535), st.integers(1, 2**32 - 1), max_size=80)


@given(st.lists(COUNTS, max_size=5))
def test_joined_texts_are_the_sum_of_their_counts(parts: list[dict[int, int]]) -> None:
    whole: Counter[int] = Counter()
    for part in parts:
        assert unpacked(packed(part)) == part
        whole.update(part)
    assert unpacked("".join(packed(part) for part in parts)) == whole

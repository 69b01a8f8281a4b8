"""What reading moves elsewhere, by the map that a program has told, against what can be told by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from gridportal.base.errors import InputError
from gridportal.runtime.srs.layouts import parsed
from scheduling.checkpoints.core.arrays_elsewhere import on_ranks, reads
from scheduling.runs.core.checkpoint_manifest import ArrayFacts


def array(layout: str, *shape: int, dtype: str = "<f8") -> ArrayFacts:
    return ArrayFacts("x", dtype, shape, layout)


@pytest.mark.parametrize(
    ("layout", "ranks", "there"),
    [
        ("block:4", 4, "block:4"),
        ("block-cyclic:64x64:2x2", 8, "block-cyclic:64x64:2x4"),
        ("block-cyclic:64x64:4x2", 4, "block-cyclic:64x64:2x2"),
        ("block-cyclic:64x64:4x2", 6, "block-cyclic:64x64:3x2"),
        ("block:1x4", 6, "block:1x6"),
        ("block:4x1", 6, "block:6x1"),
        ("block:1x2", 4, "block:2x2"),
        ("shares:3,0,2", 3, "shares:3,0,2"),
    ],
)
def test_a_layout_keeps_its_kind_on_other_ranks(layout: str, ranks: int, there: str) -> None:
    assert on_ranks(parsed(layout), ranks).text == there


def test_bytes_go_where_the_blocks_do() -> None:
    (move,) = reads([array("block:2", 1000)], ["a", "b"], ["c", "c", "d", "d"])
    assert move.moved == {("a", "c"): 4000, ("b", "d"): 4000}
    assert move.readers == {("a", "c"): 2, ("b", "d"): 2}


def test_each_rank_reads_all_of_a_replicated_array() -> None:
    (move,) = reads([array("replicated:2", 1000)], ["a", "b"], ["c", "d", "e"])
    assert move.moved == {("a", "c"): 8000, ("b", "d"): 8000, ("a", "e"): 8000}


def test_small_ones_of_many_arrays_are_read_together() -> None:
    arrays = [array("block:1", size) for size in (1, 2, 3, 400, 500, 600, 700)]
    moves = reads(arrays, ["a"], ["b"])
    assert [move.moved for move in moves] == [{("a", "b"): 8 * size} for size in (700, 600, 500, 400, 6)]
    assert sum((Counter(move.moved) for move in moves), Counter()) == {("a", "b"): 8 * 2206}


@pytest.mark.parametrize(
    ("array_facts", "ranks", "field"),
    [
        (array("shares:3,0", 3), 3, "layout"),
        (array("block:1x1x2", 2, 2, 2), 4, "layout"),
        (array("block:3", 9), 2, "layout"),
        (array("an index map", 9), 2, "layout"),
        (array("block:2", 9, dtype="oops"), 4, "dtype"),
    ],
)
def test_what_cannot_be_predicted_is_named(array_facts: ArrayFacts, ranks: int, field: str) -> None:
    with pytest.raises(InputError) as error:
        reads([array_facts], ["a", "b"], ["c"] * ranks)
    assert error.value.field == field


def test_a_plan_of_too_many_messages_is_not_simulated() -> None:
    with pytest.raises(InputError, match="at most 2,000 messages"):
        reads([array("cyclic:99", 10**6)], ["a"] * 99, ["b"] * 100)


def test_arrays_are_read_back_as_they_were_kept() -> None:
    kept = array("block-cyclic:2x2:1x2", 10, 4)
    assert ArrayFacts.read(kept.document()) == kept

"""Bytes that are gathered on a depot are those of the same view in numpy."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.runtime.depot import slabs
from gridportal.runtime.depot.slabs import BadSlabError, Slab

DIMENSIONS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5000)), max_size=3)


@given(st.integers(0, 300), st.sampled_from([1, 2, 3, 4, 8, 24, 200_000]), DIMENSIONS)
def test_gathered_bytes_are_those_of_a_strided_view(start: int, run: int, dimensions: list[tuple[int, int]]) -> None:
    slab = Slab(start, run, tuple(dimensions))
    content = np.random.default_rng(1).integers(0, 255, slab.end, np.uint8)
    shape = [*(count for count, _ in dimensions), run]
    strides = [*(stride for _, stride in dimensions), 1]
    wanted = np.lib.stride_tricks.as_strided(content[start:], shape, strides).tobytes()
    with tempfile.TemporaryFile() as file:
        file.write(content.tobytes())
        file.flush()
        assert b"".join(bytes(part) for part in slabs.gathered(file.fileno(), slab)) == wanted
    assert len(wanted) == slab.bytes


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from([1, 8, 24, 40_000]), DIMENSIONS), max_size=4))
def test_portions_are_the_bytes_of_all_slabs_and_never_small_but_the_last(described: list[Any]) -> None:
    wanted = [Slab(start, run, tuple(dimensions)) for start, run, dimensions in described]
    content = np.random.default_rng(1).integers(0, 255, max([0, *(slab.end for slab in wanted)]), np.uint8)
    with tempfile.TemporaryFile() as file:
        file.write(content.tobytes())
        file.flush()
        portions = [bytes(each) for each in slabs.portions(file.fileno(), wanted)]
        alone = [bytes(part) for slab in wanted for part in slabs.gathered(file.fileno(), slab)]
    assert b"".join(portions) == b"".join(alone)
    assert all(len(each) >= 8 * 1024 for each in portions[:-1])


@given(st.integers(0, 300), st.integers(1, 100), DIMENSIONS)
def test_a_slab_is_read_as_it_was_written(start: int, run: int, dimensions: list[tuple[int, int]]) -> None:
    slab = Slab(start, run, tuple(dimensions))
    assert slabs.parsed([slabs.dumped(slab)], slab.end) == [slab]
    with pytest.raises(BadSlabError, match=f"the shard has {slab.end - 1} bytes"):
        slabs.parsed([slabs.dumped(slab)], slab.end - 1)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        [[0, 1]],
        [[-1, 1, []]],
        [[0, 0, []]],
        [[True, 1, []]],
        [[0, 1.5, []]],
        [[0, 1, [[1]]]],
        [[0, 1, [[0, 1]]]],
        [[0, 1, [[2, -1]]]],
        [[0, 1, [[2, 0]]]],
        [[0, 1, [["2", 1]]]],
        [[0, 2**70, []]],
        [[0, 1, [[2**40, 1]] * 3]],
        [[0, 1, [[1, 1]] * 33]],
        [[0, 1, []]] * 257,
        [[0, 600_000, []]] * 2,
    ],
)
def test_what_is_no_slab_or_too_much_is_refused(document: Any) -> None:
    with pytest.raises(BadSlabError):
        slabs.parsed(document, 10**6)


def test_a_file_that_became_shorter_is_noticed() -> None:
    with tempfile.TemporaryFile() as file:
        os.truncate(file.fileno(), 10)
        with pytest.raises(OSError, match="6 bytes too early"):
            list(slabs.gathered(file.fileno(), Slab(8, 8)))

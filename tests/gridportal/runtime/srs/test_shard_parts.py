"""What a rank asks a depot for fills its array as a copy does, in few requests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.runtime.depot.slabs import MOST_BYTES, MOST_SLABS, Slab
from gridportal.runtime.srs import layouts, shard_parts
from gridportal.runtime.srs.redistribution import Redistribution
from tests.gridportal.runtime.srs.ways import SHAPES, local, ways


def sent(held: np.ndarray, slabs: list[Slab]) -> bytes:
    """What a depot that has `held` gives."""
    content = np.frombuffer(held.tobytes(), np.uint8)
    gathered = []
    for slab in slabs:
        assert slab.end <= len(content)
        shape = [*(count for count, _ in slab.dimensions), slab.run]
        strides = [*(stride for _, stride in slab.dimensions), 1]
        gathered.append(np.lib.stride_tricks.as_strided(content[slab.start :], shape, strides).tobytes())
    return b"".join(gathered)


def filled(way: Redistribution, whole: np.ndarray, target: int) -> tuple[np.ndarray, list[list[Slab]]]:
    """The array of a new rank, and what it asked each old one for, request by request."""
    into = np.zeros(way.new.local_shape(way.shape, target), whole.dtype)
    asked = []
    for source in way.sources(target):
        held = local(way.old, whole, source)
        for part in shard_parts.parts(way, source, target, into):
            assert len(part.slabs) <= MOST_SLABS
            assert sum(slab.bytes for slab in part.slabs) <= MOST_BYTES
            part.fill(memoryview(sent(held, part.slabs)))
            asked.append(part.slabs)
    return into, asked


@given(st.data(), SHAPES, st.sampled_from(["f8", "i4", "c16", "u1"]))
@settings(max_examples=100)
def test_every_rank_gets_the_same_bits(data: Any, shape: tuple[int, ...], kind: str) -> None:
    old, new = data.draw(ways(shape)), data.draw(ways(shape))
    whole = np.arange(np.prod(shape, dtype=int)).astype(kind).reshape(shape)
    for target in range(new.ranks):
        into, _ = filled(Redistribution(old, new, shape), whole, target)
        assert into.tobytes() == local(new, whole, target).tobytes()


def test_elements_in_an_order_of_the_users_own_come_in_one_request() -> None:
    order = np.random.default_rng(1).permutation(3000)
    way = Redistribution(layouts.block(1), layouts.index_map(np.array_split(order, 2)), (3000,))
    whole = np.arange(3000.0)
    into, asked = filled(way, whole, 0)
    assert np.array_equal(into, order[:1500])
    (slabs,) = asked
    assert len(slabs) < 20  # half of all elements are wanted, so that few gaps are long


def test_what_lies_far_apart_is_asked_for_alone() -> None:
    order = [np.arange(0, 3000, 100)[::-1], np.setdiff1d(np.arange(3000), np.arange(0, 3000, 100))]
    _, asked = filled(Redistribution(layouts.block(1), layouts.index_map(order), (3000,)), np.arange(3000.0), 0)
    assert [sum(slab.bytes for slab in slabs) for slabs in asked] == [30 * 8]

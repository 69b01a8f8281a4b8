"""Layouts, data maps and redistribution against a definition that goes element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.dealing import BlockCyclic
from gridportal.runtime.srs.overlaps import most_pieces, overlaps
from gridportal.runtime.srs.redistribution import Redistribution
from tests.examples import examples
from tests.gridportal.runtime.srs.ways import SHAPES, dealings, local, ways, where

TYPES = st.sampled_from(["f8", "i4", "c16", "u1", "S3"])


@given(st.data(), st.integers(0, 300))
@settings(max_examples=examples(41, fuzz=200))
def test_overlaps_hold_every_element_once(data: Any, length: int) -> None:
    old, new = data.draw(dealings(length)), data.draw(dealings(length))
    pieces = overlaps(old, new, length)
    seen = []
    for at in range(len(pieces.size)):
        for outer in range(pieces.outer[at]):
            for inner in range(pieces.inner[at]):
                source = pieces.source_place[at] + outer * pieces.source_outer[at] + inner * pieces.source_inner[at]
                target = pieces.target_place[at] + outer * pieces.target_outer[at] + inner * pieces.target_inner[at]
                for n in range(pieces.size[at]):
                    seen.append((int(pieces.source[at]), int(source) + n, int(pieces.target[at]), int(target) + n))
    assert sorted(seen) == sorted(zip(*where(old, length), *where(new, length), strict=True))
    assert pieces.elements(old.parts, new.parts).sum() == length
    assert len(pieces.size) <= 6 * most_pieces(old, new, length)


def test_the_number_of_pieces_goes_by_the_period_and_not_by_the_length() -> None:
    for old, new, most in (
        (BlockCyclic(4, 64), BlockCyclic(8, 32), 8),
        (BlockCyclic(4, 1), BlockCyclic(8), 40),
        (BlockCyclic(7, 1), BlockCyclic(5, 1000), 400),
        (BlockCyclic(1000), BlockCyclic(999), 2000),
    ):
        assert len(overlaps(old, new, 10**9).size) <= most
        assert overlaps(old, new, 10**9).elements(old.parts, new.parts).sum() == 10**9


@given(st.data(), SHAPES, TYPES)
@settings(max_examples=examples(41, fuzz=200))
def test_every_rank_gets_the_same_global_array_bit_for_bit(data: Any, shape: tuple[int, ...], kind: str) -> None:
    old, new = data.draw(ways(shape)), data.draw(ways(shape))
    whole = np.arange(np.prod(shape, dtype=int)).astype(kind).reshape(shape)
    way = Redistribution(old, new, shape)
    moved = {(m.source, m.target): m.bytes for m in way.messages(whole.itemsize)}
    assert way.message_count() == len(way.messages(1))
    for target in range(new.ranks):
        into = np.zeros(new.local_shape(shape, target), whole.dtype)
        sources = way.sources(target)
        assert sources == sorted(source for source, to in moved if to == target)
        for source in sources:
            way.copy(source, local(old, whole, source), target, into)
        wanted = local(new, whole, target)
        assert into.tobytes() == wanted.tobytes()
        assert into.shape == wanted.shape
    assert sum(moved.values()) == whole.nbytes * (1 if new.dealings else new.copies)


@given(st.data(), SHAPES)
@settings(max_examples=examples(21, fuzz=100))
def test_panels_are_the_data_map_of_a_rank(data: Any, shape: tuple[int, ...]) -> None:
    layout = data.draw(ways(shape))
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for rank in range(layout.ranks):
        mine = np.full(layout.local_shape(shape, rank), -1)
        panels = list(layout.panels(shape, rank))
        for panel in panels:
            here = tuple(slice(at, at + n) for at, n in zip(panel.place, panel.shape, strict=True))
            there = tuple(slice(at, at + n) for at, n in zip(panel.start, panel.shape, strict=True))
            mine[here] = whole[there]
        assert mine.tolist() == local(layout, whole, rank).tolist()
        assert layout.panel_count(shape, rank) == len(panels)
        sizes = layout.local_sizes(shape)
        assert sizes[rank if layout.dealings else 0] == np.prod(layout.local_shape(shape, rank), dtype=int)


@given(st.data(), SHAPES)
@settings(max_examples=examples(21, fuzz=100))
def test_a_layout_is_read_as_it_was_written(data: Any, shape: tuple[int, ...]) -> None:
    layout = data.draw(ways(shape))
    assert layouts.load(layouts.dump(layout)) == layout


def test_the_example_of_the_paper_goes_from_four_blocks_to_eight_block_cyclic() -> None:
    way = Redistribution(layouts.block(4), layouts.block_cyclic([2], [8]), (64,))
    assert {(m.source, m.bytes) for m in way.messages(8)} == {(0, 16), (1, 16), (2, 16), (3, 16)}
    assert [way.sources(target) for target in range(8)] == [[0, 1, 2, 3]] * 8


def test_a_scalar_goes_to_all() -> None:
    way = Redistribution(layouts.replicated(2), layouts.replicated(3), ())
    assert [(m.source, m.target, m.bytes) for m in way.messages(8)] == [(0, 0, 8), (0, 2, 8), (1, 1, 8)]
    into = np.zeros(())
    way.copy(1, np.array(2.5), 1, into)
    assert into == 2.5


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("blocks:4", "accepted is replicated:P, block:P"),
        ("block", "accepted is"),
        ("block:0", "0 is no whole number from 1"),
        ("block:-4", "-4 is no whole number"),
        ("block:four", "four is no whole number"),
        ("cyclic:2x", "nothing is no whole number"),
        ("block-cyclic:64:2x2", "accepted is"),
        ("block-cyclic:64x64:2", "accepted is"),
        ("replicated:2x2", "accepted is"),
        ("block:2000000", "one for 1 to 1,048,576 ranks"),
        ("block:٤", "is no whole number"),
        ("shares:", "nothing is no whole number"),
        ("block:99999999999999999999", "is no whole number"),
    ],
)
def test_a_text_that_is_no_layout_is_refused_in_a_sentence(text: str, wrong: str) -> None:
    with pytest.raises(InputError, match=r"^(from|layout|block|parts) is ") as raised:
        layouts.parsed(text, "from")
    assert wrong in str(raised.value)


@pytest.mark.parametrize(
    ("layout", "shape", "wrong"),
    [
        (layouts.shares([3, 4]), (8,), "shares that add up to 8"),
        (layouts.index_map([[0, 2], [1]]), (4,), "a map of 4"),
        (layouts.block(2, 2), (8,), "at most 1 dimensions"),
        (layouts.block(2), (-1,), "lengths of 0 or more"),
    ],
)
def test_an_array_that_does_not_fit_is_refused(layout: layouts.Layout, shape: tuple[int, ...], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        Redistribution(layout, layouts.replicated(1), shape)


@pytest.mark.parametrize("places", [[[0, 1], [1]], [[0], [2]], [[-1, 0]], []])
def test_a_map_has_each_place_once(places: list[list[int]]) -> None:
    with pytest.raises(InputError, match=r"^map is "):
        layouts.index_map(places)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"dimensions": []},
        {"dimensions": [3]},
        {"dimensions": [{"parts": "2"}]},
        {"dimensions": [{"parts": 2, "block": 0}]},
        {"dimensions": [{"shares": [1, -1]}]},
        {"dimensions": [{"shares": []}]},
        {"dimensions": [{"map": 3}]},
        {"dimensions": [{"map": [[0.5]]}]},
        {"replicated": True},
    ],
)
def test_a_document_that_is_no_layout_is_refused(document: object) -> None:
    with pytest.raises(InputError):
        layouts.load(document)

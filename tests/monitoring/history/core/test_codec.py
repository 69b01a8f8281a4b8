"""Columns and blocks: what comes back is what went in, exactly or to the digits that are stated, and small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gridportal.base.errors import InputError
from monitoring.history.core import codec
from monitoring.history.core.arrivals import in_order
from monitoring.history.core.blocks import Column, decode, decode_frame, encode, encode_frame, merged
from monitoring.history.core.levels import COARSE, FINE, rounded
from monitoring.history.core.rollup import HOUR, MINUTE, filled, rolled
from tests.examples import examples

sizes = st.integers(0, 60)
ints = st.integers(-(2**50), 2**50)
floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e39, max_value=1e39)
columns = sizes.flatmap(lambda n: arrays(np.float64, n, elements=floats))
moments = st.lists(st.integers(0, 2**42), min_size=0, max_size=60, unique=True).map(sorted)


@given(sizes.flatmap(lambda n: arrays(np.int64, n, elements=ints)))
def test_integers_come_back(values: np.ndarray) -> None:
    assert codec.unpack_ints(codec.pack(values), len(values)).tolist() == values.tolist()


@given(moments)
def test_times_come_back_to_the_millisecond(at: list[int]) -> None:
    column = np.array(at, dtype=np.int64)
    assert codec.unpack_axis(codec.pack_axis(column), len(column)).tolist() == at


@given(columns)
def test_floats_come_back_without_loss(values: np.ndarray) -> None:
    assert codec.unpack_floats(codec.pack(values), len(values)).tolist() == values.tolist()


def test_the_furthest_integers_come_back() -> None:
    values = np.array([-1, 1, -1, 1, 1]) * (2**63 - 1)
    assert codec.unpack_ints(codec.pack(values), 5).tolist() == values.tolist()


def test_noise_takes_little_more_than_what_is_in_it() -> None:
    steps = np.rint(np.random.default_rng(2).laplace(0, 50, 400)).astype(np.int64)
    spread = np.abs(steps).mean()
    assert len(codec.pack(10_000 + np.cumsum(steps))) * 8 <= 1.2 * 400 * np.log2(2 * np.e * spread)


@given(st.integers(0, 2**60))
def test_integers_of_any_length_come_back(value: int) -> None:
    assert codec.read_varint(b"\xff" + codec.varint(value), 1) == (value, 1 + len(codec.varint(value)))


@given(columns)
@settings(max_examples=examples(60, fuzz=300))
def test_values_come_back_to_half_a_per_cent_at_least(values: np.ndarray) -> None:
    found = codec.unpack_values(codec.pack_values(values), len(values))
    assert (np.abs(found - values) <= np.maximum(5.001e-3 * np.abs(values), 1e-30)).all()


@given(columns)
def test_packing_again_changes_nothing_more(values: np.ndarray) -> None:
    once = codec.unpack_values(codec.pack_values(values), len(values))
    again = codec.unpack_values(codec.pack_values(once), len(once))
    assert (again == rounded(once, COARSE)).all() or (again == once).all()


@given(columns)
def test_what_has_coarse_levels_has_fine_ones_and_rounding_twice_is_as_once(values: np.ndarray) -> None:
    coarse = rounded(values, COARSE)
    assert (rounded(coarse, FINE) == coarse).all()
    assert (rounded(coarse, COARSE) == coarse).all()
    assert (np.diff(rounded(np.sort(values), COARSE)) >= 0).all()


@given(st.integers(0, 4), sizes.flatmap(lambda n: arrays(np.int64, n, elements=st.integers(-50, 50))))
def test_short_decimal_fractions_come_back_exactly(power: int, whole: np.ndarray) -> None:
    values = whole / 10.0**power
    assert codec.unpack_values(codec.pack_values(values), len(values)).tolist() == values.tolist()


@given(columns)
def test_rounding_is_that_of_decimal_digits(values: np.ndarray) -> None:
    for value, found in zip(values.tolist(), rounded(values).tolist(), strict=True):
        expected = float(f"{value:.3e}") if abs(value) >= 1e-30 else 0.0
        halfway = abs(abs(found - value) - abs(expected - value)) <= 1e-9 * abs(value)
        assert found == pytest.approx(expected, rel=1e-15) or halfway


@given(st.data())
@settings(max_examples=60)
def test_a_block_gives_back_each_series_alone_and_all_together(data: st.DataObject) -> None:
    shared = data.draw(moments)
    series = {}
    for slot in data.draw(st.sets(st.integers(0, 15), max_size=5)):
        at = np.array(shared if data.draw(st.booleans()) else data.draw(moments), dtype=np.int64)
        series[slot] = Column(at, data.draw(arrays(np.float64, (1, len(at)), elements=st.integers(0, 99).map(float))))
    block = encode(series)
    together = decode(block)
    assert together.keys() == series.keys()
    for slot, column in series.items():
        for found in (together[slot], decode(block, slot)[slot]):
            assert found.at.tolist() == column.at.tolist()
            assert found.values.tolist() == column.values.tolist()
    assert decode(block, 200) == {}


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2**42), floats), min_size=1, max_size=60))
def test_a_frame_loses_nothing(rows: list[tuple[int, int, float]]) -> None:
    numbers, at, values = (np.array(column) for column in zip(*rows, strict=True))
    found = decode_frame(encode_frame(numbers, at, values.astype(float)))
    assert [column.tolist() for column in found] == [numbers.tolist(), at.tolist(), values.tolist()]


@pytest.mark.parametrize("read", [decode, decode_frame])
@pytest.mark.parametrize("bad", [b"", b"\x07\x01\x01\x01" + bytes(30)])
def test_what_is_no_block_is_refused(read: object, bad: bytes) -> None:
    with pytest.raises(InputError, match="accepted is bytes that begin with version"):
        read(bad)  # type: ignore[operator]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), max_size=30),
    st.lists(st.tuples(st.integers(0, 20), st.integers(10, 19)), max_size=30),
)
def test_merging_is_what_a_dictionary_does(older: list[tuple[int, int]], newer: list[tuple[int, int]]) -> None:
    def column(rows: list[tuple[int, int]]) -> Column:
        return Column(np.array([a for a, _ in rows], np.int64), np.array([[v for _, v in rows]], float))

    found = merged(merged(None, column(older)), column(newer))
    assert dict(zip(found.at.tolist(), found.values[0].tolist(), strict=True)) == dict(older) | dict(newer)
    assert found.at.tolist() == sorted(dict(older) | dict(newer))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 99)), max_size=40))
def test_arrivals_are_in_order_and_the_last_of_doubles_counts(rows: list[tuple[int, int, int]]) -> None:
    numbers, at, values = (np.array([row[i] for row in rows], float) for i in range(3))
    found = in_order(numbers.astype(np.int64), at.astype(np.int64), values)
    expected = {(n, a): v for n, a, v in rows}
    assert list(zip(found.numbers.tolist(), found.at.tolist(), strict=True)) == sorted(expected)
    assert found.values.tolist() == [expected[key] for key in sorted(expected)]


@given(st.lists(st.tuples(st.integers(0, 4 * HOUR), st.integers(-99, 99)), min_size=1, max_size=60))
def test_rolling_up_is_what_counting_by_hand_gives_and_twice_is_as_once(rows: list[tuple[int, int]]) -> None:
    raw = merged(None, Column(np.array([a for a, _ in rows]), np.array([[v for _, v in rows]], float)))
    by_hand: dict[int, list[float]] = {}
    for at, value in zip(raw.at.tolist(), raw.values[0].tolist(), strict=True):
        by_hand.setdefault(at - at % HOUR, []).append(value)
    for found in (rolled(raw, HOUR), rolled(rolled(raw, MINUTE), HOUR)):
        assert found.at.tolist() == sorted(by_hand)
        for start, (mean, low, high, count) in zip(found.at.tolist(), found.values.T.tolist(), strict=True):
            values = by_hand[start]
            assert (low, high, count) == (min(values), max(values), len(values))
            assert mean == pytest.approx(sum(values) / len(values))


@given(st.lists(st.tuples(st.floats(1e-3, 1e9), st.floats(0, 0.5), st.integers(1, 20)), min_size=1, max_size=60))
def test_points_of_a_rollup_come_back_to_half_a_per_cent_in_their_order(rows: list[tuple[float, float, int]]) -> None:
    low, spread, count = (np.array(column, float) for column in zip(*rows, strict=True))
    mean, high = low * (1 + spread / 3), low * (1 + spread)
    at = MINUTE * np.arange(len(low))
    found = decode(encode({3: Column(at, np.stack([mean, low, high, count]))}))[3]
    assert np.allclose(found.values, [mean, low, high, count], rtol=5.1e-3, atol=0)
    assert found.values[3].tolist() == count.tolist()
    assert (found.values[1] <= found.values[2]).all()


def test_what_is_stored_stays_and_gaps_are_filled() -> None:
    stored = Column(np.array([0, 2]), np.array([[1.0, 1.0]]))
    other = Column(np.array([1, 2, 3]), np.array([[9.0, 9.0, 9.0]]))
    found = filled(stored, other)
    assert (found.at.tolist(), found.values[0].tolist()) == ([0, 1, 2, 3], [1.0, 9.0, 1.0, 9.0])


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.01, 0.1, 1.0])
def test_noise_of_any_size_takes_less_than_two_bytes_a_sample(noise: float) -> None:
    rng = np.random.default_rng(1)
    at = 1_795_000_000_000 + np.cumsum(30_000 + rng.integers(-40, 40, 720))
    series = {n: Column(at, 5e8 * np.exp(noise * rng.standard_normal((1, 720)))) for n in range(16)}
    assert len(encode(series)) / (16 * 720) < 2


def test_two_short_columns_of_noise_with_times_of_their_own_take_less_than_three_bytes_a_sample() -> None:
    rng = np.random.default_rng(3)
    for samples in (100, 250):
        at = 1_795_000_000_000 + 10 * np.cumsum(np.rint(rng.lognormal(4.6, 0.5, samples)).astype(np.int64))
        values = 2.5e6 * np.exp(np.cumsum(0.1 * rng.standard_normal((1, samples)), axis=1))
        assert len(encode({0: Column(at, values)})) / samples < 2.6


FIXED_WIDTH = """
010102030300000025000000020000001600000000000f00000003001a00000007010e000000e803000000000000280000000000000006
0000000000000000ee0200000000000000000002f401000000000000e80300000000000004000000000202053200000000000000000000
3164830a796900000000000065010000000000000000005c000000010005070000000000000000000002
"""
WITH_RICE = """
02010204281d030f00001403002f0901080b002b010006005e56eea10100003775000000000000070000939691260202000100030280f8
b2e5bd68eed4031b80020532000000000000000700003334322406020084031886c627c7450849f8fe30e42780e0363758298840e720c9
04e16c0f2c0cb2ba203e46baa92a196ba8663cc8a40103028c01140a80820315d08001014e0b421216b22c5e66a8111cb5d2079840aaf1
2aebeb6c92a0433872534505567bea4930
"""
ROLLED_WITH_RICE = """
02040101040a02000a070706e0d403000302000200c0840302d2a921d00f00c00302f02e0000c00302e7070000c00302040000c0
"""
FRAME_BEFORE = """
0100000003000000060000001600000021000000030202000880e803000000000000f40100000000000003020004058078019bc5306726
43e94c0686990c1d33196c66323cd9c9626e7fa00e0068ef08c2
"""


def test_blocks_of_the_first_version_are_read() -> None:
    found = decode(bytes.fromhex(FIXED_WIDTH))
    together, alone = [1000, 31000, 61040], [500, 1500]
    assert {slot: column.at.tolist() for slot, column in found.items()} == {0: together, 3: together, 7: alone}
    assert found[0].values.tolist() == [[0.5, 0.25, 0.75]]
    assert found[3].values.tolist() == [[1.0, 4.57, 9.88]]
    assert decode(bytes.fromhex(FIXED_WIDTH), 7)[7].values.tolist() == [[7.0, 8.0]]


def test_blocks_with_rice_codes_are_read() -> None:
    block = bytes.fromhex(WITH_RICE)
    found, at = decode(block), 1_795_000_000_000 + 30_000 * np.arange(40) + np.array([0, 7] * 20)
    assert [found[slot].at.tolist() for slot in (0, 3, 9, 11)] == [at.tolist()] * 2 + [at[:3].tolist(), at.tolist()]
    assert found[0].values.tolist() == [[0.5, 0.25] * 20]
    assert found[9].values.tolist() == [[7.0, 8.0, 9.5]]
    rng = np.random.default_rng(5)
    near, far = rng.standard_normal((1, 40)), rng.standard_normal((1, 40))
    assert np.allclose(found[3].values, 1e6 * np.exp(0.01 * near), rtol=5.1e-4, atol=0)
    assert np.allclose(decode(block, 11)[11].values, 100 * np.exp(np.cumsum(0.3 * far)), rtol=5.1e-3, atol=1e-3)


def test_rollups_with_rice_codes_are_read() -> None:
    found = decode(bytes.fromhex(ROLLED_WITH_RICE))[2]
    assert found.at.tolist() == [0, 60_000, 120_000, 180_000]
    assert found.values.tolist() == [[5, 6, 7, 8], [4, 5, 6, 7], [7, 8, 9, 10], [2, 2, 2, 2]]


def test_frames_of_the_version_before_are_read() -> None:
    found = decode_frame(bytes.fromhex(FRAME_BEFORE))
    assert [column.tolist() for column in found] == [[1, 1, 5], [1000, 2000, 1500], [0.1, -2.5, 1e300]]


def test_what_is_read_of_the_version_before_is_written_in_this_one() -> None:
    before = decode(bytes.fromhex(WITH_RICE))
    again = decode(encode(before))
    assert all(np.array_equal(again[slot].values, column.values) for slot, column in before.items())

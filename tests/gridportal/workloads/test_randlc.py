import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gridportal.workloads.randlc import MODULUS, MULTIPLIER, Stream, jump, powers

states = st.integers(1, MODULUS - 1)


def plain(state: int, count: int) -> list[int]:
    drawn = []
    for _ in range(count):
        state = state * MULTIPLIER % MODULUS
        drawn.append(state)
    return drawn


@given(states, st.integers(1, 200), st.integers(1, 64))
def test_a_stream_draws_what_plain_integers_give(state, count, block):
    drawn = Stream(state, block).draw(count)
    assert [int(number * MODULUS) for number in drawn] == plain(state, count)


@given(states, st.lists(st.integers(0, 50), max_size=5))
def test_a_stream_goes_on_where_it_stopped(state, counts):
    stream = Stream(state, block=16)
    drawn = np.concatenate([[], *(stream.draw(count) for count in counts)])
    assert drawn.tolist() == Stream(state).draw(sum(counts)).tolist()


@given(states, st.integers(1, 300))
def test_a_jump_lands_where_single_steps_end(state, steps):
    assert jump(state, steps) == plain(state, steps)[-1]


@given(states, st.integers(0, 10**12), st.integers(0, 10**12))
def test_two_jumps_are_one(state, first, second):
    assert jump(jump(state, first), second) == jump(state, first + second)


@given(st.integers(1, 200))
def test_powers_are_exact_at_every_length(count):
    assert powers(count).tolist() == [pow(MULTIPLIER, i + 1, MODULUS) for i in range(count)]

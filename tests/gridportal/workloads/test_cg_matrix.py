import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.workloads.cg_matrix import DIAGONAL, RCOND, SEED, Block, make_block, make_vectors
from gridportal.workloads.randlc import MODULUS, jump

SIZE, NONZEROS, SHIFT = 60, 5, 10.0


def plain_vectors(size, nonzeros):
    """The specification word for word: one draw after the other, in dictionaries."""
    span = 1
    while span < size:
        span *= 2
    state = jump(SEED, 1)
    vectors = []
    for own in range(size):
        vector: dict[int, float] = {}
        while len(vector) < nonzeros:
            state = jump(state, 1)
            value = state / MODULUS
            state = jump(state, 1)
            place = state * span // MODULUS
            if place < size and place not in vector:
                vector[place] = value
        vector[own] = DIAGONAL
        vectors.append(vector)
    return vectors


def plain_matrix(size, nonzeros, shift):
    matrix = np.diag(np.full(size, RCOND - shift))
    for own, vector in enumerate(plain_vectors(size, nonzeros)):
        dense = np.zeros(size)
        dense[list(vector)] = list(vector.values())
        matrix += RCOND ** (own / size) * np.outer(dense, dense)
    return matrix


def dense(block, columns):
    return np.array([block.times(unit, np.empty(block.rows)) for unit in np.eye(columns)]).T


@pytest.mark.parametrize(("size", "nonzeros"), [(60, 5), (64, 7), (33, 12), (300, 3)])
def test_vectors_are_those_of_the_specification(size, nonzeros):
    made = make_vectors(size, nonzeros)
    for places, values, expected in zip(made.places, made.values, plain_vectors(size, nonzeros), strict=True):
        assert {int(p): float(v) for p, v in zip(places, values, strict=True) if v} == expected


def test_the_matrix_is_that_of_the_specification():
    whole = make_block(SIZE, NONZEROS, SHIFT, range(SIZE), range(SIZE))
    np.testing.assert_allclose(dense(whole, SIZE), plain_matrix(SIZE, NONZEROS, SHIFT), atol=1e-13)


def test_blocks_are_pieces_of_the_whole_matrix():
    matrix = plain_matrix(SIZE, NONZEROS, SHIFT)
    for rows in (range(30), range(30, 60)):
        for columns in (range(15), range(15, 30), range(30, 45), range(45, 60)):
            block = make_block(SIZE, NONZEROS, SHIFT, rows, columns)
            np.testing.assert_allclose(
                dense(block, len(columns)),
                matrix[rows.start : rows.stop, columns.start : columns.stop],
                atol=1e-13,
            )


@settings(max_examples=60)
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=4, max_size=4), min_size=1, max_size=6))
def test_rows_without_elements_give_zero(rows):
    matrix = np.array(rows)
    row, column = np.nonzero(matrix)
    starts = np.searchsorted(row, np.arange(len(rows) + 1))
    block = Block(len(rows), starts, column, matrix[row, column])
    vector = np.array([3.0, 5.0, 7.0, 11.0])
    out = np.full(len(rows), np.nan)
    np.testing.assert_allclose(block.times(vector, out), matrix @ vector)

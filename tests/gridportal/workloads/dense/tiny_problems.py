"""Solves tiny problems of many sizes and blocks on this number of ranks, and compares with numpy on rank 0.

Prints one JSON list of [size, block, scaled error, largest difference to what numpy finds].
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from gridportal.runtime.phases import CommunicationClock
from gridportal.workloads.dense.block_matrix import BlockMatrix
from gridportal.workloads.dense.eigenvalues import EIGENVALUES, symmetric
from gridportal.workloads.dense.lu_system import LU
from gridportal.workloads.dense.matrix_entries import entries
from gridportal.workloads.dense.process_grid import ProcessGrid
from gridportal.workloads.dense.qr import QR

CASES = [(1, 1), (2, 3), (3, 1), (5, 2), (8, 8), (13, 4), (20, 3), (41, 16), (60, 64)]
PROGRAMS = {"qr": QR, "lu_system": LU, "eigenvalues": EIGENVALUES}


def gathered(matrix: BlockMatrix) -> np.ndarray:
    whole = np.zeros(matrix.shape)
    whole[np.ix_(matrix.own_rows, matrix.own_columns)] = matrix.local
    return matrix.grid.sum_of_all(whole)


def difference(name: str, size: int, result: np.ndarray, solution: np.ndarray) -> float:
    """How far all is from what numpy finds for the whole matrix."""
    places = np.arange(size)
    if name == "eigenvalues":
        return float(np.abs(solution - np.linalg.eigvalsh(symmetric(size, places, places))).max())
    whole = entries(places, places)
    if name == "qr":  # the signs of rows of R are free
        return float(np.abs(np.abs(np.triu(result)) - np.abs(np.linalg.qr(whole)[1])).max())
    lower = np.tril(result, -1)
    assert np.abs(lower).max(initial=0.0) <= 1.0  # partial pivoting
    product = (lower + np.eye(size)) @ np.triu(result)  # the rows of the matrix in another order
    distances = np.abs(product[:, None, :] - whole[None, :, :]).max(axis=2)
    assert sorted(distances.argmin(axis=1).tolist()) == places.tolist()
    return float(distances.min(axis=1).max())


def main() -> None:
    name, comm, results = sys.argv[1], MPI.COMM_WORLD, []
    grid = ProcessGrid(comm, CommunicationClock())
    for size, block in CASES:
        problem: Any = PROGRAMS[name].problem(grid, size, block)
        problem.fill()
        done = 0
        while done < size:
            done = problem.step(done)
        solution = problem.solve()
        far = difference(name, size, gathered(problem.matrix), solution)
        results.append([size, block, problem.scaled_error(solution), far])
    if comm.Get_rank() == 0:
        print(json.dumps(results))


if __name__ == "__main__":
    main()

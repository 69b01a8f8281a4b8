"""The nodes of Migration 2003, 8.1: four at Tennessee and eight at Illinois. A job there asks for four ranks."""

from __future__ import annotations

from gridportal.experiments.moves import scaled_grid
from gridportal.experiments.moves.move_case import CaseJob

MSC = tuple(f"msc{number}" for number in range(1, 5))
OPUS = tuple(f"opus{number}" for number in range(1, 9))
#: The paper's applications use one processor of a node.
PROCESSORS = 1
ONE_PROCESSOR = (
    "A node of the paper has two processors, a node here has one: half as many busy processes slow a program here as "
    "much as there."
)
#: Minutes that size 12,000 takes on the four nodes without load: at 23 "the program almost completed" (8.1).
WHOLE = 25.0


def job(size: int) -> CaseJob:
    """A factorization of this size of the paper."""
    return CaseJob(scaled_grid.rows(size), len(MSC))

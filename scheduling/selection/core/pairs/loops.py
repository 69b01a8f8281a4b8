"""All compiled loops: `python -m scheduling.selection.core.pairs.loops` compiles them for the processes to come."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from scheduling.jobs.core.patterns import named
from scheduling.selection.core.pairs.cliques import CliqueSearch
from scheduling.selection.core.pairs.embedding import Embedding
from scheduling.selection.core.pairs.rate_sums import RateSums
from scheduling.selection.core.trees import part_sizes


@lru_cache(maxsize=1)
def load() -> None:
    """Load every loop into this process; compiles what is not on disk, which takes some ten seconds."""
    from scheduling.selection.core.compiled import compiled_once

    triangle = ~np.eye(3, dtype=bool)
    Embedding(3, [(0, 1), (1, 2)], lambda: None).find(triangle)
    CliqueSearch(3, lambda: None).find(triangle)
    RateSums(triangle.astype(np.float64), named("line", 3), None, lambda: None).raised((0, 1, 2), 1.0)
    none = np.zeros(0, dtype=np.int64)
    compiled_once(part_sizes.grow)(none, none, none, none, none)
    compiled_once(part_sizes.name_parts)(none, none, none, none)


if __name__ == "__main__":
    load()

"""What `gridportal select` asks of the selection, for one number of ranks or for several."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.network.topology import Topology
from scheduling.jobs.core import patterns
from scheduling.jobs.core.patterns import Pattern
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.scaling_table import ScalingTable, counts_of
from scheduling.profiles.core import profile as profiles
from scheduling.selection.commands.rank_options import RankOptions
from scheduling.selection.core.counts.rank_counts import CountChoice, choose_count
from scheduling.selection.core.selection import Request, Selection, select
from scheduling.selection.core.slots.node_slots import check_one_rank_fits, slots_of

#: Seconds that the search for each of several numbers of ranks has at least.
LEAST_SECONDS = 0.2


@dataclass(frozen=True)
class RankQuestion:
    """base: what is asked whatever the number of ranks; pattern: as it was typed; narrowed: leaves out what of the
    network is not to be had, None for a topology file, of which only its labels tell what nodes have."""

    network: Topology
    base: Request
    options: RankOptions
    pattern: str | None
    narrowed: Callable[[Request, RankRequest], Request] | None = None

    def request(self, count: int | None = None) -> Request:
        """With the ranks that were asked for, or with `count` of them. Raises InputError."""
        asked = self.options.request(self.base.specification, count)
        request = replace(
            self.base,
            nodes=asked.nodes,
            ranks=asked.ranks,
            ranks_per_node=asked.ranks_per_node,
            slots=slots_of(self.network.compute_nodes(), asked),
            pattern=None if self.pattern is None else load_pattern(self.pattern, asked.total),
        )
        if self.narrowed is not None:
            return self.narrowed(request, asked)
        check_one_rank_fits(self.network, asked)
        return request

    def answer(self, request: Request) -> Selection:
        """The selection's answer. Raises InputError and ImpossibleError."""
        rng = random.Random(request.seed)  # noqa: S311
        return select(self.network, request, rng=rng, clock=time.perf_counter)

    def best_count(self, table: ScalingTable) -> CountChoice:
        """The number of ranks and their nodes, chosen together; the time is shared by the numbers. Raises
        InputError."""
        if self.options.ranks is None:
            raise InputError("ranks", None, "with --scaling several numbers of ranks, as 2..16 or 2,4,8")
        counts = counts_of(self.options.ranks, table)
        budget = max(LEAST_SECONDS, self.base.time_budget / len(counts))
        return choose_count(
            counts, lambda count: self.answer(replace(self.request(count), time_budget=budget)), table.predict
        )


def load_pattern(name: str, ranks: int) -> Pattern:
    """A pattern by name, from a node-link file, or from a profile (`trace show --json`). Raises InputError."""
    if name.partition(":")[0].lower() in patterns.NAMES:
        return patterns.named(name, ranks)
    if bounded_json.is_there(name):
        raw = bounded_json.load(name, "pattern", "a readable node-link JSON file, or a profile")
        if isinstance(raw, dict) and "bytes" in raw and "nodes" not in raw:
            return profiles.parse(raw).pattern
        return patterns.parse(raw, name=Path(name).stem)
    raise InputError("pattern", name, f"{patterns.ACCEPTED}, a pattern file or a profile")

"""How long the best placement on measured pairs takes, with its proof, and how long it takes with igraph's LAD.

Processor time of both: a busy machine hardly changes it. LAD is ended after LIMIT seconds, which then count as its
time, though it would have taken longer. PAIRS_BENCH=256 runs one size only.
"""

from __future__ import annotations

import os
import random
import time
from math import exp, log
from statistics import fmean, median

import pytest

from scheduling.jobs.core.patterns import Pattern, named
from scheduling.selection.core.pairs import loops
from scheduling.selection.core.pairs.pair_groups import best_on_pairs
from scheduling.selection.core.threshold import Ranked
from scheduling.selection.core.trees.usable_network import Floats
from tests.bench.pair_networks import one_switch, racks
from tests.bench.test_selection_bench import tell

pytestmark = pytest.mark.bench

LIMIT = int(os.environ.get("LAD_SECONDS", "10"))
SIZES = [int(size) for size in os.environ.get("PAIRS_BENCH", "64,256,1024").split(",")]
BUDGET = 30.0
SEEDS = (1, 2, 3, 4, 5)
PATTERNS = [("ring", 16), ("mesh-2d:4x4", 16), ("hypercube", 16), ("all-to-all", 8)]


def _timed(rates: Floats, pattern: Pattern) -> tuple[Ranked, float]:
    started = time.process_time()
    deadline = time.perf_counter() + BUDGET
    (best,) = best_on_pairs(rates, pattern, 1, rng=random.Random(0), clock=time.perf_counter, deadline=deadline)
    return best, time.process_time() - started


@pytest.mark.parametrize("nodes", SIZES)
@pytest.mark.parametrize(("network", "noises"), [(racks, (0.0, 0.1, 0.3)), (one_switch, (0.1,))])
@pytest.mark.parametrize(("pattern", "ranks"), PATTERNS)
def test_the_best_placement_is_proved_sooner_than_lad_finds_it(nodes, network, noises, pattern, ranks, capsys):
    lad = pytest.importorskip(
        "tests.bench.lad", reason="igraph is there after `make bench` alone", exc_type=ImportError
    )
    wanted = named(pattern, ranks)
    loops.load()
    _timed(racks(2 * ranks, 0.1, 0), wanted)  # the symmetries of a pattern are found once, in 1 to 7 ms
    for noise in noises:
        instances = [network(nodes, noise, seed) for seed in SEEDS]
        answers = [_timed(rates, wanted) for rates in instances]
        peers = [lad.best_by_lad(rates, wanted, LIMIT) for rates in instances]
        for (best, _), peer in zip(answers, peers, strict=True):
            assert best.proved
            assert peer.value in (None, best.value)
        took = [seconds for _, seconds in answers]
        ratios = [peer.seconds / seconds for seconds, peer in zip(took, peers, strict=True)]
        ended = sum(peer.value is None for peer in peers)
        tell(
            capsys,
            f"{nodes} nodes, {network.__name__} {noise:g}, {pattern}-{ranks}: median {median(took) * 1e3:.1f} ms, most "
            f"{max(took) * 1e3:.1f}; LAD takes {exp(fmean(map(log, ratios))):.0f} times as long (least "
            f"{min(ratios):.1f}), {ended} of 5 were ended",
        )

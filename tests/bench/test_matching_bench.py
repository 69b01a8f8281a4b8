"""Set matching: how much faster than the paper's greedy algorithm on HTCondor's library, and how near the best set."""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

import classad2
import numpy as np
import pytest

from scheduling.matching.adapters.classad_library import Library
from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_syntax import Record
from scheduling.matching.core.language.ad_writer import AdWriter
from scheduling.matching.core.sets import every_set
from scheduling.matching.core.sets.greedy_sets import greedy
from scheduling.matching.core.sets.set_candidates import PairValues, candidates, filtered
from scheduling.matching.core.sets.set_matching import SetMatch, match
from scheduling.matching.core.sets.set_request import SetRequest
from scheduling.matching.core.sets.set_values import SetValues
from tests.scheduling.matching.naive_sets import RANKS, pool, request, resources

pytestmark = pytest.mark.bench

LIBRARY = Library()
POOLS = 1000
COMPARED = (
    ("Min(other.bw)", "Sum(other.mem) > 1000"),
    ("Min({Min(other.bw), Sum(other.cpu)/4})", "Sum(other.mem) > 1000"),
    ("Min(other.bw)*SetSize", "SetSize <= 64"),
    ("Min(other.bw)/Sum(other.cost)", "Sum(other.mem) > 1000"),
    ("Sum(other.cpu)-Sum(other.cost)", "Sum(other.mem) > 1000"),
)


def tell(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n  {text}")


def timed(work: Callable[[], SetMatch]) -> tuple[SetMatch, float]:
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def greedy_rank(ad: Record, machines: Pool) -> float | None:
    """What the paper's algorithm comes to: by columns, which the tests hold to its listing on the library."""
    asked = SetRequest(ad, machines)
    pairs = PairValues(asked, LIBRARY)
    chosen = candidates(asked, pairs, filtered(asked, pairs).rows)
    best = greedy(chosen, SetValues(asked, LIBRARY), lambda: False).best
    return None if best is None else best.rank


def naive_seconds(ad: Record, machines: Pool, *, samples: int = 10, tries: int = 20) -> float:
    """How long the listing takes when the library ranks each set from the lists of its members' values.

    These values are asked for once and stand in lists of the ad; the cost of a rank is measured at some sizes, `tries`
    times each, and summed over all steps.
    """
    asked = SetRequest(ad, machines)
    values = {call: LIBRARY.of_request(ad, machines.ads, call.arguments[0]) for call in asked.of_rank}
    names = {call: f"members_{number}" for number, call in enumerate(values)}
    size = machines.size

    def put(part: object) -> str | None:
        if part in names:
            return f"{part.function}({names[part]})"  # type: ignore[attr-defined]
        return "set_size" if asked.is_size(part) else None  # type: ignore[arg-type]

    writer = AdWriter(put)
    own, rank = classad2.ClassAd(writer.ad(Record({}))), classad2.ExprTree(writer.text(asked.rank))  # type: ignore[arg-type]
    at = np.linspace(1, size, samples).astype(int)
    costs = []
    for members in at.tolist():
        started = time.perf_counter()
        for _ in range(tries):
            for call, name in names.items():
                own[name] = values[call][:members]
            own["set_size"] = members
            rank.eval(own)
        costs.append((time.perf_counter() - started) / tries)
    steps = np.arange(1, size + 1)
    return float((np.interp(steps, at, costs) * (size - steps + 1)).sum())


@pytest.mark.parametrize(("rank", "requirements"), COMPARED)
def test_a_thousand_resources_against_the_listing_on_the_library(rank, requirements, capsys):
    machines = pool(resources(random.Random(7), 1000))
    ad = request(rank, f"other.mem > 3 && {requirements}")
    match(ad, machines, LIBRARY)  # columns of the pool are kept, as a service keeps them
    outcome, seconds = timed(lambda: match(ad, machines, LIBRARY))
    naive, paper = naive_seconds(ad, machines), greedy_rank(ad, machines)
    assert outcome.rank is not None
    assert paper is None or outcome.rank >= paper - 1e-9 * abs(paper)
    ranks = f"rank {outcome.rank:.6g}, the paper's {paper:.6g}" if paper is not None else f"rank {outcome.rank:.6g}"
    tell(
        capsys, f"{rank}: {seconds:.3f} s ({outcome.method}), naive {naive:.0f} s, {naive / seconds:.0f} times; {ranks}"
    )


@pytest.mark.parametrize("rank", ["Min({Min(other.bw), Sum(other.cpu)/4})", "Min(other.bw)/Sum(other.cost)"])
def test_ten_thousand_resources(rank, capsys):
    machines = pool(resources(random.Random(7), 10_000))
    outcome, seconds = timed(lambda: match(request(rank, "Sum(other.mem) > 1000"), machines, LIBRARY))
    assert outcome.members
    tell(capsys, f"10,000 resources, {rank}: {seconds:.2f} s ({outcome.method}, exact: {outcome.exact})")


@pytest.mark.parametrize("rank", RANKS)
def test_quality_against_every_set(rank, monkeypatch, capsys):
    """A thousand random pools of ten, with a sum to reach; gaps in per cent of the best rank."""
    ad, ours, papers, exact = request(rank, "Sum(other.mem) > 100"), [], [], 0
    for seed in range(POOLS):
        machines = pool(resources(random.Random(seed), 10))
        monkeypatch.setattr(every_set, "MOST", 16)
        best = match(ad, machines, LIBRARY).rank
        monkeypatch.setattr(every_set, "MOST", -1)
        outcome, paper = match(ad, machines, LIBRARY), greedy_rank(ad, machines)
        exact += outcome.exact
        if best is None:
            assert outcome.rank is None
            continue
        assert outcome.rank is not None
        assert paper is None or outcome.rank >= paper - 1e-9 * abs(paper)
        assert not outcome.exact or outcome.rank == pytest.approx(best, rel=1e-9)
        ours.append(gap(best, outcome.rank))
        papers.append(gap(best, paper))
    tell(capsys, f"{rank}: exact in {exact / POOLS:.0%}; ours {shown(ours)}; the paper's {shown(papers)}")


def gap(best: float, rank: float | None) -> float:
    """By how many per cent a rank is below the best; 100 where nothing was found."""
    return 100.0 if rank is None else max(0.0, 100 * (best - rank) / max(abs(best), 1e-12))


def shown(gaps: list[float]) -> str:
    optimal = sum(each < 1e-6 for each in gaps) / len(gaps)
    return f"optimal {optimal:.1%}, mean gap {statistics.mean(gaps):.2f} %, worst {max(gaps):.1f} %"

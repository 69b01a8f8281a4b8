"""Sums of phases: exact, of bounded number, and the same in whatever pieces reports come."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from gridportal.runtime.progress_events import MOST_SECONDS, Phase
from scheduling.runs.core import phase_sums
from scheduling.runs.core.phase_sums import MOST_NAMES, OTHERS, ExactSum, Report, Sums, stride, thinned

SECONDS = st.floats(0, MOST_SECONDS)
PHASES = st.builds(
    Phase,
    name=st.sampled_from("abc"),
    seconds=SECONDS,
    iteration=st.none() | st.integers(0, 9),
    compute=st.none() | SECONDS,
    communicate=st.none() | SECONDS,
)


def in_pieces(phases: list[Phase], sizes: list[int], most: int) -> tuple[Sums, list[Report]]:
    """Reports added and thinned piece by piece, as a file that grows is read."""
    sums: Sums = {}
    kept: list[Report] = []
    for size in [*sizes, len(phases)]:
        reports = phase_sums.add(sums, phases[:size])
        kept, phases = thinned([*kept, *reports], stride(sums, most)), phases[size:]
    return sums, kept


@given(st.lists(SECONDS, max_size=200))
def test_a_sum_is_exact_to_rounding(numbers: list[float]) -> None:
    found = ExactSum()
    for number in numbers:
        found.add(number)
    exact = math.fsum(numbers)
    assert abs(found.value - exact) <= 2 * math.ulp(exact)


def test_a_million_tenths_are_a_hundred_thousand() -> None:
    found, plain = ExactSum(), 0.0
    for _ in range(1_000_000):
        found.add(0.1)
        plain += 0.1
    assert found.value == 100_000.0 != plain


@given(st.lists(PHASES, max_size=60), st.lists(st.integers(0, 20), max_size=6), st.integers(1, 12))
def test_pieces_of_any_size_give_the_same_sums_and_the_same_history(
    phases: list[Phase], sizes: list[int], most: int
) -> None:
    assert in_pieces(phases, sizes, most) == in_pieces(phases, [], most)


@given(st.lists(PHASES, min_size=1, max_size=60), st.integers(1, 12))
def test_a_sum_says_what_all_reports_say(phases: list[Phase], most: int) -> None:
    sums, kept = in_pieces(phases, [], most)
    assert list(sums) == list(dict.fromkeys(phase.name for phase in phases))
    for name, found in sums.items():
        own = [phase for phase in phases if phase.name == name]
        seconds = [phase.seconds for phase in own]
        assert (found.count, found.least, found.most) == (len(own), min(seconds), max(seconds))
        assert found.iteration == max((phase.iteration for phase in own if phase.iteration is not None), default=None)
        computing = [phase.compute for phase in own if phase.compute is not None]
        assert (found.compute is None) == (not computing)
        assert max(report.seconds for report in kept if report.phase == name) == found.most  # no peak is lost
    assert len(kept) <= max(most, len(sums))


def test_what_is_few_is_kept_whole() -> None:
    phases = [Phase("step", float(at)) for at in range(10)]
    _, kept = in_pieces(phases, [], 10)
    assert [(report.number, report.seconds) for report in kept] == [(at, float(at)) for at in range(10)]


def test_names_beyond_the_most_share_one_sum() -> None:
    sums, kept = in_pieces([Phase(f"phase {at}", 1.0) for at in range(1000)], [300, 300], 2000)
    assert len(sums) == MOST_NAMES + 1
    assert (sums[OTHERS].count, sums[OTHERS].seconds.value) == (800, 800.0)
    assert [report.number for report in kept if report.phase == OTHERS] == list(range(800))

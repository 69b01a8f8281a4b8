"""The share of its peak that a pair has, on the page of a job as on the page of the topology."""

from __future__ import annotations

import pytest

from monitoring.status.selectors.picture import LinkFigures
from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup, RankPair
from scheduling.profiles.charts import picture

#: Two racks: fast links to the nodes q1 and q2, slow ones to the others and between the racks.
PEAKS = {("q1", "r1"): 2e8, ("d1", "r1"): 1e8, ("q2", "r2"): 2e8, ("d2", "r2"): 1e8, ("r1", "r2"): 1e8}


def test_the_link_that_binds_counts_and_not_the_fastest_of_the_cluster():
    pair = RankPair((0, 1), "q1", "d2", 2e7, 1.0, link=("r1", "r2"))
    of_link = LinkFigures("r1", "r2", capacity=PEAKS["r1", "r2"], bandwidth=2e7)
    assert picture.share_of_peak(pair, PEAKS) == of_link.share == 0.2


def test_a_link_without_traffic_has_all_of_its_peak():
    pair = RankPair((0, 1), "q1", "d1", 1e8, 1.0, link=("r1", "d1"))
    assert picture.share_of_peak(pair, PEAKS) == 1.0


@pytest.mark.parametrize(("ends", "peak"), [(("q1", "d1"), 1e8), (("q1", "q2"), 2e8), (("d1", "r1"), 1e8)])
def test_of_a_path_whose_slowest_link_nobody_kept_the_links_of_its_nodes_count(ends, peak):
    assert picture.path_peak(RankPair((0, 1), *ends, 2e7, 1.0), PEAKS) == peak


def test_without_peaks_there_is_no_share():
    pair = RankPair((0, 1), "q1", "d2", 2e7, 1.0)
    assert picture.share_of_peak(pair, {}) is None


def test_the_sentence_names_the_peak_of_that_link():
    pair = RankPair((0, 1), "q1", "d2", 2e7, 1.0, link=("r1", "r2"))
    words = picture.finding(CandidateGroup(("q1", "d2"), edges=(pair,), bottleneck=Bottleneck(pair)), PEAKS)
    assert words == "q1–d2 is the bottleneck: 20 of 100 Mbit/s, the only pair that talks."

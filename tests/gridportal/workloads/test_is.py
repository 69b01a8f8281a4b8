import dataclasses

import numpy as np
import pytest

from gridportal.workloads.is_keys import CLASSES, make_keys
from gridportal.workloads.is_ranking import KeyRanker, count_right
from tests.gridportal.workloads import mpi
from tests.gridportal.workloads.one_rank import OneRank, no_clock

IS = "gridportal.workloads.is_sort"
S = CLASSES["S"]


def ranker():
    return KeyRanker(OneRank(), no_clock(), S, range(S.keys), make_keys(S, range(S.keys)))


@pytest.mark.parametrize("ranks", [1, 4, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (2, 8))])
def test_class_s_gives_every_test_key_its_official_rank(ranks, tmp_path):
    done = mpi.run(ranks, IS, "--class", "S", run_dir=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "VERIFICATION SUCCESSFUL" in done.stdout
    start, *phases, result = mpi.events(tmp_path)
    assert (start["program"], start["ranks"]) == ("is", ranks)
    assert [phase["phase"] for phase in phases] == ["init"] + ["rank"] * 10 + ["full_verify"]
    assert result["figures"]["test_ranks_right"] == 50
    assert result["figures"]["sorted"] is True


def test_class_w_is_verified_too(tmp_path):
    assert mpi.run(2, IS, "--class", "W", run_dir=tmp_path).returncode == 0
    assert mpi.events(tmp_path)[-1]["figures"]["test_ranks_right"] == 50


def test_all_classes_are_the_official_sizes():
    sizes = {name: (problem.keys, problem.max_key, problem.buckets) for name, problem in CLASSES.items()}
    assert sizes == {
        "S": (1 << 16, 1 << 11, 1 << 9),
        "W": (1 << 20, 1 << 16, 1 << 10),
        "A": (1 << 23, 1 << 19, 1 << 10),
        "B": (1 << 25, 1 << 21, 1 << 10),
    }


def test_pieces_of_the_sequence_make_up_the_whole():
    pieces = [make_keys(S, range(start, start + S.keys // 4)) for start in range(0, S.keys, S.keys // 4)]
    assert np.array_equal(np.concatenate(pieces), make_keys(S, range(S.keys)))


def test_a_rank_is_the_number_of_smaller_keys():
    ranking = ranker().rank(1)
    for key in (0, 1, 1024, 2047):
        assert ranking.rank_of(key) == np.count_nonzero(ranking.keys < key)
    assert ranking.rank_of(S.max_key) is None


def test_a_key_that_changes_on_its_way_is_noticed():
    one = ranker()
    ranking = one.rank(1)
    assert one.sorted_everywhere(ranking)
    ranking.keys[77] += 1
    assert not one.sorted_everywhere(ranking)


def test_a_key_that_changes_before_it_is_ranked_is_noticed():
    one = ranker()
    one.keys[30000] = 0
    assert count_right(S, one.rank(1), 1) < len(S.tests)


def test_a_rank_that_is_not_the_official_one_is_not_counted():
    *right, last = S.tests
    wrong = dataclasses.replace(S, tests=(*right, dataclasses.replace(last, start=last.start + 1)))
    assert [count_right(problem, ranker().rank(1), 1) for problem in (S, wrong)] == [5, 4]


def test_three_ranks_are_refused_in_one_sentence():
    done = mpi.run(3, IS)
    assert done.returncode == 2
    assert done.stderr.strip() == "error: ranks is 3; accepted is a power of two such as 1, 2, 4 or 8, at most 64."

"""Jobs and messages of Selection 1999, 4.2: the distributions that are stated, and the same for the same seed."""

from __future__ import annotations

import itertools
import random
from statistics import fmean, median

import pytest

from gridportal.testbed.arrivals import JobModel, MessageModel, jobs, messages

NODES = ["m-1", "m-2", "m-3"]


def until(sequence, end):
    return list(itertools.takewhile(lambda each: each.at < end, sequence))


def test_the_same_seed_gives_the_same_and_another_seed_another():
    assert until(jobs(3, NODES, JobModel()), 200) == until(jobs(3, NODES, JobModel()), 200)
    assert until(jobs(3, NODES, JobModel()), 200) != until(jobs(4, NODES, JobModel()), 200)
    assert until(messages(3, NODES, MessageModel()), 200) == until(messages(3, NODES, MessageModel()), 200)


def test_they_come_in_order_of_time_and_none_is_before_the_beginning():
    for sequence in (jobs(1, NODES, JobModel()), messages(1, NODES, MessageModel())):
        times = [each.at for each in until(sequence, 300)]
        assert times == sorted(times)
        assert times[0] >= 0


def test_the_jobs_of_a_node_do_not_depend_on_the_others():
    alone = until(jobs(1, ["m-2"], JobModel()), 300)

    assert [job for job in until(jobs(1, NODES, JobModel()), 300) if job.node == "m-2"] == alone


def test_lengths_are_part_exponential_part_pareto():
    rng, model = random.Random(1), JobModel()
    lengths = [model.length(rng) for _ in range(20_000)]
    tail = [length for length in lengths if length > 20]

    assert max(lengths) <= model.most
    # Half of them are Pareto: P(L > 20) = (4/20 - 4/120) / (1 - 4/120); of an exponential hardly any is so long.
    assert len(tail) / len(lengths) == pytest.approx(0.5 * (4 / 20 - 4 / 120) / (1 - 4 / 120), rel=0.1)
    assert fmean(lengths) == pytest.approx(0.5 * 2 + 0.5 * 14.07, rel=0.05)


def test_a_node_has_as_many_jobs_as_gap_and_length_say_from_the_beginning_on():
    there = [
        fmean(
            sum(job.at <= at < job.at + job.length for job in until(jobs(seed, ["n"], JobModel()), at + 0.001))
            for seed in range(300)
        )
        for at in (0.0, 100.0)
    ]

    assert there == [pytest.approx(8.04 / 12, abs=0.15)] * 2


def test_sizes_are_lognormal_between_two_different_nodes():
    found = until(messages(2, NODES, MessageModel(gap=0.1), before=0.0), 1000)

    assert median(message.size for message in found) == pytest.approx(30e6, rel=0.1)
    assert len(found) == pytest.approx(10_000, rel=0.05)
    assert all(message.source != message.target for message in found)
    assert {message.source for message in found} == set(NODES)

"""What a job asks of its cluster, as a value: read from what people send, from rows, and written again."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from scheduling.jobs.core.cluster_options import NAMES, NO_OPTIONS, ClusterOptions

EVERYTHING = {
    "partition": "main",
    "account": "physics",
    "qos": "high",
    "reservation": "course",
    "constraint": "ib&skylake",
    "gres": "gpu:2",
    "memory": 2**30,
    "cpus_per_rank": 2,
    "exclusive": True,
}


def test_every_option_is_written_and_read() -> None:
    assert set(NAMES) == set(EVERYTHING)
    asked = ClusterOptions.read(EVERYTHING)
    assert asked.document() == EVERYTHING
    assert ClusterOptions.stored({**EVERYTHING, "of_an_older_portal": 1}) == asked


def test_what_says_nothing_is_left_out() -> None:
    assert ClusterOptions.read({"partition": "", "memory": None, "exclusive": False}) == NO_OPTIONS
    assert NO_OPTIONS.document() == {}


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"colour": "red"}, "options is 'colour'; accepted is one of partition"),
        ({"memory": 0}, "memory is 0; accepted is bytes on each node"),
        ({"memory": "much"}, "memory is 'much'; accepted is bytes on each node"),
        ({"exclusive": "yes"}, "exclusive is 'yes'; accepted is true or false"),
        ({"gres": "gpu:1,gpu:2"}, "gres is 'gpu:1,gpu:2'; accepted is each kind once; gpu stands there 2 times"),
        ({"account": "x; rm -rf"}, "account is 'x; rm -rf'; accepted is a name of letters"),
    ],
)
def test_what_cannot_be_accepted_is_named(sent: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as error:
        ClusterOptions.read(sent)
    assert str(error.value).startswith(words)


def test_a_clusters_own_count_where_the_job_says_nothing() -> None:
    own = ClusterOptions(partition="main", account="physics")
    assert ClusterOptions(account="art", memory=2**30).or_else(own) == ClusterOptions("main", "art", memory=2**30)

"""What pages and doctor say that a job may do is what the cluster's way of running jobs really gives."""

from __future__ import annotations

import pytest

from gridportal.base.clusters import Cluster
from gridportal.testbed.job_rights import rights
from gridportal.testbed.sandbox.level import Isolation

GRID = Cluster(name="grid", backend="grid")
HOME = "The portal's home, keys, database, sockets"


@pytest.mark.parametrize(
    ("level", "runs_as", "home"),
    [
        (Isolation.OWN_USER, "a user of their owner's own", "hidden from jobs, and closed to their users"),
        (Isolation.OWN_VIEW, "the user who runs the Grid", "hidden from jobs"),
        (Isolation.NONE, "the user who runs the Grid", "open to jobs: this machine permits no better"),
    ],
)
def test_a_grid_says_what_its_level_of_isolation_gives(level: Isolation, runs_as: str, home: str) -> None:
    said = dict(rights(GRID, level))
    assert (said["Jobs run as"], said[HOME]) == (runs_as, home)


def test_limits_of_a_node_and_a_shared_network_are_said_where_they_hold() -> None:
    said = dict(rights(GRID, Isolation.OWN_VIEW, {"memory": 3 * 2**29, "processes": 4096}, "root"))
    assert (said["Memory"], said["Processes"]) == ("at most 1.5 GiB on a node", "at most 4,096 on a node")
    assert "127.0.0.1" not in said["Network"]
    said = dict(rights(GRID, Isolation.OWN_USER, {"memory": 0, "processes": 0}, "unshaped"))
    assert said["Memory"] == "not limited: no control group can be written here"
    assert said["Processes"] == "limited by settings"
    assert "127.0.0.1" in said["Network"]


def test_before_the_grid_has_answered_nothing_is_promised() -> None:
    assert [value for _, value in rights(GRID, Isolation.UNTESTED)] == [
        "not known: the Grid has not said how far it keeps jobs apart"
    ]


def test_slurm_keeps_people_apart_only_with_a_prefix_that_names_them() -> None:
    own = Cluster(name="hpc", backend="slurm", prefix=("sudo", "-n", "-u", "{user}"))
    assert dict(rights(own, Isolation.UNTESTED))["Jobs run as"] == "their owner"
    shared = dict(rights(Cluster(name="hpc", backend="slurm"), Isolation.UNTESTED))
    assert shared[HOME] == "open to jobs: set a prefix with {user}"

"""Jobs are neither placed on nodes without the MPI of their program nor moved there, where nodes say what they have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gridportal.base.reasons import Code
from monitoring.clusters.models import Node
from scheduling.checkpoints.services.nodes_lacking import nodes_lacking
from scheduling.checkpoints.services.reserving import choose_elsewhere
from scheduling.jobs.models import Application, Job
from scheduling.messages import message
from scheduling.placing.selectors.occupancy import occupancy
from scheduling.placing.services import rounds
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import newest, running, stoppable

Submit = Callable[..., Job]


@pytest.fixture(autouse=True)
def program(application: Application, fake_grid: FakeGrid) -> Application:
    """One of Open MPI, on eight nodes of which two have it, three say nothing, and three have another."""
    fake_grid.names = [f"n{number}" for number in range(1, 9)]
    fake_grid.labels = {name: {"mpi": "MPICH 4.2"} for name in ("n1", "n2", "n3")}
    fake_grid.labels |= {"n4": {"mpi": "MPICH 4.2, Open MPI 4.1"}, "n5": {"mpi": "openmpi"}}
    application.mpi = "Open MPI 4.1"
    application.save()
    return stoppable(application)


def test_it_is_placed_and_moved_where_its_mpi_is_or_may_be(submit: Submit) -> None:
    job = running(submit)
    first = set(newest(job).placement.nodes)
    there = set(choose_elsewhere(newest(job)).nodes)
    assert not (first | there) & {"n1", "n2", "n3"}
    assert not first & there


def test_without_enough_of_them_it_waits(submit: Submit) -> None:
    job = submit(8)
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    assert job.state == "waiting"
    assert message(job.reason).startswith("Only 5 of 8 nodes are free")


def test_nodes_with_another_one_are_told_with_what_they_have(submit: Submit) -> None:
    job = running(submit)
    lacking = {each.node: each.reason for each in nodes_lacking(newest(job)).nodes}
    assert lacking["n1"].code is Code.NODE_LACKS_OPTION
    assert message(lacking["n1"]) == "the MPI Open MPI 4.1 was asked for; it has MPICH 4.2"
    told = newest(job).placement.explanation
    assert told is not None
    assert {each.node: each.reason.code for each in told.nodes}["n2"] is Code.NODE_LACKS_OPTION


def test_of_a_program_that_names_no_mpi_all_nodes_will_do(submit: Submit, program: Application) -> None:
    Application.objects.filter(pk=program.pk).update(mpi="")
    assert len(newest(running(submit, 8)).placement.nodes) == 8


@pytest.mark.parametrize(
    ("labels", "features", "there"),
    [
        ({}, [], True),
        ({}, ["gpu", "mpich"], False),
        ({}, ["mpich", "openmpi-4.1"], True),
        ({"mpi": "mpich"}, ["openmpi"], False),
        ({"mpi": "yes"}, [], True),
    ],
)
def test_what_a_node_says_is_by_its_label_else_by_its_features(
    submit: Submit, labels: dict[str, str], features: list[str], there: bool
) -> None:
    running(submit)  # the cluster is read
    Node.objects.filter(name="n8").update(labels=labels, facts={"features": features})
    assert ("n8" not in occupancy("grid", mpi="Open MPI 4.1").unfit) is there
    assert "n8" not in occupancy("grid").unfit

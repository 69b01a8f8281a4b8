"""A job that goes on elsewhere is matched again: its request in ClassAds and the ads of administrators hold there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gridportal.base.errors import ImpossibleError
from gridportal.base.reasons import Code
from scheduling import tasks
from scheduling.checkpoints.services.requesting import stop_and_continue
from scheduling.checkpoints.services.reserving import choose_elsewhere
from scheduling.jobs.models import Application, Job
from scheduling.matching.models import ResourceAd
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import newest, running, stoppable

Submit = Callable[..., Job]
NAMES = [f"n{number}" for number in range(1, 9)]


@pytest.fixture(autouse=True)
def program(application: Application, fake_grid: FakeGrid) -> Application:
    fake_grid.names = NAMES
    return stoppable(application)


def others_of(job: Job) -> list[str]:
    return [name for name in NAMES if name not in newest(job).placement.nodes]


def test_it_goes_on_only_where_its_request_matches(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.cpus = {"n1": 0.9, "n2": 0.9, "n3": 0.2, "n4": 0.2, "n5": 0.7, "n6": 0.7, "n7": 0.2, "n8": 0.2}
    job = running(submit, classad="[ requirements = other.cpu > 0.5 ]", method="compute")
    assert sorted(newest(job).placement.nodes) == ["n1", "n2"]
    assert sorted(choose_elsewhere(newest(job)).nodes) == ["n5", "n6"]
    assert choose_elsewhere(newest(job), ["n6", "n5"]).nodes == ("n6", "n5")
    with pytest.raises(ImpossibleError, match=r"other\.cpu > 0\.5"):
        choose_elsewhere(newest(job), ["n5", "n7"])


def test_a_set_may_be_the_nodes_that_somebody_names(submit: Submit) -> None:
    job = running(submit, classad='[ Type = "Set"; requirements = SetSize >= 2; rank = Sum(other.cpu) ]')
    named = others_of(job)[-2:]
    assert choose_elsewhere(newest(job), named).nodes == tuple(named)


def test_a_job_of_an_open_number_of_ranks_keeps_its_number(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.cpus = {name: 0.9 if name in NAMES[:6] else 0.1 for name in NAMES}
    job = running(submit, ranks=None, classad='[ Type = "Set"; requirements = other.cpu > 0.5; rank = 1 / SetSize ]')
    run = newest(job)
    assert len(choose_elsewhere(run, anywhere=True).nodes) == len(run.placement.nodes) == job.ranks


def test_administrators_keep_it_from_nodes_of_others(submit: Submit, people: Any) -> None:
    job = running(submit)
    closed, open_ones = others_of(job)[:4], others_of(job)[4:]
    for node in closed:
        ResourceAd.objects.create(cluster="grid", node=node, text='[ requirements = other.owner == "operator" ]')
    assert sorted(choose_elsewhere(newest(job)).nodes) == sorted(open_ones)
    with pytest.raises(ImpossibleError):
        choose_elsewhere(newest(job), closed[:2])


def test_a_mapper_that_fails_leaves_the_same_event_for_a_move_as_at_placing(submit: Submit, people: Any) -> None:
    text = '[ Type = "Set"; requirements = SetSize == 2; rank = Sum(other.cpu); Mapper = "nobody" ]'
    job = running(submit, classad=text)
    stop_and_continue(job, by=people["user"])
    tasks.continue_jobs(job.cluster)
    failures = [each for each in job.events.all() if each.reason.code is Code.MAPPER_FAILED]
    assert [(each.from_state, each.to_state) for each in failures] == [("starting", "starting"), ("moving", "moving")]
    assert failures[0].reason.facts == failures[1].reason.facts

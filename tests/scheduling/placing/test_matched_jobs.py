"""Jobs whose nodes have to match a request in ClassAds: matching, mapper and selection together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.core.cache import cache

from gridportal.base.errors import ImpossibleError, InputError
from scheduling.jobs.core.application_specification import ApplicationSpecification, Pin
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.matching.core.mapping.mapper_interface import MapperQuestion
from scheduling.matching.models import ResourceAd
from scheduling.matching.services import mapper_rests
from scheduling.matching.services.mapping import MapperReply
from scheduling.messages import message
from scheduling.placing.models import Decision
from scheduling.placing.services import matched_nodes, preview, rounds, taking
from tests.fake_grid import FakeGrid

Submit = Callable[..., Job]
#: All nodes with at least half of a processor, in the order of their speed, with shares of the work.
OPEN = (
    '[ Type = "Set"; requirements = other.cpu >= 0.5; rank = Sum(other.cpu); Mapper = [ name = "block"; total = 100 ] ]'
)


def place(job: Job) -> Job:
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    return job


def test_the_number_of_ranks_comes_out_of_the_match(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.cpus = {"n1": 0.6, "n2": 0.1, "n3": 0.9, "n4": 0.3}
    job = submit(None, classad=OPEN)
    assert (job.ranks_open, job.nodes_open) == (True, True)
    job = place(job)
    assert (job.state, job.ranks, job.node_count) == ("starting", 2, 2), message(job.reason)
    placement = job.runs.get().placement
    assert placement.nodes == ["n3", "n1"]
    assert placement.shares == [60, 40]
    assert "mpiexec -n 2 -hosts n3,n1" in job.runs.get().script
    again = JobSpec.from_row(job)
    assert (again.ranks, again.node_count, again.ranks_open) == (None, None, True)


def test_only_numbers_of_ranks_that_the_program_can_have_are_matched(submit: Submit, fake_grid: FakeGrid) -> None:
    job = submit(None, classad=OPEN)
    job.application.ranks = {"choices": [1, 2]}
    job.application.save()
    assert place(job).ranks == 2, "of four nodes that match"


def test_without_a_set_the_request_says_which_nodes_may_be_chosen(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.cpus = {"n1": 0.6, "n2": 0.1, "n3": 0.9, "n4": 0.3}
    job = place(submit(2, classad="[ requirements = other.cpu < 0.5 ]", method="compute"))
    assert sorted(job.runs.get().placement.nodes) == ["n2", "n4"]


def test_what_matches_nothing_waits_and_says_why(submit: Submit, fake_grid: FakeGrid) -> None:
    job = place(submit(2, classad='[ Type = "Set"; requirements = other.cpu > 2 ]'))
    assert job.state == "waiting"
    assert "ask for >= 1 in other.cpu > 2" in message(job.reason)


def test_a_preview_matches_what_is_free(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.cpus = {"n1": 0.6, "n2": 0.1, "n3": 0.9, "n4": 0.3}
    job = place(submit(1, method="compute"))  # has n3
    spec = replace(JobSpec.from_row(job), node_count=None, classad=OPEN)
    shown = preview.preview(spec, job.owner)
    assert not shown.problem
    assert shown.candidates[0].nodes == ("n1",)
    assert "mpiexec -n 1 -hosts n1" in shown.script


@pytest.mark.parametrize("text", ["[ requirements = ) ]", '[ Type = "Set"; rank = Max(Max(other.cpu)) ]'])
def test_what_is_no_request_is_refused(submit: Submit, fake_grid: FakeGrid, text: str) -> None:
    with pytest.raises(InputError):
        submit(None, classad=text)


def test_administrators_keep_jobs_of_others_from_a_node(submit: Submit, fake_grid: FakeGrid, people: Any) -> None:
    for node in ("n1", "n2"):
        ResourceAd.objects.create(cluster="grid", node=node, text='[ requirements = other.owner == "operator" ]')
    mine, theirs = (
        submit(2),
        submit(2, owner="operator", classad='[ rank = 1; requirements = other.cluster == "grid" ]'),
    )
    assert sorted(place(mine).runs.get().placement.nodes) == ["n3", "n4"]
    theirs.refresh_from_db()
    assert sorted(theirs.runs.get().placement.nodes) == ["n1", "n2"]


def test_a_group_that_somebody_takes_has_to_match_still(submit: Submit, fake_queue: Any, people: Any) -> None:
    job = place(submit(2))
    (where, nodes) = next(iter(taking.takeable(job).items()))
    ad = ResourceAd.objects.create(cluster=job.cluster, node=nodes[0], text='[ requirements = other.owner == "ann" ]')
    with pytest.raises(ImpossibleError, match=f"({'|'.join(nodes)}) does not fit: an administrator's ad"):
        taking.take_candidate(people["operator"], job, where, "the others are for the review")
    assert not Decision.objects.exists()
    ad.delete()
    taking.take_candidate(people["operator"], job, where, "the others are for the review")
    assert Decision.objects.get().taken == nodes


@pytest.mark.parametrize(
    ("text", "taken", "matches"),
    [
        ("[ requirements = other.cpu < 0.95 ]", "n3", 1),
        (OPEN.replace(">= 0.5", "< 0.8"), "n3", 1),  # the best set of all has no node of somebody's
        (OPEN, "n3", 2),
        ('[ Type = "Set"; requirements = other.cpu > 2 ]', "n3", 1),
    ],
    ids=["single", "free set", "taken set", "nothing"],
)
def test_a_preview_asks_as_few_matches_as_tell_all(
    submit: Submit, fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch, text: str, taken: str, matches: int
) -> None:
    """Busy nodes or not: of a part of the nodes the match of all tells what it can."""
    fake_grid.cpus = {"n1": 0.6, "n2": 0.1, "n3": 0.9, "n4": 0.3}
    pinned = ApplicationSpecification(pins=(Pin(0, (taken,)),))
    job = place(submit(1, method="compute", specification=pinned))
    assert job.runs.get().placement.nodes == [taken]
    asked = []
    limited = matched_nodes.limited_match

    def counted(question: Any, until: float) -> Any:
        asked.append(question)
        return limited(question, until)

    monkeypatch.setattr(matched_nodes, "limited_match", counted)
    spec = replace(JobSpec.from_row(job), node_count=None, classad=text, specification=ApplicationSpecification())
    shown = preview.preview(spec, job.owner)
    assert len(asked) == matches
    assert taken not in [node for group in shown.candidates for node in group.nodes]


def test_a_mapper_that_hangs_holds_up_one_job_and_not_those_behind_it(
    submit: Submit, fake_grid: FakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    asked: list[str] = []

    def hangs(name: str, question: MapperQuestion, seconds: float) -> MapperReply:
        asked.append(name)
        return MapperReply(failure="no answer", is_late=True)

    monkeypatch.setattr(mapper_rests, "mapped", hangs)
    request = '[ Type = "Set"; requirements = SetSize == 1; Mapper = "theirs" ]'
    jobs = [submit(None, classad=request) for _ in range(3)]
    for job in map(place, jobs):
        assert job.state == "starting"
        why = job.runs.get().placement.explanation
        assert why is not None
        remarks = [message(each) for each in why.remarks]
        assert any("it did not answer within 10 s; it is asked again after" in each for each in remarks)
    assert asked == ["theirs"]
    cache.clear()

"""What a match has to say of a choice: among which nodes it was made, and what is not used of a mapper's answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from gridportal.base.errors import InputError
from gridportal.base.reasons import Code
from scheduling.jobs.core.explanation import Explanation
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.matching.models import ResourceAd
from scheduling.messages import message
from scheduling.placing.models import Placement
from scheduling.placing.services import preview, rounds
from tests.fake_grid import FakeGrid

Submit = Callable[..., Job]
SLOW_SET = '[ Type = "Set"; requirements = other.cpu < 0.9; rank = Sum(0 - other.cpu) ]'
MAPPED = '[ Type = "Set"; requirements = other.cpu >= 0.5; rank = Sum(other.cpu); Mapper = {} ]'
BROKEN = MAPPED.format('"nobody"')
ONE_PART = MAPPED.format('[ name = "block"; total = 1 ]')


def place(job: Job) -> Placement:
    rounds.place_and_start_all(job.cluster)
    return Job.objects.get(pk=job.pk).runs.get().placement


def explained(placement: Placement) -> Explanation:
    assert placement.explanation is not None
    return placement.explanation


def codes(placement: Placement) -> dict[str, Code]:
    return {each.node: each.reason.code for each in explained(placement).nodes}


def shown_page(job: Job, person: Any) -> str:
    client = Client()
    client.force_login(person)
    return " ".join(client.get(job.get_absolute_url()).content.decode().replace("&#x27;", "'").split())


@pytest.fixture
def cpus(fake_grid: FakeGrid) -> None:
    fake_grid.cpus = {"n1": 0.6, "n2": 0.2, "n3": 0.95, "n4": 0.4}


@pytest.mark.usefixtures("cpus")
@pytest.mark.parametrize(
    ("text", "code", "remark"),
    [
        (BROKEN, Code.MAPPER_FAILED, "The mapper nobody failed: LookupError: no mapper is called 'nobody'"),
        (ONE_PART, Code.MAPPER_ZERO_SHARES, "The mapper block gave n1 a share of 0"),
    ],
    ids=["failed", "share of 0"],
)
def test_what_is_not_used_of_a_mapper_is_an_event_and_on_page_and_rest(
    submit: Submit, people: Any, text: str, code: Code, remark: str
) -> None:
    job = submit(None, classad=text)
    placement = place(job)
    assert sorted(placement.nodes) == ["n1", "n3"]
    assert placement.shares == []
    assert [each.code for each in explained(placement).remarks] == [code]
    (event,) = [each for each in job.events.all() if each.reason.code is code]
    assert event.from_state == event.to_state == "starting"
    assert message(event.reason).startswith(remark)
    assert shown_page(job, people["administrator"]).count(remark) == 2, "beside the nodes and as an event"
    client = Client()
    client.force_login(people["administrator"])
    told = client.get(f"/api/jobs/{job.pk}/placement").json()["explanation"]["remarks"]
    assert [each.startswith(remark) for each in told] == [True]


@pytest.mark.usefixtures("cpus")
@pytest.mark.parametrize(("text", "code"), [(BROKEN, Code.MAPPER_FAILED), (ONE_PART, Code.MAPPER_ZERO_SHARES)])
def test_the_preview_tells_what_is_not_used_of_a_mapper(submit: Submit, text: str, code: Code) -> None:
    job = submit(1, classad="[ requirements = other.cpu < 0.3 ]")
    assert place(job).nodes == ["n2"]
    shown = preview.preview(replace(JobSpec.from_row(job), node_count=None, classad=text), job.owner)
    assert [each.code for each in shown.explanation.remarks] == [code]


@pytest.mark.usefixtures("cpus")
def test_a_mapper_that_answers_leaves_no_remark(submit: Submit) -> None:
    job = submit(None, classad=MAPPED.format('"block"'))
    placement = place(job)
    assert explained(placement).remarks == ()
    assert len(placement.shares) == 2
    assert not [each for each in job.events.all() if each.from_state == each.to_state]


@pytest.mark.usefixtures("cpus")
def test_a_set_that_the_request_chose_is_not_said_to_beat_nodes_outside_it(submit: Submit, people: Any) -> None:
    job = submit(2, classad=SLOW_SET, method="compute")
    placement = place(job)
    assert sorted(placement.nodes) == ["n2", "n4"]
    assert codes(placement) == {"n1": Code.NODE_NOT_IN_SET, "n3": Code.NODE_NOT_REQUESTED}
    page = shown_page(job, people["administrator"])
    assert "Of the sets that the request allows none has a higher rank." in page
    assert "Within these nodes no group scores higher by compute: that is proved." in page
    assert "No group of 2 free nodes" not in page
    assert "not tried in time" not in page
    why = message(placement.candidates[0].reason)
    assert "none has a higher rank; within these nodes: lowest cpu 20 %" in why


@pytest.mark.usefixtures("cpus")
def test_nodes_that_the_request_excludes_say_so(submit: Submit) -> None:
    placement = place(submit(2, classad="[ requirements = other.cpu < 0.5 ]", method="compute"))
    assert codes(placement) == dict.fromkeys(("n1", "n3"), Code.NODE_NOT_REQUESTED)
    among = message(explained(placement).among)
    assert among == "only nodes that the request allows were compared"


@pytest.mark.usefixtures("cpus")
def test_nodes_that_an_ad_of_administrators_closes_say_so(submit: Submit) -> None:
    ResourceAd.objects.create(cluster="grid", node="n3", text='[ requirements = other.owner == "operator" ]')
    placement = place(submit(2, method="compute"))
    assert codes(placement)["n3"] is Code.NODE_KEPT_BY_AD
    assert codes(placement)["n2"] is Code.NODE_LESS_CPU
    assert "administrators' ads" in message(explained(placement).among)


@pytest.mark.usefixtures("cpus")
def test_where_request_and_ad_may_exclude_a_node_both_are_named(submit: Submit) -> None:
    ResourceAd.objects.create(cluster="grid", node="n3", text='[ requirements = other.owner == "operator" ]')
    placement = place(submit(2, classad="[ requirements = other.cpu > 0.3 ]", method="compute"))
    assert codes(placement) == {"n2": Code.NODE_NOT_REQUESTED, "n3": Code.NODE_NOT_MATCHED}


@pytest.mark.usefixtures("cpus")
def test_a_request_that_excludes_nobody_compares_all_nodes(submit: Submit) -> None:
    placement = place(submit(2, classad="[ requirements = other.cpu > 0 ]", method="compute"))
    assert not explained(placement).among
    assert set(codes(placement).values()) == {Code.NODE_LESS_CPU}


def test_notes_come_back_from_their_document(submit: Submit, cpus: None) -> None:
    placement = place(submit(None, classad=BROKEN))
    why = explained(placement)
    assert why.among
    assert Explanation.read(why.document()) == why


@pytest.mark.parametrize("clause", ["SetSize == 2", "SetSize > 3", "3 > SetSize"])
def test_a_size_that_contradicts_the_nodes_of_the_job_is_refused(
    submit: Submit, fake_grid: FakeGrid, clause: str
) -> None:
    text = f'[ Type = "Set"; requirements = {clause} && other.cpu > 0.3 ]'
    with pytest.raises(InputError) as refused:
        submit(3, classad=text)
    accepted = "a set of 3 machines, as the job asks for 3 nodes"
    assert str(refused.value) == f"classad is {clause}; accepted is {accepted}."


@pytest.mark.parametrize("element", ["lifetime = 5", 'Service = "InstantService"'])
def test_a_request_of_a_job_has_no_time_to_wait(submit: Submit, fake_grid: FakeGrid, element: str) -> None:
    with pytest.raises(InputError, match="a job waits until it is placed or cancelled") as refused:
        submit(1, classad=f"[ {element}; requirements = other.cpu > 0.3 ]")
    assert refused.value.field == "classad"

"""What is asked for is one value: the form, the REST API and the rows know the same fields of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.core.requirements import NAMES, Requirements
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.job_spec import COLUMNS, JobSpec
from scheduling.pages import forms, job_summary
from scheduling.pages.serializers import JobDetailSerializer
from scheduling.pages.submit_serializers import RequirementsSerializer, SubmitSerializer

EVERYTHING = {
    "min_bandwidth": 5e6,
    "min_cpu": 0.5,
    "require": {"site": "utk"},
    "compute_priority": 2.0,
    "network": "forecast",
    "flows": True,
    "reference_bandwidth": 1e9,
}


def test_a_row_the_form_and_the_api_know_every_field() -> None:
    columns = {column.name for column in Job._meta.get_fields()}
    assert set(COLUMNS) <= columns
    assert set(COLUMNS) <= set(SubmitSerializer().fields)
    assert set(COLUMNS) <= set(JobDetailSerializer().fields)
    assert set(NAMES) == set(RequirementsSerializer().fields) == set(EVERYTHING)


@pytest.mark.django_db
def test_the_page_of_a_job_tells_what_it_has_no_words_for_by_its_name(
    submit: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(COLUMNS) >= job_summary.SHOWN_ELSEWHERE
    job = submit(2, busy_policy="next")
    told = job_summary.asked_rows(job, names_files=True)
    monkeypatch.setattr(job_summary, "SHOWN_ELSEWHERE", job_summary.SHOWN_ELSEWHERE - {"busy_policy", "trace"})
    asked = job_summary.asked_rows(job, names_files=True)
    assert [row for row in asked if row not in told] == [("busy policy", "next")]


@pytest.mark.django_db
def test_a_row_gives_back_what_was_asked(submit: Callable[..., Job]) -> None:
    job = submit(2, method="balanced", requirements={"min_cpu": 0.25, "require": {}}, time_limit=60, trace=False)
    spec = JobSpec.from_row(Job.objects.get(pk=job.pk))
    assert (spec.requirements, spec.time_limit, spec.request_key) == (Requirements(min_cpu=0.25), 60, None)
    assert JobSpec.from_row(job) == spec


@pytest.mark.django_db
def test_the_form_shows_an_old_job_and_asks_for_the_same(application: Application) -> None:
    old = JobSpec(
        application=application,
        parameters={"klass": "S", "seed": 5, "note": "again"},
        node_count=2,
        method="balanced",
        pattern="ring",
        requirements=Requirements.read(EVERYTHING),
        time_limit=90,
        name="mine",
        cluster="grid",
        busy_policy="next",
    )
    shown = {
        name: value
        for name, value in forms.initial(application, User(), old).items()
        if value is not None and value is not False
    }
    form = forms.SubmitForm(application, shown)
    assert form.is_valid(), form.errors
    spec = form.to_spec()
    assert {**spec.columns(), "skeleton": None} == old.columns()


@pytest.mark.django_db
def test_a_second_submission_differs_in_what_was_sent_only(application: Application) -> None:
    graph = {"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}
    old = JobSpec(application, node_count=2, pattern_graph=graph, requirements=Requirements(min_cpu=0.5), name="old")
    changed = old.with_changes({"name": "new"})
    assert (changed.name, changed.pattern_graph, changed.requirements.min_cpu) == ("new", graph, 0.5)
    assert old.with_changes({"pattern": "ring"}).pattern_graph is None
    assert old.with_changes({"options": {"memory": 2**30}}).options == ClusterOptions(memory=2**30)
    with pytest.raises(InputError, match="min_cpu is 2; accepted is a fraction from 0 to 1"):
        old.with_changes({"requirements": {"min_cpu": 2}})


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_each_requirement_is_written_and_read_alone(name: str) -> None:
    document = {name: EVERYTHING[name]}
    assert Requirements.read(document).document() == document
    assert Requirements.stored({**document, "of_an_older_portal": 1}) == Requirements.read(document)


def test_what_is_not_asked_is_not_written() -> None:
    nothing: dict[str, Any] = {"min_cpu": None, "require": {}, "network": None}
    assert Requirements.read(nothing) == Requirements()
    assert Requirements().document() == {}
    assert Requirements(flows=False, min_cpu=0.0).document() == {"min_cpu": 0.0, "flows": False}

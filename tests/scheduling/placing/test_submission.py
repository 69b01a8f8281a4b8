"""Submitting, cancelling and resubmitting: what is written down, and what is refused."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError

from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import ConflictError, GridPortalError, ImpossibleError, InputError
from monitoring.telemetry.services import sweeps
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services import job_spec, registering
from scheduling.messages import message
from scheduling.placing.services import preview, rounds, submission
from scheduling.placing.services.requests import question, read_pattern
from tests.fake_grid import FakeGrid

Submit = Callable[..., Job]


def test_a_job_is_written_down_with_its_first_event_and_audited(submit: Submit) -> None:
    job = submit(2, name=" mine ", requirements={"min_bandwidth": 5e7, "min_cpu": None})
    assert (job.state, job.name, job.parameters) == ("queued", "mine", {"klass": "S", "seed": 1, "note": ""})
    assert job.requirements == Requirements(min_bandwidth=5e7)
    assert [(e.to_state, e.actor) for e in job.events.all()] == [("queued", "user")]
    assert AuditEvent.objects.filter(action="job.submit", object_id=str(job.pk)).count() == 1


def test_the_same_form_sent_twice_is_one_job(submit: Submit) -> None:
    key = uuid.uuid4()
    assert submit(2, request_key=key).pk == submit(2, request_key=key).pk
    assert Job.objects.count() == 1
    with pytest.raises(InputError, match="request_key"):
        submit(2, owner="other", request_key=key)
    changed: list[dict[str, Any]] = [{"parameters": {"klass": "W"}}, {"time_limit": 60}, {"name": "another"}]
    for changes in changed:
        with pytest.raises(ConflictError, match="has made job"):
            submit(2, request_key=key, **changes)
    with pytest.raises(ConflictError):
        submit(4, request_key=key)
    assert Job.objects.count() == 1


def test_an_application_that_is_removed_meanwhile_is_named(submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_gone(*_: object, **__: object) -> Job:
        raise IntegrityError("FOREIGN KEY constraint failed")

    monkeypatch.setattr(submission, "create_job", is_gone)
    with pytest.raises(IntegrityError):
        submit(2)  # it is there: something else is wrong
    monkeypatch.setattr(submission, "Application", SimpleNamespace(objects=Application.objects.none()))
    with pytest.raises(InputError, match="application is 'ep'; accepted is an application that is there"):
        submit(2)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"nodes": 3}, "node_count"),
        ({"nodes": 0}, "node_count"),
        ({"nodes": True}, "node_count"),
        ({"parameters": {"klass": "Z"}}, "klass"),
        ({"parameters": {"seed": 5000}}, "seed"),
        ({"method": "best"}, "method"),
        ({"pattern": "spiral"}, "pattern"),
        ({"pattern_graph": {"nodes": [{"id": 0}], "links": []}}, "pattern_graph"),
        ({"candidates": 0}, "candidates"),
        ({"seed": -1}, "seed"),
        ({"time_limit": 0}, "time_limit"),
        ({"name": "two\nlines"}, "name"),
        ({"cluster": "moon"}, "cluster"),
        ({"requirements": {"speed": 1}}, "requirements"),
        ({"requirements": {"min_cpu": 1.5}}, "min_cpu"),
        ({"requirements": {"min_bandwidth": -1}}, "min_bandwidth"),
        ({"requirements": {"require": "utk"}}, "require"),
        ({"requirements": {"require": {"site": "a\0"}}}, "require"),
        ({"requirements": {"compute_priority": 0}}, "compute_priority"),
    ],
)
def test_a_value_that_will_not_do_is_named(submit: Submit, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        submit(**fields)
    assert caught.value.field == field
    assert Job.objects.count() == 0


def test_an_application_that_is_switched_off_takes_no_jobs(submit: Submit, application: Application) -> None:
    application.enabled = False
    with pytest.raises(InputError, match="enabled"):
        submit(2)


def test_what_the_whole_cluster_does_not_have_is_refused_at_once(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.labels = {"n1": {"site": "utk"}}
    sweeps.measure()
    with pytest.raises(InputError, match="at most 4"):
        submit(8)
    with pytest.raises(ImpossibleError, match="2 nodes with site=utk, and 1 of 4 have it"):
        submit(2, requirements={"require": {"site": "utk"}})
    assert submit(1, requirements={"require": {"site": "utk"}}).pk


def test_more_bandwidth_than_any_link_has_is_refused_at_once(
    submit: Submit, fake_grid: FakeGrid, application: Application
) -> None:
    wish = {"requirements": {"min_bandwidth": 100.5e6}}
    assert submit(2, **wish).pk  # nothing is known of the network yet
    sweeps.measure()
    words = "min_bandwidth is '100.5 Mbit/s'; accepted is at most 100 Mbit/s, the peak of this network"
    with pytest.raises(InputError, match=words):
        submit(2, **wish)
    with pytest.raises(InputError, match=words):
        preview.preview(job_spec.JobSpec(application, {}, 2, requirements=Requirements.read(wish["requirements"])))
    assert submit(1, **wish).pk  # one rank talks to nobody
    assert submit(2, requirements={"min_bandwidth": 100e6}).pk


def test_of_a_graph_of_ones_own_only_what_was_checked_is_kept(submit: Submit, fake_grid: FakeGrid) -> None:
    graph = {"graph": {"name": "x\n" * 500}, "nodes": [{"id": 0}, {"id": 1, "note": "\0"}], "links": []}
    graph["links"] = [{"source": 0, "target": 1, "weight": 5}]
    job = submit(2, pattern="", pattern_graph=graph)
    assert job.pattern_graph["links"] == [{"source": 0, "target": 1, "weight": 5}]
    assert job.pattern_graph["nodes"] == [{"id": 0}, {"id": 1}]
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    assert job.state == "starting"
    assert len(job.runs.get().placement.pattern) <= 60


@pytest.mark.parametrize("state", ["queued", "placing", "waiting"])
def test_a_job_that_has_not_started_is_cancelled_at_once(people: Any, make_job: Any, state: str) -> None:
    job = submission.cancel_job(people["user"], make_job(people["user"], state))
    assert (job.state, job.cancel_requested_by) == ("cancelled", "user")
    assert job.ended_at is not None
    assert "before it started" in message(job.events.last().reason)


@pytest.mark.parametrize("state", ["starting", "running"])
def test_a_job_on_nodes_is_cancelled_through_its_backend(people: Any, make_job: Any, state: str) -> None:
    job = submission.cancel_job(people["operator"], make_job(people["user"], state))
    assert (job.state, job.cancel_requested_by, job.runs.get().state) == ("cancelling", "operator", "stopping")


@pytest.mark.parametrize("state", ["succeeded", "failed", "cancelled", "cancelling"])
def test_cancelling_again_changes_nothing_and_leaves_no_trace(people: Any, make_job: Any, state: str) -> None:
    job = make_job(people["user"], state)
    events = job.events.count()
    assert submission.cancel_job(people["user"], job).state == state
    assert job.events.count() == events
    assert not AuditEvent.objects.filter(action="job.cancel").exists()


def test_the_form_filled_from_a_job_submits_the_same_job(submit: Submit, people: Any, application: Any) -> None:
    job = submit(4, method="balanced", requirements={"min_cpu": 0.5}, time_limit=60, name="again")
    spec = job_spec.JobSpec.from_row(job)
    again = submission.submit_job(people["user"], spec, resubmitted_from=job)
    assert again.resubmitted_from_id == job.pk
    assert job_spec.JobSpec.from_row(again) == spec


FIELDS = {
    "slug": "count",
    "name": "Count",
    "command": ["{python}", "-c", "print({n})"],
    "parameters": [{"name": "n", "type": "int", "default": 1}],
    "ranks": {"min": 1, "max": 4},
    "pattern": "ring",
}


def test_an_administrator_registers_and_changes_an_application(people: Any) -> None:
    made = registering.register_application(people["administrator"], FIELDS)
    changed = registering.register_application(people["administrator"], {"name": "Counting"}, made)
    assert (changed.pk, changed.name, changed.command) == (made.pk, "Counting", FIELDS["command"])
    actions = AuditEvent.objects.filter(object_type="application").values_list("action", flat=True)
    assert sorted(actions) == ["application.change", "application.register"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"slug": "A B"},
        {"name": ""},
        {"command": []},
        {"command": "rm -rf"},
        {"command": ["{m}"]},
        {"parameters": [{"name": "n", "type": "list"}]},
        {"environment": {"A B": "x"}},
        {"environment": {"A": "x\ny"}},
        {"ranks": {"min": 9, "max": 2}},
        {"pattern": "spiral"},
        {"phases": "all"},
        {"phases": ["step"] * 101},
        {"phases": ["x" * 121]},
        {"description": "x" * 10_001},
        {"command": ["x"] * 65},
        {"command": ["x" * 4097]},
        {"parameters": [{"name": f"n{i}", "default": ""} for i in range(51)]},
        {"parameters": [{"name": "n", "type": "text", "default": "", "pattern": "(a+)+b"}]},
        {"environment": {"PATH": "/tmp"}},
        {"environment": {"LD_PRELOAD": "x.so"}},
        {"environment": {"HYDRA_LAUNCHER": "fork"}},
        {"environment": {"GRIDPORTAL_RUN_DIR": "/"}},
        {"environment": {"A": "x" * 4097}},
        {"environment": {f"A{i}": "x" for i in range(101)}},
        {"owner": "me"},
        {"output_patterns": {"success": "("}},
        {"output_patterns": []},
        {"output_patterns": {"figures": [{"name": "energy", "pattern": "Energy"}]}},
    ],
)
def test_a_wrong_registration_is_refused_and_nothing_is_written(people: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(GridPortalError):
        registering.register_application(people["administrator"], FIELDS | wrong)
    assert not Application.objects.exists()


def test_what_is_at_the_limits_is_registered(people: Any) -> None:
    widest = {
        "description": "x" * 10_000,
        "command": ["x" * 4096, *["{n}"] * 63],
        "phases": ["step"] * 100,
        "parameters": [{"name": "n", "default": ""}, *({"name": f"n{i}", "default": ""} for i in range(49))],
        "environment": {"LD_LIBRARY_PATH": "/opt/lib", "PATHS": "x", "MY_PATH": "x"},
    }
    made = registering.register_application(people["administrator"], FIELDS | widest)
    assert len(made.command) == 64


def test_the_address_of_an_application_stays(people: Any) -> None:
    made = registering.register_application(people["administrator"], FIELDS)
    with pytest.raises(InputError, match="accepted is count, which is its address"):
        registering.register_application(people["administrator"], {"slug": "other", "name": "X"}, made)
    registering.register_application(people["administrator"], {"slug": "count", "name": "Same"}, made)
    assert Application.objects.values_list("slug", "name").get() == ("count", "Same")


def test_two_applications_cannot_share_a_slug(people: Any) -> None:
    registering.register_application(people["administrator"], FIELDS)
    with pytest.raises(InputError, match="no other application"):
        registering.register_application(people["administrator"], FIELDS)


def test_two_applications_cannot_share_a_name(people: Any) -> None:
    made = registering.register_application(people["administrator"], FIELDS)
    with pytest.raises(InputError, match="a name that no other application has"):
        registering.register_application(people["administrator"], FIELDS | {"slug": "other", "name": "COUNT"})
    other = registering.register_application(people["administrator"], FIELDS | {"slug": "other", "name": "Other"})
    with pytest.raises(InputError, match="name is 'count'"):
        registering.register_application(people["administrator"], {"name": "count"}, other)
    Application.objects.update(name="Count")  # as they may be from before there was this rule
    registering.register_application(people["administrator"], {"name": "Count", "enabled": False}, made)
    assert not Application.objects.get(slug="count").enabled


def test_the_catalogue_is_installed_once_and_every_entry_is_valid(db: None) -> None:
    first = registering.install_catalogue()
    second = registering.install_catalogue()
    assert [a.pk for a in first] == [a.pk for a in second]
    assert {"nas-cg", "nas-ep"} <= {a.slug for a in first}
    assert AuditEvent.objects.filter(action="application.register").count() == len(first)
    assert not AuditEvent.objects.filter(action="application.change").exists()


def test_a_job_says_whether_the_network_of_now_or_its_forecast_counts(submit: Submit) -> None:
    assert submit(2, requirements={"network": "forecast"}).requirements == Requirements(network="forecast")
    with pytest.raises(InputError, match="network is 'yesterday'; accepted is one of now, forecast"):
        submit(2, requirements={"network": "yesterday"})


def test_a_job_says_whether_all_its_pairs_talk_at_once(submit: Submit, fake_grid: FakeGrid) -> None:
    sweeps.measure()
    job = submit(2, requirements={"flows": True})
    asked = question(job, read_pattern(job))
    assert (asked.flows, asked.slack) == (True, 0.0)
    rounds.place_and_start_all(job.cluster)
    assert job.runs.get().placement.candidates[0].reason.facts["flows"] is True
    with pytest.raises(
        InputError, match="flows is true; accepted is false, or the method pattern, communication or balanced"
    ):
        submit(2, method="compute", requirements={"flows": True})
    with pytest.raises(InputError, match="flows is 'yes'; accepted is true or false"):
        submit(2, requirements={"flows": "yes"})

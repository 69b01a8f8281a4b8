"""Placing: which nodes, who comes first, and why a job waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from monitoring.clusters.models import Cluster, Node
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Job
from scheduling.jobs.services import job_spec
from scheduling.maintenance.models import MaintenanceWindow
from scheduling.messages import message
from scheduling.placing.models import Placement
from scheduling.placing.selectors import rooms
from scheduling.placing.services import choosing, preview, recovery, rounds, submission
from scheduling.placing.services.storing import new_run
from scheduling.runs.models import Run
from tests.fake_grid import FakeGrid
from tests.scheduling.ended import let_end
from tests.scheduling.pages.explained import explained
from tests.scheduling.placing.stopped_worker import place_without_starting

Submit = Callable[..., Job]


def place(job: Job) -> Job:
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    return job


def test_a_placed_job_has_its_placement_run_and_script(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.rates = {(a, b): 40e6 for a in ("n1", "n2") for b in fake_grid.names}
    job = place(submit(2, candidates=3))
    run = job.runs.get()
    assert job.state == "starting"
    assert sorted(run.placement.nodes) == ["n3", "n4"]
    assert run.placement.objective.min_bandwidth == 90e6
    assert run.placement.candidates[0].nodes == tuple(run.placement.nodes)
    assert len(run.placement.candidates) == 3
    assert all(candidate.reason for candidate in run.placement.candidates)
    assert run.key.startswith(f"job-{job.pk}-run-1-")
    assert f"mpiexec -n 2 -hosts {','.join(run.placement.nodes)}" in run.script
    assert [e.to_state for e in job.events.all()] == ["queued", "placing", "starting"]
    assert job.lease_until is None
    assert "chosen by pattern" in message(job.reason)


def test_jobs_with_groups_of_ranks_are_placed_as_any_other(submit: Submit, fake_grid: FakeGrid) -> None:
    asked = ApplicationSpecification.read(
        {"groups": [{"name": "server", "count": 1, "most": "cpu"}, {"name": "rest", "count": 1}]}
    )
    first, second = (submit(2, specification=asked, method="communication") for _ in range(2))
    assert (place(second).state, Job.objects.get(pk=first.pk).state) == ("starting", "starting")


def test_selection_uses_what_is_measured_and_not_what_the_grid_knows(submit: Submit, fake_grid: FakeGrid) -> None:
    job = place(submit(2))
    assert job.runs.get().placement.objective.min_bandwidth == 90e6  # the document says 1 bit/s


def test_a_fresh_measurement_is_used_again(submit: Submit, fake_grid: FakeGrid) -> None:
    place(submit(1))
    place(submit(1))
    assert fake_grid.asked.count("probe") == 1


def test_a_measurement_that_saw_a_run_which_has_ended_is_repeated(submit: Submit, fake_grid: FakeGrid) -> None:
    run = place(submit(1)).runs.get()
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(started_at=now - timedelta(minutes=1), ended_at=now)
    place(submit(1))
    assert fake_grid.asked.count("probe") == 2


def test_nodes_are_exclusive_and_whoever_finds_too_few_waits_with_a_reason(submit: Submit, fake_grid: FakeGrid) -> None:
    first = place(submit(2))
    second = place(submit(4))
    assert set(rooms.holders()) == set(first.runs.get().placement.nodes)
    assert second.state == "waiting"
    assert message(second.reason).startswith(f"Needs 4 free nodes; 2 of 4 are free. Job {first.pk} holds the others")
    assert explained(second) == message(second.reason)


def test_everybody_in_line_is_told_who_holds_the_nodes_now(submit: Submit, fake_grid: FakeGrid) -> None:
    first, second = place(submit(2)), place(submit(1))
    waiting = [place(submit(4)) for _ in range(25)]
    assert len({message(job.reason) for job in waiting}) == 1
    assert message(waiting[-1].reason).startswith(
        f"Needs 4 free nodes; 1 of 4 is free. Jobs {first.pk} and {second.pk} hold"
    )
    assert explained(waiting[-1]).endswith("24 jobs that wait came before it and are tried first.")
    let_end([second])
    recovery.advance_jobs()
    for job in waiting:
        job.refresh_from_db()
        assert message(job.reason).startswith(f"Needs 4 free nodes; 2 of 4 are free. Job {first.pk} holds")
        assert job.events.count() == 3


def test_a_younger_job_overtakes_only_when_the_older_does_not_fit(submit: Submit, fake_grid: FakeGrid) -> None:
    place(submit(2))
    wide = place(submit(4))
    narrow = place(submit(2))
    assert (wide.state, narrow.state) == ("waiting", "starting")


def test_an_older_job_that_fits_is_placed_before_the_one_asked_for(submit: Submit, fake_grid: FakeGrid) -> None:
    older, younger = submit(4), submit(4)
    assert place(younger).state == "waiting"
    older.refresh_from_db()
    assert older.state == "starting"


def test_a_younger_job_leaves_the_nodes_to_an_older_one_that_is_being_placed(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    older, younger = submit(4), submit(2)
    soon = timezone.now() + timedelta(seconds=20)
    Job.objects.filter(pk=older.pk).update(state="placing", lease_until=soon, lease_holder="other")
    assert place(younger).state == "waiting"
    assert f"Job {older.pk} came first" in message(younger.reason)


def test_a_waiting_job_starts_when_the_nodes_are_free_and_its_reason_is_told(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    first, second = place(submit(4)), place(submit(4))
    let_end([first])
    assert recovery.advance_jobs() == 1
    second.refresh_from_db()
    assert second.state == "starting"
    assert [e.to_state for e in second.events.all()] == ["queued", "placing", "waiting", "placing", "starting"]


def test_trying_a_waiting_job_again_adds_no_event(submit: Submit, fake_grid: FakeGrid) -> None:
    job = place(submit(2, requirements={"min_bandwidth": 95e6}))
    for _ in range(5):
        recovery.advance_jobs()
    job.refresh_from_db()
    assert (job.state, job.attempts, job.lease_until) == ("waiting", 0, None)
    assert job.events.count() == 3


def test_a_bandwidth_that_is_nowhere_measured_is_waited_for_in_words(submit: Submit, fake_grid: FakeGrid) -> None:
    job = place(submit(2, requirements={"min_bandwidth": 95e6}))
    assert job.state == "waiting"
    assert "90 Mbit/s" in message(job.reason)
    assert "lower minimum bandwidth (now 95 Mbit/s)" in message(job.reason)


def test_a_bandwidth_that_taken_nodes_have_is_waited_for_by_their_name(submit: Submit, fake_grid: FakeGrid) -> None:
    fake_grid.rates = {("n3", "n4"): 20e6, ("n4", "n3"): 20e6}
    fake_grid.cpus = {"n3": 0.5, "n4": 0.5}
    first = place(submit(2, method="compute"))
    assert set(first.runs.get().placement.nodes) == {"n1", "n2"}
    second = place(submit(2, requirements={"min_bandwidth": 80e6}))
    assert second.state == "waiting"
    assert f"this job is tried again when job {first.pk} ends" in message(second.reason)


def test_a_grid_that_is_down_makes_jobs_wait_and_they_start_when_it_is_back(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    fake_grid.down = True
    job = place(submit(2))
    assert job.state == "waiting"
    assert message(job.reason).startswith("The emulated Grid does not answer;")
    fake_grid.down = False
    assert recovery.advance_jobs() == 1
    job.refresh_from_db()
    assert job.state == "starting"


def test_a_job_larger_than_the_grid_that_replaced_the_old_one_fails_with_a_reason(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    job = submit(4)
    fake_grid.names, fake_grid.name = ["m1", "m2"], "small"
    assert place(job).state == "failed"
    assert "needs 4 nodes and the cluster has 2" in message(job.reason)


def test_a_grid_that_was_rebuilt_is_measured_before_its_nodes_are_used(submit: Submit, fake_grid: FakeGrid) -> None:
    place(submit(1))
    fake_grid.names, fake_grid.name = ["m1", "m2"], "small"
    job = place(submit(2))
    assert job.state == "starting", message(job.reason)
    assert set(job.runs.get().placement.nodes) == {"m1", "m2"}


def test_a_cancel_while_the_nodes_are_chosen_leaves_no_run(
    submit: Submit, fake_grid: FakeGrid, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit(2)
    select = choosing.select

    def cancel_meanwhile(*args: Any, **options: Any) -> Any:
        submission.cancel_job(people["user"], Job.objects.get(pk=job.pk))
        return select(*args, **options)

    monkeypatch.setattr(choosing, "select", cancel_meanwhile)
    assert place(job).state == "cancelled"
    assert not Run.objects.exists()
    assert not Placement.objects.exists()


def test_nodes_that_are_taken_during_the_choice_are_not_used_twice(
    submit: Submit, fake_grid: FakeGrid, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, job = submit(2), submit(2)
    select, nested = choosing.select, []

    def other_first(*args: Any, **options: Any) -> Any:
        chosen = select(*args, **options)
        if not nested:
            nested.append(True)
            Job.objects.filter(pk=other.pk).update(state="queued", lease_until=None)
            place_without_starting(other.cluster)
        return chosen

    Job.objects.filter(pk=other.pk).update(state="cancelled")
    monkeypatch.setattr(choosing, "select", other_first)
    place(job)
    mine, theirs = job.runs.get().placement.nodes, other.runs.get().placement.nodes
    assert not set(mine) & set(theirs)


def test_a_preview_writes_nothing_and_shows_what_would_be_chosen(
    submit: Submit, fake_grid: FakeGrid, application: Any
) -> None:
    held = place(submit(2))
    before = Job.objects.count(), Placement.objects.count()
    seen = preview.preview(job_spec.JobSpec(application, {"klass": "W"}, 2, pattern="ring"))
    assert (Job.objects.count(), Placement.objects.count()) == before
    assert not set(seen.candidates[0].nodes) & set(held.runs.get().placement.nodes)
    assert (bool(seen.problem), seen.on_free_nodes, seen.optimal) == (False, True, True)
    assert "--class W" in seen.script
    assert seen.peak == 100e6
    wide = preview.preview(job_spec.JobSpec(application, {}, 4, pattern="ring"))
    assert message(wide.problem).startswith("Needs 4 free nodes; 2 of 4 are free.")
    page = render_to_string("scheduling/_preview.html", {"preview": wide, "application": application})
    shown = " ".join(page.split())
    assert "There is room for a job of 2 nodes now." in shown
    assert not wide.on_free_nodes
    assert len(wide.candidates[0].nodes) == 4


def test_a_preview_of_the_impossible_names_it_and_still_shows_a_script(fake_grid: FakeGrid, application: Any) -> None:
    asked = job_spec.JobSpec(application, {}, 2, pattern="ring", requirements=Requirements(min_cpu=0.9))
    assert "has not answered yet" in message(preview.preview(asked).problem)
    fake_grid.cpus = dict.fromkeys(fake_grid.names, 0.3)
    from monitoring.telemetry.services import sweeps

    sweeps.measure()
    seen = preview.preview(asked)
    assert "lower minimum cpu" in message(seen.problem)
    assert "mpiexec -n 2" in seen.script
    assert seen.candidates == ()


def test_ranks_of_a_program_that_wants_shares_get_them_by_the_speed_of_their_nodes(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    Node.objects.update(speed=1.0)
    job = submit(2, method="compute")
    job.application.command = ["wave", "--shares", "{shares}"]
    job.application.save()
    preview_script = preview.preview(job_spec.JobSpec.from_row(job)).script
    run = place(job).runs.get()
    assert sum(run.placement.shares) == pytest.approx(1)
    assert len(run.placement.shares) == 2
    told = ",".join(f"{share:.6g}" for share in run.placement.shares)
    assert f"wave --shares {told}" in run.script
    assert f"{run.run_dir}/rank.shares" in run.script
    assert "rank.shares" in preview_script


def test_what_a_mapper_gave_goes_before_the_speed_of_the_nodes(submit: Submit, fake_grid: FakeGrid) -> None:
    run = place(submit(2)).runs.get()
    assert run.placement.shares == []
    assert "rank.shares" not in run.script
    run.placement.shares = [146.0, 54.0]
    again = new_run(run.job, run.placement, 2, run.reason)
    assert "printf '%s\\n' 146 54 > " in again.script


def test_a_pin_to_a_node_in_maintenance_is_told_in_the_preview_as_after_the_submission(
    submit: Submit, fake_grid: FakeGrid
) -> None:
    place(submit(2))
    far = timezone.now() + timedelta(days=400)
    cluster = Cluster.objects.get(name="grid")
    MaintenanceWindow.objects.create(cluster=cluster, start=far, end=far + timedelta(hours=2), nodes=["n4"])
    job = place(submit(2, specification=ApplicationSpecification.read({"pins": {"0": "n4"}})))
    seen = preview.preview(job_spec.JobSpec.from_row(job))
    assert job.state == "waiting"
    assert "this one has no time limit: give it one that ends before" in message(job.reason)
    assert message(seen.problem) == message(job.reason)
    assert "n4" in seen.script
    assert not any(node in seen.script for node in ("n1", "n2", "n3"))
    with_limit = preview.preview(replace(job_spec.JobSpec.from_row(job), time_limit=600))
    assert with_limit.candidates[0].nodes[0] == "n4"
    assert "time limit" not in message(with_limit.problem)

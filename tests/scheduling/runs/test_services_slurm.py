"""Jobs on a Slurm cluster, with a Slurm in memory: queued there, followed, held, and never doubled or lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.base.batch_system import BackendState, RunStatus
from gridportal.base.errors import BackendError, InputError, LaterError
from gridportal.base.reasons import NOTHING, Code
from monitoring.clusters.models import Cluster
from monitoring.telemetry.services.sweeps import refresh_loads
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.messages import message
from scheduling.placing.selectors import rooms
from scheduling.placing.services import following, preview, recovery, rounds, submission
from scheduling.runs import selectors as runs_selectors
from scheduling.runs.models import Run
from scheduling.runs.services import queue_actions, requeued, starting
from tests.scheduling.pages.explained import explained
from tests.scheduling.placing.stopped_worker import place_without_starting
from tests.scheduling.runs.fake_queue import FakeQueue

Submit = Callable[..., Job]


def go(job: Job) -> Run:
    """Placed and handed over; the run."""
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    return job.runs.get()


def follow(job: Job) -> Job:
    following.poll_runs()
    job.refresh_from_db()
    return job


def test_a_job_is_queued_runs_and_ends_as_slurm_says(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    assert job.cluster == "hpc"
    run = go(job)
    assert (run.backend, run.backend_id, job.state) == ("slurm", "100", "starting")
    assert fake_queue.specs["100"].nodes == tuple(run.placement.nodes)
    assert follow(job).state == "starting"
    assert "In the queue of hpc" in explained(job)
    fake_queue.begin("100")
    assert follow(job).state == "running"
    fake_queue.end("100")
    assert follow(job).state == "succeeded"


def test_the_nodes_under_one_switch_are_preferred(submit: Submit, fake_queue: FakeQueue) -> None:
    assert go(submit(2)).placement.nodes in (["n1", "n2"], ["n3", "n4"])


def test_a_requeued_job_follows_slurm_and_runs_again(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    go(job)
    fake_queue.begin("100")
    follow(job)
    fake_queue.requeue("100")
    assert follow(job).state == "starting"
    assert "back into the queue" in message(job.reason)
    fake_queue.begin("100")
    assert follow(job).state == "running"
    states = [event.to_state for event in job.events.all()]
    assert states == ["queued", "placing", "starting", "running", "starting", "running"]


def waits_for_a_dead_node(fake_queue: FakeQueue, job: Job, **more: Any) -> Run:
    """The run's first node dies, and Slurm lets the job wait for it."""
    run = runs_selectors.last_run(job)
    assert run is not None
    fake_queue.close(run.placement.nodes[0], "power")
    away = RunStatus(
        BackendState.PENDING,
        cause=Code.PLAIN_TEXT,
        facts={"text": "A chosen node is down."},
        unavailable=True,
        restarts=1,
        **more,
    )
    fake_queue.status[run.backend_id] = away
    return run


def test_a_job_whose_nodes_die_is_taken_back_and_placed_on_others(
    submit: Submit, fake_queue: FakeQueue, client_as: Any
) -> None:
    job = submit(2)
    go(job)
    first = waits_for_a_dead_node(fake_queue, job)
    assert follow(job).state == "moving"
    assert "to be placed on other nodes" in message(job.reason)
    assert ("cancel_pending", "100") in fake_queue.asked
    assert follow(job).state == "queued"
    recovery.advance_jobs()
    assert follow(job).state == "starting"
    second = runs_selectors.last_run(job)
    assert second is not None
    assert (second.number, second.backend_id, job.runs.filter(ended_at=None).count()) == (2, "101", 1)
    assert not {first.placement.nodes[0]} & set(second.placement.nodes)
    assert set(rooms.holders("hpc")) == set(second.placement.nodes)
    fake_queue.begin("101")
    follow(job)
    fake_queue.end("101")
    assert follow(job).state == "succeeded"
    assert any("power" in message(event.reason) for event in job.events.all())
    runs = client_as("user").get(f"/api/jobs/{job.pk}/runs").json()
    assert [(row["number"], row["state"]) for row in runs] == [(1, "recalled"), (2, "succeeded")]
    assert "Other nodes than n1 n2 are chosen for it" in runs[0]["reason"]
    assert first.placement.nodes[0] in client_as("user").get(f"/jobs/{job.pk}/runs/1/").content.decode()


def test_a_job_that_started_just_before_it_was_taken_back_goes_on(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    go(job)
    waits_for_a_dead_node(fake_queue, job)
    follow(job)
    fake_queue.begin("100")
    assert follow(job).state == "running"
    fake_queue.end("100", 1)
    assert follow(job).state == "failed"
    assert job.runs.count() == 1


def test_a_job_that_is_held_or_whose_nodes_are_well_keeps_its_nodes(submit: Submit, fake_queue: FakeQueue) -> None:
    held = submit(1)
    go(held)
    well = submit(1, busy_policy="again")
    go(well)
    waits_for_a_dead_node(fake_queue, held, held=True)
    fake_queue.status["101"] = RunStatus(
        BackendState.PENDING, cause=Code.PLAIN_TEXT, facts={"text": "Away."}, unavailable=True
    )
    assert (follow(held).state, follow(well).state) == ("starting", "starting")
    assert not [ask for ask in fake_queue.asked if ask[0] == "cancel_pending"]


AWAY = RunStatus(
    BackendState.PENDING,
    cause=Code.SLURM_WAITS,
    facts={"state": NOTHING, "slurm_reason": "ReqNodeNotAvail,_UnavailableNodes:n1"},
    unavailable=True,
)


def waits_on(fake_queue: FakeQueue, run: Run, state: str, *flags: str) -> None:
    """Slurm says that the run's nodes may be away, and has them in this state."""
    for name in run.placement.nodes:
        fake_queue.slurm_nodes[name] = replace(fake_queue.slurm_nodes[name], state=state, flags=flags)
    fake_queue.status[run.backend_id] = AWAY


def test_a_controller_that_is_only_just_back_takes_no_job_out_of_the_queue(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    job = submit(2)
    run = go(job)
    for state, flags in (("UNKNOWN", ()), ("UNKNOWN", ("NOT_RESPONDING",)), ("IDLE", ("NOT_RESPONDING",))):
        waits_on(fake_queue, run, state, *flags)
        assert follow(job).state == "starting"
    assert not [ask for ask in fake_queue.asked if ask[0] == "cancel_pending"]
    waits_on(fake_queue, run, "DOWN", "NOT_RESPONDING")
    assert follow(job).state == "moving"


def test_a_job_behind_another_is_told_so_and_not_that_its_nodes_are_away(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    run = go(job)
    waits_on(fake_queue, run, "ALLOCATED")
    following.poll_runs()
    job.refresh_from_db()
    nodes = ", ".join(sorted(run.placement.nodes))
    assert f"It waits behind jobs that are not the portal's: {nodes} are busy." in message(job.reason)
    waits_on(fake_queue, run, "IDLE", "DRAIN")
    run.placement.refresh_from_db()
    assert follow(job).state == "moving"


def test_a_job_that_never_ran_was_not_cancelled_while_it_ran(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    go(job)
    submission.cancel_job(job.owner, job)
    fake_queue.cancel("100")
    assert follow(job).state == "cancelled"
    assert (message(job.reason), job.started_at) == (f"Cancelled by {job.owner} before it started.", None)


@pytest.mark.parametrize("lost", ["answer", "memory"])
def test_a_job_that_is_taken_back_is_not_lost_when_slurm_falls_silent_or_forgets(
    submit: Submit, fake_queue: FakeQueue, lost: str
) -> None:
    job = submit(2)
    go(job)
    waits_for_a_dead_node(fake_queue, job)
    follow(job)
    if lost == "answer":  # a worker was killed between the mark and the command
        fake_queue.status["100"] = RunStatus(
            BackendState.PENDING, cause=Code.PLAIN_TEXT, facts={"text": "A chosen node is down."}, unavailable=True
        )
        follow(job)
    else:
        del fake_queue.status["100"]
        follow(job)
        Run.objects.update(created_at=timezone.now() - timedelta(minutes=5))
        Run.objects.update(state_since=timezone.now() - timedelta(minutes=5))
    assert follow(job).state == "queued"
    recovery.advance_jobs()
    assert (follow(job).state, job.runs.count()) == ("starting", 2)


def test_a_job_that_slurm_does_not_take_yet_waits_and_is_submitted_again_later(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    job = submit(2)
    fake_queue.error = None
    placed = place_without_starting(job.cluster)
    fake_queue.error = LaterError("sbatch does not take the job yet: the account's limit is reached.")
    starting.start_runs(placed)
    job.refresh_from_db()
    assert (job.state, message(job.reason)) == ("starting", str(fake_queue.error))
    fake_queue.asked.clear()
    recovery.advance_jobs()
    assert not [ask for ask in fake_queue.asked if ask[0] == "submit"]  # not before its time
    Job.objects.update(lease_until=timezone.now())
    fake_queue.error = None
    recovery.advance_jobs()
    assert follow(job).state == "starting"
    assert job.runs.get().backend_id == "100"


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (Code.NODE_FAILED, "A node of the job failed; resubmit the job to run it elsewhere."),
        (Code.PREEMPTED, "A job of higher priority took the nodes; resubmit the job."),
    ],
)
def test_a_node_failure_and_preemption_are_told_in_words(
    submit: Submit, fake_queue: FakeQueue, cause: Code, words: str
) -> None:
    job = submit(2)
    go(job)
    fake_queue.begin("100")
    follow(job)
    fake_queue.end("100", None, cause)
    assert follow(job).state == "failed"
    assert message(job.reason).startswith(words)


def test_a_job_cancelled_in_slurm_itself_is_cancelled(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    go(job)
    fake_queue.cancel("100")
    assert follow(job).state == "cancelled"


def test_the_options_reach_slurm_with_the_clusters_own(submit: Submit, fake_queue: FakeQueue, settings: Any) -> None:
    settings.CLUSTERS = {"hpc": settings.CLUSTERS["hpc"].model_copy(update={"account": "physics"})}
    go(submit(2, options={"memory": 2**29, "constraint": "small"}, time_limit=60))
    options = fake_queue.options["100"]
    assert (options.memory, options.constraint, options.account, options.requeue) == (2**29, "small", "physics", True)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"partition": "nowhere"}, "main"),
        ({"constraint": "huge"}, "small"),
        ({"memory": 2**40}, "memory"),
        ({"colour": "red"}, "one of partition"),
        ({"account": "x; rm -rf"}, "account"),
        ({"gres": "gpu:1"}, "nic"),
    ],
)
def test_what_the_cluster_does_not_offer_is_refused(
    submit: Submit, fake_queue: FakeQueue, options: dict[str, Any], named: str
) -> None:
    refresh_loads("hpc")
    fake_queue.offered["gres"] = []
    if "gres" in options:
        Cluster.objects.update(facts={"gres": ["nic:1"]})
    with pytest.raises(InputError, match=named):
        submit(2, options=options)


def test_more_nodes_or_time_than_the_partition_has_are_refused(submit: Submit, fake_queue: FakeQueue) -> None:
    refresh_loads("hpc")
    fake_queue.offered["partitions"][0]["nodes"] = 2
    services_facts = Cluster.objects.get().facts
    services_facts["partitions"][0]["nodes"] = 2
    Cluster.objects.update(facts=services_facts)
    with pytest.raises(InputError, match="at most 2"):
        submit(4)
    with pytest.raises(InputError, match="at most 3600 s"):
        submit(2, time_limit=7200)


def test_a_closed_node_is_not_chosen_and_is_shown_with_its_reason(submit: Submit, fake_queue: FakeQueue) -> None:
    fake_queue.close("n1", "bad disk")
    run = go(submit(2))
    assert run.placement.nodes == ["n3", "n4"]
    assert "bad disk" in Cluster.objects.get().nodes.get(name="n1").closed


def test_too_many_closed_nodes_make_the_job_wait_and_name_them(submit: Submit, fake_queue: FakeQueue) -> None:
    for name in ("n1", "n2", "n3"):
        fake_queue.close(name, "on fire")
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    assert job.state == "waiting"
    assert "on fire" in message(job.reason)
    assert "n1" in message(job.reason)


def best_are_busy(fake_queue: FakeQueue) -> None:
    """n1 and n2 are the best pair: n4 is slower. All of it runs somebody else's job for an hour."""
    refresh_loads("hpc")
    fake_queue.busy("n1", "n2", until=time.time() + 3600)


@pytest.mark.parametrize(("policy", "nodes"), [("wait", {"n1", "n2"}), ("again", {"n3", "n4"}), ("next", None)])
def test_busy_nodes_are_waited_for_or_gone_around(
    submit: Submit, fake_queue: FakeQueue, policy: str, nodes: set[str] | None
) -> None:
    best_are_busy(fake_queue)
    run = go(submit(2, busy_policy=policy, method="communication", candidates=6))
    chosen = set(run.placement.nodes)
    assert chosen == nodes if nodes else chosen.isdisjoint({"n1", "n2"})
    if policy == "next":
        assert len(run.placement.candidates) > 1
        assert run.placement.candidates[0].reason.code == "first_free"


def test_with_no_free_group_the_job_waits_in_slurms_queue_whatever_is_asked(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    refresh_loads("hpc")
    fake_queue.busy("n1", "n2", "n3")
    for policy in ("wait", "again", "next"):
        assert go(submit(2, busy_policy=policy)).backend_id


def test_the_preview_shows_the_expected_start_of_each_way(application: Any, fake_queue: FakeQueue, people: Any) -> None:
    best_are_busy(fake_queue)
    refresh_loads("hpc")
    asked = JobSpec(application, {"klass": "S"}, 2, pattern="ring", method="communication", candidates=6)
    shown = preview.preview(asked)
    starts = {way["policy"]: way["expected_start"] for way in shown.ways}
    assert starts["again"] == starts["next"] == "now"
    assert abs((starts["wait"] - timezone.now()).total_seconds() - 3600) < 60
    assert "would wait for them in the queue of hpc" in message(shown.problem)
    fake_queue.busy("n1", "n2", until=None)
    refresh_loads("hpc")
    assert {w["policy"]: w["expected_start"] for w in preview.preview(asked).ways}["wait"] is None


def test_held_released_and_requeued_by_the_owner_and_written_down(
    submit: Submit, fake_queue: FakeQueue, people: Any
) -> None:
    job = submit(2)
    run = go(job)
    queue_actions.hold_job(people["user"], job)
    assert runs_selectors.verbs(follow(job), job.runs.get()) == ("release",)
    assert "held" in message(job.reason)
    queue_actions.release_job(people["user"], job)
    assert runs_selectors.verbs(follow(job), job.runs.get()) == ("hold",)
    fake_queue.begin(run.backend_id)
    queue_actions.requeue_job(people["operator"], follow(job))
    assert [ask for ask in fake_queue.asked if ask[0] in ("hold", "release", "requeue")] == [
        ("hold", "100"),
        ("release", "100"),
        ("requeue", "100"),
    ]
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"job.hold", "job.release", "job.requeue"} <= actions


def test_a_job_that_starts_while_it_is_being_held_runs_and_its_life_says_so(
    submit: Submit, fake_queue: FakeQueue, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit(2)
    run = go(job)

    def hold(run_id: str) -> None:
        fake_queue.begin(run_id)
        follow(Job.objects.get(pk=job.pk))

    monkeypatch.setattr(fake_queue, "hold", hold)
    queue_actions.hold_job(people["user"], job)
    run.refresh_from_db()
    assert (job.state, run.held) == ("running", False)
    events = list(job.events.values_list("from_state", "to_state"))
    assert events[-2:] == [("starting", "running"), ("running", "running")]


def test_what_cannot_be_held_is_refused_in_words(submit: Submit, fake_queue: FakeQueue, people: Any) -> None:
    job = submit(2)
    with pytest.raises(InputError, match="queue of its cluster"):
        queue_actions.hold_job(people["user"], job)


def test_a_controller_that_does_not_answer_is_shown_and_nothing_is_lost(submit: Submit, fake_queue: FakeQueue) -> None:
    running = submit(2)
    go(running)
    queued = submit(1)
    go(queued)
    fake_queue.begin("100")
    follow(running)
    late = submit(1)
    fake_queue.error = BackendError("squeue failed: Slurm's controller does not answer; see whether slurmctld runs.")
    for job, state in ((running, "running"), (queued, "starting")):
        assert follow(job).state == state
        assert "does not answer" in message(job.reason)
    assert "slurmctld" in Cluster.objects.get().error
    rounds.place_and_start_all(late.cluster)
    late.refresh_from_db()
    assert late.state == "waiting"
    assert "hpc does not answer" in message(late.reason)
    fake_queue.error = None
    recovery.advance_jobs()
    follow(late)
    assert (late.state, len(fake_queue.specs)) == ("starting", 3)
    assert Cluster.objects.get().error == ""
    fake_queue.end("100")
    assert follow(running).state == "succeeded"


def test_a_submission_that_slurm_took_and_denied_is_found_again(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    fake_queue.late = True
    assert go(job).backend_id == ""
    assert job.state == "starting"
    fake_queue.late = False
    recovery.advance_jobs()
    assert job.runs.get().backend_id == "100"
    assert len(fake_queue.specs) == 1


def test_what_slurm_refuses_fails_with_its_words(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    place_without_starting(job.cluster)
    real, fake_queue.submit = fake_queue.submit, refused  # type: ignore[method-assign]
    starting.start_runs([job.pk])
    fake_queue.submit = real  # type: ignore[method-assign]
    job.refresh_from_db()
    assert job.state == "failed"
    assert "Invalid account" in message(job.reason)


def refused(spec: Any) -> str:
    from gridportal.base.errors import RefusedError

    raise RefusedError("sbatch refused with exit code 1: Invalid account.")


def test_a_full_disk_makes_the_job_wait(submit: Submit, fake_queue: FakeQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    from gridportal.base import run_directory

    job = submit(2)
    with monkeypatch.context() as patch:
        patch.setattr(run_directory, "prepare", full)
        go(job)
    assert job.state == "starting"
    assert "no room" in message(job.reason)
    recovery.advance_jobs()
    assert job.runs.get().backend_id == "100"


def full(*_: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_job_that_one_answer_leaves_out_goes_on_and_one_that_is_gone_ends(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    job = submit(2)
    run = go(job)
    Path(run.run_dir, "output.log").write_text("begun\n", encoding="utf-8")
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    known = fake_queue.status.pop("100")
    assert follow(job).state == "starting"
    fake_queue.status["100"] = known
    follow(job)
    assert job.runs.get().state == "submitted"
    del fake_queue.status["100"]
    follow(job)
    Run.objects.update(state_since=timezone.now() - timedelta(minutes=1))
    assert follow(job).state == "failed"
    assert "knows nothing of it" in message(job.reason)
    assert run.number == 1


def test_a_job_that_a_crashed_controller_lost_before_it_began_is_submitted_again(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    job = submit(2)
    go(job)
    long_ago = timezone.now() - timedelta(minutes=5)
    fake_queue.specs.clear()
    fake_queue.status.clear()
    Run.objects.update(created_at=long_ago, state="missing", state_since=long_ago)
    follow(job)
    recovery.advance_jobs()
    assert (follow(job).state, len(fake_queue.specs)) == ("starting", 1)
    assert job.runs.get().backend_id


def test_a_run_that_ended_well_is_not_run_again_by_a_controller_that_forgot(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    job = submit(2)
    run = go(job)
    fake_queue.begin("100")
    follow(job)
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 0, "ended_at": 1790000000.0}', encoding="utf-8")
    fake_queue.requeue("100")
    assert follow(job).state == "succeeded"
    assert ("cancel", "100") in fake_queue.asked


def test_a_recorded_failure_counts_though_slurm_says_that_all_is_well(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(1)
    run = go(job)
    fake_queue.begin(run.backend_id)
    follow(job)
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 3, "ended_at": 1}', encoding="utf-8")
    fake_queue.end(run.backend_id, 0)  # as after a crash of slurmctld in the moment of its end
    assert follow(job).state == "failed"
    assert job.runs.get().exit_code == 3


def test_an_exit_record_counts_when_slurm_has_forgotten_the_job(submit: Submit, fake_queue: FakeQueue) -> None:
    job = submit(2)
    run = go(job)
    del fake_queue.status["100"]
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 0, "ended_at": 1790000000.0}', encoding="utf-8")
    assert follow(job).state == "succeeded"


def test_a_failing_record_counts_only_when_slurm_has_missed_the_job_for_a_while(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    job = submit(2)
    run = go(job)
    del fake_queue.status["100"]
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 143, "ended_at": 1790000000.0}', encoding="utf-8")
    assert follow(job).state == "starting"
    Run.objects.update(state_since=timezone.now() - timedelta(minutes=1))
    assert follow(job).state == "failed"
    assert job.runs.get().exit_code == 143


def test_many_runs_are_one_question(submit: Submit, fake_queue: FakeQueue, django_assert_max_num_queries: Any) -> None:
    jobs = [submit(1) for _ in range(30)]
    for job in jobs:
        go(job)
    following.poll_runs()
    fake_queue.asked.clear()
    with django_assert_max_num_queries(6):
        following.poll_runs()
    assert [verb for verb, _ in fake_queue.asked] == ["poll"]
    assert len(fake_queue.asked[0][1]) == 30


def test_two_polls_at_once_ask_once(submit: Submit, fake_queue: FakeQueue) -> None:
    go(submit(1))
    fake_queue.asked.clear()
    Cluster.objects.update(polling_until=timezone.now() + timedelta(seconds=30))
    following.poll_runs()
    assert fake_queue.asked == []


def test_who_has_no_account_there_cannot_submit(
    submit: Submit, fake_queue: FakeQueue, people: Any, settings: Any
) -> None:
    as_person = {"prefix": ("sudo", "-n", "-u", "{user}")}
    settings.CLUSTERS = {"hpc": settings.CLUSTERS["hpc"].model_copy(update=as_person)}
    type(people["other"]).objects.filter(username="other").update(username="Other Person")
    people["other"].refresh_from_db()
    with pytest.raises(InputError, match="user name"):
        submit(1, owner="other")


def test_options_on_an_emulated_grid_are_refused(submit: Submit, fake_grid: Any) -> None:
    with pytest.raises(InputError, match="emulated Grid"):
        submit(1, options={"partition": "main"})


def test_a_run_that_ended_well_is_over_though_its_nodes_are_still_cleaned_up(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    job = submit(2)
    run = go(job)
    fake_queue.begin("100")
    assert follow(job).state == "running"
    cleaning = RunStatus(BackendState.RUNNING, started_at=time.time(), cause=Code.CLEANING_UP)
    fake_queue.status["100"] = cleaning
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 143, "ended_at": 1790000000.0}', encoding="utf-8")
    assert follow(job).state == "running"  # it may be put back
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 0, "ended_at": 1790000000.0}', encoding="utf-8")
    assert follow(job).state == "succeeded"


@pytest.mark.parametrize("state", ["running", "put back"])
def test_a_record_of_success_says_nothing_while_slurm_says_that_the_job_goes_on(
    submit: Submit, fake_queue: FakeQueue, state: str
) -> None:
    job = submit(2)
    run = go(job)
    fake_queue.begin("100")
    assert follow(job).state == "running"
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 0, "ended_at": 1790000000.0}', encoding="utf-8")
    if state == "put back":
        fake_queue.status["100"] = RunStatus(BackendState.PENDING, restarts=1)
    assert follow(job).state == ("running" if state == "running" else "starting")
    assert ("cancel", "100") not in fake_queue.asked


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (RunStatus(BackendState.FINISHED, exit_code=7), 7),
        (RunStatus(BackendState.FINISHED, signal=9), 137),
        (RunStatus(BackendState.FINISHED, cause=Code.NODE_FAILED), None),
    ],
)
def test_slurms_word_of_an_end_wins_over_the_record(
    submit: Submit, fake_queue: FakeQueue, said: RunStatus, code: int | None
) -> None:
    job = submit(2)
    run = go(job)
    fake_queue.begin("100")
    Path(run.run_dir, "exit.json").write_text('{"exit_code": 0, "ended_at": 1790000000.0}', encoding="utf-8")
    fake_queue.status["100"] = said
    assert follow(job).state == "failed"
    assert job.runs.get().exit_code == code


def test_a_preempted_run_is_told_from_its_log_and_expedited_once_its_nodes_have_let_go(
    submit: Submit, fake_queue: FakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = submit(2)
    run = go(job)
    fake_queue.begin("100")
    follow(job)
    said = "slurmstepd: error: *** JOB 100 ON n1 CANCELLED AT 2026-11-20T22:02:18 DUE TO PREEMPTION ***\n"
    Path(run.run_dir, "output.log").write_text(said, encoding="utf-8")
    fake_queue.status["100"] = RunStatus(
        BackendState.PENDING, cause=Code.PLAIN_TEXT, facts={"text": "Its time has not come."}, restarts=1, delayed=True
    )
    assert follow(job).state == "starting"
    assert "A job of higher priority took its nodes." in message(job.reason)
    follow(job)
    assert ("expedite", "100") not in fake_queue.asked  # slurmd would refuse it within the second of its last attempt
    monkeypatch.setattr(requeued, "BREATH", timedelta(0))
    follow(job)
    assert ("expedite", "100") in fake_queue.asked


def test_a_job_is_kept_off_nodes_that_others_have_reserved_for_part_of_its_time(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    soon = time.time() + 600
    fake_queue.offered["reservations"] = [
        {"name": "course", "start": soon, "end": soon + 3600, "nodes": ["n1", "n2", "n3"], "users": ["other"]}
    ]
    refresh_loads("hpc")
    assert go(submit(1, time_limit=3000)).placement.nodes == ["n4"]
    assert len(go(submit(2, time_limit=60)).placement.nodes) == 2
    with pytest.raises(InputError, match="course"):
        submit(1, options={"reservation": "course"})


def test_more_cpus_for_a_rank_than_any_node_of_its_partition_has_are_refused_at_once(
    submit: Submit, fake_queue: FakeQueue
) -> None:
    large = replace(fake_queue.slurm_nodes["n4"], cpus=64, partitions=("large",))
    fake_queue.slurm_nodes["n4"] = large
    fake_queue.offered["partitions"].append(
        {"name": "large", "default": False, "up": True, "max_time": 3600.0, "nodes": 1}
    )
    go(submit(1))  # so that the portal has looked at it
    with pytest.raises(InputError, match=r"cpus_per_rank is 8; accepted is at most 4.* in partition main"):
        submit(1, cpus_per_rank=8)
    assert submit(1, cpus_per_rank=8, options={"partition": "large"}).state == "queued"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"memory": 2**39}, r"memory is 549755813888; accepted is at most \d+, the most that a node of partition main"),
        ({"gres": "gpu:2"}, r"gres is 'gpu:2'; accepted is at most gpu:1, the most that a node of partition main has"),
        ({"gres": "nic:1"}, "gres is 'nic:1'; accepted is nothing of nic: no node of partition main has it"),
    ],
)
def test_what_no_node_of_its_partition_has_is_refused_at_once(
    submit: Submit, fake_queue: FakeQueue, options: dict[str, Any], words: str
) -> None:
    nodes = fake_queue.slurm_nodes
    nodes |= {name: replace(nodes[name], gres="gpu:1", memory=2**34) for name in nodes}
    nodes["n4"] = replace(nodes["n4"], gres="gpu:4,nic:1", memory=2**40, partitions=("large",))
    fake_queue.offered["gres"] = ["gpu:1", "gpu:4,nic:1"]
    fake_queue.offered["partitions"].append(
        {"name": "large", "default": False, "up": True, "max_time": 3600.0, "nodes": 1}
    )
    go(submit(1))  # so that the portal has looked at it
    with pytest.raises(InputError, match=words):
        submit(1, options=options)
    assert submit(1, options={**options, "partition": "large"}).state == "queued"

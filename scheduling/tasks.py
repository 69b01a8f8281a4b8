"""What workers do for jobs. Every task may be lost, run twice or be killed half way: the services see to that."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from gridportal.celery import task
from scheduling.alerts.services import judging_rules
from scheduling.checkpoints.services import continuing, depot_checkpoints, freeing, runtime_support
from scheduling.cluster_checks import services as cluster_checks
from scheduling.contracts.services import tending
from scheduling.jobs.models import Job
from scheduling.jobs.services import job_inputs
from scheduling.notices.services import delivering, writing_notices
from scheduling.placing import asked
from scheduling.placing.services import following, recovery, rounds, trial_steps
from scheduling.projects import budget_services
from scheduling.reports import report_letters, schedule_services
from scheduling.rescheduling.services import forgetting, rescheduler
from scheduling.resource_requests.services import request_rounds
from scheduling.runs.services import job_depots
from scheduling.skeletons.services import stored_skeletons
from scheduling.usage.services import counting_use
from scheduling.workload_logs.services import removing_logs

#: Seconds between two rounds of placing on one cluster while new jobs come.
_PAUSE = 0.25


def place_soon(job: Job) -> None:
    """Have a new job placed once it is committed, together with all others that came at the same time."""
    transaction.on_commit(lambda: place_jobs.send(job.cluster) if asked.is_first(job.cluster) else None)


@task(name="scheduling.tasks.place_jobs")
def place_jobs(cluster: str) -> None:
    """Place all jobs that wait on a cluster, and hand what was placed to the backend."""
    asked.forget(cluster)
    rounds.place_and_start_all(cluster, pause=_PAUSE)
    trial_steps.advance_trials(cluster)


@task(name="scheduling.tasks.cancel_run")
def cancel_run(job_id: int) -> None:
    """Stop the run of a job that is being cancelled, then let others have its nodes."""
    following.cancel_run(job_id)


@task(name="scheduling.tasks.poll_runs")
def poll_runs(cluster: str = "") -> None:
    """Follow all runs; when one has ended, whoever waits for its nodes is placed at once.

    Of several clusters each is followed in a task of its own, so that one that is slow holds up no other.
    """
    names = [cluster] if cluster else sorted({*following.clusters_to_follow(), *continuing.clusters_to_continue()})
    for other in names[1:]:
        poll_runs.apply_async((other,), expires=max(2.0, settings.PORTAL.poll_every))
    if not names:
        return
    trial_steps.advance_trials(names[0])
    changed = following.poll_runs(names[0])
    runtime_support.follow_runtime_support(names[0])
    if changed + continuing.advance_continuations(names[0]):
        recovery.advance_jobs()


@task(name="scheduling.tasks.judge_contracts")
def judge_contracts() -> None:
    """Open the contracts of runs that have started, and hold those of all runs against what these report."""
    tending.tend_contracts(writing_notices.tell_of_model)


@task(name="scheduling.tasks.continue_jobs")
def continue_jobs(cluster: str) -> None:
    """Take the jobs of a cluster a step on that are being moved."""
    continuing.advance_continuations(cluster)


@task(name="scheduling.tasks.free_checkpoints")
def free_checkpoints() -> None:
    """Let go of checkpoints that no job goes on from."""
    freeing.free_folders()


@task(name="scheduling.tasks.look_into_depots")
def look_into_depots() -> None:
    """Find checkpoints whose shards are no longer in the depots that had them."""
    depot_checkpoints.look_into_depots()


@task(name="scheduling.tasks.try_jobs")
def advance_trials(cluster: str = "") -> None:
    """Take the jobs a step on whose skeletons run on candidate groups."""
    trial_steps.advance_trials(cluster)


@task(name="scheduling.tasks.build_skeletons")
def build_skeletons() -> None:
    """Build the skeletons of profiles that have none yet."""
    stored_skeletons.build_due()


@task(name="scheduling.tasks.advance_jobs")
def advance_jobs() -> None:
    """Take every job a step on that nobody has leased."""
    recovery.advance_jobs()


@task(name="scheduling.tasks.sweep_depots")
def sweep_depots() -> None:
    """Let go of what depots have of jobs that are over or deleted."""
    job_depots.sweep_all()


@task(name="scheduling.tasks.reschedule")
def reschedule() -> None:
    """Answer the calls of contracts, weigh moves, and carry out those that were decided."""
    rescheduler.reschedule()


@task(name="scheduling.tasks.match_requests")
def match_requests() -> None:
    """Try the resource requests that wait, and let those expire whose lifetime is over."""
    request_rounds.advance_requests()


@task(name="scheduling.tasks.send_notices")
def send_notices() -> None:
    """Tell people of what happened to jobs and of moves that wait, and send what is due, also reports at set times."""
    writing_notices.write_notices()
    schedule_services.send_due_reports()
    delivering.send_due(report_letters.letter)


@task(name="scheduling.tasks.judge_alerts")
def judge_alerts() -> None:
    """Hold the rules of alerts against the newest values."""
    judging_rules.judge_rules()


@task(name="scheduling.tasks.forget_notices")
def forget_notices() -> None:
    """Let go of old notices and alerts."""
    writing_notices.forget_old()
    judging_rules.forget_old()


@task(name="scheduling.tasks.forget_decisions")
def forget_decisions() -> None:
    """Let go of old decisions by which no job was moved."""
    forgetting.forget_old()


@task(name="scheduling.tasks.forget_inputs")
def forget_inputs() -> None:
    """Let go of input files that no job needs."""
    job_inputs.forget_unused()


@task(name="scheduling.tasks.tend_use")
def tend_use() -> None:
    """Add what has ended to the sums that reports are read from, and tell of budgets that are nearly used."""
    counting_use.tend_use()
    budget_services.warn_of_budgets()
    removing_logs.finish_removals()


@task(name="scheduling.tasks.remove_log")
def remove_log(name: str) -> None:
    """Remove a log that was read, as somebody asked."""
    removing_logs.remove_log(name)


@task(name="scheduling.tasks.check_cluster")
def check_cluster(check_id: int) -> None:
    """Ask all parts of a cluster, for somebody who waits for the answers."""
    cluster_checks.run_check(check_id)

"""Jobs that run their skeleton on the candidate groups first, on a Grid in memory."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from gridportal.base.errors import InputError
from gridportal.base.reasons import Code, Reason
from monitoring.telemetry.services import sweeps
from scheduling import tasks
from scheduling.jobs.models import JobEvent
from scheduling.jobs.services import job_spec
from scheduling.messages import message
from scheduling.notices.models import Notice
from scheduling.notices.services import writing_notices
from scheduling.placing.models import Decision
from scheduling.placing.selectors import rooms
from scheduling.placing.services import rounds, submission, taking, trial_steps, trials
from scheduling.placing.services.preview import preview
from scheduling.reports.report_tabs import TABS
from scheduling.skeletons.models import SkeletonRun
from scheduling.usage.ranges import recent
from tests.markup import markup
from tests.scheduling.placing.trial_grid import end_skeletons, keep_skeleton, states, time_passes, to_starting

pytestmark = pytest.mark.django_db


@pytest.fixture
def tried(submit, fake_grid, application):
    """A job on 2 of 6 nodes that has begun to try its three groups."""
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    skeleton = keep_skeleton(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    job.refresh_from_db()
    job.test_skeleton = skeleton
    return job


def groups(job):
    return [" ".join(one.nodes) for one in job.placements.get().candidates]


def test_the_group_with_the_least_predicted_seconds_is_taken(tried, fake_grid):
    assert tried.state == "trial"
    assert tried.runs.count() == 0
    first, second, third = groups(tried)
    to_starting(tried, fake_grid, {first: 40.0, second: 31.0, third: 45.0})
    run = tried.runs.get()
    assert (tried.state, " ".join(run.placement.nodes)) == ("starting", second)
    assert fake_grid.on_nodes[run.key] == second.split()
    told = run.placement.trial.outcome
    assert (told.by, told.taken, told.won) == ("skeleton", 1, 9.0)
    assert [one.skeleton.predicted for one in run.placement.candidates] == [31.0, 40.0, 45.0]
    assert run.reason.facts["nodes"] == second.split()
    assert "won 9 s over the selection alone" in message(tried.reason)


def test_disjoint_groups_are_tried_side_by_side_and_their_nodes_are_held(tried, fake_grid):
    assert set(states(tried).values()) == {"running"}
    assert set(rooms.holders()) == {f"n{number}" for number in range(1, 7)}
    assert not any(set(a.split()) & set(b.split()) for a in groups(tried) for b in groups(tried) if a != b)


def test_groups_on_one_machine_with_few_processors_are_tried_one_after_the_other(
    submit, fake_grid, application, monkeypatch
):
    monkeypatch.setattr(trials, "cores", lambda: 2)
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    keep_skeleton(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    assert sorted(states(job).values()) == ["planned", "planned", "running"]


def test_groups_that_share_a_node_never_run_at_once(submit, fake_grid, application):
    keep_skeleton(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    for _ in range(6):
        nodes = [
            node
            for key, run in fake_grid.runs.items()
            if run["state"] == "running" and "-try-" in key
            for node in fake_grid.on_nodes[key]
        ]
        assert len(nodes) == len(set(nodes))
        end_skeletons(fake_grid, {})
        tasks.poll_runs()
    job.refresh_from_db()
    assert job.state == "running"
    assert len([key for key in fake_grid.submitted if "-try-" in key]) == 3


def test_other_jobs_wait_for_nodes_under_trial(tried, fake_grid, submit):
    other = submit(2)
    tasks.place_jobs(other.cluster)
    other.refresh_from_db()
    assert (other.state, f"Job {tried.pk} holds" in message(other.reason)) == ("waiting", True)
    to_starting(tried, fake_grid, {})
    tasks.advance_jobs()
    other.refresh_from_db()
    assert other.state in ("trial", "starting")


def test_a_group_on_which_the_skeleton_fails_loses_with_its_reason(tried, fake_grid):
    first, second, third = groups(tried)
    to_starting(tried, fake_grid, {second: 60.0, third: 70.0}, codes={first: 9})
    placement = tried.runs.get().placement
    assert " ".join(placement.nodes) == second
    lost = next(one for one in placement.candidates if " ".join(one.nodes) == first)
    assert message(lost.reason).startswith("its skeleton failed: it ended with 9")
    assert placement.trial.outcome.won is None


def test_when_all_fail_the_selection_decides_and_the_job_says_so(tried, fake_grid):
    first = groups(tried)[0]
    to_starting(tried, fake_grid, {}, codes=dict.fromkeys(groups(tried), 1))
    assert " ".join(tried.runs.get().placement.nodes) == first
    assert "taken, the selection's first choice: no skeleton ended" in message(tried.reason)


def test_at_the_end_of_the_budget_the_best_so_far_is_taken(tried, fake_grid):
    first, second, third = groups(tried)
    key = next(key for key, nodes in fake_grid.on_nodes.items() if " ".join(nodes) == second)
    fake_grid.write(key, {"event": "result", "seconds": 2.0, "figures": {"predicted": 33.0}})
    fake_grid.end(key)
    tasks.poll_runs()
    assert states(tried) == {first: "running", second: "done", third: "running"}
    time_passes(tried, 500.0)
    for _ in range(3):
        tasks.poll_runs()
    tried.refresh_from_db()
    assert " ".join(tried.runs.get().placement.nodes) == second
    assert states(tried) == {first: "stopped", second: "done", third: "stopped"}


@pytest.fixture
def in_turn(submit, fake_grid, application, monkeypatch):
    """A job whose three groups are tried one after the other, in 20 s."""
    monkeypatch.setattr(trials, "cores", lambda: 2)
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    keep_skeleton(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    return job


def ends(job, grid, place, seconds, predicted):
    """The skeleton on a group ends, so many seconds after it was handed over."""
    row = SkeletonRun.objects.get(job=job, candidate=place)
    grid.write(row.key, {"event": "result", "seconds": seconds, "figures": {"predicted": predicted}})
    time_passes(job, seconds)
    grid.runs[row.key]["started_at"] -= seconds
    grid.end(row.key)
    tasks.poll_runs()


@pytest.fixture
def still(monkeypatch):
    """The clock stands: time passes for skeletons only where a test says so."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


def test_the_first_group_has_half_of_the_time_and_leaves_the_rest_to_the_second(still, in_turn, fake_grid):
    first, second, third = groups(in_turn)
    assert states(in_turn) == {first: "running", second: "planned", third: "planned"}
    assert SkeletonRun.objects.get(job=in_turn, candidate=0).allowed == 10.0
    tasks.poll_runs()
    time_passes(in_turn, 9.6)
    for _ in range(3):
        tasks.poll_runs()
    cut = SkeletonRun.objects.get(job=in_turn, candidate=0)
    assert (cut.state, cut.cause, message(cut.reason)) == (
        "stopped",
        "time",
        "its share of the time, 10 s, was used up",
    )
    running = SkeletonRun.objects.get(job=in_turn, candidate=1)
    assert (running.state, running.allowed) == ("running", pytest.approx(10.4))
    ends(in_turn, fake_grid, 1, 5.0, 33.0)
    assert states(in_turn)[third] == "running"
    tasks.poll_runs()
    time_passes(in_turn, 30.0)
    for _ in range(3):
        tasks.poll_runs()
    told = in_turn.placements.get().trial.outcome
    assert (told.taken, told.by, told.compared, told.ended, told.ran) == (1, "skeleton", 3, 1, 3)


def test_one_group_that_ended_is_no_comparison(in_turn, fake_grid):
    """The first ran for less than the second took, so nobody knows which is faster: the selection decides."""
    time_passes(in_turn, 9.6)
    for _ in range(3):
        tasks.poll_runs()
    row = SkeletonRun.objects.get(job=in_turn, candidate=0)
    SkeletonRun.objects.filter(pk=row.pk).update(started_at=row.ended_at - timedelta(seconds=2))
    ends(in_turn, fake_grid, 1, 10.2, 33.0)
    for _ in range(3):
        tasks.poll_runs()
    in_turn.refresh_from_db()
    placement = in_turn.placements.get()
    told = placement.trial.outcome
    assert (told.taken, told.by, told.compared, told.won) == (0, "selection", 0, None)
    finding = message(told.finding)
    assert "ended on 1" in finding
    assert "confirmed" not in finding
    assert [one.skeleton.cause for one in sorted(placement.candidates, key=lambda one: one.place)] == [
        "time",
        "",
        "time",
    ]


def test_a_backend_that_ends_a_skeleton_in_time_has_not_made_it_fail(in_turn, fake_grid):
    row = SkeletonRun.objects.get(job=in_turn, candidate=0)
    time_passes(in_turn, 10.2)
    fake_grid.end(row.key, 143)
    tasks.poll_runs()
    row.refresh_from_db()
    assert (row.state, row.cause) == ("stopped", "time")


def test_a_trial_that_took_too_long_says_so(tried, fake_grid):
    tasks.poll_runs()  # that they run
    time_passes(tried, 500.0)
    for _ in range(3):
        tasks.poll_runs()
    tried.refresh_from_db()
    told = tried.placements.get().trial.outcome
    assert told.overrun == pytest.approx(480, abs=5)
    event = JobEvent.objects.get(job=tried, to_state="starting")
    assert message(event.reason).endswith("s more than its 20 s.")


def test_no_trial_where_the_application_is_short(submit, fake_grid, application):
    keep_skeleton(application, seconds=10.0)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    job.refresh_from_db()
    assert job.state == "starting"
    assert "for an application of 10 s may take 1 s" in message(job.placements.get().trial.untried)


@pytest.mark.parametrize(
    ("seconds", "asked", "words"),
    [
        (10.0, True, "Its skeleton would not be run: on two groups it takes 3 s"),
        (1000.0, None, "Its skeleton would first run on two or more of 3 groups, in "),
        (1000.0, False, ""),
    ],
)
def test_the_preview_says_whether_the_groups_would_be_tried(submit, fake_grid, application, seconds, asked, words):
    keep_skeleton(application, seconds=seconds)
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    sweeps.measure()
    found = preview(job_spec.JobSpec(application, {}, 2, pattern="ring", skeleton=asked))
    assert message(found.trial).startswith(words)
    assert bool(found.trial) == bool(words)


@pytest.mark.parametrize(("asked", "state"), [(False, "starting"), (None, "trial"), (True, "trial")])
def test_a_job_may_leave_it(submit, fake_grid, application, asked, state):
    keep_skeleton(application)
    job = submit(2, skeleton=asked)
    tasks.place_jobs(job.cluster)
    job.refresh_from_db()
    assert job.state == state


def test_other_methods_try_only_when_they_are_asked_to(submit, fake_grid, application):
    keep_skeleton(application)
    found = []
    for asked in (None, True):
        job = submit(1 if asked is None else 2, method="communication", skeleton=asked)
        tasks.place_jobs(job.cluster)
        job.refresh_from_db()
        found.append(job.state)
    assert found == ["starting", "trial"]


def test_a_skeleton_that_is_not_there_cannot_be_asked_for(submit, application):
    with pytest.raises(InputError, match="has none on 2 ranks"):
        submit(2, skeleton=True)


def test_a_job_that_is_cancelled_while_it_tries_leaves_nothing_running(tried, fake_grid, people):
    submission.cancel_job(people["user"], tried)
    tried.refresh_from_db()
    assert tried.state == "cancelled"
    assert set(rooms.holders()) == set(fake_grid.names)  # until the skeletons are gone
    tasks.poll_runs()
    tasks.poll_runs()
    assert all(run["state"] == "finished" for run in fake_grid.runs.values())
    assert set(states(tried).values()) == {"stopped"}
    assert rooms.holders() == {}


def test_a_backend_that_is_silent_is_waited_for(tried, fake_grid):
    fake_grid.down = True
    tasks.poll_runs()
    tried.refresh_from_db()
    assert (tried.state, "does not answer" in message(tried.reason)) == ("trial", True)
    fake_grid.down = False
    assert to_starting(tried, fake_grid, {}).state == "starting"


def test_a_grid_that_forgot_them_makes_the_groups_fail(tried, fake_grid):
    fake_grid.restart()
    time_passes(tried, 11.0)
    to_starting(tried, fake_grid, {})
    assert set(states(tried).values()) == {"failed"}
    assert tried.state == "starting"


def test_a_person_takes_another_group_and_it_is_kept_who_and_why(tried, fake_grid, people):
    first, _, third = groups(tried)
    taking.take_candidate(people["user"], tried, 2, "it is next to my disks")
    for _ in range(3):
        tasks.poll_runs()
    tried.refresh_from_db()
    placement = tried.runs.get().placement
    assert (tried.state, " ".join(placement.nodes)) == ("running", third)
    decision = Decision.objects.get(job=tried)
    assert placement.decision == decision
    assert (decision.by, decision.why, decision.mode) == ("user", "it is next to my disks", "operator")
    assert (decision.candidate, " ".join(decision.proposed), " ".join(decision.taken)) == (2, first, third)
    event = JobEvent.objects.filter(job=tried, to_state="starting").get()
    assert (event.actor, "it is next to my disks" in message(event.reason)) == ("user", True)
    with pytest.raises(InputError, match="trying"):
        taking.take_candidate(people["user"], tried, 0, "too late now")


def test_the_group_that_a_person_takes_is_not_told_that_another_was_taken(tried, fake_grid, people):
    order = groups(tried)
    taking.take_candidate(people["user"], tried, 1, "it is next to my disks")
    to_starting(tried, fake_grid, {})
    early, another = "taken by user before its skeleton ended", "another group was taken"
    rows = {" ".join(row.nodes): message(row.reason) for row in SkeletonRun.objects.filter(job=tried)}
    assert rows == {order[0]: another, order[1]: early, order[2]: another}
    why = {" ".join(one.nodes): message(one.reason) for one in tried.placements.get().candidates}
    assert why[order[1]] == early
    assert why[order[0]] == f"its skeleton was stopped: {another}"


@pytest.fixture
def by_hand(submit, fake_grid, application):
    """A job whose groups are tried, and that waits for a person then."""
    fake_grid.names = [f"n{number}" for number in range(1, 7)]
    keep_skeleton(application)
    job = submit(2, by_hand=True)
    tasks.place_jobs(job.cluster)
    return to_starting(job, fake_grid, {}, rounds=4)


def test_a_job_waits_for_the_choice_of_a_person_who_is_told_once(by_hand, fake_grid, people):
    assert by_hand.state == "trial"
    assert set(states(by_hand).values()) == {"done"}
    assert by_hand.reason.code is Code.TRIAL_AWAITS
    assert "Its 3 groups are tried: take one of them." in message(by_hand.reason)
    assert set(rooms.holders()) == set(fake_grid.names), "its groups are kept"
    assert writing_notices.write_notices() == 1
    trial_steps.advance_trials()
    assert writing_notices.write_notices() == 0
    notice = Notice.objects.get()
    assert (notice.person, notice.kind, notice.event.from_state) == (people["user"], "waits", "trial")
    third = groups(by_hand)[2]
    taking.take_candidate(people["user"], by_hand, 2, "it is next to my disks")
    trial_steps.advance_trials()
    by_hand.refresh_from_db()
    assert (by_hand.state, " ".join(by_hand.runs.get().placement.nodes)) == ("starting", third)


def test_waiting_for_a_choice_is_told_in_words_and_is_no_time_of_the_trial(by_hand, client_as, people):
    time_passes(by_hand, 300.0)
    for row in SkeletonRun.objects.filter(job=by_hand):  # side by side, for four seconds
        SkeletonRun.objects.filter(pk=row.pk).update(started_at=row.ended_at - timedelta(seconds=4))
    JobEvent.objects.filter(job=by_hand, from_state="trial").update(at=timezone.now() - timedelta(seconds=300))
    page = markup(client_as("user").get(f"/jobs/{by_hand.pk}/"))
    assert page.count("waits for a choice") == 2, "beside the title, and in the times"
    assert "no skeleton runs any more" in page
    assert "The skeleton runs on each group" not in page
    assert client_as("user").get(f"/api/jobs/{by_hand.pk}/placement").json()["trial"]["awaits_choice"] is True
    report = TABS["slowdown"].sections(people["manager"], recent(timedelta(days=1)))
    told = {each.key: each for each in report}["trials"]
    assert told.finding.endswith("1 job has its groups tried and waits for a person to take one now.")
    taking.take_candidate(people["user"], by_hand, 1, "it is next to my disks")
    trial_steps.advance_trials()
    outcome = by_hand.placements.get().trial.outcome
    assert outcome.spent == pytest.approx(4.0, abs=0.5)
    assert outcome.overrun == 0


def test_a_group_is_not_given_up_for_what_groups_of_another_kind_exaggerate(submit, fake_grid, application):
    """Two groups are tried, in turn; of the third nobody knows how far its estimate is off."""
    job = submit(2)
    rows = [SkeletonRun(job=job, nodes=nodes) for nodes in (["n1", "n1"], ["n2", "n2"], ["n1", "n2"])]
    kinds = [trial_steps._kind(row) for row in rows]
    assert kinds[0] == kinds[1] != kinds[2]
    rows[0].skeleton = keep_skeleton(application)
    rows[1].player = Reason.of(Code.PLAYED_IN_C, mpi="MPICH")
    assert len({trial_steps._kind(row) for row in rows}) == 3


def test_without_a_choice_it_starts_on_the_fastest_group_in_the_end(by_hand, settings):
    time_passes(by_hand, settings.PORTAL.choice_seconds + 1)
    trial_steps.advance_trials()
    by_hand.refresh_from_db()
    assert by_hand.state == "starting"
    assert by_hand.runs.get().placement.trial.outcome.by == "skeleton"


def test_where_no_skeleton_told_anything_nobody_is_waited_for(submit, fake_grid, application):
    keep_skeleton(application)
    job = submit(2, by_hand=True)
    tasks.place_jobs(job.cluster)
    codes = {" ".join(row.nodes): 1 for row in SkeletonRun.objects.filter(job=job)}
    assert to_starting(job, fake_grid, {}, codes=codes).state == "starting"


def test_nobody_waits_for_a_choice_among_groups_that_are_not_tried(submit):
    with pytest.raises(InputError, match="by_hand"):
        submit(2, by_hand=True, skeleton=False)


def test_the_dialog_has_what_each_group_promises(by_hand, client_as):
    page = markup(client_as("user").get(f"/jobs/{by_hand.pk}/"))
    dialog = page.partition('id="take-dialog"')[2].partition("</dialog>")[0]
    assert [dialog.count(f'id="take-{place}"') for place in range(4)] == [1, 1, 1, 0]
    assert "50.00" in dialog
    assert "90.0" in dialog
    assert "checked" in dialog
    assert 'id="take-dialog"' not in markup(client_as("manager").get(f"/jobs/{by_hand.pk}/"))


@pytest.mark.parametrize(("place", "reason", "field"), [(7, "good enough", "candidate"), (1, "x", "reason")])
def test_an_override_needs_a_tried_group_and_a_reason(tried, people, place, reason, field):
    with pytest.raises(InputError) as error:
        taking.take_candidate(people["user"], tried, place, reason)
    assert error.value.field == field


def test_a_group_that_cannot_win_is_not_tried(submit, fake_grid, application):
    skeleton = keep_skeleton(application)
    fake_grid.rates = {(a, b): 1e6 for a in fake_grid.names for b in fake_grid.names if {a, b} != {"n1", "n2"}}
    fake_grid.rates |= {("n3", "n4"): 2e6, ("n4", "n3"): 2e6}
    job = submit(2)
    tasks.place_jobs(job.cluster)
    to_starting(job, fake_grid, {"n1 n2": 5.0, "n3 n4": 50.0})
    assert sorted(states(job).values()) == ["done", "done", "skipped"]
    skeleton.refresh_from_db()
    assert (skeleton.reference.predicted, skeleton.reference.nodes) == (5.0, ("n1", "n2"))
    left = SkeletonRun.objects.get(job=job, state="skipped")
    assert message(left.reason) == "it takes 8 s there at least"


def test_a_person_takes_another_group_for_a_job_in_the_queue_of_its_cluster(submit, fake_queue, people):
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    first = job.runs.get()
    taken = taking.takeable(job)
    assert first.placement.nodes not in taken.values()
    taking.take_candidate(people["operator"], job, 1, "the others are for the review")
    assert taking.takeable(job) == {}  # once is enough
    for _ in range(3):
        tasks.poll_runs()
        tasks.advance_jobs()
    job.refresh_from_db()
    last = job.runs.get(number=2)
    assert (job.state, last.placement.nodes, last.backend_id) == ("starting", taken[1], "101")
    assert fake_queue.specs["101"].nodes == tuple(taken[1])
    first.refresh_from_db()
    assert (first.state, first.ended_at is None) == ("recalled", False)
    assert last.placement.decision.by == "operator"
    assert first.placement.decision == last.placement.decision == Decision.objects.get()
    told = JobEvent.objects.filter(job=job, to_state="starting").last()
    assert (told.actor, "for the review" in message(told.reason)) == ("operator", True)
    fake_queue.begin("101")
    tasks.poll_runs()
    job.refresh_from_db()
    assert job.state == "running"
    assert taking.takeable(job) == {}


def test_a_job_that_started_meanwhile_stays_where_it_is(submit, fake_queue, people):
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    taking.take_candidate(people["user"], job, 1, "I like these more")
    fake_queue.begin("100")
    tasks.poll_runs()
    job.refresh_from_db()
    assert (job.state, job.runs.count()) == ("running", 1)


@pytest.mark.parametrize("damage", ["pipe", "directory", "deep", "gone"])
def test_what_a_skeleton_does_to_its_files_costs_its_own_group_alone(tried, fake_grid, damage):
    sick = SkeletonRun.objects.filter(job=tried, state="running").first()
    progress = Path(sick.run_dir, "progress.jsonl")
    if damage == "pipe":
        os.mkfifo(progress)
    elif damage == "directory":
        progress.mkdir()
    elif damage == "deep":
        progress.write_text('{"event": "result", "seconds": 1, "figures": ' + "[" * 970 + "]" * 970 + "}\n")
    else:
        shutil.rmtree(sick.run_dir)
    fake_grid.end(sick.key, record=False)
    for _ in range(8):
        trial_steps.advance_trials()
        for row in SkeletonRun.objects.filter(job=tried, state="running"):
            fake_grid.write(row.key, {"event": "result", "seconds": 2.0, "figures": {"predicted": 50.0}})
            fake_grid.end(row.key)
    tried.refresh_from_db()
    sick.refresh_from_db()
    assert (sick.state, tried.state) == ("failed", "starting")
    assert tried.runs.get().placement.nodes != sick.nodes

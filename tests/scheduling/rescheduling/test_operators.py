"""What an operator does: each step with a permission of its own, other nodes and other counts, dry runs, opting out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone
from typer.testing import CliRunner

from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import ConflictError, InputError
from gridportal.web.long_answers import MOST, long_answer
from monitoring.clusters.models import Cluster
from scheduling import tasks
from scheduling.checkpoints.services import requesting
from scheduling.jobs.models import Job
from scheduling.rescheduling.commands import move_commands
from scheduling.rescheduling.models import JobMovePolicy, MoveDecision
from scheduling.rescheduling.services import deciding, dry_runs, named_nodes
from scheduling.rescheduling.services.dry_runs import dry_run
from scheduling.rescheduling.services.rescheduler import reschedule
from scheduling.runs.phase_models import PhaseReport
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints import stoppable_jobs as stoppable
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words
from tests.scheduling.rescheduling.test_rescheduler import decision_of, slow_job

__all__ = ["slow_job"]
Slow = Callable[..., Job]
STEPS = ("approve", "refuse", "override")


@pytest.fixture
def proposal(make_job: Any, people: Any) -> MoveDecision:
    return propose(make_job(people["user"], "running"))


@pytest.mark.parametrize("allowed", STEPS)
def test_whom_an_administrator_allows_one_step_may_take_that_one(
    client_as: Any, people: Any, proposal: MoveDecision, allowed: str
) -> None:
    group = Group.objects.create(name="move deputies")
    group.permissions.add(Permission.objects.get(codename=f"{allowed}_move"))
    people["other"].groups.add(group)
    client, body = client_as("other"), {"reason": "as agreed", "nodes": "n9"}
    codes = {step: client.post(f"/migrations/{proposal.pk}/{step}", body).status_code for step in STEPS}
    assert codes == {step: 302 if step == allowed else 403 for step in STEPS}
    assert client.get(proposal.get_absolute_url()).status_code == 200


def test_an_operator_takes_another_count_and_the_gain_is_computed_first(
    client_as: Any, people: Any, slow_job: Slow
) -> None:
    job = slow_job()
    reschedule()
    proposal = decision_of(job)
    operator, address = client_as("operator"), f"/migrations/{proposal.pk}/elsewhere"
    with patch.object(named_nodes, "decision_there", side_effect=AssertionError("the page waits for the figures")):
        page = words(operator.get(address, {"ranks": "1"}))
    assert "is being worked out by the newest figures" in page
    assert f'hx-get="{address}?ranks=1"' in page
    figures = words(operator.get(address, {"ranks": "1"}, headers={"HX-Request": "true"}))
    assert f"Move job {job.pk} there instead" in figures
    wrong = operator.get(address, {"ranks": "3"}, headers={"HX-Request": "true"})
    assert "Ranks: 3 is not possible. Enter 1, 2, 4 or 8" in words(wrong)
    assert (operator.get(address, {"ranks": "many"}).status_code, wrong.status_code) == (422, 200)
    decided = deciding.override(people["operator"], proposal, [], "one is enough", ranks=1)
    assert (decided.state, len(decided.nodes)) == ("overridden", 1)
    told = AuditEvent.objects.get(action="move.overridden")
    assert told.detail["nodes"] == decided.nodes, "the audit trail names the nodes that were chosen"
    reschedule()
    move = job.continuations.get()
    assert (move.ranks, move.nodes) == (1, decided.nodes)


def test_a_job_goes_where_the_operator_said(client_as: Any, people: Any, slow_job: Slow) -> None:
    """Its owner who asks for other nodes a moment later is told, on the page and over REST."""
    job = slow_job()
    reschedule()
    decided = deciding.approve(people["operator"], decision_of(job), "as agreed")
    owner, asked = client_as("user"), {"ranks": 1}
    answer = owner.post(f"/api/jobs/{job.pk}/move", asked, content_type="application/json")
    said = f"operator has approved decision {decided.pk} already (“as agreed”). Nothing was changed."
    assert (answer.status_code, answer.json()["detail"]) == (409, said)
    assert said in words(owner.post(f"/jobs/{job.pk}/move", asked, follow=True))
    assert not job.continuations.exists()
    reschedule()
    decided.refresh_from_db()
    assert (decided.state, job.continuations.get().nodes) == ("moving", decided.nodes)
    again = f"operator has approved decision {decided.pk} already (“as agreed”); its move is under way. Nothing"
    with pytest.raises(ConflictError, match=re.escape(again)):
        deciding.approve(people["operator"], decided)


def test_a_decision_that_fails_says_why(client_as: Any, people: Any, slow_job: Slow) -> None:
    job = slow_job()
    reschedule()
    decided = deciding.approve(people["operator"], decision_of(job))
    requesting.stop_and_continue(job, by=people["user"])
    reschedule()
    shown = client_as("operator").get(f"/api/migrations/{decided.pk}").json()
    assert shown["state"] == "failed"
    assert f"Job {job.pk} is being moved already: user asked for it" in shown["reason"]


def test_named_nodes_are_weighed_by_the_last_measurement_and_reserved_by_a_new_one(
    client_as: Any, people: Any, slow_job: Slow, fake_grid: FakeGrid
) -> None:
    job = slow_job()
    reschedule()
    proposal = decision_of(job)

    def sweeps_of(work: Callable[[], Any], age: float) -> int:
        measured = timezone.now() - timedelta(seconds=age)
        Cluster.objects.filter(name="grid").update(measured_at=measured)
        before = fake_grid.asked.count("probe")
        work()
        return fake_grid.asked.count("probe") - before

    def look() -> str:
        asked, htmx = {"nodes": " ".join(proposal.nodes)}, {"HX-Request": "true"}
        return words(client_as("operator").get(f"/migrations/{proposal.pk}/elsewhere", asked, headers=htmx))

    def override() -> None:
        deciding.override(people["operator"], proposal, proposal.nodes, "known to be good")

    assert sweeps_of(look, 660.0) == 1
    assert sweeps_of(look, 500.0) == 0
    assert sweeps_of(override, 500.0) == 0
    reschedule()
    assert sweeps_of(lambda: stoppable.look(job), 500.0) == 1
    assert job.continuations.get().nodes == proposal.nodes


def test_what_cannot_be_is_said_before_anything_is_stopped(people: Any, slow_job: Slow) -> None:
    job = slow_job()
    reschedule()
    proposal = decision_of(job)
    for nodes, ranks, field in (([], 3, "ranks"), (["n99"], None, "nodes"), ([], None, "nodes")):
        with pytest.raises(InputError, match=f"^{field} is"):
            deciding.override(people["operator"], proposal, nodes, "others", ranks)
    proposal.refresh_from_db()
    assert proposal.state == "proposed"
    assert not job.continuations.exists()


def test_a_dry_run_writes_nothing_and_deducts_what_each_move_takes(client_as: Any, slow_job: Slow) -> None:
    jobs = [slow_job(most_per_hour=20, node_cooldown=0, job_cooldown=0)]
    found = dry_run("grid")
    assert [each.job_id for each in found.moves] == [jobs[0].pk]
    assert set(found.moves[0].nodes).isdisjoint(found.moves[0].nodes_now)
    assert not MoveDecision.objects.exists()
    answer = client_as("operator").get("/api/migration-dry-runs/grid").json()
    assert [each["nodes"] for each in answer["moves"]] == [list(found.moves[0].nodes)]
    operator, asked = client_as("operator"), {"cluster": "grid"}
    with patch.object(dry_runs, "dry_run", side_effect=AssertionError("the page waits for the moves")):
        page = words(operator.get("/migrations/dry-run", asked))
    assert "are being weighed one after the other" in page
    assert "grid measured" in page.partition("GridPortal 0")[2]  # the foot, as on every page
    moves = operator.get("/migrations/dry-run", asked, headers={"HX-Request": "true"})
    assert "1 move would be made" in words(moves)
    wrong = operator.get("/migrations/dry-run", {"cluster": "nowhere"})
    assert (wrong.status_code, "cluster is &#x27;nowhere&#x27;" in wrong.content.decode()) == (422, True)


def test_one_person_does_not_hold_all_threads_of_the_web_server(client_as: Any, people: Any, slow_job: Slow) -> None:
    slow_job()
    reschedule()
    operator, htmx = client_as("operator"), {"HX-Request": "true"}
    with ExitStack() as under_way:
        for _ in range(MOST):
            under_way.enter_context(long_answer(people["operator"].pk))
        address = f"/migrations/{MoveDecision.objects.get().pk}/elsewhere"
        for page in (
            operator.get("/migrations/dry-run", {"cluster": "grid"}, headers=htmx),
            operator.get(address, {"ranks": "1"}, headers=htmx),
        ):
            assert "are still under way" in words(page)
        assert operator.get("/api/migration-dry-runs/grid").status_code == 429


def test_two_jobs_do_not_get_the_same_nodes_in_a_dry_run(slow_job: Slow, submit: Any) -> None:
    slow_job(node_cooldown=0)
    alone = dry_run("grid").moves[0]
    first = stoppable.running(submit)
    found = dry_run("grid")
    taken = [node for each in found.moves for node in each.nodes]
    assert len(taken) == len(set(taken))
    assert not set(taken) & set(stoppable.newest(first).placement.nodes)
    assert set(alone.nodes) & set(stoppable.newest(first).placement.nodes)


def test_the_owner_opts_out_and_only_operators_set_a_mode(client_as: Any, proposal: MoveDecision) -> None:
    address = f"/jobs/{proposal.job_id}/move-policy"
    client_as("user").post(address, {"moves": "never", "policy": "automatic"})
    own = JobMovePolicy.objects.get()
    assert (own.opted_out, own.policy) == (True, "")
    client_as("operator").post(address, {"moves": "yes", "policy": "observe"})
    own.refresh_from_db()
    assert (own.opted_out, own.policy) == (False, "observe")
    refused = client_as("user").patch(f"/api{address}", {"policy": "automatic"}, content_type="application/json")
    assert refused.status_code == 403


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """One sub-command of `gridportal moves`, on the database of the test: its JSON."""
    monkeypatch.setattr(move_commands, "database", nullcontext)

    def run(*typed: str) -> dict[str, Any]:
        answer = CliRunner().invoke(move_commands.app, [*typed, "--json"], catch_exceptions=False)
        assert answer.exit_code == 0, answer.output
        said: dict[str, Any] = json.loads(answer.output)
        return said

    return run


def test_the_command_line_lists_shows_decides_and_changes_rules(command: Any, proposal: MoveDecision) -> None:
    number = str(proposal.pk)
    assert [each["id"] for each in command("list")["moves"]] == [proposal.pk]
    assert command("show", number)["events"][0]["state"] == "proposed"
    assert command("refuse", number, "--as", "operator", "--reason", "not now")["state"] == "refused"
    assert command("rules", "grid", "--as", "operator", "--set", "threshold=0.25")["threshold"] == 0.25
    assert command("rules", "grid", "--as", "operator", "--set", "most_per_job=3")["most_per_job"] == 3
    assert command("job", str(proposal.job_id), "--as", "user", "--moves", "never")["opted_out"] is True
    assert command("dry-run", "grid")["moves"] == []


def test_the_command_line_refuses_whom_may_not(monkeypatch: pytest.MonkeyPatch, proposal: MoveDecision) -> None:
    monkeypatch.setattr(move_commands, "database", nullcontext)
    typed = ["approve", str(proposal.pk), "--as", "user"]
    with pytest.raises(InputError, match="somebody with the permission"):
        CliRunner().invoke(move_commands.app, typed, catch_exceptions=False, standalone_mode=False)


def test_the_page_tells_of_progress_and_of_what_came(client_as: Any, people: Any, slow_job: Slow) -> None:
    job = slow_job()
    reschedule()
    proposal = decision_of(job)
    tasks.poll_runs()
    PhaseReport.objects.update(at=proposal.created_at)  # the program's lines are of another year
    page = words(client_as("operator").get(proposal.get_absolute_url()))
    assert "Why now" in page
    assert "each took 4.0 times as long as promised" in page
    assert "Would go to" in page
    deciding.approve(people["operator"], proposal)
    reschedule()
    page = words(client_as("operator").get(proposal.get_absolute_url()))
    assert "reserve nodes" in page
    assert client_as("operator").get(f"/api/migrations/{proposal.pk}").json()["progress"][0]["stage"] == "reserve"
    assert "reserve nodes" in words(client_as("operator").get("/migrations/"))


def test_what_is_too_late_is_not_approved(people: Any, proposal: MoveDecision) -> None:
    """Until the portal has looked, which it does now and then, the proposal stands there as open."""
    MoveDecision.objects.filter(pk=proposal.pk).update(expires_at=datetime(2026, 1, 31, tzinfo=UTC))
    proposal.refresh_from_db()
    with pytest.raises(ConflictError, match="was to be decided until 2026-01-31 00:00:00 UTC"):
        deciding.approve(people["operator"], proposal)
    MoveDecision.objects.filter(pk=proposal.pk).update(expires_at=None)
    proposal.refresh_from_db()
    proposal.job.runs.update(state="succeeded")
    with pytest.raises(ConflictError, match="which it would move, does not run any more"):
        deciding.override(people["operator"], proposal, ["n9"], "busy nodes")
    assert MoveDecision.objects.get().state == "proposed"


@pytest.mark.parametrize("policy", ["automatic", "sometimes"])
def test_who_may_not_give_a_mode_hears_that_and_not_what_a_mode_is(
    client_as: Any, proposal: MoveDecision, policy: str
) -> None:
    for role in ("manager", "user"):
        address, sent = f"/api/jobs/{proposal.job_id}/move-policy", {"policy": policy}
        assert client_as(role).patch(address, sent, content_type="application/json").status_code == 403
    for verb in ("approve", "refuse", "override"):
        wrong = client_as("manager").post(f"/api/migrations/{proposal.pk}/{verb}", {"reason": [1]}, "application/json")
        assert wrong.status_code == 403


def test_all_that_is_wrong_with_other_nodes_is_told_at_once(client_as: Any, slow_job: Slow) -> None:
    job = slow_job()
    reschedule()
    address = f"/api/migrations/{decision_of(job).pk}/override"
    wrong = client_as("operator").post(address, {"nodes": ["n99"], "reason": ""}, content_type="application/json")
    assert (wrong.status_code, set(wrong.json())) == (400, {"nodes", "reason"})
    assert wrong.json()["reason"] == ["reason is empty; accepted is a reason of 3 to 500 characters."]

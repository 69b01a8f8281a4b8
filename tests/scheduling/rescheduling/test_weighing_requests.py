"""A person asks to have a move weighed: a worker does it, the page says how far it is, and there is one at a time."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from gridportal.accounts.audit_text import action_text
from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import ConflictError, ImpossibleError, InputError
from gridportal.base.reasons import Code
from scheduling import tasks
from scheduling.rescheduling.commands import move_commands
from scheduling.rescheduling.core.weighing_stage import WeighingStage
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.rescheduling.services import weighing_jobs, weighing_requests
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import end_well, look
from tests.scheduling.checkpoints.test_continuing_crashes import a_lease_later
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words
from tests.scheduling.rescheduling.test_rescheduler import Slow, decision_of, slow_job
from tests.scheduling.runs.test_life_crashes import Killed

__all__ = ["slow_job"]


def lease_is_over() -> None:
    a_lease_later()
    WeighingRequest.objects.update(lease_until=None)


def test_who_asks_gets_an_address_at_once_and_there_the_decision(slow_job: Slow, client_as: Any) -> None:
    job = slow_job(seconds=10.0)
    client = client_as("user")
    with patch.object(weighing_jobs, "weighed", side_effect=AssertionError("weighed while the web server waits")):
        asked = client.post(f"/api/jobs/{job.pk}/propose-move")
    assert (asked.status_code, asked["Location"]) == (202, asked.json()["address"])
    assert (asked.json()["progress"], asked.json()["decision"]) == ("It waits for its turn.", None)
    tasks.reschedule()
    found = client.get(asked["Location"]).json()
    assert found["ended_at"] is not None
    assert found["decision"] == decision_of(job).pk
    assert (found["stage"], found["done"]) == ("weighed", found["total"])
    assert found["total"] > 0
    assert (decision_of(job).mode, decision_of(job).state) == ("operator", "proposed")
    assert decision_of(job).events.get().actor == "user"


def test_a_second_person_waits_for_the_same_and_one_decision_is_left(
    slow_job: Slow, client_as: Any, people: Any
) -> None:
    job = slow_job(seconds=10.0)
    first, second, third = (
        client_as(name).post(f"/jobs/{job.pk}/propose-move") for name in ("user", "operator", "user")
    )
    assert first["Location"] == second["Location"] == third["Location"]
    tasks.reschedule()
    tasks.reschedule()
    assert (WeighingRequest.objects.count(), MoveDecision.objects.count()) == (1, 1)
    late = client_as("operator").post(f"/api/jobs/{job.pk}/propose-move")
    assert late.status_code == 409
    assert f"is proposed already, decision {decision_of(job).pk}" in late.content.decode()


def test_the_page_says_how_far_it_is_and_leads_to_the_decision(slow_job: Slow, client_as: Any) -> None:
    job = slow_job(seconds=10.0)
    client = client_as("user")
    address = client.post(f"/jobs/{job.pk}/propose-move")["Location"]
    WeighingRequest.objects.update(stage=WeighingStage.CHOOSING, done=1, total=4)
    assert "Other nodes are chosen by new figures, 2 of 4." in words(client.get(address))
    assert "A move of it is being weighed." in words(client.get(job.get_absolute_url()))
    tasks.reschedule()
    assert client.get(address)["Location"] == decision_of(job).get_absolute_url()
    assert client.get(address, headers={"HX-Request": "true"})["HX-Redirect"] == decision_of(job).get_absolute_url()


def test_the_audit_trail_has_who_asked_from_where_and_what_came_of_it(slow_job: Slow, client_as: Any) -> None:
    job = slow_job(seconds=10.0)
    client_as("user").post(f"/jobs/{job.pk}/propose-move", headers={"X-Request-ID": "abcd-1234"})
    asked = AuditEvent.objects.get(action="move.propose")
    assert (asked.actor_name, asked.address, asked.request_id) == ("user", "127.0.0.1", "abcd-1234")
    assert action_text(asked) == f"proposed to move job {job.pk}"
    assert asked.detail == {"weighing": WeighingRequest.objects.get().pk}
    tasks.reschedule()
    weighed = AuditEvent.objects.get(action="move.weigh")
    assert (weighed.actor_name, weighed.object_id) == ("portal", str(decision_of(job).pk))
    assert weighed.detail == {"job": job.pk, "verdict": "move", "asked_by": "user"}


def test_it_tells_each_step_before_it_is_done(slow_job: Slow, people: Any) -> None:
    job = slow_job(seconds=10.0)
    steps: list[tuple[WeighingStage, int, int]] = []
    asked = weighing_requests.ask(people["user"], job)
    assert weighing_requests.answer(asked.pk, lambda *step: steps.append(step))
    assert [stage for stage, _, _ in steps] == sorted(stage for stage, _, _ in steps)
    assert {stage for stage, _, _ in steps} == {WeighingStage.CHOOSING, WeighingStage.PREDICTING}
    assert all(done < total for _, done, total in steps)
    assert not weighing_requests.answer(asked.pk), "it is answered"


@pytest.mark.parametrize(("owner", "name"), [(weighing_jobs, "weighed"), (weighing_jobs, "tell_of_proposal")])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_worker_that_is_killed_costs_time_and_nothing_else(
    slow_job: Slow, people: Any, owner: Any, name: str, after: bool
) -> None:
    job = slow_job(seconds=10.0)
    asked = weighing_requests.ask(people["user"], job)
    real = getattr(owner, name)

    def killed(*args: Any, **options: Any) -> None:
        if after:
            real(*args, **options)
        raise Killed

    with patch.object(owner, name, killed), pytest.raises(Killed):
        weighing_requests.answer(asked.pk)
    asked.refresh_from_db()
    assert asked.is_open
    assert not MoveDecision.objects.exists()
    assert not weighing_requests.answer(asked.pk), "it is leased for a while"
    lease_is_over()
    tasks.reschedule()
    asked.refresh_from_db()
    assert asked.decision == MoveDecision.objects.get()


def test_who_was_held_up_past_its_lease_leaves_nothing(slow_job: Slow, people: Any) -> None:
    job = slow_job(seconds=10.0)
    asked, real = weighing_requests.ask(people["user"], job), weighing_jobs.weighed

    def slowly(*args: Any, **options: Any) -> Any:
        found = real(*args, **options)
        WeighingRequest.objects.update(lease_holder="another")
        return found

    with patch.object(weighing_jobs, "weighed", slowly):
        assert not weighing_requests.answer(asked.pk)
    assert not MoveDecision.objects.exists()
    asked.refresh_from_db()
    assert asked.is_open


def test_a_weighing_that_kills_its_workers_ends_and_says_so(slow_job: Slow, people: Any) -> None:
    asked = weighing_requests.ask(people["user"], slow_job(seconds=10.0))
    WeighingRequest.objects.update(attempts=3)
    tasks.reschedule()
    asked.refresh_from_db()
    assert (asked.problem.code, asked.is_open, asked.decision) == (Code.WEIGHING_LOST, False, None)


def test_a_weighing_that_fails_names_the_stage_and_why(slow_job: Slow, people: Any, client_as: Any) -> None:
    asked = weighing_requests.ask(people["user"], slow_job(seconds=10.0))
    with patch.object(weighing_jobs, "weighed", fails_while_predicting):
        assert weighing_requests.answer(asked.pk)
    told = client_as("user").get(f"/api/weighings/{asked.pk}").json()
    assert (told["problem_code"], told["problem_facts"]["stage"]) == ("weighing_failed", "predicting")
    assert told["problem"] == "Predicting the move failed. No model can be read."
    assert (told["stage"], told["done"], told["total"]) == ("predicting", 0, 1)
    assert told["decision"] is None


def fails_while_predicting(run: Any, mode: Any, planned: Any = (), watch: Any = None) -> Any:
    watch(WeighingStage.PREDICTING, 0, 1)
    raise ImpossibleError("No model can be read.")


def test_what_became_impossible_meanwhile_is_said(
    slow_job: Slow, people: Any, fake_grid: FakeGrid, client_as: Any
) -> None:
    job = slow_job(seconds=10.0)
    asked = weighing_requests.ask(people["user"], job)
    end_well(job, fake_grid)
    look(job)
    tasks.reschedule()
    why = f"job is {job.pk}, which is succeeded; accepted is one whose program runs."
    assert why in words(client_as("user").get(asked.get_absolute_url()))
    assert client_as("user").post(f"/api/jobs/{job.pk}/propose-move").json() == {"job": [why]}
    with pytest.raises(InputError):
        weighing_requests.ask(people["user"], job)


def test_a_proposal_that_came_meanwhile_is_the_answer(slow_job: Slow, people: Any, client_as: Any) -> None:
    job = slow_job(seconds=10.0)
    asked = weighing_requests.ask(people["user"], job)
    other = propose(job)
    tasks.reschedule()
    asked.refresh_from_db()
    assert (asked.decision, asked.is_open) == (other, False)
    shown = words(client_as("user").get(asked.get_absolute_url()))
    assert f"Decision {other.pk}</a> on this job is open." in shown
    with pytest.raises(ConflictError):
        weighing_requests.ask(people["user"], job)


def test_the_command_waits_for_the_decision(slow_job: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_commands, "database", nullcontext)
    job = slow_job(seconds=10.0)
    said = CliRunner().invoke(
        move_commands.app, ["propose", str(job.pk), "--as", "operator", "--json"], catch_exceptions=False
    )
    assert json.loads(said.stdout)["id"] == decision_of(job).pk


def test_a_job_that_is_not_there_and_one_of_others_are_refused_in_the_same_words(
    make_job: Any, people: Any, client_as: Any
) -> None:
    job = make_job(people["other"], "running")
    said = "There is no such job, or you may not see it."
    for number in (job.pk, job.pk + 1):
        client, address = client_as("user"), f"/api/jobs/{number}"
        for answer in (client.post(f"{address}/propose-move"), client.get(f"{address}/move-policy")):
            assert (answer.status_code, answer.json()) == (404, {"detail": said})

"""The pages of migrations: what waits, one decision with its figures, lists, rules, CSV; and REST."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.models import MoveDecision, ReschedulingPolicy
from tests.scheduling.rescheduling.proposals import propose


def words(answer: Any) -> str:
    """The text of a page, spaces made one."""
    return " ".join(answer.content.decode().split())


@pytest.fixture
def proposal(make_job: Any, people: Any) -> MoveDecision:
    return propose(make_job(people["user"], "running"))


def test_what_waits_is_shown_with_its_sentence(client_as: Any, proposal: MoveDecision) -> None:
    page = words(client_as("operator").get("/migrations/"))
    assert f"Proposal {proposal.pk}: move job {proposal.job_id} from n1 n2 to n3 n4" in page
    assert "1 waits for a decision" in page
    assert "a gain of 41 %, above the threshold of 30 %" in page or "above the threshold of 30 %" in page


def test_an_empty_list_says_when_a_move_is_proposed(client_as: Any) -> None:
    assert "No move waits for a decision" in words(client_as("operator").get("/migrations/"))


@pytest.mark.parametrize("show", ["", "moved", "not-moved", "calibration", "rules", "nonsense"])
def test_every_tab_answers(client_as: Any, proposal: MoveDecision, show: str) -> None:
    propose(proposal.job, state="verified", outcome={"gain": 0.39, "saved": 1629.0})
    assert client_as("operator").get("/migrations/", {"show": show}).status_code == 200


@pytest.mark.parametrize("state", DecisionState)
def test_lists_and_the_page_of_the_job_answer_before_a_gain_is_known(
    client_as: Any, proposal: MoveDecision, state: str
) -> None:
    MoveDecision.objects.filter(pk=proposal.pk).update(state=state)
    operator = client_as("operator")
    for address in ("/migrations/", "/migrations/?show=moved", "/migrations/?show=not-moved"):
        assert operator.get(address).status_code == 200, address
    for address in (proposal.get_absolute_url(), proposal.job.get_absolute_url(), f"/jobs/{proposal.job_id}/live"):
        assert operator.get(address).status_code == 200, address


def test_a_decision_has_both_ways_and_the_cost_by_phase(client_as: Any, proposal: MoveDecision) -> None:
    page = words(client_as("operator").get(proposal.get_absolute_url()))
    assert "Staying takes 1 h 09 min more." in page
    assert "Read with redistribution" in page
    assert "20.0" in page
    assert "900.0" in page
    assert "threshold 30 %" in page
    assert "Move job" in page


def test_managers_see_and_do_not_decide(client_as: Any, proposal: MoveDecision) -> None:
    page = words(client_as("manager").get(proposal.get_absolute_url()))
    assert "Stay or move" in page
    assert "Refuse the move" not in page


def test_a_refusal_needs_a_reason_and_is_told(client_as: Any, proposal: MoveDecision) -> None:
    operator = client_as("operator")
    answer = operator.post(f"/migrations/{proposal.pk}/refuse", {"reason": ""}, follow=True)
    assert answer.status_code == 422
    field = words(answer).split(f'id="refuse-reason-{proposal.pk}"')[1].split("</form>")[0]
    assert "<li>Enter a reason of 3 to 500 characters.</li>" in field
    assert f'<p class="help" id="refuse-reason-help-{proposal.pk}">3 to 500 characters.</p>' in field
    answer = operator.post(f"/migrations/{proposal.pk}/refuse", {"reason": "it is nearly done"}, follow=True)
    assert f"Decision {proposal.pk} on job {proposal.job_id}</a> is refused." in words(answer)
    assert "it is nearly done" in words(answer)


def test_other_nodes_that_there_are_not_are_told_by_the_label(client_as: Any, proposal: MoveDecision) -> None:
    answer = client_as("operator").get(f"/migrations/{proposal.pk}/elsewhere", {"ranks": "none"})
    assert answer.status_code == 422
    assert "Ranks: &#x27;none&#x27; is not possible. Enter " in words(answer)


def test_the_second_operator_sees_a_conflict(client_as: Any, proposal: MoveDecision) -> None:
    client_as("operator").post(f"/migrations/{proposal.pk}/refuse", {"reason": "not now"})
    answer = client_as("administrator").post(f"/migrations/{proposal.pk}/approve", follow=True)
    assert f"operator has refused decision {proposal.pk} already (“not now”). Nothing was changed." in words(answer)


def test_rules_are_changed_with_one_sentence_for_each_error(client_as: Any, settings: Any) -> None:
    name = next(iter(settings.CLUSTERS))
    fields = {
        "policy": "automatic",
        "cost_kind": "predicted",
        "cost_scale": "1",
        "threshold": "0.2",
        "expires_after": "60",
        "most_per_hour": "5",
        "most_per_job": "3",
        "job_cooldown": "60",
        "node_cooldown": "60",
        "allow": "",
        "deny": "mon-fri 08:00-18:00",
    }
    operator = client_as("operator")
    saved = operator.post(f"/migrations/rules/{name}", fields | {"back": "https://elsewhere.example/"})
    assert (saved.status_code, saved["Location"]) == (302, "/migrations/?show=rules")
    kept = ReschedulingPolicy.objects.get(cluster=name)
    assert (kept.policy, kept.most_per_job) == ("automatic", 3)
    wrong = operator.post(f"/migrations/rules/{name}", fields | {"deny": "sometimes"})
    assert wrong.status_code == 422
    field = words(wrong).split('id="id_deny"')[1].split("</ul>")[0]
    assert "<li>Enter days and hours such as mon-fri 08:00-18:00" in field
    assert ReschedulingPolicy.objects.get(cluster=name).deny == "mon-fri 08:00-18:00"


def test_the_csv_has_every_decision_and_runs_no_formula(client_as: Any, proposal: MoveDecision) -> None:
    MoveDecision.objects.update(why="=1+1")
    text = b"".join(client_as("operator").get("/migrations.csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["decision"], row["reason"], row["nodes"]) for row in rows] == [(str(proposal.pk), "'=1+1", "n3 n4")]


def test_rest_tells_and_decides(client_as: Any, proposal: MoveDecision) -> None:
    operator = client_as("operator")
    assert operator.get("/api/migrations").json()["results"][0]["id"] == proposal.pk
    answer = operator.post(f"/api/migrations/{proposal.pk}/approve", {}, content_type="application/json").json()
    assert (answer["state"], answer["by"]) == ("approved", "operator")
    again = operator.post(f"/api/migrations/{proposal.pk}/refuse", {"reason": "no"}, content_type="application/json")
    assert again.status_code in (400, 409)
    wrong = operator.patch("/api/migration-rules/grid", {"threshold": 3}, content_type="application/json")
    assert "threshold is 3; accepted is a share from 0 to below 1" in wrong.content.decode()


def test_whoever_owns_jobs_sees_their_moves_and_no_others(client_as, people, make_job):
    mine, other = (propose(make_job(people[name], "running")) for name in ("user", "other"))
    page = words(client_as("user").get("/migrations/"))
    assert "Migrations of your jobs" in page
    assert f'id="proposal-{mine.pk}"' in page
    assert f'id="proposal-{other.pk}"' not in page
    assert "Modes and windows" not in page
    assert "Modes and windows" not in words(client_as("user").get("/migrations/?show=rules"))
    text = b"".join(client_as("user").get("/migrations.csv").streaming_content).decode()
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == [str(mine.pk)]


def test_nodes_that_were_only_compared_are_not_told_as_where_it_goes(
    client_as: Any, make_job: Any, people: Any
) -> None:
    row = propose(
        make_job(people["user"], "running"), state="declined", verdict="no_prediction", gain=None, ret_new=None
    )
    page = words(client_as("operator").get(row.get_absolute_url()))
    assert f"Decision {row.pk}: job {row.job_id} on n1 n2" in page
    assert "n3 n4 could take the job, but no performance model predicts how long it would take there." in page
    assert "Compared with" in page
    assert "Would go to" not in page
    assert "No other nodes can take the job" not in page

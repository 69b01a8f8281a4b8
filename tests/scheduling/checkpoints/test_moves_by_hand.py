"""A person has a job moved: what can never be is refused at once, and what is told of its nodes afterwards is true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client

from gridportal.base.errors import InputError
from monitoring.clusters.models import Node
from scheduling.checkpoints.services.requesting import stop_and_continue
from scheduling.jobs.models import Application, Job
from scheduling.messages import message
from scheduling.placing.services.submission import cancel_job
from scheduling.rescheduling.services import expected_moves
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import is_asked, look, newest, obey, restored, running, stoppable
from tests.scheduling.checkpoints.test_failed_jobs import failed
from tests.scheduling.pages.test_moves import page, words_of

Submit = Callable[..., Job]
ALL = ["n1", "n2", "n3", "n4"]


@pytest.fixture(autouse=True)
def program(application: Application, fake_grid: FakeGrid) -> Application:
    return stoppable(application)


def others_of(job: Job) -> list[str]:
    return [name for name in ALL if name not in newest(job).placement.nodes]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"nodes": ["n3"], "ranks": 2}, "nodes is '2 ranks on n3'; accepted is at most 1 there, so many slots"),
        ({"ranks": 8}, "ranks is 8; accepted is a number that takes at most 4 nodes, all that grid has; these take 8."),
    ],
)
def test_what_can_never_be_is_refused_at_once(submit: Submit, client_as: Any, sent: dict[str, Any], said: str) -> None:
    job = running(submit)
    answer = client_as("user").post(f"/api/jobs/{job.pk}/move/", sent, content_type="application/json")
    assert (answer.status_code, job.continuations.count()) == (400, 0)
    assert said in str(answer.json()).replace("\\'", "'")


def test_a_node_of_several_processors_takes_as_many_ranks(submit: Submit, people: Any) -> None:
    job = running(submit)
    Node.objects.filter(name="n3").update(labels={"cpus": "2"})
    assert stop_and_continue(job, by=people["user"], nodes=["n3"], ranks=2).nodes == ["n3", "n3"]
    with pytest.raises(InputError, match="4 ranks on n3"):
        stop_and_continue(running(submit), by=people["user"], nodes=["n3"], ranks=4)


def test_a_job_that_is_cancelled_while_it_is_moved_keeps_the_nodes_where_it_ran(
    submit: Submit, people: Any, client_as: Any
) -> None:
    job = running(submit)
    ran = newest(job).placement.nodes
    stop_and_continue(job, by=people["user"], nodes=others_of(job))
    look(job)
    assert job.state == "moving"
    cancel_job(people["user"], job)
    for _ in range(3):
        look(job)
    shown = client_as("user").get(f"/api/jobs/{job.pk}/").json()
    assert (shown["state"], shown["nodes"]) == ("cancelled", ran)
    assert client_as("user").get(f"/api/jobs/{job.pk}/placement/").json()["nodes"] == ran


def test_without_names_it_goes_to_other_nodes(submit: Submit, people: Any) -> None:
    job = running(submit)
    others = others_of(job)
    asked = stop_and_continue(job, by=people["user"])
    look(job)
    asked.refresh_from_db()
    assert asked.placement is not None
    assert (asked.state, sorted(asked.placement.nodes)) == ("stopping", others)


def test_where_only_its_own_nodes_are_to_be_had_nothing_is_stopped(submit: Submit, people: Any) -> None:
    job, _ = running(submit), running(submit)
    asked = stop_and_continue(job, by=people["user"])
    look(job)
    asked.refresh_from_db()
    assert (asked.state, job.state, is_asked(job)) == ("refused", "running", False)
    own = " ".join(newest(job).placement.nodes)
    assert message(asked.reason) == (
        f"Nothing was stopped: No other nodes that are free will do; it has the best already, {own}."
    )


def test_a_refused_move_is_not_said_to_be_tried_again(submit: Submit, people: Any) -> None:
    job, _ = running(submit), running(submit)
    asked = stop_and_continue(job, by=people["user"], ranks=4)
    look(job)
    asked.refresh_from_db()
    assert asked.state == "refused"
    assert "tried again" not in message(asked.reason)
    assert "starts when" not in message(asked.reason)


def test_the_page_says_who_named_the_nodes_and_how_many_they_are(
    submit: Submit, fake_grid: FakeGrid, people: Any, client: Client
) -> None:
    job = running(submit)
    client.force_login(people["user"])
    assert "2 ranks on 2 nodes" in page(client, job)
    stop_and_continue(job, by=people["operator"], nodes=[others_of(job)[0]], ranks=1)
    look(job)
    obey(job, fake_grid)
    look(job)
    restored(job, fake_grid)
    look(job)
    shown = page(client, job)
    assert "NAS EP, 1 rank on 1 node" in shown
    assert "operator named these nodes for a move; no others were weighed then." in shown
    assert "proved best" not in shown
    assert "not among the nodes that operator named" in shown


def test_a_failed_job_that_goes_on_is_not_said_to_be_stopped(submit: Submit, fake_grid: FakeGrid, people: Any) -> None:
    job = failed(submit, fake_grid)
    stop_and_continue(job, by=people["user"], nodes=["n3", "n4"], reason="node repaired")
    look(job)
    event = job.events.get(to_state="moving")
    assert message(event.reason) == "user lets it go on (node repaired), with 2 ranks on n3 n4."


def test_a_refused_move_opens_its_dialog_again_with_what_was_typed(submit: Submit, client_as: Any) -> None:
    job, client = running(submit), client_as("user")
    sent = {"nodes": "n1 n99", "ranks": "2", "reason": "quiet there"}
    answer = client.post(f"/jobs/{job.pk}/move", sent, follow=True)
    content = answer.content.decode()
    assert "data-opened" in content
    for typed in sent.values():
        assert f'value="{typed}"' in content
    assert words_of(answer).count("Nodes: 'n99' is not possible. Enter compute nodes of grid.") == 2
    assert "data-opened" not in client.get(f"/jobs/{job.pk}/").content.decode()


def test_the_ranks_are_counted_as_they_are_after_a_move(submit: Submit, fake_grid: FakeGrid, people: Any) -> None:
    """Its form asked for two ranks, and it was moved to three."""
    job = running(submit)
    placement = newest(job).placement
    placement.nodes = ["n1", "n1", "n2"]
    first = {"rank": 0, "node": "n1", "host": None}
    places = [("n1", "ranks 0-1"), ("n2", "rank 2")]
    context = {"job": job, "placement": placement, "ranks": [first], "rank_places": places}
    assert "3 ranks on 2 nodes:" in " ".join(render_to_string("scheduling/job/ranks.html", context).split())


def test_where_newer_figures_choose_other_nodes_than_were_told_that_is_said(
    submit: Submit, people: Any, client: Client
) -> None:
    job = running(submit)
    told = newest(job).placement.nodes
    asked = stop_and_continue(job, by=people["user"], announced_nodes=told)
    look(job)
    asked.refresh_from_db()
    assert asked.goes_elsewhere
    client.force_login(people["user"])
    others = " ".join(others_of(job))
    assert (
        f"First {' '.join(told)} were chosen. When the nodes were reserved, newer figures chose {others} instead."
        in page(client, job)
    )
    found = client.get(f"/api/jobs/{job.pk}/moves/").json()[0]
    assert (found["announced_nodes"], found["goes_elsewhere"]) == (told, True)


def test_what_is_told_before_a_move_is_kept_with_it(submit: Submit, people: Any) -> None:
    job = running(submit)
    made, told = expected_moves.move(job, by=people["user"])
    assert told is not None
    assert made.announced_nodes == list(told.nodes) != []
    look(job)
    made.refresh_from_db()
    assert not made.goes_elsewhere

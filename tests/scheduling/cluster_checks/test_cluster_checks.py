"""Checks of clusters: each question against a Grid in memory, answers in words, one at a time, pages and REST."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError, ConflictError
from gridportal.network.sweep_result import PairRate
from gridportal.slurm.examination import Answer
from monitoring.clusters.models import Cluster
from monitoring.telemetry.models import Source
from monitoring.telemetry.services import one_probe, sweeps
from scheduling import tasks
from scheduling.cluster_checks import cluster_questions as questions
from scheduling.cluster_checks import selectors, services
from scheduling.cluster_checks.check_messages import step_message, summary
from scheduling.cluster_checks.core.check_step import CheckStep, StepResult, Verdict
from scheduling.cluster_checks.models import ClusterCheck
from scheduling.runs.adapters.grid import GridBackend
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def grid(fake_grid: Any, monkeypatch: Any) -> Any:
    """Four nodes, measured once; their agents do not answer, for there are none."""
    monkeypatch.setattr(questions, "backend", lambda name: GridBackend(fake_grid))
    monkeypatch.setattr(questions.agents, "has_agents", lambda cluster: False)
    rate = PairRate("n1", "n4", 40e6, 2e-4)
    monkeypatch.setattr(questions.one_probe, "probe", lambda cluster, source, target: rate)
    sweeps.measure("grid")
    return fake_grid


def checked(people: Any) -> ClusterCheck:
    row = services.ask_for_check(people["operator"], "grid")
    tasks.check_cluster(row.pk)
    row.refresh_from_db()
    return row


def sentences(row: ClusterCheck) -> dict[str, str]:
    return {result.step.value: step_message(result) for result in row.step_results}


def test_every_part_is_asked_and_answers_in_words(grid: Any, people: Any) -> None:
    row = checked(people)
    assert sentences(row) == {
        "backend": "It answers and has 4 nodes.",
        "version": "The emulated Grid fake runs as user-namespaces.",
        "nodes": "All 4 take jobs.",
        "agents": "Its setting names no agents.",
        "telemetry": sentences(row)["telemetry"],
        "probe": "n1 to n4: 40.0 Mbit/s, latency 0.2 ms.",
    }
    assert sentences(row)["telemetry"].startswith("All sources answer: probes ")
    assert row.is_well
    assert not row.open_steps
    assert summary(row.step_results) == "All 5 questions have good answers."


def test_a_cluster_that_is_down_says_so_for_each_question(grid: Any, people: Any, monkeypatch: Any) -> None:
    def down(*_: Any) -> Any:
        raise BackendError("The Grid is down; start it.")

    grid.down = True
    monkeypatch.setattr(questions.one_probe, "probe", down)
    Source.objects.update(error="gone", error_at=timezone.now())
    row = checked(people)
    assert [result.step.value for result in row.step_results if result.verdict is Verdict.WELL] == []
    assert sentences(row)["probe"] == "The Grid is down; start it."
    assert "1 source is stale. probes: gone." in sentences(row)["telemetry"]
    assert summary(row.step_results).startswith("5 of 5 questions have bad answers: it answers, version, nodes")


def test_agents_that_are_silent_are_named(grid: Any, people: Any, monkeypatch: Any) -> None:
    from types import SimpleNamespace

    from monitoring.telemetry.adapters.agent_answers import Failure

    asked = SimpleNamespace(failures={"n3": Failure("connection refused", 1.0, None)})
    monkeypatch.setattr(questions.agents, "has_agents", lambda cluster: True)
    monkeypatch.setattr(questions.agents, "agents", lambda cluster, nodes: nodes)
    monkeypatch.setattr(questions.agent_source, "status", lambda agents: asked)
    assert sentences(checked(people))["agents"] == "1 of 4 agents do not answer. n3: connection refused."


def test_of_slurm_everything_that_the_portal_uses_is_asked(settings: Any, monkeypatch: Any) -> None:
    hpc = Setting(name="hpc", backend="slurm", prefix=("ssh", "login"))
    ways: list[Any] = []

    def examine(read: Any, write: Any) -> list[Answer]:
        ways.append((read.prefix, write.prefix))
        return [Answer(True, "Slurm 22.05.8 of hpc answers"), Answer(False, "sacct is not there")]

    monkeypatch.setattr(questions, "examine", examine)
    result = questions.ask(CheckStep.VERSION, hpc)
    assert (result.verdict, step_message(result)) == (Verdict.FAILED, "Sacct is not there.")
    assert ways == [(("ssh", "login"), ("ssh", "login"))]
    assert step_message(questions.ask(CheckStep.PROBE, hpc)) == "Nobody measures its network: probe is not set."


def test_this_machine_needs_an_mpiexec(monkeypatch: Any) -> None:
    here = Setting(name="here", backend="local", slots=2)
    monkeypatch.setattr(questions.shutil, "which", lambda name, path: "/usr/bin/mpiexec")
    result = questions.ask(CheckStep.VERSION, here)
    assert step_message(result) == "/usr/bin/mpiexec starts up to 2 ranks at a time."
    monkeypatch.setattr(questions.shutil, "which", lambda name, path: None)
    assert questions.ask(CheckStep.VERSION, here).verdict is Verdict.FAILED


def test_closed_nodes_are_named() -> None:
    facts = {"nodes": 9, "busy": 2, "closed": ["n1", "n2"], "closed_count": 3}
    message = step_message(StepResult(CheckStep.NODES, Verdict.WELL, facts))
    assert message == "6 of 9 take jobs, 2 busy. Closed: n1, n2, ...."


def test_the_grid_measures_one_pair_alone(grid: Any, monkeypatch: Any) -> None:
    from monitoring.telemetry.adapters.grid import GridTelemetry

    monkeypatch.undo()
    monkeypatch.setattr(one_probe.grid, "connect", lambda state_dir: GridTelemetry(grid))
    grid.rates["n1", "n2"] = 12e6
    assert one_probe.probe(Setting(name="grid", backend="grid"), "n1", "n2").bandwidth == 12e6


def test_one_check_at_a_time_and_a_lost_one_holds_up_nobody(grid: Any, people: Any) -> None:
    row = services.ask_for_check(people["operator"], "grid")
    with pytest.raises(ConflictError, match="A check of grid is under way"):
        services.ask_for_check(people["administrator"], "grid")
    ClusterCheck.objects.filter(pk=row.pk).update(asked_at=timezone.now() - timedelta(minutes=6))
    again = services.ask_for_check(people["administrator"], "grid")
    tasks.check_cluster(again.pk)
    ended = ClusterCheck.objects.get(pk=again.pk).ended_at
    tasks.check_cluster(again.pk)  # a task that comes twice
    assert ClusterCheck.objects.get(pk=again.pk).ended_at == ended
    assert AuditEvent.objects.filter(action="cluster.check").count() == 2


def test_the_newest_checks_are_kept(grid: Any, people: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(services, "KEPT", 2)
    rows = [checked(people).pk for _ in range(3)]
    assert set(ClusterCheck.objects.values_list("pk", flat=True)) == set(rows[1:])


def test_the_page_follows_a_check(grid: Any, people: Any, client_as: Any, monkeypatch: Any) -> None:
    client = client_as("operator")
    assert "It was not checked yet." in markup(client.get("/clusters/grid/"))
    sent: list[int] = []
    monkeypatch.setattr(tasks.check_cluster, "delay_on_commit", sent.append)
    page = markup(client.post("/clusters/grid/check", follow=True))
    assert "0 of 6 questions are answered" in page
    assert 'data-pace="700"' in page
    assert "Check it now" not in page
    tasks.check_cluster(sent[0])
    page = markup(client.get("/clusters/grid/", headers={"HX-Request": "true"}))
    assert "All 5 questions have good answers." in page
    assert "Asked for by operator" in page
    assert "<html" not in page
    assert "Check it now" not in markup(client_as("manager").get("/clusters/grid/"))


def test_the_page_tells_state_queue_and_age(grid: Any, people: Any, client_as: Any, make_job: Any) -> None:
    running = make_job(people["user"], "running")
    make_job(people["user"], "waiting")
    Cluster.objects.get().nodes.filter(name="n4").update(closed="It is drained.")
    page = markup(client_as("manager").get("/clusters/grid/"))
    assert "It answers; 3 of 4 nodes take jobs. 1 job has nodes, 1 wait." in page
    assert "old at most" in page
    assert 'id="settings"' not in page
    left = {"n1", "n2", "n3"} - set(running.runs.get().placement.nodes)
    assert len(left) < 3, "what the job holds is not free"
    free = f'<td data-label="nodes" class="num">4</td><td data-label="free" class="num">{len(left)}</td>'
    assert free in markup(client_as("manager").get("/clusters/"))


def test_settings_have_their_origin_and_hide_what_may_be_secret(client_as: Any, people: Any, settings: Any) -> None:
    settings.CLUSTERS = {
        "hpc": Setting(name="hpc", backend="slurm", prefix=("ssh", "login"), environment={"TOKEN": "s3cret"})
    }
    settings.PORTAL = settings.PORTAL.model_copy(update={"clusters": "@/etc/clusters.json"})
    page = markup(client_as("administrator").get("/clusters/hpc/"))
    assert "No worker has reached it yet." in page
    assert "[&quot;ssh&quot;, &quot;login&quot;]" in page
    assert "TOKEN (values not shown)" in page
    assert "s3cret" not in page
    rows = {row.name: row.origin for row in selectors.setting_rows(settings.CLUSTERS["hpc"])}
    assert (rows["prefix"], rows["timeout"]) == ("file /etc/clusters.json", "default")
    assert client_as("administrator").get("/clusters/other/").status_code == 404


def test_a_cluster_that_refused_from_the_start_is_told_alike_on_both_pages(client_as: Any, grid: Any) -> None:
    refusal = "scontrol refused with exit code 1: Access denied."
    Cluster.objects.update(topology="", error=refusal, error_at=timezone.now())
    for address in ("/clusters/", "/clusters/grid/"):
        page = markup(client_as("manager").get(address))
        assert "It does not answer." in page
        assert page.count(refusal) == 1
        assert "never reached" not in page


def test_every_setting_has_a_meaning() -> None:
    rows = selectors.setting_rows(Setting(name="grid", backend="grid"))
    assert [row.name for row in rows if not row.meaning] == []


def test_over_rest(grid: Any, people: Any, client_as: Any) -> None:
    client = client_as("operator")
    assert client.get("/api/clusters/grid").json()["check"] is None
    asked = client.post("/api/clusters/grid/check")
    assert asked.status_code == 202
    tasks.check_cluster(asked.json()["id"])
    (state,) = client.get("/api/clusters").json()
    assert (state["name"], state["answers"], state["nodes"], state["closed"]) == ("grid", True, 4, 0)
    assert state["check"]["asked_by"] == "operator"
    assert state["check"]["results"][0] | {"seconds": 0} == {
        "step": "backend",
        "outcome": "well",
        "message": "It answers and has 4 nodes.",
        "seconds": 0,
    }
    assert client.get("/api/clusters/none").status_code == 404

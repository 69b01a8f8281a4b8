"""What Slurm can do, through the portal's services and pages, on a live Slurm with accounts, GRES and switches."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gridportal.base import log_limit
from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError, InputError
from gridportal.base.reasons import Code
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from monitoring.clusters import selectors as clusters_selectors
from monitoring.status.selectors import network_status as status_network
from monitoring.telemetry.services import clusters, reach, sweeps
from scheduling import tasks
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services import leases
from scheduling.messages import message
from scheduling.placing.selectors import occupancy as selectors
from scheduling.placing.selectors import rooms
from scheduling.placing.services import following, preview, recovery, submission
from scheduling.profiles.core import trace
from scheduling.runs.models import Run
from scheduling.runs.services import queue_actions
from scheduling.skeletons.core.skeleton import build, document
from tests.scheduling.pages.explained import explained
from tests.scheduling.placing.trial_grid import keep_skeleton
from tests.scheduling.profiles.tracing.conftest import need
from tests.scheduling.runs.live_slurm import NODES, LiveSlurm, topology
from tests.scheduling.skeletons.core.skeleton import programs

pytestmark = [pytest.mark.grid, pytest.mark.slurm]
#: A parameter that the skeletons of these tests have a value of.
KLASS = {"name": "klass", "type": "choice", "choices": ["S"], "default": "S"}
WAIT = "touch begun.$PMI_RANK; while [ ! -e go ]; do sleep 0.1; done"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSlurm]:
    """One Slurm for all tests here; it forgets ended jobs after two seconds, so that sacct has to be asked."""
    try:
        place.check(machine.choose()[0], accounting=True)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("live")
    launch.up(topology(root), root / "grid", with_parent=True, slurm="accounting")
    slurm = LiveSlurm(Grid(root / "grid"), root / "grid")
    slurm.set_conf(MinJobAge=2)
    yield slurm
    Grid(root / "grid").down()


@pytest.fixture
def hpc(live: LiveSlurm, db: None, settings: Any) -> Iterator[LiveSlurm]:
    """The portal before that Slurm; no job is left behind."""
    settings.CLUSTERS = {"hpc": Setting(name="hpc", backend="slurm", state_dir=live.state)}
    live.until(lambda: not live.ask("squeue", "--noheader", "--states=CG"), "nodes that are cleaned up", 60)
    yield live
    live.ask("scancel", "--user=root")
    for line in live.ask("scontrol", "--oneliner", "show", "reservations").splitlines():
        if line.startswith("ReservationName="):
            live.ask("scontrol", "delete", line.split()[0])
    live.until(lambda: not live.ask("squeue", "--noheader", "--states=PD,R"), "an empty queue")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can get through, as pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="gridportal-runs-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture
def owner(people: dict[str, Any]) -> Any:
    """Who submits."""
    return people["user"]


def go(hpc: LiveSlurm, job: Job) -> None:
    """Let the ranks of a job that runs WAIT end."""
    Path(hpc.run(job).run_dir, "go").touch()


def begun(hpc: LiveSlurm, job: Job, seconds: float = 60.0) -> Job:
    """Running, with every rank begun."""
    hpc.follow(job, "running", seconds)
    directory = Path(hpc.run(job).run_dir)
    hpc.until(lambda: len(list(directory.glob("begun.*"))) == job.node_count, "all ranks")
    return job


def again(hpc: LiveSlurm, job: Job) -> None:
    """Forget that the ranks have begun, before they begin again."""
    for file in Path(hpc.run(job).run_dir).glob("begun.*"):
        file.unlink()


def told(job: Job) -> list[str]:
    return [message(event.reason) for event in job.events.all()]


# --- accounts ---------------------------------------------------------------------------------------------------------


def test_jobs_that_only_the_accounts_remember_are_told_rightly(hpc: LiveSlurm, owner: Any) -> None:
    bodies = {"true": "succeeded", "exit 3": "failed", "kill -9 $PPID": "failed"}
    jobs = {body: hpc.submit(owner, body, 1) for body in bodies}
    numbers = [hpc.number(job) for job in jobs.values()]
    hpc.until(lambda: not hpc.ask("squeue", "--noheader", "--states=all"), "squeue to forget them")
    records = [Path(run.run_dir, "exit.json") for run in Run.objects.all()]
    for record in records:
        record.unlink(missing_ok=True)  # Slurm alone is to be believed
    for body, state in bodies.items():
        hpc.follow(jobs[body], state)  # squeue may forget them before slurmdbd has heard of their end
        run = hpc.run(jobs[body])
        assert (jobs[body].state, run.backend_id in numbers) == (state, True), message(jobs[body].reason)
        assert run.started_at is not None
        assert run.ended_at is not None
        assert run.ended_at >= run.started_at
    assert hpc.run(jobs["true"]).exit_code == 0
    assert hpc.run(jobs["exit 3"]).exit_code == 3


def test_the_accounts_and_qos_of_the_one_who_submits_are_the_forms_choices(
    hpc: LiveSlurm, owner: Any, client_as: Callable[..., Client]
) -> None:
    hpc.ask("sacctmgr", "--immediate", "add", "account", "art", "QosLevel=normal")
    clusters.refresh_cluster(reach.telemetry("hpc").facts(), "hpc")
    hpc.request("true")
    page = client_as("user").get(reverse("submit") + "?application=shell").content.decode()
    offered = clusters_selectors.offers("hpc")["users"][""]
    assert offered == {
        "chemistry": ["high", "low", "normal"],
        "physics": ["high", "low", "normal"],
        "root": ["normal"],
    }
    for word in ("chemistry", "physics", "high", "low"):
        assert f'<option value="{word}">{word}</option>' in page
    assert 'value="art"' not in page
    assert "root: normal" in page
    hpc.ask("sacctmgr", "--immediate", "modify", "qos", "low", "set", "MaxWall=60", "MaxJobsPerUser=2")
    clusters.refresh_cluster(reach.telemetry("hpc").facts(), "hpc")
    assert clusters_selectors.offers("hpc")["qos_limits"]["low"] == {
        "max_time": 3600,
        "max_jobs": 2,
        "max_submitted": None,
    }
    page = client_as("user").get(reverse("submit") + "?application=shell").content.decode()
    assert "low allows 1 h, 2 jobs at once" in page
    with pytest.raises(InputError, match="at most 3600 s with the QOS low"):
        hpc.accept(owner, "true", 1, options={"account": "chemistry", "qos": "low"}, time_limit=3601)


def test_a_job_runs_under_the_account_and_qos_chosen_and_a_wrong_one_is_refused_by_name(
    hpc: LiveSlurm, owner: Any
) -> None:
    clusters.refresh_cluster(reach.telemetry("hpc").facts(), "hpc")
    for options, name in [({"account": "art"}, "art"), ({"account": "root", "qos": "high"}, "high")]:
        with pytest.raises(InputError, match=f"{name}.*accepted is one that the cluster has"):
            hpc.accept(owner, "true", 1, options=options)
    job = hpc.submit(owner, WAIT, 1, options={"account": "chemistry", "qos": "high"})
    begun(hpc, job)
    assert hpc.ask("squeue", "--noheader", f"--jobs={hpc.number(job)}", "--format=%a %q") == "chemistry high"
    go(hpc, job)
    hpc.follow(job, "succeeded")
    # What the portal did not know when it took the job Slurm refuses, in one sentence with the name.
    late = hpc.accept(owner, "true", 1)
    Job.objects.filter(pk=late.pk).update(options={"account": "nobodys"})
    tasks.place_jobs(late.cluster)
    late.refresh_from_db()
    assert late.state == "failed"
    assert "(account nobodys)" in message(late.reason)
    assert message(late.reason).count("\n") == 0


def test_a_limit_of_submitted_jobs_is_waited_for(hpc: LiveSlurm, owner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "PAUSE", timedelta(seconds=0.5))
    hpc.ask("sacctmgr", "--immediate", "modify", "qos", "low", "set", "MaxSubmitJobsPerUser=1")
    options = {"account": "chemistry", "qos": "low"}
    first = begun(hpc, hpc.submit(owner, WAIT, 1, options=options))
    second = hpc.submit(owner, "true", 1, options=options)
    assert second.state == "starting"
    assert "limit of submitted jobs per user is reached; it is submitted once other jobs have ended" in message(
        second.reason
    )
    go(hpc, first)
    hpc.follow(first, "succeeded")
    hpc.until(lambda: recovery.advance_jobs() or hpc.number(second), "it to be submitted")
    hpc.follow(second, "succeeded")
    assert hpc.hosts(second) == [hpc.run(second).placement.nodes]
    hpc.ask("sacctmgr", "--immediate", "modify", "qos", "low", "set", "MaxSubmitJobsPerUser=-1")


def test_as_the_person_who_submits_the_accounts_are_that_persons_and_the_job_is_charged_to_them(
    hpc: LiveSlurm, owner: Any, client_as: Callable[..., Client], settings: Any, open_folder: Path
) -> None:
    """games is an account that every Debian has."""
    as_person = {
        "state_dir": None,
        "prefix": (*hpc.prefix, "runuser", "-u", "{user}", "--"),
        "read_prefix": tuple(hpc.prefix),
        "runs": open_folder,
    }
    settings.CLUSTERS = {"hpc": settings.CLUSTERS["hpc"].model_copy(update=as_person)}
    hpc.ask("sacctmgr", "--immediate", "add", "user", "games", "Account=chemistry", "QosLevel=low,normal")
    type(owner).objects.filter(pk=owner.pk).update(username="games")
    owner.refresh_from_db()
    clusters.refresh_cluster(reach.telemetry("hpc").facts(), "hpc")
    assert clusters_selectors.offers("hpc")["users"] == {"games": {"chemistry": ["low", "normal"]}}
    with pytest.raises(InputError, match=r"accepted is one that the cluster has: chemistry"):
        hpc.accept(owner, "true", 1, options={"account": "physics"})
    with pytest.raises(InputError, match="low, normal"):
        hpc.accept(owner, "true", 1, options={"account": "chemistry", "qos": "high"})
    job = hpc.submit(owner, f"id -un; {WAIT}", 1, options={"account": "chemistry", "qos": "low"}, time_limit=60)
    begun(hpc, job)
    assert hpc.ask("squeue", "-h", f"--jobs={hpc.number(job)}", "--format=%u %a %q") == "games chemistry low"
    go(hpc, job)
    hpc.follow(job, "succeeded")
    assert "games" in Path(hpc.run(job).run_dir, "output.log").read_text(encoding="utf-8").split()
    hpc.ask_until_done("sacctmgr", "--immediate", "delete", "user", "games")


# --- what nodes have --------------------------------------------------------------------------------------------------


def test_gres_and_features_decide_which_nodes_are_chosen(hpc: LiveSlurm, owner: Any) -> None:
    job = hpc.submit(owner, WAIT, 2, options={"gres": "gpu:2"})
    assert set(hpc.run(job).placement.nodes) == {"m5", "m6"}
    show = ("scontrol", "--details", "show", "job", hpc.number(job))
    hpc.until(lambda: "GRES=gpu:2(IDX:0-1)" in hpc.ask(*show), "what it was given")
    go(hpc, job)
    other = hpc.submit(owner, "true", 3, options={"constraint": "left"})
    assert set(hpc.run(other).placement.nodes) == {"m1", "m2", "m3"}
    for each in (job, other):
        hpc.follow(each, "succeeded")
        assert hpc.hosts(each) == [hpc.run(each).placement.nodes]
    for wrong, words in (("fpga:1", "fpga"), ("gpu:3", "at most gpu:2, the most that a node has")):
        with pytest.raises(InputError, match=words):
            hpc.accept(owner, "true", 1, options={"gres": wrong})
    late = hpc.accept(owner, "true", 1)
    Job.objects.filter(pk=late.pk).update(options={"gres": "gpu:3"})
    tasks.place_jobs(late.cluster)
    late.refresh_from_db()
    assert late.state == "failed"
    assert "configuration is not available" in message(late.reason)


def test_a_job_that_uses_more_memory_than_it_asked_for_is_told_so(hpc: LiveSlurm, owner: Any) -> None:
    hungry = f"exec python3 -c 'x = bytearray({200 * 2**20}); import time; time.sleep(30)'"
    job = hpc.submit(owner, hungry, 1, options={"memory": 40 * 2**20})
    hpc.follow(job, "failed")
    assert "more memory than it asked for" in message(job.reason)


def test_the_switches_of_topology_conf_are_the_portals_and_keep_a_job_together(hpc: LiveSlurm, owner: Any) -> None:
    job = hpc.submit(owner, "true", 3, method="communication")
    status = status_network.network_status("hpc")
    assert status is not None
    switches = {node.id for node in status.topology.nodes if node.kind == "network"}
    assert switches == {"left-switch", "right-switch", "top"}
    assert set(hpc.run(job).placement.nodes) in ({"m1", "m2", "m3"}, {"m4", "m5", "m6"})
    hpc.follow(job, "succeeded")


# --- reservations -----------------------------------------------------------------------------------------------------


def test_reserved_nodes_are_for_those_who_reserved_them(hpc: LiveSlurm, owner: Any) -> None:
    hpc.ask("sacctmgr", "--immediate", "add", "user", "nobody", "Account=chemistry")
    create = ("scontrol", "create", "reservation", "Duration=60")
    hpc.ask(*create, "ReservationName=mine", "Users=root", "Nodes=m1,m2", "StartTime=now")
    hpc.ask(*create, "ReservationName=theirs", "Users=nobody", "Nodes=m3,m4", "StartTime=now")
    hpc.ask(*create, "ReservationName=soon", "Users=nobody", "Nodes=m5", "StartTime=now+5minutes")
    free = hpc.submit(owner, "true", 1)  # it may take ten minutes, so m5 is none for it
    assert hpc.run(free).placement.nodes == ["m6"]
    short = hpc.submit(owner, "true", 2, time_limit=60)
    assert set(hpc.run(short).placement.nodes) == {"m5", "m6"}
    inside = hpc.submit(owner, WAIT, 2, options={"reservation": "mine"})
    assert set(hpc.run(inside).placement.nodes) == {"m1", "m2"}
    hpc.until(lambda: f"{hpc.number(inside)} mine" in hpc.ask("squeue", "-a", "-h", "-t", "all", "-o", "%i %v"), "it")
    go(hpc, inside)
    for job in (free, short, inside):
        hpc.follow(job, "succeeded")
    with pytest.raises(InputError, match="accepted is one that the cluster has: mine"):
        hpc.accept(owner, "true", 1, options={"reservation": "theirs"})
    waits = hpc.submit(owner, "true", 2)
    assert waits.state == "waiting"
    assert "reserved (theirs)" in message(waits.reason)


# --- preemption, failures ---------------------------------------------------------------------------------------------


def test_a_preempted_job_is_told_goes_on_in_rank_order_and_ends_once(hpc: LiveSlurm, owner: Any) -> None:
    job = begun(hpc, hpc.submit(owner, WAIT, 3, options={"exclusive": True}))
    again(hpc, job)
    nodes = hpc.run(job).placement.nodes
    hpc.sbatch("sleep 1", "--partition=urgent", "--exclusive", f"--nodelist={nodes[0]}")
    hpc.follow(job, "starting")
    begun(hpc, job)  # without the two minutes that Slurm would let it wait
    assert any("A job of higher priority took its nodes." in reason for reason in told(job))
    go(hpc, job)
    hpc.follow(job, "succeeded")
    assert hpc.hosts(job) == [nodes, nodes]
    assert job.runs.count() == 1
    assert [e.to_state for e in job.events.all()].count("succeeded") == 1


def lose_power(hpc: LiveSlurm, node: str) -> None:
    hpc.grid.slurm("kill", "node", node)
    hpc.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=power")  # sooner than SlurmdTimeout


def restore(hpc: LiveSlurm, node: str) -> None:
    hpc.grid.slurm("restart", "node", node)
    hpc.resume(node)


def test_a_job_whose_node_loses_power_goes_on_elsewhere_in_its_new_rank_order(hpc: LiveSlurm, owner: Any) -> None:
    job = begun(hpc, hpc.submit(owner, WAIT, 2))
    old = hpc.run(job)
    first = min(
        old.placement.nodes
    )  # where the batch script runs; of another node's end mpiexec itself may tell sooner
    lose_power(hpc, first)
    try:
        hpc.follow(job, "starting")
        hpc.follow(job, "queued")  # it is out of Slurm's queue, where it would wait as long as the node is down
        assert "power" in message(job.reason)
        recovery.advance_jobs()
        assert first not in hpc.run(job).placement.nodes
        begun(hpc, job)
        go(hpc, job)
        hpc.follow(job, "succeeded")
    finally:
        restore(hpc, first)
    assert hpc.hosts(job) == [hpc.run(job).placement.nodes]
    assert [run.number for run in job.runs.all()] == [1, 2]
    assert any("node of the job failed" in reason for reason in told(job)), told(job)
    left = ("squeue", "--noheader", f"--jobs={hpc.number(job)},{old.backend_id}", "--states=PD,R")
    hpc.until(lambda: hpc.ask(*left) == "", "both to leave the queue")


def test_a_job_that_needs_the_dead_node_waits_until_it_is_back(hpc: LiveSlurm, owner: Any) -> None:
    job = begun(hpc, hpc.submit(owner, WAIT, len(NODES)))
    first = min(hpc.run(job).placement.nodes)
    lose_power(hpc, first)
    try:
        hpc.follow(job, "queued")
        recovery.advance_jobs()
        job.refresh_from_db()
        assert (job.state, "power" in explained(job)) == ("waiting", True), message(job.reason)
    finally:
        restore(hpc, first)
    hpc.until(lambda: recovery.advance_jobs() or Job.objects.get(pk=job.pk).state == "starting", "the node to be back")
    begun(hpc, job)
    go(hpc, job)
    hpc.follow(job, "succeeded")
    assert hpc.hosts(job) == [hpc.run(job).placement.nodes]


def test_a_job_that_may_not_start_twice_fails_with_its_node(hpc: LiveSlurm, owner: Any, settings: Any) -> None:
    settings.CLUSTERS = {"hpc": settings.CLUSTERS["hpc"].model_copy(update={"requeue": False})}
    job = begun(hpc, hpc.submit(owner, WAIT, 2))
    nodes = hpc.run(job).placement.nodes
    lose_power(hpc, min(nodes))
    try:
        hpc.follow(job, "failed")
    finally:
        restore(hpc, min(nodes))
    assert message(job.reason).startswith("A node of the job failed")
    assert hpc.hosts(job) == [nodes]


def test_exit_codes_and_signals_are_told(hpc: LiveSlurm, owner: Any) -> None:
    script = "for p in /proc/[0-9]*; do grep -q slurm_script $p/cmdline && kill -9 $(basename $p); done"
    wrong, killed = hpc.submit(owner, "exit 7", 1), hpc.submit(owner, script, 1)
    hpc.follow(wrong, "failed")
    assert hpc.run(wrong).exit_code == 7
    assert "exit code 7" in message(wrong.reason)
    hpc.follow(killed, "failed")
    assert hpc.run(killed).exit_code == 137
    assert "SIGKILL" in message(killed.reason) or "137" in message(killed.reason)


def test_a_record_of_success_that_a_program_wrote_itself_changes_nothing(hpc: LiveSlurm, owner: Any) -> None:
    body = "echo '{\"exit_code\": 0}' > exit.json; touch begun.0; while [ ! -e go ]; do sleep 0.2; done; exit 3"
    job = begun(hpc, hpc.submit(owner, body, 1))
    for _ in range(3):
        following.poll_runs()
    job.refresh_from_db()
    assert job.state == "running"
    go(hpc, job)
    hpc.follow(job, "failed")
    assert hpc.run(job).exit_code == 3


def test_a_long_log_keeps_its_beginning_and_its_end(hpc: LiveSlurm, owner: Any, settings: Any) -> None:
    settings.PORTAL = settings.PORTAL.model_copy(update={"output_limit": 2**20})
    body = "yes line | head -c 3000000; touch begun.0; while [ ! -e go ]; do sleep 0.2; done; seq 300000; echo the end"
    job = begun(hpc, hpc.submit(owner, body, 1))
    log = Path(hpc.run(job).run_dir, "output.log")
    hpc.until(lambda: log.stat().st_size <= 2**20, "the cut while it runs")
    go(hpc, job)
    hpc.follow(job, "succeeded")
    text = log.read_bytes()
    assert len(text) <= 2**20
    assert b"line\nline\n" in text[:2000]
    assert text.count(log_limit.mark(2**20).encode()) == 1
    assert text.endswith(b"299999\n300000\nthe end\n")
    assert b"\0" not in text


def test_held_and_dependent_jobs_say_what_they_wait_for(hpc: LiveSlurm, owner: Any) -> None:
    first = begun(hpc, hpc.submit(owner, WAIT, 6, options={"exclusive": True}))
    job = hpc.submit(owner, "true", 1, options={"exclusive": True})
    queue_actions.hold_job(owner, job)
    hpc.ask("scontrol", "update", f"JobId={hpc.number(job)}", f"Dependency=afterany:{hpc.number(first)}")
    following.poll_runs()
    job.refresh_from_db()
    assert "It is held by" in explained(job)
    queue_actions.release_job(owner, job)

    def depends() -> bool:
        following.poll_runs()
        job.refresh_from_db()
        return "It waits for another job to end" in explained(job)

    hpc.until(depends, "the dependency to be told")
    go(hpc, first)
    hpc.follow(job, "succeeded")


# --- parts ------------------------------------------------------------------------------------------------------------


def test_a_job_of_unlike_numbers_of_ranks_is_one_job_though_slurm_has_it_in_parts(
    hpc: LiveSlurm, owner: Any, settings: Any
) -> None:
    """Held, released, put back and ended: one state, one log and one end, from squeue and from the accounts."""
    settings.CLUSTERS = {"hpc": settings.CLUSTERS["hpc"].model_copy(update={"share_nodes": True})}
    first = begun(hpc, hpc.submit(owner, WAIT, 6, options={"exclusive": True}))
    job = hpc.submit(owner, WAIT, 2, ranks=5, busy_policy="wait")
    number = hpc.number(job)
    assert len(hpc.ask("squeue", "-h", f"--jobs={number}").splitlines()) == 2
    queue_actions.hold_job(owner, job)
    following.poll_runs()
    job.refresh_from_db()
    assert "It is held by" in explained(job)
    go(hpc, first)
    hpc.follow(first, "succeeded")
    assert set(hpc.ask("squeue", "-h", "-o", "%t", f"--jobs={number}").split()) == {"PD"}
    queue_actions.release_job(owner, job)
    all_ranks_begin(hpc, job)
    queue_actions.requeue_job(owner, job)
    again(hpc, job)
    all_ranks_begin(hpc, job)
    nodes = hpc.run(job).placement.nodes
    assert sorted(Counter(nodes).values()) in ([1, 4], [2, 3])
    go(hpc, job)
    hpc.follow(job, "succeeded")
    assert hpc.hosts(job) == [nodes, nodes]
    assert (job.runs.count(), hpc.number(job)) == (1, number)
    assert [event.to_state for event in job.events.all()].count("succeeded") == 1
    hpc.until(lambda: not hpc.ask("squeue", "-h", "-t", "all"), "squeue to forget it")
    ended = hpc_backend().poll([number])[number]
    assert (ended.state.value, ended.exit_code, ended.signal) == ("finished", 0, None)


def test_a_job_in_parts_is_cancelled_as_a_whole_whether_it_waits_or_runs(
    hpc: LiveSlurm, owner: Any, settings: Any
) -> None:
    settings.CLUSTERS = {"hpc": settings.CLUSTERS["hpc"].model_copy(update={"share_nodes": True})}
    runs = hpc.submit(owner, WAIT, 2, ranks=5)
    all_ranks_begin(hpc, runs)
    waits = hpc.submit(owner, WAIT, 6, ranks=23, busy_policy="wait")
    assert hpc.number(waits)
    for job in (waits, runs):
        submission.cancel_job(owner, job)
        hpc.follow(job, "cancelled")
    hpc.until(lambda: not hpc.ask("squeue", "-h", "-t", "PD,R"), "all parts to leave the queue")
    assert message(waits.reason) == f"Cancelled by {owner} before it started."


def all_ranks_begin(hpc: LiveSlurm, job: Job) -> None:
    """A file of every rank, and running. Polled all the while: one that was put back still counts as running for a
    moment, and waits for the portal to let it start again."""
    hpc.follow(job, "running")
    directory = Path(hpc.run(job).run_dir)

    def are_there() -> bool:
        following.poll_runs()
        return len(list(directory.glob("begun.*"))) == len(hpc.run(job).placement.nodes)

    hpc.until(are_there, "all ranks")
    hpc.follow(job, "running")


# --- others -----------------------------------------------------------------------------------------------------------

_HET = """#!/bin/bash
#SBATCH -N1 -w m3 --exclusive
#SBATCH hetjob
#SBATCH -N1 -w m4 --exclusive
sleep 60
"""


def test_arrays_and_heterogeneous_jobs_of_others_confuse_nothing(
    hpc: LiveSlurm, owner: Any, client_as: Callable[..., Client]
) -> None:
    array = hpc.sbatch("sleep 60", "--array=1-3%2", "-N1", "-w", "m1", "-n2", "--mem=100")
    het = hpc.sbatch(_HET)
    hpc.until(lambda: len(hpc.ask("squeue", "-h", "-t", "R").splitlines()) == 4, "their tasks and parts to run")
    job = begun(hpc, hpc.submit(owner, WAIT, 2, busy_policy="again"))
    assert not {"m1", "m3", "m4"} & set(hpc.run(job).placement.nodes)
    sweeps.refresh_loads("hpc")
    seen = selectors.occupancy("hpc")
    assert set(seen.busy) == {"m1", "m3", "m4"}
    assert all(seen.busy[name] is not None for name in ("m1", "m3", "m4"))
    page = client_as("user").get(reverse("topology") + "?cluster=hpc")
    assert page.status_code == 200
    found = hpc_backend().poll([array, het, hpc.number(job)])
    assert [status.state.value for status in found.values()] == ["running"] * 3
    go(hpc, job)
    hpc.follow(job, "succeeded")
    hpc.ask("scancel", array, het)
    hpc.until(lambda: not hpc.ask("squeue", "-h", "-t", "all"), "squeue to forget them")
    ended = hpc_backend().poll([array, het])
    assert [(status.state.value, status.cause) for status in ended.values()] == [("finished", Code.JOB_CANCELLED)] * 2


def hpc_backend() -> Any:
    from scheduling.runs.services.backends import backend

    return backend("hpc")


# --- expected start ---------------------------------------------------------------------------------------------------


def test_each_way_of_dealing_with_busy_nodes_has_the_start_that_slurm_foresees(hpc: LiveSlurm, owner: Any) -> None:
    hpc.sbatch("sleep 60", "--exclusive", "-N3", "-w", "m1,m2,m3", "--time=20")
    hpc.until(lambda: hpc.ask("squeue", "-h", "-t", "R"), "the other's job to run")
    sweeps.measure("hpc", max_age=0.0)
    asked = hpc.request("true", 3, method="communication", candidates=5, options={"exclusive": True})
    seen = preview.preview(asked, owner)
    ways = {way["policy"]: way for way in seen.ways}
    assert set(ways) == {"wait", "again", "next"}
    assert (ways["again"]["expected_start"], set(ways["again"]["nodes"])) == ("now", {"m4", "m5", "m6"})
    busy = [way for way in ways.values() if {"m1", "m2", "m3"} & set(way["nodes"])]
    for way in busy:
        assert way["expected_start"] != "now"
    job = hpc.submit(owner, "true", 6, options={"exclusive": True}, busy_policy="wait")
    hpc.until(lambda: following.poll_runs() is not None and hpc.run(job).expected_start, "the expected start")
    assert "Expected to start at" in message(Job.objects.get(pk=job.pk).reason)
    assert json.dumps(hpc.run(job).placement.nodes)
    assert sorted(hpc.run(job).placement.nodes) == sorted(NODES)


def test_a_queued_job_stays_when_slurmctld_restarts_and_never_ran_when_it_is_cancelled(
    hpc: LiveSlurm, owner: Any
) -> None:
    first = begun(hpc, hpc.submit(owner, WAIT, 6, options={"exclusive": True}))
    second = hpc.submit(owner, "true", 2, options={"exclusive": True}, busy_policy="wait")
    number = hpc.number(second)
    hpc.grid.slurm("restart", "ctld")
    for _ in range(20):
        following.poll_runs()
        second.refresh_from_db()
        assert (second.state, second.runs.count()) == ("starting", 1), message(second.reason)
    assert hpc.number(second) == number
    submission.cancel_job(owner, second)
    hpc.follow(second, "cancelled")
    assert message(second.reason) == f"Cancelled by {owner} before it started."
    go(hpc, first)
    hpc.follow(first, "succeeded")


# --- slurmctld away, time limit ---------------------------------------------------------------------------------------


def test_a_job_that_ends_while_slurmctld_is_away_has_ended_and_one_over_its_time_is_told_so(
    hpc: LiveSlurm, owner: Any
) -> None:
    ends = begun(hpc, hpc.submit(owner, WAIT, 2))
    late = begun(hpc, hpc.submit(owner, WAIT, 1, time_limit=60, busy_policy="again"))
    hpc.saved(hpc.number(late))
    hpc.grid.slurm("kill", "ctld")
    go(hpc, ends)
    record = Path(hpc.run(ends).run_dir, "exit.json")
    hpc.until_exists(record)
    following.poll_runs()
    ends.refresh_from_db()
    assert (ends.state, "does not answer" in message(ends.reason)) == ("running", True)
    hpc.grid.slurm("restart", "ctld")
    hpc.follow(ends, "succeeded")  # though slurmctld itself hears of it only a while later
    assert hpc.hosts(ends) == [hpc.run(ends).placement.nodes]
    hpc.ask("scontrol", "update", f"JobId={hpc.number(late)}", "EndTime=now+2")  # slurmctld looks twice a minute
    hpc.follow(late, "failed", 90)
    assert message(late.reason).startswith("The job reached its time limit; ask for more time")
    assert ends.runs.count() == late.runs.count() == 1


# --- wrong launchers --------------------------------------------------------------------------------------------------

_WORLD = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank %d of %d\\n", rank, size);
  MPI_Finalize();
  return 0;
}
"""
_OPEN_RUN = "mpirun.openmpi --allow-run-as-root -n {ranks} --map-by seq --hostfile {hostfile}"
_HYDRA = "mpiexec.mpich -n {ranks} -hosts {hosts}"


@pytest.fixture(scope="module")
def world_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program of each MPI that says how large its world is, and a script that starts one by itself."""
    folder = tmp_path_factory.mktemp("worlds")
    (folder / "world.c").write_text(_WORLD, encoding="utf-8")
    for mpi in ("openmpi", "mpich"):
        compiler = need(f"mpicc.{mpi}")
        subprocess.run([compiler, "-o", folder / mpi, folder / "world.c"], check=True, timeout=60)
    script = folder / "script"
    script.write_text(f"#!/bin/sh\nexec {need('mpiexec.mpich')} -n 2 {folder}/mpich\n", encoding="utf-8")
    script.chmod(0o755)
    return folder


def started_by(hpc: LiveSlurm, owner: Any, program: Path | str, launcher: str) -> Run:
    """A run of two ranks whose application has this launcher, and which is over."""
    request = hpc.request("true")
    fields = {"command": [str(program)], "launcher": launcher.split()}
    Application.objects.filter(pk=request.application.pk).update(**fields)
    request.application.refresh_from_db()
    job = submission.submit_job(owner, request)
    tasks.place_jobs(job.cluster)

    def is_over() -> bool:
        following.poll_runs()
        job.refresh_from_db()
        return job.is_final

    hpc.until(is_over, "the run to be over")
    return hpc.run(job)


@pytest.mark.parametrize(
    ("program", "launcher", "state", "code"),
    [
        ("openmpi", _OPEN_RUN, "succeeded", Code.NONE),
        ("openmpi", "srun -n {ranks}", "failed", Code.START_NO_PMI),
        ("openmpi", _HYDRA, "failed", Code.START_NO_PMI),
        ("mpich", "srun -n {ranks}", "succeeded", Code.NONE),
        ("mpich", _OPEN_RUN, "succeeded", Code.START_SINGLETONS),
        ("mpich", "srun --mpi=none -n {ranks}", "succeeded", Code.START_SINGLETONS),
        ("script", "srun -n {ranks}", "succeeded", Code.START_COPIES),
        ("/bin/hostname", "srun -n {ranks}", "succeeded", Code.START_NO_MPI),
    ],
)
def test_a_launcher_of_another_mpi_is_told_beside_the_end(
    hpc: LiveSlurm, owner: Any, world_programs: Path, program: str, launcher: str, state: str, code: Code
) -> None:
    need("mpirun.openmpi", "mpiexec.mpich")
    run = started_by(hpc, owner, world_programs / program, launcher)
    log = Path(run.run_dir, "output.log").read_text(encoding="utf-8")
    assert (run.job.state, run.start_reason.code) == (state, code), log
    assert ("rank 1 of 2" in log) == (state == "succeeded" and code in (Code.NONE, Code.START_COPIES))


@pytest.mark.parametrize("kind", ["none-has-this-name", "pmix"])
def test_a_run_of_which_srun_starts_no_rank_has_failed(
    hpc: LiveSlurm, owner: Any, world_programs: Path, kind: str
) -> None:
    """Debian's Slurm names pmix and then cannot start a task with it, and ends with 0 or 1; another one may."""
    run = started_by(hpc, owner, world_programs / "mpich", f"srun --mpi={kind} -n {{ranks}}")
    log = Path(run.run_dir, "output.log").read_text(encoding="utf-8")
    if kind == "pmix" and "rank 0 of" in log:
        assert run.start_reason.code in (Code.NONE, Code.START_SINGLETONS)
        return
    assert (run.job.state, Code.START_NONE in (run.start_reason.code, run.job.reason.code)) == ("failed", True), log


# --- trying candidate groups ------------------------------------------------------------------------------------------


def test_the_skeletons_of_a_job_are_jobs_of_slurm_and_one_that_is_cancelled_leaves_none(
    hpc: LiveSlurm, owner: Any
) -> None:
    application = hpc.request("true").application
    Application.objects.filter(pk=application.pk).update(parameters=[KLASS])
    made = build(trace.parse(programs.trace(programs.ring(2, 200, size=20_000))), target=0.3)
    keep_skeleton(Application.objects.get(pk=application.pk), document=document(made, rate=1e5), expected=0.3)
    job = hpc.submit(owner, "true", 2)
    assert job.state == "trial"
    listed = hpc.ask("squeue", "--noheader", "--states=all", "--Format=comment:200")
    listed += hpc.ask("sacct", "--noheader", "--allocations", "--format=Comment%200")  # of those that it has forgotten
    tried = list(job.skeleton_runs.all())
    assert len(tried) == 3
    assert all(run.key in listed for run in tried if run.backend_id)
    assert {run.player.code for run in tried} == {Code.PLAYED_IN_C}

    def chosen() -> bool:
        tasks.poll_runs()
        job.refresh_from_db()
        return job.state not in ("trial", "starting")

    hpc.until(chosen, "a group that is taken")
    hpc.follow(job, "succeeded")
    placement = hpc.run(job).placement
    assert placement.trial.outcome.by == "skeleton", placement.candidates
    assert hpc.hosts(job) == [placement.nodes] == [list(placement.candidates[0].nodes)]
    predicted = [one.skeleton.predicted for one in placement.candidates]
    assert predicted[0] == min(value for value in predicted if value is not None)
    other = hpc.submit(owner, "true", 2)
    submission.cancel_job(owner, other)
    hpc.until(lambda: tasks.poll_runs() or not rooms.holders("hpc"), "skeletons that are stopped")
    assert set(other.skeleton_runs.values_list("state", flat=True)) <= {"stopped", "skipped", "done"}
    hpc.until(lambda: not hpc.ask("squeue", "--noheader", "--states=PD,R"), "an empty queue")

"""Several jobs on a node where its cluster says so: each with processors and memory of its own, and never too many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.clusters import Cluster
from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.reasons import Code
from monitoring.telemetry.services import sweeps
from scheduling.cluster_checks.selectors import cluster_state
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.messages import message
from scheduling.placing.selectors.occupancy import Reasons
from scheduling.placing.services import following, recovery
from scheduling.placing.services.preview import preview
from tests import migrated
from tests.fake_grid import FakeGrid
from tests.scheduling.portal import Portal

Submit = Callable[..., Job]
SHARED = Cluster(name="grid", backend="grid", share_nodes=True)


@pytest.fixture
def shared(fake_grid: FakeGrid, settings: Any) -> FakeGrid:
    """Four nodes of two processors and one GB, which jobs share."""
    settings.CLUSTERS = {"grid": SHARED}
    fake_grid.labels = {name: {"cpus": "2", "mem_gb": "1"} for name in fake_grid.names}
    sweeps.measure()
    return fake_grid


def placed(job: Job) -> Job:
    recovery.advance_jobs()
    job.refresh_from_db()
    return job


def test_jobs_share_nodes_as_long_as_there_are_processors(submit: Submit, shared: FakeGrid) -> None:
    one, two, three = (submit(4) for _ in range(3))
    placed(three)
    nodes = [set(job.placements.get().nodes) for job in (one, two)]
    assert nodes == [set(shared.names)] * 2
    three.refresh_from_db()
    assert (three.state, three.reason.code) == ("waiting", Code.TOO_FEW_FREE)  # no node has a processor left
    shared.end(one.runs.get().key)
    following.poll_runs()
    assert placed(three).state == "starting"


def test_too_few_processors_are_told_in_a_sentence_and_what_fits_goes_on(submit: Submit, shared: FakeGrid) -> None:
    first, thick = submit(4), submit(4, cpus_per_rank=2)
    placed(thick)
    sentence = "Needs 8 processors; 4 of 8 are free. Job {0} has the others; this job is tried again when job {0} ends."
    assert (thick.state, message(thick.reason)) == ("waiting", sentence.format(first.pk))
    assert message(Reasons().of(thick)) == sentence.format(first.pk)
    small = submit(2)
    assert placed(small).state == "starting"
    for job in (first, small):
        shared.end(job.runs.get().key)
    following.poll_runs()
    assert Reasons().of(thick).code is Code.ENOUGH_FREE
    assert placed(thick).state == "starting"


def test_without_the_setting_a_node_is_one_jobs_alone(submit: Submit, shared: FakeGrid, settings: Any) -> None:
    settings.CLUSTERS = {"grid": Cluster(name="grid", backend="grid")}
    submit(4)
    second = submit(2)
    assert placed(second).reason.code is Code.TOO_FEW_FREE


def test_memory_counts_where_it_is_known(submit: Submit, shared: FakeGrid) -> None:
    submit(4, memory_per_rank=700)
    more, little = submit(2, memory_per_rank=400), submit(2, memory_per_rank=300)
    assert placed(more).state == "waiting"
    little.refresh_from_db()
    assert little.state == "starting"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"cpus_per_rank": 3}, "cpus_per_rank is 3; accepted is at most 2, the most that a node of grid has."),
        (
            {"memory_per_rank": 2000},
            "memory_per_rank is 2000; accepted is at most 1024, the most that a node of grid has.",
        ),
        (
            {"nodes": None, "ranks": 8, "cpus_per_rank": 2},
            "ranks is 8; accepted is at most 4, for so many such ranks grid has room.",
        ),
        (
            {"nodes": 2, "ranks": 8},
            "ranks is 8; accepted is at most 4, for so many such ranks 2 nodes of grid have room: 2 a node at most, "
            "4 nodes for all.",
        ),
        (
            {"nodes": 1, "gres_per_rank": "gpu:50"},
            "gres_per_rank is gpu:50; accepted is nothing of gpu: no node of grid has it.",
        ),
        (
            {"nodes": 1, "gres_per_rank": "gpu:1,gpu:2"},
            "gres_per_rank is gpu:1,gpu:2; accepted is each kind once; gpu stands there 2 times.",
        ),
    ],
)
def test_what_no_node_has_is_refused_at_once(
    submit: Submit, shared: FakeGrid, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError) as refused:
        submit(**{"nodes": 2} | asked)
    assert str(refused.value).replace("'", "") == sentence


def test_a_rank_that_needs_of_two_nodes_what_none_has_at_once_is_refused(submit: Submit, shared: FakeGrid) -> None:
    shared.labels = {"n1": {"cpus": "4", "mem_gb": "1"}, "n2": {"cpus": "1", "mem_gb": "8"}}
    shared.names = ["n1", "n2"]
    sweeps.measure()
    with pytest.raises(ImpossibleError, match="No node of grid has all at once"):
        submit(1, cpus_per_rank=4, memory_per_rank=4096)


def test_a_job_of_open_nodes_knows_how_many_it_takes_at_least(submit: Submit, shared: FakeGrid) -> None:
    job = submit(None, ranks=8)
    assert (job.node_count, job.nodes_open) == (4, True)


def test_a_preview_needs_as_many_nodes_as_the_job(submit: Submit, shared: FakeGrid, application: Any) -> None:
    held = submit(4, cpus_per_rank=2)
    placed(held)
    asked = JobSpec(application, {}, ranks=4, pattern="ring")
    job = placed(submit(None, ranks=4))
    problem = preview(asked).problem
    assert problem.code is Code.TOO_FEW_FREE
    assert problem.facts["needed"] == job.reason.facts["needed"] == job.node_count == 2
    state = cluster_state("grid")
    assert (state.nodes, state.held, state.free) == (4, 4, 0), "as the nodes' own page says"


def test_ranks_are_placed_on_slots_and_the_job_knows_its_nodes_from_then_on(submit: Submit, shared: FakeGrid) -> None:
    job = submit(None, ranks=4, cpus_per_rank=1, method="compute")
    assert (job.node_count, placed(job).state) == (2, "starting")
    nodes = job.placements.get().nodes
    assert len(nodes) == 4
    assert all(nodes.count(node) <= 2 for node in nodes)
    assert job.node_count == len(set(nodes))
    wide = submit(None, ranks=8)
    assert placed(wide).reason.code is Code.TOO_FEW_FREE
    rest = submit(None, ranks=4)
    assert placed(rest).state == "starting"
    both = nodes + rest.placements.get().nodes
    assert all(both.count(node) <= 2 for node in shared.names)


def test_pins_and_excluded_nodes_are_kept_to(submit: Submit, shared: FakeGrid) -> None:
    asked = ApplicationSpecification.read({"pins": {"0": "n3"}, "exclude": ["n1", "n2"]})
    job = placed(submit(2, specification=asked, method="communication"))
    assert job.placements.get().nodes == ["n3", "n4"]


@pytest.mark.parametrize(
    ("pins", "groups", "sentence"),
    [
        ({"0": "n1"}, [], "rank 0 is pinned to n1, which does not meet mem_gb>=16: it has mem_gb=1."),
        ({"0": ["n1", "n2"]}, [], "rank 0 is pinned to n1 or n2, and none of these meets mem_gb>=16."),
        (
            {"a": "n4"},
            [{"name": "a", "count": 1, "require": ["rack=1"]}, {"name": "b", "count": 1}],
            "rank 0 is pinned to n4, which does not meet rack=1: it has no label rack.",
        ),
    ],
)
def test_a_pin_to_a_node_that_lacks_what_is_asked_for_is_refused_at_once(
    submit: Submit, shared: FakeGrid, pins: Any, groups: Any, sentence: str
) -> None:
    shared.labels |= {"n3": {"cpus": "2", "mem_gb": "32"}, "n4": {"cpus": "2", "mem_gb": "32"}}
    sweeps.measure()
    asked = ApplicationSpecification.read({"pins": pins, "groups": groups})
    with pytest.raises(ImpossibleError) as refused:
        submit(2, specification=asked, requirements={"require": {"mem_gb": ">=16"}})
    assert str(refused.value) == f"This job can never start: {sentence}"
    kept = ApplicationSpecification.read({"pins": {"0": ["n1", "n3"]}})
    assert placed(
        submit(2, specification=kept, requirements={"require": {"mem_gb": ">=16"}})
    ).placements.get().nodes == ["n3", "n4"]


def test_pins_that_no_free_cluster_could_keep_are_refused_at_once(submit: Submit, shared: FakeGrid) -> None:
    both_there = ApplicationSpecification.read({"pins": {"0": "n1", "1": "n1"}})
    with pytest.raises(ImpossibleError, match="can never start: ranks 0-1 may run on n1 alone"):
        submit(2, specification=both_there)
    assert not Job.objects.exists()
    assert placed(submit(None, ranks=2, specification=both_there)).placements.get().nodes == ["n1", "n1"]


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (
            [{"name": "a", "count": 1, "require": ["mem_gb>=64"]}, {"name": "b", "count": 1}],
            "The group a needs a node with mem_gb>=64; 0 of 4 nodes have that.",
        ),
        (
            [{"name": "a", "count": 2, "require": ["mem_gb>=32"]}],
            "This job can never start: the group a may run on n3 alone, which has room for 1 of their 2 ranks. "
            "Let more ranks be on a node, or let them be on more nodes.",
        ),
    ],
)
def test_a_condition_of_a_group_that_too_few_nodes_meet_is_refused_at_once(
    submit: Submit, shared: FakeGrid, groups: Any, sentence: str
) -> None:
    shared.labels |= {"n3": {"cpus": "2", "mem_gb": "32"}}
    sweeps.measure()
    with pytest.raises(ImpossibleError) as refused:
        submit(2, specification=ApplicationSpecification.read({"groups": groups}))
    assert str(refused.value) == sentence
    assert not Job.objects.exists()


#: A worker that has chosen for a job, waits until the other has chosen too, and stores its choice.
STORE_TOGETHER = """
    import pathlib, time
    from monitoring.status.selectors.network_status import network_status
    from scheduling.jobs.core.states import JobState
    from scheduling.jobs.services import leases
    from scheduling.jobs.services.advance import advance_all
    from scheduling.placing.selectors.occupancy import occupancy as look
    from scheduling.placing.services import choosing, requests, storing
    folder, me, pk = pathlib.Path({folder!r}), {me}, {job}
    jobs = leases.acquire_all([pk], (JobState.QUEUED,))
    advance_all(jobs, JobState.PLACING)
    job, status = jobs[0], network_status("grid")
    seen = look("grid", job.options, None, job.rank_request)
    asked = requests.question(job, requests.read_pattern(job))
    choice = choosing.choose(status, asked, seen, "again", in_queue=False)
    (folder / str(me)).touch()
    end = time.monotonic() + 30
    while time.monotonic() < end and not (folder / str(1 - me)).exists():
        time.sleep(0.01)
    stored = storing.store("grid", [storing.Chosen(job, choice)], status)
    print(json.dumps([len(stored.placed), len(stored.clashed)]))
"""
NODES = """
    from monitoring.clusters.models import Cluster, Link, Node
    row = Cluster.objects.create(name="grid", kind="pairs", directed=True, topology="small")
    nodes = [Node.objects.create(cluster=row, name=f"n{n}", position=n, cpu=1.0, labels={"cpus": "3"}) for n in (1, 2)]
    for a, b in (nodes, nodes[::-1]):
        Link.objects.create(cluster=row, source=a, target=b, capacity=1e8, bandwidth=9e7, latency=1e-4)
"""
JOBS = """
    ep = Application.objects.get(slug="nas-ep")
    ids = []
    for _ in range(2):
        spec = job_spec.JobSpec(ep, {"class": "S"}, 2, method="compute")
        ids.append(submission.submit_job(User.objects.get(), spec).pk)
    print(json.dumps(ids))
"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """An address; empty for a file of SQLite."""
    if request.param == "sqlite":
        yield ""
        return
    with migrated.postgres_server() as url:
        yield url


def test_of_two_jobs_that_race_for_the_last_slots_one_waits(database: str, tmp_path: Path) -> None:
    grid = [{"name": "grid", "backend": "grid", "share_nodes": True}]
    portal = Portal(tmp_path / "home", tmp_path / "no-grid", database, clusters=grid)
    portal.run(NODES)
    for turn, outcome in enumerate(([[1, 0], [1, 0]], [[0, 1], [1, 0]])):  # of three slots there are two, then one
        folder = tmp_path / f"chosen-{turn}"
        folder.mkdir()
        codes = [STORE_TOGETHER.format(folder=str(folder), me=me, job=job) for me, job in enumerate(portal.run(JOBS))]
        assert sorted(portal.run_at_once(*codes)) == outcome

"""Real programs on a real Grid that do to their run directories whatever a program can: each ends with a reason, and
nobody else notices.

Those that are asked for (in `make test` a third of them; another third runs on Slurm) run once, a few at a time beside
well-behaved neighbours, and the tests look at what became of them. Worker and web are this process, so that descriptors
which leak are seen.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client, override_settings

from gridportal.base import log_limit
from gridportal.base.clusters import Cluster
from gridportal.testbed import launch
from gridportal.testbed.client import Grid
from scheduling.messages import message
from scheduling.runs.core import phase_sums
from tests import migrated
from tests.gridportal.testbed.conftest import need_namespaces
from tests.scheduling.runs.hostile_programs import PRELUDE, PROGRAMS, Hostile

pytestmark = [pytest.mark.grid, pytest.mark.django_db, pytest.mark.timeout(900)]

AT_ONCE = 8
LONGEST = 240.0  # seconds that a wave may take on a machine that has no time
LIMIT = 2**20
NEIGHBOUR = Hostile("neighbour", "sleep 0.5; good", verified=True)
BIG = "output of 200 MB"
#: In `make test`: every third, but not one of those that Slurm has there; and what the tests below name.
SOME = [program for place, program in enumerate(PROGRAMS) if place % 3 == 1 or program.name == BIG]
BY_NAME = pytest.mark.parametrize(
    "program",
    [pytest.param(each, id=each.name, marks=[] if each in SOME else [pytest.mark.slow]) for each in PROGRAMS],
)


@dataclass
class Ended:
    """What became of a job: its row's last words, its files, and what its pages answered while it ran and after."""

    state: str
    reason: str
    exit_code: int | None
    verified: bool | None
    key: str
    run_dir: Path
    log: bytes
    phases: int
    answers: dict[str, int] = field(default_factory=dict)


@dataclass
class World:
    """Everything after all programs have ended."""

    grid: Grid
    process: Any
    ended: dict[str, Ended]
    neighbours: list[Ended]
    descriptors: tuple[set[str], set[str]]


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: Any,
) -> Iterator[World]:
    need_namespaces()
    root = tmp_path_factory.mktemp("hostile-grid")
    limits = pytest.MonkeyPatch()
    limits.setenv(log_limit.VARIABLE, str(LIMIT))
    process, _ = launch.up("crossbar10", root, with_parent=True)
    portal = django_settings.PORTAL.model_copy(update={"measure_max_age": 1e6, "output_limit": LIMIT})
    clusters = {"grid": Cluster(name="grid", backend="grid", state_dir=root)}
    try:
        with override_settings(CLUSTERS=clusters, PORTAL=portal), django_db_blocker.unblock():
            yield run_all(Grid(root), process, asked_for(request.session, Path(__file__), BIG))
            forget_all()
    finally:
        limits.undo()
        Grid(root).down()


def asked_for(session: pytest.Session, file: Path, *always: str) -> list[Hostile]:
    """The programs of the tests of this file that are going to run, and those that always do."""
    found = list(always)
    for item in session.items:
        if item.path == file and isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            found.append(item.callspec.params["program"].name)
    return [program for program in PROGRAMS if program.name in found]


def run_all(grid: Grid, process: Any, programs: Sequence[Hostile]) -> World:
    """A wave of neighbours first, so that whatever is opened once is open; then all programs, some at a time."""
    portal = Portal()
    neighbours = list(portal.wave([NEIGHBOUR] * 2).values())
    before, ended = descriptors(), dict[str, Ended]()
    for first in range(0, len(programs), AT_ONCE):
        wave = portal.wave([NEIGHBOUR, *programs[first : first + AT_ONCE], NEIGHBOUR])
        neighbours += [wave.pop("neighbour 0"), wave.pop(f"neighbour {len(wave)}")]
        ended |= wave
    return World(grid, process, ended, neighbours, (before, descriptors()))


def descriptors() -> set[str]:
    """What this process has open."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add(f"{name}: {os.readlink(f'/proc/self/fd/{name}')}")
        except FileNotFoundError:
            continue
    return found


def forget_all() -> None:
    """The tables as they were found."""
    connection.ensure_connection()
    migrated.put_now(connection.connection)


class Portal:
    """Worker and web in this process."""

    def __init__(self) -> None:
        from gridportal.accounts.models import User

        self.owner = User.objects.create_superuser("hostile", password="correct-horse-battery")
        self.client = Client(raise_request_exception=False)
        self.client.force_login(self.owner)
        self.made = 0

    def wave(self, programs: list[Hostile]) -> dict[str, Ended]:
        """Run them all at once to their ends, by name (neighbours by their place in the wave)."""
        from scheduling.placing.services import recovery

        names = [f"neighbour {n}" if p is NEIGHBOUR else p.name for n, p in enumerate(programs)]
        jobs = {name: self.submit(program) for name, program in zip(names, programs, strict=True)}
        recovery.advance_jobs()
        answers = {name: dict[str, int]() for name in names}
        for name, job in jobs.items():
            answers[name] |= self.look(job, "running")
        one = names[len(names) // 2]
        answers[one] |= self.ask("running", "/jobs/")
        until = time.monotonic() + LONGEST
        while not self.poll(list(jobs.values())):
            assert time.monotonic() < until, [(name, job.state, message(job.reason)) for name, job in jobs.items()]
        answers[one] |= self.ask("ended", "/jobs/")
        return {name: self.ended(job, answers[name]) for name, job in jobs.items()}

    def submit(self, program: Hostile) -> Any:
        """Hand in a job of one node; the program goes to its bash as one argument, for braces mean parameters."""
        from scheduling.jobs.models import Application
        from scheduling.jobs.services.job_spec import JobSpec
        from scheduling.placing.services.submission import submit_job

        self.made += 1
        text = base64.b64encode((PRELUDE + program.code).encode()).decode()
        words = ["bash", "-c", 'eval "$(base64 -d <<< "$1")"', "hostile", text]
        slug = f"program-{self.made}"
        made = Application.objects.create(slug=slug, name=program.name[:100], command=words, launcher=["env"])
        return submit_job(self.owner, JobSpec(application=made, node_count=1, pattern="ep", cluster="grid"))

    def poll(self, jobs: list[Any]) -> bool:
        """What beat does; whether all have ended. It rests five times as long as that took: the programs need the
        processor, too."""
        from scheduling.placing.services import following, recovery

        begun = time.monotonic()
        recovery.advance_jobs()
        following.poll_runs()
        for job in jobs:
            job.refresh_from_db()
        time.sleep(max(0.3, 5 * (time.monotonic() - begun)))
        return all(job.is_final for job in jobs)

    def look(self, job: Any, when: str) -> dict[str, int]:
        """How its pages and API answer."""
        page = f"/jobs/{job.pk}/"
        return self.ask(when, page, f"{page}log", f"{page}log/tail", f"/api/jobs/{job.pk}")

    def ask(self, when: str, *pages: str) -> dict[str, int]:
        """How pages answer; the list of all jobs is asked for once in a wave."""
        answers = {}
        for page in pages:
            response = self.client.get(page)
            if response.streaming:
                for _ in response:
                    pass
                response.close()
            answers[f"{page} {when}"] = response.status_code
        return answers

    def ended(self, job: Any, answers: dict[str, int]) -> Ended:
        """What became of it."""
        from scheduling.runs.selectors import log_tail

        run = job.runs.get()
        return Ended(
            job.state,
            message(job.reason),
            run.exit_code,
            run.verified,
            run.key,
            Path(run.run_dir),
            log_tail(run, limit=4 * LIMIT).text.encode(),
            run.phases.count(),
            answers | self.look(job, "ended"),
        )


@BY_NAME
def test_a_hostile_program_ends_as_its_launcher_says_and_the_reason_names_the_file(
    world: World, program: Hostile
) -> None:
    ended = world.ended[program.name]
    assert ended.state in program.states, ended.reason
    assert program.codes is None or ended.exit_code in program.codes, ended.reason
    assert program.says in ended.reason
    assert not program.verified or ended.verified is True
    assert ended.phases <= phase_sums.MOST_REPORTS


def without_lost_logs(answers: Mapping[str, int]) -> set[int]:
    """The statuses of all pages but those of a log that the program has made unreadable."""
    return {status for page, status in answers.items() if not ("/log " in page and status == 404)}


@BY_NAME
def test_every_page_of_its_job_answers(world: World, program: Hostile) -> None:
    answers = world.ended[program.name].answers
    assert without_lost_logs(answers) == {200}, answers


def test_at_least_thirty_programs_were_tried() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 30


def test_neighbours_notice_nothing(world: World) -> None:
    assert {(each.state, each.verified) for each in world.neighbours} == {("succeeded", True)}


def test_no_descriptor_is_left_open(world: World) -> None:
    before, after = world.descriptors
    assert len(after) <= len(before), after - before


def test_a_long_log_keeps_its_beginning_and_its_end_and_says_where_it_was_cut(world: World) -> None:
    log = world.ended[BIG].log
    assert len(log) <= LIMIT
    assert log.startswith(b"a line of output\n")
    assert log_limit.mark(LIMIT).encode() in log
    assert log.endswith(b"the end\n")


def test_the_daemon_comes_back_after_a_kill_and_still_knows_how_each_ended(world: World) -> None:
    keys = [ended.key for ended in world.ended.values()]
    before = world.grid.poll(keys)
    world.process.kill()
    world.process.wait(timeout=60)
    launch.up("crossbar10", world.grid.directory, with_parent=True)
    after = world.grid.poll(keys)
    told = ("state", "exit_code", "signal", "ended_at")
    assert [[after[key][name] for name in told] for key in keys] == [
        [before[key][name] for name in told] for key in keys
    ]
    assert {after[key]["state"] for key in keys} == {"finished"}

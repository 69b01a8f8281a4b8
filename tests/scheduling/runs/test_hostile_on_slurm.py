"""Programs of test_hostile_programs as jobs of a real Slurm: the same ends, whoever watches over them.

Every sixth, and another sixth under `make test-slow`: all 68 take more than two minutes there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import override_settings

from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.scheduling.runs.hostile_programs import PROGRAMS, Hostile
from tests.scheduling.runs.test_hostile_programs import LIMIT, World, asked_for, forget_all, run_all, without_lost_logs

pytestmark = [pytest.mark.grid, pytest.mark.slurm, pytest.mark.django_db, pytest.mark.timeout(900)]
SOME = PROGRAMS[::3]


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_setup: None,
    django_db_blocker: Any,
) -> Iterator[World]:
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        pytest.skip(str(error))
    root = tmp_path_factory.mktemp("hostile-slurm")
    process, _ = launch.up("crossbar10", root, with_parent=True, slurm="slurm")
    portal = django_settings.PORTAL.model_copy(update={"measure_max_age": 1e6, "output_limit": LIMIT})
    clusters = {"grid": Cluster(name="grid", backend="slurm", state_dir=root)}
    try:
        with override_settings(CLUSTERS=clusters, PORTAL=portal), django_db_blocker.unblock():
            yield run_all(Grid(root), process, asked_for(request.session, Path(__file__)))
            forget_all()
    finally:
        Grid(root).down()


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.slow] if place % 2 else [])
        for place, each in enumerate(SOME)
    ],
)
def test_a_hostile_program_ends_with_a_reason_and_its_pages_answer(world: World, program: Hostile) -> None:
    ended = world.ended[program.name]
    assert ended.state in program.states, ended.reason
    assert program.codes is None or ended.exit_code in program.codes, ended.reason
    assert program.says in ended.reason
    assert not program.verified or ended.verified is True
    assert without_lost_logs(ended.answers) == {200}, ended.answers


def test_neighbours_notice_nothing(world: World) -> None:
    assert {(each.state, each.verified) for each in world.neighbours} == {("succeeded", True)}


def test_no_descriptor_is_left_open(world: World) -> None:
    before, after = world.descriptors
    assert len(after) <= len(before), after - before

"""A Grid with a Slurm on its nodes, and a portal that knows both: what runs programs that no one here wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import BackendError
from gridportal.testbed import launch, machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests.gridportal.testbed.networks import crossbar
from tests.scheduling.portal import Portal

RATE = 900.0
EXAMPLES = Path(__file__).parents[2] / "docs" / "applications"
INSTALLED = "/opt/gridportal/applications"


def example(name: str) -> dict[str, Any]:
    """An example of docs/applications, with its files where they are here."""
    fields: dict[str, Any] = json.loads((EXAMPLES / name).read_text().replace(INSTALLED, str(EXAMPLES)))
    return fields


def slurm_is_missing() -> str:
    """Why there can be no Slurm here; empty when there can."""
    try:
        place.check(machine.choose()[0], accounting=False)
    except BackendError as error:
        return str(error)
    return ""


@pytest.fixture(scope="package")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """Five nodes, 900 Mbit/s between any two; with a Slurm where one can be."""
    mode, why = machine.choose()
    if mode == "unshaped":
        pytest.skip(str(why))
    names = ["a", "b", "c", "d", "e"]
    document = crossbar({(one, other): RATE for one in names for other in names if one != other})
    for link in document["links"]:
        link["capacity"] = 1e9
    file = tmp_path_factory.mktemp("topology") / "fast.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    root = tmp_path_factory.mktemp("applications")
    launch.up(file, root, with_parent=True, slurm=None if slurm_is_missing() else "slurm")
    yield Grid(root)
    Grid(root).down()


@pytest.fixture(scope="package")
def portal(grid: Grid, tmp_path_factory: pytest.TempPathFactory) -> Portal:
    """Its cluster `grid` is the Grid; `slurm`, where there is one, the Slurm on the same nodes."""
    state = str(grid.directory)
    clusters: list[dict[str, Any]] = [{"name": "grid", "backend": "grid", "state_dir": state}]
    if not slurm_is_missing():
        clusters.append({"name": "slurm", "backend": "slurm", "state_dir": state, "probe": "grid"})
    return Portal(tmp_path_factory.mktemp("home"), grid.directory, clusters=clusters)


@pytest.fixture(params=["grid", "slurm"])
def cluster(request: pytest.FixtureRequest) -> str:
    """Each backend."""
    if request.param == "slurm" and (why := slurm_is_missing()):
        pytest.skip(why)
    name: str = request.param
    return name


@pytest.fixture
def run(portal: Portal) -> Callable[..., tuple[dict[str, Any], list[str]]]:
    """run(application, cluster, ranks, **parameters) -> (the job's story, the lines of its log).

    Registers the application first. The nodes come at random: their order is that of no list.
    """

    def go(fields: dict[str, Any], cluster: str, ranks: int, **parameters: Any) -> tuple[dict[str, Any], list[str]]:
        asking = {"cluster": cluster, "method": "random", "seed": 5}
        job = portal.run(f"""
            known = Application.objects.filter(slug={fields["slug"]!r}).first()
            made = registering.register_application("tests", {fields!r}, known)
            asked = job_spec.JobSpec(made, {parameters!r}, {ranks}, **{asking!r})
            print(submission.submit_job(User.objects.get(username="ada"), asked).pk)
        """)
        story = portal.to_the_end(job, 80)
        log = Path(story["runs"][0]["run_dir"], "output.log") if story["runs"] else None
        return story, log.read_text(encoding="utf-8").splitlines() if log else []

    return go


def need(*programs: str) -> None:
    """Skip where one of `programs` is not installed."""
    if missing := [program for program in programs if not shutil.which(program)]:
        pytest.skip(f"not installed here: {', '.join(missing)}")

"""On an emulated Grid: a traced job leaves a skeleton, by which the next one is placed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gridportal.testbed.client import Grid
from tests.gridportal.testbed.shaped_grid import shaped_grid
from tests.scheduling.portal import Portal
from tests.scheduling.profiles.tracing.conftest import MPICH, need

pytestmark = pytest.mark.grid
NODES = ["a", "b", "c", "d", "e"]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """Five nodes; what is measured of them is much alike, so that any two may be the selection's choice."""
    rates = {(one, other): 30.0 if "e" in (one, other) else 200.0 for one in NODES for other in NODES if one != other}
    with shaped_grid(tmp_path_factory.mktemp("five"), rates) as grid:
        yield grid


def test_the_second_job_tries_three_groups_and_starts_where_the_skeleton_is_fastest(grid, tmp_path, monkeypatch):
    need(MPICH, "gcc")
    monkeypatch.setenv("GRIDPORTAL_TRIAL_SHARE", "100")  # class S takes a second: a tenth of it is no time
    monkeypatch.setenv("GRIDPORTAL_SKELETON_SHARE", "0.5")
    portal = Portal(tmp_path, grid.directory)
    first = portal.submit("nas-cg", 2, {"trace": True, "method": "random"}, **{"class": "S"})
    assert portal.to_the_end(first)["state"] == "succeeded"
    built = portal.run("""
        tasks.build_skeletons()
        from scheduling.models import Skeleton
        row = Skeleton.objects.get()
        print(json.dumps([row.problem.dump(), row.ranks, row.expected, row.seconds]))
    """)
    assert built[:2] == ["", 2]
    assert 0 < built[2] < built[3]
    second = portal.submit("nas-cg", 2, **{"class": "S"})
    story = portal.to_the_end(second)
    assert story["state"] == "succeeded", story
    assert story["events"] == ["queued", "placing", "trial", "starting", "running", "succeeded"]
    placement = portal.run(f"""
        from scheduling.models import Placement
        found = Placement.objects.get(job={second})
        groups = [group.document() for group in found.candidates]
        print(json.dumps(dict(nodes=found.nodes, candidates=groups, trial=found.trial.document())))
    """)
    predicted = [one["skeleton"]["predicted"] for one in placement["candidates"]]
    assert len(predicted) == 3, placement
    assert None not in predicted, placement["candidates"]
    assert predicted == sorted(predicted)
    assert story["nodes"] == [placement["nodes"]] == [placement["candidates"][0]["nodes"]]
    assert 0 < placement["trial"]["spent"] < placement["trial"]["budget"]

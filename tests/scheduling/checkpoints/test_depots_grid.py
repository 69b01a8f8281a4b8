"""On an emulated Grid: a job of the portal stops on two nodes and goes on on three others, by shards in depots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.shaped_grid import shaped_grid
from tests.scheduling.portal import Portal

pytestmark = pytest.mark.grid
NODES = "abcde"


def test_a_job_goes_on_elsewhere_from_shards_that_only_depots_have(tmp_path: Path) -> None:
    rates = {(one, other): 200.0 for one in NODES for other in NODES if one != other}
    place = tmp_path / "grid"
    place.mkdir()
    with shaped_grid(place, rates) as grid:
        eventually(lambda: grid.status()["agents"] == 5, "five agents")
        portal = Portal(tmp_path / "home", grid.directory)
        job = portal.submit("dense-qr", 2, size=1800, block=1)
        portal.run(f"tasks.place_jobs(Job.objects.get(pk={job}).cluster)")
        story: dict[str, Any] = portal.run(f"""
            from scheduling.checkpoints.services import continuing, requesting
            from scheduling.runs.services import job_folder
            job, asked, seen = Job.objects.get(pk={job}), False, set()
            others = sorted(set({NODES!r}) - set(job.runs.get().placement.nodes))
            for _ in looks(150):
                tasks.poll_runs(); continuing.advance_continuations()
                seen |= {{each.name for each in job_folder.checkpoints(job).rglob("*")}}
                if not asked and "maps.json" in seen:
                    asked = True
                    requesting.stop_and_continue(Job.objects.get(pk={job}), by="portal", nodes=others, ranks=3)
                if Job.objects.get(pk={job}).is_final:
                    break
            job = Job.objects.get(pk={job})
            runs = list(job.runs.order_by("number"))
            print(json.dumps(dict(state=job.state, reason=message(job.reason), seen=sorted(seen), others=others,
                nodes=[run.placement.nodes for run in runs], verified=[run.verified for run in runs],
                folders=[run.run_dir for run in runs])))
        """)
        assert story["state"] == "succeeded", story
        assert [len(nodes) for nodes in story["nodes"]] == [2, 3], story
        assert sorted(story["nodes"][1]) == story["others"]
        assert story["verified"][-1] is True
        assert "depots.json" in story["seen"]
        assert not [name for name in story["seen"] if name.endswith(".raw")]
        events = [json.loads(line) for line in Path(story["folders"][1], "progress.jsonl").read_text().splitlines()]
        (restored,) = [event for event in events if event["event"] == "restored"]
        assert restored["bytes"] > 8 * 1800**2
        state = State(grid.directory)
        assert not any(path.is_file() for node in NODES for path in state.depot(node).rglob("*"))

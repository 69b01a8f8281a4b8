"""How fast ranks read from depots over shaped links, in parts of what the links let through."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.shaped_grid import shaped_grid
from tests.gridportal.testbed.test_depots import run

pytestmark = [pytest.mark.bench, pytest.mark.grid]
PROGRAM = "tests.gridportal.runtime.srs.weigh"
RATE = 100.0  # Mbit/s
ELEMENTS = 4_000_000  # 32 MB for each link
LEAST = 0.9
#: From which nodes to which, their layouts, and how many links carry at once what is read.
WAYS = [
    (["a"], ["c"], "block:1", "block:1", 1),
    (["a", "b"], ["c", "d"], "block-cyclic:64:2", "block-cyclic:512:2", 4),
    (["a", "b"], ["c", "d"], "cyclic:2", "block:2", 4),
]


@pytest.mark.timeout(300)
def test_reading_over_shaped_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = {(one, other): RATE for one in "abcd" for other in "abcd" if one != other}
    lines = []
    with shaped_grid(tmp_path, pairs) as grid:
        eventually(lambda: grid.status()["agents"] == 4, "four agents")
        for number, (before, after, old, new, links) in enumerate(WAYS):
            folder = tmp_path / str(number)
            folder.mkdir()
            elements = links * ELEMENTS
            run(grid, f"write-{number}", folder, before, old, str(elements), program=PROGRAM)
            done = run(grid, f"read-{number}", folder, after, new, str(elements), program=PROGRAM)
            assert done["restart"] == 1
            rate = 8 * 8 * elements / done["seconds"]["reading"] / 1e6
            lines.append((f"{old} to {new}, {links} links", rate / (links * RATE)))
    with capsys.disabled():
        sys.stdout.write("\nreading from depots, parts of the links' limit:\n")
        sys.stdout.writelines(f"  {name}: {part:.3f}\n" for name, part in lines)
    assert min(part for _, part in lines) >= LEAST

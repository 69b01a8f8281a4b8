"""How long the Grid takes to come up, to measure itself and to go down: printed, never judged."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from gridportal.testbed import launch
from gridportal.testbed.client import Grid
from tests.gridportal.testbed.conftest import need_namespaces

pytestmark = [pytest.mark.bench, pytest.mark.grid]


def test_how_long_ten_nodes_take_up_probe_and_down(tmp_path: Path) -> None:
    need_namespaces()
    marks = [time.perf_counter()]
    launch.up("crossbar10", tmp_path, with_parent=True)
    marks.append(time.perf_counter())
    report = Grid(tmp_path).probe()
    marks.append(time.perf_counter())
    Grid(tmp_path).down()
    marks.append(time.perf_counter())
    up, probe, down = (later - sooner for sooner, later in pairwise(marks))
    near = sum(abs(pair["bandwidth"] / 100e6 - 1) < 0.1 for pair in report["pairs"])
    report_line = f"up and tested {up:.2f} s, probe {probe:.2f} s ({near} of 90 pairs within 10 %), down {down:.2f} s"
    print(f"\n  crossbar10: {report_line}")  # noqa: T201
    assert len(report["pairs"]) == 90

"""Flow queries on the emulated Grid, against real transfers at the same time."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.network.estimate import link_bandwidths
from gridportal.network.flows import Flow, flow_query
from gridportal.testbed import launch
from gridportal.testbed.client import Grid
from monitoring.telemetry.adapters.grid import GridTelemetry
from monitoring.telemetry.core.figures import Figure, with_figures
from tests.gridportal.testbed.conftest import need_namespaces

pytestmark = pytest.mark.grid
PROGRAM = Path(__file__).with_name("two_streams.py")


@pytest.fixture(scope="module")
def cmu8(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grid]:
    """Real links: three routers, one wider link between two of them."""
    need_namespaces()
    root = tmp_path_factory.mktemp("cmu8")
    launch.up("cmu8", root, with_parent=True)
    yield Grid(root)
    Grid(root).down()


def at_once(grid: Grid, nodes: tuple[str, ...]) -> list[float]:
    """Bit/s of two real streams, from the first node to the third and from the second to the fourth."""
    (run,) = grid.run(nodes, ["mpiexec", sys.executable, str(PROGRAM), "4"])
    assert run["exit_code"] == 0, run["output"]
    (line,) = [line for line in run["output"].splitlines() if line.startswith("[")]
    rates: list[float] = json.loads(line)
    return rates


@pytest.mark.parametrize(
    ("nodes", "binding"),
    [(("m-1", "m-2", "m-4", "m-5"), ("panama", "gibraltar")), (("m-4", "m-5", "m-7", "m-8"), ("gibraltar", "suez"))],
    ids=["a link like the nodes' own", "a wider link"],
)
def test_two_flows_over_one_link_are_told_what_two_real_transfers_get(
    cmu8: Grid, nodes: tuple[str, ...], binding: tuple[str, str]
) -> None:
    """How TCP divides the link between the two moves for seconds, so their mean is compared; a busy machine slows them
    down, so one of three tries must be near."""
    telemetry = GridTelemetry(cmu8)
    pairs = {(pair.source, pair.target): Figure(pair.bandwidth) for pair in telemetry.measure().pairs}
    network = with_figures(telemetry.facts().topology, pairs)
    told = flow_query(network, [Flow(nodes[0], nodes[2]), Flow(nodes[1], nodes[3])])
    assert [rate.binding for rate in told] == [binding] * 2
    expected, sums = sum(rate.bandwidth for rate in told), []
    for _ in range(3):
        sums.append(sum(at_once(cmu8, nodes)))
        if sums[-1] == pytest.approx(expected, rel=0.15):
            return
    raise AssertionError(f"told were {expected}, real ones got {sums}")


def test_a_sweep_finds_what_a_link_behind_slower_ones_has_left(tmp_path: Path) -> None:
    need_namespaces()
    ends = [("a", "s"), ("b", "s"), ("c", "t"), ("d", "t")]
    links = [{"source": one, "target": other, "capacity": 100e6, "bandwidth": 50e6} for one, other in ends]
    links.append({"source": "s", "target": "t", "capacity": 100e6, "bandwidth": 80e6})
    nodes = [*({"id": name} for name in "abcd"), *({"id": name, "kind": "network"} for name in "st")]
    file = tmp_path / "trunk.json"
    file.write_text(json.dumps({"nodes": nodes, "links": links}))
    launch.up(file, tmp_path / "grid", with_parent=True)
    try:
        telemetry = GridTelemetry(Grid(tmp_path / "grid"))
        measured = telemetry.measure()
        found = link_bandwidths(telemetry.facts().topology, measured.pairs, measured.together)
    finally:
        Grid(tmp_path / "grid").down()
    assert found["a", "s"] == pytest.approx(50e6, rel=0.1)
    assert found["s", "t"] == pytest.approx(80e6, rel=0.1)

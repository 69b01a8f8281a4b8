"""QR and LU, simulated: as much work as the algorithms have, faster on more and on faster nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import GridPortalError
from gridportal.network.topology import Link, Node, Topology
from scheduling.performance.core import panel_models
from scheduling.performance.core.grid_messages import GridMessages
from scheduling.performance.core.kernel_rates import KernelRates
from scheduling.performance.core.panel_models import PanelModel, held, model_of

RATES = KernelRates(1e9, 1e9, *[0.0] * 5, fill=1e-9, check=1e-9, sweeps=((1.0, 1e-9),))
QR, LU = (model_of(name, RATES) for name in ("dense-qr", "dense-lu"))


def star(count: int, bandwidth: float = 1e12, cpu: float = 1.0, latency: float = 0.0) -> Topology:
    """So many nodes around one switch."""
    nodes = tuple(Node(f"n{at}", cpu=cpu) for at in range(count))
    links = tuple(Link(node.id, "s", bandwidth, bandwidth, latency) for node in nodes)
    return Topology("star", False, "links", (*nodes, Node("s", "network")), links)


def total(model: PanelModel, size: int, ranks: int, network: Topology | None = None, block: int = 64) -> float:
    nodes = [f"n{at}" for at in range(ranks)]
    phases = model.predict({"size": size, "block": block}, nodes, network or star(ranks))
    return next(each.total or 0.0 for each in phases if each.phase == "panel")


@pytest.mark.parametrize(("model", "share"), [(QR, 4 / 3), (LU, 2 / 3)])
def test_one_rank_does_all_operations(model: PanelModel, share: float) -> None:
    """4/3 n^3 for QR, 2/3 n^3 for LU, and a little for the inner products of blocks."""
    operations = total(model, 4096, 1) * RATES.product
    assert share * 4096**3 < operations < 1.15 * share * 4096**3


@pytest.mark.parametrize("model", [QR, LU])
def test_of_very_many_panels_some_are_simulated(model: PanelModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one column: a person may ask for 100,000 of them."""
    network = replace(star(4), nodes=tuple(replace(each, speed=0.5 + at / 4) for at, each in enumerate(star(4).nodes)))
    few = total(model, 4096, 4, network, block=1)
    phases = model.predict({"size": 100_000, "block": 1}, ["n0", "n1"], star(2))
    assert next(each.count for each in phases if each.phase == "panel") == 100_000
    monkeypatch.setattr(panel_models, "MOST_PANELS", 10**9)
    assert few == pytest.approx(total(model, 4096, 4, network, block=1), rel=0.01)


@given(st.integers(0, 200), st.integers(1, 300), st.integers(1, 40), st.integers(1, 7))
def test_rows_are_dealt_out_as_by_hand(begin: int, more: int, block: int, parts: int) -> None:
    counted = [0] * parts
    for place in range(begin, begin + more):
        counted[place // block % parts] += 1
    assert held(begin, begin + more, block, parts).tolist() == counted


@pytest.mark.parametrize("model", [QR, LU])
def test_more_ranks_over_fast_links_take_less_time(model: PanelModel) -> None:
    seconds = [total(model, 4096, ranks) for ranks in (1, 4, 16)]
    assert seconds[0] > 3 * seconds[1] > 6 * seconds[2]


@pytest.mark.parametrize("model", [QR, LU])
def test_the_slowest_node_decides(model: PanelModel) -> None:
    network = star(4)
    slow = replace(network, nodes=(replace(network.nodes[0], cpu=0.1), *network.nodes[1:]))
    every = total(model, 2048, 4, star(4, cpu=0.1))
    assert 0.85 * every < total(model, 2048, 4, slow) <= every
    assert total(model, 2048, 4) < 0.2 * every


@pytest.mark.parametrize("model", [QR, LU])
@given(st.floats(1e6, 1e10), st.floats(1.0, 20))
def test_thinner_links_never_help(model: PanelModel, bandwidth: float, factor: float) -> None:
    thin, wide = (total(model, 512, 6, star(6, each)) for each in (bandwidth, bandwidth * factor))
    assert wide <= thin * (1 + 1e-9)


def test_steps_become_shorter_and_the_last_is_a_part_of_one() -> None:
    phases = QR.predict({"size": 1000, "block": 64}, ["n0", "n1", "n2", "n3"], star(4))
    panel = next(each for each in phases if each.phase == "panel")
    assert panel.count == len(panel.seconds) == 16
    assert list(panel.seconds) == sorted(panel.seconds, reverse=True)
    assert [each.phase for each in phases] == ["init", "panel", "solve", "verify"]


def test_messages_of_one_round_share_their_links() -> None:
    """Two rows send over one thin link at once: each has half of it."""
    nodes = [*(Node(name) for name in "abcd"), Node("s", "network"), Node("t", "network")]
    wide = [Link(a, b, 1e12, 1e12) for a, b in (("a", "s"), ("c", "s"), ("b", "t"), ("d", "t"))]
    network = Topology("two", False, "links", tuple(nodes), (*wide, Link("s", "t", 8e6, 8e6)))
    rows_apart = GridMessages(network, ["a", "b", "c", "d"], 2, 2)
    assert rows_apart.row_broadcast(0).per_byte == pytest.approx(2e-6)
    assert GridMessages(network, ["a", "b"], 1, 2).row_broadcast(1).per_byte == pytest.approx(1e-6)
    assert GridMessages(network, ["a"], 1, 1).column_sum([0]).of(1e9) == 0.0


@pytest.mark.parametrize(
    ("parameters", "nodes"),
    [({"size": "x", "block": 64}, ["n0"]), ({"size": 100}, ["n0"]), ({"size": 100, "block": 64}, ["m7"])],
)
def test_what_it_cannot_predict_is_said(parameters: dict[str, object], nodes: list[str]) -> None:
    with pytest.raises(GridPortalError, match=r"size|block|node"):
        QR.predict(parameters, nodes, star(1))

"""The output of ibnetdiscover becomes the fabric that it describes; what is wrong with it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.network.flows import Flow, flow_query
from gridportal.network.importers import read

FABRIC = (Path(__file__).parent / "fabric.ibnetdiscover").read_text(encoding="utf-8")


def problems(text: str) -> list[str]:
    return [str(problem) for problem in read(text, "fabric").problems]


def test_hosts_and_switches_have_their_names_and_cables_their_data_rate() -> None:
    fabric = read(FABRIC, "fabric").believed()
    assert [node.id for node in fabric.compute_nodes()] == [f"node0{i}" for i in range(1, 9)]
    assert {node.id for node in fabric.nodes if node.kind == "network"} == {
        "ib-leaf01",
        "ib-leaf02",
        "ib-spine01",
        "ib-spine02",
    }
    peaks = {frozenset((link.source, link.target)): link.capacity for link in fabric.links}
    assert peaks[frozenset(("node01", "ib-leaf01"))] == 200e9
    assert peaks[frozenset(("node08", "ib-leaf02"))] == 100e9, "two lanes only"
    assert peaks[frozenset(("ib-leaf01", "ib-spine02"))] == 400e9, "two cables side by side"
    assert len(fabric.links) == 8 + 4


def test_flow_queries_work_on_a_fabric() -> None:
    fabric = read(FABRIC, "fabric").believed()
    one, other = flow_query(fabric, [Flow("node01", "node08"), Flow("node02", "node05")])
    assert (one.bandwidth, one.binding, one.several) == (100e9, ("ib-leaf02", "node08"), True)
    assert other.bandwidth == 200e9


def test_older_generations_lose_their_encoding() -> None:
    assert read(FABRIC.replace("4xHDR", "4xQDR"), "f").believed().links[0].capacity == 32e9
    assert read(FABRIC.replace("4xHDR", "4xFDR"), "f").believed().links[0].capacity == pytest.approx(54.545e9, rel=1e-4)


def test_a_cable_without_speed_is_named_and_not_guessed() -> None:
    text = FABRIC.replace(" lid 10 4xHDR", " lid 10").replace(
        'lid 10 lmc 0 "MF0;ib-leaf01:MQM8700/U1" lid 3 4xHDR', 'lid 10 lmc 0 "MF0;ib-leaf01:MQM8700/U1" lid 3'
    )
    assert "no capacity is known of the link ib-leaf01 - node01." in problems(text)[-1]
    assert read(text, "fabric", capacity=1e9).topology is not None


def test_ends_that_disagree_are_named() -> None:
    (said,) = problems(FABRIC.replace(" lid 11 4xHDR", " lid 11 4xEDR"))
    assert said.startswith("A cable runs at 4xEDR at one end")


def test_a_host_whose_name_no_address_can_hold_is_named() -> None:
    (said,) = problems(FABRIC.replace('# "node03 mlx5_0"\n', '# "rack/node03 mlx5_0"\n'))
    assert said == "node is 'rack/node03'; accepted is a name of printable characters without /."


def test_a_host_without_a_name_is_named_by_its_guid_and_its_line() -> None:
    text = FABRIC.replace('# "node03 mlx5_0"\n', '# "MT4123 ConnectX6 Mellanox Technologies"\n')
    (said,) = problems(text)
    assert "the description of H-b8cef60300000120 says 'MT4123 ConnectX6 Mellanox Technologies'" in said


def test_a_host_with_two_cards_is_one_node_with_two_wires() -> None:
    fabric = read(FABRIC.replace('"node05 mlx5_0"', '"node01 mlx5_1"'), "fabric").believed()
    assert len(fabric.compute_nodes()) == 7
    assert sorted(x.source for x in fabric.links if "node01" in (x.source, x.target)) == ["ib-leaf01", "ib-leaf02"]


def test_a_cable_to_a_node_that_is_not_there_and_a_speed_of_nobodys_are_named() -> None:
    text = FABRIC.replace('"S-b8cef603000000b1"[1]', '"S-ffff"[1]').replace("2xHDR", "4xZDR")
    said = problems(text)
    assert any("the cable leads to S-ffff, which has no block." in one for one in said)
    assert any("is 'ZDR'; accepted is one of the speeds SDR" in one for one in said)

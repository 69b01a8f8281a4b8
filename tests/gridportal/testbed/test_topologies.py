"""The topologies that ship are those of the papers."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from gridportal.network import topology_files
from gridportal.testbed import hops, layout, topologies


def test_crossbar10_gives_each_ordered_pair_of_ten_nodes_100_mbit_of_its_own() -> None:
    found = topology_files.load(topologies.find("crossbar10"))
    assert [node.id for node in found.compute_nodes()] == [f"n{i}" for i in range(1, 11)]
    assert found.kind == "pairs"
    assert found.directed
    assert len({(link.source, link.target) for link in found.links}) == 90
    assert {link.capacity for link in found.links} == {100e6}


def test_cmu8_has_one_link_of_155_mbit_between_gibraltar_and_suez() -> None:
    found = topology_files.load(topologies.find("cmu8"))
    assert {link.capacity for link in found.links} == {100e6, 155e6}
    fast = [link for link in found.links if link.capacity == 155e6]
    assert [{link.source, link.target} for link in fast] == [{"gibraltar", "suez"}]
    assert {node.id for node in found.nodes if node.kind == "network"} == {"panama", "suez", "gibraltar"}


def test_traffic_from_m6_to_m8_leaves_four_nodes_whose_links_it_does_not_cross() -> None:
    plan = layout.plan(topology_files.load(topologies.find("cmu8")))
    busy = set(hops.path(plan, "m-6", "m-8"))
    chosen = ("m-1", "m-2", "m-4", "m-5")
    used = {link for a in chosen for b in chosen if a != b for link in hops.path(plan, a, b)}
    assert not busy & used


def test_grads_has_two_clusters_of_unlike_speed_and_a_slow_link_between_them() -> None:
    found = topology_files.load(topologies.find("grads"))
    speeds = {node.labels["cluster"]: node.speed for node in found.compute_nodes()}
    assert speeds["opus"] / speeds["msc"] == pytest.approx(450 / 933, rel=1e-3)
    plan = layout.plan(found)
    assert [hops.path(plan, "msc1", to) for to in ("msc2", "opus1")] == [
        [("msc1", "msc-switch"), ("msc-switch", "msc2")],
        [("msc1", "msc-switch"), ("msc-switch", "internet"), ("internet", "opus-switch"), ("opus-switch", "opus1")],
    ]
    wide = [link.capacity for link in found.links if "internet" in (link.source, link.target)]
    assert max(wide) < min(link.capacity for link in found.links if link.capacity not in wide)


def test_a_topology_that_does_not_ship_and_is_no_file_is_named_with_those_that_do() -> None:
    with pytest.raises(InputError, match=r"nowhere.*cactus, cmu8, crossbar10, grads, grads-whole, smp6"):
        topologies.find("nowhere")


def test_a_file_in_a_folder_that_may_not_be_read_is_a_sentence(tmp_path, monkeypatch):
    import os

    real, closed = os.stat, tmp_path / "mine.json"

    def forbidden(path, *args, **options):
        if os.fspath(path) == str(closed):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    monkeypatch.setattr(os, "stat", forbidden)
    with pytest.raises(InputError, match=r"^topology is '.*mine\.json'; accepted is a readable file"):
        topology_files.load(topologies.find(closed))

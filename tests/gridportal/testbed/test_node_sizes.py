"""How large nodes are by their labels, and what is no such label."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from gridportal.network import topology_files
from gridportal.network.topology import Node
from gridportal.testbed import topologies
from gridportal.testbed.layout import plan
from gridportal.testbed.node_limits import NodeLimits
from gridportal.testbed.node_sizes import size_of
from gridportal.testbed.process_owners import Census


def test_smp6_has_nodes_of_two_and_of_four_processors_and_the_others_have_one() -> None:
    cpus = {name: plan(topology_files.load(topologies.find(name))).cpus for name in topologies.names()}
    assert cpus.pop("smp6") == {"duo1": 2, "duo2": 2, "quad1": 4, "duo3": 2, "duo4": 2, "quad2": 4}
    assert [node for node, count in cpus.pop("cactus").items() if count == 2] == ["torc1", "torc3", "torc5", "torc6"]
    assert set(cpus.pop("grads-whole").values()) == {1, 2}
    assert {count for found in cpus.values() for count in found.values()} == {1}


@pytest.mark.parametrize(
    ("label", "value"),
    [("cpus", "many"), ("cpus", "0"), ("cpus", "1.5"), ("cpus", "nan"), ("mem_gb", "0"), ("mem_gb", "x")],
)
def test_a_label_that_is_no_amount_is_named_with_its_node(label: str, value: str) -> None:
    with pytest.raises(InputError, match=f"{label} of n1 is '?{value}"):
        size_of(Node("n1", labels={label: value}))


def test_the_load_of_a_node_is_for_each_of_its_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    census = Census("/grid", {"duo": 2, "one": 1}, {}, [])
    monkeypatch.setattr(census, "_others", lambda: [1, 2, 3])
    monkeypatch.setattr(census, "node_of", lambda pid: "one" if pid == 3 else "duo")
    monkeypatch.setattr("gridportal.testbed.kernel.stat_fields", lambda _: ["R"])
    census.sample(1000.0)
    assert (census.runnable, census.load) == ({"duo": 2, "one": 1}, {"duo": 1.0, "one": 1.0})
    assert (census.cpu("duo"), census.cpu("one")) == (0.5, 0.5)


def test_the_smallest_node_bounds_what_a_run_may_take_on_each() -> None:
    limits = NodeLimits(2**30, 100, less_memory={"n2": 2**28})
    assert (limits.memory_on(["n1"]), limits.memory_on(["n1", "n2"])) == (2**30, 2**28)
    assert limits.view() == {"memory": 2**30, "processes": 100}

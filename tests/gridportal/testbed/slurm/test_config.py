"""Slurm's files for a Grid: pure text from its layout."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gridportal.base.errors import InputError
from gridportal.network import topology, topology_files
from gridportal.testbed import topologies
from gridportal.testbed.layout import Layout, plan
from gridportal.testbed.slurm import config, prolog, switches, wires

GOLDEN = Path(__file__).parent / "golden"


def layout(**labels: Any) -> Layout:
    """Two nodes on a switch; `labels` are the second one's."""
    document = {
        "nodes": [
            {"id": "a1", "site": "utk", "rack": 7},
            {"id": "b1", "site": "uiuc", **labels},
            {"id": "sw", "kind": "network"},
        ],
        "links": [{"source": name, "target": "sw", "capacity": 1e8} for name in ("a1", "b1")],
    }
    return plan(topology.parse(document))


@pytest.mark.parametrize("accounting", [False, True])
def test_slurm_conf_is_the_golden_one(accounting: bool) -> None:
    settings = config.SlurmSettings(accounting=accounting, first_job_id=4711, min_job_age=30)
    found = config.slurm_conf(layout(gres="gpu:2", memory=256 * 2**20, cpus=1), settings)
    assert found == (GOLDEN / f"slurm{'-accounting' if accounting else ''}.conf").read_text()


def test_switches_become_the_leaves_of_a_tree_with_the_narrowest_link_between_them_on_top() -> None:
    found = switches.topology_conf(plan(topology_files.load(topologies.find("grads"))))
    assert found.splitlines() == [
        "SwitchName=msc-switch Nodes=msc1,msc2,msc3,msc4 LinkSpeed=100",
        "SwitchName=opus-switch Nodes=opus1,opus2,opus3,opus4,opus5,opus6,opus7,opus8 LinkSpeed=1280",
        "SwitchName=top Switches=msc-switch,opus-switch LinkSpeed=20",
    ]


def test_a_crossbar_has_no_switches_to_tell_of() -> None:
    assert switches.topology_conf(plan(topology_files.load(topologies.find("crossbar10")))) == ""


def test_slurmdbd_conf_names_the_database_that_only_the_fabric_reaches() -> None:
    assert "StorageHost=127.0.0.1\n" in config.slurmdbd_conf()


def test_gres_are_counted_where_a_label_says_so() -> None:
    assert config.gres_conf(layout()) == ""
    assert config.gres_conf(layout(gres="gpu:2")) == "NodeName=b1 Name=gpu File=/etc/slurm/gres/gpu[0-1]\n"
    assert config.gres_files(layout(gres="gpu:2")) == {"gpu0", "gpu1"}


@pytest.mark.parametrize(
    ("label", "value"),
    [("gres", "g p u"), ("gres", "gpu:many"), ("gres", "gpu:0"), ("memory", "much"), ("memory", 0.5)],
)
def test_a_label_that_slurm_cannot_take_is_named(label: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{label} of b1"):
        config.slurm_conf(layout(**{label: value}), config.SlurmSettings())


def test_a_node_with_the_name_of_slurmctlds_host_is_refused() -> None:
    with pytest.raises(InputError, match="fabric"):
        config.slurm_conf(plan(topology.parse({"nodes": [{"id": "fabric"}], "links": []})), config.SlurmSettings())


def run_prolog(text: str, tmp_path: Path, path: str) -> list[str]:
    """What Slurm would read from a prolog."""
    script = tmp_path / "prolog"
    script.write_text(text)
    env = {"PATH": path, "SLURMD_NODENAME": "n7"}
    return subprocess.run(["/bin/sh", script], env=env, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_prolog_prints_every_variable_and_leaves_a_path_that_has_the_programs(tmp_path: Path) -> None:
    text = prolog.task_prolog("/opt/b in", {"A": "it's $HOME", "UCX_TLS": "tcp,self"}, {})
    exports = ["export GRIDPORTAL_NODE=n7", "export A=it's $HOME", "export UCX_TLS=tcp,self"]
    assert run_prolog(text, tmp_path, "/bin:/usr/bin") == ["export PATH=/opt/b in:/bin:/usr/bin", *exports]
    assert run_prolog(text, tmp_path, "/bin:/usr/bin:/opt/b in") == exports


def test_a_node_has_no_address_on_the_control_network_and_one_way_to_the_fabric_alone() -> None:
    plan = layout()
    for index, name in enumerate(plan.addresses):
        lines = wires.node_lines(plan, name, index)
        assert not [line for line in lines if line.startswith("addr")]
        routes = [line.split()[2] for line in lines if line.startswith("route")]
        assert routes == [f"{config.CONTROL_ADDRESS}/32"]

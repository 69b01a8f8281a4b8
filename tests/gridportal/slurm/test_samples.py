"""Slurm's nodes as samples of telemetry: recorded answers, a thousand nodes, and a real Slurm."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.nodes import SlurmNode, decode_nodes, parse_nodes
from monitoring.telemetry.adapters.slurm_samples import SlurmSamples, figures, gres

NODE = SlurmNode(
    "n1",
    "n1",
    "n1",
    "MIXED",
    cpus=4,
    allocated_cpus=2,
    cpu_load=6.0,
    memory=8 * 2**30,
    free_memory=2**30,
    gres="gpu:a100:2(S:0-1),gpu:h100:1,nic:1",
    gres_used="gpu:a100:1(IDX:0),gpu:h100:0(IDX:N/A),nic:0",
)


def recorded(version: str) -> Any:
    path = Path(__file__).with_name("data") / f"{version}.json"
    return json.loads(path.read_text(encoding="utf-8"))["nodes"]


def test_a_node_tells_load_memory_processors_and_gres():
    assert dict(figures(NODE)) == {
        "usable": 1.0,
        "cpus": 4.0,
        "cpus_allocated": 2.0,
        "memory_total": 8.0 * 2**30,
        "memory_free": 2.0**30,
        "load": 1.5,
        "cpu": pytest.approx(0.4),
        "gres_gpu": 3.0,
        "gres_nic": 1.0,
        "gres_used_gpu": 1.0,
        "gres_used_nic": 0.0,
    }


def test_what_a_node_does_not_tell_is_no_sample_and_never_zero():
    mute = replace(NODE, cpu_load=None, free_memory=None, memory=None, gres="(null)", gres_used="")
    assert dict(figures(mute)) == {"usable": 1.0, "cpus": 4.0, "cpus_allocated": 2.0}


@pytest.mark.parametrize(
    ("state", "flags"), [("DOWN", ()), ("IDLE", ("NOT_RESPONDING",)), ("IDLE", ("POWERED_DOWN",)), ("UNKNOWN", ())]
)
def test_the_load_of_a_node_that_does_not_respond_is_unknown(state, flags):
    told = dict(figures(replace(NODE, state=state, flags=flags)))
    assert not {"cpu", "load", "memory_free"} & set(told)
    assert told["memory_total"] == 8.0 * 2**30


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("gpu", {"gpu": 1}),
        ("gpu:4", {"gpu": 4}),
        ("gpu:tesla:2,gpu:kepler:1", {"gpu": 3}),
        ("gpu:h100:8(IDX:0-3,5)", {"gpu": 8}),
        ("shard:nvidia_a100:2K", {"shard": 2048}),
        ("gpu:no_consume:4", {"gpu": 4}),
        ("craynetwork:4(S:0),gpu:2(S:0,1)", {"craynetwork": 4, "gpu": 2}),
        ("::,(),gpu::", {}),
    ],
)
def test_generic_resources_are_counted_over_their_types(text, counts):
    assert gres(text) == counts


@pytest.mark.parametrize("version", ["24.05", "25.05"])
def test_recorded_clusters_tell_every_node_without_loss(version):
    nodes = decode_nodes(recorded(version))
    for node in nodes:  # names are not unique in these recordings
        found = SlurmSamples(lambda node=node: [node]).collect(5.0).samples
        assert {(sample.subject, sample.at) for sample in found} == {(node.name, 5.0)}
        values = {sample.metric: sample.value for sample in found}
        assert values["usable"] == node.usable
        assert values["memory_total"] == node.memory
        assert values.get("gres_gpu") == (4.0 if "gpu" in node.gres else None)
        if node.state != "DOWN":
            assert values["load"] == pytest.approx((node.cpu_load or 0.0) / max(1, node.cpus))


def test_a_thousand_nodes_are_one_question():
    line = (
        "NodeName=n{0} CPUAlloc=1 CPUTot=8 CPULoad=0.80 AvailableFeatures=ib,hdr ActiveFeatures=ib,hdr Gres=gpu:2 "
        "NodeAddr=n{0} NodeHostName=n{0} RealMemory=64000 FreeMem=32000 State=MIXED Partitions=debug"
    )
    asked = []

    def ask() -> list[SlurmNode]:
        asked.append(1)
        return parse_nodes("\n".join(line.format(number) for number in range(1000)))

    found = SlurmSamples(ask).collect(1.0).samples
    assert len(asked) == 1
    loads = [sample.value for sample in found if sample.metric == "load"]
    assert loads == [pytest.approx(0.1)] * 1000
    assert {s.value for s in found if s.metric == "memory_free"} == {32000.0 * 2**20}


def test_where_a_grid_below_measures_loads_slurm_leaves_them_to_it():
    metrics = {sample.metric for sample in SlurmSamples(lambda: [NODE], loads=False).collect(1.0).samples}
    assert not {"cpu", "load"} & metrics
    assert {"memory_free", "usable"} <= metrics


@pytest.mark.slurm
def test_a_real_slurm_tells_its_nodes(real: SlurmBackend):
    values = {(s.subject, s.metric): s.value for s in SlurmSamples(real.describe_nodes).collect(1.0).samples}
    names = {node.name for node in real.describe_nodes()}
    assert {subject for subject, _ in values} == names
    assert names
    for name in names:
        assert values[name, "usable"] == 1.0
        assert values[name, "cpus"] >= 1
        assert values[name, "memory_total"] > 0

"""The setting that names the clusters: what it accepts, and the one sentence for what it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gridportal.base.clusters import Cluster, account, parse
from gridportal.base.errors import InputError


def test_unset_there_is_one_emulated_grid() -> None:
    (only,) = parse("").values()
    assert (only.name, only.backend, only.traits.has_queue, only.busy_default) == ("grid", "grid", False, "again")


def test_several_clusters_keep_their_order_and_the_first_is_the_default() -> None:
    found = parse('[{"name": "hpc", "backend": "slurm"}, {"name": "grid", "backend": "grid"}]')
    assert list(found) == ["hpc", "grid"]
    assert (found["hpc"].traits.has_queue, found["hpc"].busy_default) == (True, "wait")


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "clusters.json"
    file.write_text(json.dumps([{"name": "a", "backend": "slurm", "runs": str(tmp_path)}]))
    assert parse(f"@{file}")["a"].runs == tmp_path


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[", "line 1"),
        ("{}", "a JSON list"),
        ("[]", "a JSON list"),
        ("[1]", r"\[0\]"),
        ('[{"name": "a"}]', r"\[0\]\.backend"),
        ('[{"name": "a", "backend": "pbs"}]', "one of grid, slurm"),
        ('[{"name": "A b", "backend": "slurm"}]', "small letters"),
        ('[{"name": "a", "backend": "slurm", "agents": "node1:7780", "agent_key": "/k"}]', "{node}"),
        ('[{"name": "a", "backend": "slurm", "agents": "{node}:7780"}]', "agent_key"),
        ('[{"name": "a", "backend": "slurm", "depots": "{node}:7782"}]', "agents says where"),
        ('[{"name": "a", "backend": "slurm", "checkpoints": "tape"}]', "checkpoints"),
        ('[{"name": "a", "backend": "slurm", "depot_copies": 3}]', "depot_copies"),
        ('[{"name": "a", "backend": "slurm", "probe": "agents"}]', "probe agents needs agents"),
        ('[{"name": "a", "backend": "slurm"}, {"name": "a", "backend": "grid"}]', "no other cluster"),
        ('[{"name": "a", "backend": "slurm", "color": 1}]', "color"),
        ('[{"name": "a", "backend": "slurm", "busy": "never"}]', "busy"),
        ('[{"name": "a", "backend": "slurm", "timeout": 0}]', "timeout"),
        ('[{"name": "a", "backend": "slurm", "probe": "grid"}]', "state_dir"),
        ('[{"name": "a", "backend": "slurm", "read_prefix": ["sudo", "-u", "{user}"]}]', "no {user}"),
        ('[{"name": "a", "backend": "slurm", "environment": {"A B": "x"}}]', "variables"),
        ('[{"name": "a", "backend": "local", "share_nodes": true}]', "several cpus"),
        ("@/nowhere/at/all", "can be read"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named) as caught:
        parse(text)
    said = str(caught.value)
    assert said.startswith("GRIDPORTAL_CLUSTERS")
    assert "\n" not in said
    assert said.endswith(".")


def test_jobs_run_as_the_person_who_submitted_and_questions_as_the_portal() -> None:
    hpc = Cluster(name="hpc", backend="slurm", prefix=("sudo", "-n", "-u", "{user}"))
    assert hpc.prefix_for("ann") == ("sudo", "-n", "-u", "ann")
    assert hpc.asking_prefix == ()
    assert Cluster(name="hpc", backend="slurm", prefix=("ssh", "login")).asking_prefix == ("ssh", "login")


@pytest.mark.parametrize("name", ["root", "", "-u", "Ann", "a b", "a;b", "x" * 33, "ann\n", "ånn", "0day", "../a"])
def test_a_name_that_is_no_plain_users_never_reaches_a_command(name: str) -> None:
    with pytest.raises(InputError, match="user name"):
        account(name)

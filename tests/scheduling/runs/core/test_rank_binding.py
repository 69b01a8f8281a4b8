"""Ranks of a node on processors of their own: the program that sees to it, run by a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gridportal.base import run_files
from scheduling.runs.core import rank_binding

ALLOWED = sorted(os.sched_getaffinity(0))
NODES = ("n1", "n2", "n1", "n1")
SHOW = ["sed", "-n", "s/^Cpus_allowed_list:[[:space:]]*//p", "/proc/self/status"]


def bound(folder: Path, nodes: tuple[str, ...], **environment: str) -> set[int]:
    """The processors of a rank that the program has started."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["bash", "-c", rank_binding.program(nodes, str(folder))], check=True, timeout=20)
    argv = ["bash", str(folder / run_files.RANK_BINDING), *SHOW]
    env = {"PATH": os.environ["PATH"], **environment}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True, timeout=20)
    found = set()
    for part in done.stdout.strip().split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.fixture
def node() -> dict[str, str]:
    """What Slurm says on a node where the job has just what it may use."""
    if shutil.which("taskset") is None:
        pytest.skip("taskset of util-linux is not installed here")
    return {"SLURM_CPUS_ON_NODE": str(len(ALLOWED))}


@pytest.mark.parametrize("name", ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"])
def test_ranks_of_a_node_share_its_processors_out(tmp_path: Path, node: dict[str, str], name: str) -> None:
    ranks = {
        rank: bound(tmp_path / "it's a run", ("n1", "n2", "n1"), **node, **{name: str(rank)}) for rank in (0, 1, 2)
    }
    assert ranks[1] == set(ALLOWED)
    if len(ALLOWED) < 2:
        assert ranks[0] == ranks[2] == set(ALLOWED)
        return
    assert not ranks[0] & ranks[2]
    assert len(ranks[0]) == len(ranks[2]) == len(ALLOWED) // 2


def test_more_ranks_than_processors_are_not_bound(tmp_path: Path, node: dict[str, str]) -> None:
    assert bound(tmp_path, ("n1",) * (len(ALLOWED) + 1), **node, PMI_RANK="0") == set(ALLOWED)


def test_nothing_is_bound_where_a_job_may_use_more_than_it_was_given(tmp_path: Path, node: dict[str, str]) -> None:
    assert bound(tmp_path, NODES, PMI_RANK="0") == set(ALLOWED)
    assert bound(tmp_path, NODES, PMI_RANK="0", SLURM_CPUS_ON_NODE=str(len(ALLOWED) - 1)) == set(ALLOWED)
    assert bound(tmp_path, NODES, **node) == set(ALLOWED)  # a program without a rank

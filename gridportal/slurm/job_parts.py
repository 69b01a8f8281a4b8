"""A job whose nodes have unlike numbers of ranks, in parts that have like ones: a heterogeneous job of Slurm's."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.rank_places import ranks_by_node

#: Between the parts of a job on sbatch's command line.
NEXT_PART = ":"
#: Slurm takes no job of more parts (MAX_HET_JOB_COMPS).
MOST_PARTS = 128
#: Lines of the launcher: each part has nodes of its own, and an srun is told in which part a node is, and how many
#: processors all ranks of a node have there: told nothing, it takes one for the task that starts them.
_PARTS = """\
case $node in
{cases}
esac
# Open MPI's words are for the shell that ssh would have had.
[[ "$*" == " "* || "$*" == *";"* ]] && words=(bash -c "$*")
"""
#: Open MPI knows the nodes of the first part alone: it is to take them from its file of hosts, and to start its daemons
#: as over ssh, by what mpiexec starts its proxies with. PRRTE is what starts them for Open MPI 5.
OVER_SSH = """\
export OMPI_MCA_ras=^slurm OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_no_tree_spawn=1
export OMPI_MCA_plm_rsh_agent="$HYDRA_LAUNCHER_EXEC"
export PRTE_MCA_ras=^slurm PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_no_tree_spawn=1
export PRTE_MCA_plm_ssh_agent="$HYDRA_LAUNCHER_EXEC"
"""


def job_parts(nodes: Sequence[str]) -> list[list[str]]:
    """The nodes of these ranks in parts with one number of ranks a node each, that of rank 0 first.

    >>> job_parts(["n2", "n1", "n2", "n3", "n2"])
    [['n2'], ['n1', 'n3']]
    """
    parts: dict[int, list[str]] = {}
    for node, count in ranks_by_node(nodes).items():
        parts.setdefault(count, []).append(node)
    return list(parts.values())


def part_of_node(nodes: Sequence[str], parts: Sequence[Sequence[str]], cpus_per_rank: int) -> str:
    """The lines of the launcher that say in which part of the job a node is, and how many processors its ranks have."""
    if len(parts) < 2:
        return ""
    ranks = ranks_by_node(nodes)
    cases = (
        f"  {'|'.join(part)}) part={number} cpus={ranks[part[0]] * cpus_per_rank} ;;"
        for number, part in enumerate(parts)
    )
    return _PARTS.format(cases="\n".join(cases))

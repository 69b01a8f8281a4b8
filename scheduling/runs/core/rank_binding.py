"""The bash program that gives each of several ranks on a node processors of its own, whatever MPI has started it.

Launchers that bind ranks go by a node's first processors, or by what Slurm knows of a step of one task; neither are the
job's own where it shares a node, or where a daemon starts all ranks of a node. So the rank itself takes its part of
what its node lets it use, and nothing where that is more than the job was given: then nobody keeps jobs apart there.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gridportal.base import run_files
from gridportal.base.rank_order import ranks_before
from gridportal.base.rank_places import ranks_by_node

_PROGRAM = """\
# Several ranks of a node: each on processors of its own.
cat > {file} << 'END_OF_BINDING'
#!/bin/bash
# Runs a rank on its part of the processors that its node gives this job, the threads of a core side by side.
rank=${{OMPI_COMM_WORLD_RANK:-${{PMIX_RANK:-${{PMI_RANK:-${{SLURM_PROCID:-}}}}}}}}
before=({before}) there=({there})
may_use() {{
  while IFS=- read -r first last; do
    for ((cpu = first; cpu <= ${{last:-first}}; cpu++)); do
      topology=/sys/devices/system/cpu/cpu$cpu/topology package=0 core=$cpu
      if [ -r $topology/core_id ]; then
        read -r package < $topology/physical_package_id
        read -r core < $topology/core_id
      fi
      echo "$package $core $cpu"
    done
  done < <(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , '\\n')
}}
if [ -n "$rank" ] && command -v taskset > /dev/null; then
  mapfile -t cpus < <(may_use | sort -n -k 1,1 -k 2,2 -k 3,3 | cut -d ' ' -f 3)
  share=$((${{#cpus[@]}} / ${{there[rank]:-1}}))
  if [ "$share" -ge 1 ] && [ "${{#cpus[@]}}" -le "${{SLURM_CPUS_ON_NODE:-0}}" ]; then
    mine=$(IFS=,; echo "${{cpus[*]:before[rank] * share:share}}")
    exec taskset -c "$mine" "$@"
  fi
fi
exec "$@"
END_OF_BINDING
# What launchers bind by themselves would be in the way.
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none

"""


def program(nodes: Sequence[str], run_dir: str) -> str:
    """The lines of a batch script that write the program for these nodes, rank by rank, into the run directory."""
    counts = ranks_by_node(nodes)
    return _PROGRAM.format(
        file=shlex.quote(path(run_dir)),
        before=" ".join(map(str, ranks_before(nodes))),
        there=" ".join(str(counts[node]) for node in nodes),
    )


def path(run_dir: str) -> str:
    """Where it lies."""
    return f"{run_dir}/{run_files.RANK_BINDING}"

"""What is handed to sbatch: its argument list and the script on its standard input. Both are pure functions."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gridportal.base import run_files
from gridportal.base.batch_system import RunSpec
from gridportal.base.errors import BackendError, InputError
from gridportal.base.job_options import JobOptions
from gridportal.base.rank_order import is_even
from gridportal.base.rank_places import ranks_by_node
from gridportal.slurm.job_parts import MOST_PARTS, NEXT_PART, OVER_SSH, job_parts, part_of_node
from gridportal.slurm.values import when

#: Options of SlurmOptions and of sbatch that are a text and have the same name.
_TEXTS = ("partition", "account", "qos", "reservation", "constraint", "gres", "licenses", "dependency")
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: A resource and how many of it, as gpu, gpu:2, gpu:a100:2 or disk:4K.
_COUNTED = re.compile(r"(?P<name>[^:]+(?::[A-Za-z][^:]*)?)(?::(?P<count>\d+)(?P<unit>[KMGTPkmgtp]?))?")

# The end of this attempt: a limit may have been changed since, or be the partition's own.
_ENDS = """\
ends=${{SLURM_JOB_END_TIME:-}}
if [ -z "$ends" ]; then
  ends=$(SLURM_TIME_FORMAT=%s timeout 20 squeue --noheader --jobs="$SLURM_JOB_ID" --format=%e 2> /dev/null | head -n 1)
fi
case ${{ends:-unknown}} in
  unknown) {unknown} ;;
  *[!0-9]*) unset {variable} ;;
  *) export {variable}="$ends" ;;
esac
"""
# mpiexec's own Slurm launcher starts all proxies with one srun, and srun numbers them in Slurm's order of the
# nodes: ranks would not run where they were placed. One srun for each node keeps the order.
_PREAMBLE = """\
unset LC_ALL SLURM_TIME_FORMAT SLURM_EXPORT_ENV
export SLURM_HOSTFILE={hosts} SLURM_DISTRIBUTION=arbitrary
printf '%s\\n' {nodes} > "$SLURM_HOSTFILE"
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC={launcher}
cat > "$HYDRA_LAUNCHER_EXEC" << 'END_OF_LAUNCHER'
#!/bin/bash
# mpiexec calls this as: {name} [-x] NODE COMMAND...
while [[ $1 == -* ]]; do shift; done
node=$1
shift
unset SLURM_HOSTFILE SLURM_DISTRIBUTION SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE
# Of its words mpiexec has quoted the program's path, for the shell that ssh would have had at the other end.
words=()
for word in "$@"; do
  [[ $word == \\"*\\" ]] && word=${{word:1:-1}}
  words+=("$word")
done
{whole}exec srun --quiet --overlap --nodes=1 --ntasks=1{more} --nodelist="$node" --mpi=none --input=none "${{words[@]}}"
END_OF_LAUNCHER
chmod +x "$HYDRA_LAUNCHER_EXEC"
"""
#: Where a node has several ranks or threads: what this starts is all of its ranks.
_WHOLE = """\
# All ranks of the node are started by this: it has all that the job has there.
unset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK SLURM_CPU_BIND
"""
# mpiexec splits this name at spaces: where the run directory has some, the launcher is found on PATH.
_SPACED = 'export HYDRA_LAUNCHER_EXEC={launcher} PATH="$PATH":{run_dir}\n'


@dataclass(frozen=True, slots=True)
class SlurmOptions(JobOptions):
    """What a person may choose of a cluster, and what the portal adds. `time_limit` in seconds.

    `environment`: what the job sees of the one who submits: all of it, none (a login's), or nil (nothing). `shared`:
    several jobs may be on a node at a time, so that whole nodes are not asked for without need.
    """

    licenses: str = ""
    dependency: str = ""
    time_limit: float | None = None
    requeue: bool = False
    hold: bool = False
    environment: Literal["ALL", "NONE", "NIL"] = "ALL"
    shared: bool = False


def job_name(key: str) -> str:
    """The job's name, from its key alone, so that squeue and sacct can be asked for it.

    >>> job_name("job-7-run-1"), job_name("a b")
    ('gp-job-7-run-1', 'gp-a_b-c8687a08aa')
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", key)[:80]
    if plain == key and key:
        return f"gp-{key}"
    return f"gp-{plain}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def argv(spec: RunSpec, options: SlurmOptions) -> list[str]:
    """sbatch's argument list. Raises InputError for no nodes, control characters or amounts below one.

    Slurm gives each node of a job as much as every other. Where some have more ranks than others and nodes are shared,
    the job is made of parts (a heterogeneous job), one for each number of ranks a node. Else it is asked for whole
    nodes: by the most ranks of a node it would look for room on all of them that a small one need not have.
    """
    _check(spec, options)
    words = ["sbatch", "--parsable"]
    for number, nodes in enumerate(_parts(spec, options)):
        here = replace(spec, nodes=tuple(node for node in spec.nodes if node in nodes))
        # Slurm adds up the licenses of all parts.
        words += [NEXT_PART, *_asked(here, replace(options, licenses=""))] if number else _asked(here, options)
    return words


def _parts(spec: RunSpec, options: SlurmOptions) -> list[list[str]]:
    """The nodes in parts of one number of ranks each; one part where that is as good, or where the launcher would know
    the first alone."""
    parts = job_parts(spec.nodes)
    in_parts = options.shared and not options.exclusive and not spec.finds_nodes and len(parts) <= MOST_PARTS
    return parts if in_parts else [list(ranks_by_node(spec.nodes))]


def _asked(spec: RunSpec, options: SlurmOptions) -> list[str]:
    """What a job, or a part of one, asks for."""
    nodes = ranks_by_node(spec.nodes)
    arguments = [
        f"--job-name={job_name(spec.key)}",
        f"--comment={spec.key}",
        f"--nodes={len(nodes)}",
        f"--ntasks={len(spec.nodes)}",
        *([f"--ntasks-per-node={max(nodes.values())}"] if is_even(spec.nodes) else []),
        f"--nodelist={','.join(nodes)}",
        "--distribution=arbitrary",
        f"--chdir={spec.run_dir}",
        f"--output={_literal(spec.run_dir)}/{run_files.OUTPUT}",
        "--open-mode=append",
        f"--export={options.environment}",
        "--requeue" if options.requeue else "--no-requeue",
    ]
    return arguments + _chosen(spec, options)


def _chosen(spec: RunSpec, options: SlurmOptions) -> list[str]:
    """The options that were chosen; Slurm counts time in whole minutes and memory in MiB, so both are rounded up."""
    limits = _limits(spec, options)
    arguments = [f"--time={_minutes(limits)}"] if limits else []
    texts = {name: getattr(options, name) for name in _TEXTS} | {"gres": options.gres or _gres(spec)}
    arguments += [f"--{name}={value}" for name, value in texts.items() if value]
    memory = _memory(spec, options)
    arguments += [f"--mem={memory}"] if memory else []
    cpus = max(spec.cpus_per_rank, options.cpus_per_rank or 1)
    arguments += [f"--cpus-per-task={cpus}"] if cpus > 1 or options.cpus_per_rank else []
    whole = options.exclusive or not is_even(spec.nodes)
    return arguments + (["--exclusive"] if whole else []) + (["--hold"] if options.hold else [])


def _limits(spec: RunSpec, options: SlurmOptions) -> list[float]:
    return [limit for limit in (spec.time_limit, options.time_limit) if limit is not None]


def _minutes(limits: Sequence[float]) -> int:
    return math.ceil(min(limits) / 60)


def _memory(spec: RunSpec, options: SlurmOptions) -> str:
    """What each node is to give: what was asked for of each, or by each rank; all where the nodes' ranks differ."""
    if options.memory is not None:
        return f"{math.ceil(options.memory / 2**20)}M"
    if spec.memory_per_rank is None:
        return ""
    return f"{spec.memory_per_rank * max(ranks_by_node(spec.nodes).values())}M" if is_even(spec.nodes) else "0"


def _gres(spec: RunSpec) -> str:
    """What each node is to give for its ranks. Where their numbers differ, as much as the least: with whole nodes come
    all that they have."""
    return times(spec.gres_per_rank, min(ranks_by_node(spec.nodes).values()))


def times(gres: str, ranks: int) -> str:
    """Resources for so many ranks.

    >>> times("gpu:a100:2,nic,disk:4K", 3), times("", 2)
    ('gpu:a100:6,nic:3,disk:12K', '')
    """
    found = (_COUNTED.fullmatch(part) for part in gres.split(",") if part)
    return ",".join(f"{one['name']}:{int(one['count'] or 1) * ranks}{one['unit'] or ''}" for one in found if one)


def script(spec: RunSpec, options: SlurmOptions | None = None) -> str:
    """The run's script with the lines that tell it when it will be ended, and Slurm's and MPICH's launchers the rank
    order.

    They stand right after the first line, so that sbatch looks for no #SBATCH in what follows.
    """
    first, _, rest = spec.script.partition("\n")
    if not first.startswith("#!"):
        first, rest = "#!/bin/bash", spec.script
    parts = _parts(spec, options or SlurmOptions())
    preamble = _ends(_limits(spec, options or SlurmOptions())) + _PREAMBLE.format(
        hosts=shlex.quote(f"{spec.run_dir}/{run_files.SLURM_HOSTS}"),
        launcher=shlex.quote(f"{spec.run_dir}/{run_files.SLURM_LAUNCHER}"),
        name=run_files.SLURM_LAUNCHER,
        nodes=" ".join(shlex.quote(node) for node in spec.nodes),
        whole=(_WHOLE if spec.cpus_per_rank > 1 or len(set(spec.nodes)) < len(spec.nodes) else "")
        + part_of_node(spec.nodes, parts, spec.cpus_per_rank),
        more=' --cpus-per-task="$cpus" --het-group="$part"' if len(parts) > 1 else _cpus_of_ranks(spec),
    )
    if len(spec.run_dir.split()) > 1:
        preamble += _SPACED.format(launcher=run_files.SLURM_LAUNCHER, run_dir=shlex.quote(spec.run_dir))
    preamble += OVER_SSH if len(parts) > 1 else ""
    return f"{first}\n{preamble}{rest}"


def _ends(limits: Sequence[float]) -> str:
    """Where Slurm gives no answer the limit that was asked for counts."""
    name = run_files.ENDS_VARIABLE
    asked = f"export {name}=$(($(date +%s) + {60 * _minutes(limits)}))" if limits else f"unset {name}"
    return _ENDS.format(variable=name, unknown=asked)


def _cpus_of_ranks(spec: RunSpec) -> str:
    """How many a step for all ranks of a node is to have; of a whole node it has all."""
    cpus = spec.cpus_per_rank * max(ranks_by_node(spec.nodes).values())
    return f" --cpus-per-task={cpus}" if cpus > 1 and is_even(spec.nodes) else ""


def parse_id(output: str) -> str:
    """The job's id from `sbatch --parsable`: the last line that is `ID` or `ID;cluster` (a site may add others).

    >>> parse_id("Welcome!\\n123;hpc\\n")
    '123'
    """
    for line in reversed(output.split("\n")):
        match = re.fullmatch(r"\s*(\d+)(;[\w.-]+)?\s*", line)
        if match:
            return match[1]
    shown = "".join(c if c.isprintable() else " " for c in output.strip())[:80]
    raise BackendError(f"sbatch gave an answer without a job id: {shown!r}.")


#: What sbatch complains of -> the option at fault.
_BLAMED = (
    ("invalid account", "account"),
    ("invalid qos", "qos"),
    ("reservation", "reservation"),
    ("gres", "gres"),
    ("generic resource", "gres"),
    ("feature", "constraint"),
    ("partition name", "partition"),
    ("memory specification", "memory"),
    ("dependency", "dependency"),
    ("licenses", "licenses"),
)


def blamed(message: str, options: SlurmOptions) -> str:
    """A refusal with the option and the value that it is about, which Slurm does not repeat.

    >>> blamed("Invalid account or account/partition combination specified.", SlurmOptions(account="art"))
    'Invalid account or account/partition combination specified (account art).'
    """
    name = next((option for sign, option in _BLAMED if sign in message.lower()), "")
    value = getattr(options, name) if name else None
    return f"{message.rstrip('. ')} ({name} {value})." if value else message


def parse_expected_start(stderr: str) -> float | None:
    """Unix seconds from what `sbatch --test-only` says on standard error; None when it names no time.

    >>> parse_expected_start("sbatch: Job 5 to start at 1795203600 using 2 processors on nodes n[1-2]")
    1795203600.0
    """
    match = re.search(r"to start at (\S+)", stderr)
    return when(match[1]) if match else None


def _check(spec: RunSpec, options: SlurmOptions) -> None:
    if not spec.nodes:
        raise InputError("nodes", 0, "at least one node")
    for at, node in enumerate(spec.nodes):
        if not _NODE.fullmatch(node):
            raise InputError(f"nodes[{at}]", node, "a node's name")
    if not spec.key or len(spec.key) > 200:
        raise InputError("key", spec.key[:40], "1 to 200 characters")
    if not spec.run_dir.startswith("/") or "\\" in spec.run_dir:
        raise InputError("run_dir", spec.run_dir, "an absolute path without backslashes")
    _plain("key", spec.key)
    _plain("run_dir", spec.run_dir)
    _amount("time_limit", spec.time_limit)
    for name in _TEXTS:
        _plain(name, getattr(options, name))
    for name in ("memory", "cpus_per_rank", "time_limit"):
        _amount(name, getattr(options, name))
    for name in ("cpus_per_rank", "memory_per_rank"):
        _amount(name, getattr(spec, name))
    if not all(_COUNTED.fullmatch(part) for part in spec.gres_per_rank.split(",") if part):
        raise InputError("gres_per_rank", spec.gres_per_rank, "names with a count, such as gpu:2 or gpu:a100:2")


def _amount(name: str, value: float | None) -> None:
    if value is not None and not 0 < value < 2**50:
        raise InputError(name, value, "a number above 0")


def _plain(name: str, value: str) -> None:
    if not value.isprintable():
        raise InputError(name, value, "text without control characters")


def _literal(path: str) -> str:
    """A path in which sbatch shall replace nothing: its patterns begin with %."""
    return path.replace("%", "%%")

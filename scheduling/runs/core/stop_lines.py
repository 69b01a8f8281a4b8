"""The lines of a batch script that ask its program to stop, while the script and its launcher live on.

The script is told by USR1; what it does about it is the program's own: a signal to the ranks, a file, or a command.
mpiexec of MPICH, mpirun of Open MPI and srun hand USR1 on to all ranks. They die of other signals or end their ranks by
them, so those go to the ranks directly, which are found on each node by a mark in their environment.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

from gridportal.base import run_files
from scheduling.jobs.core.program_request import Means, ProgramRequest

#: In the environment of each rank, with the run directory for a value.
MARK = "GRIDPORTAL_RANK_OF"
#: Seconds after the start in which nobody is asked: a launcher or a program that is not yet ready would die of it.
READY = 5
#: The launchers that hand USR1 on.
_HAND_ON = {"mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun", "prun", "srun"}
_HAND_ON |= {f"{name}.{mpi}" for name in ("mpiexec", "mpirun") for mpi in ("mpich", "openmpi")}

_LINES = """\
# Asked to stop, by USR1: the program hears of it, and its launcher goes on until all ranks have ended.
ask_to_stop() {{
  asked=yes
  note_program
  if [ -z "$program" ] || [ "$SECONDS" -lt {ready} ]; then
    later {ready} USR1
  else
    touch {asked}
    {ask}
  fi
}}
"""
_CHECKPOINT = """\
# Asked for a checkpoint, by USR2.
ask_for_checkpoint() {{
  asked=yes
  note_program
  if [ -n "$program" ] && [ "$SECONDS" -ge {ready} ]; then
    {ask}
  fi
}}
"""
#: The number of a process is given to another one once it has ended; the time of its start tells them apart.
_CLOCKS = """\
# Whether this script goes on, and its number is not another process by now.
began=""
goes_on() {
  local stat
  read -r stat < "/proc/$$/stat" || return
  set -- ${stat##*) }
  [ "$1" != Z ] && [ "${began:=${20}}" = "${20}" ]
} 2> /dev/null
goes_on
# Wait so many seconds, or until this script has ended: then it fails.
pause() {
  local end=$((SECONDS + $1)) left
  while goes_on; do
    left=$((end - SECONDS))
    [ "$left" -gt 0 ] || return 0
    sleep $((left < 2 ? left : 2))
  done
  return 1
}
# Tell this script something in so many seconds; in a shell of its own, so that $! stays the program.
later() { ( { pause "$1" && kill -s "$2" $$; } < /dev/null > /dev/null 2>&1 & ); }
"""
_BEFORE_END = """\
# Its time is nearly over.
if [ -n "${{{ends}:-}}" ]; then
  left=$(({ends} - $(date +%s) - {seconds}))
  later "$((left > 0 ? left : 0))" USR1
fi
"""
_EVERY = """\
( {{ while pause {seconds}; do kill -s USR2 $$; done; }} < /dev/null > /dev/null 2>&1 & )
"""
#: What the program does with the signals is its own: this sends each but once, to the first processes with the mark.
_TO_RANKS = """\
# A signal for the ranks alone: neither their launcher nor what they have started hears of it.
cat > {file} << 'END_OF_SIGNAL'
#!/bin/bash
# usage: {name} SIGNAL   to the ranks of this run on this node; to all where one call is made for all nodes
place_of() {{ if [ -n "${{SLURM_JOB_ID:-}}" ]; then readlink "/proc/$1/ns/net"; fi; }}
here=$(place_of self)
marked=$(printf '%s\\0' /proc/[0-9]*/environ | xargs -0 grep -lsFxz "{mark}=${variable}")
for each in $marked; do
  pid=${{each//[^0-9]/}}
  parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2> /dev/null)
  case $'\\n'$marked$'\\n' in *$'\\n'"/proc/${{parent:-none}}/environ"$'\\n'*) continue ;; esac
  if [ "$(place_of "$pid")" = "$here" ]; then kill -s "$1" "$pid"; fi
done
END_OF_SIGNAL
signal_ranks() {{
  if [ -z "${{SLURM_JOB_ID:-}}" ]; then
    bash {file} "$1"
    return
  fi
  if [ -n "${{SLURM_HET_SIZE:-}}" ]; then
    # A job in parts: its launcher knows in which of them each node is.
    local node
    for node in $(sort -u {hosts}); do
      timeout {patience} "$HYDRA_LAUNCHER_EXEC" "$node" bash {file} "$1" &
    done
    wait
    return
  fi
  unset SLURM_HOSTFILE SLURM_DISTRIBUTION SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_TASKS_PER_NODE
  unset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK SLURM_CPU_BIND
  timeout {patience} srun --quiet --overlap --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" \\
    --ntasks-per-node=1 --mpi=none --input=none bash {file} "$1"
}}
"""
#: Seconds that a command for the stop, or a signal to the ranks, may take.
_PATIENCE = 60
_BESIDE = "( {} < /dev/null & )"


def lines(
    stop: ProgramRequest,
    run_dir: str,
    launcher: Sequence[str],
    *,
    before_end: float | None = None,
    checkpoint: ProgramRequest | None = None,
    every: float | None = None,
) -> str:
    """Functions and traps, for after `stop` and `note_program` of the script, and the clocks that make use of them.

    `before_end`: seconds before the run's end at which the program is asked to stop, if anybody is to. `checkpoint`:
    how it is asked for one, `every` so many seconds or when the script gets USR2.
    """
    parts = [_CLOCKS, _LINES.format(ready=READY, asked=run_files.STOP_ASKED, ask=_ask(stop, run_dir, launcher))]
    if any(needs_mark(request, launcher) for request in (stop, checkpoint)):
        parts.insert(0, _to_ranks(run_dir))
    traps = "trap ask_to_stop USR1\n"
    if checkpoint is not None:
        parts.append(_CHECKPOINT.format(ready=READY, ask=_ask(checkpoint, run_dir, launcher)))
        traps += "trap ask_for_checkpoint USR2\n"
    parts.append(traps)
    if before_end is not None:
        parts.append(_BEFORE_END.format(ends=run_files.ENDS_VARIABLE, seconds=round(before_end)))
    if checkpoint is not None and every is not None:
        parts.append(_EVERY.format(seconds=max(1, round(every))))
    return "".join(parts)


def needs_mark(request: ProgramRequest | None, launcher: Sequence[str]) -> bool:
    """Whether the ranks are to be found by their mark."""
    return request is not None and request.means is Means.SIGNAL and not _is_handed_on(request, launcher)


def _is_handed_on(request: ProgramRequest, launcher: Sequence[str]) -> bool:
    return request.argv == ("USR1",) and PurePath(launcher[0]).name in _HAND_ON


def _ask(request: ProgramRequest, run_dir: str, launcher: Sequence[str]) -> str:
    words = " ".join(shlex.quote(word) for word in request.argv)
    if request.means is Means.FILE:
        return f"touch -- {words}"
    if request.means is Means.COMMAND:
        return _BESIDE.format(f"timeout {_PATIENCE} {words}")
    if _is_handed_on(request, launcher):
        return f'kill -{words} "$program" 2> /dev/null'
    return _BESIDE.format(f"signal_ranks {words}")


def _to_ranks(run_dir: str) -> str:
    return _TO_RANKS.format(
        file=shlex.quote(f"{run_dir}/{run_files.RANK_SIGNAL}"),
        name=run_files.RANK_SIGNAL,
        mark=MARK,
        variable=run_files.RUN_DIR_VARIABLE,
        hosts=shlex.quote(f"{run_dir}/{run_files.SLURM_HOSTS}"),
        patience=_PATIENCE,
    )

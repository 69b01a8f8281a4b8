#!/bin/bash
# job-14-run-1: LAMMPS: first try
# nodes, rank by rank: n3 n7 n5 n9
# chosen by: pattern
set -u

export GRIDPORTAL_RUN_DIR=/shared/runs/job-14-run-1
export OMP_NUM_THREADS=1
cd "$GRIDPORTAL_RUN_DIR" || exit 1
rm -f exit.json exit.json.part

# The exit record: whole or not at all, so that the portal never reads half of it.
finish() {
  printf '{"exit_code": %d, "ended_at": %s}\n' "$1" "$(date +%s.%N)" > exit.json.part
  mv -f exit.json.part exit.json
  exit "$1"
}

# Asked to stop: pass it on to mpiexec, which takes the ranks along, and record it.
program=""
stop() {
  trap '' TERM INT HUP
  if [ -n "$program" ]; then
    kill -TERM "$program" 2> /dev/null
    wait "$program"
  fi
  finish 143
}
trap stop TERM INT HUP

# Environment modules, which are a function of login shells, and not written for set -u.
set +u
if ! type module > /dev/null 2>&1; then
  for init in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /usr/share/modules/init/bash; do
    if [ -r "$init" ]; then . "$init"; break; fi
  done
fi
for name in gcc/12.2 openmpi/4.1; do
  module load "$name" || { echo "The module $name could not be loaded." >&2; finish 1; }
done
set -u

unset SLURM_HOSTFILE SLURM_DISTRIBUTION
# Open MPI asks for this variable, which sbatch leaves out when the tasks are distributed arbitrarily.
if [ -n "${SLURM_JOB_ID:-}" ]; then
  export SLURM_TASKS_PER_NODE="${SLURM_TASKS_PER_NODE:-1(x$SLURM_JOB_NUM_NODES)}"
fi

printf '%s\n' n3 n7 n5 n9 > /shared/runs/job-14-run-1/hosts
mpirun -n 4 --map-by seq --hostfile /shared/runs/job-14-run-1/hosts \
  lmp -in in.lj &
program=$!
wait "$program"
finish $?

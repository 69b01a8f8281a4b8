#!/bin/bash
# job-12-run-1: NAS CG: first try
# nodes, rank by rank: n1 n2 n1 n1
# chosen by: pattern
set -u

export GRIDPORTAL_RUN_DIR='/srv/it'"'"'s here/job-13-run-2'
cd "$GRIDPORTAL_RUN_DIR" || exit 1

# The exit record: whole or not at all, so that the portal never reads half of it.
finish() {
  trap '' TERM INT HUP QUIT ALRM USR1 USR2 XCPU VTALRM PROF
  rm -rf exit.json.part
  printf '{"exit_code": %d, "ended_at": %s}\n' "$1" "$(date +%s.%N)" > exit.json.part
  mv -f exit.json.part exit.json
  exit "$1"
}

# The program may have been started and its number not noted yet.
program=""
note_program() {
  if [ -z "$program" ] && [ -n "${before+set}" ] && [ "${!:-}" != "$before" ]; then program=$!; fi
}

# Asked to end: pass it on to mpiexec, which takes the ranks along, and record it.
end() {
  trap '' TERM INT HUP QUIT ALRM USR1 USR2 XCPU VTALRM PROF
  note_program
  if [ -n "$program" ]; then
    kill -TERM "$program" 2> /dev/null
    wait "$program"
  fi
  finish 143
}
trap end TERM INT HUP
# Whatever else comes: nothing but KILL ends this script before its record is written.
trap 'asked=yes' QUIT ALRM USR1 USR2 XCPU VTALRM PROF

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
# Asked to stop, by USR1: the program hears of it, and its launcher goes on until all ranks have ended.
ask_to_stop() {
  asked=yes
  note_program
  if [ -z "$program" ] || [ "$SECONDS" -lt 5 ]; then
    later 5 USR1
  else
    touch stop.asked
    kill -USR1 "$program" 2> /dev/null
  fi
}
trap ask_to_stop USR1

# The first mpirun that is Open MPI's: on PATH another MPI's may come before it.
open_mpi=""
while IFS= read -r each; do
  case "$(readlink -f "$each")" in
    */orterun | */prterun | */mpirun.openmpi) ;;
    *) [[ "$(timeout 10 "$each" --version 2>&1 < /dev/null)" == *"Open MPI"* ]] || continue ;;
  esac
  open_mpi=$each
  break
done < <(type -aP mpirun mpirun.openmpi)
if [ -z "$open_mpi" ]; then echo "No mpirun on PATH is Open MPI's." >&2; fi
if [ -z "$open_mpi" ] || [ "$open_mpi" = "$(type -P mpirun)" ]; then open_mpi=mpirun; fi
unset SLURM_HOSTFILE SLURM_DISTRIBUTION
# Open MPI asks for this variable, which sbatch leaves out when the tasks are distributed arbitrarily.
if [ -n "${SLURM_JOB_ID:-}" ]; then
  export SLURM_TASKS_PER_NODE="${SLURM_TASKS_PER_NODE:-3(x$SLURM_JOB_NUM_NODES)}"
fi
# That daemon has all that the job has on its node, for all ranks there.
unset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK SLURM_CPU_BIND

printf '%s\n' n1 n2 n1 n1 > '/srv/it'"'"'s here/job-13-run-2/hosts'
# Several ranks of a node: each on processors of its own.
cat > '/srv/it'"'"'s here/job-13-run-2/rank.bind' << 'END_OF_BINDING'
#!/bin/bash
# Runs a rank on its part of the processors that its node gives this job, the threads of a core side by side.
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-}}}}
before=(0 0 1 2) there=(3 1 3 3)
may_use() {
  while IFS=- read -r first last; do
    for ((cpu = first; cpu <= ${last:-first}; cpu++)); do
      topology=/sys/devices/system/cpu/cpu$cpu/topology package=0 core=$cpu
      if [ -r $topology/core_id ]; then
        read -r package < $topology/physical_package_id
        read -r core < $topology/core_id
      fi
      echo "$package $core $cpu"
    done
  done < <(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , '\n')
}
if [ -n "$rank" ] && command -v taskset > /dev/null; then
  mapfile -t cpus < <(may_use | sort -n -k 1,1 -k 2,2 -k 3,3 | cut -d ' ' -f 3)
  share=$((${#cpus[@]} / ${there[rank]:-1}))
  if [ "$share" -ge 1 ] && [ "${#cpus[@]}" -le "${SLURM_CPUS_ON_NODE:-0}" ]; then
    mine=$(IFS=,; echo "${cpus[*]:before[rank] * share:share}")
    exec taskset -c "$mine" "$@"
  fi
fi
exec "$@"
END_OF_BINDING
# What launchers bind by themselves would be in the way.
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none

# In braces: bash has read all of it before the program starts, which might change this file.
{
before=${!:-}
SECONDS=0
"$open_mpi" -n 4 --map-by seq --hostfile '/srv/it'"'"'s here/job-13-run-2/hosts' \
  bash '/srv/it'"'"'s here/job-13-run-2/rank.bind' env OMP_NUM_THREADS=1 \
  /opt/python -m gridportal.workloads.cg --class S &
program=$!
# A signal that this script takes ends its waiting, and not the program.
while asked=""; wait "$program"; code=$?; [ -n "$asked" ]; do :; done
finish "$code"
}

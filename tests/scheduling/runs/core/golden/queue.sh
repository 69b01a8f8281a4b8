#!/bin/bash
# job-14-run-1: LAMMPS: first try
# nodes, rank by rank: n3 n7 n5 n9
# chosen by: pattern
set -u

export GRIDPORTAL_RUN_DIR=/shared/runs/job-14-run-1
export OMP_NUM_THREADS=1
cd "$GRIDPORTAL_RUN_DIR" || exit 1
# A cluster may start this script again under its own number: not what has ended well, and nobody knew it yet.
if [ -f exit.json ] && head -c 20 exit.json | grep -q '^{"exit_code": 0,'; then exit 0; fi
rm -f exit.json exit.json.part stop.asked

# The log has a bound: what is too much goes out of its middle, while the program writes on.
cut_log() {
  size=$(stat -c %s output.log) || return
  [ "$size" -gt 67108864 ] || return
  take_out || write_anew
}
# In one step, so that nothing is lost which the program writes meanwhile; not every file system can.
take_out() {
  block=$(stat -f -c %S output.log) && head=$((33554432 / block * block)) || return
  [ "$head" -ge 86 ] || return
  fallocate -c -o "$head" -l "$(((size - 1048576 - head) / block * block))" output.log || return
  printf '\n%s\n' '[GridPortal: the log had more than 64 MiB and is cut here; what follows is its end.]' | dd of=output.log bs=86 oflag=seek_bytes seek="$((head - 86))" conv=notrunc
}
write_anew() {
  for _ in 1 2 3; do
    tail -c 1048576 output.log > output.log.end
    [ "$(stat -c %s output.log)" -gt "$size" ] || break
    size=$(stat -c %s output.log)
  done
  truncate -s 33554432 output.log
  { printf '\n%s\n' '[GridPortal: the log had more than 64 MiB and is cut here; what follows is its end.]'; cat output.log.end; } >> output.log
  rm -f output.log.end
}
keep_log() {
  while :; do
    trap exit TERM
    sleep 2 & wait $!
    trap '' TERM
    cut_log
  done
}
keep_log < /dev/null > /dev/null 2>&1 &
keeper=$!

# The exit record: whole or not at all, so that the portal never reads half of it.
finish() {
  trap '' TERM INT HUP QUIT ALRM USR1 USR2 XCPU VTALRM PROF
  for _ in {1..100}; do
    kill "$keeper" 2> /dev/null || break
    sleep 0.05
  done
  cut_log > /dev/null 2>&1
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
  export SLURM_TASKS_PER_NODE="${SLURM_TASKS_PER_NODE:-1(x$SLURM_JOB_NUM_NODES)}"
fi

printf '%s\n' n3 n7 n5 n9 > /shared/runs/job-14-run-1/hosts
# In braces: bash has read all of it before the program starts, which might change this file.
{
before=${!:-}
SECONDS=0
"$open_mpi" -n 4 --map-by seq --hostfile /shared/runs/job-14-run-1/hosts \
  lmp -in in.lj &
program=$!
# A signal that this script takes ends its waiting, and not the program.
while asked=""; wait "$program"; code=$?; [ -n "$asked" ]; do :; done
finish "$code"
}

#!/bin/bash
ends=${SLURM_JOB_END_TIME:-}
if [ -z "$ends" ]; then
  ends=$(SLURM_TIME_FORMAT=%s timeout 20 squeue --noheader --jobs="$SLURM_JOB_ID" --format=%e 2> /dev/null | head -n 1)
fi
case ${ends:-unknown} in
  unknown) export GRIDPORTAL_ENDS_AT=$(($(date +%s) + 120)) ;;
  *[!0-9]*) unset GRIDPORTAL_ENDS_AT ;;
  *) export GRIDPORTAL_ENDS_AT="$ends" ;;
esac
unset LC_ALL SLURM_TIME_FORMAT SLURM_EXPORT_ENV
export SLURM_HOSTFILE=/runs/job-7-run-1/slurm.hosts SLURM_DISTRIBUTION=arbitrary
printf '%s\n' n3 n1 n2 > "$SLURM_HOSTFILE"
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=/runs/job-7-run-1/slurm.launch
cat > "$HYDRA_LAUNCHER_EXEC" << 'END_OF_LAUNCHER'
#!/bin/bash
# mpiexec calls this as: slurm.launch [-x] NODE COMMAND...
while [[ $1 == -* ]]; do shift; done
node=$1
shift
unset SLURM_HOSTFILE SLURM_DISTRIBUTION SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE
# Of its words mpiexec has quoted the program's path, for the shell that ssh would have had at the other end.
words=()
for word in "$@"; do
  [[ $word == \"*\" ]] && word=${word:1:-1}
  words+=("$word")
done
exec srun --quiet --overlap --nodes=1 --ntasks=1 --nodelist="$node" --mpi=none --input=none "${words[@]}"
END_OF_LAUNCHER
chmod +x "$HYDRA_LAUNCHER_EXEC"
# job-7-run-1: NAS CG
# nodes, rank by rank: n3 n1 n2
# chosen by: pattern
set -u

export GRIDPORTAL_RUN_DIR=/runs/job-7-run-1
cd "$GRIDPORTAL_RUN_DIR" || exit 1
# A cluster may start this script again under its own number: not what has ended well, and nobody knew it yet.
if [ -f exit.json ] && head -c 20 exit.json | grep -q '^{"exit_code": 0,'; then exit 0; fi
rm -f exit.json exit.json.part stop.asked

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

# mpiexec must not tell a program that has ended of its input's end: what it reads never ends.
exec 8> /dev/null
rm -rf mpiexec.input
if mkfifo -m 600 mpiexec.input 2> /dev/null; then exec 8<> mpiexec.input; rm -f mpiexec.input; fi
# In braces: bash has read all of it before the program starts, which might change this file.
{
before=${!:-}
SECONDS=0
mpiexec -n 3 -hosts n3,n1,n2 \
  sh -c 'type "$0" > /dev/null 2>&1 || echo "$(uname -n) cannot start $0" >&2; exec "$0" "$@" < /dev/null' \
  env GRIDPORTAL_TRACE_DIR=/runs/job-7-run-1/trace sh -c 'ASAN_OPTIONS="verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"' /runs/.trace/trace-0123456789abcdef.so /opt/python -m gridportal.workloads.cg --class S 0<&8 8<&- &
program=$!
# A signal that this script takes ends its waiting, and not the program.
while asked=""; wait "$program"; code=$?; [ -n "$asked" ]; do :; done
finish "$code"
}

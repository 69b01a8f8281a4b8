#!/bin/bash
# job-12-run-1: NAS CG: first try
# nodes, rank by rank: n1 n2 n1 n2
# chosen by: pattern
set -u

export GRIDPORTAL_RUN_DIR=/srv/gridportal/runs/job-12-run-1
cd "$GRIDPORTAL_RUN_DIR" || exit 1

# The exit record: whole or not at all, so that the portal never reads half of it.
finish() {
  rm -rf exit.json.part
  printf '{"exit_code": %d, "ended_at": %s}\n' "$1" "$(date +%s.%N)" > exit.json.part
  mv -f exit.json.part exit.json
  exit "$1"
}

# Asked to stop: pass it on to mpiexec, which takes the ranks along, and record it.
program=""
stop() {
  trap '' TERM INT HUP
  # It may have been started and its number not noted yet.
  if [ -z "$program" ] && [ -n "${before+set}" ] && [ "${!:-}" != "$before" ]; then program=$!; fi
  if [ -n "$program" ]; then
    kill -TERM "$program" 2> /dev/null
    wait "$program"
  fi
  finish 143
}
trap stop TERM INT HUP

# In braces: bash has read all of it before the program starts, which might change this file.
{
before=${!:-}
mpiexec -n 4 -hosts n1,n2 \
  env OMP_NUM_THREADS=2 /opt/python -m gridportal.workloads.cg --class S 0> /dev/null &
program=$!
wait "$program"
finish $?
}

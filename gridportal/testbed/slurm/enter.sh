#!/bin/sh
# usage: enter COMMAND...   runs a command where the Grid's slurmctld is: enter squeue, enter sbatch job.sh
# Only what a login would give goes along: jobs inherit sbatch's environment, and the portal's own holds secrets.
begun() { # of the fields after the command's name the first is the state (Z: killed), the 20th the start
    case $1 in [ZX]) return ;; esac
    shift 19 && begun=$1
}
stat=
[ ! -r /proc/@PID@/stat ] || read -r stat </proc/@PID@/stat
# shellcheck disable=SC2086
[ -z "$stat" ] || begun ${stat##*) }
if [ "$begun" != @START@ ]; then
    echo "The Grid of this Slurm is not up." >&2
    exit 255
fi
# shellcheck disable=SC2016
exec nsenter -t @PID@ -m -n -u -- env -i PATH="$PATH:/usr/sbin:/sbin" HOME="${HOME:-/}" \
    ${USER:+USER="$USER"} ${LOGNAME:+LOGNAME="$LOGNAME"} ${SHELL:+SHELL="$SHELL"} ${TERM:+TERM="$TERM"} \
    ${LANG:+LANG="$LANG"} ${LC_ALL:+LC_ALL="$LC_ALL"} ${TZ:+TZ="$TZ"} \
    ${SLURM_TIME_FORMAT:+SLURM_TIME_FORMAT="$SLURM_TIME_FORMAT"} SLURM_CONF=/etc/slurm/slurm.conf \
    sh -c 'cd "$0" 2>/dev/null || cd /; exec "$@"' "$PWD" "$@"

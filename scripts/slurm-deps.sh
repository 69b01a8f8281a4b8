#!/bin/sh
# Installs Slurm and munge for `gridportal testbed up TOPOLOGY --slurm`, and with the argument "accounting" also slurmdbd
# and MariaDB for --slurm-accounting. Only as root on Debian; elsewhere the command to run is printed, exit code 1.
set -eu
PATH="$PATH:/usr/sbin:/sbin"
missing=
command -v slurmctld >/dev/null 2>&1 && command -v slurmd >/dev/null 2>&1 && command -v srun >/dev/null 2>&1 ||
    missing="$missing slurm-wlm"
command -v munged >/dev/null 2>&1 || missing="$missing munge"
if [ "${1:-}" = accounting ]; then
    command -v slurmdbd >/dev/null 2>&1 || missing="$missing slurmdbd"
    command -v mariadbd >/dev/null 2>&1 || missing="$missing mariadb-server"
fi
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086
exec /bin/sh "${0%/*}/apt-install.sh" "For a real Slurm on the emulated Grid install:" "Slurm on the Grid" $missing

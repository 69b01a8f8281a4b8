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
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "For a real Slurm on the emulated Grid install:  sudo apt-get install$missing" >&2
    exit 1
fi
echo "installing for Slurm on the Grid:$missing" >&2
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then # the packages' own daemons are not wanted: the Grid starts private ones
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
fi
apt-get -qq update >/dev/null
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null

#!/bin/sh
# Installs what the tests use beside Python: Chromium, Redis, PostgreSQL, Slurm with accounts, Open MPI, compilers,
# LAMMPS and HPCC. Only as root on Debian; elsewhere the tests that need a missing one are skipped and say so.
set -eu
sh "$(dirname "$0")/slurm-deps.sh" accounting || true
missing=
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
command -v lmp >/dev/null 2>&1 || missing="$missing lammps"
command -v hpcc >/dev/null 2>&1 || missing="$missing hpcc"
command -v gcc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
command -v gfortran >/dev/null 2>&1 || missing="$missing gfortran"
command -v mpicc.openmpi >/dev/null 2>&1 || missing="$missing libopenmpi-dev openmpi-bin"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "For all tests install:  sudo apt-get install$missing" >&2
    exit 0
fi
echo "installing for the tests:$missing" >&2
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then # the packages' own servers are not wanted: tests start their own
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
fi
apt-get -qq update >/dev/null
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null

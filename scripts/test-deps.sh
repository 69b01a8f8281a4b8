#!/bin/sh
# Installs what the tests use beside Python: Chromium, Redis, PostgreSQL, Prometheus, Slurm with accounts, Open MPI,
# slapd, compilers, LAMMPS, HPCC and Quantum ESPRESSO, sudo, sshd, bubblewrap; Debian's MPICH: mpicc and mpiexec stay those of
# Open MPI, and in .venv/bin the portal's own. Only as root on Debian; elsewhere the tests that need a missing one are
# skipped and say so.
set -eu
sh "$(dirname "$0")/slurm-deps.sh" accounting || true
missing=
command -v chromium-headless-shell >/dev/null 2>&1 || missing="$missing chromium-headless-shell"
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
command -v lmp >/dev/null 2>&1 || missing="$missing lammps"
command -v prometheus >/dev/null 2>&1 || missing="$missing prometheus"
command -v prometheus-node-exporter >/dev/null 2>&1 || missing="$missing prometheus-node-exporter"
command -v cp.x >/dev/null 2>&1 || missing="$missing quantum-espresso quantum-espresso-data"
command -v hpcc >/dev/null 2>&1 || missing="$missing hpcc"
[ -x /usr/sbin/slapd ] || missing="$missing slapd"
command -v gcc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
command -v gfortran >/dev/null 2>&1 || missing="$missing gfortran"
command -v sudo >/dev/null 2>&1 || missing="$missing sudo"
command -v setfacl >/dev/null 2>&1 || missing="$missing acl"
[ -x /usr/sbin/sshd ] || missing="$missing openssh-server"
command -v mpicc.openmpi >/dev/null 2>&1 || missing="$missing libopenmpi-dev openmpi-bin"
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v mpif90.mpich >/dev/null 2>&1 || missing="$missing libmpich-dev mpich"
[ -n "$missing" ] || exit 0
code=0
# shellcheck disable=SC2086
/bin/sh "${0%/*}/apt-install.sh" "For all tests install:" "the tests" $missing || code=$?
[ "$code" != 1 ] || exit 0 # it cannot be done here, and was said; tests say what they skip
exit "$code"

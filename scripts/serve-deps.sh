#!/bin/sh
# Installs what `make serve` uses beside Python: Redis and PostgreSQL, each only where no address is given for it
# (REDIS_URL, DATABASE_URL). Only as root on Debian; elsewhere the command to run is printed and the exit code is 1.
set -eu
missing=
[ -n "${REDIS_URL:-}" ] || command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1 ||
    missing="$missing redis-server"
[ -n "${DATABASE_URL:-}" ] || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086
exec /bin/sh "${0%/*}/apt-install.sh" "Install what is missing with:" "the portal" $missing

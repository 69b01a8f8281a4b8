#!/bin/sh
# Installs what `make serve` uses beside Python: Redis and PostgreSQL, each only where no address is given for it
# (REDIS_URL, DATABASE_URL). Only as root on Debian; elsewhere the command to run is printed and the exit code is 1.
set -eu
missing=
[ -n "${REDIS_URL:-}" ] || command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1 ||
    missing="$missing redis-server"
[ -n "${DATABASE_URL:-}" ] || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "Install what is missing with:  sudo apt-get install$missing" >&2
    exit 1
fi
echo "installing for the portal:$missing" >&2
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then # the packages' own servers are not wanted: the portal starts private ones
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
fi
apt-get -qq update >/dev/null
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null

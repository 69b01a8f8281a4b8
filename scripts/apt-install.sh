#!/bin/sh
# Installs Debian packages without starting the servers that they carry: we start private ones.
# usage: scripts/apt-install.sh ADVICE PURPOSE PACKAGE...
# Only as root on Debian; elsewhere it says "ADVICE  sudo apt-get install PACKAGE..." and the exit code is 1.
set -eu
advice=$1
purpose=$2
shift 2
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "$advice  sudo apt-get install $*" >&2
    exit 1
fi
echo "installing for $purpose: $*" >&2
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
fi
apt-get -qq update >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null

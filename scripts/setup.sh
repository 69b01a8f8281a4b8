#!/bin/sh
# Checks what the portal needs from the operating system and makes the virtual environment.
# usage: scripts/setup.sh EXTRA   (portal, dev or bench). As root on Debian, what is missing is installed.
set -eu
extra=${1:-portal}
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }

need() { # need WHAT PACKAGE: try to install, else name the command
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing $2 ($1 is missing); this may take a minute or two, without a word"
        [ -n "${updated:-}" ] || { apt-get -qq update >/dev/null; updated=1; }
        DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$2" >/dev/null
    else
        say "$1 is missing. Install it with:  sudo apt-get install $2"
        missing=1
    fi
}

# The system's own Python comes first: who packs one lets it be compiled with a profile of what programs do. One that was
# compiled here without, as pyenv does, takes a third more of a processor for the same.
find_python() { # find_python MODULES: the first Python from 3.11 on that has these; PYTHON= names another
    for name in ${PYTHON:-} /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
        if "$name" -c "import sys, $1; raise SystemExit(sys.version_info < (3, 11))" >/dev/null 2>&1; then
            printf '%s' "$name"
            return 0
        fi
    done
    return 1
}

missing=
python=$(find_python "ensurepip, venv") || python=$(find_python venv) || {
    need "Python 3.11 or later" python3
    python=$(find_python venv) || exit 1
}
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || need "python3-venv" python3-venv
command -v make >/dev/null 2>&1 || need make make
command -v gcc >/dev/null 2>&1 || need gcc gcc
PATH="$PATH:/usr/sbin:/sbin" command -v ip >/dev/null 2>&1 || need "ip (iproute2)" iproute2
command -v nsenter >/dev/null 2>&1 || need nsenter util-linux
[ -z "$missing" ] || exit 1

[ -x .venv/bin/python ] || { say "making the virtual environment .venv"; "$python" -m venv .venv; }
say "installing Python packages into .venv (gridportal[$extra]): one to five minutes without a word, longer on a slow line"
# By its path alone each Python finds this checkout; the other way of setuptools is a program that each of them runs first.
.venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
    --config-settings editable_mode=compat -e ".[$extra]" 2>.venv/pip-errors.log || {
    cat .venv/pip-errors.log >&2
    exit 1
}
say "compiling the portal: up to a minute without a word"
# Where PYTHONDONTWRITEBYTECODE is set, each process of a portal would compile all of it anew.
.venv/bin/python -m compileall -q gridportal monitoring scheduling || say "the portal is compiled when it starts"
.venv/bin/python -m scheduling.selection.core.pairs.loops || say "the search on pairs is compiled when it is first used"
.venv/bin/python -m scheduling.selection.core.flows.level_search || say "the search with flows is compiled when it is first used"
say "Python packages are installed"

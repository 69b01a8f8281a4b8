#!/bin/sh
# All tests, three at a time (WORKERS= another number): those without real parts, then those with. A failure among
# the first does not keep the second from running. Of these, what failed is run once more, alone (CONTRIBUTING.md says
# why), and named at the end; what fails again fails the run. The last line sums up, also what passed on its second try
# only.
# usage: scripts/test.sh MARKS, the marks of the tests with real parts as pytest -m takes them
# The exit code is 0 when all passed, else pytest's of the first half that failed: 1 for tests, another one when it was
# interrupted, crashed or found none.
set -eu
cd "$(dirname "$0")/.."
real=$1
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
trap 'exit 130' INT TERM HUP
failed="$kept/v/cache/lastfailed"

names() {
    .venv/bin/python -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1]))))' "$failed"
}

say() {
    printf '\n%s\n%s\n%s\n\n' "################ $1 ################" "$2" "########################################"
}

outcome() { # outcome CODE
    case $1 in 0) echo passed ;; 1) echo FAILED ;; *) echo "BROKE OFF (pytest ended with $1)" ;; esac
}

with_real_parts() { # sets code, and again: how many tests passed on their second try only
    code=0 again=0
    .venv/bin/pytest -n "${WORKERS:-3}" --dist loadscope -o cache_dir="$kept" -m "not bench and ($real)" || code=$?
    [ "$code" = 1 ] || return 0
    once=$(names)
    [ -n "$once" ] || return 0

    say "FAILED BESIDE OTHERS, now once more alone" "$once"
    code=0
    .venv/bin/pytest --last-failed --last-failed-no-failures none -o cache_dir="$kept" -m "not bench and ($real)" ||
        code=$?
    left=$(names)
    if [ "$code" != 0 ]; then
        say "FAILED TWICE, or not run again" "$left"
    elif [ -n "$left" ]; then
        code=1
        say "FAILED, and not run again" "$left"
    else
        again=$(printf '%s\n' "$once" | wc -l)
        say "FAILED ONCE, and passed alone: to be mended" "$once"
    fi
}

first=0
.venv/bin/pytest -n "${WORKERS:-3}" -m "not bench and not ($real)" || first=$?
with_real_parts

told="without real parts: $(outcome "$first"); with real parts: $(outcome "$code")"
[ "$again" = 0 ] || told="$told; $((again)) OF THEM ON THE SECOND TRY ONLY: to be mended"
printf 'make test: %s\n' "$told"
[ "$first" = 0 ] || exit "$first"
exit "$code"

#!/bin/sh
# All tests: those without real parts, then those with, two files at a time. Of the latter, what failed is run once more,
# alone (CONTRIBUTING.md says why), and named at the end; what fails again fails the run.
# usage: scripts/test.sh MARKS, the marks of the tests with real parts as pytest -m takes them
# pytest's exit code 0 is that all passed and 1 that some failed; any other one (interrupted, crashed, none found) ends
# the run with it.
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

.venv/bin/pytest -n 2 -m "not bench and not ($real)"

code=0
.venv/bin/pytest -n 2 --dist loadscope -o cache_dir="$kept" -m "not bench and ($real)" || code=$?
[ "$code" = 1 ] || exit "$code"
once=$(names)
[ -n "$once" ] || exit 1

say "FAILED BESIDE OTHERS, now once more alone" "$once"
code=0
.venv/bin/pytest --last-failed --last-failed-no-failures none -o cache_dir="$kept" -m "not bench and ($real)" || code=$?
[ "$code" = 0 ] || {
    say "FAILED TWICE, or not run again" "$(names)"
    exit "$code"
}
left=$(names)
[ -z "$left" ] || {
    say "FAILED, and not run again" "$left"
    exit 1
}
say "FAILED ONCE, and passed alone: to be mended" "$once"

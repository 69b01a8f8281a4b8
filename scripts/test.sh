#!/bin/sh
# All tests, six at a time (WORKERS= another number), in the order of tests/side_by_side.py. Of those with real parts,
# what failed is run once more, alone (CONTRIBUTING.md says why), and named at the end; what fails again fails the run.
# The last line sums up, also what passed on its second try only.
# usage: scripts/test.sh MARKS [slow], the marks of the tests with real parts as pytest -m takes them; with the second
# word those marked slow, and without it all others
# The exit code is 0 when all passed, 1 when a test failed, another one of pytest's when it was interrupted, crashed or
# found none.
set -eu
cd "$(dirname "$0")/.."
real=$1
these="not bench and ${2:-not slow}"
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
trap 'exit 130' INT TERM HUP
failed="$kept/v/cache/lastfailed"

run() { # run MARKS WORDS...: pytest on the tests with these marks
    marks=$1
    shift
    .venv/bin/pytest --ignore tests/bench -o cache_dir="$kept" -m "$marks" "$@"
}

again() { # again MARKS WORDS...: the same for what failed
    run "$@" --last-failed --last-failed-no-failures none
}

names() {
    .venv/bin/python -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1]))))' "$failed"
}

say() {
    printf '\n%s\n%s\n%s\n\n' "################ $1 ################" "$2" "########################################"
}

outcome() { # outcome CODE
    case $1 in 0) echo passed ;; 1) echo FAILED ;; *) echo "BROKE OFF (pytest ended with $1)" ;; esac
}

code=0 tries=0
run "$these" -n "${WORKERS:-6}" --dist loadscope || code=$?
if [ "$code" -gt 1 ]; then
    printf 'make test: %s\n' "$(outcome "$code")"
    exit "$code"
fi

first=0
if [ "$code" = 1 ]; then
    plain=$(again "$these and not ($real)" --collect-only -q | grep :: || true)
    [ -z "$plain" ] || first=1
    once=$(names | grep -vxF -e "$plain" || true)
    code=0
    if [ -n "$once" ]; then
        say "FAILED BESIDE OTHERS, now once more alone" "$once"
        again "$these and ($real)" || code=$?
        left=$(names | grep -vxF -e "$plain" || true)
        if [ "$code" != 0 ]; then
            say "FAILED TWICE, or not run again" "$left"
        elif [ -n "$left" ]; then
            code=1
            say "FAILED, and not run again" "$left"
        else
            tries=$(printf '%s\n' "$once" | wc -l)
            say "FAILED ONCE, and passed alone: to be mended" "$once"
        fi
    fi
    [ "$first" = 0 ] || say "FAILED, without real parts" "$plain"
fi

told="without real parts: $(outcome "$first"); with real parts: $(outcome "$code")"
[ "$tries" = 0 ] || told="$told; $((tries)) OF THEM ON THE SECOND TRY ONLY: to be mended"
printf 'make test: %s\n' "$told"
[ "$code" -gt 1 ] || code=$((first | code))
exit "$code"

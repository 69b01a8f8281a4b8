#!/bin/sh
# Waits for the end of a Grid and removes what a crash has left of it: its control groups, sockets and record.
# Standard input is a pipe whose other end only the Grid's processes hold: it ends when the last of them has ended.
# sweep.sh LOCK RECORD OWN SOCKET GROUP...
#   OWN is a piece of the record that no other Grid's has.
trap '' INT TERM HUP
lock=$1 record=$2 own=$3 socket=$4
shift 4
read -r _

exec 9>>"$lock" || exit 0
flock 9
grep -qF "$own" "$record" 2>/dev/null || exit 0   # it was taken down in good order, or another one is here already

for group; do
    tries=0
    while [ -d "$group" ] && [ $tries -lt 400 ]; do   # the kernel takes a moment to let the last processes go
        rmdir "$group"/*/*/ 2>/dev/null                  # the groups of runs, where there are any
        rmdir "$group"/*/ "$group" 2>/dev/null || sleep 0.05
        tries=$((tries + 1))
    done
done
rm -rf "$(dirname "$record")/doors"
rm -f "$socket" "$record"
launcher="$(dirname "$socket")/enter-node"
[ ! -L "$launcher" ] || rm -f "$launcher"            # a link beside a socket that has a private folder
rmdir "$(dirname "$socket")" 2>/dev/null             # only where it was a private one
exit 0

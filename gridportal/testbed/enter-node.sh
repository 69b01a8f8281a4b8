#!/bin/sh
# What mpiexec calls in place of ssh: [options] HOST COMMAND... runs COMMAND in the namespaces of node HOST.
# Like ssh it joins the words of the command and lets a shell read them.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
node="$GRIDPORTAL_GRID/nodes/$host"
if [ ! -d "$node" ]; then
    echo "$host is not a node of this Grid." >&2
    exit 255
fi
GRIDPORTAL_NODE=$host
export GRIDPORTAL_NODE
if [ -s "$node/cgroup" ]; then
    while read -r group; do
        [ ! -d "$group/@rest" ] || group="$group/@rest"   # version 2: beside the groups of runs
        echo 0 2>/dev/null >"$group/cgroup.procs"
    done <"$node/cgroup"
fi
if [ -s "$node/pid" ]; then
    exec nsenter -t "$(cat "$node/pid")" -n -u -m -- /bin/sh -c "$*"
fi
exec /bin/sh -c "$*"

"""The input of Hydra's mpiexec never ends, and its ranks read /dev/null themselves.

Hydra tells rank 0 of its input's end. Where that rank's program has ended meanwhile, mpiexec dies of the signal PIPE:
the run ends with 141, and what the program wrote is lost (docs/decisions/input-of-mpiexec.md).
"""

from __future__ import annotations

from gridportal.base import run_files

#: Before the launcher; 8 is the descriptor that it reads. Without named pipes it is one that cannot be read, which is
#: nearly as good.
LINES = f"""\
# mpiexec must not tell a program that has ended of its input's end: what it reads never ends.
exec 8> /dev/null
rm -rf {run_files.INPUT}
if mkfifo -m 600 {run_files.INPUT} 2> /dev/null; then exec 8<> {run_files.INPUT}; rm -f {run_files.INPUT}; fi
"""
#: After the launcher and the program.
REDIRECTED = " 0<&8 8<&-"
#: Before a rank's program. A shell does not name its node when there is no such program, so that is told first.
PREFIX = (
    "sh",
    "-c",
    'type "$0" > /dev/null 2>&1 || echo "$(uname -n) cannot start $0" >&2; exec "$0" "$@" < /dev/null',
)

"""The lines of a batch script that keep the log within its bound, as `gridportal/base/log_limit.py` does it on the
emulated Grid. Slurm writes the log in append mode.
"""

from __future__ import annotations

import shlex

from gridportal.base import log_limit, run_files

#: `fallocate` takes the middle out in one step, and `dd` writes the line over the end of the head, in place. Where the
#: file system cannot do so, `tail` reads once more when something came while it read.
_KEEPER = """\
# The log has a bound: what is too much goes out of its middle, while the program writes on.
cut_log() {{
  size=$(stat -c %s {output}) || return
  [ "$size" -gt {limit} ] || return
  take_out || write_anew
}}
# In one step, so that nothing is lost which the program writes meanwhile; not every file system can.
take_out() {{
  block=$(stat -f -c %S {output}) && head=$(({head} / block * block)) || return
  [ "$head" -ge {room} ] || return
  fallocate -c -o "$head" -l "$(((size - {tail} - head) / block * block))" {output} || return
  printf '\\n%s\\n' {mark} | dd of={output} bs={room} oflag=seek_bytes seek="$((head - {room}))" conv=notrunc
}}
write_anew() {{
  for _ in 1 2 3; do
    tail -c {tail} {output} > {output_end}
    [ "$(stat -c %s {output})" -gt "$size" ] || break
    size=$(stat -c %s {output})
  done
  truncate -s {head} {output}
  {{ printf '\\n%s\\n' {mark}; cat {output_end}; }} >> {output}
  rm -f {output_end}
}}
keep_log() {{
  while :; do
    trap exit TERM
    sleep 2 & wait $!
    trap '' TERM
    cut_log
  done
}}
keep_log < /dev/null > /dev/null 2>&1 &
keeper=$!

"""
#: The last look, once the keeper has ended: it does not while it cuts.
_LAST_LOOK = """\
  for _ in {1..100}; do
    kill "$keeper" 2> /dev/null || break
    sleep 0.05
  done
  cut_log > /dev/null 2>&1
"""


def lines(limit: int) -> str:
    """What starts the keeper beside the program; none where `limit`, in bytes, is 0."""
    if not limit:
        return ""
    mark = log_limit.mark(limit)
    return _KEEPER.format(
        limit=limit,
        head=log_limit.head_of(limit),
        tail=log_limit.tail_of(limit),
        mark=shlex.quote(mark),
        room=len(log_limit.mark_line(limit)),
        output=run_files.OUTPUT,
        output_end=run_files.OUTPUT_END,
    )


def last_look(limit: int) -> str:
    """What looks at the log once the program has ended."""
    return _LAST_LOOK if limit else ""

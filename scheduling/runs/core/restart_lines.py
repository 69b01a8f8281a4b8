"""The lines of a batch script that has its program go on from its newest file where a cluster starts the script again.

The portal chooses the file of each run that it makes. A cluster that puts a run back into its queue starts the same
text later, when there may be newer files: then the script itself looks, by the rules of `restart_file.newest`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from scheduling.jobs.core.own_restart import FILE, NAME

#: In the words of a command: where those of a restart come. Nobody can type it.
PLACE = "\0restart"
_LINES = """\
# Words of a restart; where the cluster starts this script again, those for the newest file that is whole by then.
restart=({chosen})
newest_file() {{
  local at size name newer="" newer_size=0
  while IFS=' ' read -r -d '' at size name; do
    if [ "$newer_size" -gt 0 ] && [ "$((2 * newer_size))" -ge "$size" ]; then break; fi
    newer=${{name#./}} newer_size=$size
  done < <(
    cd {folder} 2> /dev/null && find . -mindepth {depth} -maxdepth {depth} -type f -path {pattern} \\
      -printf '%T@ %s %p/\\0' | LC_ALL=C sort -z -k1,1rn -k3r
  )
  if [ "$newer_size" -gt 0 ]; then printf '%s' {folder}/"${{newer%/}}"; fi
}}
if [ "${{SLURM_RESTART_COUNT:-0}}" -gt 0 ]; then
  restart=()
  file=$(newest_file)
  for word in {words}; do
    word=${{word//{file_place}/"$file"}}
    word=${{word//{name_place}/"${{file##*/}}"}}
    if [ -n "$file" ]; then restart+=("$word"); fi
  done
fi
"""
#: Bash before 4.4 takes an empty list for a variable that is not set.
ARGUMENTS = '${restart[@]+"${restart[@]}"}'


@dataclass(frozen=True, slots=True)
class RestartArguments:
    """`chosen`: those of the run as the portal made it; `template`, `folder` and `pattern`: to make them anew."""

    chosen: tuple[str, ...]
    template: tuple[str, ...]
    folder: str
    pattern: str


def lines(restart: RestartArguments) -> str:
    """What stands before the command, in which `ARGUMENTS` is the place of the words.

    >>> print(lines(RestartArguments(("-r", "/c/a.1"), ("-r", "{file}"), "/c", "a.*")).splitlines()[1])
    restart=(-r /c/a.1)
    """
    return _LINES.format(
        chosen=_quoted(restart.chosen),
        folder=shlex.quote(restart.folder),
        depth=restart.pattern.count("/") + 1,
        pattern=shlex.quote("./" + restart.pattern.replace("\\", "\\\\")),
        words=_quoted(restart.template),
        file_place=shlex.quote(FILE),
        name_place=shlex.quote(NAME),
    )


def _quoted(words: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, words))

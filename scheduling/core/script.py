"""The batch script of a run: one pure function from what is to be run to bash text.

A person's text reaches the script in two ways only: quoted as one argument, or in a comment after every
control character was taken out.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from gridportal.errors import InputError

_TEMPLATE = """\
#!/bin/bash
{header}
set -u

export GRIDPORTAL_RUN_DIR={run_dir}
{environment}cd "$GRIDPORTAL_RUN_DIR" || exit 1

# The exit record: whole or not at all, so that the portal never reads half of it.
finish() {{
  printf '{{"exit_code": %d, "ended_at": %s}}\\n' "$1" "$(date +%s.%N)" > exit.json.part
  mv -f exit.json.part exit.json
  exit "$1"
}}

# Asked to stop: pass it on to mpiexec, which takes the ranks along, and record it.
program=""
stop() {{
  trap '' TERM INT HUP
  if [ -n "$program" ]; then
    kill -TERM "$program" 2> /dev/null
    wait "$program"
  fi
  finish 143
}}
trap stop TERM INT HUP

{command} &
program=$!
wait "$program"
finish $?
"""


@dataclass(frozen=True, slots=True)
class Script:
    """What a run's script says: one rank on each of `nodes`, in rank order."""

    title: str
    method: str
    nodes: tuple[str, ...]
    argv: tuple[str, ...]
    run_dir: str
    environment: Mapping[str, str] = field(default_factory=dict)
    name: str = ""


def render(script: Script) -> str:
    """The bash text. Raises InputError for an empty command, no nodes, or a variable that is no identifier.

    >>> print(render(Script("job 7", "random", ("n1",), ("hostname", "-f"), "/r")).splitlines()[-4])
      hostname -f &
    """
    if not script.nodes:
        raise InputError("nodes", 0, "at least one node")
    if not script.argv:
        raise InputError("command", "", "a program as its first word")
    return _TEMPLATE.format(
        header="\n".join(_header(script)),
        run_dir=shlex.quote(script.run_dir),
        environment="".join(f"export {line}\n" for line in _exports(script.environment)),
        command=_mpiexec(script),
    )


def _header(script: Script) -> list[str]:
    lines = [script.title + (f": {script.name}" if script.name else "")]
    lines.append(f"nodes, rank by rank: {' '.join(script.nodes)}")
    lines.append(f"chosen by: {script.method}")
    return [f"# {one_line(line)}" for line in lines]


def _exports(environment: Mapping[str, str]) -> list[str]:
    for name in environment:
        if not name.isidentifier() or not name.isascii():
            raise InputError("environment", name, "a variable name of letters, digits and _")
    return [f"{name}={shlex.quote(str(value))}" for name, value in sorted(environment.items())]


def _mpiexec(script: Script) -> str:
    words = " ".join(shlex.quote(word) for word in script.argv)
    hosts = shlex.quote(",".join(script.nodes))
    return f"mpiexec -n {len(script.nodes)} -hosts {hosts} \\\n  {words}"


def one_line(text: str, limit: int = 200) -> str:
    """`text` as the rest of a comment: control characters become spaces, and it is cut at `limit`."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:limit]

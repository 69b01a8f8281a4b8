"""The batch script of a run: one pure function from what is to be run to bash text.

A person's text reaches the script in two ways only: quoted as one argument, or in a comment after every
control character was taken out.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from gridportal.base import run_files
from gridportal.base.errors import InputError
from gridportal.base.rank_order import hydra_hosts
from gridportal.base.rank_places import ranks_by_node
from scheduling.jobs.core import parameters
from scheduling.jobs.core.launcher import LAUNCHER, check_launcher, check_modules, is_open_mpi
from scheduling.jobs.core.linked_mpi import OPEN_MPI, launcher_mpi
from scheduling.jobs.core.program_request import USUAL, ProgramRequest
from scheduling.runs.core import (
    hydra_ranks,
    log_keeper,
    open_mpi_lines,
    opening_lines,
    rank_binding,
    rank_input,
    restart_lines,
    stop_lines,
)
from scheduling.runs.core.opening_lines import OpenedFolder
from scheduling.runs.core.restart_lines import RestartArguments

_TEMPLATE = """\
#!/bin/bash
{header}
set -u

export {variable}={run_dir}
{environment}{ends}cd "${variable}" || exit 1
{again}
{keeper}# The exit record: whole or not at all, so that the portal never reads half of it.
finish() {{
  trap '' {all}
{last_look}  rm -rf {exit_part}
  printf '{{"exit_code": %d, "ended_at": %s}}\\n' "$1" "$(date +%s.%N)" > {exit_part}
  mv -f {exit_part} {exit}
  exit "$1"
}}

# The program may have been started and its number not noted yet.
program=""
note_program() {{
  if [ -z "$program" ] && [ -n "${{before+set}}" ] && [ "${{!:-}}" != "$before" ]; then program=$!; fi
}}

# Asked to end: pass it on to mpiexec, which takes the ranks along, and record it.
end() {{
  trap '' {all}
  note_program
  if [ -n "$program" ]; then
    kill -TERM "$program" 2> /dev/null
    wait "$program"
  fi
  finish 143
}}
trap end TERM INT HUP
# Whatever else comes: nothing but KILL ends this script before its record is written.
trap 'asked=yes' {others}

{stopping}
{modules}{hosts}# In braces: bash has read all of it before the program starts, which might change this file.
{{
before=${{!:-}}
SECONDS=0
{command}{redirected} &
program=$!
# A signal that this script takes ends its waiting, and not the program.
while asked=""; wait "$program"; code=$?; [ -n "$asked" ]; do :; done
finish "$code"
}}
"""


#: A cluster may start the script again under its own id; the record of its first attempt must not count then, and what
#: ended well must not run twice: slurmctld may have forgotten it, or be told to put it back before anybody knew.
_AGAIN = """\
# A cluster may start this script again under its own number: not what has ended well, and nobody knew it yet.
if [ -f {exit} ] && head -c 20 {exit} | grep -q '^{{"exit_code": 0,'; then exit 0; fi
rm -f {exit} {exit_part} {asked}
"""
_MODULES = """\
# Environment modules, which are a function of login shells, and not written for set -u.
set +u
if ! type module > /dev/null 2>&1; then
  for init in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /usr/share/modules/init/bash; do
    if [ -r "$init" ]; then . "$init"; break; fi
  done
fi
for name in {names}; do
  module load "$name" || {{ echo "The module $name could not be loaded." >&2; finish 1; }}
done
set -u

"""
#: Begun in the second in which the script is: so nobody is ended sooner than this says.
_ENDS = """\
export {ends}=$(($(date +%s) + {limit}))
"""
#: Signals that would end a shell.
_OTHERS = "QUIT ALRM USR1 USR2 XCPU VTALRM PROF"
#: The files that the script itself writes or reads, and the variable that names their folder.
_NAMES = {
    "variable": run_files.RUN_DIR_VARIABLE,
    "exit": run_files.EXIT,
    "exit_part": run_files.EXIT_PART,
    "asked": run_files.STOP_ASKED,
}
_THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True, slots=True)
class Script:
    """What a run's script says. `nodes`: rank by rank, a node once for each of its ranks.

    `launcher`: the words before the command, with IN_LAUNCHER in braces. `mpi`: what it is built
    with, for Open MPI gets to the nodes in its own way. `again`: whether the cluster may start the script twice.
    `output_limit`: bytes that its log may have; 0 where somebody else sees to that. `host`: what launchers are told in
    place of each node, where nodes are not hosts of their own. `cpus_per_rank`: threads of a rank. `binds`: whether
    each of several ranks on a node is to have processors of its own. `time_limit`: seconds after which the run is
    ended, where the cluster itself does not tell. `stop`: what the script does when USR1 asks for the stop, which it
    does by itself `stop_before` seconds before the end; `checkpoint`: when USR2 asks for one, and `checkpoint_every` so
    many seconds. `shares`: the part of the work of each rank, which a file tells them; none where nobody says.
    `restart`: the words for `restart_lines.PLACE` in `argv`, where the script itself looks for them. `opens`: what it
    opens to the portal at its end.
    """

    title: str
    method: str
    nodes: tuple[str, ...]
    argv: tuple[str, ...]
    run_dir: str
    environment: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    launcher: tuple[str, ...] = LAUNCHER
    modules: tuple[str, ...] = ()
    mpi: str = ""
    again: bool = False
    output_limit: int = 0
    host: str = ""
    cpus_per_rank: int = 1
    binds: bool = False
    time_limit: float | None = None
    stop: ProgramRequest = USUAL
    stop_before: float | None = None
    checkpoint: ProgramRequest | None = None
    checkpoint_every: float | None = None
    shares: tuple[str, ...] = ()
    restart: RestartArguments | None = None
    opens: OpenedFolder | None = None

    @property
    def most(self) -> int:
        """The most ranks of a node."""
        return max(ranks_by_node(self.nodes).values())

    @property
    def shares_nodes(self) -> bool:
        """Whether the processors of a node are shared out among ranks or threads."""
        return self.most > 1 or self.cpus_per_rank > 1


def render(script: Script) -> str:
    """The bash text. Raises InputError for an empty command, no nodes, or a variable that is no identifier.

    >>> print(render(Script("job 7", "random", ("n1",), ("hostname", "-f"), "/r", launcher=("srun",))).splitlines()[-6])
      hostname -f &
    """
    if not script.nodes:
        raise InputError("nodes", 0, "at least one node")
    if not script.argv:
        raise InputError("command", "", "a program as its first word")
    return _TEMPLATE.format(
        **_NAMES,
        header="\n".join(_header(script)),
        run_dir=shlex.quote(script.run_dir),
        environment="".join(f"export {line}\n" for line in _exports(script.environment)),
        again=_AGAIN.format(**_NAMES) if script.again else "",
        keeper=log_keeper.lines(script.output_limit),
        last_look=log_keeper.last_look(script.output_limit) + opening_lines.line(script.opens),
        ends=_ends(script.time_limit),
        all=f"TERM INT HUP {_OTHERS}",
        others=_OTHERS,
        stopping=_stopping(script),
        modules=_modules(script.modules) + _open_mpi(script),
        hosts=_hosts_lines(script) + _shares(script) + _binding(script) + _restart(script),
        command=_launched(script),
        redirected=rank_input.REDIRECTED if _is_hydra(script) else "",
    )


def _header(script: Script) -> list[str]:
    lines = [script.title + (f": {script.name}" if script.name else "")]
    lines.append(f"nodes, rank by rank: {' '.join(script.nodes)}")
    lines.append(f"chosen by: {script.method}")
    return [f"# {one_line(line)}" for line in lines]


def _told(script: Script) -> tuple[str, ...]:
    """What each rank is told by words before its program: not every launcher hands variables on."""
    words = [*_threads(script), *_mark(script)]
    return ("env", *words) if words else ()


def _mark(script: Script) -> tuple[str, ...]:
    launcher = script.launcher or LAUNCHER
    needed = any(stop_lines.needs_mark(request, launcher) for request in (script.stop, script.checkpoint))
    return (f"{stop_lines.MARK}={script.run_dir}",) if needed else ()


def _threads(script: Script) -> tuple[str, ...]:
    """Where ranks share a node each has as many threads as it has processors, unless the program's own settings say
    how many; a rank that has a node for itself has what the cluster says. Its prolog may set its own."""
    if not script.shares_nodes or _THREADS in script.environment:
        return ()
    return (f"{_THREADS}={script.cpus_per_rank}",)


def _exports(environment: Mapping[str, str]) -> list[str]:
    for name in environment:
        if not name.isidentifier() or not name.isascii():
            raise InputError("environment", name, "a variable name of letters, digits and _")
    return [f"{name}={shlex.quote(str(value))}" for name, value in sorted(environment.items())]


def _ends(limit: float | None) -> str:
    return "" if limit is None else _ENDS.format(ends=run_files.ENDS_VARIABLE, limit=int(limit))


def _stopping(script: Script) -> str:
    return stop_lines.lines(
        script.stop,
        script.run_dir,
        script.launcher or LAUNCHER,
        before_end=script.stop_before,
        checkpoint=script.checkpoint,
        every=script.checkpoint_every,
    )


def _modules(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    return _MODULES.format(names=" ".join(shlex.quote(name) for name in check_modules(names)))


def _open_mpi(script: Script) -> str:
    """What Open MPI's launcher needs: also where only the launcher's words say that it is Open MPI's."""
    return open_mpi_lines.lines(script.launcher, script.most, script.shares_nodes) if _is_open_mpi(script) else ""


def _is_open_mpi(script: Script) -> bool:
    return is_open_mpi(script.mpi) or launcher_mpi(script.launcher) == OPEN_MPI


def _restart(script: Script) -> str:
    return restart_lines.lines(script.restart) if script.restart else ""


def _binds(script: Script) -> bool:
    return script.binds and script.most > 1


def _binding(script: Script) -> str:
    return rank_binding.program(script.nodes, script.run_dir) if _binds(script) else ""


def _hostfile(script: Script) -> str:
    """The line that writes the file of nodes, where the launcher reads one."""
    if not any("{hostfile}" in word for word in script.launcher):
        return ""
    hosts = " ".join(shlex.quote(host) for host in _hosts(script, script.nodes))
    return f"printf '%s\\n' {hosts} > {shlex.quote(_hosts_path(script))}\n"


def _shares(script: Script) -> str:
    """The line that writes each rank's part of the work into its file, where somebody says so."""
    if not script.shares:
        return ""
    numbers = " ".join(shlex.quote(share) for share in script.shares)
    return f"printf '%s\\n' {numbers} > {shlex.quote(f'{script.run_dir}/{run_files.RANK_SHARES}')}\n"


def _hosts(script: Script, nodes: Sequence[str]) -> Sequence[str]:
    return (script.host,) * len(nodes) if script.host else nodes


def _hosts_path(script: Script) -> str:
    return f"{script.run_dir}/{run_files.HOSTS}"


def _launched(script: Script) -> str:
    launcher = check_launcher(script.launcher or LAUNCHER)
    values: dict[str, parameters.Value] = {
        "ranks": len(script.nodes),
        "hosts": ",".join(_hosts(script, hydra_hosts(script.nodes) if "-hosts" in launcher else script.nodes)),
        "hostfile": _hosts_path(script),
        "run_dir": script.run_dir,
    }
    rendered = parameters.render(launcher, values)
    found = _is_open_mpi(script) and open_mpi_lines.is_sought(launcher)
    head = open_mpi_lines.quoted(rendered) if found else hydra_ranks.quoted(launcher, rendered, _nodes_told(script))
    bound = ("bash", rank_binding.path(script.run_dir)) if _binds(script) else ()
    before = (*bound, *_told(script), *(rank_input.PREFIX if _is_hydra(script) else ()))
    words = [restart_lines.ARGUMENTS if word == restart_lines.PLACE else shlex.quote(word) for word in script.argv]
    return " \\\n  ".join(filter(None, (head, shlex.join(before), " ".join(words))))


def _hosts_lines(script: Script) -> str:
    """What the launcher reads: of nodes, and Hydra's as its input."""
    nodes = hydra_ranks.lines(script.launcher or LAUNCHER, _nodes_told(script))
    return _hostfile(script) + nodes + (rank_input.LINES if _is_hydra(script) else "")


def _nodes_told(script: Script) -> Sequence[str]:
    """The nodes of the ranks, as the launcher is told."""
    return _hosts(script, script.nodes)


def _is_hydra(script: Script) -> bool:
    """Whether the launcher is the mpiexec of MPICH and its kin."""
    names = {PurePath(word).name for word in script.launcher or LAUNCHER}
    return not is_open_mpi(script.mpi) and not names.isdisjoint(hydra_ranks.MPIEXEC)


def one_line(text: str, limit: int = 200) -> str:
    """`text` as the rest of a comment: control characters become spaces, and it is cut at `limit`."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:limit]

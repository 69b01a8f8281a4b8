"""How Hydra's mpiexec is told of ranks that come back to a node out of turn, so that they share its memory too.

A host that stands in its list again later is another one for it (gridportal.base.rank_order.hydra_hosts). MPICH 5 takes
a list of nodes and the place of each rank's node in it (-rankmap); MPICH 4.0 and others of its kin do not.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

from gridportal.base.rank_order import hydra_hosts, is_in_turn
from gridportal.base.rank_places import distinct

#: What MPICH's launcher is called.
MPIEXEC = frozenset(("mpiexec", "mpiexec.hydra", "mpirun", "mpiexec.mpich", "mpirun.mpich"))
_OPTION, _VALUE = "-hosts", "{hosts}"
#: What stands in the place of the option and its value.
_TOLD = '"${ranks_on[@]}"'
_LINES = """\
# Ranks come back to a node out of turn: where mpiexec can be told of the node of each, they share its memory.
ranks_on=(-hosts {hosts})
if {mpiexec} -help 2>&1 < /dev/null | grep -q -e -rankmap; then
  ranks_on=(-hosts {nodes} -rankmap {places})
fi
"""


def lines(launcher: Sequence[str], nodes: Sequence[str]) -> str:
    """The lines of a batch script before its launcher; none where the list of hosts says all. `launcher`: its words as
    they are registered."""
    if not _is_needed(launcher, nodes):
        return ""
    each = distinct(nodes)
    place = {node: at for at, node in enumerate(each)}
    return _LINES.format(
        mpiexec=shlex.quote(_program(launcher)),
        hosts=shlex.quote(",".join(hydra_hosts(nodes))),
        nodes=shlex.quote(",".join(each)),
        places=",".join(str(place[node]) for node in nodes),
    )


def quoted(launcher: Sequence[str], rendered: Sequence[str], nodes: Sequence[str]) -> str:
    """The launcher's words for the shell. `rendered`: the same words with their values.

    >>> launcher = ("mpiexec", "-n", "{ranks}", "-hosts", "{hosts}")
    >>> quoted(launcher, ("mpiexec", "-n", "3", "-hosts", "a,b,a"), ["a", "b", "a"])
    'mpiexec -n 3 -hosts a,b,a'
    >>> quoted(launcher, ("mpiexec", "-n", "4", "-hosts", "a,b,a,a"), ["a", "b", "a", "a"])
    'mpiexec -n 4 "${ranks_on[@]}"'
    """
    words = [shlex.quote(word) for word in rendered]
    if _is_needed(launcher, nodes):
        at = launcher.index(_OPTION)
        words[at : at + 2] = [_TOLD]
    return " ".join(words)


def _is_needed(launcher: Sequence[str], nodes: Sequence[str]) -> bool:
    if _OPTION not in launcher or is_in_turn(nodes) or not _program(launcher):
        return False
    at = launcher.index(_OPTION)
    return tuple(launcher[at + 1 : at + 2]) == (_VALUE,)


def _program(launcher: Sequence[str]) -> str:
    return next((word for word in launcher if PurePath(word).name in MPIEXEC), "")

"""What a program said last, without what its launcher always says, and a launcher's own errors in words.

The texts are those of MPICH's Hydra and of Open MPI's mpirun.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scheduling.core.units import listed

_ALWAYS_SAID = (
    re.compile(r"=+\s*$"),
    re.compile(r"=\s+(BAD TERMINATION|PID \d|EXIT CODE|KILLED BY|CLEANING UP|YOU CAN IGNORE)"),
    re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING"),
    re.compile(r"This typically refers to a problem with your application"),
    re.compile(r"Please see the FAQ page for debugging suggestions"),
    re.compile(r"\[(mpiexec|proxy)[^\]]*\] .*(HYD|demux_engine|control_cb|process manager|assert)"),
    re.compile(r"-{20,}\s*$"),
)
_NOT_STARTED = re.compile(r"\[proxy:[\d:]*@?([^\]\s]*)\].*execvp error on file (.+) \(([^()]*)\)\s*$")
_WHY = {"No such file or directory": "does not exist", "Permission denied": "may not be executed"}


def said(lines: Sequence[str]) -> list[str]:
    """The lines that the program itself wrote.

    >>> said(["step 3", "=   EXIT CODE: 9", "=====", "Please see the FAQ page for debugging suggestions"])
    ['step 3']
    """
    return [line for line in lines if line.strip() and not any(mark.match(line.strip()) for mark in _ALWAYS_SAID)]


def not_started(lines: Sequence[str]) -> str:
    """The sentence for a program that could not be started, with the nodes that say so; empty when none does.

    >>> not_started(["[proxy:0@n4] HYDU_create_process (lib/utils/launch.c:73): "
    ...     "execvp error on file /no/such/program (No such file or directory)"])
    'The program /no/such/program does not exist on n4.'
    """
    found = [match for match in map(_NOT_STARTED.search, lines) if match]
    if not found:
        return ""
    program, why = found[0][2], found[0][3]
    nodes = sorted({match[1] for match in found if match[1]}, key=_by_number)
    where = f" on {listed(nodes)}" if nodes else ""
    verb = _WHY.get(why)
    return f"The program {program} {verb}{where}." if verb else f"The program {program} does not start{where}: {why}."


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", name)]

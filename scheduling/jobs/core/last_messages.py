"""What a program said last, without what its launcher always says, and a launcher's own errors as reasons.

The texts are those of MPICH's Hydra and of Open MPI's mpirun.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gridportal.base.reasons import NOTHING, Code, Reason

_OF_LAUNCHERS = (
    re.compile(r"=+\s*$"),
    re.compile(r"=\s+(BAD TERMINATION|PID \d|EXIT CODE|KILLED BY|CLEANING UP|YOU CAN IGNORE)"),
    re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING"),
    re.compile(r"This typically refers to a problem with your application"),
    re.compile(r"Please see the FAQ page for debugging suggestions"),
    re.compile(r"\[(mpiexec|proxy)[:@][^\]]*\] "),  # whatever Hydra itself says begins so
    re.compile(r"-{20,}\s*$"),
)
_SHOWN_LINES = 3
_NOT_STARTED = re.compile(r"\[proxy:[\d:]*@?([^\]\s]*)\].*execvp error on file (.+) \(([^()]*)\)\s*$")


def program_lines(lines: Sequence[str]) -> list[str]:
    """The lines that the program itself wrote.

    >>> program_lines(["step 3", "=   EXIT CODE: 9", "=====", "Please see the FAQ page for debugging suggestions"])
    ['step 3']
    >>> program_lines(["step 3", "[proxy:1@n3] main (/mpich/proxy.c:206): demux engine error waiting for event"])
    ['step 3']
    """
    return [line for line in lines if line.strip() and not any(mark.match(line.strip()) for mark in _OF_LAUNCHERS)]


def not_started(lines: Sequence[str]) -> Reason:
    """That the program could not be started, with the nodes that say so; none when none does.

    >>> not_started(["[proxy:0@n4] HYDU_create_process (lib/utils/launch.c:73): "
    ...     "execvp error on file /no/such/program (No such file or directory)"]).facts
    {'program': '/no/such/program', 'error': 'No such file or directory', 'nodes': ['n4']}
    """
    found = [match for match in map(_NOT_STARTED.search, lines) if match]
    if not found:
        return NOTHING
    program, why = found[0][2], found[0][3]
    nodes = sorted({match[1] for match in found if match[1]}, key=_by_number)
    return Reason.of(Code.NO_PROGRAM, program=program, error=why, nodes=nodes)


def ended(exit_code: int | None, verified: bool | None, why: Reason, lines: Sequence[str], fault: str = "") -> Reason:
    """Why a run failed. `why`: what its backend says; `lines`: the last ones of its log, of which the program's own are
    kept; `fault`: the sentence about a file of its run directory that cannot be read."""
    if absent := not_started(lines):
        return absent
    end = {"exit_code": exit_code, "verified": verified, "why": why, "fault": fault}
    return Reason.of(Code.ENDED, **end, log=shown_lines(lines), wrote=bool(lines))


def shown_lines(lines: Sequence[str]) -> list[str]:
    """The lines that a reason quotes."""
    return [line.strip() for line in program_lines(lines)][-_SHOWN_LINES:]


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", name)]

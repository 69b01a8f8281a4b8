"""What a program said last, without what its launcher always says, and a launcher's own errors as reasons.

The texts are those of MPICH's Hydra, of Open MPI's mpirun and of Slurm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.jobs.core.error_lines import error_lines
from scheduling.jobs.core.launcher_lines import abort_line, fault_line, killed_lines, program_lines, signal_line

_SHOWN_LINES = 3
#: Of a log's end, in which the first error is sought: so many lines and bytes.
LINES, BYTES = 5000, 256 * 1024
#: What the system says of a program that is not there, and what the portal says where only its interpreter is missing.
NO_FILE, NO_INTERPRETER = "No such file or directory", "No such interpreter: "
_NOT_STARTED = re.compile(r"\[proxy:[\d:]*@?([^\]\s]*)\].*execvp error on file (.+) \(([^()]*)\)\s*$")
_NOT_STARTED_BY_SLURM = re.compile(r"slurmstepd(?:-(\S+))?: error: execve\(\): (.+): ([^:]+?)\s*$")
#: dash and bash, in a script or a shell that sets something before the program; they name themselves and the line.
_NOT_STARTED_BY_SHELL = re.compile(
    r"\S+: (?:line )?\d+: exec: (?P<program>.+): (?P<why>not found|[Pp]ermission denied)$"
)
#: What the portal's own script says before that (runs/core/rank_input.py).
_ON_NODE = re.compile(r"(?P<node>\S+) cannot start (?P<program>.+)$")
_NOT_EXECUTED = re.compile(
    r"unable to launch the specified application as it could not access\s+or execute an executable:\s+"
    r"Executable: (?P<program>\S[^\n]*)\nNode: (?P<node>\S+)"
)


def not_started(lines: Sequence[str]) -> Reason:
    """That the program could not be started, with the nodes that say so; none when none does.

    >>> not_started(["[proxy:0@n4] HYDU_create_process (lib/utils/launch.c:73): "
    ...     "execvp error on file /no/such/program (No such file or directory)"]).facts
    {'program': '/no/such/program', 'error': 'No such file or directory', 'nodes': ['n4']}
    """
    matches = [match for match in map(_not_started_match, lines) if match]
    if not matches:
        return _not_started_by_shell(lines) or _not_started_by_open_mpi(lines)
    program, why = matches[0][2], matches[0][3]
    nodes = sorted({match[1] for match in matches if match[1]}, key=_by_number)
    return Reason.of(Code.NO_PROGRAM, program=program, error=why, nodes=nodes)


def _not_started_match(line: str) -> re.Match[str] | None:
    return _NOT_STARTED.search(line) or _NOT_STARTED_BY_SLURM.match(line)


def _not_started_by_shell(lines: Sequence[str]) -> Reason:
    for line in lines:
        if match := _NOT_STARTED_BY_SHELL.match(line.strip()):
            error = NO_FILE if match["why"] == "not found" else "Permission denied"
            nodes = _nodes_without(match["program"], lines)
            return Reason.of(Code.NO_PROGRAM, program=match["program"], error=error, nodes=nodes)
    return NOTHING


def _nodes_without(program: str, lines: Sequence[str]) -> list[str]:
    told = [match for match in map(_ON_NODE.match, lines) if match and match["program"] == program]
    return sorted({match["node"] for match in told}, key=_by_number)


def _not_started_by_open_mpi(lines: Sequence[str]) -> Reason:
    match = _NOT_EXECUTED.search("\n".join(lines))
    if match is None:
        return NOTHING
    why = "No such file, or it may not be executed"
    return Reason.of(Code.NO_PROGRAM, program=match["program"], error=why, nodes=[match["node"]])


def ended(exit_code: int | None, verified: bool | None, why: Reason, lines: Sequence[str], fault: str = "") -> Reason:
    """Why a run failed. `verified`: what its own check said; `why`: what its backend says; `lines`: the last ones of
    its log, of which the program's own are kept; `fault`: the sentence about a file of its run directory that cannot be
    read."""
    if absent := not_started(lines):
        return absent
    end = {"exit_code": exit_code, "verified": verified, "why": why, "fault": fault}
    return Reason.of(Code.ENDED, **end, log=shown_lines(lines, stopped=bool(why)), wrote=bool(lines))


def shown_lines(lines: Sequence[str], *, stopped: bool = False) -> list[str]:
    """The lines that a reason quotes: the first error, else the call of MPI_Abort or the signal that ended it, else the
    last ones. Of a process that was killed the launcher's lines alone tell anything. `stopped`: its backend says
    why it ended, so that a signal tells nothing."""
    written = program_lines(lines)
    if errors := error_lines(written, _SHOWN_LINES):
        return errors
    aborted = abort_line(lines)
    if not aborted and (killed := killed_lines(lines)):
        return killed
    last = list(dict.fromkeys(line.strip() for line in written))
    end = aborted or fault_line(lines) or ("" if stopped else signal_line(lines))
    return [*last[1 - _SHOWN_LINES :], end] if end else last[-_SHOWN_LINES:]


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", name)]

"""What launchers and run-time libraries always write when a job ends badly, whatever the cause: not the cause.

The texts are those of MPICH's Hydra, of Open MPI, of Slurm, of UCX and of gfortran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_OF_LAUNCHERS = re.compile(
    "|".join(
        (
            # MPICH
            r"=+$",
            r"=\s+(?:BAD TERMINATION|PID \d|EXIT CODE|KILLED BY|CLEANING UP|YOU CAN IGNORE)",
            r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING",
            r"This typically refers to a problem with your application",
            r"Please see the FAQ page for debugging suggestions",
            r"\[(?:mpiexec|proxy)[:@][^\]]*\] ",  # whatever Hydra itself says begins so
            r"(?:Abort\(\d+\) on node \d+ .*: )?application called MPI_Abort\(",
            r"[\w.]+\(\d+\)\.*:$",  # a step of an error stack of which nothing is said
            # Open MPI
            r"-{20,}$",
            r"\*{20,}$",
            r"\[[\w.-]+:\d+\] (?:\[ *\d+\] |Signal code: |Failing at address: |\d+ more process)",
            r"\[[\w.-]+:\d+\] Set MCA parameter ",
            r"\[[\w.-]+:\d+\] mca_base_component_repository_open: ",
            r"\[[\w.-]+:\d+\] \*\*\* (?:Process received signal|End of error message|reported by process)",
            r"\[[\w.-]+:\d+\] \*\*\* (?:on (?:a|communicator|win|file)\b|MPI_ERRORS_ARE_FATAL|   and potentially)",
            # Slurm: what became of the steps and tasks
            r"srun: (?:Job step aborted|Terminating|launch/slurm|Force Terminated|forcing job termination|got SIG)",
            r"srun: error: .*: tasks? [-\d,\[\] ]+: ",
            r"slurmstepd(?:-\S+)?: error: \*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED",
            # backtraces of gfortran, of UCX and of glibc
            r"#\d+ +0x[0-9a-f]+ in ",
            r"at \S+:\d+$",
            r"(?:Error termination\. )?Backtrace(?: for this error)?:",
            r"Error termination\.$",
            r"==== backtrace \(tid",
            r"\d+ +\S+\(.*\) ?\[0x[0-9a-f]+\]$",
        )
    )
)
#: Between lines of dashes Open MPI explains; these explanations are of no one failure.
_DASHES = re.compile(r"-{20,}\s*$")
_OF_BLOCKS = re.compile(
    "|".join(
        (
            r"MPI_ABORT was invoked on rank",
            r"Primary job +terminated normally",
            r"\S+ (?:noticed|detected) that (?:process|one or more processes)",
            r"A process has executed an operation involving a call",
            r"(?:By default, for Open MPI|WARNING: There (?:was an error initializing|is at least))",
            r"\[\[\d+,\d+\],\d+\]: A high-performance Open MPI point-to-point messaging module",
        )
    )
)
#: What a launcher says of a signal that ended a program: good to know where the program itself said nothing.
_FAULT = (
    r"(?P<fault>Segmentation fault|Bus error|Floating[- ]point exception|Illegal instruction|Aborted|Out Of Memory)"
)
_FAULTS = re.compile(
    rf"(?:YOUR APPLICATION TERMINATED WITH THE EXIT STRING: {_FAULT}"
    rf"|\S+ noticed that process rank .* exited on signal \d+ \({_FAULT.replace('<fault>', '<signal>')}"
    rf"|srun: error: .*: tasks? .*: {_FAULT.replace('<fault>', '<task>')})"
)

#: A rank that ended all others, with the code that it gave.
_ABORT = re.compile(
    r"(?:Abort\(-?\d+\) on node \d+ \(rank \d+ in comm \d+\): )?"
    r"application called MPI_Abort\([^()\n]*, (?P<mpich>-?\d{1,12})\) - process \d+"
    r"|MPI_ABORT was invoked on rank \d+ in communicator [^\n]*\n(?:Proc: [^\n]*\n)?"
    r"(?:with errorcode|Errorcode:) (?P<openmpi>-?\d{1,12})"
)
#: A signal of which nobody knows whether the program had it of itself or of somebody who stopped it.
_SIGNALS = re.compile(
    r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (?P<signal>(?!Killed)[A-Z][\w ]*\(signal \d+\))"
    r"|(?P<line>\S+ noticed that process rank .* exited on signal \d+ \(.*)"
)
_CODES = 256  # of an exit code a system keeps so many values

_KILLED = re.compile(
    r"^=\s+(BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES)\n=\s+(PID \d+ RUNNING AT \S+)$"
    r"(?s:.*?)^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (Killed \(signal 9\))",
    re.MULTILINE,
)
_BADLY = re.compile(r"one of the processes terminated badly[^\n]*")
_ENDED_BY_ITSELF = re.compile(r"^=\s+EXIT CODE: ", re.MULTILINE)


def program_lines(lines: Sequence[str]) -> list[str]:
    """The lines that the program itself wrote, or that tell of one failure only.

    >>> program_lines(["step 3", "=   EXIT CODE: 9", "=====", "Please see the FAQ page for debugging suggestions"])
    ['step 3']
    >>> program_lines(["step 3", "[proxy:1@n3] main (/mpich/proxy.c:206): demux engine error waiting for event"])
    ['step 3']
    >>> program_lines(["-" * 60, "MPI_ABORT was invoked on rank 1", "with errorcode 3.", "-" * 60, "step 3"])
    ['step 3']
    """
    return [line for line in _without_blocks(lines) if line.strip() and not _OF_LAUNCHERS.match(line.strip())]


def fault_line(lines: Sequence[str]) -> str:
    """The first line in which a launcher names the signal that ended a program; empty for none.

    >>> fault_line(["YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Segmentation fault (signal 11)"])
    'Segmentation fault (signal 11)'
    """
    for line in lines:
        if match := _FAULTS.match(line.strip()):
            name = match.lastgroup or "fault"
            return line.strip()[match.start(name) :] if name == "fault" else line.strip()
    return ""


def signal_line(lines: Sequence[str]) -> str:
    """The first line in which a launcher names another signal that ended a rank; empty for none.

    >>> signal_line(["YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Terminated (signal 15)"])
    'Terminated (signal 15)'
    """
    for line in lines:
        if match := _SIGNALS.match(line.strip()):
            return match["signal"] or match["line"]
    return ""


def abort_line(lines: Sequence[str], *, unseen: bool = False) -> str:
    """What an MPI says of the first rank that called MPI_Abort; empty for none. `unseen`: only of one whose code makes
    an exit code of 0, as if all were well.

    >>> abort_line(["MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD", "with errorcode 3."])
    'MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD with errorcode 3'
    >>> abort_line(["application called MPI_Abort(MPI_COMM_WORLD, 3) - process 1"], unseen=True)
    ''
    """
    for match in _ABORT.finditer("\n".join(line.strip() for line in lines)):
        if not unseen or int(match["mpich"] or match["openmpi"]) % _CODES == 0:
            return " ".join(match[0].split())
    return ""


def killed_lines(lines: Sequence[str]) -> list[str]:
    """What MPICH says of a process that was killed, or that went away with its node: its program could say nothing of
    that. Empty where it says no such thing.

    >>> killed_lines(["step 3", "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", "=   PID 7 RUNNING AT n2",
    ...     "=   EXIT CODE: 9", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)"])
    ['BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES', 'PID 7 RUNNING AT n2', 'Killed (signal 9)']
    >>> killed_lines(["[mpiexec@n1] wait (bscu_wait.c:109): one of the processes terminated badly; aborting"])
    ['one of the processes terminated badly; aborting']
    """
    text = "\n".join(line.strip() for line in lines)
    if match := _KILLED.search(text):
        return list(match.groups())
    badly = None if _ENDED_BY_ITSELF.search(text) else _BADLY.search(text)
    return [badly[0]] if badly else []


def _without_blocks(lines: Sequence[str]) -> Iterator[str]:
    """All but the explanations between dashes that go with every failure."""
    inside = False
    for at, line in enumerate(lines):
        if not _DASHES.match(line):
            if not inside:
                yield line
        elif inside:
            inside = False
        else:
            inside = any(_OF_BLOCKS.match(each.strip()) for each in lines[at + 1 : at + 2])

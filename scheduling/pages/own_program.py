"""The worked example of the help page: a small MPI program, and what the form to register it is filled in with."""

from __future__ import annotations

SCRIPT = """\
import sys, time
from mpi4py import MPI
from gridportal.runtime.phases import Phases

comm, turns = MPI.COMM_WORLD, int(sys.argv[1])
rank, size = comm.Get_rank(), comm.Get_size()
phases, began, token = Phases(comm, "ring"), time.perf_counter(), rank
for turn in range(turns):
    with phases.phase("pass on", iteration=turn + 1, of=turns):
        token = comm.sendrecv(token, dest=(rank + 1) % size, source=(rank - 1) % size)
phases.result(token == (rank - turns) % size, phases.slowest(time.perf_counter() - began), turns=turns)
"""

FIELDS: dict[str, str] = {
    "name": "Ring",
    "slug": "ring",
    "command": "{python} -m mpi4py /shared/ring.py {turns}",
    "parameters": '[{"name": "turns", "label": "Turns", "type": "int", "min": 1, "max": 1000, "default": 20}]',
    "pattern": "ring",
    "ranks": '{"min": 2, "max": 64}',
    "phases": "pass on",
}

#: Patterns for the output of a program, as the form is filled in.
OUTPUT: dict[str, str] = {
    "Line of success": r"Verification\s*=\s*SUCCESSFUL",
    "Line of failure": "ERROR|NaN",
    "Its own time": r"Time in seconds\s*=\s*(.*)",
    "Figures": "energy (eV) = Total Energy = (.*)",
}

#: What a program in another language appends to the progress file, line by line.
LINES = """\
{"t": 1763000000.0, "event": "start", "hosts": ["n3", "n7"]}
{"t": 1763000000.4, "event": "phase", "phase": "pass on", "iteration": 1, "of": 20, "seconds": 0.4}
{"t": 1763000008.2, "event": "result", "verified": true, "seconds": 8.2, "figures": {"turns": 20}}
"""
TYPES = (
    ("int, float", "a number", "min, max"),
    ("choice", "one of a list", "choices (needed)"),
    ("text", "one line, as one argument", "max_length (200), pattern (a regular expression)"),
    ("bool", "a box to tick; the program gets true or false", "none"),
)

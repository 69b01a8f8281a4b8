"""The name of every file of a run directory, for the portal, the ranks of a program and the batch script alike.

Constants only, and nothing but the standard library: what runs on a node imports this module, too.
"""

from __future__ import annotations

#: The variable that tells a program where its run directory is.
RUN_DIR_VARIABLE = "GRIDPORTAL_RUN_DIR"
#: And the one with the Unix time at which its run will be ended, in whole seconds; unset where it has no limit.
ENDS_VARIABLE = "GRIDPORTAL_ENDS_AT"

#: Written by the portal, or by whoever starts the run for it.
SCRIPT = "script.sh"
PROGRAM = "program"  # that the owner of the application has uploaded
RANK_BINDING = "rank.bind"  # gives each of several ranks on a node processors of its own
RANK_SHARES = "rank.shares"  # the part of the work of each rank, a number on each line
RANK_SIGNAL = "rank.signal"  # sends a signal to the ranks of a node and to nobody else
DEPOTS = "depots.json"  # lets the run use depots; nobody else may read it
HOSTS = "hosts"  # for the launcher: a node on each line, in rank order
SKELETON = "skeleton.json"
SKELETON_PLAN = "skeleton.plan"  # the same for the player in C, without any text of people
SLURM_HOSTS = "slurm.hosts"  # the rank order, for srun
SLURM_LAUNCHER = "slurm.launch"  # the launcher of mpiexec on Slurm

#: Written by the program and its script.
OUTPUT = "output.log"
OUTPUT_END = f"{OUTPUT}.end"  # while the log is cut: what is kept of its end
PROGRESS = "progress.jsonl"
STOP_ASKED = "stop.asked"  # made when the script asks its program to stop
INPUT = "mpiexec.input"  # of Hydra's mpiexec, until it is open
EXIT = "exit.json"
EXIT_PART = f"{EXIT}.part"  # the exit record until it is whole

#: A folder, written by the recording library: a file for each rank, with its number in the place of {rank}.
TRACE = "trace"
TRACE_RANK = "rank-{rank}.json"
TRACE_MARKS = "loop-marks"  # in it: how often the outermost loop has run, written while the program runs
TRACE_COPIES = "copies"  # in it: a line for each process that was a rank which another had been already

#: A folder: a file of each process that a launcher started and that was rank 0 of an MPI world, with the world's size.
WORLDS = "mpi-worlds"

#: Written by the player of skeletons: what all ranks have seen.
SKELETON_TIMES = "skeleton.times"

#: Unix seconds of the year 2200: no run has to do with a later time.
LATEST = 7_258_118_400.0

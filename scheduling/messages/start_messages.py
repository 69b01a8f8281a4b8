"""How the ranks of a run, or of a program that somebody brings, are started, where that is odd."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.name_lists import all_listed
from gridportal.base.reasons import Code
from scheduling.messages.parts import minute
from scheduling.messages.registry import says

_REMEDY = "Choose the MPI that it was built with, so that its own launcher starts it."
_NO_OPEN_MPI = (
    "Where it ran, no mpirun on the search path is Open MPI's: load the module that brings it, or give it in full as "
    "the application's launcher."
)
_WRAPPED = "Let its launcher start the ranks once, by the mpirun or mpiexec of the MPI that the program was built with."
_BATCH = "Let the application's launcher start the program itself, or bring it as a batch script, which runs once."
_AS_BATCH = "Start it as a batch script, which runs once."
_AS_LAUNCHER = (
    "Make it the launcher, which is started once, with the number of ranks and the host file behind its path; the "
    "command is the program that the script starts."
)


@says(Code.START_SINGLETONS)
def _(ranks: int, mpi: str, launcher: str) -> str:
    linked = f"It is linked with {mpi}, and {launcher} started it" if mpi else f"{launcher} started it".capitalize()
    remedy = _NO_OPEN_MPI if mpi.startswith("Open MPI") and launcher == "MPICH's mpirun" else _REMEDY
    if launcher == "its launcher":  # a script, or words for a shell
        remedy = _WRAPPED
    return f"{linked}: each of the {ranks} processes believed to be alone (rank 0 of 1). {remedy}"


@says(Code.START_COPIES)
def _(ranks: int, found: int, launcher: str) -> str:
    return (
        f"The whole program ran {ranks} times, with {found} ranks each time: {launcher} started {ranks} processes, and "
        f"each of them called mpirun or mpiexec itself. {_BATCH}"
    )


@says(Code.START_FEWER)
def _(ranks: int, found: int, runs: int, launcher: str) -> str:
    if found > runs:
        several = f" in {runs} runs of it" if runs > 1 else ""
        seen = f"MPI was seen with {found} ranks{several}"
    elif found == 1:
        seen = "One process was seen to start MPI, and it believed to be alone (rank 0 of 1)"
    else:
        seen = f"{found} processes were seen to start MPI, and each believed to be alone (rank 0 of 1)"
    return (
        f"{seen}, where {ranks} ranks were asked for. Check that {launcher} starts {ranks} ranks and belongs to the "
        "MPI that the program was built with."
    )


@says(Code.START_NO_MPI)
def _(ranks: int) -> str:
    return (
        f"{ranks} copies of one program ran; none called MPI. If they were to share the work, each has done all of it: "
        "bring a program that is built with MPI, or ask for one rank."
    )


@says(Code.START_OTHER_MPI)
def _(ranks: int, mpi: str, launcher: str) -> str:
    return (
        f"Its file is linked with {mpi}, and {launcher} started it: each of the {ranks} processes may have believed to "
        f"be alone (rank 0 of 1). If its output says so, choose the MPI that it was built with."
    )


@says(Code.START_INSIDE)
def _(ranks: int, inside: str, launcher: str) -> str:
    return (
        f"Its program is a script that calls {inside} itself, and {launcher} started it {ranks} times, once for each "
        f"rank. So the whole program ran {ranks} times, or each waited for nodes that the others had. {_BATCH}"
    )


@says(Code.START_NO_PMI)
def _(mpi: str, launcher: str) -> str:
    if launcher != "srun":
        return f"{mpi} did not start: {launcher} does not tell its ranks of each other as {mpi} asks it. {_REMEDY}"
    kind = "pmix" if mpi == "Open MPI" else "pmi2"
    return (
        f"{mpi} did not start: srun does not tell its ranks of each other as {mpi} asks it. Start it by {mpi}'s own "
        f"launcher, or by srun --mpi={kind} where srun --mpi=list names that."
    )


@says(Code.START_NONE)
def _(launcher: str) -> str:
    return (
        f"{launcher} could not start the ranks on their nodes, so the program has not run. Where its words have "
        "--mpi=pmix, Slurm may lack that plugin: take the launcher of the program's own MPI instead."
    )


@says(Code.START_NOT_SEEN)
def _(since: str, inside: str) -> str:
    seen = f"No rank has been seen to start MPI since {minute(since)}."
    if not inside:
        return seen
    return (
        f"{seen} Its program is a script that calls {inside} itself, and it was started once for each rank: each may "
        f"wait for nodes that the others have. If so, cancel it. {_BATCH}"
    )


@says(Code.LINKED_OTHERWISE)
def _(mpi: str, launcher: str) -> str:
    return (
        f"The program is linked with {mpi}, and {launcher} is to start it: each of its processes will probably believe "
        f"to be alone (rank 0 of 1). {_REMEDY}"
    )


@says(Code.DEBIANS_MPICH)
def _(launcher: str) -> str:
    return (
        f"The program is linked with Debian's MPICH, and the portal's {launcher} is that of another MPICH: recorded it "
        "does not start, and of three ranks or more it may not end. Choose MPICH of Debian as its MPI, or register a "
        "launcher that begins with mpiexec.mpich."
    )


@says(Code.STARTS_RANKS_ITSELF)
def _(launcher: str, *, is_own: bool) -> str:
    return (
        f"The script calls {launcher} itself, and is to be started once for each rank: the whole program would run as "
        f"often as it has ranks. {_AS_BATCH if is_own else _AS_LAUNCHER}"
    )


@says(Code.PROGRAM_NOT_SEEN)
def _(program: str, clusters: Sequence[str]) -> str:
    return f"There is no file {program} on the nodes of {all_listed(clusters)}. Put it there, or correct the path."


@says(Code.PROGRAM_NOT_SHARED)
def _(program: str, folder: str, clusters: Sequence[str]) -> str:
    return (
        f"Each node of {all_listed(clusters)} has a {folder} of its own, so it does not find {program}. Put the "
        "program where all nodes see it, or upload it."
    )


@says(Code.PROGRAM_NOT_EXECUTABLE)
def _(program: str) -> str:
    return f"{program} is a file that nobody may execute: chmod +x {program}."


@says(Code.NEVER_TRIED)
def _(runs: int, *, is_own: bool) -> str:
    known = "No run of it has ended well since its last change." if runs else "It has not run yet."
    trial = "A test run of two ranks" if is_own else "Submit a job of two ranks: it"
    return f"{known} {trial} shows whether it starts, and how."
